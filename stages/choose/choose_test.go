package choose_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
)

// batch has one note a text of marks; every word is a token, a word that
// begins with P or L a span's start, with p or l its inside.
func batch(t testing.TB, texts []string, conf []float32) *pipeline.Batch {
	t.Helper()
	labels, err := pipeline.Labels("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	set := &pipeline.TagSet{Scheme: pipeline.BIO, Categories: labels.Categories}
	b := &pipeline.Batch{First: 100, TagSet: set, Conf: conf}
	for i, text := range texts {
		b.ID.Append([]byte{byte(i)})
		b.Text.Append([]byte(text))
		b.Reason = append(b.Reason, pipeline.Sound)
		for k := range text {
			if text[k] == ' ' {
				continue
			}
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(k), End: int32(k + 1)})
			b.Tags = append(b.Tags, map[byte]pipeline.Tag{'P': 1, 'p': 2, 'L': 3, 'l': 4}[text[k]])
		}
		b.Tokens.End()
	}
	return b
}

func TestStep(t *testing.T) {
	cases := []struct {
		what string
		text string
		conf float32
		want pipeline.Choice
	}{
		{"sure", "o o P p", 0.9, pipeline.Candidate},
		{"at the threshold", "o o P p", 0.85, pipeline.Candidate},
		{"rounded up to the threshold", "o o P", 0.849951, pipeline.Candidate},
		{"below the threshold", "o o P", 0.84994, pipeline.NotChosen},
		{"least sure", "o o P", 0.2, pipeline.ToReview},
		{"rounded up to review's", "o o P", 0.49996, pipeline.NotChosen},
		{"short", "P", 0.9, pipeline.NotChosen},
		{"no span", "o o o", 0.9, pipeline.NotChosen},
		{"no span, least sure", "o o o", 0.4, pipeline.ToReview},
		{"no token", "", 0, pipeline.NotChosen},
		{"no probability", "o o P", float32(math.NaN()), pipeline.ToReview},
		{"quarantined", "o o P", 0.9, pipeline.NotChosen},
	}
	var texts []string
	var conf []float32
	for _, c := range cases {
		texts, conf = append(texts, c.text), append(conf, c.conf)
	}
	b := batch(t, texts, conf)
	b.Reason[len(cases)-1] = pipeline.TooLong
	do := choose.New(choose.Options{MinConfidence: 0.85, ReviewBelow: 0.5}).New()
	if err := do(b); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if b.Chosen[i] != c.want {
			t.Errorf("%s: %v, want %v", c.what, b.Chosen[i], c.want)
		}
	}
	b.Chosen = b.Chosen[:0]
	if err := choose.New(choose.Options{WithoutSpans: true}).New()(b); err != nil || b.Chosen[7] != pipeline.Candidate {
		t.Errorf("%v, %v", err, b.Chosen[7])
	}
	b.Conf = nil
	if choose.New(choose.Options{}).New()(b) == nil {
		t.Error("no error for a batch without confidences")
	}
}

func TestRecord(t *testing.T) {
	b := batch(t, []string{"o P p o L P", "o", "L l l L l"}, []float32{0.9, 0.12345, 1})
	var r choose.Recorder
	want := []struct {
		key            choose.Key
		confidence     choose.Confidence
		tokens         uint32
		spans, lengths [2]uint8
	}{
		{choose.Key{Unit: 7, Row: 100}, 9000, 6, [2]uint8{2, 1}, [2]uint8{3, 1}},
		{choose.Key{Unit: 7, Row: 101}, 1235, 1, [2]uint8{}, [2]uint8{}},
		{choose.Key{Unit: 7, Row: 102}, 10000, 5, [2]uint8{0, 2}, [2]uint8{0, 5}},
	}
	for i, w := range want {
		got, err := r.Record(b, i, 7)
		if err != nil {
			t.Fatal(err)
		}
		if got.Key != w.key || got.Confidence != w.confidence || got.Tokens != w.tokens ||
			[2]uint8(got.Spans[:2]) != w.spans || [2]uint8(got.Lengths[:2]) != w.lengths {
			t.Errorf("note %d: %+v", i, got)
		}
	}
}

func TestTargetErrors(t *testing.T) {
	for i, target := range []choose.Target{
		{K: -1},
		{K: 1, MaxKept: -1},
		{K: 1, Shares: []float64{0.5, 0.4}},
		{K: 1, Shares: []float64{1.5, -0.5}},
		{K: 1, Shares: []float64{math.NaN(), 1}},
		{K: 1, Shares: make([]float64, choose.MaxClasses+1)},
		{K: 1, Lengths: []float64{-1}},
		{K: 1, WithoutSpans: 1},
		{K: 1, WithoutSpans: math.NaN()},
		{K: 1, Tolerance: -1},
	} {
		if _, err := choose.Final(slices.Values([]choose.Record(nil)), target); err == nil {
			t.Errorf("target %d: no error", i)
		}
	}
}

