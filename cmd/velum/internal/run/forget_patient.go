package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/patientid"
)

// A patient is forgotten by a run over the files of which the output was made. The run leaves out the notes of the
// patient, as those of a patient who objects. Units without such notes stay, the others are masked again, and the result
// is, byte for byte, that of a run in which the patient had objected from the beginning. The ids of the patient are
// recorded before anything is changed. So if the process is killed, the next run of any verb completes its work, and no
// later run masks notes of the patient.

// known reads from the output which patients were forgotten and which have objected before. Their notes are left out of
// every run.
func (m *masking) known(out commit.Output) (err error) {
	if m.forgotten, err = audit.ReadForgotten(out.FS, out.Private); err != nil {
		return err
	}
	if m.People == nil {
		m.People = &flow.People{}
	}
	if m.People.Objects == nil {
		m.People.Objects = flow.NewObjections(m.Config)
	}
	m.People.Objects.Forgot = m.forgotten
	if m.Config.Read.Columns.Patient != "" || !m.People.Objects.Anybody() && len(m.options.Patients) == 0 {
		return nil
	}
	whose := "patients were forgotten there, or objected, and later runs leave them out"
	if len(m.options.Patients) > 0 {
		whose = "nothing says whose the notes are, so no patient can be forgotten"
	}
	return exit.Misconfiguredf("name the column of the patient's id with read.columns.patient", "%s: %s", out.Dir, whose)
}

// inputsOf names the files that the output was made of, unless others are given.
func (m *masking) inputsOf(out commit.Output) error {
	if len(m.options.In) > 0 {
		return nil
	}
	inputs, err := commit.Inputs(out)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Misconfiguredf("name the DIR of a run", "%s is no output of velum", out.Dir)
	}
	if err != nil {
		return err
	}
	m.only = map[string]bool{}
	var gone []string
	for _, in := range inputs {
		if _, err := os.Lstat(in.Path); err != nil || in.Root == "" {
			gone = append(gone, in.Input)
			continue
		}
		m.only[in.Path] = true
		if !slices.Contains(m.options.In, in.Root) {
			m.options.In = append(m.options.In, in.Root)
		}
	}
	if len(gone) > 0 {
		shown := strings.Join(gone[:min(len(gone), 5)], ", ")
		return exit.Misconfiguredf("say with --in where all files lie now, or forget these whole first: velum run forget --out "+out.Dir+" "+strings.Join(gone[:min(len(gone), 5)], " "),
			"%d of %d files are not where they lay (%s), and no output says whose its notes are", len(gone), len(inputs), shown)
	}
	return nil
}

// forgetPatient adds the patient, under all given ids, to those who are left out, and returns the plan without their
// notes. The output must have been made from these files and options; otherwise the run would include other changes.
func (m *masking) forgetPatient(ctx context.Context, plan *commit.Plan, out commit.Output) (*commit.Plan, error) {
	forms, err := m.patientForms()
	if err != nil {
		return nil, err
	}
	if err := m.hasNotes(ctx, forms); err != nil {
		return nil, err
	}
	died, err := out.Unfinished()
	if err != nil {
		return nil, err
	}
	known := m.forgotten.Set
	before, again := known, true
	for _, form := range forms {
		again = again && known.Has(form)
		before = before.Without(form)
	}
	if again && !died {
		switch wrong, err := m.strange(plan, out); {
		case err != nil:
			return nil, err
		case wrong == nil:
			return nil, exit.Errorf(exit.Nothing, "", "the patient was forgotten before")
		}
	}
	if !died { // else it was looked at when that start began
		m.forgotten.Set = before
		if plan, err = m.left(ctx); err != nil {
			return nil, err
		}
		if err := m.sameOptions(plan); err != nil {
			return nil, err
		}
		wrong, err := m.strange(plan, out)
		if err := errors.Join(err, wrong); err != nil {
			return nil, err
		}
	}
	m.forgotten.Set = known
	for _, form := range forms {
		if !known.Has(form) {
			known.Add(form, 0)
		}
		m.marks = append(m.marks, m.mark("forget", form))
	}
	if plan, err = m.left(ctx); err != nil {
		return nil, err
	}
	return plan, m.alike()
}

