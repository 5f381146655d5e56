package write

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// jsonl writes one JSON object a line:
//
//	{"id":"7|1|2","text":"...","spans":[{"start":0,"end":3,"label":"PERSON","source":"gold","score":1}]}
//
// Offsets count TextOptions.Unit. A note without text has null; notes that
// are not UTF-8 or have no id are left out and counted.
type jsonl struct {
	notes
	*lineFile
	line []byte
	keys [3]string // with what stands before and behind them
}

// newJSONL creates a temporary file; Close renames it.
func newJSONL(path string, o TextOptions) (Text, error) {
	o = o.withDefaults()
	out, err := newLineFile(path, o.Mode)
	if err != nil {
		return nil, err
	}
	w := &jsonl{notes: notes{o: o, takes: isTextOrNull}, lineFile: out}
	w.put = w.note
	for k, name := range []string{o.IDColumn, o.TextColumn, o.SpansColumn} {
		w.keys[k] = fmt.Sprintf("%c%s:", "{,,"[k], AppendString(nil, []byte(name)))
	}
	return w, nil
}

func (w *jsonl) note(b *pipeline.Batch, i int) (err error) {
	w.line = AppendString(append(w.line[:0], w.keys[0]...), b.ID.At(i))
	w.line = append(w.line, w.keys[1]...)
	if isNull(b, i) {
		w.line = append(w.line, "null"...)
	} else {
		w.line = AppendString(w.line, b.Text.At(i))
	}
	w.line = append(w.line, w.keys[2]...)
	if w.line, err = AppendSpans(w.line, &w.index, b.ID.At(i), b.Text.At(i), w.o.spans(b, i), w.o.Unit); err != nil {
		return err
	}
	_, err = w.Write(append(w.line, "}\n"...))
	return err
}

// AppendSpans appends a JSON list of spans.
func AppendSpans(dst []byte, x *offset.Index, id, text []byte, spans []pipeline.Span, unit offset.Unit) ([]byte, error) {
	dst = append(dst, '[')
	if len(spans) > 0 {
		x.Reset(text, unit)
	}
	for k, s := range spans {
		start, end, err := offsets(x, id, s)
		if err != nil {
			return dst, err
		}
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"start":%d,"end":%d,"label":`, start, end)
		dst = AppendString(dst, []byte(s.Category.String()))
		dst = fmt.Appendf(dst, `,"source":"%s"`, s.Source)
		if s.Score >= 0 && s.Score <= 1 { // JSON has no NaN
			dst = append(dst, `,"score":`...)
			dst = strconv.AppendFloat(dst, float64(s.Score), 'f', -1, 32)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}

// AppendString appends a JSON string. Besides what JSON demands it escapes
// U+0085, U+2028 and U+2029, at which some programs end a line.
func AppendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(s) > 0 {
		c := s[0]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ' || c == 0x7F:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRune(s)
			switch r {
			case 0x85:
				dst = append(dst, `\u0085`...)
			case 0x2028:
				dst = append(dst, `\u2028`...)
			case 0x2029:
				dst = append(dst, `\u2029`...)
			default:
				dst = append(dst, s[:size]...)
			}
			s = s[size:]
			continue
		}
		s = s[1:]
	}
	return append(dst, '"')
}
