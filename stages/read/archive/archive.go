// Package archive lists the files of a run and plans their units. It opens units of Parquet, dumps, tables of text and
// folders with a file per note, bundles small files in one unit, compares copies of a file, and refuses folders that
// are tables of a lakehouse.
package archive

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Archive holds the files of a run, their columns, and the units into which they are divided.
type Archive struct {
	Files  []File
	Units  []commit.Unit     // in the order of the files
	Bad    []commit.BadInput // files that cannot be read at all, or are of another kind than the others
	Drift  []Drift           // how the columns that are read differ from those of the first file
	Extra  []pipeline.Column // names and kinds of the columns in Batch.Extra
	Kept   []pipeline.Column // those of them that are written as they were read
	Passed []commit.BadInput // files that are not read, which is no fault: they hold no notes, or Options.Format names another kind

	files      map[string]*File  // by path
	partitions []pipeline.Column // the columns of Extra, listed last, whose values are in names of folders
	first      *input.Error      // error of the first file that cannot be read
	read       bool              // at least one file could be read
	o          input.Options
	fence      *fence.Fence // decodes files in another process; nil: they are decoded in this one
}

// File is a file of an archive.
type File struct {
	Path   string
	Folder string // path within the archive, with slashes: year=2026/month=01; "" for a file that was given itself
	SHA256 [32]byte
	Bytes  int64
	Rows   int64
	Groups int           // row groups; 0 for dumps and text
	Lines  map[int64]int `json:",omitempty"` // at which units of a table of text begin, by their first byte

	Encoding input.Encoding `json:",omitempty"` // of a table of text; found once, for all its units

	form  form
	given bool  // given by name, not found in a folder
	text  int64 // bytes of text in it, as far as they were counted

	hidden bool // its name begins with a dot or an underscore: it is listed but not read

	raw    string  // path of the folder as the system has it
	hashed *hashed // the state that was hashed

	Unsummed bool // Parquet whose pages have no checksums: changes in them cannot be noticed
}

// name returns the path of the file within the archive.
func (f *File) name() string { return path.Join(f.Folder, input.PlainPart(filepath.Base(f.Path))) }

// Drift says in which columns a file differs from the first file of the archive.
type Drift struct {
	Path   string `json:"path"`
	Column string `json:"column"`
	Change string `json:"change"` // "is missing", "is new: INT64", "was INT64, is BYTE_ARRAY STRING"
}

func (d Drift) String() string { return fmt.Sprintf("%s: column %q %s", d.Path, d.Column, d.Change) }

// Scan finds the files of an archive and plans their units. An input is a
// file, or a folder that may have folders of months below it; files are taken
// in the order of their paths, whatever the order of the inputs. Names that begin with a dot or an underscore
// do not count, as everywhere in the Parquet world; files of them that are called like notes are listed in Passed.
//
// Every file is read once for its SHA-256, which names its units. A file that is no valid Parquet file, or whose
// columns do not agree with the options, is listed in Bad, and the others are processed: one bad column name must not
// stop a night. If no file has the columns, the options are wrong, and the error is an *input.SchemaError. Parquet is
// decoded by the fence's worker processes, or in this process if it is nil.
func Scan(ctx context.Context, inputs []string, o input.Options, behind *fence.Fence) (*Archive, error) {
	a, err := Find(inputs, o)
	if err != nil {
		return nil, err
	}
	a.fence = behind
	if err := a.o.Check(); err != nil {
		return nil, err
	}
	sums, err := input.ReadChecksums(a.o.Checksums)
	if err != nil {
		return nil, err
	}
	if len(a.Files) == 0 && a.first == nil {
		return nil, &input.Error{Path: strings.Join(inputs, ", "), Cause: "no files of notes there",
			Remedy: "give files of Parquet, CSV or JSONL, raw dumps, notes as .txt, or a folder of them; read.format says what they are"}
	}
	a.settlePartitions()
	a.files = make(map[string]*File, len(a.Files))
	for i := range a.Files {
		a.files[a.Files[i].Path] = &a.Files[i]
	}
	s := scanner{a: a, sums: sums, asked: o.Pass}
	for i := range a.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := s.file(ctx, &a.Files[i]); err != nil {
			return nil, err
		}
	}
	if a.first != nil && !a.read {
		return nil, a.first
	}
	if err := s.settleStrange(); err != nil {
		return nil, err
	}
	s.missing(inputs)
	return a, s.extras()
}

