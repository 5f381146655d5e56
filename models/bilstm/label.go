package bilstm

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/chain"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/kernels"
	"github.com/velum-health/velum/models/tagger"
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
	first  []int32  // [tokens+1] of the features of a token's place
	places []valued // features of places
	ends   []int32  // of the features of tokens, in sort
	pieces []piece
	keys   []byte
	probs  []float32
	path   []pipeline.Tag
	spans  chain.SpanProbs
}

// NewLabeller implements tagger.Model.
func (m *Model) NewLabeller(o tagger.LabelOptions) tagger.Labeller { return m.newLabeller(o) }

func (m *Model) newLabeller(o tagger.LabelOptions) *Labeller {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	l := &Labeller{m: m, o: o, extract: features.New(m.template, m.res)}
	l.network.set(m)
	l.cache = newCache(o.CacheBytes, m.arch.input())
	return l
}

// Label writes one tag a token into tags and returns the confidence, in
// [0, 1]. A note without tokens has confidence 1. In steady state nothing is
// allocated.
func (l *Labeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	conf := 1.0
	l.spans.Reset(l.m.set)
	l.read(text, tokens, matches, nil, func(p piece) {
		path, c := l.decode(p)
		copy(tags[p.from:p.to], path[p.from-p.lo:])
		if l.o.SpanProbs {
			l.spans.Add(&l.lattice, tokens[p.lo:p.hi], path, p.from-p.lo, p.to-p.lo)
		}
		conf = l.o.Confidence.Join(conf, c)
	})
	return float32(conf)
}

// SpanProbs implements tagger.Spanned.
func (l *Labeller) SpanProbs() []float32 { return l.spans.All() }

// Marginals appends P(tag|sequence) of every token and tag to dst: [tokens][tags].
func (l *Labeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	return l.MarginalsOf(dst, text, tokens, matches, nil)
}

// MarginalsOf is Marginals for those sequences that have a wanted token; it
// appends zeros for the others, on which no work is done.
func (l *Labeller) MarginalsOf(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match, wanted []bool) []float32 {
	labels, stride := l.m.set.Len(), l.m.tr.Stride
	base := len(dst)
	dst = slices.Grow(dst, len(tokens)*labels)[:base+len(tokens)*labels]
	clear(dst[base:])
	l.read(text, tokens, matches, wanted, func(p piece) {
		probs := l.marginals()
		for t := p.from; t < p.to; t++ {
			copy(dst[base+t*labels:][:labels], probs[(t-p.lo)*stride:])
		}
	})
	return dst
}

// decode returns the tags of the piece in the lattice and its confidence. A
// network that was trained for the product of marginals says the most probable
// tag of each token (BOOT §3.5.2), the others the most probable path.
func (l *Labeller) decode(p piece) ([]pipeline.Tag, float64) {
	n, stride := p.hi-p.lo, l.m.tr.Stride
	l.path = grow(l.path, n)
	var probs []float32
	if l.m.arch.Objective == "marginals" {
		probs = l.marginals()
		for t := range n {
			l.path[t] = pipeline.Tag(kernels.ArgMax(probs[t*stride:(t+1)*stride], l.network.none[:stride]))
		}
	} else {
		l.lattice.Viterbi(l.path)
	}
	if l.o.Confidence != tagger.MinMarginal {
		return l.path, min(1, math.Exp(l.lattice.LogScore(l.path)-l.lattice.LogZ()))
	}
	if probs == nil {
		probs = l.marginals()
	}
	least := float32(1)
	for t := p.from; t < p.to; t++ {
		least = min(least, probs[(t-p.lo)*stride+int(l.path[t-p.lo])])
	}
	return l.path, float64(least)
}

func (l *Labeller) marginals() []float32 {
	l.probs = grow(l.probs, len(l.lattice.State))
	l.lattice.Marginals(l.probs)
	return l.probs
}

// together is how many tokens the network reads side by side, unless one
// sequence has more: their gates, 3 kB a token, stay in the second cache of
// the processor.
const together = 256

