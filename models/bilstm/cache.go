package bilstm

// cache keeps what comes into the first layer from forms wherever they stand: the
// vector of the word, its characters and features, multiplied. Sixteen bits a number, so
// that a form of the default network takes 1.7 kB. When it is full it
// begins again from nothing; the frequent forms are back within some thousand
// tokens, a form costs a few microseconds, and there is no bookkeeping a look-up.
type cache struct {
	width  int
	rows   int
	values []int16
	scales []float32
	used   int // rows
	forms  map[string]int32
}

func newCache(bytes, width int) *cache {
	c := &cache{width: width, forms: map[string]int32{}}
	c.make(max(bytes/(2*width+cacheOverhead), 1024))
	return c
}

func (c *cache) make(rows int) {
	c.rows, c.values, c.scales = rows, make([]int16, rows*c.width), make([]float32, rows)
}

// cacheOverhead is about what an entry of a map and its string take.
const cacheOverhead = 64

// room makes sure of places for n forms that are not known: places are good until
// the next call.
func (c *cache) room(n int) {
	if c.used+n <= c.rows {
		return
	}
	clear(c.forms)
	c.used = 0
	if n > c.rows {
		c.make(n)
	}
}

// form returns the place of a form, and whether it is filled in; if not, the
// caller fills it.
func (c *cache) form(form []byte) (at int32, known bool) {
	if at, known := c.forms[string(form)]; known {
		return at, true
	}
	c.used++
	at = int32(c.used - 1)
	c.forms[string(form)] = at
	return at, false
}

func (c *cache) row(at int32) []int16 { return c.values[int(at)*c.width:][:c.width] }