// notes makes n records: spans of class c with weight natural[c], most notes
// with one or two spans, confidence near 1, lengths from 1 to 4 tokens.
func notes(n int, natural []float64, empty float64, seed uint64) []choose.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]choose.Record, n)
	for i := range list {
		conf := 1 - 0.3*r.Float64()*r.Float64()
		list[i] = choose.Record{
			Key:        choose.Key{Unit: uint32(i % 17), Row: int64(i)},
			Confidence: choose.Round(conf), Tokens: 19, Hash: r.Uint64(),
		}
		if r.Float64() < empty {
			continue
		}
		for range 1 + r.IntN(2)*r.IntN(3) {
			x, c := r.Float64(), 0
			for x > natural[c] && c < len(natural)-1 {
				x -= natural[c]
				c++
			}
			list[i].Spans[c]++
			list[i].Lengths[c] += uint8(1 + r.IntN(2)*r.IntN(4))
		}
	}
	return list
}

// count counts what keys hold, independently of the package.
func count(list []choose.Record, keys []choose.Key) (spans [choose.MaxClasses]int, tokens [choose.MaxClasses]int, empty, all int) {
	at := map[choose.Key]*choose.Record{}
	for i := range list {
		at[list[i].Key] = &list[i]
	}
	for _, key := range keys {
		sum := 0
		for c, n := range at[key].Spans {
			spans[c] += int(n)
			tokens[c] += int(at[key].Lengths[c])
			sum += int(n)
		}
		if sum == 0 {
			empty++
		}
		all += sum
	}
	return spans, tokens, empty, all
}

var natural = []float64{0.25, 0.55, 0.06, 0.02, 0.04, 0.03, 0.05}

// The requirement of issue 2: 100,000 notes, shares within two points of the
// target, nothing below C_min.
func TestHundredThousand(t *testing.T) {
	list := notes(100_000, natural, 0.3, 1)
	for _, c := range []struct {
		what   string
		target choose.Target
		size   int
	}{
		{"as they come", choose.Target{K: 5000, Shares: natural}, 5000},
		{"turned round", choose.Target{K: 5000, Shares: []float64{0.55, 0.25, 0.05, 0.05, 0.03, 0.02, 0.05}}, 5000},
		{"validation of BOOT", choose.Target{K: 2000, Shares: []float64{0.27, 0.73}, Lengths: []float64{1.21, 1.84}}, 2000},
		{"empty notes", choose.Target{K: 10_000, Shares: natural, WithoutSpans: 0.4}, 10_000},
		{"rare class", choose.Target{K: 5000, Shares: []float64{0.2, 0.2, 0.1, 0.2, 0.1, 0.1, 0.1}}, 5000},
		{"small", choose.Target{K: 100, Shares: natural, WithoutSpans: 0.1}, 100},
	} {
		c.target.MinConfidence = 0.85
		got, err := choose.Final(slices.Values(list), c.target)
		if err != nil || !got.Met {
			t.Errorf("%s: %v, met %v: %.3f", c.what, err, got.Met, got.Shares)
			continue
		}
		if len(got.Keys) != c.size || got.Short >= 0 {
			t.Errorf("%s: %d notes, short of class %d", c.what, len(got.Keys), got.Short)
		}
		spans, tokens, empty, all := count(list, got.Keys)
		for class := range choose.MaxClasses {
			share, want := float64(spans[class])/float64(all), 0.0
			if class < len(c.target.Shares) {
				want = c.target.Shares[class]
			}
			if math.Abs(share-want) > 0.02 {
				t.Errorf("%s: class %d has share %.4f, want %.4f", c.what, class, share, want)
			}
			if class < len(c.target.Lengths) {
				if mean := float64(tokens[class]) / float64(spans[class]); math.Abs(mean-c.target.Lengths[class]) > 0.05 {
					t.Errorf("%s: class %d has mean length %.3f, want %.3f", c.what, class, mean, c.target.Lengths[class])
				}
			}
		}
		if math.Abs(float64(empty)/float64(len(got.Keys))-c.target.WithoutSpans) > 0.02 {
			t.Errorf("%s: %d of %d notes are empty", c.what, empty, len(got.Keys))
		}
		if got.Lowest < 8500 || c.what == "as they come" && got.Lowest < 9400 {
			t.Errorf("%s: a note of confidence %.4f", c.what, got.Lowest.Float())
		}
	}
}

