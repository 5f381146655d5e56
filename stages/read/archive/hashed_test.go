package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

// TestReplaced: what was hashed is what is decoded. A file that is replaced or
// written after it was hashed gives no rows under the old hash, and is to be
// tried again; one that got a link or other rights is the same.
func TestReplaced(t *testing.T) {
	var dumps [2][]byte
	for k := range dumps {
		for i := range 300 {
			dumps[k] = fmt.Appendf(dumps[k], "%d|1|2|nota inventada %d%d\n", i, k, i%10)
		}
	}
	files := map[string][2][]byte{
		"x.parquet": {readtest.Sample(t, parquet.KeyValueMetadata("k", "A")), readtest.Sample(t, parquet.KeyValueMetadata("k", "B"))},
		"x.dump":    dumps,
	}
	put := func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
	changes := []struct {
		name string
		same bool
		do   func(path string, other []byte) error
	}{
		{"renamed over", false, func(path string, other []byte) error {
			return errors.Join(put(path+".new", other), os.Rename(path+".new", path))
		}},
		{"written in place", false, put},
		{"written, time set back", false, func(path string, other []byte) error {
			info, err := os.Stat(path)
			return errors.Join(err, put(path, other), os.Chtimes(path, info.ModTime(), info.ModTime()))
		}},
		{"appended", false, func(path string, other []byte) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.Write([]byte("9|9|9|more\n"))
			return errors.Join(err, f.Close())
		}},
		{"linked", true, func(path string, _ []byte) error { return os.Link(path, path+".link") }},
		{"other rights", true, func(path string, _ []byte) error { return os.Chmod(path, 0o640) }},
		{"touched", true, func(path string, _ []byte) error { return os.Chtimes(path, time.Now(), time.Unix(1e9, 0)) }},
	}
	behind := fenceFor(t, fence.Options{})
	for name, data := range files {
		for _, f := range []*fence.Fence{nil, behind} {
			for _, c := range changes {
				for _, late := range []bool{false, true} {
					what := fmt.Sprintf("%s, fence %t, %s, late %t", name, f != nil, c.name, late)
					path := filepath.Join(t.TempDir(), name)
					if err := put(path, data[0]); err != nil {
						t.Fatal(err)
					}
					a, err := Scan(t.Context(), []string{path}, input.Options{BatchNotes: 100}, f)
					if err != nil {
						t.Fatal(err)
					}
					change := func() {
						if err := c.do(path, data[1]); err != nil {
							t.Fatal(err)
						}
					}
					if !late {
						change()
					}
					notes := 0
					src, err := a.Open(&a.Units[0])
					var b pipeline.Batch
					for err == nil {
						b.Reset()
						if err = src.Next(&b); err == nil && notes == 0 && late {
							change()
						}
						notes += b.Len()
					}
					if src != nil {
						src.Close()
					}
					damage, ok := errors.AsType[*commit.DamageError](err)
					ahead := f != nil && late && notes == 300 && !ok // the worker was done before
					if c.same && (ok || notes != 300) || !c.same && !ahead && (!ok || !damage.Unread) {
						t.Errorf("%s: %d notes, %v", what, notes, err)
					}
				}
			}
		}
	}
}
