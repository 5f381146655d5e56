package report

import (
	"bytes"
	"os"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/page"
)

// FuzzRead: a report that was written by anybody is read, or refused.
func FuzzRead(f *testing.F) {
	if data, err := os.ReadFile("testdata/report.json"); err == nil {
		f.Add(data)
	}
	f.Add([]byte(`{"findings":[{"code":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := Read(data, page.LanguageOf("ca")); (r == nil) == (err == nil) || r != nil && r.Language != "ca" {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzAttacks: findings that were written by anybody are read, or refused.
func FuzzAttacks(f *testing.F) {
	f.Add([]byte(`{"message_type":"finding","attack":"names","verdict":"passed","output":"c0ffee","sentence":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := readAttacks(bytes.NewReader(data)); (a == nil) == (err == nil) || a != nil && len(a.Tried) == 0 {
			t.Fatalf("%v", err)
		}
	})
}
