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
	f.start(b)
	for int(f.row) < len(f.ids) && !f.full(b) {
		if err := f.note(b, f.ids[f.row]); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}
