package write

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/filename"
	"github.com/velum-health/velum/pipeline/offset"
)

// brat writes a folder of brat standoff files: name.txt and name.ann for each note, where name is its id and may have
// slashes (see package filename for invalid characters). Every note gets an .ann file, even if empty, because brat does
// not show a text without one. Offsets count code points. Texts are written byte for byte.
type brat struct {
	notes
	root string
	done map[string]bool // ids written in this run, see key
	ann  []byte
}

// newBrat creates the folder if it does not exist.
func newBrat(dir string, o TextOptions) (Text, error) {
	w := &brat{notes: notes{o: o.withDefaults()}, root: dir, done: map[string]bool{}}
	w.takes = func(b *pipeline.Batch, i int) bool { return reason(b, i) != pipeline.BadRow }
	w.put = w.note
	return w, os.MkdirAll(dir, folderMode(w.o.Mode))
}

// Close does nothing: every file is whole and in place.
func (w *brat) Close() error { return nil }

// Abort does nothing, for the same reason.
func (w *brat) Abort() {}

func (w *brat) note(b *pipeline.Batch, i int) error {
	id, text := b.ID.At(i), b.Text.At(i)
	if err := w.claim(string(id)); err != nil {
		return err
	}
	w.ann = w.ann[:0]
	if reason(b, i) != pipeline.BadEncoding { // its spans count nothing that brat could count
		if err := w.standoff(id, text, w.o.spans(b, i)); err != nil {
			return err
		}
	}
	if !w.o.NoText {
		if err := w.file(string(id), ".txt", text); err != nil {
			return err
		}
	}
	return w.file(string(id), ".ann", w.ann)
}

// key is the same for all ids of which one file would overwrite the other on some system: macOS and Windows do not tell "a"
// from "A", and macOS not an accent apart from its letter.
func key(id string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(id))) }

// folderMode lets those who may read the files enter the folder.
func folderMode(file os.FileMode) os.FileMode { return 0o700 | file&0o044 | file&0o044>>2 }

// claim checks that id is a safe path below the root that no note had before.
func (w *brat) claim(id string) error {
	if !safe(id) {
		return noteError(fmt.Sprintf("%q", id), "its id is no safe file name", "rename the note or write JSONL, CSV or Parquet")
	}
	if w.done[key(id)] {
		return noteError(id, "a second note with this id, or one that differs in case or in how accents are written, would overwrite the first", "make ids unique or write JSONL, CSV or Parquet")
	}
	w.done[key(id)] = true
	return nil
}

// safe tells whether an id can be a path below a folder on every system: it is
// relative, has no empty, dot or hidden part, no backslash and no control
// character.
func safe(id string) bool {
	return fs.ValidPath(id) && !strings.Contains("/"+id, "/.") &&
		!strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7F || r == '\\' || r == utf8.RuneError })
}

// file writes one file of a note beside its place and renames it, so that no reader ever sees half of one.
func (w *brat) file(id, ext string, data []byte) error {
	path := filepath.Join(w.root, filename.Of(id)+ext)
	if strings.Contains(id, "/") {
		if err := os.MkdirAll(filepath.Dir(path), folderMode(w.o.Mode)); err != nil {
			return err
		}
	}
	return putFile(path, w.o.Mode, data)
}

// standoff writes one line a span:
//
//	T1<TAB>LABEL 0 4<TAB>text
func (w *brat) standoff(id, text []byte, spans []pipeline.Span) error {
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
