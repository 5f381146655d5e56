package read

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// fileForm is what a file of an archive is.
type fileForm uint8

const (
	noForm      fileForm = iota // of another program
	parquetForm                 // units are row groups
	dumpForm                    // a|b|c ids and text; units are bytes
	csvForm                     // a table with a header; units are bytes
	jsonForm                    // objects; units are bytes
	noteForm                    // one note, named as its file
)

// archiveForms are the values of ParquetOptions.Format.
var archiveForms = map[string]fileForm{"auto": noForm, "": noForm, "parquet": parquetForm, "dump": dumpForm, "csv": csvForm, "jsonl": jsonForm, "txt": noteForm}

// ArchiveFormats returns the names of what an archive may be made of.
func ArchiveFormats() []string { return []string{"auto", "parquet", "dump", "csv", "jsonl", "txt"} }

var formOfExt = map[string]fileForm{
	".parquet": parquetForm, ".parq": parquetForm, ".pq": parquetForm, ".dump": dumpForm,
	".csv": csvForm, ".tsv": csvForm, ".jsonl": jsonForm, ".ndjson": jsonForm, ".json": jsonForm, ".txt": noteForm,
}

// formOf tells what a file is by its name and, for .txt, by whether it begins
// as a dump does.
func formOf(name string) fileForm {
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

// beginsAsDump tells whether the first line that is not empty has the ids of a
// dump. What cannot be read is told when it is hashed.
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

// settleForms decides what the archive is made of, where the options leave it
// to the files: Parquet and dumps, or else tables of text, or else notes of a
// file each. What else lies in its folders is passed over and named: a README,
// a table of codes, the labels of a corpus. A file that was given itself counts
// whatever the others are.
func (a *Archive) settleForms() {
	want := archiveForms[a.o.Format]
	ranks := [...]int{noForm: 0, parquetForm: 3, dumpForm: 3, csvForm: 2, jsonForm: 2, noteForm: 1}
	best := 0
	tables := map[string]bool{} // folders as `velum convert --to parquet` writes them
	for i := range a.Files {
		best = max(best, ranks[a.Files[i].form])
		if filepath.Base(a.Files[i].Path) == "notes.parquet" {
			tables[filepath.Dir(a.Files[i].Path)] = true
		}
	}
	kept := a.Files[:0]
	for _, f := range a.Files {
		spans := filepath.Base(f.Path) == "spans.parquet" && tables[filepath.Dir(f.Path)] && !f.given
		switch {
		case spans:
			a.Passed = append(a.Passed, f.name())
			continue
		case want != noForm && (f.given || f.form == want || want == dumpForm && f.form == noteForm || want == noteForm && f.form == dumpForm):
			f.form = want
		case f.given || want == noForm && ranks[f.form] == best:
		default:
			a.Passed = append(a.Passed, f.name())
			continue
		}
		kept = append(kept, f)
	}
	a.Files = kept
}

// noteFile reads a note of a file of its own. It is a pipeline.Source.
type noteFile struct {
	intake
	file   *ArchiveFile
	naming naming
	max    int
}

func newNoteFile(f *ArchiveFile, o *ParquetOptions) *noteFile {
	return &noteFile{intake: newIntake(f.Path, TextOptions{Encoding: o.Encoding}), file: f, naming: newNaming(o), max: o.MaxText}
}

// Close does nothing: the file does not stay open.
func (r *noteFile) Close() error { return nil }

// Next implements pipeline.Source. A file that is not what it was when its unit was
// named fails the unit, as unread: the next start plans anew.
func (r *noteFile) Next(b *pipeline.Batch) error {
	if r.row++; r.row > 1 {
		return io.EOF
	}
	data, err := os.ReadFile(r.path)
	if err != nil {
		return &commit.DamageError{Path: r.path, RowGroup: -1, Cause: inputCause(err), Unread: true}
	}
	if sha256.Sum256(data) != r.file.SHA256 {
		return r.file.changed()
	}
	text, err := r.decodeText(data)
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	reason := r.check(text)
	if len(text) > r.max {
		reason, text = pipeline.TooLong, nil
	}
	b.Text.Append(text)
	b.Reason = append(b.Reason, reason)
	var id pipeline.Bytes
	id.Append([]byte(path.Join(r.file.Folder, strings.TrimSuffix(filepath.Base(r.path), filepath.Ext(r.path)))))
	r.naming.name(b, []pipeline.Bytes{id})
	return nil
}

// records reads the records of a table of text, one by one.
type records interface {
	// row reads the next record, io.EOF behind the last. sound is false for
	// one that breaks the format and was stepped over.
	row() (sound bool, err error)
	// field returns a field of the record by its number among those asked
	// for; ok is false for null and for a field that is not there.
	field(k int) (value []byte, ok bool)
	// place returns where the next record begins, and false if a reader cannot
	// begin there: in packed and decoded files.
	place() (int64, bool)
	// seek goes to what place returned.
	seek(at int64) error
	io.Closer
}

// open opens the records of a file for the fields wanted. A field that no
// record can have is a *SchemaError.
func (f *ArchiveFile) open(o *ParquetOptions) (records, error) {
	if f.form == csvForm {
		return openCSVRecords(f.Path, o)
	}
	return openJSONRecords(f.Path, o)
}

// fields lists the names of the columns: ids, text, extras.
func (o *ParquetOptions) fields() []string {
	names := append(slices.Clone(o.ID), o.Text)
	for _, x := range o.extras() {
		names = append(names, x.name)
	}
	return names
}

// tableUnits counts the records of a file and cuts them into units.
func (s *scanner) tableUnits(f *ArchiveFile, unit commit.Unit) error {
	in, err := f.open(&s.a.o)
	if strange, ok := errors.AsType[*SchemaError](err); ok {
		s.strange = append(s.strange, strangeFile{f, strange})
		return nil
	}
	if err == nil {
		var units []commit.Unit
		if units, err = s.cutTable(f, in, unit); err == nil {
			s.a.Units = append(s.a.Units, units...)
			s.textColumns()
		}
		in.Close()
	}
	if wrong, ok := errors.AsType[*InputError](err); ok {
		s.bad(f, wrong.where())
		return nil
	}
	return err
}

// textColumns says that the pass-through columns are text.
func (s *scanner) textColumns() {
	if s.shapes == nil {
		s.shapes = map[string]known{}
	}
	for _, x := range s.a.o.extras() {
		s.shapes[x.key()] = known{shape: shape{Kind: pipeline.BytesColumn}}
	}
}

func (s *scanner) cutTable(f *ArchiveFile, in records, unit commit.Unit) (units []commit.Unit, err error) {
	unit.From, _ = in.place()
	for {
		var sound bool
		if sound, err = in.row(); err != nil {
			break
		}
		f.Rows++
		unit.Rows++
		if sound {
			text, _ := in.field(len(s.a.o.ID))
			f.text += int64(len(text))
		}
		if at, ok := in.place(); ok && unit.Rows >= s.a.o.UnitNotes {
			unit.To = at
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
	in     records
	o      *ParquetOptions
	file   *ArchiveFile
	first  int64 // row of the first note in the file
	left   int64 // notes of the unit that are to come
	done   int64
	ids    []pipeline.Bytes
	extra  []wanted
	naming naming
}

func newTable(f *ArchiveFile, u *commit.Unit, o *ParquetOptions) (*table, error) {
	in, err := f.open(o)
	if err != nil {
		return nil, f.changed()
	}
	if at, ok := in.place(); ok && at != u.From {
		if err := in.seek(u.From); err != nil {
			return nil, errors.Join(&commit.DamageError{Path: f.Path, RowGroup: -1, Cause: inputCause(err), Unread: true}, in.Close())
		}
	}
	return &table{in: in, o: o, file: f, first: u.First, left: u.Rows, ids: make([]pipeline.Bytes, len(o.ID)), extra: o.extras(), naming: newNaming(o)}, nil
}

// same tells whether the file holds what was hashed.
func (f *ArchiveFile) same() bool {
	now, err := os.Stat(f.Path)
	return err == nil && f.still(identify(now))
}

// Close closes the file.
func (t *table) Close() error { return t.in.Close() }

// Next implements pipeline.Source.
func (t *table) Next(b *pipeline.Batch) error {
	b.First = t.first + t.done
	t.columns(b)
	for k := range t.ids {
		t.ids[k].Reset()
	}
	for t.left > 0 && b.Len() < t.o.BatchNotes && len(b.Text.Data) < t.o.BatchBytes {
		sound, err := t.in.row()
		if err != nil {
			return t.file.changed()
		}
		t.note(b, sound)
		t.left--
	}
	if t.left == 0 && !t.file.same() {
		return t.file.changed() // before the last notes leave
	}
	if b.Len() == 0 {
		return io.EOF
	}
	t.done += int64(b.Len())
	t.naming.name(b, t.ids)
	return nil
}

// note appends the record at hand. One that broke the format has no fields.
func (t *table) note(b *pipeline.Batch, sound bool) {
	get := func(k int) ([]byte, bool) {
		if !sound {
			return nil, false
		}
		return t.in.field(k)
	}
	text, ok := get(len(t.ids))
	switch {
	case !sound:
		b.Text.End()
		b.Reason = append(b.Reason, pipeline.BadRow)
	case !ok:
		b.Text.End()
		b.Reason = append(b.Reason, pipeline.NullText)
	default:
		appendText(b, text, t.o.MaxText)
	}
	for k := range t.ids {
		id, _ := get(k)
		t.ids[k].Append(id)
	}
	for k := range t.extra {
		value, ok := get(len(t.ids) + 1 + k)
		to := &b.Extra[k]
		if first := len(to.Bytes.Data); t.extra[k].patient {
			to.Bytes.Data = t.o.patient(to.Bytes.Data, value, false)
			ok = len(to.Bytes.Data) > first
		} else {
			to.Bytes.Data = append(to.Bytes.Data, value...)
		}
		to.Bytes.End()
		to.Valid = append(to.Valid, ok)
	}
}

// columns readies the pass-through columns of a batch: text all of them, since
// a file of text says no more.
func (t *table) columns(b *pipeline.Batch) {
	if len(b.Extra) == len(t.extra) {
		return // this source's, from the time before
	}
	b.Extra = b.Extra[:0]
	for _, x := range t.extra {
		b.Extra = append(b.Extra, pipeline.Column{Name: x.as, Kind: pipeline.BytesColumn})
	}
}

// missingField says that a file has no column of that name, and which it has.
func missingField(path, name string, o *ParquetOptions, have []string) error {
	order := orderOf(slices.Contains(o.Pass, name))
	switch {
	case slices.Contains(o.ID, name):
		order = nameID
	case name == o.Text:
		order = nameText
	}
	return &SchemaError{path, name, "is missing", missingRemedy(name, order, have)}
}

// csvRecords are the rows of a CSV table. A quote inside a field without
// quotes is a character like any other, as spreadsheets write and read it; a
// row with too few or too many fields, or text behind a closing quote, is not
// sound. A quote that is never closed breaks the file.
type csvRecords struct {
	*CSV
	at []int // columns of the fields wanted
}

func openCSVRecords(path string, o *ParquetOptions) (records, error) {
	r := &CSV{intake: newIntake(path, TextOptions{Encoding: o.Encoding, Comma: o.Comma}), lenient: true}
	if err := r.begin(); err != nil {
		return nil, err
	}
	c := &csvRecords{CSV: r}
	if err := c.header(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return c, nil
}

func (c *csvRecords) header(o *ParquetOptions) error {
	if err := c.next(); err == io.EOF {
		return c.wrong(place{}, "empty file", "write a header line with the names of the columns")
	} else if err != nil {
		return err
	}
	c.columns = c.record.Len()
	for _, name := range o.fields() {
		at := -1
		for k := range c.columns {
			if string(c.record.At(k)) != name {
				continue
			}
			if at >= 0 {
				return &SchemaError{c.path, name, "stands twice in the header", "rename one of them"}
			}
			at = k
		}
		if at < 0 && name == defaultID {
			at = slices.IndexFunc(c.names(), func(have string) bool { return have == "id" })
		}
		if at < 0 {
			have, doubt := headerNames(c.names())
			if doubt != "" {
				return &SchemaError{c.path, name, "is missing", doubt}
			}
			return missingField(c.path, name, o, have)
		}
		c.at = append(c.at, at)
	}
	return nil
}

// names are the names of the columns.
func (c *csvRecords) names() (all []string) {
	for k := range c.columns {
		all = append(all, string(c.record.At(k)))
	}
	return all
}

func (c *csvRecords) row() (bool, error) {
	err := c.next()
	if _, broken := errors.AsType[*rowError](err); broken {
		return false, nil
	}
	return err == nil && c.record.Len() == c.columns, err
}

func (c *csvRecords) field(k int) ([]byte, bool) { return c.record.At(c.at[k]), true }

func (c *csvRecords) place() (int64, bool) { return c.in.place() }

func (c *csvRecords) seek(at int64) error { return c.in.seek(at) }

// jsonRecords are objects, one a line or in one array.
type jsonRecords struct {
	*JSONL
	names   []string
	needed  int // so many of the names are of ids and the text
	fields  map[string]json.RawMessage
	values  pipeline.Bytes
	have    []bool
	start   int64 // place of the first record
	startOK bool
	pending bool // the first record has been read, and not handed out
	sound   bool // it is
}

// openJSONRecords reads the first record: if it has no id or no text under the
// names given, no other will.
func openJSONRecords(path string, o *ParquetOptions) (records, error) {
	r, err := NewJSONL(path, TextOptions{Encoding: o.Encoding})
	if err != nil {
		return nil, err
	}
	j := &jsonRecords{JSONL: r, names: o.fields(), needed: len(o.ID) + 1, fields: map[string]json.RawMessage{}}
	j.start, j.startOK = j.place()
	j.sound, err = j.row()
	if err == io.EOF {
		return j, nil // row says so again
	}
	if _, ok := j.fields["id"]; ok && o.ID[0] == defaultID && j.fields[defaultID] == nil {
		j.names[0] = "id"
		j.sound = j.take()
	}
	for _, name := range j.names[:len(o.ID)+1] {
		if _, ok := j.fields[name]; err == nil && j.sound && !ok {
			err = missingField(path, name, o, j.keys())
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	j.pending = true
	return j, nil
}

// keys are the names of the fields of the record at hand.
func (j *jsonRecords) keys() (all []string) {
	for _, key := range slices.Sorted(maps.Keys(j.fields)) {
		all = append(all, plainColumn(key))
	}
	return all
}

func (j *jsonRecords) row() (bool, error) {
	if j.pending {
		j.pending = false
		return j.sound, nil
	}
	for {
		value, _, err := j.object()
		if err != nil {
			return false, err
		}
		if len(bytes.TrimSpace(value)) > 0 {
			return j.parse(value), nil
		}
	}
}

// parse takes the wanted fields out of an object: strings as their characters,
// numbers and what is nested as the JSON that they are, null and what is not
// there as nothing.
func (j *jsonRecords) parse(value []byte) bool {
	clear(j.fields)
	return json.Unmarshal(value, &j.fields) == nil && j.take()
}

// take takes the wanted fields of the object at hand. An id or a text that is an object or an array is a broken row: pandas writes
// a whole table as one object of columns, which is no note.
func (j *jsonRecords) take() bool {
	j.values.Reset()
	j.have = j.have[:0]
	for k, name := range j.names {
		raw, ok := j.fields[name]
		ok = ok && string(raw) != "null"
		if ok && k < j.needed && (raw[0] == '{' || raw[0] == '[') {
			return false
		}
		if ok && raw[0] == '"' {
			j.values.Data = appendUnquoted(j.values.Data, raw)
		} else if ok {
			j.values.Data = append(j.values.Data, raw...)
		}
		j.values.End()
		j.have = append(j.have, ok)
	}
	return true
}

func (j *jsonRecords) field(k int) ([]byte, bool) { return j.values.At(k), j.have[k] }

func (j *jsonRecords) place() (int64, bool) {
	switch {
	case j.pending:
		return j.start, j.startOK
	case j.array:
		return 0, false
	}
	return j.in.place()
}

func (j *jsonRecords) seek(at int64) error {
	j.pending = false
	return j.in.seek(at)
}

// appendUnquoted appends the characters of a JSON string. What is no text, a
// byte that is no UTF-8 or half a pair of UTF-16, stays no text, so that the
// note goes to quarantine: the decoder would put U+FFFD in its place.
func appendUnquoted(dst []byte, raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) != nil || !utf8.Valid(raw) || loneSurrogate(raw) {
		return append(dst, 0xff)
	}
	return append(dst, text...)
}
