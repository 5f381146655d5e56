package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
)

// JSONL reads one JSON object a line, or the objects of one JSON array:
//
//	{"id":"7|1|2","text":"...","spans":[{"start":0,"end":3,"label":"PERSON","source":"gold","score":1}]}
//
// It takes what Doccano exports too ("label" or "labels": [[0,3,"PERSON"]], or "entities" with start_offset and end_offset).
// A note without id has the number of its row, from 1. Offsets count Options.Unit.
type JSONL struct {
	intake
	in     *stream
	array  bool // the file is one array
	value  []byte
	fields object
	text   []byte // of the current note
	labels []label
}

// NewJSONL opens a file.
func NewJSONL(path string, o Options) (*JSONL, error) {
	r := &JSONL{intake: newIntake(path, o)}
	in, err := r.openFile()
	if err != nil {
		return nil, err
	}
	r.in = in
	for {
		c, err := in.r.ReadByte()
		if err != nil {
			return r, nil // empty: Next says so
		}
		in.at++
		switch c {
		case '\n':
			in.line++
		case ' ', '\t', '\r':
		case '[':
			r.array = true
			in.line++
			return r, nil
		default:
			in.at--
			return r, in.r.UnreadByte()
		}
	}
}

// Close closes the file.
func (j *JSONL) Close() error { return j.in.Close() }

// Next implements pipeline.Source.
func (j *JSONL) Next(b *pipeline.Batch) error {
	return j.fill(b, func() error {
		value, line, err := j.Object()
		if err != nil || len(bytes.TrimSpace(value)) == 0 {
			return err
		}
		return j.note(b, value, line)
	})
}

// Object returns the next object and the line on which it begins.
func (j *JSONL) Object() ([]byte, int, error) {
	if j.array {
		return j.element()
	}
	value, err := j.in.next()
	return value, j.in.line, err
}

// element cuts the next element out of an array: up to the comma or bracket
// that is in no string and no deeper value.
func (j *JSONL) element() ([]byte, int, error) {
	const remedy = "end the array with ]"
	j.value = j.value[:0]
	line, depth, quoted, escaped := j.in.line, 0, false, false
	for {
		c, err := j.in.r.ReadByte()
		if err == io.EOF {
			return nil, 0, j.wrong(place{j.in.line, 0}, "the file ends inside a JSON array", remedy)
		}
		if err != nil {
			return nil, 0, err
		}
		switch {
		case c == '\n':
			j.in.line++
			if len(j.value) == 0 {
				line = j.in.line
				continue
			}
		case quoted:
			quoted = escaped || c != '"'
			escaped = c == '\\' && !escaped
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case depth == 0 && c == ']':
			return j.value, line, j.endArray()
		case c == '}' || c == ']':
			depth--
		case depth == 0 && c == ',':
			return j.value, line, nil
		}
		if j.value = append(j.value, c); len(j.value) > maxLine {
			return nil, 0, j.wrong(place{line, 0}, "value of more than 128 MiB", "leave it out: it is no note")
		}
	}
}

// endArray makes the next call end; text behind the array is an error.
func (j *JSONL) endArray() error {
	j.array = false
	for {
		c, err := j.in.r.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '\n' {
			j.in.line++
			continue
		}
		if c != ' ' && c != '\t' && c != '\r' {
			return j.wrong(place{j.in.line, 0}, "text behind the end of the JSON array", "write one array, or one object a line")
		}
	}
}

func (j *JSONL) note(b *pipeline.Batch, value []byte, line int) error {
	fields := &j.fields
	if err := fields.parse(value); err != nil {
		return j.aside(b, j.broken(err, value, line))
	}
	rawID, rawText := fields.get(cmp.Or(j.o.IDColumn, "id")), fields.get(j.o.TextColumn)
	if rawID == nil && j.o.IDColumn == "" {
		rawID = fields.get("note_id") // what `velum run` calls it
	}
	if id, text := fields.get("id"), fields.get("text"); (rawText == nil || rawID == nil) && text != nil && id != nil &&
		fields.get("spans") != nil {
		rawID, rawText = id, text // what velum wrote of a file with other names: questions of learn, their answers
	}
	if fields.get("annotations") != nil {
		return j.wrong(place{line, 0}, "a task of Label Studio", "write its labels as "+spanForms)
	}
	id, null, err := j.id(rawID, line)
	if err != nil {
		return j.aside(b, err)
	}
	if rawText == nil {
		return j.wrong(place{line, 0}, "object without "+j.o.TextColumn, input.MissingRemedy(j.o.TextColumn, input.NameText, fields.names()))
	}
	if string(rawText) == "null" {
		j.addUnread(b, id, pipeline.NullText)
		return nil
	}
	if rawText[0] != '"' {
		return j.aside(b, j.wrong(place{line, 0}, j.o.TextColumn+" is not a string", "write the text as a JSON string"))
	}
	j.text = appendUnquoted(j.text[:0], rawText)
	reason := j.check(j.text)
	if reason == pipeline.Sound && null {
		reason = pipeline.NullID
	}
	j.labels = j.labels[:0]
	if err = j.spansOf(line); err != nil {
		return err
	}
	return j.addAs(b, reason, id, j.text, j.labels, j.o.Unit)
}

