package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/dictionary"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/pipeline"
)

// labeller is what all taggers have in common.
type labeller interface {
	Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32
}

var tagSet = &pipeline.TagSet{Scheme: pipeline.BIO, Categories: []pipeline.Category{person}}

// templates are the features of the CRF. The names of the lists are noise in
// the labels; what a form is made of would let the CRF learn them by heart,
// what stands around them makes it find others.
var templates = map[string]string{
	"context": `version 1
sequence line
bias
cluster/before -3..-1
cluster/after 1..3
capitals -2..2
shortshape -1..1
gazetteer -2..2
border -3..3
key 0
`,
}

// neighbour is the folded form, as a slot that a template can offer for the
// words around a token without that of the token itself.
type neighbour struct{}

func (neighbour) Value(dst, form []byte) []byte { return gazetteer.Fold(dst, form) }

// A model wants to be able to store its slots; this one has no content.
func (neighbour) Kind() string { return "neighbour" }
func (neighbour) Data() []byte { return nil }

func resources() features.Resources {
	lists := gazetteer.Default()
	return features.Resources{
		Lexicon: lists, Phrases: lists,
		Slots: map[string]features.Slot{"cluster/before": neighbour{}, "cluster/after": neighbour{}},
	}
}

// score is precision, recall and F1 of strict spans.
type score struct{ p, r, f float64 }

func (s score) String() string { return fmt.Sprintf("%.3f / %.3f / %.3f", s.p, s.r, s.f) }

// scored tags notes and compares with their gold.
func scored(l labeller, notes []note) score {
	right, system, gold := 0, 0, 0
	var tags []pipeline.Tag
	var spans []pipeline.Span
	for _, n := range notes {
		tags = slices.Grow(tags[:0], len(n.tokens))[:len(n.tokens)]
		l.Label(n.text, n.tokens, nil, tags)
		spans = tagSet.Decode(spans[:0], n.tokens, tags)
		system, gold = system+len(spans), gold+len(n.gold)
		for _, s := range spans {
			if slices.ContainsFunc(n.gold, func(g pipeline.Span) bool { return g.Start == s.Start && g.End == s.End }) {
				right++
			}
		}
	}
	s := score{p: float64(right) / float64(max(system, 1)), r: float64(right) / float64(max(gold, 1))}
	if right > 0 {
		s.f = 2 * s.p * s.r / (s.p + s.r)
	}
	return s
}

// openTables maps files of compiled lists.
func openTables(paths ...string) (tables []*gazetteer.Table, err error) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		f, err := modelfile.Open(path)
		if err != nil {
			return nil, err
		}
		t, err := gazetteer.LoadTable(f)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// experiment is what all draws share.
type experiment struct {
	settings
	words      map[uint64]dictionary.Word
	train, dev []note
	pool       []note
}

