package modelfile

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
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

// packs packs models of these names and files, as pairs.
func packs(t testing.TB, models ...any) (all [][]byte) {
	t.Helper()
	p, err := NewPacker()
	for i := 0; i < len(models) && err == nil; i += 2 {
		var data []byte
		data, err = p.Pack(models[i].(string), models[i+1].([]byte))
		all = append(all, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPacked: models that share sections and members are packed and come out as they were.
func TestPacked(t *testing.T) {
	made := func(kind string, sections ...Section) []byte {
		var b bytes.Buffer
		if err := Write(&b, header{kind}, sections...); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	table := Bytes([]uint32{1, 2, 3, 500, 501, 502, 503, 70000, 70001, 70002, 70003, 70004, 70005, 70006, 70007, 70008})
	rising := bytes.Repeat(table, 64)
	first := made("crf", Section{"rising", rising}, Section{"noise", noise}, Section{"none", nil})
	second := made("bilstm", Section{"other", append([]byte{1}, noise...)}, Section{"noise", noise})
	both := made("ensemble", Section{"member0", first}, Section{"member1", second})
	twice := made("mean", Section{"words", second}, Section{"network", made("more", Section{"words", second}, Section{"rising", rising})})
	stored := packs(t, "first", first, "both", both, "twice", twice)
	want := map[string][]byte{"first": first, "both": both, "twice": twice}
	files := map[string][]byte{"first": stored[0], "both": stored[1], "twice": stored[2]}
	var find Finder
	find = func(name string) (*File, error) { return Shipped(files[name], find) }
	for name, data := range files {
		f, err := find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Alone(); err != nil || !bytes.Equal(got, want[name]) {
			t.Errorf("%s: %d bytes became %d and %d: %v", name, len(want[name]), len(data), len(got), err)
		}
	}
	if sizes := [3]int{len(stored[0]), len(stored[1]), len(stored[2])}; sizes[0] > 5000 || sizes[1] > 5000 || sizes[2] > 1000 {
		t.Errorf("packed they have %d bytes", sizes)
	}
	f, _ := find("both")
	member, err := f.Part("member1")
	if err != nil || member.Kind() != "bilstm" {
		t.Fatal(err)
	}
	if got, err := member.Section("noise"); err != nil || !bytes.Equal(got, noise) {
		t.Error("a section that stands in another model is another", err)
	}
	if lost, err := Shipped(files["both"], nil); err == nil {
		if _, err = lost.Section("member0"); !errors.Is(err, ErrDamaged) {
			t.Errorf("without the other model: %v", err)
		}
	}
}

func TestBrain(t *testing.T) {
	for _, tt := range [][2]float32{{0, 0}, {1, 1}, {-1.00390625, -1}, {1.01171875, 1.015625}, {1.0040, 1.0078125}, {3.14159, 3.140625}, {-1e-3, -0.00099945068359375}} {
		if got := Brain(tt[0]); got != tt[1] {
			t.Errorf("%v became %v, not %v", tt[0], got, tt[1])
		}
	}
	if x := Brain(float32(math.NaN())); x == x {
		t.Errorf("what is no number became %v", x)
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
	newer[8] = 9
	for _, tt := range []struct {
		data []byte
		want error
	}{
		{nil, ErrNotAModel}, {[]byte("velum, but a text file that is long enough"), ErrNotAModel},
		{newer, ErrVersion}, {packs(t, "m", sample(t))[0], ErrPacked}, {sample(t)[:200], ErrDamaged},
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
