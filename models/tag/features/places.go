package features

import (
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// domainEnds marks a top-level domain that follows a dot, and no other word
// that looks like one: es, no, me.
func domainEnds(e *Extractor, g *group, lo, hi int) {
	e.buf = append(e.buf[:0], '1')
	for i := lo + 1; i < hi; i++ {
		dot := e.form(i - 1)
		if len(dot) == 1 && dot[0] == '.' && e.tokens[i].Flags&pipeline.Glued != 0 {
			e.w.set(e.form(i))
			if domains[string(e.w.lower)] {
				e.mark(g, i-lo, e.buf, 1)
			}
		}
	}
}

// tokenInSentence tells where in its sentence a token stands, 0 to 1.
func tokenInSentence(e *Extractor, g *group, lo, hi int) {
	first, last := lo, lo
	for first > 0 && e.tokens[first].Flags&pipeline.SentenceStart == 0 {
		first--
	}
	e.spread(g, lo, hi, func(i int) float32 {
		if i > first && e.tokens[i].Flags&pipeline.SentenceStart != 0 {
			first = i
		}
		if last <= i {
			for last = i + 1; last < len(e.tokens) && e.tokens[last].Flags&pipeline.SentenceStart == 0; last++ {
			}
		}
		return ratio(i-first, last-first)
	})
}

// sentenceInNote tells where in its note a token's sentence stands, 0 to 1.
func sentenceInNote(e *Extractor, g *group, lo, hi int) {
	before, all := 0, 0
	for i, t := range e.tokens {
		if i == 0 || t.Flags&pipeline.SentenceStart != 0 {
			all++
			if i <= lo {
				before++
			}
		}
	}
	e.spread(g, lo, hi, func(i int) float32 {
		if i > lo && e.tokens[i].Flags&pipeline.SentenceStart != 0 {
			before++
		}
		return ratio(before-1, all)
	})
}

// lineStarts marks every token with the first word of its line.
func lineStarts(e *Extractor, g *group, lo, hi int) {
	e.buf = gazetteer.Fold(e.buf[:0], e.form(e.lineStart(lo)))
	for i := lo; i < hi; i++ {
		if i > lo && e.tokens[i].Flags&pipeline.LineStart != 0 {
			e.buf = gazetteer.Fold(e.buf[:0], e.form(i))
		}
		e.mark(g, i-lo, e.buf, 1)
	}
}

// lineLength marks every token with the length of its sequence: 1 to 8, then
// in steps of a quarter more.
func lineLength(e *Extractor, g *group, lo, hi int) {
	step, n := 0, 1
	for ; n < hi-lo && step < 31; step++ {
		n += max(1, n/4)
	}
	for i := range hi - lo {
		e.number(g, i, step)
	}
}

// tokenNumber marks every token with its number in the sequence.
func tokenNumber(e *Extractor, g *group, lo, hi int) {
	for i := range hi - lo {
		e.number(g, i, min(i, 15))
	}
}

// number marks a token with a small number.
func (e *Extractor) number(g *group, at, n int) {
	e.buf = append(e.buf[:0], 'a'+byte(n))
	e.mark(g, at, e.buf, 1)
}

// lineAbove marks every token with the first word of the line above its own.
func lineAbove(e *Extractor, g *group, lo, hi int) {
	own := e.lineStart(lo)
	above := -1
	if own > 0 {
		above = e.lineStart(own - 1)
	}
	for i := lo; i < hi; i++ {
		if i > lo && e.tokens[i].Flags&pipeline.LineStart != 0 {
			above, own = own, i
		}
		e.buf = e.buf[:0]
		if above >= 0 {
			e.buf = gazetteer.Fold(e.buf, e.form(above))
		}
		e.mark(g, i-lo, e.buf, 1)
	}
}

// lineStart returns the first token of the line of token i.
func (e *Extractor) lineStart(i int) int {
	for i > 0 && e.tokens[i].Flags&pipeline.LineStart == 0 {
		i--
	}
	return i
}
