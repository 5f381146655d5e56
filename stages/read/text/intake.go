// Package text reads notes and corpora in text formats and in Parquet with spans: CSV, JSONL, brat, i2b2, plain text.
// Each reader is a pipeline.Source with spans as Gold. A format error is an *input.Error.
package text

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
)

// Options holds the options of the readers of labelled notes. The zero value works.
type Options struct {
	Notes   int // notes a batch; 0 means 1024
	Bytes   int // text after which a batch is full; 0 means 8 MiB
	MaxText int // bytes of a note above which it is TooLong; 0 means 64 MiB, a file of that size is no note

	// Category finds the category of a label; nil means pipeline.ParseCategory.
	// A label that it maps to pipeline.None is left out.
	Category func(label string) (pipeline.Category, error)
	// SkipUnknown leaves spans of unknown labels out and counts them. Without
	// it they are an error: evaluation against half a gold set is worse than
	// none.
	SkipUnknown bool

	// SetAside is called for each row of JSONL or CSV that breaks its format; the row becomes a note without text, with
	// the reason BadRow. nil: reading ends with an error at such a row.
	SetAside func(error)

	Unit offset.Unit // what offsets count in JSONL and CSV; the other formats fix it

	TextDir string // brat: the folder of the .txt files, when it is not that of the .ann files

	Encoding input.Encoding // of text files; i2b2 says its own, in the XML

	Comma       rune   // CSV: delimiter; 0 means the commonest of , ; tab and | in the header
	IDColumn    string // CSV header, JSONL field; "" means id, or note_id where there is no id
	TextColumn  string // CSV header, JSONL field; "" means text
	SpansColumn string // CSV header, JSONL field; "" means spans
}

func (o Options) WithDefaults() Options {
	o.Notes = cmp.Or(o.Notes, 1024)
	o.Bytes = cmp.Or(o.Bytes, 8<<20)
	o.MaxText = cmp.Or(o.MaxText, 64<<20)
	if o.Category == nil {
		o.Category = pipeline.ParseCategory
	}
	o.TextColumn = cmp.Or(o.TextColumn, "text")
	o.SpansColumn = cmp.Or(o.SpansColumn, "spans")
	return o
}

// maxLine is the largest line, JSON value or row of a table: one note and its
// columns. A sparse file of 10 GB is a line of zeros, and buffers that grow hold
// four times their text.
const maxLine = 128 << 20

// Warnings counts what a reader has skipped or changed.
type Warnings struct {
	Discontinuous int64 `json:"discontinuous,omitempty"`  // spans in several pieces, joined to their hull
	Overlapping   int64 `json:"overlapping,omitempty"`    // spans cut or left out since another covers their text
	Empty         int64 `json:"empty,omitempty"`          // spans without text, left out
	Unknown       int64 `json:"unknown,omitempty"`        // spans of unknown labels, left out (SkipUnknown)
	Ignored       int64 `json:"ignored,omitempty"`        // lines, elements or files that hold no span
	Mismatched    int64 `json:"mismatched,omitempty"`     // spans whose own copy of the text differs: wrong offsets?
	NoAnnotation  int64 `json:"no_annotations,omitempty"` // .txt files without .ann
	NoText        int64 `json:"no_text,omitempty"`        // .ann files without .txt, left out

	Encoding string `json:"encoding,omitempty"` // of the file, or of the last one that was not UTF-8
}

// place is a line and a column of an input file, both from 1.
type place struct{ line, column int }

// label is a span as a file has it: offsets in the file's unit.
type label struct {
	start, end int
	category   pipeline.Category
	score      float32
	source     pipeline.SpanSource
	words      []byte // the file's own copy of the text, if it has one
	at         place
}

// intake puts notes into batches: it checks texts, finds categories and turns
// labels into spans. Every reader has one.
type intake struct {
	o        Options
	path     string
	encoding input.Encoding // of the current file
	warnings Warnings
	row      int64 // notes so far
	index    offset.Index
	spans    []pipeline.Span
}

func newIntake(path string, o Options) intake {
	return intake{o: o.WithDefaults(), path: path}
}

// Warnings returns the counts so far.
func (i *intake) Warnings() Warnings { return i.warnings }

