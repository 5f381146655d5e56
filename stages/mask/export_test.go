package mask

// NewNote returns a note that draws under the masker's key.
func (m *Masker) NewNote(n Note) *Note {
	n.stream = m.note.stream
	return &n
}

// NewChain returns a chain of one operator that no table names.
func NewChain(name string, new func() Operator) *Chain {
	return &Chain{text: name, names: []string{name}, news: []func(*Options) Operator{func(*Options) Operator { return new() }}}
}