// Find lists the files of an archive like Scan, without opening them.
func Find(inputs []string, o input.Options) (*Archive, error) {
	a := &Archive{o: o.WithDefaults()}
	for _, in := range inputs {
		if err := a.find(in); err != nil {
			return nil, err
		}
	}
	a.settleForms()
	slices.SortStableFunc(a.Files, func(x, y File) int { return strings.Compare(spelled(x.Path), spelled(y.Path)) })
	a.Files = slices.CompactFunc(a.Files, func(x, y File) bool { return spelled(x.Path) == spelled(y.Path) })
	return a, nil
}

// UnitSource is the source of the notes of one unit.
type UnitSource interface {
	pipeline.Source
	io.Closer
}

// Open opens the notes of a unit. The error is a *commit.DamageError; its field Unread is set if the file has changed
// since it was planned.
func (a *Archive) Open(u *commit.Unit) (UnitSource, error) {
	if len(u.Members) > 0 {
		return newSharedFiles(a, u), nil
	}
	f := a.files[u.Input]
	src, err := a.open(f, u)
	if err != nil {
		return nil, f.blame(err)
	}
	return a.partitioned(&unchanged{src, f}, f), nil
}

// Close ends the fence, if there is one.
func (a *Archive) Close() error {
	if a == nil || a.fence == nil {
		return nil
	}
	return a.fence.Close()
}

func (a *Archive) open(f *File, u *commit.Unit) (UnitSource, error) {
	o := a.o
	o.File = a.Mark(u) + "-"
	switch f.form {
	case dumpForm:
		d, err := NewDump(u.Input, u.From, u.To, u.First, o)
		if err != nil {
			return nil, input.Unread(u.Input, input.Cause(err))
		}
		return begun(d, f)
	case csvForm, jsonForm, documentForm:
		return newTable(f, u, &o)
	case noteForm:
		return newNoteFile(f, &o), nil
	}
	if a.fence != nil {
		return a.fence.Open(u, &o, a.Extra[:len(a.Extra)-len(a.partitions)], f.stillOpen)
	}
	p, err := parquet.New(u.Input, int(u.From), int(u.To), o)
	if err != nil {
		return nil, err
	}
	return begun(p, f)
}

// holding is a reader that can check, while it reads, that its file is still the one that was hashed.
type holding interface {
	UnitSource
	Hold(stays func(*os.File) error) error
}

// begun checks an opened file against its hash, and closes it if it has changed.
func begun(src holding, f *File) (UnitSource, error) {
	if err := src.Hold(f.stays); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// unchanged is a source that reports an error as a changed file, if the file has changed since it was hashed.
type unchanged struct {
	UnitSource
	file *File
}

// Next implements pipeline.Source.
func (u *unchanged) Next(b *pipeline.Batch) error {
	err := u.UnitSource.Next(b)
	if err != nil && err != io.EOF {
		err = u.file.blame(err)
	}
	return err
}

// Mark returns the name of a unit in the column part of the output. Together with the row number it identifies a row.
// It is public, so it is not the SHA-256 of the file, from which a masked name could be found by trying candidates.
// With a key it is an HMAC of that hash, without one a hash of the path below the archive, which the names of the parts
// show anyway.
func (a *Archive) Mark(u *commit.Unit) string {
	mark := u.Mark()
	if key := a.o.Key; key != nil {
		mac := hmac.New(sha256.New, key.Derive("file mark"))
		fmt.Fprintf(mac, "%x %d %q", u.SHA256, u.Copy, u.Folder)
		copy(mark[:], mac.Sum(nil))
	}
	return fmt.Sprintf("%x-%x", mark[:4], mark[4:])
}

// HasDocuments reports whether the notes are documents (FHIR, HL7, CDA).
func (a *Archive) HasDocuments() bool { return a.o.HasDocuments }

// Rows returns the number of notes in all units.
func (a *Archive) Rows() int64 {
	n := int64(0)
	for i := range a.Units {
		n += a.Units[i].Rows
	}
	return n
}

// Unvouched returns the number of files whose damage cannot be detected, because they have no page checksums and are in
// no list of SHA-256 sums, and the path of the first one below the archive.
func (a *Archive) Unvouched() (n int, first string) {
	if a.o.Checksums != "" {
		return 0, ""
	}
	for i := range a.Files {
		if a.Files[i].Unsummed {
			n++
			first = cmp.Or(first, a.Files[i].name())
		}
	}
	return n, first
}

// find lists the files of an input. What cannot be read below it is listed as bad, and so is a pipe or a dangling link
// with the name of a file of notes, so that it does not stop a nightly run.
func (a *Archive) find(in string) error {
	info, err := os.Stat(in)
	if err != nil {
		return &input.Error{Path: in, Cause: input.Cause(err), Remedy: "check the path and its permissions"}
	}
	if err := InTable(in); err != nil {
		return err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return &input.Error{Path: in, Cause: input.Special(info.Mode()), Remedy: "give a file or a folder"}
		}
		form := formOf(in)
		if form == noForm {
			form = parquetForm // whatever its name: the footer says
		}
		a.Files = append(a.Files, File{Path: filepath.Clean(in), Folder: periods(filepath.Dir(in)), Bytes: info.Size(), form: form, given: true})
		return nil
	}
	return filepath.WalkDir(in, func(name string, e fs.DirEntry, err error) error {
		if hidden(in, name) {
			if err != nil || e.IsDir() {
				return nil
			}
			return a.hide(in, name, e)
		}
		if err != nil {
			if name == in {
				return &input.Error{Path: name, Cause: input.Cause(err), Remedy: "check its permissions"}
			}
			return a.refuse(in, name, "is a folder that "+input.Cause(err))
		}
		if e.IsDir() {
			return a.folder(in, name)
		}
		return a.add(in, name, e)
	})
}

