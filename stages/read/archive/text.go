package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/clinical"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// form is the format of an archive's file.
type form uint8

const (
	noForm       form = iota // of another program
	parquetForm              // units are row groups
	dumpForm                 // a|b|c ids and text; units are bytes
	csvForm                  // a table with a header; units are bytes
	jsonForm                 // objects; units are bytes
	noteForm                 // one note, named as its file
	documentForm             // of FHIR, HL7 v2 or CDA: units are bytes
)

// Formats returns the values of option read.format, in the order of forms; the last three are documents.
func Formats() []string {
	return []string{"auto", "parquet", "dump", "csv", "jsonl", "txt", "fhir", "hl7", "cda"}
}

// Format names the format of the file as read.format calls it; "documents" of FHIR, HL7 v2 and CDA.
func (f *File) Format() string { return f.form.String() }

func (f form) String() string {
	return [...]string{noForm: "", parquetForm: "parquet", dumpForm: "dump", csvForm: "csv", jsonForm: "jsonl", noteForm: "txt",
		documentForm: "documents"}[f]
}

var formOfExt = map[string]form{
	".parquet": parquetForm, ".parq": parquetForm, ".pq": parquetForm, ".dump": dumpForm,
	".csv": csvForm, ".tsv": csvForm, ".jsonl": jsonForm, ".ndjson": jsonForm, ".json": jsonForm, ".txt": noteForm,
}

// formOf returns the format of a file by its name and, for .txt, by whether it begins like a dump.
func formOf(name string) form {
	if clinical.Is(name) {
		return documentForm
	}
	ext := strings.ToLower(filepath.Ext(name))
	if ext == ".gz" || ext == ".zst" {
		ext = strings.ToLower(filepath.Ext(strings.TrimSuffix(name, name[len(name)-len(ext):])))
		if f := formOfExt[ext]; f == csvForm || f == jsonForm {
			return f
		}
		return noForm
	}
	f := formOfExt[ext]
	if f == noteForm && beginsAsDump(name) {
		return dumpForm
	}
	return f
}

// beginsAsDump reports whether the first line that is not empty has the ids of a dump. Read errors are reported later,
// when the file is hashed.
func beginsAsDump(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\ufeff")), "\r\n")
	_, _, ok := cutHeader(head)
	return ok
}

// endsAsParquet reports whether a file ends as Parquet does. Read errors are reported later, when the file is hashed.
func endsAsParquet(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return true
	}
	defer f.Close() // only read
	tail := make([]byte, 4)
	if _, err := f.Seek(-4, io.SeekEnd); err != nil {
		return false
	}
	_, err = io.ReadFull(f, tail)
	return err != nil || string(tail[:3]) == "PAR" // of an encrypted one the last letter is another
}

// settleForms decides what the archive is made of, where the options leave it
// to the files: Parquet and dumps, or else documents, or else tables of text, or else
// notes of a file each. What else lies in its folders is not read, and named: see pass.
// A file that was given itself counts whatever the others are.
func (a *Archive) settleForms() {
	want := form(min(max(0, slices.Index(Formats(), a.o.Format)), int(documentForm)))
	ranks := [...]int{noForm: 0, parquetForm: 4, dumpForm: 4, documentForm: 3, csvForm: 2, jsonForm: 2, noteForm: 1}
	best, broken := 0, 0
	for i := range a.Files {
		if f := &a.Files[i]; f.form == parquetForm && !endsAsParquet(f.Path) {
			broken = ranks[f.form]
		} else {
			best = max(best, ranks[f.form])
		}
	}
	best = cmp.Or(best, broken) // a broken file alone says what it should be; among others it does not say what these are
	var kept, others []File
	read := map[string]bool{}
	for _, f := range a.Files {
		switch {
		case want != noForm && (f.given || f.form == want || want == dumpForm && f.form == noteForm || want == noteForm && f.form == dumpForm):
			f.form = want
		case f.given || want == noForm && best > 0 && ranks[f.form] == best:
		default:
			others = append(others, f)
			continue
		}
		kept = append(kept, f)
		read[spelled(f.Path)] = true
		a.o.HasDocuments = a.o.HasDocuments || f.form == documentForm
		a.o.Alone = a.o.Alone || a.o.HasDocuments
	}
	a.Files = kept
	for i := range others {
		if name := spelled(others[i].Path); !read[name] {
			read[name] = true
			a.pass(&others[i], want != noForm)
		}
	}
}

