package run

import (
	"cmp"
	"maps"
	"time"

	"github.com/velum-health/velum/pipeline/commit"
)

// logTables says which versions of tables are read.
func (m *masking) logTables() {
	for _, t := range m.archive.Tables {
		m.Log.Info("table is read", "path", t.Dir, "format", t.Format, "version", t.Version, "made", t.Time.UTC().Format(time.RFC3339), "files", len(t.Files), "rows_deleted", t.DeletedRows())
	}
}

// printTables is that for --dry-run.
func (m *masking) printTables() error {
	for _, t := range m.archive.Tables {
		if _, err := m.Printf("%s: %s, %d files, %d rows deleted\n", t.Dir, t.Table, len(t.Files), t.DeletedRows()); err != nil {
			return err
		}
	}
	return nil
}

// tables are the versions of the archive's tables, and those of earlier runs that stay.
func (m *masking) tables() map[string]string {
	all := map[string]string{}
	private := cmp.Or(m.options.Private, commit.PrivateDir(m.options.Out))
	if last, err := commit.ReadManifest(private); err == nil && !m.options.Replace { // what is wrong with it the commit says
		maps.Copy(all, last.Tables)
	}
	for _, t := range m.archive.Tables {
		all[t.Name] = t.Version
	}
	return all
}

// unlisted tells whether an earlier file lay in a table that is read and does not list
// it any more: its rows were deleted, or stand in other files.
func (m *masking) unlisted(_ *commit.UnitRecord, at string) bool {
	for _, t := range m.archive.Tables {
		if at != "" && under(at, t.Root) {
			return true
		}
	}
	return false
}
