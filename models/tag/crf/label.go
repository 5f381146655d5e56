package crf

import (
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Labeller tags notes, one at a time. It owns scratch space and is used by one
// goroutine; the model is shared.
type Labeller struct {
	m       *Model
	o       tagger.LabelOptions
	extract *features.Extractor
	lattice chain.Lattice
	cache   *cache
	shared  *shared // nil: nobody else is asked
	grown   bool    // the caches have the size that they were asked for
	margin  int
	begin   []float32 // [beginRows][stride] what every token begins with: the bias, and padding
	probs   []float32 // marginals of a sequence
	starts  []int32   // tokens of a sequence where an entry of several words may begin
	located []located // features of a form
	spans   chain.SpanProbs
}

// beginRows are copied at once; more would only push other things out of the
// cache of the processor.
const beginRows = 32

// NewLabeller implements tagger.Model: it returns a *Labeller.
func (m *Model) NewLabeller(o tagger.LabelOptions) tagger.Labeller { return m.labeller(o) }

func (m *Model) labeller(o tagger.LabelOptions) *Labeller {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	t := m.template
	l := &Labeller{m: m, o: o, extract: features.New(t, m.res), margin: t.Margin(), begin: make([]float32, beginRows*m.stride)}
	for i := range l.begin {
		switch y := i % m.stride; {
		case y >= m.set.Len():
			l.begin[i] = chain.Forbidden
		case y == int(pipeline.O):
			l.begin[i] -= o.OBias
		}
	}
	l.extract.LeaveOut(m.some)
	l.room(max(o.CacheBytes/firstShare, min(o.CacheBytes, leastShared)))
	return l
}

// firstShare is the share of its memory that a labeller begins with: huge pages are cleared as soon as they are
// touched, and a few notes touch most of them.
const firstShare = 64

// room makes caches of about so many bytes. What the ones before held is computed again.
func (l *Labeller) room(bytes int) {
	m, rows := l.m, l.m.template.Hi-l.m.template.Lo+1
	if l.o.Shared && bytes >= leastShared {
		m.shared.make(bytes, rows, m.set.Len())
		l.shared, bytes = m.shared, bytes/2
	}
	l.cache = newCache(bytes, rows, m.set.Len(), m.stride)
}

// grow makes room of all that the labeller may have, once half of what it began with is taken.
func (l *Labeller) grow() {
	if !l.grown && 2*(l.cache.asked-l.cache.found) > l.cache.places() {
		asked, found := l.cache.asked, l.cache.found
		l.room(l.o.CacheBytes)
		l.grown, l.cache.asked, l.cache.found = true, asked, found
	}
}

// Label writes one tag a token into tags and returns the confidence, in
// [0, 1]. A note without tokens has confidence 1. In steady state nothing is
// allocated.
func (l *Labeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	return l.LabelSure(text, tokens, matches, tags, 0, nil, nil)
}

// LabelSure is Label for the first member of a cascade. It decides the lines whose best path has at least the
// probability sure: it writes their tags and span probabilities. For every other line it sets open for each token and
// writes the marginals to probs, [tokens][tags]. If open is nil, all lines are decided. It returns the confidence of
// the decided lines, 1 if there are none.
//
// No tag is less probable than a path through it, so backward sums are needed for open lines only.
func (l *Labeller) LabelSure(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag, sure float32, open []bool, probs []float32) float32 {
	l.extract.Note(text, tokens, matches)
	l.spans.Reset(l.m.set)
	conf, labels := 1.0, l.m.set.Len()
	for lo := 0; lo < len(tokens); {
		hi := l.m.template.Next(tokens, lo)
		l.score(text, tokens, lo, hi)
		c := l.decode(tags[lo:hi])
		decided := open == nil || c >= float64(sure) && isLine(tokens, lo, hi)
		if decided {
			conf = l.o.Confidence.Join(conf, c)
			l.addSpans(tokens, tags, lo, hi)
		} else {
			l.copyMarginals(probs[lo*labels:hi*labels], labels)
		}
		for i := lo; i < hi && open != nil; i++ {
			open[i] = !decided
		}
		lo = hi
	}
	return float32(conf)
}

// isLine tells whether tokens lo to hi are one whole line.
func isLine(tokens []pipeline.Token, lo, hi int) bool {
	starts := func(i int) bool { return i == 0 || i == len(tokens) || tokens[i].Flags&pipeline.LineStart != 0 }
	for i := lo + 1; i < hi; i++ {
		if starts(i) {
			return false
		}
	}
	return starts(lo) && starts(hi)
}

// addSpans keeps the probabilities of the spans of the sequence in the lattice.
func (l *Labeller) addSpans(tokens []pipeline.Token, tags []pipeline.Tag, lo, hi int) {
	if l.o.SpanProbs {
		l.spans.Add(&l.lattice, tokens[lo:hi], tags[lo:hi], 0, hi-lo)
	}
}

// SpanProbs implements tagger.Spanned.
func (l *Labeller) SpanProbs() []float32 { return l.spans.All() }

// decode writes the best path of the sequence in the lattice and returns its
// confidence.
func (l *Labeller) decode(tags []pipeline.Tag) float64 {
	z := l.lattice.Decode(tags)
	return min(1, math.Exp(l.lattice.LogScore(tags)-z))
}

func (l *Labeller) marginals() []float32 {
	if n := len(l.lattice.State); cap(l.probs) < n {
		l.probs = make([]float32, 2*n)
	}
	probs := l.probs[:len(l.lattice.State)]
	l.lattice.Marginals(probs)
	return probs
}

// copyMarginals writes those of the sequence in the lattice to dst, row by row.
func (l *Labeller) copyMarginals(dst []float32, labels int) {
	probs := l.marginals()
	for t := 0; t*labels < len(dst); t++ {
		copy(dst[t*labels:(t+1)*labels], probs[t*l.m.stride:])
	}
}

// Marginals appends P(tag|line) of every token and tag to dst: [tokens][tags].
func (l *Labeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	l.extract.Note(text, tokens, matches)
	labels := l.m.set.Len()
	for lo := 0; lo < len(tokens); {
		hi := l.m.template.Next(tokens, lo)
		l.score(text, tokens, lo, hi)
		at := len(dst)
		dst = slices.Grow(dst, (hi-lo)*labels)[:at+(hi-lo)*labels]
		l.copyMarginals(dst[at:], labels)
		lo = hi
	}
	return dst
}

// score fills the lattice with tokens lo to hi. The block of a form lies as
// the rows of the tokens that it speaks to, so that adding it is one run of
// additions.
func (l *Labeller) score(text []byte, tokens []pipeline.Token, lo, hi int) {
	l.grow()
	stride := l.m.stride
	rows := l.lattice.Reset(l.m.tr, hi-lo, l.margin)
	for at := 0; at < len(rows); at += len(l.begin) {
		copy(rows[at:], l.begin)
	}
	l.starts = l.starts[:0]
	for at := lo; at < hi; at += run {
		l.forms(rows[(at-lo)*stride:], text, tokens[at:min(at+run, hi)], at)
	}
	l.marks(rows, l.extract.MarksAt(lo, hi, l.starts))
	l.lattice.Prepare()
}

// forms adds the blocks of at most run tokens, the first of which is token
// first of the note and speaks to the rows from l.margin - Hi on.
func (l *Labeller) forms(rows []float32, text []byte, tokens []pipeline.Token, first int) {
	var hash [run]uint64
	var guess [run]int32
	for i, t := range tokens {
		hash[i] = xxh3.Hash(text[t.Start:t.End])
	}
	stride := l.m.stride
	l.cache.warm(&guess, hash[:len(tokens)])
	rows = rows[(l.margin-l.m.template.Hi)*stride:]
	for i, t := range tokens {
		form := text[t.Start:t.End]
		at, known := l.cache.form(hash[i], form, int(guess[i]))
		if !known {
			l.fill(at, hash[i], form)
		}
		e := &l.cache.entry[at]
		if e.begins&l.extract.Follows(first+i) != 0 {
			l.starts = append(l.starts, int32(first+i))
		}
		kernels.AddRows(rows[(i+int(e.first))*stride:], stride, l.cache.nonzero(at), l.cache.width)
	}
}

// fill finds what the cache keeps of a form: another labeller has computed it,
// or it is computed here.
func (l *Labeller) fill(at int, hash uint64, form []byte) {
	l.cache.expect(at)
	others := l.shared.of(hash, form)
	if others.take(l.cache, at, hash, form) {
		return
	}
	l.compute(at, form)
	others.give(l.cache, at, hash, form)
}

func (l *Labeller) compute(at int, form []byte) {
	block := l.cache.fill
	clear(block)
	l.located = l.located[:0]
	for _, f := range l.extract.Form(form) {
		if l.m.maybe(f.Key) {
			l.located = append(l.located, located{Mark: features.Mark{Feature: f}})
		}
	}
	l.located = l.m.locate(l.located)
	for i := range l.located {
		l.put(block, &l.located[i])
	}
	l.cache.keep(at, l.m.stride)
	l.cache.entry[at].begins = l.extract.Begins(form)
}

// put adds the weights of a feature to the rows around its token.
func (l *Labeller) put(block []float32, f *located) {
	g := &l.m.template.Groups[f.Group]
	block = block[(l.m.template.Hi-g.Hi)*l.m.stride:][:g.Rows()*l.m.stride]
	if b := l.m.blockOf(f.lo, f.hi); b.rows > 0 && f.Value == 1 {
		if int(b.first)+int(b.rows) <= g.Rows() { // else two features with one key
			kernels.AddRows(block[int(b.first)*l.m.stride:], l.m.stride, l.m.rows(b), l.m.width)
		}
		return
	}
	states := l.m.state[f.lo:f.hi]
	if int(states[len(states)-1].slot) >= len(block) {
		return // two features with one key; slots rise, see check
	}
	for _, s := range states {
		block[s.slot] += f.Value * s.weight
	}
}

// marks adds marks to the rows, in their order. Those of open groups, of which
// the model may know all that come, are looked up every time; the others come
// from the cache.
func (l *Labeller) marks(rows []float32, marks []features.Mark) {
	stride, t := l.m.stride, l.m.template
	l.located = l.located[:0]
	for _, m := range marks {
		if t.Groups[m.Group].Open() {
			l.located = append(l.located, located{Mark: m})
		}
	}
	l.located = l.m.locate(l.located)
	known := l.located
	for _, m := range marks {
		block := rows[(l.margin+int(m.At)-t.Hi)*stride:]
		switch {
		case !t.Groups[m.Group].Open():
			l.mark(block, m.Feature)
		case len(known) > 0 && known[0].Mark == m:
			l.put(block, &known[0])
			known = known[1:]
		}
	}
}

// mark adds what the cache keeps of a mark to a block.
func (l *Labeller) mark(block []float32, f features.Feature) {
	at, known := l.cache.mark(f.Key)
	if !known {
		l.fillMark(at, f)
	}
	stride, width := l.m.stride, l.cache.width
	block = block[int(l.cache.entry[at].first)*stride:]
	rows := l.cache.nonzero(at)
	if f.Value == 1 {
		kernels.AddRows(block, stride, rows, width)
		return
	}
	for ; len(rows) > 0; rows = rows[width:] {
		kernels.AddScaled(block, f.Value, rows[:width])
		block = block[min(stride, len(block)):]
	}
}

// fillMark computes what the cache keeps of a mark: its weights as they are,
// whatever its value.
func (l *Labeller) fillMark(at int, f features.Feature) {
	block := l.cache.fill
	clear(block)
	f.Value = 1
	one := [1]located{{Mark: features.Mark{Feature: f}}}
	for i := range l.m.locate(one[:]) {
		l.put(block, &one[i])
	}
	l.cache.keep(at, l.m.stride)
}
