package stream

import (
	"bytes"
	"io"
	"time"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

const (
	flush = 50 * time.Millisecond // after which a batch goes on its way, full or not
	pause = 2 * time.Millisecond  // of the input, after which it goes as well: somebody waits for the answer
	// objects in a batch at the most: the first waits for the last, and a thousand would take a hundred milliseconds
	together = 64
	// of them in the first batch after a pause, and twice as many in each that follows: somebody waits for that answer
	first   = 8
	maxLine = 128 << 20
	keptRaw = "kept" // column of Batch.Extra with what is kept of an object, as the fields that go out
)

// jsonl reads and writes JSON objects, one per line.
type jsonl struct {
	feed
	fields  text.JSONFields
	settled bool
	seen    int // so far there is no end of a line
	most    int // objects in the next batch

	nulls []byte // in place of what is kept of a note that is not sound
	index offset.Index
}

func newJSONL(s *shape, in *paced.Reader, head []byte, out io.Writer) *jsonl {
	j := &jsonl{feed: newFeed(s, in, head, out), fields: text.NewJSONFields(where, s.o), most: first}
	for _, name := range s.keep {
		j.nulls = append(appendKey(j.nulls, name), "null"...)
	}
	return j
}

func (j *jsonl) times() (kept []pipeline.Column) {
	for _, name := range j.keep { // of a field nobody knows what it holds
		kept = append(kept, pipeline.Column{Name: name, Kind: pipeline.BytesColumn})
	}
	return kept
}

// Next implements pipeline.Source.
func (j *jsonl) Next(b *pipeline.Batch) error {
	j.begin(b)
	most := j.most
	j.most = min(2*most, together)
	return j.batch(b, most, func(due time.Time) (bool, error) {
		line, ok, err := j.line(due, j.row(b))
		if !ok {
			j.most = first
		} else if len(bytes.TrimSpace(line)) > 0 {
			err = j.take(b, line)
		}
		return ok, err
	})
}

// begin readies the columns: those of the filler, and behind them what is kept.
func (j *jsonl) begin(b *pipeline.Batch) {
	n := len(b.Extra) - 1
	if n >= 0 && b.Extra[n].Name == keptRaw {
		b.Extra = b.Extra[:n]
	}
	j.fill.Begin(b, j.rows)
	n = len(b.Extra)
	if n < cap(b.Extra) && b.Extra[:n+1][n].Name == keptRaw {
		b.Extra = b.Extra[:n+1] // with its memory
		return
	}
	b.Extra = append(b.Extra, pipeline.Column{Name: keptRaw, Type: "json", Kind: pipeline.BytesColumn})
}

// take puts the object of a line into the batch.
func (j *jsonl) take(b *pipeline.Batch, line []byte) error {
	sound := j.fields.Parse(line)
	if sound && !j.settled {
		var err error
		if sound, err = j.fields.Settle(); err != nil {
			return exit.Misconfigured(err, "")
		}
		j.settled = true
	}
	for _, name := range j.keep {
		sound = sound && utf8.Valid(j.fields.Raw(name))
	}
	row := j.row(b)
	switch {
	case sound:
	case j.ended: // and its last line has no end
		j.err = exit.Errorf(exit.Failed, "write it again: the rows before it went out", where+" ends within row %d", row)
	default:
		j.log.Row(&input.Error{Path: where, Line: int(row), Cause: "not a JSON object of a note", Remedy: "write one JSON object a line"})
	}
	j.fill.Row(b, &j.fields, sound)
	j.given(b, row)
	kept := &b.Extra[len(b.Extra)-1]
	for _, name := range j.keep {
		raw := j.fields.Raw(name)
		if raw == nil {
			raw = []byte("null")
		}
		kept.Bytes.Data = append(appendKey(kept.Bytes.Data, name), raw...)
	}
	kept.Bytes.End()
	return nil
}

// given reads the spans that another program has found in the note of a row. If they do not fit the text, the note is
// held back.
func (j *jsonl) given(b *pipeline.Batch, row int64) {
	i := b.Len() - 1
	if raw := j.fields.Raw(spansColumn); b.Reason[i] == pipeline.Sound && len(raw) > 0 && string(raw) != "null" {
		spans, err := text.ParseSpans(raw, b.Text.At(i), j.unit)
		if err != nil {
			b.Quarantine(i, pipeline.BadTags)
			j.log.Row(&input.Error{Path: where, Line: int(row), Cause: "its spans cannot be those of its text",
				Remedy: `write "spans": [{"start": 0, "end": 3, "label": "PERSON"}]`})
		}
		b.Given.Append(spans...)
		return
	}
	b.Given.End()
}

// line returns the next line, that of row; false if the input pauses or none has come before it is
// due (zero: never), or there is none any more. It is good until the next call.
func (j *jsonl) line(due time.Time, row int64) (line []byte, ok bool, err error) {
	for !j.ended {
		if i := bytes.IndexByte(j.buf[j.seen:], '\n'); i >= 0 {
			line = j.buf[j.from : j.seen+i]
			j.from = j.seen + i + 1
			j.seen = j.from
			return j.whole(line), true, nil
		}
		j.seen = len(j.buf) - j.from
		if ok, err = j.more(due, row); !ok {
			return nil, false, err
		}
	}
	line, j.buf, j.from, j.seen = j.buf[j.from:], nil, 0, 0
	return j.whole(line), len(line) > 0, nil
}

// whole leaves out the byte order mark of the first line.
func (j *jsonl) whole(line []byte) []byte {
	if !j.settled && j.rows == 0 {
		return bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line
}

// Put implements pipeline.Sink: a batch is one write.
func (j *jsonl) Put(b *pipeline.Batch) (err error) {
	out, kept := j.lines[:0], &b.Extra[len(b.Extra)-1]
	for i := range b.Len() {
		sound, id := b.Reason[i] == pipeline.Sound, j.id(b, i)
		out = appendOrNull(append(out, `{"`+idColumn+`":`...), id, len(id) > 0)
		out = appendOrNull(appendKey(out, textColumn), j.text(b, i), sound)
		if j.tag {
			var spans []pipeline.Span
			if sound {
				spans = b.Spans.At(i)
			}
			if out, err = write.AppendSpans(appendKey(out, spansColumn), &j.index, b.ID.At(i), b.Text.At(i), spans, j.unit); err != nil {
				return err
			}
		}
		out = write.AppendString(appendKey(out, statusColumn), []byte(j.status(b, i)))
		if sound && j.heard.Foreign(b.Language[i], b.Words[i]) {
			out = append(out, `,"`+doubtColumn+`":"`+doubtLanguage+`"`...)
		}
		if sound {
			out = append(out, kept.Bytes.At(i)...)
		} else {
			out = append(out, j.nulls...)
		}
		out = append(out, "}\n"...)
	}
	return j.send(out)
}

func appendKey(dst []byte, name string) []byte {
	return append(write.AppendString(append(dst, ','), []byte(name)), ':')
}
