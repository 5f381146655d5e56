package text

import (
	"io"

	"github.com/velum-health/velum/pipeline"
)

// folderNotes holds the state that formats of one file a note, or two, share.
type folderNotes struct {
	intake
	ids  []string                                 // of the notes, in the order of reading
	note func(b *pipeline.Batch, id string) error // reads one and adds it
}

// Close does nothing: no file stays open between notes.
func (f *folderNotes) Close() error { return nil }

// Len returns the number of notes.
func (f *folderNotes) Len() int { return len(f.ids) }

// Next implements pipeline.Source.
func (f *folderNotes) Next(b *pipeline.Batch) error {
	return f.fill(b, func() error {
		if int(f.row) == len(f.ids) {
			return io.EOF
		}
		return f.note(b, f.ids[f.row])
	})
}
