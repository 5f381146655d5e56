package text

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/filename"
	"github.com/velum-health/velum/pipeline/offset"
)

// BratReader reads a folder of brat standoff: for every name.txt a name.ann with
// one line a span, offsets in code points. Folders may be nested; the id of a
// note is its path below the folder without the extension. Texts are kept as
// they are, CRLF and byte order mark included: offsets count them.
type BratReader struct {
	folderNotes
	texts, anns string // folders
	labels      []label
}

// NewBrat lists the notes below dir, in lexical order. A note without .ann
// has no spans.
func NewBrat(dir string, o Options) (*BratReader, error) {
	r := &BratReader{folderNotes: folderNotes{intake: newIntake(dir, o)}, texts: dir, anns: dir}
	r.note = r.readNote
	if o.TextDir != "" {
		r.texts = o.TextDir
	}
	var err error
	if r.ids, err = r.list(r.texts, ".txt"); err != nil {
		return nil, err
	}
	anns, err := r.list(r.anns, ".ann")
	if err != nil {
		return nil, err
	}
	r.warnings.NoText = int64(missing(anns, r.ids))
	r.warnings.NoAnnotation = int64(missing(r.ids, anns))
	return r, nil
}

// missing counts the names that have does not hold.
func missing(names, have []string) int {
	set := make(map[string]bool, len(have))
	for _, n := range have {
		set[n] = true
	}
	n := 0
	for _, name := range names {
		if !set[name] {
			n++
		}
	}
	return n
}

// readNote reads the note whose files have the name id (see package filename).
func (r *BratReader) readNote(b *pipeline.Batch, id string) error {
	r.path = filepath.Join(r.anns, id+".ann")
	ann, err := r.readText(r.path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	text, err := r.readText(filepath.Join(r.texts, id+".txt"))
	if err != nil {
		return err
	}
	if err := r.parse(ann); err != nil {
		return err
	}
	return r.add(b, []byte(filename.ID(id)), text, r.labels, offset.CodePoints)
}

// parse fills labels from the T lines of an .ann file:
//
//	T1<TAB>LABEL 0 4;6 9<TAB>text
func (r *BratReader) parse(ann []byte) error {
	r.labels = r.labels[:0]
	ann = bytes.TrimPrefix(ann, []byte("\ufeff"))
	for n := 1; len(ann) > 0; n++ {
		line, rest, _ := bytes.Cut(ann, []byte("\n"))
		ann = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) == 0:
		case line[0] != 'T':
			r.warnings.Ignored++
		default:
			if err := r.span(line, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *BratReader) span(line []byte, n int) error {
	const remedy = "a span is written T<number>, tab, label, space, start, space, end, tab, text"
	id, rest, ok := bytes.Cut(line, []byte("\t"))
	if !ok {
		return r.wrong(place{n, len(line) + 1}, "no tab behind the number of the span", remedy)
	}
	body, words, _ := bytes.Cut(rest, []byte("\t"))
	name, pieces, ok := bytes.Cut(body, []byte(" "))
	column := len(id) + 2
	if !ok {
		return r.wrong(place{n, column + len(body)}, "no offsets behind the label", remedy)
	}
	l := label{score: 1, source: pipeline.FromGold, words: words, at: place{n, column + len(name) + 1}}
	var err error
	if l.category, err = r.category(name, place{n, column}); err != nil {
		return err
	}
	for k := 0; ; k++ {
		piece, more, again := bytes.Cut(pieces, []byte(";"))
		from, to, two := bytes.Cut(piece, []byte(" "))
		start, ok1 := number(from)
		end, ok2 := number(to)
		if !two || !ok1 || !ok2 {
			return r.wrong(l.at, "offsets are not two whole numbers", remedy)
		}
		if k == 0 {
			l.start, l.end = start, end
		}
		l.start, l.end = min(l.start, start), max(l.end, end)
		if !again {
			break
		}
		if k == 0 {
			r.warnings.Discontinuous++
			l.words = nil // those of the pieces, without what is between
		}
		pieces = more
	}
	r.labels = append(r.labels, l)
	return nil
}
