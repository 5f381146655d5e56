package ensemble

import (
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/pipeline"
)

// later holds the queued notes of a cascade: a network processes lines of many notes side by side in a third of the
// time.
type later struct {
	notes   []waiting
	tokens  []pipeline.Token
	sum     []float32 // [tokens][tags]
	open    []bool    // tokens of lines that the first member has not decided
	doubt   []bool    // tokens of lines of which it is not sure
	decided []float32 // probabilities of the spans in lines that are decided

	member int // whose probabilities add adds
	add    func(note, from, to int, probs []float32, stride int)
}

// waiting is a queued note.
type waiting struct {
	tags           []pipeline.Tag
	tokens, probs  int     // where its tokens and the probabilities of its decided spans begin among those of all
	ends, probsEnd int     // and where they end
	conf           float64 // of the lines that are decided
}

// room makes room behind what waits for a note of n tokens.
func (x *later) room(n, labels int) {
	n += len(x.tokens)
	x.sum = slices.Grow(x.sum[:len(x.tokens)*labels], n*labels-len(x.tokens)*labels)[:n*labels]
	for _, flags := range []*[]bool{&x.open, &x.doubt} {
		*flags = slices.Grow((*flags)[:len(x.tokens)], n-len(x.tokens))[:n]
	}
}

func (x *later) reset() { x.notes, x.tokens, x.decided = x.notes[:0], x.tokens[:0], x.decided[:0] }

// LabelLater is Label, or postpones the note until Flush; stages/tag calls it, so that the network processes several
// notes at once.
func (l *Labeller) LabelLater(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) (conf float32,
	waits bool) {
	l.mix.spans.Reset(l.m.set)
	l.both = l.both[:0]
	if len(tokens) == 0 {
		return 1, false
	}
	if l.m.header.Mode == Priority {
		return l.prior(text, tokens, matches, tags), false
	}
	if first := l.decides(); first != nil {
		return l.labelSure(first, text, tokens, matches, tags)
	}
	return l.mix.decode(l.mean(text, tokens, matches), tokens, nil, tags), false
}

// labelSure runs a cascade whose first member decides the lines of which it is sure: most lines, whose marginals are
// not needed.
func (l *Labeller) labelSure(first deciding, text []byte, tokens []pipeline.Token, matches []pipeline.Match,
	tags []pipeline.Tag) (conf float32, waits bool) {
	x, n, at := &l.later, l.m.set.Len(), len(l.later.tokens)
	x.room(len(tokens), n)
	conf = first.LabelSure(text, tokens, matches, tags, max(l.m.header.Threshold, leastSure), x.open[at:], x.sum[at*n:])
	if !slices.Contains(x.open[at:], true) {
		l.both = append(l.both, first.SpanProbs()...)
		return conf, false
	}
	waits = l.ask(at, text, tokens, matches, x.open[at:])
	w := waiting{tags: tags, tokens: at, probs: len(x.decided), conf: float64(conf)}
	x.tokens, x.decided = append(x.tokens, tokens...), append(x.decided, first.SpanProbs()...)
	w.ends, w.probsEnd = len(x.tokens), len(x.decided)
	if waits {
		x.notes = append(x.notes, w)
		return 0, true
	}
	conf = l.decode(w)
	x.tokens, x.decided = x.tokens[:w.tokens], x.decided[:w.probs]
	return conf, false
}

// decode writes the tags of the open lines of a note, whose sums are made, and
// returns the confidence of the note; both then has the probabilities of its spans.
func (l *Labeller) decode(w waiting) float32 {
	x, n := &l.later, l.m.set.Len()
	tokens, open := x.tokens[w.tokens:w.ends], x.open[w.tokens:w.ends]
	conf := l.mix.decode(x.sum[w.tokens*n:w.ends*n], tokens, open, w.tags)
	l.joinSpans(x.decided[w.probs:w.probsEnd], l.mix.spans.All(), tokens, open, w.tags)
	return float32(l.mix.o.Confidence.Join(w.conf, float64(conf)))
}

