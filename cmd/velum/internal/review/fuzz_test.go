package review

import "testing"

// FuzzJournal: of a journal that anybody may have changed only lines are taken whose sums are right.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"line":{"schema":"velum.review/2","notes":"x"},"sum":"00"}` + "\n"))
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows := 0
		_, err := unsealed(data, "x", nil, func(*journalHead) error { rows++; return nil }, func(row int, _ string, l *journalLine) error {
			if rows++; row != rows || l.Note < 0 {
				t.Fatalf("line %d as number %d, note %d", row, rows, l.Note)
			}
			return nil
		})
		if err == nil && rows == 0 && len(data) > 0 {
			t.Fatal("lines that nobody read, and no error")
		}
	})
}