// fill fills b, empty so far, with the notes that next adds.
func (i *intake) fill(b *pipeline.Batch, next func() error) error {
	b.First = i.row
	o := input.Options{BatchNotes: i.o.Notes, BatchBytes: i.o.Bytes}
	return input.Fill(b, o.Full, next)
}

func (i *intake) wrong(at place, cause, remedy string) *input.Error {
	return &input.Error{Path: i.path, Line: at.line, Column: at.column, Cause: cause, Remedy: remedy}
}

// category finds the category of a label; None means that its span is left out.
func (i *intake) category(name []byte, at place) (pipeline.Category, error) {
	c, err := i.o.Category(string(name))
	if err == nil {
		return c, nil
	}
	if i.o.SkipUnknown {
		i.warnings.Unknown++
		return pipeline.None, nil
	}
	return pipeline.None,
		i.wrong(at, "unknown label"+labelled(name),
			"map it with --map LABEL=CATEGORY (NONE leaves it out), give a file of your own labels with --own-labels, or leave all unknown ones out with --skip-unknown")
}

// labelled returns a label for use in an error. A label that does not look like one is not shown: in a broken file it
// may be text of a note.
func labelled(name []byte) string {
	if len(name) == 0 || len(name) > 40 {
		return ""
	}
	for _, c := range name {
		if c >= utf8.RuneSelf || !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return ""
		}
	}
	return " " + string(name)
}

// add appends a note. A note that cannot be vouched for keeps its text and
// gets a reason; it has no gold, since offsets into it mean nothing.
func (i *intake) add(b *pipeline.Batch, id, text []byte, labels []label, unit offset.Unit) error {
	return i.addAs(b, i.check(text), id, text, labels, unit)
}

// addAs is add for a note whose reason is known.
func (i *intake) addAs(b *pipeline.Batch, reason pipeline.Reason, id, text []byte, labels []label, unit offset.Unit) error {
	if len(b.Text.Data)+len(text) > math.MaxInt32 {
		return i.wrong(place{}, "more than 2 GiB of text in one batch", "read fewer notes a batch")
	}
	i.spans = i.spans[:0]
	if unit == offset.Bytes && i.encoding.OneByte() {
		unit = offset.CodePoints // the file's bytes were its characters
	}
	if reason != pipeline.BadEncoding {
		i.index.Reset(text, unit)
		if err := i.convert(text, labels); err != nil {
			return err
		}
	}
	i.spans = i.disjoint(i.spans)
	b.ID.Append(id)
	b.Text.Append(text)
	b.Gold.Append(i.spans...)
	b.Reason = append(b.Reason, reason)
	i.row++
	return nil
}

// addUnread appends a note that has no text, for the reason given.
func (i *intake) addUnread(b *pipeline.Batch, id []byte, r pipeline.Reason) {
	b.ID.Append(id)
	b.Text.End()
	b.Gold.End()
	b.Reason = append(b.Reason, r)
	i.row++
}

// aside turns a row with a broken format into a quarantined note, or returns the error.
func (i *intake) aside(b *pipeline.Batch, err error) error {
	broken, ok := errors.AsType[*input.Error](err)
	if !ok || i.o.SetAside == nil {
		return err
	}
	i.o.SetAside(broken)
	i.addUnread(b, nil, pipeline.BadRow)
	return nil
}

func (i *intake) check(text []byte) pipeline.Reason {
	switch {
	case len(text) > i.o.MaxText:
		return pipeline.TooLong
	case !utf8.Valid(text):
		return pipeline.BadEncoding
	case i.encoding.Wide() && bytes.Contains(text, []byte("\ufffd")):
		return pipeline.BadEncoding // the decoder puts it where half a pair stood
	case bytes.IndexByte(text, 0) >= 0:
		return pipeline.ControlText
	}
	return pipeline.Sound
}

