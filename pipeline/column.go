package pipeline

// Bytes is a column of byte strings in Arrow layout: value i is
// Data[Offsets[i]:Offsets[i+1]]. The zero value is an empty column.
type Bytes struct {
	Offsets []int32 // [Len+1], Offsets[0] = 0; nil when empty
	Data    []byte
}

// Len returns the number of values.
func (b *Bytes) Len() int { return max(len(b.Offsets)-1, 0) }

// At returns value i. It aliases the column and must not be kept.
func (b *Bytes) At(i int) []byte { return b.Data[b.Offsets[i]:b.Offsets[i+1]:b.Offsets[i+1]] }

// Append adds one value at the end.
func (b *Bytes) Append(v []byte) {
	b.Data = append(b.Data, v...)
	b.End()
}

// End ends the value whose bytes have been appended to Data.
func (b *Bytes) End() {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	b.Offsets = append(b.Offsets, int32(len(b.Data)))
}

// Reset empties the column and keeps its memory.
func (b *Bytes) Reset() {
	b.Data = b.Data[:0]
	b.Offsets = b.Offsets[:0]
}

// List is a column of lists: list i is Items[Offsets[i]:Offsets[i+1]].
type List[T any] struct {
	Offsets []int32 // [Len+1], Offsets[0] = 0; nil when empty
	Items   []T
}

// Len returns the number of lists.
func (l *List[T]) Len() int { return max(len(l.Offsets)-1, 0) }

// At returns list i. It aliases the column.
func (l *List[T]) At(i int) []T { return l.Items[l.Offsets[i]:l.Offsets[i+1]:l.Offsets[i+1]] }

// Append adds one whole list at the end.
func (l *List[T]) Append(items ...T) {
	l.Items = append(l.Items, items...)
	l.End()
}

// End ends the list whose items have been appended to Items.
func (l *List[T]) End() {
	if len(l.Offsets) == 0 {
		l.Offsets = append(l.Offsets, 0)
	}
	l.Offsets = append(l.Offsets, int32(len(l.Items)))
}

// Reset empties the column and keeps its memory.
func (l *List[T]) Reset() {
	l.Items = l.Items[:0]
	l.Offsets = l.Offsets[:0]
}
