package turns

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// FuzzRead: a folder of learning whose record is anything is read, or refused as damaged; what is read has its schema, and its
// record written again is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `null`, `{"schema": "velum.turn/2"}`, `{"schema": "velum.turn/2", "turn": 1, "parent": "00"}`,
		`{"schema": "velum.turn/2", "files": [{"name": "../turn.json", "bytes": 1}]}`, `{"schema": "velum.turn/2", "base": {"of": -1}, "beside": -1, "groups": null}`,
		`{"Schema": "velum.turn/2", "turn": 1e99}`, `{"schema": "velum.turn/2"} {}`, `{"schema": "velum.turn/1"}`,
	} {
		f.Add([]byte(seed))
	}
	folder := f.TempDir()
	name := filepath.Join(folder, FileName)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		turn, err := Read(folder, nil)
		if err != nil {
			if !errors.As(err, new(*durable.IntegrityError)) && !errors.As(err, new(*fs.PathError)) { // of files that it names
				t.Errorf("%v", err)
			}
			return
		}
		if turn.Schema != TurnSchema || turn.Number != 0 || len(turn.Sum) != 64 {
			t.Errorf("%+v", turn)
		}
		again, err := turn.Encoded()
		if err == nil {
			err = os.WriteFile(name, again, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Read(folder, nil); err != nil || back.Sum != turn.Sum {
			t.Errorf("what was read and written again: %v", err)
		}
	})
}
