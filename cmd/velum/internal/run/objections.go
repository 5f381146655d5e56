package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline/patientid"
)

// namedRows is how many rows of a list are named, and looked for among the ids of
// the archive that are near.
const namedRows = 20

// leaveOut determines the notes to leave out before anything is written. An objector without notes in the archive may
// occur there under another spelling of the id, and so may one with notes in some of its files.
func (m *masking) leaveOut(ctx context.Context) error {
	o := m.People.Objects
	if err := m.knowsSomebody(ctx); err != nil || !o.Anybody() && o.Path == "" {
		return err
	}
	if err := o.LeaveOut(ctx, m.archive); err != nil {
		return err
	}
	if err := m.unmatched(ctx, o); err != nil || len(m.options.Patients) > 0 { // forgetPatient asks later
		return err
	}
	return m.alike()
}

// alike returns an error while notes remain whose patient id may be another spelling of an objector's.
func (m *masking) alike() error {
	all := m.People.Objects.Alike
	if len(all) == 0 {
		return nil
	}
	var named []string
	for _, a := range all[:min(len(all), namedRows)] {
		named = append(named, fmt.Sprintf("%s (%d notes, the first is row %d)", a.Input, a.Notes, a.Row))
	}
	if more := len(all) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return exit.Errorf(exit.Privacy,
		"give every id that is the patient's, in people.exclude or with another --patient, and those of other patients with --set people.others=ID",
		"ids of notes that would stay differ from those of who objects or is forgotten by zeros in front or letters around the digits alone, and nobody has said whose they are: %s", strings.Join(named, ", "))
}

// knowsSomebody returns an error if no patient in the table of people has a note, because its ids may be spelled
// differently.
func (m *masking) knowsSomebody(ctx context.Context) error {
	t := m.People.Table
	if t == nil || m.Config.People.Table == "" || t.Rows() == 0 && t.Staff() > 0 || len(m.archive.Units) == 0 {
		return nil
	}
	cause := "has no row of anybody who could be found"
	if t.Rows() > 0 {
		cause = fmt.Sprintf("none of the patients of its %d rows has a note in this archive", t.Rows())
		for i := range m.archive.Units {
			known := false
			err := m.archive.EachPatient(ctx, &m.archive.Units[i], func(_ int64, patient []byte) { known = known || t.Knows(patient) })
			if err != nil || known {
				return err
			}
		}
	}
	return m.refuse("write its ids as the archive does, or --set people.unmatched=warn", "people.table: %s: %s", m.Config.People.Table, cause)
}

// refuse ends the run, or only warns, depending on people.unmatched.
func (m *masking) refuse(remedy, format string, args ...any) error {
	if m.Config.People.Unmatched == "warn" {
		m.Log.Warn(fmt.Sprintf(format, args...))
		return nil
	}
	return exit.Errorf(exit.Privacy, remedy, format, args...)
}

// unmatched returns an error for a list in which rows, or all rows, match no patient of the archive.
func (m *masking) unmatched(ctx context.Context, o *flow.Objections) error {
	if o.Path == "" {
		return nil
	}
	notes := int64(0)
	for k := range o.Rows {
		notes += o.Rows[k].Notes
	}
	m.Log.Info("notes of people who object are left out", "people", o.People(), "notes", notes)
	if o.People() == 0 {
		return m.refuse("leave the option out if nobody objects, or --set people.unmatched=warn", "people.exclude: %s has no ids", o.Path)
	}
	unmatched := o.Unmatched()
	if len(unmatched) == 0 {
		return nil
	}
	named := unmatched[:min(len(unmatched), namedRows)]
	rows := rowsOf(named)
	if len(unmatched) > len(named) {
		rows += fmt.Sprintf(" and %d more", len(unmatched)-len(named))
	}
	var forms [][]byte
	for _, x := range named {
		forms = append(forms, x.Form)
	}
	_, places, err := m.lookFor(ctx, forms)
	if err != nil {
		return err
	}
	var alike []string
	for k, place := range places {
		if place != "" {
			alike = append(alike, fmt.Sprintf("of row %d, %s", named[k].Row, place))
		}
	}
	near := strings.Join(alike, "; ")
	if m.Config.People.Unmatched == "warn" {
		m.Log.Warn("ids of people who object are no patient's of this archive", "file", o.Path, "rows", rows, "near", near)
		return nil
	}
	if near != "" {
		near = "; ids that are near: " + near
	}
	return exit.Errorf(exit.Privacy, "write them as the archive does, or --set people.unmatched=warn if they are in other files",
		"people.exclude: %s: %d of %d objections are no patient's of this archive, row %s%s", o.Path, len(unmatched), o.People(), rows, near)
}

// logKept warns that notes of earlier runs, whose files are not given, were not checked for objectors.
func (m *masking) logKept() {
	if len(m.options.Files) > 0 || !m.People.Objects.Anybody() {
		return
	}
	notes := int64(0)
	for _, c := range m.changes {
		if c.Fate == "kept" || c.Fate == "vanished" {
			notes += c.Rows
		}
	}
	if notes > 0 {
		m.Log.Warn("notes of earlier runs stay, and nobody looked whether they are of people who object: give their files too, or ask `velum check --exclude --in`", "notes", notes)
	}
}

func rowsOf(all []*flow.Objector) string {
	var rows []string
	for _, x := range all {
		rows = append(rows, fmt.Sprint(x.Row))
	}
	return strings.Join(rows, ", ")
}

// lookFor counts the notes of patients in the archive, and finds for each patient the place of the first id that is near.
func (m *masking) lookFor(ctx context.Context, forms [][]byte) (notes []int64, near []string, err error) {
	notes, near = make([]int64, len(forms)), make([]string, len(forms))
	for i := range m.archive.Units {
		u := &m.archive.Units[i]
		err := m.archive.EachPatient(ctx, u, func(row int64, patient []byte) {
			for k, form := range forms {
				if patientid.Same(patient, form) {
					notes[k]++
				} else if near[k] == "" && patientid.Near(patient, form) {
					near[k] = fmt.Sprintf("row %d of %s", row, u.Input)
				}
			}
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return notes, near, nil
}
