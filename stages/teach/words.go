package teach

import (
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// Words is a sink that passes the tokens of valid notes to Note, for learning from notes without labels. It is the sink
// of `velum teach embed`.
type Words struct {
	// Note is called with a note and a number for its patient: a hash of the column patient_id, or 0 without one.
	Note    func(text []byte, tokens []pipeline.Token, patient uint64) error
	Notes   int64
	Skipped int64 // notes with a reason for quarantine

	placed view.Placed
}

// Put passes the notes of b to Note.
func (w *Words) Put(b *pipeline.Batch) error {
	var patients *pipeline.Column
	for i := range b.Extra {
		if b.Extra[i].Name == "patient_id" {
			patients = &b.Extra[i]
		}
	}
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			w.Skipped++
			continue
		}
		w.Notes++
		text, from := b.Seen(i)
		if err := w.Note(text, w.placed.Tokens(from, b.Tokens.At(i)), patientOf(patients, i)); err != nil {
			return err
		}
	}
	return nil
}

func patientOf(c *pipeline.Column, i int) uint64 {
	switch {
	case c == nil || !c.Valid[i]:
		return 0
	case c.Kind == pipeline.BytesColumn:
		return xxh3.Hash(c.Bytes.At(i)) | 1
	}
	return c.Fixed[i]<<1 | 1
}
