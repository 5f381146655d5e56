package rewrite

// SetMixedRows sets how many rows a public part of mixed ones has at the most, and returns what puts that back.
func SetMixedRows(n int64) func() {
	was := mixedRows
	mixedRows = n
	return func() { mixedRows = was }
}
