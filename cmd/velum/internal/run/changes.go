package run

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline/commit"
)

// fates lists the possible outcomes for an input file, in printing order, with the log message of those that users
// should know.
var fates = []struct{ name, says string }{
	{"done", ""},
	{"added", ""},
	{"moved", ""},
	{"replaced", "file is a new version of the one in the output, or made with other options: its notes are replaced"},
	{"kept", ""},
	{"vanished", "file has gone from the archive: its notes stay in the output, unless run.vanished says otherwise"},
	{"removed", "notes are removed from the output"},
}

// mostNamed is the largest number of files of one kind that a log names, because an archive of small files has
// thousands.
const mostNamed = 50

// logChanges logs what changes in the output.
func (m *masking) logChanges() {
	named := map[string]int{}
	say := func(log func(string, ...any), says string, about ...any) {
		if named[says]++; named[says] <= mostNamed {
			log(says, about...)
		}
	}
	for _, f := range fates {
		if f.name == "replaced" && len(m.options.Patients) > 0 {
			f.says = "file is masked again without the notes of the patient"
		}
		log := m.Log.Warn
		if f.name == "replaced" && m.options.Again {
			log = m.Log.Info
		}
		for _, c := range m.changes {
			if c.Fate == f.name && f.says != "" {
				say(log, f.says, "path", cmp.Or(c.Path, c.Input), "notes", c.Rows)
			}
		}
	}
	for _, c := range m.changes {
		if c.From != "" {
			say(m.Log.Warn, "file lay elsewhere when it was masked: it was moved, and its notes are in the output once", "path", c.Path, "before",
				c.From, "notes", c.Rows)
		}
		if c.After {
			say(m.Log.Info, "file has other notes than the one that lay at its path before: they are added, and those stay", "path", c.Path, "notes",
				c.Rows)
		}
		if c.Twin != "" {
			say(m.Log.Warn, "file is a copy of another: its notes are in the output twice", "path", c.Path, "copy_of", c.Twin, "notes", c.Rows)
		}
	}
	for _, says := range slices.Sorted(maps.Keys(named)) {
		if more := named[says] - mostNamed; more > 0 {
			m.Log.Warn(says+"; of these files only the first are named", "more_files", more)
		}
	}
}

// fateCount is how many inputs have a fate.
type fateCount struct {
	Fate  string `json:"fate"`
	Files int    `json:"files"`
	Notes int64  `json:"notes"`
}

func countFates(changes []commit.Change) (all []fateCount) {
	for _, f := range fates {
		count := fateCount{Fate: f.name}
		for _, c := range changes {
			if c.Fate == f.name {
				count.Files++
				count.Notes += c.Rows
			}
		}
		if count.Files > 0 {
			all = append(all, count)
		}
	}
	return all
}

// printPlan prints what a run would do (--dry-run). The time is estimated for a machine like that of BENCHMARKS.md.
func (m *masking) printPlan(units *commit.Plan) error {
	if len(m.options.Files) > 0 {
		return m.printChanges()
	}
	rows := m.archive.Rows()
	left := rows
	for _, c := range countFates(m.changes) {
		if c.Fate == "done" {
			left -= c.Notes
		}
	}
	seconds := float64(left) / notesPerSecondAndCore / float64(m.Workers())
	if m.JSON {
		err := m.WriteJSON(map[string]any{
			"files": len(m.archive.Files), "units": len(units.Units), "notes": rows, "unreadable_files": len(m.archive.Bad),
			"workers": m.Workers(), "estimated_seconds": seconds, "changes": m.changes,
		})
		return cmp.Or(err, m.unread())
	}
	for _, f := range m.archive.Files {
		if _, err := m.Printf("%s: %d notes, %.1f MB\n", f.Path, f.Rows, float64(f.Bytes)/1e6); err != nil {
			return err
		}
	}
	if err := m.printChanges(); err != nil {
		return err
	}
	_, err := m.Printf("%d files, %d units, %d notes with %d workers: about %v; nothing was written\n",
		len(m.archive.Files), len(units.Units), rows, m.Workers(), time.Duration(seconds*float64(time.Second)).Round(time.Second))
	return cmp.Or(err, m.unread())
}

// unread is the fault of the files that a run would not read.
func (m *masking) unread() error {
	if len(m.archive.Bad) == 0 {
		return nil
	}
	return flow.BadInputs(m.archive.Bad)
}

// printChanges prints how many files have each fate, and names those that do
// not stay as they are.
func (m *masking) printChanges() error {
	for _, count := range countFates(m.changes) {
		if _, err := m.Printf("%s: %d files, %d notes\n", count.Fate, count.Files, count.Notes); err != nil {
			return err
		}
		for _, c := range m.changes {
			if c.Fate != count.Fate || c.From == "" && (c.Fate == "done" || c.Fate == "added" || c.Fate == "kept") {
				continue
			}
			was := ""
			if c.From != "" {
				was = ", was " + c.From
			}
			if _, err := m.Printf("  %s: %d notes%s\n", cmp.Or(c.Path, c.Input), c.Rows, was); err != nil {
				return err
			}
		}
	}
	return nil
}
