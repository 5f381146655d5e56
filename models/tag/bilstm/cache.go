package bilstm

import "github.com/velum-health/velum/models/number/kernels"

// cache stores what a form contributes to the first layer wherever it occurs: the vector of word, characters and
// features, multiplied by the input weights. It uses 16 bits per number, so that a form of the default network takes
// 1.7 kB. A full cache forgets the forms that nobody has asked for a second time since it was last full: most names and
// numbers, which occur once. Computing a form costs some microseconds, moving one that stays a tenth of one.
//
// Forms are found by hash with open addressing at a load of at most one half. They are distinguished by 64 bits with an
// unpredictable salt: among 40,000 forms, one of a billion tokens is confused with a probability of 2e-6. The cache
// holds no pointers, which the garbage collector would follow.
type cache struct {
	width  int
	most   int // rows that it may have; it begins with firstRows
	rows   int
	used   int
	values []int16  // [rows][width], on huge pages
	forms  []cached // [rows]

	places []cachePlace // a power of two
}

// cached holds the facts about a form beside its numbers.
type cached struct {
	hash   uint64
	scale  float32 // of the numbers
	begins bool    // see features.Extractor.Begins
	again  bool    // asked for a second time
}

type cachePlace struct{ hash, row uint32 } // row plus 1; 0: the place is free

func newCache(bytes, width int) *cache {
	c := &cache{width: width, most: max(bytes/(2*width+cacheOverhead), firstRows)}
	c.make(firstRows)
	return c
}

// firstRows is the initial capacity of a cache in forms: memory on huge pages is cleared when it is touched, and a few
// notes touch all of it.
const firstRows = 1024

// cacheOverhead is about what a form takes beside its numbers.
const cacheOverhead = 48

func (c *cache) make(rows int) {
	c.rows, c.used = rows, 0
	c.values, c.forms = kernels.Pages[int16](c, rows*c.width), make([]cached, rows)
	places := 1
	for places < 2*rows {
		places *= 2
	}
	c.places = make([]cachePlace, places)
}

// full tells whether there are no places for n forms that are not known.
func (c *cache) full(n int) bool { return c.used+n > c.rows }

// room makes sure of places for n forms that are not known: rows are good until
// the next call.
func (c *cache) room(n int) {
	if !c.full(n) {
		return
	}
	if rows := max(n, c.most); n > c.rows || c.rows == firstRows && rows > firstRows {
		c.make(rows)
		return
	}
	clear(c.places)
	forms := c.forms[:c.used]
	c.used = 0
	for i, f := range forms {
		if f.again && !c.full(n+1) {
			_, place := c.find(f.hash)
			at := c.take(f.hash, place)
			copy(c.row(at), c.row(int32(i)))
			f.again = false
			c.forms[at] = f
		}
	}
}

// warm prefetches the slot of a form.
func (c *cache) warm(hash uint64) {
	kernels.Prefetch(c.places[c.place(hash):][:1])
}

func (c *cache) place(hash uint64) int { return int(hash>>32) & (len(c.places) - 1) }

// find returns the row of the form with this hash, -1 if it is not known, and its
// place, or the free one where it would stand.
func (c *cache) find(hash uint64) (at int32, place int) {
	i := c.place(hash)
	for ; c.places[i].row != 0; i = (i + 1) & (len(c.places) - 1) {
		p := c.places[i]
		if p.hash == uint32(hash) && c.forms[p.row-1].hash == hash {
			c.forms[p.row-1].again = true
			return int32(p.row - 1), i
		}
	}
	return -1, i
}

// take assigns a row, which the caller fills, to an unknown form at a slot that find returned.
func (c *cache) take(hash uint64, place int) (at int32) {
	c.forms[c.used] = cached{hash: hash}
	c.used++
	c.places[place] = cachePlace{uint32(hash), uint32(c.used)}
	return int32(c.used - 1)
}

func (c *cache) row(at int32) []int16 { return c.values[int(at)*c.width:][:c.width] }