// read runs the network over a note and calls do with every piece, whose
// scores are then in the lattice; with wanted only those that have such a
// token.
func (l *Labeller) read(text []byte, tokens []pipeline.Token, matches []pipeline.Match, wanted []bool, do func(piece)) {
	if len(tokens) == 0 {
		return
	}
	l.place(text, tokens, matches, wanted)
	l.pieces = l.m.arch.pieces(l.pieces[:0], l.m.template, tokens)
	if wanted != nil {
		l.pieces = slices.DeleteFunc(l.pieces, func(p piece) bool { return !slices.Contains(wanted[p.from:p.to], true) })
	}
	first, n := 0, 0
	for i, p := range l.pieces {
		if n += p.hi - p.lo; n > together && i > first {
			l.group(text, tokens, l.pieces[first:i], do)
			first, n = i, p.hi-p.lo
		}
	}
	if first < len(l.pieces) {
		l.group(text, tokens, l.pieces[first:], do)
	}
}

// place finds the features of the places of all tokens; with wanted of those
// whose sequence, of the template, has a wanted token, and none of the others.
func (l *Labeller) place(text []byte, tokens []pipeline.Token, matches []pipeline.Match, wanted []bool) {
	l.extract.Note(text, tokens, matches)
	l.first = append(l.first[:0], 0)
	l.places = l.places[:0]
	for lo := 0; lo < len(tokens); {
		hi := l.m.template.Next(tokens, lo)
		l.starts = l.starts[:0]
		for i := lo; i < hi; i++ {
			if l.extract.Begins(text[tokens[i].Start:tokens[i].End]) {
				l.starts = append(l.starts, int32(i))
			}
		}
		if wanted == nil || l.m.arch.Window > 0 || slices.Contains(wanted[lo:hi], true) {
			l.sort(l.extract.MarksAt(lo, hi, l.starts), lo, hi)
		} else {
			l.extract.Skip(lo, hi, l.starts)
			for range hi - lo {
				l.first = append(l.first, int32(len(l.places)))
			}
		}
		lo = hi
	}
}

