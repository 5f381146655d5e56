package bilstm

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
	cache   *cache
	network network
	lattice chain.Lattice

	starts []int32  // tokens where an entry of several words may begin
	hashes []uint64 // of the forms of tokens
	rows   []int32  // their places in the cache
	first  []int32  // [tokens+1] of the features of a token's place
	places []Valued // features of places
	ends   []int32  // of the features of tokens, in sort
	pieces []Piece
	keys   []byte
	probs  []float32
	path   []pipeline.Tag
	spans  chain.SpanProbs

	waits  []waiting // pieces of the notes that wait, in their order
	notes  int
	scores []float32 // [tokens][stride] of the pieces that have been read
}

// waiting is a queued piece of a note; the network processes many pieces side by side.
type waiting struct {
	Piece
	note   int // which of the notes that wait
	scores int // where those of its first token stand
}

// NewLabeller implements tagger.Model.
func (m *Model) NewLabeller(o tagger.LabelOptions) tagger.Labeller { return m.newLabeller(o) }

func (m *Model) newLabeller(o tagger.LabelOptions) *Labeller {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	l := &Labeller{m: m, o: o, extract: features.New(m.template, m.res)}
	l.network.set(m)
	l.cache = newCache(o.CacheBytes, 2*l.network.layers[0].width())
	l.network.places.reset()
	return l
}

// Label writes one tag a token into tags and returns the confidence, in
// [0, 1]. A note without tokens has confidence 1. In steady state nothing is
// allocated.
func (l *Labeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	conf := 1.0
	l.spans.Reset(l.m.set)
	l.Defer(text, tokens, matches, nil)
	l.each(func(w *waiting) {
		p := w.Piece
		path, c := l.decode(p)
		copy(tags[p.From:p.To], path[p.From-p.Lo:])
		if l.o.SpanProbs {
			l.spans.Add(&l.lattice, tokens[p.Lo:p.Hi], path, p.From-p.Lo, p.To-p.Lo)
		}
		conf = l.o.Confidence.Join(conf, c)
	})
	return float32(conf)
}

// SpanProbs implements tagger.Spanned.
func (l *Labeller) SpanProbs() []float32 { return l.spans.All() }

// Marginals appends P(tag|sequence) of every token and tag to dst: [tokens][tags].
func (l *Labeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	labels, base := l.m.set.Len(), len(dst)
	dst = slices.Grow(dst, len(tokens)*labels)[:base+len(tokens)*labels]
	l.Defer(text, tokens, matches, nil)
	l.Deferred(func(_, from, to int, probs []float32, stride int) {
		for t := from; t < to; t++ {
			copy(dst[base+t*labels:][:labels], probs[(t-from)*stride:])
		}
	})
	return dst
}

// Defer queues the wanted tokens of a note (all if wanted is nil), so that the network can process them together with
// those of other notes: the sequences of the template, or the windows, that contain such a token. The arguments are not
// needed after the call.
func (l *Labeller) Defer(text []byte, tokens []pipeline.Token, matches []pipeline.Match, wanted []bool) {
	l.extract.Note(text, tokens, matches)
	if l.m.arch.Window > 0 {
		l.windows(text, tokens, wanted)
	} else {
		l.sequences(text, tokens, wanted)
	}
	l.notes++
}

// sequences takes what is wanted of those of the template. Of one that nobody wants no features
// are found, but the entry of several words that may begin there and reach into the next.
func (l *Labeller) sequences(text []byte, tokens []pipeline.Token, wanted []bool) {
	for lo := 0; lo < len(tokens); {
		hi := l.m.template.Next(tokens, lo)
		switch {
		case wanted == nil || slices.Contains(wanted[lo:hi], true):
			l.room(hi - lo)
			l.look(text, tokens, wanted, lo, hi)
			l.place(lo, hi)
			l.runs(lo, hi, wanted)
		case sameLine(tokens, hi):
			l.begin(text, tokens, lo, hi)
			l.extract.Skip(lo, hi, l.starts)
		default:
			l.extract.Skip(lo, hi, nil)
		}
		lo = hi
	}
}

// runs queues the runs of wanted tokens of a sequence.
func (l *Labeller) runs(lo, hi int, wanted []bool) {
	for from := lo; from < hi; {
		to := from + 1
		for to < hi && (wanted == nil || wanted[to] == wanted[from]) {
			to++
		}
		if wanted == nil || wanted[from] {
			l.wait(Piece{from, to, from, to}, l.rows[from-lo:to-lo], l.first[from-lo:to-lo+1])
		}
		from = to
	}
}

