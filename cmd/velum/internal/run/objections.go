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

// leaveOut looks whose the notes are before anything is written: who objects and is
// nobody in the archive may be there under an id that is written otherwise.
func (m *masking) leaveOut(ctx context.Context) error {
	if m.People == nil || m.People.Objects == nil {
		return nil
	}
	o := m.People.Objects
	if err := o.LeaveOut(ctx, m.archive); err != nil {
		return err
	}
	notes := int64(0)
	for k := range o.Rows {
		notes += o.Rows[k].Notes
	}
	if o.Path == "" {
		return nil
	}
	m.Log.Info("notes of people who object are left out", "people", o.People(), "notes", notes)
	unmatched := o.Unmatched()
	if len(unmatched) == 0 {
		return nil
	}
	named := unmatched[:min(len(unmatched), namedRows)]
	rows := rowsOf(named)
	if len(unmatched) > len(named) {
		rows += fmt.Sprintf(" and %d more", len(unmatched)-len(named))
	}
	near, err := m.near(ctx, named)
	if err != nil {
		return err
	}
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

// logKept says that nobody looked whose the notes of earlier runs are, whose files
// are not given.
func (m *masking) logKept() {
	if m.People == nil || m.People.Objects == nil {
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

// near finds for each row the first id of the archive that is near, and says where
// it stands.
func (m *masking) near(ctx context.Context, rows []*flow.Objector) (string, error) {
	found := make([]string, len(rows))
	for i := range m.archive.Units {
		u := &m.archive.Units[i]
		err := m.archive.EachPatient(ctx, u, func(row int64, patient []byte) {
			for k, x := range rows {
				if found[k] == "" && patientid.Near(patient, x.Form) {
					found[k] = fmt.Sprintf("of row %d, row %d of %s", x.Row, row, u.Input)
				}
			}
		})
		if err != nil {
			return "", err
		}
	}
	var all []string
	for _, text := range found {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; "), nil
}