// sort appends the known features of the marks of tokens lo to hi to places,
// token by token: marks come group by group.
func (l *Labeller) sort(marks []features.Mark, lo, hi int) {
	l.ends = grow(l.ends, hi-lo+1)
	clear(l.ends)
	known := marks[:0] // in place: the extractor does not look at them again
	for _, m := range marks {
		if row, ok := l.m.numbers.features[m.Key]; ok && m.At >= 0 && int(m.At) < hi-lo {
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
		l.places[base+int(l.ends[m.At])] = valued{int32(m.Key), m.Value}
		l.ends[m.At]++
	}
	for i := range hi - lo {
		l.first = append(l.first, int32(base)+l.ends[i])
	}
}

// group runs the network over pieces.
func (l *Labeller) group(text []byte, tokens []pipeline.Token, pieces []piece, do func(piece)) {
	x := &l.network
	x.length = x.length[:0]
	for _, p := range pieces {
		x.length = append(x.length, int32(p.hi-p.lo))
	}
	x.pack(x.length)
	x.vectors = grow(x.vectors, x.rows()*x.input)
	for t := range x.steps() {
		lo, n := x.step(t)
		for k := range n {
			l.fill(x.vectors[(lo+k)*x.input:][:x.input], text, tokens, pieces[x.order[k]].lo+t)
		}
	}
	scores := x.run()
	for i, p := range pieces {
		l.load(scores, x.rank(i), p)
		do(p)
	}
}

// load puts the scores of the k-th longest sequence into the lattice.
func (l *Labeller) load(scores []float32, k int, p piece) {
	s := l.m.tr.Stride
	l.lattice.Reset(l.m.tr, p.hi-p.lo, 0)
	for t := range p.hi - p.lo {
		row := l.lattice.State[t*s : (t+1)*s]
		copy(row, scores[(int(l.network.start[t])+k)*s:])
		row[pipeline.O] -= l.o.OBias
		for y := l.m.tr.L; y < s; y++ {
			row[y] = chain.Forbidden
		}
	}
	l.lattice.Prepare()
}

// fill writes the vector of a token: word, characters and features of its form,
// and the features of its place.
func (l *Labeller) fill(to []float32, text []byte, tokens []pipeline.Token, i int) {
	x := &l.network
	form := text[tokens[i].Start:tokens[i].End]
	l.keys = key(l.keys[:0], form, l.m.arch.behind(text, tokens, i))
	at, known := l.cache.form(l.keys)
	if !known {
		x.form(l.cache.row(at), l.m, l.extract, form, l.keys)
	}
	copy(to, l.cache.row(at))
	for _, f := range l.places[l.first[i]:l.first[i+1]] {
		kernels.Axpy(f.value, x.features.row(f.row), to[len(to)-x.features.cols:])
	}
}

// network is the scratch space of tagging.
type network struct {
	packed
	length  []int32
	input   int          // numbers of a token's vector
	vectors []float32    // [rows][input]
	w, u, b []*parameter // of the layers
	v       []*parameter // nil without
	output  affine
	out     [][]float32
	layers  []recurrent
	none    []float32
	ranks   []int32

	words, features *parameter
	one             batch // a form on its own
	chars           layer // nil: none
	inputs          [][]float32
	record          record
	numbers         vocabulary // of the model, with scratch space of one goroutine
}

// set takes the parameters of a model.
func (x *network) set(m *Model) {
	a, ps := m.arch, m.network
	x.numbers = *m.numbers
	x.numbers.lower = nil
	for i := range a.Layers {
		n := string('0' + byte(i))
		x.w, x.u, x.b = append(x.w, ps.named("w"+n)), append(x.u, ps.named("u"+n)), append(x.b, ps.named("b"+n))
		var v *parameter
		if a.Cell == "coupled" {
			v = ps.named("v" + n)
		}
		x.v = append(x.v, v)
		x.layers = append(x.layers, recurrent{units: a.Units, gates: a.gates(), input: m.input[i], quantized: m.recurrent[i]})
	}
	x.input, x.words = a.input(), ps.named("words")
	if a.Feature > 0 {
		x.features = ps.named("features")
	}
	out, bias := ps.named("output"), ps.named("outputbias")
	x.output.width = out.cols
	x.out = [][]float32{nil, out.data, bias.data}
	x.none = make([]float32, max(out.cols, a.input()))
	switch a.Chars {
	case "cnn":
		x.chars = &convolution{b: &x.one, char: a.Char, width: a.CharUnits}
		x.inputs = [][]float32{ps.named("chars").data, ps.named("filters").data, ps.named("filterbias").data}
	case "lstm":
		x.chars = &spelling{b: &x.one, char: a.Char, r: recurrent{units: a.CharUnits, gates: a.gates()}}
		x.inputs = [][]float32{ps.named("chars").data, ps.named("wc").data, ps.named("uc").data, ps.named("bc").data}
		if a.Cell == "coupled" {
			x.inputs = append(x.inputs, ps.named("vc").data)
		}
	}
}

// form computes the vector of a form: word, characters, features.
func (x *network) form(to []float32, m *Model, e *features.Extractor, form, key []byte) {
	to = to[x.words.write(to, x.numbers.word(form)):]
	chars := 0
	if x.chars != nil {
		x.one.chars = m.numbers.appendChars(x.one.chars[:0], key)
		x.one.charEnd = append(x.one.charEnd[:0], int32(len(x.one.chars)))
		chars = copy(to, x.chars.forward(x.inputs))
	}
	if x.features != nil {
		clear(to[chars:])
		x.record.features = m.numbers.appendFeatures(x.record.features[:0], e.Form(form))
		for _, f := range x.record.features {
			kernels.Axpy(f.value, x.features.row(f.row), to[chars:])
		}
	}
}

// run goes through the layers and returns the scores, [rows][stride].
func (x *network) run() []float32 {
	n, h := x.rows(), x.vectors
	for i := range x.layers {
		r := &x.layers[i]
		r.reset(&x.packed)
		r.project(h, x.w[i].data, x.b[i].data)
		var v []float32
		if x.v[i] != nil {
			v = x.v[i].data
		}
		r.run(x.u[i].data, v)
		h = r.h[:n*2*r.units]
	}
	x.ranks = grow(x.ranks, len(x.order))
	for k, i := range x.order {
		x.ranks[i] = int32(k)
	}
	x.out[0] = h
	return x.output.forward(x.out)
}

// rank returns the place of sequence i among the packed ones.
func (x *network) rank(i int) int { return int(x.ranks[i]) }
