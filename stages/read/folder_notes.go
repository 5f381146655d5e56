package read

import (
	"io"

	"github.com/velum-health/velum/pipeline"
)

// folderNotes is what formats of one file a note, or two, have in common.
type folderNotes struct {
	intake
	ids  []string                                 // of the notes, in the order of reading
	note func(b *pipeline.Batch, id string) error // reads one and adds it
}

// Close does nothing: no file stays open between notes.
func (r *folderNotes) Close() error { return nil }

// Len returns the number of notes.
func (r *folderNotes) Len() int { return len(r.ids) }

// Next implements pipeline.Source.
func (r *folderNotes) Next(b *pipeline.Batch) error {
	r.start(b)
	for int(r.row) < len(r.ids) && !r.full(b) {
		if err := r.note(b, r.ids[r.row]); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}
