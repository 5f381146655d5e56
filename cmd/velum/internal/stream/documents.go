package stream

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/read/clinical"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write"
)

// documents reads and writes FHIR resources, HL7 v2 messages or a CDA document. A document that is not released is
// replaced by the standard's form of a refusal, so that the count stays: an OperationOutcome or a negative
// acknowledgement.
type documents struct {
	feed
	format document.Format
	fields clinical.Fields
	framed atomic.Bool // messages stand between the signs of MLLP
}

func newDocuments(s *shape, format document.Format, in *paced.Reader, head []byte, out io.Writer) (*documents, error) {
	if s.tag {
		return nil, exit.Misconfiguredf("use velum mask - -, or velum run, whose private tree has the spans",
			"velum model tag - - takes no documents of %s", format)
	}
	s.o.Pass, s.o.HasDocuments = s.keep, true
	fields, err := clinical.NewFields(where, s.o)
	if err != nil {
		return nil, exit.Misconfigured(err, "")
	}
	s.fill = input.NewFiller(s.o)
	return &documents{feed: newFeed(s, in, head, out), format: format, fields: fields}, nil
}

// Next implements pipeline.Source.
func (d *documents) Next(b *pipeline.Batch) error {
	d.fill.Begin(b, d.rows)
	return d.batch(b, math.MaxInt, func(due time.Time) (bool, error) {
		doc, ok, err := d.next(due, d.row(b))
		if ok {
			d.fields.Take(doc)
			d.fill.Row(b, &d.fields, true)
		}
		return ok, err
	})
}

// next returns the next document; false if the input pauses or is at its end.
func (d *documents) next(due time.Time, row int64) (doc []byte, ok bool, err error) {
	for {
		from, end := d.format.Next(d.buf[d.from:], d.ended)
		if end > 0 {
			from, end = d.from+from, d.from+end
			if from > 0 && d.buf[from-1] == '\x0b' {
				d.framed.Store(true)
			}
			d.from = end
			if doc = d.buf[from:end]; len(bytes.TrimSpace(doc)) > 0 {
				return doc, true, nil
			}
			continue
		}
		if d.ended {
			return nil, false, nil
		}
		if ok, err = d.more(due, row); !ok {
			return nil, false, err
		}
	}
}

// Put implements pipeline.Sink: a batch is one write.
func (d *documents) Put(b *pipeline.Batch) error {
	out, masked := d.lines[:0], b.ExtraNamed(input.DocumentColumn)
	if masked == nil || len(masked.Valid) != b.Len() {
		return fmt.Errorf("batch %d has no masked documents; a stage is missing", b.Seq)
	}
	for i := range b.Len() {
		if d.framed.Load() {
			out = append(out, '\x0b')
		}
		if b.Reason[i] == pipeline.Sound && masked.Valid[i] {
			out = append(out, masked.Bytes.At(i)...)
		} else {
			out = d.refused(out, d.id(b, i), b.Reason[i])
		}
		if _, end := d.format.Ext(); !bytes.HasSuffix(out, []byte(end)) {
			out = append(out, end...)
		}
		if d.framed.Load() {
			out = append(out, "\x1c\r"...)
		}
	}
	return d.send(out)
}

// refused returns the replacement for a document that is not released.
func (d *documents) refused(dst, id []byte, r pipeline.Reason) []byte {
	if r == pipeline.SurvivingValue {
		id = nil // which may be what survived
	}
	switch d.format {
	case document.FHIR:
		dst = append(dst, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"suppressed","diagnostics":"`+r.String()+`"`...)
		if len(id) > 0 {
			dst = append(write.AppendString(append(dst, `,"details":{"text":`...), id), '}')
		}
		return append(dst, "}]}"...)
	case document.HL7:
		id = bytes.Map(func(c rune) rune {
			if c == '|' || c == '^' || c == '~' || c == '\\' || c == '&' {
				return '_'
			}
			return c
		}, id)
		return fmt.Appendf(dst, "MSH|^~\\&|||||||ACK|%s|P|2.5\rMSA|AR|%s|%v\r", id, id, r)
	}
	// The one document of CDA is the whole output.
	d.err = exit.Errorf(exit.Quarantined, "velum run keeps it in quarantine, for people to look at", "%s: the document does not leave: %v",
		where, r)
	return dst
}
