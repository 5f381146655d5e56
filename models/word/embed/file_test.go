package embed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
)

// longest is a form of as many bytes as a form may have.
var longest = strings.Repeat("x", MaxForm)

// sections are those of a file of five words in two dimensions:
//
//	ana  (3, 4)    cluster 0    cosine with (6, 8): 1
//	mar  (4, 3)    cluster 2    (.6·4 + .8·3) / 5 = .96
//	sol  (-3, -4)  cluster 0    -1
//	xx…  (0, 0)    cluster 2    none
//	dos  (6, 8)    cluster 2    1
func sections() (Header, map[string][]byte) {
	forms := []string{"ana", "mar", "sol", longest, "dos"}
	start, slots := []uint32{0}, make([]uint32, 8)
	for i, form := range forms {
		start = append(start, start[i]+uint32(len(form)))
		at := xxh3.HashString(form) % 8
		for slots[at] != 0 {
			at = (at + 1) % 8
		}
		slots[at] = uint32(i + 1)
	}
	return Header{Kind: Kind, Normalization: Lower, Dim: 2, Words: 5, Clusters: []int{3}}, map[string][]byte{
		"count": modelfile.Bytes([]uint64{9, 5, 2, 1, 1}), "notes": modelfile.Bytes([]uint32{4, 3, 2, 1, 1}),
		"start": modelfile.Bytes(start), "text": []byte(strings.Join(forms, "")), "slot": modelfile.Bytes(slots),
		"scale": modelfile.Bytes([]float32{1, .5, 2, 1, 1}), "vector": modelfile.Bytes([]int8{3, 4, 4, 3, -3, -4, 0, 0, 6, 8}),
		Section(3): modelfile.Bytes([]uint16{0, 2, 0, 2, 2}),
	}
}

// loaded writes the sections as a file and loads it.
func loaded(t *testing.T, h Header, parts map[string][]byte) (*File, error) {
	t.Helper()
	var all []modelfile.Section
	for _, name := range []string{"count", "notes", "start", "text", "slot", "scale", "vector", Section(3)} {
		all = append(all, modelfile.Section{Name: name, Data: parts[name]})
	}
	var b bytes.Buffer
	if err := modelfile.Write(&b, h, all...); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Load(f)
}