// convert turns labels into spans with offsets in bytes.
func (i *intake) convert(text []byte, labels []label) error {
	for _, l := range labels {
		if l.category == pipeline.None {
			continue
		}
		if l.start > l.end {
			return i.wrong(l.at, "span ends before it starts", "correct its offsets")
		}
		if l.start == l.end {
			i.warnings.Empty++
			continue
		}
		start, ok1 := i.index.ToByte(l.start)
		end, ok2 := i.index.ToByte(l.end)
		if !ok1 || !ok2 {
			cause := fmt.Sprintf("span outside the text of %d units, or it starts or ends inside a character", i.index.Len())
			return i.wrong(l.at, cause, "check whether the offsets count bytes, code points or UTF-16 units")
		}
		if len(l.words) > 0 && !sameWords(l.words, text[start:end]) {
			i.warnings.Mismatched++
		}
		i.spans = append(i.spans, pipeline.Span{
			Start: int32(start), End: int32(end), Category: l.category, Score: l.score, Source: l.source,
		})
	}
	return nil
}

// sameWords reports whether two texts differ in white space only: brat and XML write line ends as spaces.
func sameWords(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(bytes.Join(bytes.Fields(a), nil), bytes.Join(bytes.Fields(b), nil))
}

// disjoint sorts spans and cuts what an earlier one covers, so that the
// hidden text stays the same and each byte has one category: that of the span
// that starts first, of two of these the longer.
func (i *intake) disjoint(spans []pipeline.Span) []pipeline.Span {
	slices.SortFunc(spans, func(a, b pipeline.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Category, b.Category))
	})
	kept, end := spans[:0], int32(0)
	for _, s := range spans {
		if s.Start < end {
			i.warnings.Overlapping++
			s.Start = end
		}
		if s.Start < s.End {
			kept = append(kept, s)
			end = s.End
		}
	}
	return kept
}

// list returns the paths of files below dir with that extension, without it,
// in lexical order. Hidden files and folders belong to other programs.
func (i *intake) list(dir, ext string) ([]string, error) {
	root, err := filepath.EvalSymlinks(dir) // WalkDir does not enter a link
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &input.Error{Path: dir, Cause: "not a folder", Remedy: "give the folder that holds the " + ext + " files"}
	}
	var ids []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || filepath.Ext(path) != ext {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return fmt.Errorf("%s: file outside the folder", dir)
		}
		ids = append(ids, strings.TrimSuffix(filepath.ToSlash(rel), ext))
		return nil
	})
	return ids, err
}

// readWhole reads a file that holds one note or its labels.
func readWhole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > input.MaxInput {
		return nil, &input.Error{Path: path, Cause: "file of more than 1 GiB", Remedy: "leave it out: it is no note"}
	}
	return os.ReadFile(path)
}

// readText is readWhole for a file whose encoding is that of the options.
// UTF-8 comes back as it is, byte order mark included: offsets count it.
func (i *intake) readText(path string) ([]byte, error) {
	data, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	return i.decodeText(data)
}

// decodeText returns the content of a file in UTF-8.
func (i *intake) decodeText(data []byte) (_ []byte, err error) {
	e := i.o.Encoding
	if e == input.DetectEncoding {
		if e, err = input.Detect(bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	i.written(e)
	if e == input.UTF8 {
		return data, nil
	}
	return io.ReadAll(e.Decoder(bytes.NewReader(data)))
}

// WholeNote returns the text of a file that is a single note, and the reason to quarantine it, if any. A file of more
// than most bytes is returned without its text.
func WholeNote(data []byte, e input.Encoding, most int) ([]byte, pipeline.Reason, error) {
	in := newIntake("", Options{Encoding: e})
	text, err := in.decodeText(data)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > most {
		return nil, pipeline.TooLong, err
	}
	return text, in.check(text), err
}

// number reads a decimal number without sign. strconv's errors quote their
// input.
func number(digits []byte) (int, bool) {
	if len(digits) == 0 || len(digits) > 10 {
		return 0, false
	}
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// Add adds the warnings of another file.
func (w *Warnings) Add(o Warnings) {
	to, from := reflect.ValueOf(w).Elem(), reflect.ValueOf(o)
	for i := range to.NumField() {
		if f := to.Field(i); f.CanInt() {
			f.SetInt(f.Int() + from.Field(i).Int())
		}
	}
	if o.Encoding != "" {
		w.Encoding = o.Encoding
	}
}