// patientForms are the forms of the ids that the command line names.
func (m *masking) patientForms() (forms [][]byte, err error) {
	for _, id := range m.options.Patients {
		form := patientid.AppendText(nil, []byte(id))
		if len(form) == 0 {
			return nil, exit.Misconfiguredf("give the id as the archive has it", "--patient: this is no id")
		}
		forms = append(forms, form)
	}
	return forms, nil
}

// mark is a line of the audit log about a patient.
func (m *masking) mark(event string, form []byte) audit.Entry {
	var key []byte
	if m.key != nil {
		key = m.key.Derive("forgotten patient")
	}
	return audit.Entry{Event: event, Mark: m.forgotten.Mark(key, form)}
}

// left returns the plan of the archive without the notes of the patients who are left out.
func (m *masking) left(ctx context.Context) (*commit.Plan, error) {
	if err := m.People.Objects.LeaveOut(ctx, m.archive); err != nil {
		return nil, err
	}
	return m.plan(m.key)
}

// strange returns how the output differs from what a run of the plan would make.
func (m *masking) strange(plan *commit.Plan, out commit.Output) (wrong, err error) {
	changes, err := commit.Changes(plan, out, m.unitOptions())
	for _, c := range changes {
		switch c.Fate {
		case "done":
		case "kept", "vanished":
			return exit.Misconfiguredf("name it with --in too, or forget the whole file",
				"%s: is in the output and was not given, so nobody knows which of its notes are the patient's", c.Input), err
		default:
			return exit.Misconfiguredf("give the options of the last run, its --exclude too; if the file has changed, run it first",
				"%s: is not in the output as it would be now", c.Input), err
		}
	}
	return nil, err
}

// hasNotes looks whether the archive has notes of a patient, by each id that was given.
func (m *masking) hasNotes(ctx context.Context, forms [][]byte) error {
	notes, near, err := m.lookFor(ctx, forms)
	if err != nil {
		return err
	}
	sum := int64(0)
	for k, n := range notes {
		if n == 0 {
			which, id := "", ""
			if len(forms) > 1 {
				which = fmt.Sprintf(" (--patient number %d)", k+1)
			}
			if near[k] != "" {
				id = "; the id of " + near[k] + " is near"
			}
			return exit.Errorf(exit.Nothing, "give the id as the archive has it", "no note of that patient%s is in the files of the output%s", which,
				id)
		}
		sum += n
	}
	m.Log.Info("notes of the patient are taken out", "notes", sum)
	return nil
}

// remember prepares the marks of the patients who object from now on; writeMarks writes them once the output is locked.
func (m *masking) remember() {
	for k := range m.People.Objects.Rows {
		if x := &m.People.Objects.Rows[k]; (x.Notes > 0 || !x.Heading) && m.forgotten.Object(x.Form) {
			m.marks = append(m.marks, m.mark("object", x.Form))
		}
	}
}

// writeMarks writes the list of patients who are left out, and the lines of the audit log that record it.
func (m *masking) writeMarks(plan *commit.Planned) error {
	if len(m.marks) == 0 {
		return nil
	}
	if err := m.forgotten.Write(m.options.Disk, m.record.private); err != nil {
		return err
	}
	for k, e := range m.marks {
		m.marks[k] = audit.Of(plan, e.Event)
		m.marks[k].Mark = e.Mark
	}
	return m.record.append(m.marks...)
}

// takeBack lets the notes of patients who were forgotten or objected into later runs again.
// It masks nothing.
func (m *masking) takeBack(out commit.Output) (err error) {
	if m.forgotten, err = audit.ReadForgotten(out.FS, out.Private); err != nil {
		return err
	}
	ro, err := flow.ReadOptions(m.Config)
	if err != nil {
		return err
	}
	m.key = ro.Key
	forms, err := m.patientForms()
	if err != nil {
		return err
	}
	for k, form := range forms {
		if !m.forgotten.TakeBack(form) {
			return exit.Errorf(exit.Nothing, "give the id as it was given then", "--patient number %d was neither forgotten here nor did it object",
				k+1)
		}
		m.marks = append(m.marks, m.mark("takeback", form))
	}
	if m.options.Dry {
		return nil
	}
	m.record.place(out, nil)
	if err := out.Alone("forget", func() error { return m.writeMarks(&commit.Planned{}) }); err != nil {
		return err
	}
	m.Log.Info("the next run takes their notes up again", "ids", len(forms))
	return nil
}