// hidden tells whether a name below root begins with a dot or an underscore, or that of a folder between.
func hidden(root, name string) bool {
	below, err := filepath.Rel(root, name)
	return err == nil && below != "." && slices.ContainsFunc(strings.Split(filepath.ToSlash(below), "/"),
		func(part string) bool { return part[0] == '.' || part[0] == '_' })
}

// hide adds a hidden file to those that are not read, if its name is that of a table of notes. Files that macOS writes
// beside others (._) are ignored.
func (a *Archive) hide(root, name string, e fs.DirEntry) error {
	switch formOf(name) {
	case parquetForm, csvForm, jsonForm:
	default:
		return nil
	}
	if strings.HasPrefix(e.Name(), "._") || !e.Type().IsRegular() {
		return nil
	}
	n := len(a.Files)
	err := a.add(root, name, e)
	for i := n; i < len(a.Files); i++ {
		a.Files[i].form, a.Files[i].hidden = noForm, true
	}
	return err
}

// folder refuses a folder that is a table of a lakehouse.
func (a *Archive) folder(in, name string) error {
	table := isTable(name)
	if table == nil {
		return nil
	}
	return cmp.Or(a.refuse(in, name, table.Error()), fs.SkipDir)
}

// spelled returns the absolute form of a path, so that two spellings of one path are equal.
func spelled(name string) string {
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// below returns the folder of a file as the archive names it, and its path below the root as the system has it.
func below(root, name string) (folder, raw string, err error) {
	raw, err = filepath.Rel(root, filepath.Dir(name))
	if err != nil {
		return "", "", err
	}
	if folder = path.Join(periods(root), filepath.ToSlash(raw)); folder == "." {
		return "", raw, nil
	}
	return input.PlainPath(folder), raw, nil
}

// refuse adds a path to the bad inputs.
func (a *Archive) refuse(root, name, cause string) error {
	folder, _, err := below(root, name)
	if err == nil {
		a.unread(name, cause)
		a.Bad = append(a.Bad, commit.BadInput{Input: path.Join(folder, input.PlainPart(filepath.Base(name))), Cause: cause, Path: name})
	}
	return err
}

// unread stores the error of the first file that could not be read. It is returned if no file can be.
func (a *Archive) unread(name, cause string) {
	if a.first == nil {
		cause, remedy, known := strings.Cut(cause, "; ")
		switch {
		case strings.HasSuffix(cause, "may not be read"):
			remedy = "check its permissions"
		case !known:
			remedy = "give files of notes"
		}
		a.first = &input.Error{Path: name, Cause: strings.TrimPrefix(cause, "is a folder that "), Remedy: remedy}
	}
}

func (a *Archive) add(root, name string, e fs.DirEntry) error {
	if real, err := filepath.EvalSymlinks(name); a.o.Only != nil && (err != nil || !a.o.Only[real]) {
		return nil
	}
	form, link := formOf(name), e.Type()&fs.ModeSymlink != 0
	info, err := os.Stat(name) // a link to a file counts
	switch {
	case err == nil && link && info.IsDir():
		return a.addFolder(root, name)
	case err != nil && link && errors.Is(err, fs.ErrNotExist):
		return a.refuse(root, name, "is a link to nothing")
	case err != nil:
		return a.refuse(root, name, input.Cause(err))
	case !info.Mode().IsRegular():
		return a.refuse(root, name, input.Special(info.Mode()))
	}
	folder, raw, err := below(root, name)
	a.Files = append(a.Files, File{Path: name, Folder: folder, raw: raw, Bytes: info.Size(), form: form})
	return err
}

// addFolder refuses a link to a folder, since links can form circles, unless the folder is also below the input:
// otherwise its notes would be missing.
func (a *Archive) addFolder(root, name string) error {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		if root, err = filepath.EvalSymlinks(root); err == nil {
			if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
				return nil
			}
		}
	}
	return a.refuse(filepath.Dir(name), name, "is a link to a folder, which is not followed; give the folder as an input of its own")
}

