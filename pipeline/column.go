package pipeline

// Bytes is a column of byte strings in Arrow layout: value i is
// Data[Offsets[i]:Offsets[i+1]]. The zero value is an empty column.
type Bytes struct {
	Offsets []int32 // [Len+1], Offsets[0] = 0; nil when empty
	Data    []byte
}

// Len returns the number of values.
func (c *Bytes) Len() int { return max(len(c.Offsets)-1, 0) }

// At returns value i. It aliases the column and must not be kept.
func (c *Bytes) At(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]] }

// Append adds one value at the end.
func (c *Bytes) Append(v []byte) {
	c.Data = append(c.Data, v...)
	c.End()
}

// End closes the value whose bytes were appended to Data since the last one.
func (c *Bytes) End() {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, 0)
	}
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
}

// Reset empties the column and keeps its memory.
func (c *Bytes) Reset() {
	c.Data = c.Data[:0]
	c.Offsets = c.Offsets[:0]
}

// List is a column of lists: list i is Items[Offsets[i]:Offsets[i+1]].
type List[T any] struct {
	Offsets []int32 // [Len+1], Offsets[0] = 0; nil when empty
	Items   []T
}

// Len returns the number of lists.
func (c *List[T]) Len() int { return max(len(c.Offsets)-1, 0) }

// At returns list i. It aliases the column.
func (c *List[T]) At(i int) []T { return c.Items[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]] }

// Append adds one whole list at the end.
func (c *List[T]) Append(items ...T) {
	c.Items = append(c.Items, items...)
	c.End()
}

// End closes the list whose items were appended to Items since the last one.
func (c *List[T]) End() {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, 0)
	}
	c.Offsets = append(c.Offsets, int32(len(c.Items)))
}

// Reset empties the column and keeps its memory.
func (c *List[T]) Reset() {
	c.Items = c.Items[:0]
	c.Offsets = c.Offsets[:0]
}
