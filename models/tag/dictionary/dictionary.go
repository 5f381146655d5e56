// Package dictionary implements two taggers that need no labelled notes. They use lists of names and the frequency of
// their words in notes (BOOT §3.6).
//
//	in:  lists with counts, counts of the archive's words; forms of tokens
//	out: one tag a token, and a confidence
//
// Binary: a token in the positive lists is a name. A token in both the positive and the negative lists sets the
// confidence of its note to 0; all other notes have confidence 1. A minimal relative frequency decides whether a word
// counts as listed.
//
// Frequency divergence: a name is about as frequent in notes as among people, while a word that is also a name is not.
//
//	div(x) = |ln f_gazetteer(x) - ln f_archive(x)|
//	c(x)   = 1 - min(div(x) / div_max(x), 1)        a token with c > 0 is a name
//	P(Y)   = min c(x) over the tokens that are in the lists
//
// div_max depends on the capitals of the token and on whether the previous token is a name. Tokens in no list are
// ignored; a note without any listed token has confidence 0. BOOT leaves div open; ours is the absolute difference of
// logarithms. Names are only a share of the words of a note, so f_archive, a share of all words, is smaller than
// f_gazetteer, a share of all names, by that factor. Params.Share corrects for it; 1 is the plain formula.
package dictionary

import (
	"fmt"
	"math"
	"unicode"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Method selects one of the two taggers.
type Method string

// The values of Method.
const (
	Binary     Method = "binary"
	Divergence Method = "divergence"
)

// Capitals describes the use of capitals in a form.
type Capitals uint8

// Values of Capitals (BOOT §3.4.2).
const (
	Lower Capitals = iota // rosa
	First                 // Rosa
	Upper                 // ROSA
	Mixed                 // rOSA, McRae
	numCapitals
)

// CapitalsOf returns how a form uses capitals. A form without letters is Lower, a single capital letter is Upper.
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

// Thresholds holds the largest divergence of a name, by its capitals and by whether the previous token is a name (0:
// no, 1: yes). With 0 no token is a name.
type Thresholds [numCapitals][2]float64

// Params holds the parameters of a model.
type Params struct {
	Method Method `json:"method"`
	// Share is the share of the archive's words that are names, by which f_archive is scaled. 1 is the plain formula.
	Share float64    `json:"share,omitempty"`
	Max   Thresholds `json:"div_max,omitempty"` // divergence
	// MinPositive and MinNegative are the lowest relative frequencies of a word in the lists.
	MinPositive float64 `json:"min_positive,omitempty"`
	MinNegative float64 `json:"min_negative,omitempty"`
}

// Defaults returns the parameters of a model when there are no labelled notes to choose them on. The thresholds were
// chosen on 50 documents of MEDDOCAN train, for INE's lists.
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

// Word holds the relative frequencies of a word in the positive lists, the negative lists and the archive. It is 0 for
// a list without the word; that of the archive is never 0.
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

// Name reports whether a token is a name, from the frequencies of its word, its capitals, and whether it follows a
// name.
func (p *Params) Name(w Word, c Capitals, after bool) bool {
	j := p.judged(w)
	return j.positive && p.confidence(j, c, after) > 0
}

// Labeller tags notes. It keeps no state and may be shared.
type Labeller struct{ m *Model }

// NewLabeller implements tagger.Model. The options are ignored, since a dictionary has neither a bias nor several kinds
// of confidence.
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