// scanner plans the units of an archive, file by file.
type scanner struct {
	a       *Archive
	sums    map[string]string // checksums by cleaned path; nil: no list
	asked   []string          // columns to keep
	first   *parquet.Layout   // of the first sound file
	lacks   map[string]error
	strange []strangeFile
	shapes  map[string]known // of columns of Batch.Extra, by wanted.key
}

// known describes a column of Batch.Extra as found in the files that were scanned so far.
type known struct {
	input.Shape
	null bool // null throughout, in all of them
}

// strangeFile is a file whose columns do not fit the options.
type strangeFile struct {
	file *File
	err  *input.SchemaError
}

// settleStrange lists files with unexpected columns as bad. If the archive has no other files, the error of the first
// one is returned instead.
func (s *scanner) settleStrange() error {
	if len(s.a.Units) == 0 && len(s.strange) > 0 {
		return s.strange[0].err
	}
	for _, f := range s.strange {
		s.bad(f.file, strings.TrimPrefix(f.err.Error(), f.err.Path+": "))
	}
	return nil
}

// file plans the units of a file, and reports whether the file may share one with others.
func (s *scanner) file(ctx context.Context, f *File) error {
	first := len(s.a.Units)
	err := s.fileUnits(ctx, f)
	if bytes := max(f.Bytes, f.text); len(s.a.Units) == first+1 && !s.a.o.Alone && bytes <= smallFile && f.Rows <= smallRows {
		u := &s.a.Units[first]
		u.Small = max(bytes, 1)
		if shelf := shelfOf(f.Folder); !s.a.o.Opaque {
			u.Shelf = &shelf
		}
	}
	return err
}

// Limits up to which a file counts as small. Larger files take tens of milliseconds to mask, compared with which the
// overhead of a unit is little.
const (
	smallFile = 256 << 10 // bytes, and bytes of text
	smallRows = limit.BatchNotes
)

func (s *scanner) fileUnits(ctx context.Context, f *File) error {
	cuts, cause, err := s.hash(ctx, f)
	if err != nil {
		return err
	}
	if cause == "" {
		s.a.read = true
		cause = s.listed(f)
	} else {
		s.a.unread(f.Path, cause)
	}
	if cause != "" {
		s.bad(f, cause)
		return nil
	}
	unit := s.unit(f)
	switch {
	case f.form == noteForm && f.Bytes > input.MaxInput:
		s.bad(f, "file of more than 1 GiB")
	case f.form == noteForm:
		f.Rows, unit.Rows, unit.To = 1, 1, f.Bytes
		s.a.Units = append(s.a.Units, unit)
	case f.Bytes == 0:
		s.bad(f, "the file is empty")
		return nil
	case f.form == dumpForm:
		s.dumpUnits(f, unit, cuts)
	case f.form == csvForm || f.form == jsonForm || f.form == documentForm:
		return s.tableUnits(f, unit)
	default:
		err := s.parquetUnits(f, unit)
		if damage, ok := errors.AsType[*commit.DamageError](err); ok {
			s.bad(f, strings.TrimPrefix(damage.Error(), damage.Path+": ")) // with row group and column
			return nil
		}
		return err
	}
	return nil
}

// unit starts a unit of a hashed file.
func (s *scanner) unit(f *File) commit.Unit {
	placed := f.form == noteForm || s.a.o.IDs == input.DropIDs || s.a.o.NullIDs == input.NumberNullIDs // the ids say where the file lies
	return commit.Unit{Input: f.Path, Source: f.name(), Folder: s.folder(f), SHA256: f.SHA256, Placed: placed}
}

