// Package dictionary is the two taggers that need no labelled notes: lists of
// names, and how often notes hold their words (BOOT §3.6).
//
//	in:  lists with counts, counts of the archive's words; forms of tokens
//	out: one tag a token, and a confidence
//
// Binary: a token that is in the positive lists is a name. A token in both the
// positive and the negative lists gives its note the confidence 0, all others
// have 1. A least relative frequency decides what is in a list.
//
// Frequency divergence: a name is about as frequent in notes as among people;
// a word that is a name too is not.
//
//	div(x) = |ln f_gazetteer(x) - ln f_archive(x)|
//	c(x)   = 1 - min(div(x) / div_max(x), 1)        a token with c > 0 is a name
//	P(Y)   = min c(x) over the tokens that are in the lists
//
// div_max depends on the token's capitals and on whether the token before it
// is a name. Tokens that are in no list are ignored; a note without any has no
// confidence, 0. BOOT leaves div open; ours is the distance of logarithms. Names are a share of
// a note's words only, so that f_archive, a share of all words, is below
// f_gazetteer, a share of all names, by that factor; Params.Share takes it
// into account, and 1 is the plain formula.
package dictionary

import (
	"fmt"
	"math"
	"unicode"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Method is one of the two taggers.
type Method string

// The methods.
const (
	Binary     Method = "binary"
	Divergence Method = "divergence"
)

// Capitals is how a form is written.
type Capitals uint8

// The ways to write a form (BOOT §3.4.2).
const (
	Lower Capitals = iota // rosa
	First                 // Rosa
	Upper                 // ROSA
	Mixed                 // rOSA, McRae
	numCapitals
)

// CapitalsOf returns how a form is written. A form without letters is Lower,
// one of a single capital letter Upper.
func CapitalsOf(form []byte) Capitals {
	var upper, lower int
	first := false
	for _, r := range string(form) {
		switch {
		case unicode.IsUpper(r):
			first = first || upper+lower == 0
			upper++
		case unicode.IsLetter(r):
			lower++
		}
	}
	switch {
	case upper == 0:
		return Lower
	case lower == 0:
		return Upper
	case first && upper == 1:
		return First
	}
	return Mixed
}

// Thresholds are the greatest divergence of a name, by its capitals and by
// whether the token before it is a name (0: no, 1: yes). 0 takes none for one.
type Thresholds [numCapitals][2]float64

// Params say what a model makes of its frequencies.
type Params struct {
	Method Method `json:"method"`
	// Share of the archive's words that are names: f_archive is relative to
	// it. 1 is the plain formula.
	Share float64    `json:"share,omitempty"`
	Max   Thresholds `json:"div_max,omitempty"` // divergence
	// MinPositive and MinNegative are the least relative frequencies of a word
	// that is in the lists.
	MinPositive float64 `json:"min_positive,omitempty"`
	MinNegative float64 `json:"min_negative,omitempty"`
}

// Defaults are the parameters of a model without labelled notes to choose them
// on: thresholds that the gold of 50 documents of MEDDOCAN train chose for
// INE's lists.
func Defaults(m Method) Params {
	if m == Binary {
		return Params{Method: Binary, MinPositive: 3e-4, MinNegative: 3e-4}
	}
	p := Params{Method: Divergence, Share: 0.01, MinNegative: 1}
	p.Max[First], p.Max[Upper], p.Max[Mixed] = [2]float64{2.5, 7}, [2]float64{2.5, 7}, [2]float64{2, 2}
	return p
}

func (p Params) check() error {
	if p.Method != Binary && p.Method != Divergence {
		return fmt.Errorf("dictionary: unknown method %q", p.Method)
	}
	thresholds := []float64{p.MinPositive, p.MinNegative}
	for _, t := range p.Max {
		thresholds = append(thresholds, t[:]...)
	}
	for _, x := range thresholds {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("dictionary: a threshold is negative or no number")
		}
	}
	if p.Method == Divergence && !(p.Share > 0 && p.Share <= 1) {
		return fmt.Errorf("dictionary: share of names is not in (0, 1]")
	}
	return nil
}

// Word holds the relative frequencies of a word in a model. Those of
// lists it does not stand in are 0; the archive's never is.
type Word struct {
	Positive, Negative, Archive float32
}

// divergence returns div(x) of a word of the positive lists.
func (w Word) divergence(share float64) float64 {
	return math.Abs(math.Log(float64(w.Positive)) - math.Log(float64(w.Archive)/share))
}

// word is a word as the labeller needs it.
type word struct {
	positive, negative bool
	div                float64
}

// judged applies the thresholds.
func (p *Params) judged(w Word) word {
	j := word{
		positive: w.Positive > 0 && float64(w.Positive) >= p.MinPositive,
		negative: w.Negative > 0 && float64(w.Negative) >= p.MinNegative,
	}
	if p.Method == Divergence {
		j.positive = j.positive && !j.negative
		if j.positive {
			j.div = w.divergence(p.Share)
		}
	}
	return j
}

// confidence returns c of a word of the lists, which is a name where it is above 0.
func (p *Params) confidence(w word, c Capitals, after bool) float64 {
	limit := p.Max[c][0]
	if after {
		limit = p.Max[c][1]
	}
	switch {
	case p.Method == Binary && !w.negative:
		return 1
	case p.Method == Binary || limit == 0:
		return 0
	}
	return 1 - min(w.div/limit, 1)
}

// Name tells whether a token is a name: of its word, its capitals, and whether it comes after one.
func (p *Params) Name(w Word, c Capitals, after bool) bool {
	j := p.judged(w)
	return j.positive && p.confidence(j, c, after) > 0
}

// Labeller tags notes. It keeps nothing between two notes and may be shared.
type Labeller struct{ m *Model }

// NewLabeller implements tagger.Model. A dictionary has neither a bias nor a
// choice of confidences: the options are left aside.
func (m *Model) NewLabeller(tagger.LabelOptions) tagger.Labeller { return &Labeller{m} }

// Label fills tags, one a token, and returns the confidence of the note.
func (l *Labeller) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	m := l.m
	conf, any, after := 1.0, false, false
	for i, t := range tokens {
		tags[i] = pipeline.O
		form := text[t.Start:t.End]
		w := m.find(gazetteer.Hash(form))
		after = after && t.Flags&pipeline.LineStart == 0 // a name does not go on in the next line
		if w < 0 || !m.judged[w].positive {
			after = false
			continue
		}
		c := m.header.Params.confidence(m.judged[w], CapitalsOf(form), after)
		conf, any = min(conf, c), true
		name := c > 0
		if name {
			tags[i] = begin
			if after {
				tags[i] = inside
			}
		}
		after = name
	}
	if !any && m.header.Params.Method == Divergence {
		return 0
	}
	return float32(conf)
}

// The tags of a set of one category in BIO.
const (
	begin  pipeline.Tag = 1
	inside pipeline.Tag = 2
)
