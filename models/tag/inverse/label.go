package inverse

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// beginTag is the tag that begins a span.
const beginTag pipeline.Tag = 1

// labeller tags notes, one at a time. It owns scratch space and is used by one
// goroutine.
type labeller struct {
	m       *Model
	o       tagger.LabelOptions
	rules   *Rules
	network tagger.Marginals // nil: the rules alone
	cuts    [numLists]float32

	probs  []float32 // of the network: [tokens][tags]
	safe   []float32 // P(safe) of each token
	lists  []List
	masked []bool
	spans  []float32
}

// NewLabeller implements tagger.Model. The recall dial (OBias) shifts all thresholds by the same amount of logits.
func (m *Model) NewLabeller(o tagger.LabelOptions) tagger.Labeller { return m.labeller(o) }

func (m *Model) labeller(o tagger.LabelOptions) *labeller {
	l := &labeller{m: m, o: o, rules: m.rules(), cuts: m.header.Params.cuts(o.OBias)}
	if m.network != nil {
		l.network = m.network.NewLabeller(tagger.LabelOptions{CacheBytes: o.CacheBytes}).(tagger.Marginals)
	}
	return l
}

// judge fills lists, safe and masked.
func (l *labeller) judge(text []byte, tokens []pipeline.Token, matches []pipeline.Match) {
	l.lists = l.rules.judge(l.lists[:0], text, tokens)
	l.safe, l.masked = kernels.Grow(l.safe, len(tokens)), kernels.Grow(l.masked, len(tokens))
	tags := 0 // of the network
	if l.network != nil {
		l.probs = l.network.Marginals(l.probs[:0], text, tokens, matches)
		tags = l.m.network.TagSet().Len()
	}
	for i, list := range l.lists {
		if l.network != nil {
			l.safe[i] = min(max(l.probs[i*tags], 0), 1)
		} else {
			l.safe[i] = byRules(list)
		}
		l.masked[i] = list != Punctuation && !(logit(l.safe[i]) >= l.cuts[list])
	}
	l.houses(text, tokens)
	l.join(tokens)
}

// byRules holds P(safe) by list where there is no network: ranks rather than probabilities, so that the dial masks
// words in unsafe lists before words in no list.
func byRules(l List) float32 {
	switch {
	case l.safe() || l == Punctuation:
		return 1
	case l == Unlisted:
		return half
	}
	return 0
}

// houses masks the word for a kind of institution before masked capitalized words, and the words between, because they
// are part of the name: l'H. del Robledal, centro Pilar Vidal. It is masked when the name is. The network alone leaves
// such common words: half of what it left in notes of an unknown kind was this (BENCHMARKS.md).
func (l *labeller) houses(text []byte, tokens []pipeline.Token) {
	for i := 1; i < len(tokens); i++ {
		if !l.masked[i] || tokens[i].Flags&pipeline.LineStart != 0 || !capital(text[tokens[i].Start:tokens[i].End]) {
			continue
		}
		for k := l.houseOf(i, text, tokens); k < i; k++ {
			l.masked[k], l.safe[k] = true, l.safe[i]
		}
	}
}

// houseOf returns the token that is the word for the institution whose name is at token i, or i. Short words, masked
// ones and capitalized ones may stand between, and the full stop of an abbreviation. More masking never finds fewer
// such words, so that the dial stays monotonic.
func (l *labeller) houseOf(i int, text []byte, tokens []pipeline.Token) int {
	short := false // only a short form has a full stop
	for k := i - 1; k >= max(0, i-1-maxLinks) && tokens[k+1].Flags&pipeline.LineStart == 0; k-- {
		form := text[tokens[k].Start:tokens[k].End]
		switch {
		case isHouse(form) && (!short || len(form) <= maxShort):
			return k
		case short:
			return i
		case form[0] == '.':
			short = true
		case !l.masked[k] && !capital(form) && (l.lists[k] != StopWord || len(form) > maxLink):
			return i
		}
	}
	return i
}

// Limits on the words between the name of an institution and the word for its kind, such as Hospital.
const (
	maxLinks = 3 // tokens
	maxLink  = 3 // bytes of one in small letters
	maxShort = 4 // bytes of a short form: H., Hosp.
)

// join masks punctuation that is glued to masked tokens on both sides: the
// dots of a date, the @ of an address.
func (l *labeller) join(tokens []pipeline.Token) {
	for i := 1; i+1 < len(tokens); i++ {
		if l.lists[i] == Punctuation && l.masked[i-1] && tokens[i].Flags&pipeline.Glued != 0 {
			last := i
			for last+1 < len(tokens) && l.lists[last] == Punctuation && tokens[last+1].Flags&pipeline.Glued != 0 {
				last++
			}
			if l.lists[last] == Punctuation || !l.masked[last] {
				continue
			}
			for ; i < last; i++ {
				l.masked[i] = true
			}
		}
	}
}

// Label writes one tag per token into tags, a span of its own for each masked token; stages/resolve joins them. It
// returns the confidence of the note from the probabilities that the tokens are what they were taken for: their
// product, the product over the least sure line, or their minimum. A note without tokens has confidence 1. In steady
// state it does not allocate.
func (l *labeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	l.judge(text, tokens, matches)
	l.spans = l.spans[:0]
	note, line := 1.0, 1.0
	for i := range tokens {
		tags[i] = pipeline.O
		sure := l.safe[i]
		if tokens[i].Flags&pipeline.LineStart != 0 {
			line = 1
		}
		switch {
		case l.masked[i]:
			tags[i], sure = beginTag, l.unsafe(i)
			if l.o.SpanProbs {
				l.spans = append(l.spans, sure)
			}
		case l.lists[i] == Punctuation:
			sure = 1
		}
		line *= float64(sure)
		if l.o.Confidence == tagger.LineMinimum {
			note = min(note, line)
		} else {
			note *= float64(sure)
		}
	}
	return float32(note)
}

// unsafe is the probability that a masked token is personal.
func (l *labeller) unsafe(i int) float32 {
	if l.lists[i] == Punctuation || math.IsNaN(float64(l.cuts[l.lists[i]])) {
		return 1
	}
	return 1 - l.safe[i]
}

// SpanProbs implements tagger.Spanned.
func (l *labeller) SpanProbs() []float32 { return l.spans }

// Marginals appends P(tag|note) of every token and tag to dst: [tokens][tags]. Without a network the numbers only rank
// the tokens.
func (l *labeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	if l.network != nil {
		if own := l.m.network.TagSet().Len(); own != l.m.set.Len() { // of several categories
			l.probs = l.network.Marginals(l.probs[:0], text, tokens, matches)
			for i := range tokens {
				dst = append(dst, l.probs[i*own], 1-l.probs[i*own], 0)
			}
			return dst
		}
		return l.network.Marginals(dst, text, tokens, matches)
	}
	l.lists = l.rules.judge(l.lists[:0], text, tokens)
	for _, list := range l.lists {
		safe := byRules(list)
		dst = append(dst, safe, 1-safe, 0)
	}
	return dst
}

// Parts implements tagger.Divided: it returns the probabilities of the network, and the list that decides each token.
func (l *labeller) Parts(text []byte, tokens []pipeline.Token, matches []pipeline.Match) ([]tagger.Part, float32) {
	l.judge(text, tokens, matches)
	p := tagger.Part{Model: l.m, Probs: l.Marginals(nil, text, tokens, matches)}
	for _, list := range l.lists {
		p.Lists = append(p.Lists, list.String())
	}
	return []tagger.Part{p}, 0
}
