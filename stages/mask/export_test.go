package mask

// NewNote returns a note that draws under the masker's key.
func (m *Masker) NewNote(n Note) *Note {
	n.stream = m.note.stream
	return &n
}
