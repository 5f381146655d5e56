package embedtrain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// cut makes tokens of what blanks divide.
func cut(text string) (tokens []pipeline.Token) {
	at := 0
	for word := range strings.SplitSeq(text, " ") {
		if word != "" {
			tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(at + len(word))})
		}
		at += len(word) + 1
	}
	return tokens
}

func counted(norm embed.Normalization, cutOff embed.CutOff, notes ...string) *Vocabulary {
	c := NewCounter(norm, cutOff.Patients, 0)
	for i, n := range notes {
		c.Note([]byte(n), cut(n), uint64(i/2+1)) // two notes a patient
	}
	return c.Vocabulary(cutOff)
}

func TestVocabulary(t *testing.T) {
	notes := []string{"la casa la", "La casa", "la Rosa Rosa Rosa", "casa " + strings.Repeat("x", 65)}
	for _, tt := range []struct {
		norm embed.Normalization
		cut  embed.CutOff
		want []embed.Word
	}{
		{embed.AsIs, embed.CutOff{}, []embed.Word{{Form: "Rosa", Count: 3, Notes: 1}, {Form: "casa", Count: 3, Notes: 3}, {Form: "la", Count: 3, Notes: 2}, {Form: "La", Count: 1, Notes: 1}}},
		{embed.Lower, embed.CutOff{Count: 3}, []embed.Word{{Form: "la", Count: 4, Notes: 3}, {Form: "casa", Count: 3, Notes: 3}, {Form: "rosa", Count: 3, Notes: 1}}},
		{embed.Lower, embed.CutOff{Count: 3, Notes: 2}, []embed.Word{{Form: "la", Count: 4, Notes: 3}, {Form: "casa", Count: 3, Notes: 3}}}, // a name of one note is out
		{embed.AsIs, embed.CutOff{Patients: 2}, []embed.Word{{Form: "casa", Count: 3, Notes: 3}, {Form: "la", Count: 3, Notes: 2}}},
	} {
		v := counted(tt.norm, tt.cut, notes...)
		if diff := cmp.Diff(tt.want, v.Words); diff != "" {
			t.Errorf("%v %v: %s", tt.norm, tt.cut, diff)
		}
	}
}

// A counter with room for few forms keeps the frequent ones.
func TestCounterForgets(t *testing.T) {
	c := NewCounter(embed.AsIs, 0, 100)
	for i := range 2000 {
		note := fmt.Sprintf("often w%d", i)
		c.Note([]byte(note), cut(note), 0)
	}
	v := c.Vocabulary(embed.CutOff{Count: 10})
	if diff := cmp.Diff([]embed.Word{{Form: "often", Count: 2000, Notes: 2000}}, v.Words); diff != "" || c.Forgot() == 0 || len(c.forms) > 100 {
		t.Error(diff, c.Forgot(), len(c.forms))
	}
	full := NewCounter(embed.AsIs, 0, 2)
	full.Note([]byte("a b"), cut("a b"), 0)
	if full.Forgot() != 0 || len(full.forms) != 2 {
		t.Error("a counter that is just full forgot", full.Forgot(), len(full.forms))
	}
}