// windows queues overlapping windows, after computing the features of all positions.
func (l *Labeller) windows(text []byte, tokens []pipeline.Token, wanted []bool) {
	first := []int32{0}
	var places []Valued
	for lo := 0; lo < len(tokens); {
		hi := l.m.template.Next(tokens, lo)
		l.begin(text, tokens, lo, hi)
		l.place(lo, hi)
		for _, end := range l.first[1:] {
			first = append(first, int32(len(places))+end)
		}
		places = append(places, l.places...)
		lo = hi
	}
	l.places = places
	l.pieces = l.m.arch.Pieces(l.pieces[:0], l.m.template, tokens)
	for _, p := range l.pieces {
		if wanted == nil || slices.Contains(wanted[p.From:p.To], true) {
			l.room(p.Hi - p.Lo)
			l.look(text, tokens, nil, p.Lo, p.Hi)
			l.wait(p, l.rows, first[p.Lo:p.Hi+1])
		}
	}
}

// Deferred processes the queue and calls do for each piece: the index of its note from 0, the range [from, to) of the
// note's tokens, and the probabilities of their tags in rows that are stride numbers apart. The queue is empty
// afterwards.
func (l *Labeller) Deferred(do func(note, from, to int, probs []float32, stride int)) {
	l.each(func(w *waiting) {
		stride := l.m.tr.Stride
		do(w.note, w.From, w.To, l.marginals()[(w.From-w.Lo)*stride:], stride)
	})
}

// each processes the queue and calls do with every piece, whose scores are then in the lattice.
func (l *Labeller) each(do func(*waiting)) {
	l.read()
	for i := range l.waits {
		w := &l.waits[i]
		l.load(l.scores[w.scores:], w.Hi-w.Lo)
		do(w)
	}
	l.waits, l.scores, l.notes = l.waits[:0], l.scores[:0], 0
}

// decode returns the tags of the piece in the lattice and its confidence. A network trained on the product of marginals
// returns the most probable tag of each token (BOOT §3.5.2), others the most probable path.
func (l *Labeller) decode(p Piece) ([]pipeline.Tag, float64) {
	n, stride := p.Hi-p.Lo, l.m.tr.Stride
	l.path = kernels.Grow(l.path, n)
	if l.m.arch.Objective == "marginals" {
		probs := l.marginals()
		for t := range n {
			l.path[t] = pipeline.Tag(kernels.ArgMax(probs[t*stride:(t+1)*stride], l.network.none[:stride]))
		}
	} else {
		l.lattice.Viterbi(l.path)
	}
	return l.path, min(1, math.Exp(l.lattice.LogScore(l.path)-l.lattice.LogZ()))
}

func (l *Labeller) marginals() []float32 {
	l.probs = kernels.Grow(l.probs, len(l.lattice.State))
	l.lattice.Marginals(l.probs)
	return l.probs
}

// together is the number of tokens at which the queue is processed: enough for tiles of similar length.
const together = 4096

// room makes room for a piece of n tokens, if need be by reading what waits.
func (l *Labeller) room(n int) {
	if len(l.network.forms)+n > together || l.cache.full(n) {
		l.read()
		l.cache.room(n)
	}
}

// wait queues a piece: the forms of its tokens are in these rows of the cache, and the features of their positions are
// places[first[t]:first[t+1]].
func (l *Labeller) wait(p Piece, rows, first []int32) {
	x, n := &l.network, p.Hi-p.Lo
	l.waits = append(l.waits, waiting{p, l.notes, len(l.scores)})
	l.scores = slices.Grow(l.scores, n*l.m.tr.Stride)[:len(l.scores)+n*l.m.tr.Stride]
	x.pieces = append(x.pieces, unread{int32(n), int32(len(x.forms)), int32(len(x.pieces)), int32(len(l.waits) - 1)})
	x.forms = append(x.forms, rows...)
	x.places.add(l.places, first)
}

// read processes the queue.
func (l *Labeller) read() {
	x := &l.network
	l.multiply()
	stride := l.m.tr.Stride
	x.read(l.cache, func(p unread, k int, rows *Packed, scores []float32) {
		to := l.scores[l.waits[p.wait].scores:]
		for t := range int(p.length) {
			copy(to[t*stride:(t+1)*stride], scores[(int(rows.Start[t])+k)*len(x.bias):])
		}
	})
}

// place finds the features of the places of tokens lo to hi, a sequence of the
// template.
func (l *Labeller) place(lo, hi int) {
	l.first, l.places = append(l.first[:0], 0), l.places[:0]
	l.sort(l.extract.MarksAt(lo, hi, l.starts), lo, hi)
}

