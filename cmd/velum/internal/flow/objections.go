package flow

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/recognize"
)

// Objections holds the patients whose notes are left out of the output because they object.
type Objections struct {
	Path   string           // of the list; "" if there is none
	Rows   []Objector       // of the list
	Forgot *audit.Forgotten // patients forgotten in the output, and those who objected before; nil: none
	Alike  []Alike          // ids that may be those of people who object, found by LeaveOut

	listed *patientid.Set // member k is Rows[k]
	others *patientid.Set // people.others
}

// Alike describes notes that stay although their patient's id may be another spelling of an objector's id, as 00123 may
// be 123.
type Alike struct {
	Input string
	Row   int64 // the first one
	Notes int64
}

// An Objector is one row of the list of patients who object.
type Objector struct {
	Row     int64
	Raw     string // as the list has it
	Number  bool   // the list has it as a number
	Form    []byte // normal form of the id (package patientid); empty: the row has no id
	Heading bool   // the row may be the heading of the column
	Notes   int64  // number of notes in the archive, counted by LeaveOut
}

// sets returns the non-empty sets of patients to leave out, for stages/recognize; none for nil.
func (o *Objections) sets() []*patientid.Set {
	if o == nil {
		return nil
	}
	sets := []*patientid.Set{o.listed}
	if o.Forgot != nil {
		sets = append(sets, o.Forgot.Set, o.Forgot.Objected)
	}
	return slices.DeleteFunc(sets, func(s *patientid.Set) bool { return len(s.Members()) == 0 })
}

// Anybody reports whether the lists name any patient.
func (o *Objections) Anybody() bool { return len(o.sets()) > 0 }

// ReadObjections reads the list of patients who object (people.exclude): its column patient_id or its only column, with
// or without a header.
func ReadObjections(c *option.Config) (*Objections, error) {
	o, err := tableOptions(c)
	if err != nil {
		return nil, err
	}
	all, at, headless := NewObjections(c), -1, false
	err = read.EachRow(all.Path, o, func(names []string) error {
		for i, name := range names {
			if strings.EqualFold(name, c.Read.Columns.Patient) || people.FieldOf(name) == people.Patient {
				at = i
			}
		}
		switch {
		case at >= 0:
			return nil
		case len(names) > 1:
			return exit.Misconfiguredf("call the column patient_id; "+hasColumns(all.Path, names),
				"people.exclude: %s has no column of patients' ids", all.Path)
		}
		at, headless = 0, read.IsCSV(all.Path)
		return parquet.ErrNoHeader
	}, func(n int64, cells []parquet.Cell) error {
		if len(cells) == 0 && read.IsCSV(all.Path) {
			return nil // an empty line
		}
		x := Objector{Row: n}
		for _, cell := range cells {
			if cell.Column == at {
				x.Raw, x.Number, x.Form = cell.Text, cell.Number, read.PatientForm(cell)
			}
		}
		x.Heading = headless && n == 1 && !strings.ContainsAny(string(x.Form), "0123456789")
		all.listed.Add(x.Form, int64(len(all.Rows)))
		all.Rows = append(all.Rows, x)
		return nil
	})
	return all, InputError(err)
}

// NewObjections returns an empty list that knows only the ids of people.others, which are confirmed to be other people.
func NewObjections(c *option.Config) *Objections {
	o := &Objections{Path: c.People.Exclude, listed: patientid.NewSet(xxh3.Hash), others: patientid.NewSet(xxh3.Hash)}
	for _, id := range c.People.Others {
		o.others.Add(patientid.AppendText(nil, []byte(id)), 0)
	}
	return o
}

// LeaveOut reads the patient ids of all notes of the archive. It counts the notes of each objector, records in each
// unit a digest of the notes to leave out (a unit without them is a different unit), and collects in Alike the ids that
// may be an objector's in another spelling.
func (o *Objections) LeaveOut(ctx context.Context, a *archive.Archive) error {
	sets := o.sets()
	o.Alike = o.Alike[:0]
	for k := range o.Rows {
		o.Rows[k].Notes = 0
	}
	for i := range a.Units {
		u := &a.Units[i]
		u.Without = ""
		out, some := sha256.New(), false
		alike := Alike{Input: u.Input}
		err := a.EachPatient(ctx, u, func(row int64, patient []byte) {
			reason := recognize.Objection(sets, patient)
			if reason == pipeline.Sound {
				if !o.others.Has(patient) && slices.ContainsFunc(sets, func(s *patientid.Set) bool { return s.Alike(patient) }) {
					if alike.Notes++; alike.Notes == 1 {
						alike.Row = row
					}
				}
				return
			}
			some = true
			fmt.Fprintln(out, row, reason)
			o.listed.Each(patient, func(k int) { o.Rows[k].Notes++ })
		})
		if err != nil {
			return err
		}
		if alike.Notes > 0 {
			o.Alike = append(o.Alike, alike)
		}
		if some {
			u.Without = fmt.Sprintf("%x", out.Sum(nil)[:8])
		}
	}
	return nil
}

// People returns how many rows name a patient; call it after LeaveOut. A row that is the heading of the column does not
// count.
func (o *Objections) People() (n int) {
	for k := range o.Rows {
		if x := &o.Rows[k]; x.Notes > 0 || !x.Heading {
			n++
		}
	}
	return n
}

// Unmatched returns the rows whose patient has no note in the archive; call it after LeaveOut. A row that may be the
// heading of the column is skipped.
func (o *Objections) Unmatched() (all []*Objector) {
	for k := range o.Rows {
		if x := &o.Rows[k]; x.Notes == 0 && !x.Heading {
			all = append(all, x)
		}
	}
	return all
}
