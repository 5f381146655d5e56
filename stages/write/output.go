package write

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// TextOptions holds the options of the writers of text formats (brat, JSONL, CSV). The zero value works.
type TextOptions struct {
	Gold bool        // write Batch.Gold, not Batch.Spans
	Unit offset.Unit // what offsets count in JSONL and CSV; the other formats fix it

	NoText bool // brat: .ann files only, beside texts that are elsewhere

	Comma       rune   // CSV: delimiter; 0 means a comma
	IDColumn    string // CSV header, JSONL field; "" means id
	TextColumn  string // CSV header, JSONL field; "" means text
	SpansColumn string // CSV header, JSONL field; "" means spans

	Mode os.FileMode // of new files; 0 means 0600: they hold words of notes
}

func (o TextOptions) withDefaults() TextOptions {
	o.Comma = cmp.Or(o.Comma, ',')
	o.IDColumn = cmp.Or(o.IDColumn, "id")
	o.TextColumn = cmp.Or(o.TextColumn, "text")
	o.SpansColumn = cmp.Or(o.SpansColumn, "spans")
	o.Mode = cmp.Or(o.Mode, 0o600)
	return o
}

// spans returns the spans of note i that are to be written.
func (o *TextOptions) spans(b *pipeline.Batch, i int) []pipeline.Span {
	list := &b.Spans
	if o.Gold {
		list = &b.Gold
	}
	if i >= list.Len() {
		return nil
	}
	return list.At(i)
}

// reason returns why note i is in quarantine; batches that no reader filled
// have no reasons.
func reason(b *pipeline.Batch, i int) pipeline.Reason {
	if i < len(b.Reason) {
		return b.Reason[i]
	}
	return pipeline.Sound
}

// isNull tells whether a note has no text.
func isNull(b *pipeline.Batch, i int) bool { return reason(b, i) == pipeline.NullText }

// isText tells whether a note can stand in a file of UTF-8 text.
func isText(b *pipeline.Batch, i int) bool {
	r := reason(b, i)
	return r != pipeline.NullText && r != pipeline.NullID && r != pipeline.BadRow && utf8.Valid(b.Text.At(i)) && utf8.Valid(b.ID.At(i))
}

// isTextOrNull tells whether a note can stand in a file of UTF-8 text that has null.
func isTextOrNull(b *pipeline.Batch, i int) bool { return isNull(b, i) || isText(b, i) }

// noteError says which note cannot be written, why, and what to do. It
// holds no text of the note.
func noteError(id, cause, remedy string) error {
	return fmt.Errorf("note %s: %s; %s", id, cause, remedy)
}

// offsets returns both ends of a span in the unit of x.
func offsets(x *offset.Index, id []byte, s pipeline.Span) (start, end int, err error) {
	start, ok1 := x.FromByte(int(s.Start))
	end, ok2 := x.FromByte(int(s.End))
	if !ok1 || !ok2 || start > end {
		cause := fmt.Sprintf("span %d-%d lies outside the text or cuts a character", s.Start, s.End)
		return 0, 0, noteError(string(id), cause, "report it: no stage may make such a span")
	}
	return start, end, nil
}

// notes goes over the notes of batches for a format.
type notes struct {
	o       TextOptions
	index   offset.Index
	skipped int
	takes   func(b *pipeline.Batch, i int) bool // whether the format can hold note i
	put     func(b *pipeline.Batch, i int) error
}

// Put implements pipeline.Sink.
func (w *notes) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if !w.takes(b, i) {
			w.skipped++
		} else if err := w.put(b, i); err != nil {
			return err
		}
	}
	return nil
}

// Skipped returns the number of notes that were left out.
func (w *notes) Skipped() int { return w.skipped }

// putFile writes data beside path and renames it.
func putFile(path string, mode os.FileMode, data []byte) error {
	tmp := path + tmpExt
	if err := os.WriteFile(tmp, data, mode); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}

// Stdout is the path for standard output, for formats of a single file.
const Stdout = "-"

// tmpExt is the end of the name of a file that is not whole.
const tmpExt = ".tmp"

// lineFile is a buffered file that takes its name only when it is whole.
type lineFile struct {
	*bufio.Writer
	file *os.File
	path string
	done bool
}

func newLineFile(path string, mode os.FileMode) (*lineFile, error) {
	to := os.Stdout
	if path != Stdout {
		var err error
		if to, err = os.OpenFile(path+tmpExt, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode); err != nil {
			return nil, err
		}
	}
	return &lineFile{Writer: bufio.NewWriterSize(to, 1<<16), file: to, path: path}, nil
}

// Close flushes the file and renames it to its final name.
func (f *lineFile) Close() error {
	if f.done {
		return nil
	}
	if err := f.Flush(); err != nil || f.path == Stdout {
		f.Abort()
		return err
	}
	f.done = true
	if err := f.file.Close(); err != nil {
		os.Remove(f.file.Name())
		return err
	}
	return os.Rename(f.file.Name(), f.path)
}

// Abort removes the unfinished file.
func (f *lineFile) Abort() {
	if !f.done && f.path != Stdout {
		f.file.Close()
		os.Remove(f.file.Name())
	}
	f.done = true
}