func TestEncoder(t *testing.T) {
	v := counted(embed.AsIs, embed.CutOff{Count: 2}, "a b a", "c b a")
	var got [][]int32
	e := Encoder{Vocabulary: v, Size: 3, Keep: 1 << 20, Do: func(r []int32) error { got = append(got, slices.Clone(r)); return nil }}
	for _, note := range []string{"a b", "b x a b", "a"} {
		if err := e.Note([]byte(note), cut(note)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.End(); err != nil {
		t.Fatal(err)
	}
	want := [][]int32{{0, 1, Break, 1}, {0, 1, Break}, {0, Break}}
	kept, ok := e.Kept()
	if len(got) == 0 || !ok || cmp.Diff(got, kept) != "" {
		t.Errorf("kept %v of %v", kept, got)
	}
	flat := slices.Concat(got...)
	if diff := cmp.Diff(slices.Concat(want...), flat); diff != "" {
		t.Error(diff)
	}
	e = Encoder{Vocabulary: v, Size: 1, Keep: 4, Do: func([]int32) error { return nil }}
	_ = e.Note([]byte("a b a"), cut("a b a"))
	if _, ok := e.Kept(); ok {
		t.Error("kept more than it may")
	}
}

// TestDrawn: words are drawn by their counts to the power of 3/4.
func TestDrawn(t *testing.T) {
	w := newWord2Vec(&Vocabulary{Words: []embed.Word{{Count: 81}, {Count: 16}, {Count: 1}}, Tokens: 98}, embed.Options{Dim: 8})
	for word, want := range map[int32]int{0: drawnSize * 27 / 36, 1: drawnSize * 8 / 36, 2: drawnSize / 36} {
		n := 0
		for _, t := range w.drawn {
			if t == word {
				n++
			}
		}
		if n < want-1 || n > want+1 {
			t.Errorf("word %d: %d of %d, want %d", word, n, len(w.drawn), want)
		}
	}
}

func TestGloVeGradient(t *testing.T) {
	o := embed.Options{Dim: 8, Rate: 1e-3, Seed: 3}
	s := newGloveState(3, o)
	for _, m := range [][]float32{s.w, s.c, s.b, s.bc} {
		for i := range m {
			m[i] *= 8
		}
	}
	s.b[1], s.bc[2] = .3, -.2
	p := pair{1, 2, 30}
	loss := func() float64 {
		off := float64(s.b[1]) + float64(s.bc[2]) - math.Log(30)
		for k := range s.rows {
			off += float64(s.w[s.rows+k]) * float64(s.c[2*s.rows+k])
		}
		return math.Pow(30.0/100, .75) * off * off / 2
	}
	all := [][]float32{s.w, s.c, s.b, s.bc}
	want, was := make([][]float64, 4), make([][]float32, 4)
	for k, m := range all {
		was[k] = slices.Clone(m)
		for i := range m {
			const e = 1e-2
			m[i] += e
			up := loss()
			m[i] = was[k][i] - e
			want[k] = append(want[k], (up-loss())/(2*e))
			m[i] = was[k][i]
		}
	}
	s.learn(p)
	for k, m := range all {
		for i := range m {
			if got := -float64(m[i]-was[k][i]) / float64(s.rate); math.Abs(got-want[k][i]) > 2e-3 {
				t.Errorf("array %d, place %d: step %v, derivative %v", k, i, got, want[k][i])
			}
		}
	}
}

// TestGloVeCounts counts pairs by hand.
func TestGloVeCounts(t *testing.T) {
	v := counted(embed.AsIs, embed.CutOff{}, "a b a c")
	g := newGloVe(v, embed.Options{Window: 2})
	g.Round([]int32{0, 1, 0, 2, Break, 1, 2})
	got := map[[2]int32]float32{}
	for _, cell := range g.cells() {
		for _, p := range cell {
			got[[2]int32{p.i, p.j}] = p.x
		}
	}
	want := map[[2]int32]float32{{0, 1}: 2, {1, 0}: 2, {0, 0}: .5, {0, 2}: 1, {2, 0}: 1, {1, 2}: 1.5, {2, 1}: 1.5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A full table forgets the smallest sums.
func TestPairsAreForgotten(t *testing.T) {
	g := newGloVe(counted(embed.AsIs, embed.CutOff{}, "a b"), embed.Options{Window: 5})
	g.most = 48
	for i := range int32(1000) {
		g.Round([]int32{1, 2, Break, 3, 4, 10 + i})
	}
	if len(g.pairs) > g.most || g.pairs[1<<32|2] != 1000 {
		t.Errorf("%d pairs, the largest sum is %v", len(g.pairs), g.pairs[1<<32|2])
	}
}

// planted is text of sentences "who does what", where the words of a class can
// stand for each other.
var classes = [][]string{
	{"rosa", "laia", "joan", "pere", "marta", "lluís"},
	{"come", "bebe", "toma", "pide", "recibe", "rechaza"},
	{"hierro", "insulina", "enalapril", "agua", "suero", "caldo"},
	{"ayer", "hoy", "luego", "siempre", "nunca", "anoche"},
}

func planted() []string {
	r := rand.New(rand.NewPCG(11, 12))
	var notes []string
	for range 1500 {
		var words []string
		for _, class := range classes {
			words = append(words, class[r.IntN(len(class))])
		}
		words = append(words, ".")
		notes = append(notes, strings.Join(words, " ")+" "+strings.Join(words[:2], " "))
	}
	return notes
}

func train(t testing.TB, method string, o embed.Options, notes []string) *Vectors {
	t.Helper()
	m := New(method, counted(embed.AsIs, embed.CutOff{Count: 2}, notes...), o)
	e := Encoder{Vocabulary: counted(embed.AsIs, embed.CutOff{Count: 2}, notes...), Size: m.RoundSize(), Keep: 1 << 30, Do: func(r []int32) error { m.Round(r); return nil }}
	for range m.Epochs() {
		for _, n := range notes {
			if err := e.Note([]byte(n), cut(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.End(); err != nil {
			t.Fatal(err)
		}
	}
	return m.Vectors()
}

// TestPlantedTopics finds topics by GloVe, which learns from how often words
// stand together: within a topic nine times as often as across.
func TestPlantedTopics(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	topics := [2][]string{slices.Concat(classes[0], classes[1]), slices.Concat(classes[2], classes[3])}
	var notes []string
	for range 8000 {
		a := r.IntN(2)
		b := a
		if r.IntN(10) == 0 {
			b = 1 - a
		}
		notes = append(notes, topics[a][r.IntN(12)]+" "+topics[b][r.IntN(12)])
	}
	x := train(t, "glove", embed.Options{Dim: 8, Epochs: 60, Workers: 2, Seed: 2}, notes)
	of, err := x.KMeans(KMeansOptions{K: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		for _, w := range topic {
			if of[x.Vocabulary.index[w]] != of[x.Vocabulary.index[topic[0]]] {
				t.Errorf("%s is not with %s", w, topic[0])
			}
		}
	}
	if of[x.Vocabulary.index[topics[0][0]]] == of[x.Vocabulary.index[topics[1][0]]] {
		t.Error("both topics in one cluster")
	}
}

// TestPlanted finds the planted classes by word2vec, as clusters. Workers that
// share vectors without a lock are no two times alike, and on a loaded machine one
// may learn from what is long past: they have three tries.
func TestPlanted(t *testing.T) {
	notes := planted()
	for _, tt := range []struct {
		method string
		o      embed.Options
	}{
		{"skip-gram", embed.Options{Dim: 16, Epochs: 10, Sample: 1}},
		{"skip-gram", embed.Options{Dim: 16, Epochs: 10, Sample: 1, Workers: 4}},
	} {
		tt.o.Window, tt.o.Seed = 3, 5
		best := clustered(t, train(t, tt.method, tt.o, notes))
		for try := 1; try < 3 && tt.o.Workers > 1 && best < len(classes); try++ {
			best = clustered(t, train(t, tt.method, tt.o, notes))
		}
		if best < len(classes) {
			t.Errorf("%s %+v: only %d of %d classes are clusters", tt.method, tt.o, best, len(classes))
		}
	}
}

// clustered counts the classes that are clusters, by k-means from five starts: a
// class may be split in one.
func clustered(t *testing.T, x *Vectors) (best int) {
	for seed := range uint64(5) {
		of, err := x.KMeans(KMeansOptions{K: 5, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		best = max(best, together(x, of))
	}
	return best
}

// together counts the classes whose words are in one cluster without others.
func together(x *Vectors, of []uint16) (n int) {
	for _, class := range classes {
		k := of[x.Vocabulary.index[class[0]]]
		same := 0
		for i, w := range x.Vocabulary.Words {
			if (of[i] == k) == slices.Contains(class, w.Form) {
				same++
			}
		}
		if same == len(of) {
			n++
		}
	}
	return n
}

// Any number of workers gives the same numbers by GloVe and k-means; word2vec
// gives the same by one worker.
func TestWorkers(t *testing.T) {
	notes := planted()[:300]
	for _, method := range Methods() {
		o := embed.Options{Dim: 12, Epochs: 2, Seed: 9}
		one := train(t, method, o, notes)
		if method == "glove" {
			o.Workers = 5
		}
		again := train(t, method, o, notes)
		if !slices.Equal(one.data, again.data) {
			t.Errorf("%s: other vectors the second time", method)
		}
		k := KMeansOptions{K: 7, Seed: 1}
		a, err := one.KMeans(k)
		if err != nil {
			t.Fatal(err)
		}
		k.Workers = 5
		b, _ := one.KMeans(k)
		if !slices.Equal(a, b) {
			t.Errorf("%s: five workers give other clusters than one", method)
		}
	}
}

// randomVectors has n words w0… and random numbers.
func randomVectors(n, dim int) *Vectors {
	r := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	x := &Vectors{Vocabulary: &Vocabulary{Tokens: uint64(n), Normalization: embed.Lower}, Dim: dim, rows: dim + 3}
	for i := range n {
		x.Vocabulary.Words = append(x.Vocabulary.Words, embed.Word{Form: fmt.Sprintf("w%dà", i), Count: uint64(n - i), Notes: uint32(i + 1)})
		for range x.rows {
			x.data = append(x.data, r.Float32()-.5)
		}
	}
	return x
}

// TestKMeansByBruteForce checks the assignment against all cosines, and that
// it is where the iteration rests.
func TestKMeansByBruteForce(t *testing.T) {
	for _, n := range []int{5, 301, 700} {
		for _, k := range []int{1, 2, 5, 33, 300} {
			if k > n {
				continue
			}
			x := randomVectors(n, 10)
			c := newClustering(x, KMeansOptions{K: k, Seed: 3})
			c.assign()
			for i := range n {
				bestK, best := 0, math.Inf(-1)
				for j := range k {
					dot := 0.0
					for d := range 10 {
						dot += float64(c.points[i*10+d]) * float64(c.centres[j*10+d])
					}
					if dot > best+1e-6 {
						bestK, best = j, dot
					}
				}
				if int(c.of[i]) != bestK && math.Abs(float64(c.fit[i])-best) > 1e-5 {
					t.Fatalf("n %d, k %d: point %d in %d, nearest is %d", n, k, i, c.of[i], bestK)
				}
			}
			of, err := x.KMeans(KMeansOptions{K: k, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			sizes := make([]int, k)
			for _, j := range of {
				sizes[j]++
			}
			if slices.Contains(sizes, 0) {
				t.Errorf("n %d, k %d: an empty cluster", n, k)
			}
		}
	}
	if of, err := randomVectors(5, 4).KMeans(KMeansOptions{K: 6}); err != nil || !slices.Equal(of, []uint16{0, 1, 2, 3, 4}) {
		t.Errorf("five words in six clusters: %v, %v", of, err)
	}
}

// Equal points leave clusters empty unless they are mended.
func TestNoEmptyCluster(t *testing.T) {
	x := randomVectors(64, 6)
	for i := range x.data {
		x.data[i] = 1
	}
	of, err := x.KMeans(KMeansOptions{K: 64})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(of)
	if len(slices.Compact(of)) != 64 {
		t.Error("an empty cluster")
	}
}

func sampleFile(t testing.TB, n int) []byte {
	t.Helper()
	x := randomVectors(n, 9)
	clusters := map[int][]uint16{}
	for _, k := range []int{2, 3} {
		of, err := x.KMeans(KMeansOptions{K: k})
		if err != nil {
			t.Fatal(err)
		}
		clusters[k] = of
	}
	var b bytes.Buffer
	if err := Write(&b, Contents{Header: embed.Header{Name: "t", Method: "skip-gram", Tokens: 999}, Vectors: x, Clusters: clusters}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(data []byte) (*embed.File, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	return embed.Load(f)
}

func TestFile(t *testing.T) {
	const n = 200
	x := randomVectors(n, 9)
	f, err := load(sampleFile(t, n))
	if err != nil {
		t.Fatal(err)
	}
	if h := f.Header(); h.Words != n || h.Normalization != embed.Lower || h.Tokens != 999 || cmp.Diff([]int{2, 3}, h.Clusters) != "" {
		t.Errorf("header %+v", h)
	}
	for i, w := range x.Vocabulary.Words {
		at, ok := f.Find([]byte(strings.ToUpper(w.Form)))
		if !ok || at != i || f.Word(i) != w {
			t.Fatalf("word %d found at %d, %v", i, at, ok)
		}
		v := f.At(i)
		dot, a, b := 0.0, 0.0, 0.0
		for j, y := range x.At(i) {
			dot, a, b = dot+float64(y*v[j]), a+float64(y*y), b+float64(v[j]*v[j])
		}
		if c := dot / math.Sqrt(a*b); c < 0.9999 {
			t.Errorf("word %d: cosine with its stored vector %v", i, c)
		}
	}
	if _, ok := f.Find([]byte("unknown")); ok {
		t.Error("an unknown word is found")
	}
	near := f.Neighbours(f.At(7), 4, 7)
	if len(near) != 4 || near[0].Cosine < near[3].Cosine || near[0].Word == 7 || bruteNearest(f, 7) != near[0].Word {
		t.Errorf("neighbours %v, nearest by brute force %d", near, bruteNearest(f, 7))
	}
	if got := f.Neighbours(f.At(7), 1, -1); got[0].Word != 7 {
		t.Error("a word is not its own nearest")
	}
	if _, _, empty := f.Sizes(3); empty != 0 {
		t.Error("an empty cluster")
	}
}

func bruteNearest(f *embed.File, to int) (best int) {
	top := float32(-2)
	target := make([]float32, f.Header().Dim)
	embed.Unit(target, f.At(to))
	for i := range f.Len() {
		v := make([]float32, f.Header().Dim)
		embed.Unit(v, f.At(i))
		dot := float32(0)
		for j := range v {
			dot += v[j] * target[j]
		}
		if i != to && dot > top {
			best, top = i, dot
		}
	}
	return best
}

func TestClusters(t *testing.T) {
	f, err := load(sampleFile(t, 300))
	if err != nil {
		t.Fatal(err)
	}
	if f.Clusters(5) != nil {
		t.Error("clusters that the file has not")
	}
	c, err := embed.OpenClusters(f.Clusters(3).Data())
	if err != nil || c.Kind() != "clusters" || c.Len() != 300 {
		t.Fatal(c, err)
	}
	for i := range f.Len() {
		want, _ := f.Cluster(i, 3)
		if got := string(c.Value([]byte("x"), bytes.ToUpper([]byte(f.Word(i).Form)))); got != fmt.Sprintf("x%d", want) {
			t.Errorf("word %d: %s, want %d", i, got, want)
		}
	}
	for _, form := range []string{"", "unknown", strings.Repeat("x", 100)} {
		if got := c.Value(nil, []byte(form)); len(got) != 0 {
			t.Errorf("%d bytes: cluster %s of an unknown form", len(form), got)
		}
	}
	data := c.Data()
	for _, bad := range [][]byte{nil, data[:11], data[:len(data)-1], append(slices.Clone(data), 0), swapped(data)} {
		if _, err := embed.OpenClusters(bad); err == nil {
			t.Errorf("no error for %d damaged bytes", len(bad))
		}
	}
}

// swapped exchanges the first two hashes.
func swapped(data []byte) []byte {
	bad := slices.Clone(data)
	copy(bad[12:], data[16:20])
	copy(bad[16:], data[12:16])
	return bad
}

// FuzzLoad gives damaged sections with right checksums to the reader: it must
// refuse them or work.
func FuzzLoad(f *testing.F) {
	base, _ := modelfile.Parse(sampleFile(f, 20))
	for i, s := range base.Sections() {
		f.Add(base.RawHeader(), uint8(i), s.Data)
	}
	f.Fuzz(func(t *testing.T, header []byte, at uint8, data []byte) {
		var h map[string]any
		sections := slices.Clone(base.Sections())
		sections[int(at)%len(sections)].Data = data
		var b bytes.Buffer
		if json.Unmarshal(header, &h) != nil || modelfile.Write(&b, h, sections...) != nil {
			return
		}
		e, err := load(b.Bytes())
		if err != nil {
			return
		}
		for i := range e.Len() {
			e.Word(i)
			e.At(i)
			for _, k := range e.Header().Clusters {
				e.Cluster(i, k)
			}
		}
		e.Find([]byte("w3à"))
		e.Find([]byte("unknown"))
		e.Neighbours(make([]float32, e.Header().Dim), 3, -1)
		for _, k := range e.Header().Clusters {
			e.Sizes(k)
			e.Clusters(k).Value(nil, []byte("w3à"))
		}
	})
}

func FuzzOpenClusters(f *testing.F) {
	e, err := load(sampleFile(f, 20))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(e.Clusters(3).Data())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := embed.OpenClusters(data)
		if err != nil {
			return
		}
		if again, err := embed.OpenClusters(c.Data()); err != nil || again.Len() != c.Len() {
			t.Fatal("what was read cannot be read again")
		}
		c.Value(nil, []byte("hola"))
	})
}