func (s *scanner) bad(f *File, cause string) {
	s.a.Bad = append(s.a.Bad, commit.BadInput{Input: f.name(), SHA256: hex.EncodeToString(f.SHA256[:]), Bytes: f.Bytes, Cause: cause,
		Path: f.Path})
}

// hash reads the whole file once. For a dump it also returns where records begin. cause says why it cannot be read.
func (s *scanner) hash(ctx context.Context, f *File) (cuts []cut, cause string, err error) {
	var c cutter
	to := io.Discard
	if f.form == dumpForm {
		c.every, c.full = s.a.o.UnitNotes, textUnit(f.Bytes)
		to = &c
	}
	sum, id, err := input.HashFile(f.Path, to, func() error { return context.Cause(ctx) })
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	default:
		return nil, input.Cause(err), nil
	}
	f.SHA256, f.Bytes, f.hashed = sum, id.Size, &hashed{identity: id}
	return c.end(), "", nil
}

// folder returns the folder of the unit's parts. An opaque one needs a key: a
// hash of the folder's name could be undone by trying all months, one of the
// content by trying all names.
func (s *scanner) folder(f *File) string {
	if !s.a.o.Opaque {
		return f.Folder
	}
	mac := hmac.New(sha256.New, s.a.o.Key.Derive("folder"))
	mac.Write([]byte(f.Folder))
	return fmt.Sprintf("batch=%x", mac.Sum(nil)[:6])
}

func (s *scanner) dumpUnits(f *File, unit commit.Unit, cuts []cut) {
	for i, c := range cuts[:len(cuts)-1] {
		unit.From, unit.To = c.at, cuts[i+1].at
		unit.First, unit.Rows = c.rows, cuts[i+1].rows-c.rows
		f.Rows += unit.Rows
		s.a.Units = append(s.a.Units, unit)
	}
}

// unitBytes is the most bytes of text and columns, uncompressed, after which
// a unit is full whatever its notes.
const unitBytes = 256 << 20

