package modelfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type header struct{ Kind string }

func sample(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	err := Write(&b, header{"crf"},
		Section{"weights", Bytes([]float32{1, -2.5, 3e-9})},
		Section{"empty", nil},
		Section{"keys", Bytes([]uint64{1, 1 << 60})})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.velum")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var h header
	if err := f.Header(&h); err != nil || h.Kind != "crf" {
		t.Errorf("header %v, %v", h, err)
	}
	data, err := f.Section("weights")
	if err != nil {
		t.Fatal(err)
	}
	weights, err := View[float32](data)
	if diff := cmp.Diff([]float32{1, -2.5, 3e-9}, weights); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := f.Section("other"); !errors.Is(err, ErrDamaged) {
		t.Errorf("a missing section gives %v", err)
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}

// TestEveryChangeIsFound flips each byte, and cuts the file at each length.
func TestEveryChangeIsFound(t *testing.T) {
	good := sample(t)
	used := make([]bool, len(good)) // padding between sections holds nothing
	f, _ := Parse(good)
	for i := range fixedSize + 3*entrySize + len(f.header) {
		used[i] = true
	}
	for _, s := range f.sections {
		at := bytes.Index(good, s.Data)
		for i := range s.Data {
			used[at+i] = true
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if _, err := Parse(bad); (err == nil) == used[i] {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := Parse(good[:i]); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
	}
}

func TestUnalignedView(t *testing.T) {
	data := append([]byte{9}, Bytes([]uint32{7, 8})...)[1:]
	got, err := View[uint32](data)
	if diff := cmp.Diff([]uint32{7, 8}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := View[uint32](data[:7]); !errors.Is(err, ErrDamaged) {
		t.Errorf("an odd length gives %v", err)
	}
}

func TestErrorsSayWhat(t *testing.T) {
	newer := sample(t)
	newer[8] = 2
	for _, tt := range []struct {
		data []byte
		want error
	}{
		{nil, ErrNotAModel}, {[]byte("velum, but a text file that is long enough"), ErrNotAModel},
		{newer, ErrVersion}, {sample(t)[:200], ErrDamaged},
	} {
		if _, err := Parse(tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%d bytes: got %v, want %v", len(tt.data), err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f))
	f.Add(sample(f)[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		for _, s := range file.Sections() {
			if len(s.Data) > len(data) {
				t.Fatal("a section is longer than the file")
			}
			_, _ = View[uint64](s.Data)
		}
	})
}
