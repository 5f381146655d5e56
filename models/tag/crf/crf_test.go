package crf_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

func trained(t testing.TB, opt crftrain.TrainOptions) *crf.Model {
	t.Helper()
	if opt.L2 == 0 && opt.L1 == 0 {
		opt.L2 = .5
	}
	m, err := crftrain.Train(toyNotesCorpus(t, pipeline.BIO, crftest.Template, 150, 3), opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// accuracy is the share of tokens whose tag is right.
func accuracy(t testing.TB, m *crf.Model, notes []crftest.Note) float64 {
	t.Helper()
	l := labellerOf(m, tagger.LabelOptions{})
	right, all := 0, 0
	for _, n := range notes {
		tags := make([]pipeline.Tag, len(n.Tokens))
		l.Label(n.Text, n.Tokens, n.Matches, tags)
		for i := range tags {
			all++
			if tags[i] == n.Tags[i] {
				right++
			}
		}
	}
	return float64(right) / float64(all)
}

func TestModelFile(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{TrainOptions: tagger.TrainOptions{About: tagger.Header{Name: "toy", Fingerprints: map[string]string{"patterns": "p1"},
		RecallDial: []tagger.DialPoint{{Recall: .9, Precision: .95}, {Recall: .99, Bias: 2, Precision: .8}}}}})
	var a, b bytes.Buffer
	if err := m.Write(&a); err != nil {
		t.Fatal(err)
	}
	if err := trained(t, crftrain.TrainOptions{TrainOptions: tagger.TrainOptions{Workers: 2, About: m.Header()}}).Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two trainings, with one worker and two, gave two files")
	}
	f, err := modelfile.Parse(a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := crf.Load(f, crftest.Resources())
	if err != nil {
		t.Fatal(err)
	}
	notes := crftest.Notes(t, m.TagSet(), 40, 7)
	if x, y := accuracy(t, m, notes), accuracy(t, got, notes); x != y {
		t.Errorf("accuracy %v, after loading %v", x, y)
	}
	h := got.Header()
	if h.Name != "toy" || h.Fingerprints["gazetteer"] != "4d" || h.Fingerprints["patterns"] != "p1" || h.Training.Tokens == 0 {
		t.Errorf("header %+v", h)
	}
	if p, err := h.Bias(.95, 0); err != nil || p.Bias != 2 {
		t.Errorf("bias %v, %v", p, err)
	}
	if _, err := h.Bias(.999, 0); err == nil {
		t.Error("a recall that the dial does not reach: no error")
	}
	if _, err := crf.Load(f, features.Resources{}); err == nil {
		t.Error("without the word lists: no error")
	}
}

// A file that is sound as a file but not as a model gives errors, no panics.
func TestLoadDamaged(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	var good bytes.Buffer
	if err := m.Write(&good); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(good.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections() {
		for _, data := range [][]byte{nil, s.Data[:len(s.Data)/2&^3], append(slices.Clone(s.Data), s.Data...), bytes.Repeat([]byte{0xFF}, len(s.Data))} {
			sections := slices.Clone(f.Sections())
			sections[i].Data = data
			var bad bytes.Buffer
			if err := modelfile.Write(&bad, m.Header(), sections...); err != nil {
				t.Fatal(err)
			}
			bf, err := modelfile.Parse(bad.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			broken, err := crf.Load(bf, crftest.Resources())
			if err != nil {
				continue
			}
			accuracy(t, broken, crftest.Notes(t, m.TagSet(), 5, 1)) // must not panic
			if s.Name != "key" {
				t.Errorf("section %q with %d for %d bytes: no error", s.Name, len(data), len(s.Data))
			}
		}
	}
}

// A cache of any size gives the same tags and the same confidence, bit for
// bit.
func TestCacheChangesNothing(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	large, small := labellerOf(m, tagger.LabelOptions{}), labellerOf(m, tagger.LabelOptions{CacheBytes: 1})
	for _, n := range crftest.Notes(t, m.TagSet(), 200, 8) {
		a, b := make([]pipeline.Tag, len(n.Tokens)), make([]pipeline.Tag, len(n.Tokens))
		ca, cb := large.Label(n.Text, n.Tokens, n.Matches, a), small.Label(n.Text, n.Tokens, n.Matches, b)
		if ca != cb || !slices.Equal(a, b) {
			t.Fatalf("confidence %v, with a small cache %v", ca, cb)
		}
	}
	asked, found := large.Asked()
	askedSmall, foundSmall := small.Asked()
	if asked != askedSmall || found < asked*9/10 || foundSmall > found {
		t.Errorf("found %d of %d, with a small cache %d of %d", found, asked, foundSmall, askedSmall)
	}
}

// Labellers of a model that ask each other for forms, and drive out what the
// others keep, tag as one alone does.
func TestSharedForms(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	notes := crftest.Notes(t, m.TagSet(), 200, 8)
	alone := labellerOf(m, tagger.LabelOptions{})
	want := make([][]pipeline.Tag, len(notes))
	conf := make([]float32, len(notes))
	for i, n := range notes {
		want[i] = make([]pipeline.Tag, len(n.Tokens))
		conf[i] = alone.Label(n.Text, n.Tokens, n.Matches, want[i])
	}
	for _, bytes := range []int{1, 1 << 16, 4 << 20} {
		m.Unshare()
		labellers := make([]*crf.Labeller, 3)
		for i := range labellers {
			labellers[i] = labellerOf(m, tagger.LabelOptions{CacheBytes: bytes, Shared: true})
		}
		var done sync.WaitGroup
		for first, l := range labellers {
			done.Go(func() {
				for k := range notes {
					i := (k + 70*first) % len(notes)
					n := notes[i]
					tags := make([]pipeline.Tag, len(n.Tokens))
					if c := l.Label(n.Text, n.Tokens, n.Matches, tags); c != conf[i] || !slices.Equal(tags, want[i]) {
						t.Errorf("%d bytes, note %d: confidence %v, alone %v", bytes, i, c, conf[i])
					}
				}
			})
		}
		done.Wait()
		if bytes > 1<<20 {
			all, _ := labellers[2].Asked()
			if taken := m.SharedAsked(); taken == 0 || taken >= all {
				t.Errorf("%d forms were computed for %d tokens", taken, all)
			}
		}
	}
}

// Confidence is what the marginals and the paths say.
func TestConfidence(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	path, line := labellerOf(m, tagger.LabelOptions{}), labellerOf(m, tagger.LabelOptions{Confidence: tagger.LineMinimum})
	labels := m.TagSet().Len()
	for _, n := range crftest.Notes(t, m.TagSet(), 60, 9) {
		tags := make([]pipeline.Tag, len(n.Tokens))
		p := path.Label(n.Text, n.Tokens, n.Matches, tags)
		r := line.Label(n.Text, n.Tokens, n.Matches, tags)
		probs := path.Marginals(nil, n.Text, n.Tokens, n.Matches)
		want := float32(1)
		for i, y := range tags {
			want = min(want, probs[i*labels+int(y)])
			sum := float32(0)
			for _, v := range probs[i*labels : (i+1)*labels] {
				sum += v
			}
			if math.Abs(float64(sum)-1) > 1e-4 {
				t.Fatalf("marginals add up to %v", sum)
			}
		}
		if p < 0 || p > 1 || want < p-1e-5 || r < p-1e-6 || r > want+1e-5 {
			t.Fatalf("path %v, line %v, least marginal %v", p, r, want)
		}
	}
}

// The recall dial: with a large enough bias nothing is O.
func TestBias(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	n := crftest.Notes(t, m.TagSet(), 1, 10)[0]
	tags := make([]pipeline.Tag, len(n.Tokens))
	last := -1
	for _, bias := range []float32{-50, 0, 3, 50} {
		labellerOf(m, tagger.LabelOptions{OBias: bias}).Label(n.Text, n.Tokens, n.Matches, tags)
		masked := 0
		for _, y := range tags {
			if y != pipeline.O {
				masked++
			}
		}
		if masked < last {
			t.Errorf("bias %v masks %d tokens, a smaller one %d", bias, masked, last)
		}
		last = masked
	}
	if last != len(tags) {
		t.Errorf("a bias of 50 masks %d of %d tokens", last, len(tags))
	}
}

// A span's probability is its own: at least that of its line's path, at most
// the marginal of its first tag, and of one line whatever the others say.
func TestSpanProbs(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	l, silent := labellerOf(m, tagger.LabelOptions{SpanProbs: true}), labellerOf(m, tagger.LabelOptions{})
	labels, spans := m.TagSet().Len(), 0
	for _, n := range crftest.Notes(t, m.TagSet(), 60, 9) {
		tags := make([]pipeline.Tag, len(n.Tokens))
		conf := l.Label(n.Text, n.Tokens, n.Matches, tags)
		got := slices.Clone(l.SpanProbs())
		want := m.TagSet().Decode(nil, n.Tokens, tags)
		if len(got) != len(want) {
			t.Fatalf("%d probabilities of %d spans", len(got), len(want))
		}
		marginals := l.Marginals(nil, n.Text, n.Tokens, n.Matches)
		for i, s := range want {
			first := slices.IndexFunc(n.Tokens, func(k pipeline.Token) bool { return k.Start == s.Start })
			if at := marginals[first*labels+int(tags[first])]; got[i] < conf-1e-5 || got[i] > at+1e-5 {
				t.Errorf("span %d has %v, the note %v, its first tag %v", i, got[i], conf, at)
			}
		}
		spans += len(want)
		if silent.Label(n.Text, n.Tokens, n.Matches, tags); len(silent.SpanProbs()) != 0 {
			t.Error("nobody asked for probabilities")
		}
	}
	if spans == 0 {
		t.Error("no span was found")
	}
}

// Lines that are decided have the tags, spans and confidence of Label, the others
// the marginals of Marginals; a line that is two sequences stays open.
func TestLabelSure(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	torn := m.Torn(2)
	labels, decided, open := m.TagSet().Len(), 0, 0
	for _, m := range []*crf.Model{torn, m} {
		for _, how := range []tagger.Confidence{tagger.PathProbability, tagger.LineMinimum} {
			l := labellerOf(m, tagger.LabelOptions{SpanProbs: true, Confidence: how})
			for _, n := range crftest.Notes(t, m.TagSet(), 30, 9) {
				want, got := make([]pipeline.Tag, len(n.Tokens)), make([]pipeline.Tag, len(n.Tokens))
				conf := l.Label(n.Text, n.Tokens, n.Matches, want)
				whole := slices.Clone(l.SpanProbs())
				marginals := l.Marginals(nil, n.Text, n.Tokens, n.Matches)
				left, probs := make([]bool, len(n.Tokens)), make([]float32, len(n.Tokens)*labels)
				sure := l.LabelSure(n.Text, n.Tokens, n.Matches, got, 0.8, left, probs)
				for i := range n.Tokens {
					switch {
					case !left[i] && got[i] != want[i]:
						t.Fatalf("token %d: %v, not %v", i, got[i], want[i])
					case left[i] && !slices.Equal(probs[i*labels:(i+1)*labels], marginals[i*labels:(i+1)*labels]):
						t.Fatalf("token %d: other marginals", i)
					case left[i]:
						open++
					default:
						decided++
					}
				}
				if sure < conf || !slices.Contains(left, true) && (sure != conf || !slices.Equal(whole, l.SpanProbs())) {
					t.Errorf("confidence %v, of the whole note %v; spans %v and %v", sure, conf, l.SpanProbs(), whole)
				}
				if len(n.Tokens) > 2 && m == torn && crf.IsLine(n.Tokens, 0, len(n.Tokens)) && slices.Contains(left, false) {
					t.Error("of a line that is torn apart a part is decided")
				}
			}
		}
	}
	if decided == 0 || open == 0 {
		t.Errorf("%d tokens decided, %d open", decided, open)
	}
}

func TestNoAllocations(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	notes := crftest.Notes(t, m.TagSet(), 20, 11)
	l := labellerOf(m, tagger.LabelOptions{SpanProbs: true})
	tags := make([]pipeline.Tag, 1000)
	run := func() {
		for _, n := range notes {
			l.Label(n.Text, n.Tokens, n.Matches, tags[:len(n.Tokens)])
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations for 20 notes", n)
	}
}

func FuzzLabel(f *testing.F) {
	m := trained(f, crftrain.TrainOptions{})
	l := labellerOf(m, tagger.LabelOptions{CacheBytes: 1 << 14})
	f.Add("vive en Vallfosca | desde 3-4-5")
	f.Add("ñ \xff\xfe aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, `[]\`) {
			return
		}
		n := crftest.New(t, m.TagSet(), text)
		if c := l.Label(n.Text, n.Tokens, n.Matches, n.Tags); !(c >= 0 && c <= 1) {
			t.Errorf("confidence %v", c)
		}
	})
}

// BenchmarkLabel times a model of 9, 19 and 45 tags on notes of the toy
// corpus, all of whose forms are in the cache: what the arithmetic costs.
// cold has no cache and pays for the features of every form.
func BenchmarkLabel(b *testing.B) {
	for _, categories := range []int{4, 9, 22} {
		set := crftest.Set(pipeline.BIO)
		more, err := pipeline.Labels("meddocan")
		if err != nil {
			b.Fatal(err)
		}
		set.Categories = append(set.Categories, more.Categories[:categories-len(set.Categories)]...)
		c := crftrain.NewCorpus(crftest.Parsed(b, crftest.Template), set, crftest.Resources())
		for _, n := range crftest.Notes(b, set, 150, 3) {
			if err := c.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
				b.Fatal(err)
			}
		}
		m, err := crftrain.Train(c, crftrain.TrainOptions{L2: .5})
		if err != nil {
			b.Fatal(err)
		}
		notes := crftest.Notes(b, set, 200, 12)
		for _, kind := range []struct {
			name string
			o    tagger.LabelOptions
		}{{"path", tagger.LabelOptions{}}, {"cold", tagger.LabelOptions{CacheBytes: 1}}} {
			b.Run(fmt.Sprintf("%dtags/%s", set.Len(), kind.name), func(b *testing.B) { benchmarkLabel(b, labellerOf(m, kind.o), notes) })
		}
	}
}

func benchmarkLabel(b *testing.B, l *crf.Labeller, notes []crftest.Note) {
	tokens, bytes := 0, 0
	for _, n := range notes {
		tokens, bytes = tokens+len(n.Tokens), bytes+len(n.Text)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, n := range notes {
			l.Label(n.Text, n.Tokens, n.Matches, n.Tags)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens), "ns/token")
}

func TestTrainAndLabel(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	if a := accuracy(t, m, crftest.Notes(t, m.TagSet(), 50, 99)); a < .99 {
		t.Errorf("accuracy %v on new notes of the same kind", a)
	}
}

// A bias that is learned is the dial's that is set: same tags, same confidence.
func TestTrainBias(t *testing.T) {
	plain, biased := trained(t, crftrain.TrainOptions{}), trained(t, crftrain.TrainOptions{Bias: 2})
	dialled, learned := labellerOf(plain, tagger.LabelOptions{OBias: 2}), labellerOf(biased, tagger.LabelOptions{})
	others, asIs := 0, labellerOf(plain, tagger.LabelOptions{})
	for _, n := range crftest.Notes(t, plain.TagSet(), 20, 10) {
		want, got, without := make([]pipeline.Tag, len(n.Tokens)), make([]pipeline.Tag, len(n.Tokens)), make([]pipeline.Tag, len(n.Tokens))
		p, q := dialled.Label(n.Text, n.Tokens, n.Matches, want), learned.Label(n.Text, n.Tokens, n.Matches, got)
		if !slices.Equal(want, got) || math.Abs(float64(p-q)) > 2e-3 { // weights are rounded
			t.Fatalf("tags %v with confidence %v, with the dial %v with %v", got, q, want, p)
		}
		if r := asIs.Label(n.Text, n.Tokens, n.Matches, without); math.Abs(float64(r-q)) > 4e-3 {
			others++
		}
	}
	if others == 0 {
		t.Error("a bias of 2 changes no confidence")
	}
}

func TestFilter(t *testing.T) { crf.CheckFilter(t, trained(t, crftrain.TrainOptions{})) }

func TestReasonsAddUpToTheScore(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	known := 0
	for _, n := range crftest.Notes(t, m.TagSet(), 20, 5) {
		known += crf.CheckReasons(t, m, n.Text, n.Tokens, n.Matches)
	}
	if known < 100 {
		t.Errorf("only %d reasons: the test shows nothing", known)
	}
}

// The parts of the odds add up, and the odds are those of tagging.
func TestWhy(t *testing.T) {
	m := trained(t, crftrain.TrainOptions{})
	n, compared := m.TagSet().Len(), 0
	for _, bias := range []float32{0, 1.5} {
		l := labellerOf(m, tagger.LabelOptions{OBias: bias})
		for _, note := range crftest.Notes(t, m.TagSet(), 20, 5) {
			probs := l.Marginals(nil, note.Text, note.Tokens, note.Matches)
			why := m.Why(note.Text, note.Tokens, note.Matches, bias)
			for at := range note.Tokens {
				row := probs[at*n : (at+1)*n]
				for y := range row {
					if row[y] < 1e-5 || row[pipeline.O] < 1e-5 {
						continue
					}
					o := why.Odds(at, pipeline.Tag(y), pipeline.O)
					sum := o.Dial + o.Before + o.After
					for _, f := range o.Features {
						sum += f.Weight
					}
					if math.Abs(sum-o.Log) > 1e-6 {
						t.Fatalf("token %d, tag %d: the parts add up to %g, the odds are %g", at, y, sum, o.Log)
					}
					if want := math.Log(float64(row[y] / row[pipeline.O])); math.Abs(want-o.Log) > 2e-3*max(1, math.Abs(want)) {
						t.Fatalf("token %d, tag %d, bias %g: odds %g, tagging has %g", at, y, bias, o.Log, want)
					}
					compared++
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d odds: the test shows nothing", compared)
	}
}

func labellerOf(m *crf.Model, o tagger.LabelOptions) *crf.Labeller {
	return m.NewLabeller(o).(*crf.Labeller)
}

func toyNotesCorpus(t testing.TB, scheme pipeline.Scheme, template string, notes int, seed uint64) *crftrain.Corpus {
	t.Helper()
	set := crftest.Set(scheme)
	c := crftrain.NewCorpus(crftest.Parsed(t, template), set, crftest.Resources())
	for _, n := range crftest.Notes(t, set, notes, seed) {
		if err := c.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