// The order of arrival does not matter, with memory for all and for few.
func TestOrder(t *testing.T) {
	list := notes(20_000, natural, 0.3, 2)
	for _, kept := range []int{0, 3000, 500, 80} {
		target := choose.Target{K: 1000, MinConfidence: 0.85, Shares: natural, WithoutSpans: 0.2, MaxKept: kept}
		want, err := choose.Final(slices.Values(list), target)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range 3 {
			mixed := slices.Clone(list)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			got, _ := choose.Final(slices.Values(mixed), target)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("memory for %d: %s", kept, diff)
			}
		}
		if kept > 0 && len(want.Keys) > kept+kept/8 {
			t.Errorf("memory for %d: %d chosen", kept, len(want.Keys))
		}
	}
}

// Where the target cannot be had, the result says so.
func TestInfeasible(t *testing.T) {
	only := notes(1000, []float64{1}, 0, 4)
	got, err := choose.Final(slices.Values(only), choose.Target{K: 100, Shares: []float64{0.6, 0.4}})
	if err != nil || got.Met || got.Short != 1 || len(got.Keys) == 0 || got.Shares[1] != 0 {
		t.Errorf("class without candidates: %v, met %v, short %d, %d notes", err, got.Met, got.Short, len(got.Keys))
	}
	// Each note holds both classes once: nothing but halves can be had.
	both := make([]choose.Record, 50)
	for i := range both {
		both[i] = choose.Record{Key: choose.Key{Row: int64(i)}, Confidence: 9000, Spans: [choose.MaxClasses]uint8{1, 1}, Lengths: [choose.MaxClasses]uint8{1, 1}}
	}
	got, _ = choose.Final(slices.Values(both), choose.Target{K: 20, Shares: []float64{0.9, 0.1}})
	if got.Met || math.Abs(got.Shares[0]-0.5) > 1e-9 {
		t.Errorf("coupled classes: met %v, %.2f", got.Met, got.Shares)
	}
	got, _ = choose.Final(slices.Values(both), choose.Target{K: 20, MinConfidence: 0.95, Shares: []float64{0.5, 0.5}})
	if got.Met || len(got.Keys) != 0 || got.Below != 50 {
		t.Errorf("none sure enough: met %v, %d notes, %d below", got.Met, len(got.Keys), got.Below)
	}
	got, _ = choose.Final(slices.Values(both), choose.Target{K: 0})
	if len(got.Keys) != 0 {
		t.Error("notes chosen for k = 0")
	}
	// A length that does not exist: the shares hold all the same.
	got, _ = choose.Final(slices.Values(both), choose.Target{K: 20, Shares: []float64{0.5, 0.5}, Lengths: []float64{3, 3}})
	if !got.Met || len(got.Keys) != 20 || !slices.Equal(got.Lengths, []float64{1, 1}) {
		t.Errorf("impossible length: met %v, %d notes, length %.2f", got.Met, len(got.Keys), got.Lengths)
	}
}

// Without a target for classes, the surest are taken.
func TestSurest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := notes(rapid.IntRange(1, 60).Draw(t, "n"), []float64{1}, 0, rapid.Uint64().Draw(t, "seed"))
		for i := range list { // one stratum
			list[i].Spans, list[i].Lengths = [choose.MaxClasses]uint8{1}, [choose.MaxClasses]uint8{1}
		}
		k := rapid.IntRange(0, 70).Draw(t, "k")
		got, err := choose.Final(slices.Values(list), choose.Target{K: k})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b choose.Record) int {
			if a.Confidence != b.Confidence {
				return int(b.Confidence) - int(a.Confidence)
			}
			if a.Hash < b.Hash {
				return -1
			}
			return 1
		})
		var want []choose.Key
		for _, r := range list[:min(k, len(list))] {
			want = append(want, r.Key)
		}
		slices.SortFunc(want, choose.Key.Compare)
		if diff := cmp.Diff(want, got.Keys); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Brute force over all subsets of small sets: as many as there are are taken, Met
