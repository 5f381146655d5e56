package inverse

import (
	"io"
	"slices"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// A Pair is an ordinary tagger with an inverse one beside it: what the first
// finds has its type, and of the rest what the second does not let in is PHI.
// It is a cascade if Below is less than 1: then the second looks at the notes
// alone of which the first is less sure.
type Pair struct {
	ordinary tagger.Model
	inverse  *Model
	set      *pipeline.TagSet
	phi      pipeline.Category
	Below    float32 // confidence of the ordinary tagger under which the inverse one looks at a note; above 1: at all
}

// Always is more than any confidence.
const Always = 2

// NewPair returns the pair. An ordinary tagger that knows PHI keeps its tags.
func NewPair(ordinary tagger.Model, inverse *Model) *Pair {
	p := &Pair{ordinary: ordinary, inverse: inverse, phi: inverse.set.Categories[0], Below: Always}
	own := ordinary.TagSet()
	p.set = &pipeline.TagSet{Scheme: own.Scheme, Categories: own.Categories}
	if !slices.Contains(own.Categories, p.phi) {
		p.set.Categories = append(slices.Clone(own.Categories), p.phi)
	}
	return p
}

// With returns the pair with other thresholds of its inverse model.
func (p *Pair) With(params Params) (*Pair, error) {
	strict, err := p.inverse.With(params)
	if err != nil {
		return nil, err
	}
	n := *p
	n.inverse = strict
	return &n, nil
}

// Header implements tagger.Model: it is the ordinary tagger's.
func (p *Pair) Header() tagger.Header { return p.ordinary.Header() }

// WithHeader implements tagger.Model.
func (p *Pair) WithHeader(h tagger.Header) tagger.Model {
	n := *p
	n.ordinary = p.ordinary.WithHeader(h)
	return &n
}

// TagSet returns the tags of the ordinary tagger and, behind them, those of PHI.
func (p *Pair) TagSet() *pipeline.TagSet { return p.set }

// MarshalHeader implements tagger.Model.
func (p *Pair) MarshalHeader() ([]byte, error) { return p.ordinary.MarshalHeader() }

// Write implements tagger.Model: what is kept is the ordinary tagger.
func (p *Pair) Write(w io.Writer) error { return p.ordinary.Write(w) }

// NewLabeller implements tagger.Model.
func (p *Pair) NewLabeller(o tagger.LabelOptions) tagger.Labeller {
	l := &pairLabeller{p: p, ordinary: p.ordinary.NewLabeller(o), begin: tagOf(p.set, p.phi)}
	o.OBias = 0 // the ordinary tagger's dial
	l.inverse = p.inverse.labeller(o)
	return l
}

// tagOf returns the first tag of a category.
func tagOf(set *pipeline.TagSet, c pipeline.Category) pipeline.Tag {
	for t := range set.Len() {
		if set.Category(pipeline.Tag(t)) == c {
			return pipeline.Tag(t)
		}
	}
	panic("inverse: a tag set without the category") // NewPair has put it in
}

type pairLabeller struct {
	p        *Pair
	ordinary tagger.Labeller
	inverse  *labeller
	begin    pipeline.Tag // of PHI
	spans    []float32
}

// Label implements tagger.Labeller. The confidence is the ordinary tagger's:
// what the inverse one masks beside takes nothing from it.
func (l *pairLabeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	conf := l.ordinary.Label(text, tokens, matches, tags)
	if conf < l.p.Below {
		l.beside(text, tokens, matches, tags)
	} else {
		l.keepSpans()
	}
	return conf
}

func (l *pairLabeller) keepSpans() {
	l.spans = l.spans[:0]
	if s, ok := l.ordinary.(tagger.Spanned); ok {
		l.spans = append(l.spans, s.SpanProbs()...)
	}
}

// Parts implements tagger.Divided: what the ordinary tagger is made of, and the
// inverse one if it looks at the note.
func (l *pairLabeller) Parts(text []byte, tokens []pipeline.Token, matches []pipeline.Match) (parts []tagger.Part, bias float32) {
	switch o := l.ordinary.(type) {
	case tagger.Divided:
		parts, bias = o.Parts(text, tokens, matches)
	case tagger.Marginals:
		parts = []tagger.Part{{Model: l.p.ordinary, Weight: slices.Repeat([]float32{1}, len(tokens)), Probs: o.Marginals(nil, text, tokens, matches)}}
	}
	if l.ordinary.Label(text, tokens, matches, make([]pipeline.Tag, len(tokens))) < l.p.Below {
		strict, _ := l.inverse.Parts(text, tokens, matches)
		parts = append(parts, strict...)
	}
	return parts, bias
}

// beside masks what the inverse tagger does not let in of the tokens that have
// tag O.
func (l *pairLabeller) beside(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) {
	l.inverse.judge(text, tokens, matches)
	l.keepSpans()
	probs := l.spans
	mine := l.inverse.o.SpanProbs
	l.inverse.spans = l.inverse.spans[:0]
	next := 0
	for i := range tags {
		switch {
		case tags[i] != pipeline.O:
			// A span of the ordinary tagger begins where it does not go on.
			if mine && (i == 0 || tokens[i].Flags&pipeline.LineStart != 0 || !l.p.set.GoesOn(tags[i-1], tags[i])) {
				p := float32(0)
				if next < len(probs) {
					p = probs[next]
				}
				l.inverse.spans = append(l.inverse.spans, p)
				next++
			}
		case l.inverse.masked[i]:
			tags[i] = l.begin
			if l.p.set.Scheme == pipeline.BIOESU {
				tags[i] += 3 // a span of one token
			}
			if mine {
				l.inverse.spans = append(l.inverse.spans, l.inverse.unsafe(i))
			}
		}
	}
	if next > 0 && len(probs) == 0 {
		l.inverse.spans = l.inverse.spans[:0] // the ordinary tagger knows no probabilities of spans
	}
	l.spans = append(l.spans[:0], l.inverse.spans...)
}

// SpanProbs implements tagger.Spanned.
func (l *pairLabeller) SpanProbs() []float32 { return l.spans }

// Marginals implements tagger.Marginals where the ordinary tagger does: it does
// not know PHI, whose columns are 0.
func (l *pairLabeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	says, ok := l.ordinary.(tagger.Marginals)
	own, all := l.p.ordinary.TagSet().Len(), l.p.set.Len()
	if !ok {
		for range tokens {
			dst = append(dst, 1)
			dst = append(dst, make([]float32, all-1)...)
		}
		return dst
	}
	if own == all {
		return says.Marginals(dst, text, tokens, matches)
	}
	rows := says.Marginals(nil, text, tokens, matches)
	for at := 0; at < len(rows); at += own {
		dst = append(dst, rows[at:at+own]...)
		for range all - own {
			dst = append(dst, 0)
		}
	}
	return dst
}