func run(ctx context.Context, s settings) error {
	e := &experiment{settings: s}
	names, err := openTables(s.gazetteer)
	if err != nil {
		return err
	}
	others, err := openTables(s.negative)
	if err != nil {
		return err
	}
	if e.train, err = meddocan(ctx, filepath.Join(s.data, "meddocan/train")); err != nil {
		return err
	}
	if e.dev, err = meddocan(ctx, filepath.Join(s.data, "meddocan/dev")); err != nil {
		return err
	}
	if e.pool, err = pool(ctx, s.data); err != nil {
		return err
	}
	seen := dictionary.NewCounter()
	for _, n := range slices.Concat(e.pool, e.train) {
		seen.Add(n.text, n.tokens)
	}
	positive, positives := dictionary.Words(gazetteer.GivenName|gazetteer.Surname, names...)
	negative, negatives := dictionary.Words(math.MaxUint32, others...)
	e.words = dictionary.Frequencies(positive, positives, negative, negatives, seen)
	fmt.Printf("pool %d texts, train %d, dev %d; %d words in the archive, %d names of one word in the lists\n",
		len(e.pool), len(e.train), len(e.dev), seen.Tokens(), len(positive))
	var rows [][]score
	for seed := range s.draws {
		row, err := e.draw(uint64(seed + e.first))
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	return e.summary(rows)
}

// draw is the whole experiment with one slice of train.
func (e *experiment) draw(seed uint64) (row []score, err error) {
	rng := rand.New(rand.NewPCG(seed, 5))
	order := rng.Perm(len(e.train))
	model, err := dictionary.New(dictionary.Header{Categories: []string{"PERSON"}, Params: dictionary.Params{Method: dictionary.Binary}}, e.words)
	if err != nil {
		return nil, err
	}
	tuner := dictionary.NewTuner(model)
	var slice, rest []note
	for i, at := range order {
		if i < e.slice {
			tuner.Add(e.train[at].text, e.train[at].tokens, e.train[at].gold)
			slice = append(slice, e.train[at])
			continue
		}
		rest = append(rest, note{text: e.train[at].text, tokens: e.train[at].tokens})
	}
	for _, method := range []dictionary.Method{dictionary.Binary, dictionary.Divergence} {
		p := tuner.Tune(method)
		p.TaggedOnly = e.tagged
		if model, err = model.With(p); err != nil {
			return nil, err
		}
		row = append(row, scored(model.NewLabeller(), e.dev))
		_, _, f := tuner.F1(p)
		fmt.Printf("seed %d: %s, slice %.3f, dev %v  %+v\n", seed, method, f, row[len(row)-1], p)
	}
	units := lines(append(rest, e.pool...), e.unit)
	rng.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	var teacher labeller = model.NewLabeller()
	minimum := e.minimum
	for turn := range 1 + e.turns {
		c, err := e.choose(units, teacher, minimum, model)
		if err != nil {
			return nil, err
		}
		m, err := crf.Train(c, crf.TrainOptions{L2: e.l2, MinCount: 2, Iterations: e.iterations, Workers: runtime.GOMAXPROCS(0), Prune: 0.005})
		if err != nil {
			return nil, err
		}
		teacher, minimum = m.NewLabeller(crf.LabelOptions{}), e.crfMinimum
		row = append(row, scored(teacher, e.dev))
		spans, _ := c.Spans()
		fmt.Printf("seed %d: CRF, turn %d, from %d lines with %d names, slice %.3f, dev %v\n",
			seed, turn, c.Sequences(), spans["PERSON"], scored(teacher, slice).f, row[len(row)-1])
	}
	return row, nil
}

// choose makes a corpus of the units of which the teacher is sure: at most k
// with names, and for each of them some without.
func (e *experiment) choose(units []note, teacher labeller, minimum float64, lists *dictionary.Model) (*crf.Corpus, error) {
	text := templates[e.template]
	if text == "" {
		data, err := os.ReadFile(e.template)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	template, err := features.Parse(text)
	if err != nil {
		return nil, err
	}
	c := crf.NewCorpus(template, tagSet, resources())
	with, without := 0, 0
	var tags []pipeline.Tag
	for _, u := range units {
		tags = slices.Grow(tags[:0], len(u.tokens))[:len(u.tokens)]
		conf := teacher.Label(u.text, u.tokens, nil, tags)
		named := slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
		switch {
		case named && float64(conf) >= minimum && with < e.k && !(e.consistent && e.torn(u, tags)):
			with++
		case !named && (float64(conf) >= minimum || conf == 0) && without < e.without*max(with, 100) && !(e.doubt && doubtful(u, lists)):
			without++
		default:
			continue
		}
		if err := c.Add(u.text, u.tokens, nil, tags, 1); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// doubtful tells whether a unit without names holds a capitalised word of the
// lists, other than its first word: it may be a name that is rarer or more
// frequent here than among people.
func doubtful(u note, lists *dictionary.Model) bool {
	for i, t := range u.tokens {
		form := u.text[t.Start:t.End]
		if i > 0 && dictionary.CapitalsOf(form) == dictionary.First && lists.Word(form).Positive > 0 {
			return true
		}
	}
	return false
}

// torn tells whether a name is followed or preceded by a capitalised word that
// is not part of it.
func (e *experiment) torn(u note, tags []pipeline.Tag) bool {
	for i := 1; i < len(tags); i++ {
		if (tags[i] == pipeline.O) == (tags[i-1] == pipeline.O) {
			continue
		}
		outside := u.tokens[i]
		if tags[i] != pipeline.O {
			outside = u.tokens[i-1]
		}
		if c := dictionary.CapitalsOf(u.text[outside.Start:outside.End]); c == dictionary.First && outside.End-outside.Start > 2 {
			return true
		}
	}
	return false
}

// summary prints the mean and the spread of every column over the draws.
func (e *experiment) summary(rows [][]score) error {
	fmt.Println("\nmean and standard deviation of F1 over the draws")
	for k := range rows[0] {
		name := []string{"binary", "divergence"}[min(k, 1)]
		if k > 1 {
			name = fmt.Sprintf("CRF, turn %d", k-2)
		}
		var p, r, f, ff float64
		for _, row := range rows {
			p, r, f, ff = p+row[k].p, r+row[k].r, f+row[k].f, ff+row[k].f*row[k].f
		}
		n := float64(len(rows))
		fmt.Printf("  %-14s P %.3f  R %.3f  F1 %.3f ± %.3f\n", name, p/n, r/n, f/n, math.Sqrt(max(ff/n-f/n*f/n, 0)*n/max(n-1, 1)))
	}
	return nil
}