// says the truth, and where one span a note leaves no coupling, it is true if
// any subset of that size meets the shares.
func TestBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 11).Draw(t, "n")
		single := rapid.Bool().Draw(t, "single")
		list := make([]choose.Record, n)
		for i := range list {
			list[i] = choose.Record{Key: choose.Key{Row: int64(i)}, Confidence: choose.Confidence(rapid.IntRange(8000, 10_000).Draw(t, "confidence"))}
			for range 1 + rapid.IntRange(0, 2).Draw(t, "more") {
				c := rapid.IntRange(0, 2).Draw(t, "class")
				list[i].Spans[c]++
				list[i].Lengths[c]++
				if single {
					break
				}
			}
		}
		target := choose.Target{K: rapid.IntRange(1, 12).Draw(t, "k"), MinConfidence: 0.85, Tolerance: 0.06}
		a := rapid.IntRange(0, 10).Draw(t, "first share")
		b := rapid.IntRange(0, 10-a).Draw(t, "second share")
		target.Shares = []float64{float64(a) / 10, float64(b) / 10, float64(10-a-b) / 10}
		got, err := choose.Final(slices.Values(list), target)
		if err != nil {
			t.Fatal(err)
		}
		meets := func(keys []choose.Key) bool {
			spans, _, _, all := count(list, keys)
			for c := range choose.MaxClasses {
				want := 0.0
				if c < 3 {
					want = target.Shares[c]
				}
				if math.Abs(float64(spans[c])/float64(max(all, 1))-want) > target.Tolerance+1e-9 {
					return false
				}
			}
			return len(keys) > 0
		}
		sure := 0
		for i := range list {
			if list[i].Confidence >= 8500 {
				sure++
			}
		}
		if len(got.Keys) != min(target.K, sure) || got.Met != meets(got.Keys) {
			t.Fatalf("%d notes for %d of %d, met %v", len(got.Keys), target.K, sure, got.Met)
		}
		possible := false
		for set := range 1 << n {
			var keys []choose.Key
			for i := range list {
				if set>>i&1 == 1 && list[i].Confidence >= 8500 {
					keys = append(keys, list[i].Key)
				}
			}
			possible = possible || len(keys) == len(got.Keys) && meets(keys)
		}
		if single && possible && !got.Met {
			t.Errorf("%d notes could meet the target, shares %.2f, short of %d", len(got.Keys), got.Shares, got.Short)
		}
	})
}

func TestLowest(t *testing.T) {
	list := notes(500, natural, 0.5, 9)
	least := func() []choose.Key {
		l := choose.NewLowest(50)
		for i := range list {
			l.Add(&list[i])
		}
		return l.Keys()
	}
	got := least()
	slices.Reverse(list)
	if diff := cmp.Diff(got, least()); diff != "" || len(got) != 50 {
		t.Fatalf("%d keys; order of arrival: %s", len(got), diff)
	}
	highest := choose.Confidence(0)
	for _, r := range list {
		if slices.Contains(got, r.Key) {
			highest = max(highest, r.Confidence)
		}
	}
	for _, r := range list {
		if r.Confidence < highest && !slices.Contains(got, r.Key) {
			t.Fatalf("row %d is less sure and not among the least", r.Row)
		}
	}
}

func BenchmarkFinal(b *testing.B) {
	list := notes(100_000, natural, 0.3, 1)
	target := choose.Target{K: 5000, MinConfidence: 0.85, Shares: natural, WithoutSpans: 0.2}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := choose.Final(slices.Values(list), target); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/record")
}

func BenchmarkStep(b *testing.B) {
	texts, conf := make([]string, 1000), make([]float32, 1000)
	for i := range texts {
		texts[i], conf[i] = "o o o o o o o o o P p o o o o o o o o", float32(i)/1000
	}
	batch := batch(b, texts, conf)
	do := choose.New(choose.Options{MinConfidence: 0.85, ReviewBelow: 0.3}).New()
	b.ReportAllocs()
	for b.Loop() {
		batch.Chosen = batch.Chosen[:0]
		if err := do(batch); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoLengths: a class may have spans without length and a share of nothing, and a class of the notes that no share names is counted.
func TestNoLengths(t *testing.T) {
	one := choose.Record{Confidence: choose.Round(1), Tokens: 9}
	one.Spans[3], one.Lengths[3] = 1, 1
	for _, target := range []choose.Target{
		{K: 1, Tolerance: 1},
		{K: 1, Tolerance: 1, Lengths: []float64{0, 0, 0}},
		{K: 1, Tolerance: 1, Shares: []float64{1, 0, 0}},
	} {
		got, err := choose.Final(slices.Values([]choose.Record{one}), target)
		if err != nil {
			t.Errorf("%v: %v", target, err)
			continue
		}
		if len(got.Shares) != 4 || len(got.Lengths) != 4 {
			t.Errorf("%v: shares of %d classes, lengths of %d, want 4", target, len(got.Shares), len(got.Lengths))
		}
	}
}
