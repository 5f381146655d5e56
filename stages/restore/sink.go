package restore

import (
	"bytes"
	"fmt"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// Sink writes the masked documents of a unit beside its other parts, one behind the other:
//
//	documents/   resources a line, messages, or the document of CDA
//
// A part is public, and has what the systems take that the documents came from. Its
// documents are those of the rows of the masked part, in their order.
type Sink struct {
	commit.UnitSink
	parts  *commit.Parts
	column string
	part   *commit.Part // nil until the first document is written
}

// NewSink wraps the sink of a unit. column is Options.Column.
func NewSink(unit commit.UnitSink, parts *commit.Parts, column string) *Sink {
	return &Sink{UnitSink: unit, parts: parts, column: column}
}

// Put implements pipeline.Sink. It calls the unit's sink first, which rejects notes that are not sealed.
func (s *Sink) Put(b *pipeline.Batch) error {
	if err := s.UnitSink.Put(b); err != nil {
		return err
	}
	from := b.ExtraNamed(s.column)
	for i, r := range b.Reason {
		if r != pipeline.Sound {
			continue
		}
		if from == nil || len(from.Valid) != b.Len() || !from.Valid[i] {
			return fmt.Errorf("batch %d has no masked document of note %d; a stage is missing", b.Seq, i)
		}
		if err := s.write(from.Bytes.At(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) write(doc []byte) (err error) {
	ext, end := document.Of(doc).Ext()
	if s.part == nil {
		if s.part, err = s.parts.Create("documents", ext, false); err != nil {
			return err
		}
	}
	s.part.Rows++
	if _, err = s.part.Write(doc); err == nil && !bytes.HasSuffix(doc, []byte(end)) {
		_, err = s.part.Write([]byte(end))
	}
	return err
}
