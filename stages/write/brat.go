package write

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// Brat writes a folder of brat standoff files: name.txt and name.ann for each note, where name is its id and may have
// slashes (see package filename for invalid characters). Every note gets an .ann file, even if empty, because brat does
// not show a text without one. Offsets count code points. Texts are written byte for byte.
type Brat struct {
	o TextOptions
	folder
	index offset.Index
	ann   []byte
}

// NewBrat creates the folder if it does not exist.
func NewBrat(dir string, o TextOptions) (*Brat, error) {
	o = o.withDefaults()
	f, err := newFolder(dir, o.Mode)
	if err != nil {
		return nil, err
	}
	return &Brat{o: o, folder: f}, nil
}

// Put implements pipeline.Sink.
func (w *Brat) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if err := w.note(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (w *Brat) note(b *pipeline.Batch, i int) error {
	if reason(b, i) == pipeline.BadRow {
		w.skipped++
		return nil
	}
	id, text := b.ID.At(i), b.Text.At(i)
	if err := w.folder.claim(id); err != nil {
		return err
	}
	w.ann = w.ann[:0]
	if reason(b, i) != pipeline.BadEncoding { // its spans count nothing that brat could count
		if err := w.standoff(id, text, w.o.spans(b, i)); err != nil {
			return err
		}
	}
	if !w.o.NoText {
		if err := w.folder.put(id, ".txt", text); err != nil {
			return err
		}
	}
	return w.folder.put(id, ".ann", w.ann)
}

// standoff writes one line a span:
//
//	T1<TAB>LABEL 0 4<TAB>text
func (w *Brat) standoff(id, text []byte, spans []pipeline.Span) error {
	if len(spans) == 0 {
		return nil
	}
	w.index.Reset(text, offset.CodePoints)
	for k, s := range spans {
		start, end, err := offsets(&w.index, id, s)
		if err != nil {
			return err
		}
		w.ann = fmt.Appendf(w.ann, "T%d\t%s %d %d\t", k+1, s.Category, start, end)
		w.ann = appendLine(w.ann, text[s.Start:s.End])
		w.ann = append(w.ann, '\n')
	}
	return nil
}

// appendLine appends text with every line end and tab as a space, as brat
// writes it: the reference must stay on its line and in its field. Code points
// stay as many as they were.
func appendLine(dst, text []byte) []byte {
	for len(text) > 0 {
		k := bytes.IndexAny(text, "\n\r\t\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if k < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:k]...), ' ')
		_, size := utf8.DecodeRune(text[k:])
		text = text[k+size:]
	}
	return dst
}