// pass lists a file that is not of the archive's format. That is a fault, since it may hold notes, unless its name says
// that it has none, or the user has set the format (chosen).
func (a *Archive) pass(f *File, chosen bool) {
	b := commit.BadInput{Input: f.name(), Bytes: f.Bytes, Other: true, Known: chosen || f.hidden || a.holdsNoNotes(f.Path), Path: f.Path}
	switch {
	case f.hidden:
		b.Cause = "has a name that begins with a dot or an underscore"
	case f.form == noForm:
		b.Cause = "is of a format that velum does not read"
	default:
		b.Cause = fmt.Sprintf("is of another format (%s) than the archive", f.form)
	}
	if b.Known {
		a.Passed = append(a.Passed, b)
		return
	}
	a.Bad = append(a.Bad, b)
}

// nameOfNoNotes matches names of files without notes: those that describe other files, checksums, configurations, and
// labels of notes beside them. (For names that begin with a dot or an underscore, see hide.)
var nameOfNoNotes = regexp.MustCompile(`(?i)^((read.?me|l[eé]eme|llegeix.?me|leia.?me|licen[cs]e|notice|copying|changelog)\b.*` +
	`|(sha(1|224|256|384|512)|md5)sums?(\.txt)?|checksums?(\.txt)?|thumbs\.db|desktop\.ini|.*\.(md|crc|md5|sha1|sha256|sha512|asc|sig|ya?ml|toml|ini|conf|log|ann))$`)

func (a *Archive) holdsNoNotes(name string) bool {
	return nameOfNoNotes.MatchString(filepath.Base(name)) || a.o.Checksums != "" && spelled(name) == spelled(a.o.Checksums)
}

// noteFile reads a note of a file of its own. It is a pipeline.Source.
type noteFile struct {
	file   *File
	o      *input.Options
	naming input.Naming
	ended  bool
}

func newNoteFile(f *File, o *input.Options) *noteFile {
	return &noteFile{file: f, o: o, naming: input.NewNaming(o)}
}

// Close does nothing: the file does not stay open.
func (n *noteFile) Close() error { return nil }

// Next implements pipeline.Source. If the file has changed since its unit was named, the unit fails as unread, and the
// next start plans it again.
func (n *noteFile) Next(b *pipeline.Batch) error {
	if n.ended {
		return io.EOF
	}
	n.ended = true
	name := n.file.Path
	data, err := os.ReadFile(name)
	if err != nil {
		return input.Unread(name, input.Cause(err))
	}
	if sha256.Sum256(data) != n.file.SHA256 {
		return n.file.changed()
	}
	note, reason, err := text.WholeNote(data, n.o.Encoding, n.o.MaxText)
	if err != nil {
		return err
	}
	b.Text.Append(note)
	b.Reason = append(b.Reason, reason)
	var id pipeline.Bytes
	id.Append([]byte(path.Join(n.file.Folder, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))))
	n.naming.Name(b, []pipeline.Bytes{id})
	return nil
}

// open opens the records of a file for the fields wanted, and says in o how it is encoded. A field that no record can
// have is a *input.SchemaError.
func (f *File) open(o *input.Options) (text.Records, error) {
	if f.form == documentForm {
		return clinical.Open(f.Path, o)
	}
	if f.form == csvForm {
		return text.OpenCSV(f.Path, o)
	}
	return text.OpenJSON(f.Path, o)
}

// tableUnits counts the records of a file and cuts them into units.
func (s *scanner) tableUnits(f *File, unit commit.Unit) error {
	o := s.a.o
	in, err := f.open(&o)
	f.Encoding = o.Encoding
	if strange, ok := errors.AsType[*input.SchemaError](err); ok && s.a.o.Optional && slices.Contains(s.a.o.Pass, strange.Column) {
		s.a.without(strange.Column)
		return s.tableUnits(f, unit)
	} else if ok {
		s.strange = append(s.strange, strangeFile{f, strange})
		return nil
	}
	if err == nil {
		if cause := s.textColumns(); cause != "" {
			s.bad(f, cause)
			return in.Close()
		}
		var units []commit.Unit
		if units, err = s.cutTable(f, in, unit); err == nil {
			s.a.Units = append(s.a.Units, units...)
		}
		in.Close()
	}
	if wrong, ok := errors.AsType[*input.Error](err); ok {
		s.bad(f, wrong.Where())
		return nil
	}
	return err
}

