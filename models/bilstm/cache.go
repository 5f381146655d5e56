package bilstm

import (
	"github.com/velum-health/velum/models/kernels"
	"github.com/zeebo/xxh3"
)

// cache keeps what comes into the first layer from forms wherever they stand: the
// vector of the word, its characters and features, multiplied. Sixteen bits a number, so
// that a form of the default network takes 1.7 kB. When it is full it
// begins again from nothing; the frequent forms are back within some thousand
// tokens, a form costs a few microseconds, and there is no bookkeeping a look-up.
//
// Forms are found by hash, in places that follow each other, at most half of them
// taken; their letters lie one behind the other and are compared. Nothing of it is a
// pointer, which the garbage collector would follow.
type cache struct {
	width  int
	rows   int
	values []int16   // [rows][width], on huge pages
	scales []float32 // [rows]

	places []cachePlace // a power of two
	text   []byte       // of the forms
	ends   []int32      // [used+1] where each ends in text
}

type cachePlace struct{ hash, row uint32 } // row plus 1; 0: the place is free

func newCache(bytes, width int) *cache {
	c := &cache{width: width}
	c.make(max(bytes/(2*width+cacheOverhead), 1024))
	return c
}

// cacheOverhead is about what a form takes beside its numbers.
const cacheOverhead = 48

func (c *cache) make(rows int) {
	c.rows, c.values, c.scales = rows, kernels.Pages[int16](rows*c.width), make([]float32, rows)
	places := 1
	for places < 2*rows {
		places *= 2
	}
	c.places, c.text, c.ends = make([]cachePlace, places), nil, []int32{0}
}

// cacheText is how many bytes of forms there are at most, before room: ends are
// 32 bits.
const cacheText = 1 << 28

// full tells whether there are no places for n forms that are not known.
func (c *cache) full(n int) bool { return len(c.ends)-1+n > c.rows || len(c.text) > cacheText }

// room makes sure of places for n forms that are not known: rows are good until
// the next call.
func (c *cache) room(n int) {
	if !c.full(n) {
		return
	}
	if n > c.rows {
		c.make(n)
		return
	}
	clear(c.places)
	c.text, c.ends = c.text[:0], c.ends[:1]
}

// form returns the row of a form, and whether it is filled in; if not, the
// caller fills it.
func (c *cache) form(form []byte) (at int32, known bool) {
	hash, last := xxh3.HashSeed(form, keySalt), len(c.places)-1
	i := int(hash>>32) & last
	for ; c.places[i].row != 0; i = (i + 1) & last {
		p := c.places[i]
		if p.hash == uint32(hash) && string(c.text[c.ends[p.row-1]:c.ends[p.row]]) == string(form) {
			return int32(p.row - 1), true
		}
	}
	c.places[i] = cachePlace{uint32(hash), uint32(len(c.ends))}
	c.text = append(c.text, form...)
	c.ends = append(c.ends, int32(len(c.text)))
	return int32(len(c.ends) - 2), false
}

func (c *cache) row(at int32) []int16 { return c.values[int(at)*c.width:][:c.width] }
