package bilstm

import (
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/features"
)

// network is the scratch space of tagging.
type network struct {
	pieces []unread
	forms  []int32 // [tokens] places of the tokens' forms in the cache
	places places  // of the tokens

	input   int       // numbers of a form's vector
	fresh   []int32   // places in the cache that are to be filled in
	vectors []float32 // [fresh forms][input]
	product []float32 // [fresh forms or n][2·gates·units]

	tile   tile
	second projected
	layers []reader
	output []float32 // [2·units][len(bias)] what the last layer says times this are the scores
	bias   []float32 // of the scores
	scores []float32 // [rows][len(bias)]
	none   []float32 // zeros

	words, features *Parameter
	spelling        spelling
	known           []Valued   // features of a form
	numbers         Vocabulary // of the model, with scratch space of one goroutine
}

// set takes the parameters of a model.
func (x *network) set(m *Model) {
	a, ps := m.arch, m.network
	x.numbers = *m.numbers
	x.numbers.lower = nil
	for i := range a.Layers {
		r := recurrent(ps, string('0'+byte(i)), a.Units, a.Gates())
		r.input, r.recurrent = m.input[i], m.recurrent[i]
		x.layers = append(x.layers, r)
	}
	x.places.width = len(x.layers[0].b)
	x.tile.bias = x.layers[0].b
	x.input, x.words = a.Input(), ps.Named("words")
	if x.features = ps.Named("features"); x.features != nil {
		x.places.set(x.features, x.layers[0].w)
	}
	width := (m.tr.Stride + outputLanes - 1) / outputLanes * outputLanes
	x.output, x.bias = widened(ps.Named("output"), width), widened(ps.Named("outputbias"), width)
	x.none = make([]float32, max(width, x.places.width))
	x.spelling = spelling{char: a.Char, table: ps.data("chars"), filters: ps.data("filters"), bias: ps.data("filterbias")}
	if a.Chars == "lstm" {
		x.spelling.reader = recurrent(ps, "c", a.CharUnits, a.Gates())
	}
}

// recurrent returns the layer of that name, which multiplies its numbers as they are.
func recurrent(ps Parameters, layer string, units, gates int) reader {
	return reader{units: units, gates: gates, w: ps.data("w" + layer), u: ps.data("u" + layer), b: ps.data("b" + layer), v: ps.data("v" + layer)}
}

// outputLanes is the multiple to which rows of scores are padded: products take as many columns at
// once.
const outputLanes = 32

// widened returns the numbers of p in rows of that width.
func widened(p *Parameter, width int) []float32 {
	all := make([]float32, p.Rows*width)
	for i := range p.Rows {
		copy(all[i*width:], p.Row(int32(i)))
	}
	return all
}

// form computes the vector of a form: word and features, between which multiply writes what the characters say.
func (x *network) form(to []float32, m *Model, e *features.Extractor, form, key []byte) {
	to = to[x.words.write(to, x.numbers.Word(form)):]
	if x.spelling.table != nil {
		x.spelling.chars = m.numbers.AppendChars(x.spelling.chars[:0], key)
		x.spelling.add(to)
		to = to[m.arch.CharWidth():]
	}
	if x.features == nil {
		return
	}
	clear(to)
	x.known = m.numbers.AppendFeatures(x.known[:0], e.Form(form))
	for _, f := range x.known {
		kernels.Prefetch(x.features.half(f.Row)) // a table of some megabytes: wait for all rows at once
		kernels.Prefetch(x.features.scales[f.Row:][:1])
	}
	for _, f := range x.known {
		x.features.add(to, f.Row, f.Value)
	}
}

// spelling computes the character vectors of forms: by filters with the maximum over positions (Ma and Hovy 2016), all
// forms in one product, or by a recurrent layer, from the last output of each direction.
type spelling struct {
	char   int       // numbers a character has
	table  []float32 // [characters][char]; nil: the network does not look at characters
	chars  []int32   // of the form
	x      []float32 // [places][char], or of the characters around each place of the forms that wait
	ends   []int     // of the places of these forms
	result []float32 // [places][filters], or what the gates are given

	filters, bias []float32
	best          []int32

	reader   reader // no units: filters
	length   [1]int32
	packed   Packed
	incoming projected
}

// add takes a form up: it lays out what the filters see at each of its places. The recurrent layer writes its vector.
func (s *spelling) add(to []float32) {
	if s.reader.units > 0 {
		s.read(to)
		return
	}
	for i := range s.chars {
		for j := range FilterWidth {
			s.x = append(s.x, s.table[int(Around(s.chars, i+j-1))*s.char:][:s.char]...)
		}
	}
	s.ends = append(s.ends, len(s.x)/(FilterWidth*s.char))
}

// write writes the vectors of the forms taken up by add to rows that are stride numbers apart: of each filter the
// largest result over the places of a form, at least 0.
func (s *spelling) write(to []float32, stride int) {
	place, span, width := 0, FilterWidth*s.char, len(s.bias)
	s.result, s.best = kernels.Grow(s.result, len(s.x)/span*width), kernels.Grow(s.best, width)
	kernels.GemmFrom(s.result, width, s.bias, s.x, span, s.filters, width, len(s.x)/span, span, width)
	for k, end := range s.ends {
		most := to[k*stride:][:width]
		clear(most)
		for ; place < end; place++ {
			kernels.Largest(most, s.best, s.result[place*width:][:width], 0)
		}
	}
	s.x, s.ends = s.x[:0], s.ends[:0]
}

// read writes the vector of a form by the recurrent layer.
func (s *spelling) read(to []float32) {
	r, places := &s.reader, len(s.chars)
	s.x, s.result = kernels.Grow(s.x, places*s.char), kernels.Grow(s.result, places*2*r.width())
	for i, c := range s.chars {
		copy(s.x[i*s.char:][:s.char], s.table[int(c)*s.char:])
	}
	r.project(s.result, s.x, r.b, places)
	s.length[0] = int32(places)
	s.packed.Pack(s.length[:])
	s.incoming = projected{&s.packed, r.width(), s.result}
	h := r.run(&s.packed, &s.incoming)
	copy(to, h[(places-1)*2*r.units:][:r.units])
	copy(to[r.units:], h[r.units:2*r.units])
}