// textColumns says that the columns of a table of text are text. cause says which
// is not in other files.
func (s *scanner) textColumns() (cause string) {
	if s.shapes == nil {
		s.shapes = map[string]known{}
	}
	text := input.Shape{Kind: pipeline.BytesColumn}
	for _, x := range s.a.o.Extras() {
		if have, ok := s.shapes[x.Key()]; ok && x.Kept && !have.null && !parquet.SameShape(have.Shape, text) {
			return otherType(x.Name)
		}
		s.shapes[x.Key()] = known{Shape: text}
	}
	return ""
}

// textUnit is after how many bytes of a file of text of that size a unit is full: of an eighth of the file, or of each
// 128 MiB of a large one, so that up to eight shards have equal shares of it; but not below 4 MiB, beside which what a
// unit costs is little.
func textUnit(size int64) int64 {
	const shards, small, large = 8, 4 << 20, 128 << 20
	return max(size/(shards*(size/large+1))+1, small)
}

// cutTable counts the records of a file and cuts them into units. It looks into no record whose end can be found without.
func (s *scanner) cutTable(f *File, in text.Records, unit commit.Unit) (units []commit.Unit, err error) {
	unit.From, _ = in.Ahead()
	unit.From = max(unit.From, 0)
	full := textUnit(f.Bytes)
	for {
		var size int
		if size, err = in.Skip(); err != nil {
			break
		}
		f.Rows++
		unit.Rows++
		f.text += int64(size)
		if at, line := in.Ahead(); at >= 0 && (unit.Rows >= s.a.o.UnitNotes || at/full > unit.From/full) {
			if f.Lines == nil {
				f.Lines = map[int64]int{}
			}
			f.Lines[at], unit.To = line, at
			units = append(units, unit)
			unit.From, unit.First, unit.Rows = at, f.Rows, 0
		}
	}
	if err != io.EOF {
		return nil, err
	}
	if unit.Rows > 0 || len(units) == 0 {
		unit.To = max(f.Bytes, unit.From)
		units = append(units, unit)
	}
	return units, nil
}

// table reads the notes of a unit of a table of text. It is a pipeline.Source.
type table struct {
	in    text.Records
	file  *File
	first int64 // row of the first note in the file
	left  int64 // notes of the unit that are to come
	done  int64
	input.Filler
}

func newTable(f *File, u *commit.Unit, o *input.Options) (*table, error) {
	o.Encoding = f.Encoding
	in, err := f.open(o)
	if err != nil {
		return nil, f.changed()
	}
	if at, _ := in.Ahead(); at >= 0 && at != u.From {
		if err := in.GoTo(u.From, f.Lines[u.From]); err != nil {
			return nil, errors.Join(input.Unread(f.Path, input.Cause(err)), in.Close())
		}
	}
	return &table{in: in, file: f, first: u.First, left: u.Rows, Filler: input.NewFiller(o)}, nil
}

// Close closes the file.
func (t *table) Close() error { return t.in.Close() }

// Next implements pipeline.Source.
func (t *table) Next(b *pipeline.Batch) error {
	t.Begin(b, t.first+t.done)
	for t.left > 0 && !t.Full(b) {
		sound, err := t.in.Row()
		if err != nil {
			return t.file.changed()
		}
		t.Row(b, t.in, sound)
		t.left--
	}
	if t.left == 0 && !t.file.same() {
		return t.file.changed() // before the last notes leave
	}
	if b.Len() == 0 {
		return io.EOF
	}
	t.done += int64(b.Len())
	t.End(b)
	return nil
}

// FormatOf returns the format of a file by its name; "" if it cannot hold notes.
func FormatOf(name string) string {
	if f := formOf(name); f != noteForm && f != dumpForm && f != documentForm {
		return f.String()
	}
	return ""
}
