package bilstm

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/chain"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/kernels"
	"github.com/velum-health/velum/models/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
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

	begun  [1 << 12]uint64 // see begins
	starts []int32         // tokens where an entry of several words may begin
	first  []int32         // [tokens+1] of the features of a token's place
	places []valued        // features of places
	ends   []int32         // of the features of tokens, in sort
	pieces []piece
	begin  []int32 // of a group: first token of each piece, counted through
	forms  []int32 // of a group: places of the tokens' forms in the cache
	fresh  []int32 // those of them that are to be filled in
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
	l.cache = newCache(o.CacheBytes, 2*l.network.layers[0].width())
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
// sequence has more: all of most notes, so that most steps have the four rows that
// a product takes at once. With 256 MEDDOCAN dev took 2 to 15 % longer.
const together = 1024

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
		all := wanted == nil || l.m.arch.Window > 0 || slices.Contains(wanted[lo:hi], true)
		l.starts = l.starts[:0]
		for i := lo; i < hi && (all || sameLine(tokens, hi)); i++ {
			if l.begins(text[tokens[i].Start:tokens[i].End]) {
				l.starts = append(l.starts, int32(i))
			}
		}
		if all {
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

// begins is Begins of the extractor, which folds the form and looks into a large
// table; forms asked for lately are told by 63 bits of a hash.
func (l *Labeller) begins(form []byte) bool {
	h := xxh3.HashSeed(form, keySalt) &^ 1
	known := &l.begun[h>>52]
	if *known&^1 != h {
		*known = h
		if l.extract.Begins(form) {
			*known |= 1
		}
	}
	return *known&1 != 0
}

// sameLine tells whether token i goes on in the line of the one before: an entry
// of several words may stand on both sides, but never in two lines.
func sameLine(tokens []pipeline.Token, i int) bool {
	return i < len(tokens) && tokens[i].Flags&pipeline.LineStart == 0
}

// sort appends the known features of the marks of tokens lo to hi to places,
// token by token: marks come group by group.
func (l *Labeller) sort(marks []features.Mark, lo, hi int) {
	l.ends = grow(l.ends, hi-lo+1)
	clear(l.ends)
	known := marks[:0] // in place: the extractor does not look at them again
	for _, m := range marks {
		if row := l.m.numbers.features.row(m.Key); row != 0 && m.At >= 0 && int(m.At) < hi-lo {
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
	n := 0
	for _, p := range pieces {
		x.length = append(x.length, int32(p.hi-p.lo))
		n += p.hi - p.lo
	}
	x.pack(x.length)
	l.cache.room(n)
	l.begin, l.forms, l.fresh, x.vectors = l.begin[:0], l.forms[:0], l.fresh[:0], x.vectors[:0]
	x.places.reset()
	for _, p := range pieces {
		l.begin = append(l.begin, int32(len(l.forms)))
		for i := p.lo; i < p.hi; i++ {
			l.forms = append(l.forms, l.form(text, tokens, i))
		}
		x.places.add(x.layers[0].b, l.places, l.first[p.lo:p.hi+1])
	}
	l.multiply()
	scores := x.run(l)
	for i, p := range pieces {
		l.load(scores, x.rank(i), p)
		do(p)
	}
}

// form returns the place of token i's form in the cache. The vector of one that
// is not known is put behind those that are to be multiplied.
func (l *Labeller) form(text []byte, tokens []pipeline.Token, i int) int32 {
	x := &l.network
	form := text[tokens[i].Start:tokens[i].End]
	l.keys = key(l.keys[:0], form, l.m.arch.behind(text, tokens, i))
	at, known := l.cache.form(l.keys)
	if !known {
		n := len(x.vectors)
		x.vectors = slices.Grow(x.vectors, x.input)[:n+x.input]
		x.form(x.vectors[n:], l.m, l.extract, form, l.keys)
		l.fresh = append(l.fresh, at)
	}
	return at
}

// multiply fills the cache with what forms that were not known bring in.
func (l *Labeller) multiply() {
	x, width, n := &l.network, l.cache.width, len(l.fresh)
	if n == 0 {
		return
	}
	x.product = grow(x.product, n*width)
	x.layers[0].project(x.product, x.vectors, x.none[:width], n)
	for i, at := range l.fresh {
		l.cache.scales[at] = kernels.Narrow(l.cache.row(at), x.product[i*width:][:width])
	}
}

// gates is what comes into the first layer: the form's, and that of the places
// of the piece and of the token.
func (l *Labeller) gates(dst []float32, direction, t, k int) {
	x := &l.network.places
	i, from := int(l.network.order[k]), direction*len(dst)
	token := int(l.begin[i]) + t
	at := l.forms[token]
	kernels.Widen(dst, x.base[i*x.width+from:], l.cache.row(at)[from:][:len(dst)], l.cache.scales[at])
	if next := token + 1 - 2*direction; next >= 0 && next < len(l.forms) {
		kernels.Prefetch(l.cache.row(l.forms[next])[from:][:len(dst)]) // for the step behind: a cache of 64 MiB is far away
	}
	for _, f := range x.own[x.ends[token]:x.ends[token+1]] {
		kernels.Axpy(f.value, x.rows[f.row][from:][:len(dst)], dst)
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

// network is the scratch space of tagging.
type network struct {
	packed
	length  []int32
	input   int       // numbers of a form's vector
	vectors []float32 // [fresh forms][input]
	product []float32 // [fresh forms or n][2·gates·units]
	second  projected
	places  places
	layers  []reader
	output  affine
	out     [][]float32
	none    []float32 // zeros
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
		r := reader{units: a.Units, gates: a.gates(), input: m.input[i], recurrent: m.recurrent[i]}
		r.w, r.u, r.b = ps.named("w"+n).data, ps.named("u"+n).data, ps.named("b"+n).data
		if a.Cell == "coupled" {
			r.v = ps.named("v" + n).data
		}
		x.layers = append(x.layers, r)
	}
	x.places.width = len(x.layers[0].b)
	x.input, x.words = a.input(), ps.named("words")
	if a.Feature > 0 {
		x.features = ps.named("features")
		x.places.set(x.features, x.layers[0].w)
	}
	out, bias := ps.named("output"), ps.named("outputbias")
	x.output.width = out.cols
	x.out = [][]float32{nil, out.data, bias.data}
	x.none = make([]float32, max(out.cols, x.places.width))
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
			kernels.Prefetch(x.features.row(f.row)) // a table of some megabytes: wait for all rows at once
		}
		for _, f := range x.record.features {
			kernels.Axpy(f.value, x.features.row(f.row), to[chars:])
		}
	}
}

// run goes through the layers and returns the scores, [rows][stride].
func (x *network) run(in incoming) []float32 {
	h := x.layers[0].run(&x.packed, in)
	for i := range x.layers[1:] {
		r := &x.layers[i+1]
		x.product = grow(x.product, x.rows()*2*r.width())
		r.project(x.product, h, r.b, x.rows())
		x.second = projected{&x.packed, r.width(), x.product}
		h = r.run(&x.packed, &x.second)
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
