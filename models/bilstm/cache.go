package bilstm

// cache keeps what forms and features of places bring into the recurrence:
// rows of numbers. When it is full it begins again from nothing; the frequent
// forms are back within some thousand tokens, a row costs ten microseconds,
// and there is no bookkeeping a look-up.
type cache struct {
	width    int
	values   []float32
	used     int // rows
	forms    map[string]int32
	features map[int32]int32
}

func newCache(bytes, width int) *cache {
	rows := max(bytes/(4*width), 1024)
	return &cache{width: width, values: make([]float32, rows*width), forms: map[string]int32{}, features: map[int32]int32{}}
}

// room makes sure that rows of so many tokens and features may be asked for.
// Rows stay where they are until its next call.
func (c *cache) room(tokens, features int) {
	rows := len(c.values) / c.width
	if c.used+tokens+features <= rows {
		return
	}
	clear(c.forms)
	clear(c.features)
	c.used = 0
	if tokens+features > rows {
		c.values = make([]float32, (tokens+features)*c.width)
	}
}

// form returns the row of a form, and whether it is filled in; if not, the
// caller fills it.
func (c *cache) form(form []byte) (row []float32, known bool) {
	at, known := c.forms[string(form)]
	if !known {
		at = c.next()
		c.forms[string(form)] = at
	}
	return c.row(at), known
}

// feature is form for a feature.
func (c *cache) feature(feature int32) (row []float32, known bool) {
	at, known := c.features[feature]
	if !known {
		at = c.next()
		c.features[feature] = at
	}
	return c.row(at), known
}

func (c *cache) next() int32 {
	c.used++
	return int32(c.used - 1)
}

func (c *cache) row(at int32) []float32 { return c.values[int(at)*c.width:][:c.width] }