func small(t *testing.T) *File {
	t.Helper()
	h, parts := sections()
	f, err := loaded(t, h, parts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLookUp(t *testing.T) {
	f := small(t)
	for form, want := range map[string]int{"ana": 0, "MAR": 1, "sol": 2, longest: 3, "Dos": 4, "an": -1, "": -1} {
		if i, ok := f.Find([]byte(form)); ok != (want >= 0) || ok && i != want {
			t.Errorf("%q is word %d, %v, want %d", form, i, ok, want)
		}
	}
	if w := f.Word(1); w != (Word{"mar", 5, 3}) || f.Len() != 5 {
		t.Errorf("%+v of %d words", w, f.Len())
	}
	if got := f.At(1); !slices.Equal(got, []float32{2, 1.5}) {
		t.Errorf("the vector of mar is %v", got)
	}
	for _, c := range []struct{ word, k, want int }{{1, 3, 2}, {2, 3, 0}, {1, 4, -1}} {
		if got, ok := f.Cluster(c.word, c.k); ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("word %d is in cluster %d, %v of %d, want %d", c.word, got, ok, c.k, c.want)
		}
	}
	for _, c := range []struct {
		cluster, n int
		words      []int
		size       int
	}{{2, 2, []int{1, 3}, 3}, {2, 9, []int{1, 3, 4}, 3}, {0, 2, []int{0, 2}, 2}, {1, 2, nil, 0}, {2, 0, nil, 3}} {
		if words, size := f.Members(c.cluster, 3, c.n); !slices.Equal(words, c.words) || size != c.size {
			t.Errorf("%d of cluster %d: %v of %d, want %v of %d", c.n, c.cluster, words, size, c.words, c.size)
		}
	}
	if median, largest, empty := f.Sizes(3); median != 2 || largest != 3 || empty != 1 {
		t.Errorf("sizes of 2, 0 and 3: median %d, largest %d, empty %d", median, largest, empty)
	}
}

func TestNeighbours(t *testing.T) {
	f := small(t)
	for _, c := range []struct {
		n, except int
		want      []Neighbour
	}{
		{9, -1, []Neighbour{{0, 1}, {4, 1}, {1, .96}, {2, -1}}}, // of equals the first, and not the vector of zeros
		{9, 0, []Neighbour{{4, 1}, {1, .96}, {2, -1}}},
		{2, 4, []Neighbour{{0, 1}, {1, .96}}},
		{1, -1, []Neighbour{{0, 1}}},
		{0, -1, nil},
	} {
		got := f.Neighbours([]float32{6, 8}, c.n, c.except)
		if !slices.EqualFunc(got, c.want, func(a, b Neighbour) bool {
			return a.Word == b.Word && math.Abs(float64(a.Cosine-b.Cosine)) < 1e-6
		}) {
			t.Errorf("%d but %d: %v, want %v", c.n, c.except, got, c.want)
		}
	}
	unit := []float32{7, 7}
	if Unit(unit, []float32{0, 0}); !slices.Equal(unit, []float32{0, 0}) {
		t.Errorf("zeros of length one are %v", unit)
	}
	if Unit(unit, []float32{-3, 4}); math.Abs(float64(unit[0])+.6) > 1e-6 || math.Abs(float64(unit[1])-.8) > 1e-6 {
		t.Errorf("(-3, 4) of length one is %v", unit)
	}
}

// Every part that is damaged is seen as the file is opened.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(h *Header, parts map[string][]byte)
		good   bool
	}{
		{"no word", func(h *Header, _ map[string][]byte) { h.Words = 0 }, false},
		{"no dimension", func(h *Header, _ map[string][]byte) { h.Dim = 0 }, false},
		{"fewer words than counts", func(h *Header, _ map[string][]byte) { h.Words = 4 }, false},
		{"more dimensions than numbers", func(h *Header, _ map[string][]byte) { h.Dim = 3 }, false},
		{"first offset", func(_ *Header, p map[string][]byte) { p["start"][0] = 1 }, false},
		{"offsets that fall", func(_ *Header, p map[string][]byte) { p["start"][4] = 7 }, false},
		{"text that is longer", func(_ *Header, p map[string][]byte) { p["text"] = append(p["text"], 'x') }, false},
		{"text that is shorter", func(_ *Header, p map[string][]byte) { p["text"] = p["text"][1:] }, false},
		{"a table of one place", func(_ *Header, p map[string][]byte) { p["slot"] = make([]byte, 4) }, false},
		{"a table of two places", func(_ *Header, p map[string][]byte) { p["slot"] = make([]byte, 8) }, true},
		{"a table of six places", func(_ *Header, p map[string][]byte) { p["slot"] = make([]byte, 24) }, false},
		{"a table without a free place", func(_ *Header, p map[string][]byte) { p["slot"] = bytes.Repeat([]byte{1, 0, 0, 0}, 8) }, false},
		{"the last word", func(_ *Header, p map[string][]byte) { copy(p["slot"], []byte{5, 0, 0, 0, 0, 0, 0, 0}) }, true},
		{"a word behind the last", func(_ *Header, p map[string][]byte) { copy(p["slot"], []byte{6, 0, 0, 0, 0, 0, 0, 0}) }, false},
		{"a scale of zero", func(_ *Header, p map[string][]byte) { copy(p["scale"], []byte{0, 0, 0, 0}) }, true},
		{"a scale below zero", func(_ *Header, p map[string][]byte) { p["scale"][3] |= 0x80 }, false},
		{"a scale that is infinite", func(_ *Header, p map[string][]byte) {
			copy(p["scale"], modelfile.Bytes([]float32{float32(math.Inf(1))}))
		}, false},
		{"a scale that is the largest number", func(_ *Header, p map[string][]byte) {
			copy(p["scale"], modelfile.Bytes([]float32{math.MaxFloat32}))
		}, false},
		{"a cluster behind the last", func(_ *Header, p map[string][]byte) { p[Section(3)][0] = 3 }, false},
		{"one cluster too few", func(_ *Header, p map[string][]byte) { p[Section(3)] = p[Section(3)][2:] }, false},
	} {
		h, parts := sections()
		c.damage(&h, parts)
		if _, err := loaded(t, h, parts); (err == nil) != c.good || err != nil && !errors.Is(err, modelfile.ErrDamaged) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	h, parts := sections()
	h.Kind = "gazetteer"
	if _, err := loaded(t, h, parts); !errors.Is(err, modelfile.ErrNotAModel) {
		t.Errorf("another kind of file: %v", err)
	}
}

