package stream

import (
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/omop"
	"github.com/velum-health/velum/stages/write"
)

// notes reads and writes rows of the OMOP table NOTE, one object per line. The output has the columns, the rows of
// NOTE_NLP in note_nlp, and a status.
type notes struct {
	*jsonl
	tables *omop.Tables
}

func newNotes(f *flow.Flow, j *jsonl, velum string) (*notes, error) {
	if j.tag {
		return nil, exit.Misconfiguredf("use velum mask - -", "velum model tag - - has no tables of OMOP")
	}
	o, err := f.OMOP(nil, where, velum)
	return &notes{j, omop.NewTables(o)}, err
}

// Put implements pipeline.Sink: a batch is one write.
func (n *notes) Put(b *pipeline.Batch) error {
	out := n.lines[:0]
	for i := range b.Len() {
		sound := b.Reason[i] == pipeline.Sound
		note, err := n.tables.Note(b, i)
		if err != nil {
			return err
		}
		for k, name := range omop.NoteColumns() {
			if k == 0 {
				out = append(out, `{"note_id":`...)
			} else {
				out = appendKey(out, name)
			}
			if value := note[k]; !sound && (k > 0 || len(n.id(b, i)) == 0) || len(value) == 0 {
				out = append(out, "null"...)
			} else {
				out = appendValue(out, value, name == omop.Text)
			}
		}
		if out = append(out, `,"note_nlp":[`...); sound {
			err = n.tables.EachSpan(b, i, note, func(row []string) error {
				out = appendRow(out, row)
				return nil
			})
			if err != nil {
				return err
			}
		}
		out = append(append(append(out, `],"status":"`...), n.status(b, i)...), "\"}\n"...)
	}
	return n.send(out)
}

// appendRow appends a row of NOTE_NLP.
func appendRow(dst []byte, row []string) []byte {
	if dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	dst = append(dst, '{')
	for k, value := range row {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(write.AppendString(dst, []byte(omop.NLPColumns[k])), ':')
		dst = appendValue(dst, []byte(value), !slices.Contains(numbers, omop.NLPColumns[k]))
	}
	return append(dst, '}')
}

// numbers are the columns of NOTE_NLP that are no text.
var numbers = []string{"note_nlp_id", "note_id", "section_concept_id", "note_nlp_concept_id", "note_nlp_source_concept_id"}

// appendValue appends a value: a number if it is one, and no text.
func appendValue(dst, value []byte, text bool) []byte {
	number := !text && len(value) > 0 && len(value) < 20
	for k, c := range value {
		number = number && c >= '0' && c <= '9' && (c > '0' || k > 0 || len(value) == 1)
	}
	if number {
		return append(dst, value...)
	}
	return write.AppendString(dst, value)
}