// begin finds the starts among tokens that are not looked up.
func (l *Labeller) begin(text []byte, tokens []pipeline.Token, lo, hi int) {
	l.starts = l.starts[:0]
	for i := lo; i < hi; i++ {
		if l.extract.Begins(text[tokens[i].Start:tokens[i].End]) != 0 {
			l.starts = append(l.starts, int32(i))
		}
	}
}

// sameLine tells whether token i goes on in the line of the one before: an entry
// of several words may stand on both sides, but never in two lines.
func sameLine(tokens []pipeline.Token, i int) bool {
	return i < len(tokens) && tokens[i].Flags&pipeline.LineStart == 0
}

// sort appends the known features of the marks of tokens lo to hi to places,
// token by token: marks come group by group.
func (l *Labeller) sort(marks []features.Mark, lo, hi int) {
	l.ends = kernels.Grow(l.ends, hi-lo+1)
	clear(l.ends)
	known := marks[:0] // in place: the extractor does not look at them again
	for _, m := range marks {
		if row := l.m.numbers.Features.row(m.Key); row != 0 && m.At >= 0 && int(m.At) < hi-lo {
			m.Key = uint64(row)
			known = append(known, m)
			l.ends[m.At+1]++
		}
	}
	for i := range hi - lo {
		l.ends[i+1] += l.ends[i]
	}
	base := len(l.places)
	l.places = slices.Grow(l.places, len(known))[:base+len(known)]
	for _, m := range known {
		l.places[base+int(l.ends[m.At])] = Valued{Row: int32(m.Key), Value: m.Value}
		l.ends[m.At]++
	}
	for i := range hi - lo {
		l.first = append(l.first, int32(base)+l.ends[i])
	}
}

// look looks up the forms of the tokens lo to hi in the cache (at least of the wanted ones), and which of them begin
// phrases. Vectors of unknown forms are collected to be multiplied together.
func (l *Labeller) look(text []byte, tokens []pipeline.Token, wanted []bool, lo, hi int) {
	l.starts, l.rows, l.hashes = l.starts[:0], l.rows[:0], l.hashes[:0]
	for i := lo; i < hi; i++ {
		l.keys = l.m.arch.AppendKey(l.keys[:0], text, tokens, i)
		h := xxh3.HashSeed(l.keys, keySalt)
		l.hashes = append(l.hashes, h)
		l.cache.expect(h)
	}
	for i := lo; i < hi; i++ {
		h, form := l.hashes[i-lo], text[tokens[i].Start:tokens[i].End]
		at := l.cache.find(h)
		if at < 0 && (wanted == nil || wanted[i]) {
			at = l.cache.take(cached{hash: h, begins: l.extract.Begins(form)})
			l.keys = l.m.arch.AppendKey(l.keys[:0], text, tokens, i)
			l.fill(form, at)
		}
		if at >= 0 && l.cache.forms[at].begins != 0 || at < 0 && l.extract.Begins(form) != 0 {
			l.starts = append(l.starts, int32(i))
		}
		l.rows = append(l.rows, at) // -1: nobody looks at it
	}
}

// fill computes the vector of a form whose key is in keys.
func (l *Labeller) fill(form []byte, at int32) {
	x, n := &l.network, len(l.network.vectors)
	x.vectors = slices.Grow(x.vectors, x.input)[:n+x.input]
	x.form(x.vectors[n:], l.m, l.extract, form, l.keys)
	if x.fresh = append(x.fresh, at); len(x.fresh) == freshMost {
		l.multiply()
	}
}

// freshMost is the number of new forms whose vectors are multiplied at once.
const freshMost = 64

// multiply computes the contributions of unknown forms and stores them in the cache.
func (l *Labeller) multiply() {
	x, width, n := &l.network, l.cache.width, len(l.network.fresh)
	if n == 0 {
		return
	}
	x.spelling.write(x.vectors[x.words.Cols:], x.input)
	x.product = kernels.Grow(x.product, n*width)
	x.layers[0].project(x.product, x.vectors, x.none[:width], n)
	for i, at := range x.fresh {
		l.cache.forms[at].scale = kernels.Narrow(l.cache.row(at), x.product[i*width:][:width])
	}
	x.fresh, x.vectors = x.fresh[:0], x.vectors[:0]
}

// load puts the scores of n tokens into the lattice.
func (l *Labeller) load(scores []float32, n int) {
	s := l.m.tr.Stride
	l.lattice.Reset(l.m.tr, n, 0)
	copy(l.lattice.State, scores[:n*s])
	for t := range n {
		row := l.lattice.State[t*s : (t+1)*s]
		row[pipeline.O] -= l.o.OBias
		for y := l.m.tr.L; y < s; y++ {
			row[y] = chain.Forbidden
		}
	}
	l.lattice.Prepare()
}