// Clusters of a file, and the same as they are stored: 12 bytes, and 6 a word.
func TestStoredClusters(t *testing.T) {
	f := small(t)
	if f.Clusters(4) != nil {
		t.Error("clusters of a number that the file does not have")
	}
	made := f.Clusters(3)
	opened, err := OpenClusters(made.Data())
	if err != nil || len(made.Data()) != 12+5*6 || opened.Len() != 5 || opened.Kind() != "clusters" {
		t.Fatalf("%d bytes, %v", len(made.Data()), err)
	}
	for _, c := range []*Clusters{made, opened} {
		for form, want := range map[string]string{"Ana": "0", "mar": "2", "SOL": "0", longest: "2", "dos": "2", "tres": "", longest + "x": "", "": ""} {
			if got := string(c.Value([]byte("c"), []byte(form))); got != "c"+want {
				t.Errorf("%q has the value %q, want %q", form, got, "c"+want)
			}
		}
	}
	for _, c := range []struct {
		name string
		at   int
		byte byte
	}{{"magic", 0, 'w'}, {"version", 3, 2}, {"normalization", 4, 3}, {"padding", 5, 1}, {"padding", 6, 1}, {"padding", 7, 1}, {"fewer words", 8, 4}, {"too many words", 10, 2}} {
		data := slices.Clone(made.Data())
		data[c.at] = c.byte
		if _, err := OpenClusters(data); err == nil {
			t.Errorf("damaged %s: no error", c.name)
		}
	}
	for _, n := range []int{0, 11, 12, len(made.Data()) - 1} {
		if _, err := OpenClusters(made.Data()[:n]); err == nil {
			t.Errorf("cut off at %d: no error", n)
		}
	}
	twice := slices.Clone(made.Data())
	copy(twice[16:20], twice[12:16]) // the hashes rise
	if _, err := OpenClusters(twice); err == nil {
		t.Error("a hash that stands twice: no error")
	}
	none, err := OpenClusters(append([]byte(clustersMagic), 1, 0, 0, 0, 0, 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.Find([]byte("ana")); ok {
		t.Error("no words, and one of them is found")
	}
}

// TestChains: words whose places are taken stand in the next ones, behind the last in the first; all are found, and others are not.
func TestChains(t *testing.T) {
	// Seven of eight places are taken: whatever their hashes, some word stands elsewhere.
	f := &File{header: Header{Words: 7}, slots: make([]uint32, 8), start: []uint32{0}}
	for i := range 7 {
		f.text = append(f.text, 'a'+byte(i))
		f.start = append(f.start, uint32(i+1))
		at := xxh3.Hash(f.text[i:]) % 8
		for f.slots[at] != 0 {
			at = (at + 1) % 8
		}
		f.slots[at] = uint32(i + 1)
	}
	for i := range 26 {
		got, ok := f.Find([]byte{'a' + byte(i)})
		if ok != (i < 7) || got != i && i < 7 || got != 0 && i >= 7 {
			t.Errorf("word %d is found at %d, %v", i, got, ok)
		}
	}
	// Hashes that begin with the same bits begin at the same place, those of all ones at the last.
	c := &Clusters{data: append([]byte(clustersMagic), make([]byte, clustersHead-4)...), n: 6}
	hashes := []uint32{0, 1, 1 << 31, 1<<31 + 1, 1<<32 - 2, 1<<32 - 1}
	for _, h := range hashes {
		c.data = binary.LittleEndian.AppendUint32(c.data, h)
	}
	for k := range hashes {
		c.data = binary.LittleEndian.AppendUint16(c.data, uint16(10+k))
	}
	if c.sortIn(); len(c.places) != 16 {
		t.Fatalf("%d places for six words, of which half are to be free", len(c.places))
	}
	for k, at := range []int{0, 1, 8, 9, 15, 2} { // the last of all goes on behind the first two
		if want := (place{hashes[k], uint32(11 + k)}); c.places[at] != want {
			t.Errorf("place %d holds %+v, want %+v", at, c.places[at], want)
		}
	}
	many := &File{header: Header{Words: 1000}, start: []uint32{0}, clusters: map[int][]uint16{9: make([]uint16, 1000)}}
	for i := range 1000 {
		many.text = strconv.AppendInt(many.text, int64(i), 10)
		many.start, many.clusters[9][i] = append(many.start, uint32(len(many.text))), uint16(i%9)
	}
	found := many.Clusters(9)
	for i := range 2000 {
		k, ok := found.Find(strconv.AppendInt(nil, int64(i), 10))
		if ok != (i < 1000) || ok && k != i%9 || !ok && k != 0 {
			t.Errorf("%d is in cluster %d, %v", i, k, ok)
		}
	}
}
