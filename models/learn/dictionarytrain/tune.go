package dictionarytrain

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/pipeline"
)

// Tuner holds labelled notes on which parameters are chosen. It keeps what the
// taggers see of a token and no text.
type Tuner struct {
	m      *dictionary.Model
	tokens []tuneToken
	gold   int
}

// tuneToken is a token as decide sees it.
type tuneToken struct {
	freq      dictionary.Word // zero: in no list
	caps      dictionary.Capitals
	lineStart bool
	// begins and ends say whether a gold name has a border here.
	begins, ends bool
}

// NewTuner returns a tuner of a model's words without notes.
func NewTuner(m *dictionary.Model) *Tuner { return &Tuner{m: m} }

// Add takes a note with its gold spans, sorted and disjoint. Spans of other
// categories are passed over. A gold name that is not at token borders can
// never be found and counts as missed.
func (t *Tuner) Add(text []byte, tokens []pipeline.Token, gold []pipeline.Span) {
	first := len(t.tokens)
	for i, k := range tokens {
		form := text[k.Start:k.End]
		t.tokens = append(t.tokens, tuneToken{
			freq: t.m.Word(form), caps: dictionary.CapitalsOf(form), lineStart: i == 0 || k.Flags&pipeline.LineStart != 0,
		})
	}
	for _, g := range gold {
		if g.Category != t.m.TagSet().Categories[0] {
			continue
		}
		t.gold++
		a, okA := slices.BinarySearchFunc(tokens, g.Start, func(k pipeline.Token, at int32) int { return cmp.Compare(k.Start, at) })
		b, okB := slices.BinarySearchFunc(tokens, g.End, func(k pipeline.Token, at int32) int { return cmp.Compare(k.End, at) })
		if okA && okB {
			t.tokens[first+a].begins, t.tokens[first+b].ends = true, true
		}
	}
}

// F1 returns precision, recall and F1 of strict spans with the parameters.
func (t *Tuner) F1(p dictionary.Params) (precision, recall, f1 float64) {
	right, system := 0, 0
	after, exact := false, false // exact: the open span began where a gold one does, and none ended since
	open := false
	closeAt := func(i int) {
		if open {
			system++
			if exact && t.tokens[i].ends {
				right++
			}
		}
		open = false
	}
	for i := range t.tokens {
		x := &t.tokens[i]
		if x.lineStart {
			closeAt(i - 1)
			after = false
		}
		name := false
		if x.freq.Positive > 0 {
			name = p.Name(x.freq, x.caps, after)
		}
		if !name {
			closeAt(i - 1)
			after = false
			continue
		}
		if !open {
			open, exact = true, x.begins
		} else if x.begins || t.tokens[i-1].ends {
			exact = false
		}
		after = true
	}
	closeAt(len(t.tokens) - 1)
	if system > 0 {
		precision = float64(right) / float64(system)
	}
	if t.gold > 0 {
		recall = float64(right) / float64(t.gold)
	}
	if precision+recall > 0 {
		f1 = 2 * precision * recall / (precision + recall)
	}
	return precision, recall, f1
}

// steps are the thresholds of divergence that are tried: from no name at all
// to a factor of sixty thousand.
var steps = []float64{0, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9, 10, 11}

// shares are the shares of names among words that are tried: from all, the
// plain formula, to BOOT's 0.28 % (§3.1) and below.
var shares = []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}

// floors are the least relative frequencies that are tried.
var floors = []float64{0, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3}

// Tune returns the parameters of a method that give the highest F1, by turns
// over one parameter at a time until none gains. Ties go to the first tried.
func (t *Tuner) Tune(method dictionary.Method) dictionary.Params {
	if method == dictionary.Binary {
		return t.tuneBinary()
	}
	var best dictionary.Params
	most := -1.0
	for _, share := range shares {
		p := dictionary.Params{Method: dictionary.Divergence, Share: share, MinNegative: 1} // no word is that frequent: no negative list
		for c := range p.Max {
			p.Max[c] = [2]float64{2, 2}
		}
		if f1 := t.climb(&p); f1 > most {
			most, best = f1, p
		}
	}
	return best
}

// climb moves one threshold at a time and returns the F1 reached.
func (t *Tuner) climb(p *dictionary.Params) float64 {
	_, _, most := t.F1(*p)
	try := func(x *float64, values []float64) (gained bool) {
		best := *x
		for _, v := range values {
			*x = v
			if _, _, f1 := t.F1(*p); f1 > most {
				most, best, gained = f1, v, true
			}
		}
		*x = best
		return gained
	}
	for gained := true; gained; {
		gained = false
		for _, c := range []dictionary.Capitals{dictionary.First, dictionary.Upper, dictionary.Lower, dictionary.Mixed} {
			for after := range 2 {
				gained = try(&p.Max[c][after], steps) || gained
			}
		}
		gained = try(&p.MinPositive, floors) || gained
		gained = try(&p.MinNegative, append([]float64{1}, floors...)) || gained
	}
	return most
}

func (t *Tuner) tuneBinary() (best dictionary.Params) {
	most := -1.0
	for _, wins := range []bool{false, true} {
		for _, positive := range floors {
			for _, negative := range append([]float64{1}, floors...) {
				p := dictionary.Params{Method: dictionary.Binary, MinPositive: positive, MinNegative: negative, NegativeWins: wins}
				if _, _, f1 := t.F1(p); f1 > most {
					most, best = f1, p
				}
			}
		}
	}
	return best
}