// joinSpans puts the probabilities of spans in lines that were decided and in
// those that were open into the order of the note.
func (l *Labeller) joinSpans(decided, opened []float32, tokens []pipeline.Token, open []bool, tags []pipeline.Tag) {
	l.both = l.both[:0]
	if !l.mix.o.SpanProbs {
		return
	}
	last := pipeline.O
	for i, y := range tags {
		if tokens[i].Flags&pipeline.LineStart != 0 {
			last = pipeline.O
		}
		if begins := y != pipeline.O && !l.m.set.GoesOn(last, y); begins && open[i] {
			l.both, opened = append(l.both, opened[0]), opened[1:]
		} else if begins {
			l.both, decided = append(l.both, decided[0]), decided[1:]
		}
		last = y
	}
}

// ask looks at lines whose marginals of the first member stand in sum from the
// place of token at on, with open at those alone, and asks the other members about
// the lines with a token that has a tag in the best path of which the first is less sure than the
// threshold, less what is spared. It tells whether there are any; hear then hears the answers.
//
// Lines are asked about whole: a network that reads a part of one knows nothing of what
// stands beside it, and errs at the borders of names that the first had right.
func (l *Labeller) ask(at int, text []byte, tokens []pipeline.Token, matches []pipeline.Match, open []bool) bool {
	x, n := &l.later, l.m.set.Len()
	sum, doubt := x.sum[at*n:], x.doubt[at:]
	clear(doubt)
	l.mix.lines(sum, tokens, open, func(lo, hi int, path []pipeline.Tag) {
		line := sum[lo*n : hi*n]
		for t, y := range path {
			if line[t*n+int(y)] < l.m.header.Threshold-spared {
				kernels.AddScaled(line, l.m.header.Weights[0]-1, line)
				for i := range doubt[lo:hi] {
					doubt[lo+i] = true
				}
				return
			}
		}
	})
	if !slices.Contains(doubt, true) {
		return false
	}
	for k, member := range l.members[1:] {
		if s, ok := member.(deferring); ok {
			s.Defer(text, tokens, matches, doubt)
			continue
		}
		l.probs = l.believes(k+1).Marginals(l.probs[:0], text, tokens, matches)
		l.weigh(k+1, sum, doubt, l.probs, n)
	}
	return true
}

// spared is how far below the threshold a token must be. On writers and kinds of document left out, the other members
// find .0005 of all identifiers in lines whose least sure token is between .925 and .95, and these lines are a ninth to
// a fifth of what they process; precision and PERSON do not change.
const spared = 0.025

// weigh adds the probabilities of a member, in rows stride apart, to those of the
// tokens that are in doubt.
func (l *Labeller) weigh(member int, sum []float32, doubt []bool, probs []float32, stride int) {
	n, weight := l.m.set.Len(), l.m.header.Weights[member]
	for i, d := range doubt {
		if d {
			kernels.AddScaled(sum[i*n:(i+1)*n], weight, probs[i*stride:][:n])
		}
	}
}

// hear adds the marginals of the other members for all queued notes.
func (l *Labeller) hear() {
	for k, member := range l.members[1:] {
		if s, ok := member.(deferring); ok {
			l.later.member = k + 1
			s.Deferred(l.later.add)
		}
	}
}

// add adds what a member says of tokens of a note that waits.
func (l *Labeller) add(note, from, to int, probs []float32, stride int) {
	x, n := &l.later, l.m.set.Len()
	from, to = x.notes[note].tokens+from, x.notes[note].tokens+to
	l.weigh(x.member, x.sum[from*n:], x.doubt[from:to], probs, stride)
}

// Waiting returns the number of postponed tokens.
func (l *Labeller) Waiting() int { return len(l.later.tokens) }

// Flush labels the postponed notes and calls done for each, in order.
func (l *Labeller) Flush(done func(conf float32, spans []float32)) {
	l.hear()
	for _, w := range l.later.notes {
		done(l.decode(w), l.both)
	}
	l.later.reset()
}