// id reads a string or a number; a note without has the number of its row.
func (i *intake) id(raw json.RawMessage, line int) (id []byte, null bool, err error) {
	switch {
	case raw == nil:
		return strconv.AppendInt(nil, i.row+1, 10), false, nil
	case string(raw) == "null":
		return nil, true, nil
	case raw[0] == '"':
		id = appendUnquoted(nil, raw)
		return id, len(id) == 0, nil
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return raw, false, nil
	}
	return nil, false, i.wrong(place{line, 0}, cmp.Or(i.o.IDColumn, "id")+" is neither a string nor a number", "write the id as a JSON string")
}

// spansOf fills labels from whichever field holds spans.
func (j *JSONL) spansOf(line int) (err error) {
	for _, name := range [...]string{j.o.SpansColumn, "label", "labels", "entities"} {
		if raw := j.fields.get(name); raw != nil && string(raw) != "null" {
			j.labels, err = j.spanList(j.labels, raw, place{line, 0})
			return err
		}
	}
	return nil
}

// jsonSpan is a span in either of the spellings that we read.
type jsonSpan struct {
	Start       *int     `json:"start"`
	End         *int     `json:"end"`
	StartOffset *int     `json:"start_offset"`
	EndOffset   *int     `json:"end_offset"`
	Label       *string  `json:"label"`
	Source      *string  `json:"source"`
	Score       *float32 `json:"score"`
}

// spanForms are how a list of spans is written.
const spanForms = `[{"start":0,"end":3,"label":"PERSON"}] or [[0,3,"PERSON"]]`

// spanList reads a list of objects, or of lists [start, end, label].
func (i *intake) spanList(dst []label, raw []byte, at place) ([]label, error) {
	const remedy = "write " + spanForms
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return dst, i.wrong(at, "spans are not a list", remedy)
	}
	for _, item := range items {
		var s jsonSpan
		if item[0] == '[' {
			if !s.triple(item) {
				return dst, i.wrong(at, "span is not a list of start, end and label", remedy)
			}
		} else if json.Unmarshal(item, &s) != nil {
			return dst, i.wrong(at, "span is not an object with whole numbers start and end and a string label", remedy)
		}
		l, err := i.spanLabel(&s, at)
		if err != nil {
			return dst, err
		}
		dst = append(dst, l)
	}
	return dst, nil
}

// ParseSpans parses the spans of a text from a JSON field; the result is sorted and disjoint.
func ParseSpans(field, text []byte, unit offset.Unit) ([]pipeline.Span, error) {
	i := newIntake("", Options{})
	labels, err := i.spanList(nil, field, place{})
	if err != nil {
		return nil, err
	}
	i.index.Reset(text, unit)
	err = i.convert(text, labels)
	return i.disjoint(i.spans), err
}

// triple reads [start, end, label].
func (s *jsonSpan) triple(item []byte) bool {
	var parts []json.RawMessage
	if json.Unmarshal(item, &parts) != nil || len(parts) != 3 {
		return false
	}
	return json.Unmarshal(parts[0], &s.Start) == nil && json.Unmarshal(parts[1], &s.End) == nil && json.Unmarshal(parts[2], &s.Label) == nil
}

func (i *intake) spanLabel(s *jsonSpan, at place) (label, error) {
	const remedy = "each span needs start, end and label"
	l := label{score: 1, source: pipeline.FromGold, at: at}
	start, end := cmp.Or(s.Start, s.StartOffset), cmp.Or(s.End, s.EndOffset)
	if start == nil || end == nil {
		return l, i.wrong(at, "span without start or end", remedy)
	}
	l.start, l.end = *start, *end
	if s.Label == nil {
		return l, i.wrong(at, "span without label", remedy)
	}
	if s.Score != nil {
		l.score = *s.Score
	}
	if s.Source != nil {
		source, ok := pipeline.ParseSpanSource(*s.Source)
		if !ok {
			return l, i.wrong(at, "span of an unknown source", "known sources: model, pattern, repeat, list, gold")
		}
		l.source = source
	}
	var err error
	l.category, err = i.category([]byte(*s.Label), at)
	return l, err
}

// broken returns an error with the place of a value that is no JSON object. The decoder's own message is not used,
// because it quotes the value.
func (j *JSONL) broken(err error, value []byte, line int) *input.Error {
	const remedy = "write one JSON object a line"
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := value[:min(max(int(syntax.Offset)-1, 0), len(value))]
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return j.wrong(place{line + bytes.Count(before, []byte("\n")), column}, "not JSON", remedy)
	}
	return j.wrong(place{line, 1}, "not a JSON object", remedy)
}