func (s *scanner) parquetUnits(f *File, unit commit.Unit) error {
	l, err := s.inspect(f)
	if strange, ok := errors.AsType[*input.SchemaError](err); ok {
		s.strange = append(s.strange, strangeFile{f, strange})
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.Check(f.Path, &s.a.o); err != nil {
		return err
	}
	if cause := s.schema(f, l); cause != "" {
		s.bad(f, cause)
		return nil
	}
	f.Groups, f.Unsummed = len(l.Groups), !l.Sums
	bytes := int64(0)
	for g, group := range l.Groups {
		f.Rows += group.Rows
		unit.Rows += group.Rows
		bytes += group.Bytes
		f.text += group.Bytes
		unit.To = int64(g + 1)
		if unit.Rows >= s.a.o.UnitNotes || bytes >= unitBytes || g == len(l.Groups)-1 {
			s.a.Units = append(s.a.Units, unit)
			unit.From, unit.First, unit.Rows, bytes = unit.To, unit.First+unit.Rows, 0, 0
		}
	}
	if len(l.Groups) == 0 { // so that there is a part, which has the columns
		s.a.Units = append(s.a.Units, unit)
	}
	return nil
}

func (s *scanner) inspect(f *File) (*parquet.Layout, error) {
	if s.a.fence != nil {
		return s.a.fence.Inspect(f.Path, &s.a.o)
	}
	return parquet.Inspect(f.Path, &s.a.o)
}

// schema checks that the file has the columns that the options name, and records its differences from the first file. A
// file whose kept columns have other types is bad, since a part has one type per column. A column that stages use and
// nobody keeps is converted to a wider type.
func (s *scanner) schema(f *File, l *parquet.Layout) (cause string) {
	if s.shapes == nil {
		s.shapes, s.lacks = map[string]known{}, map[string]error{}
	}
	wants := s.a.o.Extras()
	for i, x := range l.Extra {
		key := wants[i].Key()
		have, ok := s.shapes[key]
		switch {
		case x.Missing:
			s.lacks[key] = cmp.Or(s.lacks[key], error(&input.SchemaError{Path: f.Path, Column: x.Name, Cause: "is missing", Remedy: x.Remedy}))
		case !ok || have.null:
			s.shapes[key] = known{x.Shape, x.Null}
		case x.Null:
		case wants[i].Kept && !parquet.SameShape(have.Shape, x.Shape):
			return otherType(x.Name)
		case !wants[i].Kept:
			s.shapes[key] = known{Shape: input.Shape{Kind: parquet.Widened(have.Kind, x.Kind)}}
		}
	}
	if s.first == nil {
		s.first = l
		return ""
	}
	s.a.Drift = append(s.a.Drift, drift(f.Path, s.first.Columns, l.Columns)...)
	return ""
}

func otherType(column string) string {
	return fmt.Sprintf("column %q has another type than in the files before; give these months apart, or leave the column out", column)
}

func drift(path string, first, now []parquet.ColumnType) []Drift {
	was := map[string]string{}
	for _, c := range first {
		was[c.Name] = c.Type
	}
	var all []Drift
	for _, c := range now {
		before, known := was[c.Name]
		switch {
		case !known:
			all = append(all, Drift{path, c.Name, "is new: " + c.Type})
		case before != c.Type:
			all = append(all, Drift{path, c.Name, fmt.Sprintf("was %s, is %s", before, c.Type)})
		}
		delete(was, c.Name)
	}
	for _, c := range first {
		if _, gone := was[c.Name]; gone {
			all = append(all, Drift{path, c.Name, "is missing"})
		}
	}
	return all
}

// without removes a column from those that files must have.
func (a *Archive) without(name string) {
	a.o.Pass = slices.DeleteFunc(slices.Clone(a.o.Pass), func(have string) bool { return have == name })
}

// extras decides the type of every pass-through column for the whole archive.
func (s *scanner) extras() error {
	s.a.o.Shapes = map[string]input.Shape{}
	for key, k := range s.shapes {
		s.a.o.Shapes[key] = k.Shape
	}
	dumps := s.first == nil
	if len(s.a.Files) == 0 {
		return nil
	}
	var kept []pipeline.Column
	for _, x := range s.a.o.Extras() {
		f, known := s.a.o.Shapes[x.Key()]
		if !known && x.Kept && s.a.o.Optional {
			s.a.without(x.Name)
			continue
		}
		if !known && !dumps {
			return s.lacks[x.Key()]
		}
		if !known {
			return &input.SchemaError{Path: s.a.Files[0].Path, Column: x.Name, Cause: "is missing",
				Remedy: "raw dumps and notes of a file each have ids and texts only"}
		}
		c, err := parquet.NewColumn(x.As, f)
		if err != nil {
			return &input.SchemaError{Path: s.a.Files[0].Path, Column: x.Name, Cause: "is of a type that cannot be kept",
				Remedy: "name another column"}
		}
		s.a.Extra = append(s.a.Extra, c)
		if x.Kept {
			kept = append(kept, c)
		}
	}
	s.a.o.Places = !slices.ContainsFunc(s.a.Files, func(f File) bool { return f.form != csvForm && f.form != jsonForm })
	if s.a.o.Places {
		s.a.Extra = s.a.o.FillerColumns()
	}
	s.a.Extra = append(s.a.Extra, s.a.partitions...)
	s.a.Kept = s.a.kept(s.asked, kept)
	return nil
}

// listed compares the file with the list of checksums: "" if it agrees or there is no list.
func (s *scanner) listed(f *File) string {
	if s.sums == nil {
		return ""
	}
	name, err := filepath.Abs(f.Path)
	if err != nil {
		return "has no absolute path"
	}
	want, ok := s.sums[name]
	delete(s.sums, name)
	switch {
	case !ok:
		return "is not in the list of checksums"
	case want != hex.EncodeToString(f.SHA256[:]):
		return "does not have the SHA-256 that the list of checksums gives"
	}
	return ""
}

// missing lists files that are named in the list of checksums, below one of the folders, and do not exist: the delivery
// is incomplete.
func (s *scanner) missing(inputs []string) {
	for _, name := range slices.Sorted(maps.Keys(s.sums)) {
		if formOfExt[strings.ToLower(filepath.Ext(name))] == noForm {
			continue
		}
		for _, in := range inputs {
			root, err := filepath.Abs(in)
			if err != nil {
				continue
			}
			if below, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(below) {
				s.a.Bad = append(s.a.Bad, commit.BadInput{Input: filepath.ToSlash(below), SHA256: s.sums[name],
					Cause: "is in the list of checksums and not in the archive"})
				break
			}
		}
	}
}
