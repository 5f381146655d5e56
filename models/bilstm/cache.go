package bilstm

// cache keeps what the network knows of forms wherever they stand: the vector
// of the word, its characters and features. When it is full it
// begins again from nothing; the frequent forms are back within some thousand
// tokens, a form costs a few microseconds, and there is no bookkeeping a look-up.
type cache struct {
	width  int
	rows   int
	values []float32
	used   int // rows
	forms  map[string]int32
}

func newCache(bytes, width int) *cache {
	rows := max(bytes/(4*width+cacheOverhead), 1024)
	return &cache{width: width, rows: rows, values: make([]float32, rows*width), forms: map[string]int32{}}
}

// cacheOverhead is about what an entry of a map and its string take.
const cacheOverhead = 64

// form returns the place of a form, and whether it is filled in; if not, the
// caller fills it. The place is good until the next call.
func (c *cache) form(form []byte) (at int, known bool) {
	if at, known := c.forms[string(form)]; known {
		return int(at), true
	}
	if c.used == c.rows {
		clear(c.forms)
		c.used = 0
	}
	c.used++
	c.forms[string(form)] = int32(c.used - 1)
	return c.used - 1, false
}

func (c *cache) row(at int) []float32 { return c.values[at*c.width:][:c.width] }
