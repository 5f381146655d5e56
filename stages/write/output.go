package write

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/filename"
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

// unwritable tells whether a note cannot stand in a file of UTF-8 text.
func unwritable(b *pipeline.Batch, i int) bool {
	r := reason(b, i)
	return r == pipeline.NullText || r == pipeline.NullID || r == pipeline.BadRow || !utf8.Valid(b.Text.At(i)) || !utf8.Valid(b.ID.At(i))
}

// A NoteError says which note cannot be written, why, and what to do. It
// holds no text of the note.
type noteError struct {
	ID     string
	Cause  string
	Remedy string
}

func (e *noteError) Error() string { return fmt.Sprintf("note %s: %s; %s", e.ID, e.Cause, e.Remedy) }

// offsets returns both ends of a span in the unit of x.
func offsets(x *offset.Index, id []byte, s pipeline.Span) (start, end int, err error) {
	start, ok1 := x.FromByte(int(s.Start))
	end, ok2 := x.FromByte(int(s.End))
	if !ok1 || !ok2 || start > end {
		cause := fmt.Sprintf("span %d-%d lies outside the text or cuts a character", s.Start, s.End)
		return 0, 0, &noteError{ID: string(id), Cause: cause, Remedy: "report it: no stage may make such a span"}
	}
	return start, end, nil
}

// leftOut counts the notes that a format cannot hold.
type leftOut struct{ skipped int }

// Skipped returns the number of notes that were left out.
func (l *leftOut) Skipped() int { return l.skipped }

// folder writes one file a note below a folder, each beside its place and
// then renamed, so that no reader ever sees half a file.
type folder struct {
	leftOut
	root string
	mode os.FileMode
	done map[string]bool // ids written in this run
}

func newFolder(root string, mode os.FileMode) (folder, error) {
	return folder{root: root, mode: mode, done: map[string]bool{}}, os.MkdirAll(root, folderMode(mode))
}

// Close does nothing: every file is whole and in place.
func (f *folder) Close() error { return nil }

// Abort does nothing, for the same reason.
func (f *folder) Abort() {}

// key is the same for all ids of which one file would overwrite the other on some system: macOS and Windows do not tell "a"
// from "A", and macOS not an accent apart from its letter.
func key(id string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(id))) }

// folderMode lets those who may read the files enter the folder.
func folderMode(file os.FileMode) os.FileMode { return 0o700 | file&0o044 | file&0o044>>2 }

// claim checks that id is a safe path below the root that no note had before.
func (f *folder) claim(id []byte) error {
	name := string(id)
	if !safe(name) {
		return &noteError{ID: fmt.Sprintf("%q", name), Cause: "its id is no safe file name", Remedy: "rename the note or write JSONL, CSV or Parquet"}
	}
	if f.done[key(name)] {
		return &noteError{ID: name, Cause: "a second note with this id, or one that differs in case or in how accents are written, would overwrite the first", Remedy: "make ids unique or write JSONL, CSV or Parquet"}
	}
	f.done[key(name)] = true
	return nil
}

// safe tells whether an id can be a path below a folder on every system: it is
// relative, has no empty, dot or hidden part, no backslash and no control
// character.
func safe(id string) bool {
	if strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7F || r == '\\' || r == utf8.RuneError }) {
		return false
	}
	for part := range strings.SplitSeq(id, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	return true
}

// put writes one file.
func (f *folder) put(id []byte, ext string, data []byte) error {
	path := filepath.Join(f.root, filename.Of(string(id))+ext)
	if strings.IndexByte(string(id), '/') >= 0 {
		if err := os.MkdirAll(filepath.Dir(path), folderMode(f.mode)); err != nil {
			return err
		}
	}
	return putFile(path, f.mode, data)
}

// putFile writes data beside path and renames it.
func putFile(path string, mode os.FileMode, data []byte) error {
	t, err := newTemp(path, mode)
	if err != nil {
		return err
	}
	if _, err := t.Write(data); err != nil {
		t.discard()
		return err
	}
	return t.commit()
}

// Stdout is the path for standard output, for formats of a single file.
const Stdout = "-"

// temp is a file that takes its name only when it is whole.
type temp struct {
	*os.File
	path string
}

func newTemp(path string, mode os.FileMode) (*temp, error) {
	if path == Stdout {
		return &temp{File: os.Stdout, path: path}, nil
	}
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return nil, err
	}
	return &temp{File: f, path: path}, nil
}

func (t *temp) commit() error {
	if t.path == Stdout {
		return nil
	}
	if err := t.Close(); err != nil {
		os.Remove(t.Name())
		return err
	}
	return os.Rename(t.Name(), t.path)
}

func (t *temp) discard() {
	if t.path == Stdout {
		return
	}
	t.Close()
	os.Remove(t.Name())
}
