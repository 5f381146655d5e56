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
	used   int
	values []int16  // [rows][width], on huge pages
	forms  []cached // [rows]

	places []uint32 // a power of two; a row plus 1, or 0: the place is free
}

// cached holds the facts about a form beside its numbers.
type cached struct {
	hash   uint64
	scale  float32 // of the numbers
	begins uint16  // see features.Extractor.Begins
	again  bool    // asked for a second time
}

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
	c.used = 0
	c.values, c.forms = kernels.Pages[int16](c, rows*c.width), make([]cached, rows)
	places := 1
	for places < 2*rows {
		places *= 2
	}
	c.places = make([]uint32, places)
}

// full tells whether there are no places for n forms that are not known.
func (c *cache) full(n int) bool { return c.used+n > len(c.forms) }

// room makes sure of places for n forms that are not known: rows are good until
// the next call.
func (c *cache) room(n int) {
	if !c.full(n) {
		return
	}
	if rows := max(n, c.most); n > len(c.forms) || len(c.forms) == firstRows && rows > firstRows {
		c.make(rows)
		return
	}
	clear(c.places)
	forms := c.forms[:c.used]
	c.used = 0
	for i, f := range forms {
		if f.again && !c.full(n+1) {
			f.again = false
			copy(c.row(c.take(f)), c.row(int32(i)))
		}
	}
}

// expect fetches the place where the form with this hash may stand.
func (c *cache) expect(hash uint64) {
	kernels.Prefetch(c.places[int(hash>>32)&(len(c.places)-1):][:1])
}

// slot returns the place of the form with this hash, or the free one where it would stand.
func (c *cache) slot(hash uint64) int {
	i := int(hash>>32) & (len(c.places) - 1)
	for c.places[i] != 0 && c.forms[c.places[i]-1].hash != hash {
		i = (i + 1) & (len(c.places) - 1)
	}
	return i
}

// find returns the row of the form with this hash, -1 if it is not known.
func (c *cache) find(hash uint64) (at int32) {
	if at = int32(c.places[c.slot(hash)]) - 1; at >= 0 {
		c.forms[at].again = true
	}
	return at
}

// take assigns a row, which the caller fills, to a form that is not known.
func (c *cache) take(f cached) (at int32) {
	i := c.slot(f.hash)
	c.forms[c.used] = f
	c.used++
	c.places[i] = uint32(c.used)
	return int32(c.used - 1)
}

func (c *cache) row(at int32) []int16 { return c.values[int(at)*c.width:][:c.width] }
