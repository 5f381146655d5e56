package read

import (
	"bufio"
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
)

// Archive is the files of a run: what they hold and how they are cut into
// units.
type Archive struct {
	Files []ArchiveFile
	Units []pipeline.Unit     // in the order of the files
	Bad   []pipeline.BadInput // files that cannot be read at all
	Drift []Drift             // in what files differ from the first
	Extra []pipeline.Column   // names and kinds of the columns in Batch.Extra
	o     ParquetOptions
}

// ArchiveFile is a file of an archive.
type ArchiveFile struct {
	Path   string
	Folder string // below the archive, with slashes: year=2026/month=01; "" for a file that was given itself
	SHA256 [32]byte
	Bytes  int64
	Rows   int64
	Groups int // row groups; 0 for dumps
}

// name is the path of the file below the archive.
func (f *ArchiveFile) name() string { return path.Join(f.Folder, filepath.Base(f.Path)) }

// Drift says in what a file differs from the first file of the archive.
type Drift struct {
	Path   string `json:"path"`
	Column string `json:"column"`
	Change string `json:"change"` // "is missing", "is new: INT64", "was INT64, is BYTE_ARRAY STRING"
}

func (d Drift) String() string { return fmt.Sprintf("%s: column %q %s", d.Path, d.Column, d.Change) }

// Scan finds the files of an archive and plans their units. An input is a
// file, or a folder that may have folders of months below it; files are taken
// in the order of their paths, whatever the order of the inputs. Names that begin with a dot or an underscore
// do not count, as everywhere in the Parquet world.
//
// Every file is read once for its SHA-256, which names its units. A file that
// is no sound Parquet file, or whose columns are not what the options say, is
// listed in Bad and the others go on: one damaged name of a column must not
// stop a night. If the columns of no file are, it is the options that are
// wrong, and the error is a *SchemaError.
func Scan(ctx context.Context, inputs []string, o ParquetOptions) (*Archive, error) {
	a := &Archive{o: o.withDefaults()}
	if err := a.o.check(); err != nil {
		return nil, err
	}
	sums, err := readChecksums(a.o.Checksums)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if err := a.find(in); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(a.Files, func(x, y ArchiveFile) int { return strings.Compare(x.Path, y.Path) })
	a.Files = slices.CompactFunc(a.Files, func(x, y ArchiveFile) bool { return x.Path == y.Path })
	if len(a.Files) == 0 {
		return nil, &InputError{Path: strings.Join(inputs, ", "), Cause: "no files of notes there", Remedy: "give a .parquet file, or a folder of them (.txt, .dump: raw dumps)"}
	}
	s := scanner{a: a, sums: sums, copies: map[copyKey]int{}}
	for i := range a.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := s.file(ctx, &a.Files[i]); err != nil {
			return nil, err
		}
	}
	if err := s.settleStrange(); err != nil {
		return nil, err
	}
	s.missing(inputs)
	return a, s.extras()
}

// Open opens the notes of a unit. The source is an io.Closer.
func (a *Archive) Open(u *pipeline.Unit) (interface {
	pipeline.Source
	io.Closer
}, error) {
	if isDump(u.Input) {
		return NewDump(u.Input, u.From, u.To, u.First, a.o)
	}
	if a.o.Fence != nil {
		return a.o.Fence.open(u, &a.o, a.Extra)
	}
	return NewParquet(u.Input, int(u.From), int(u.To), a.o)
}

// Rows returns the number of notes in all units.
func (a *Archive) Rows() int64 {
	n := int64(0)
	for i := range a.Units {
		n += a.Units[i].Rows
	}
	return n
}

func isParquet(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet", ".parq", ".pq":
		return true
	}
	return false
}

func isDump(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".txt", ".dump":
		return true
	}
	return false
}

// find lists the files of an input.
func (a *Archive) find(in string) error {
	info, err := os.Stat(in)
	if err != nil {
		return &InputError{Path: in, Cause: inputCause(err), Remedy: "check the path and its permissions"}
	}
	if !info.IsDir() {
		a.Files = append(a.Files, ArchiveFile{Path: filepath.Clean(in), Bytes: info.Size()})
		return nil
	}
	return filepath.WalkDir(in, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return &InputError{Path: name, Cause: inputCause(err), Remedy: "check its permissions"}
		}
		if name != in && strings.ContainsAny(e.Name()[:1], "._") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() || !isParquet(name) && !isDump(name) {
			return nil
		}
		return a.add(in, name)
	})
}

func (a *Archive) add(root, name string) error {
	info, err := os.Stat(name) // a link to a file counts
	if err != nil {
		return &InputError{Path: name, Cause: inputCause(err), Remedy: "check its permissions"}
	}
	folder, err := filepath.Rel(root, filepath.Dir(name))
	if err != nil {
		return err
	}
	if folder == "." {
		folder = ""
	}
	a.Files = append(a.Files, ArchiveFile{Path: name, Folder: filepath.ToSlash(folder), Bytes: info.Size()})
	return nil
}

func inputCause(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read"
	}
	return "cannot be read"
}

// scanner plans the units of an archive, file by file.
type scanner struct {
	a       *Archive
	sums    map[string]string // checksums by cleaned path; nil: no list
	copies  map[copyKey]int
	first   *layout // of the first sound file
	lacks   map[string]error
	strange []strangeFile
	kinds   map[string]pipeline.ColumnKind
}

// strangeFile is a file whose columns are not what the options say.
type strangeFile struct {
	file *ArchiveFile
	err  *SchemaError
}

// settleStrange lists them as bad, unless there are no others.
func (s *scanner) settleStrange() error {
	if s.first == nil && len(s.strange) > 0 {
		return s.strange[0].err
	}
	for _, f := range s.strange {
		s.bad(f.file, strings.TrimPrefix(f.err.Error(), f.err.Path+": "))
	}
	return nil
}

type copyKey struct {
	folder string
	sum    [32]byte
}

func (s *scanner) file(ctx context.Context, f *ArchiveFile) error {
	cuts, err := s.hash(ctx, f)
	if err != nil {
		return err
	}
	if cause := s.listed(f); cause != "" {
		s.bad(f, cause)
		return nil
	}
	unit := pipeline.Unit{Input: f.Path, Source: f.name(), Folder: s.folder(f), SHA256: f.SHA256}
	key := copyKey{unit.Folder, f.SHA256}
	unit.Copy = s.copies[key]
	switch {
	case f.Bytes == 0:
		s.bad(f, "the file is empty")
		return nil
	case isDump(f.Path):
		s.dumpUnits(f, unit, cuts)
	default:
		err := s.parquetUnits(f, unit)
		if damage, ok := errors.AsType[*pipeline.DamageError](err); ok {
			s.bad(f, strings.TrimPrefix(damage.Error(), damage.Path+": ")) // with row group and column
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.copies[key]++
	return nil
}

func (s *scanner) bad(f *ArchiveFile, cause string) {
	s.a.Bad = append(s.a.Bad, pipeline.BadInput{Input: f.name(), SHA256: hex.EncodeToString(f.SHA256[:]), Bytes: f.Bytes, Cause: cause})
}

// hash reads the file once. For a dump it returns where its records begin.
func (s *scanner) hash(ctx context.Context, f *ArchiveFile) ([]cut, error) {
	in, err := os.Open(f.Path)
	if err != nil {
		return nil, &InputError{Path: f.Path, Cause: inputCause(err), Remedy: "check its permissions"}
	}
	defer in.Close() // only read
	h := sha256.New()
	var cuts cutter
	to := io.Writer(h)
	if isDump(f.Path) {
		cuts.every = s.a.o.UnitNotes
		to = io.MultiWriter(h, &cuts)
	}
	buf := make([]byte, min(f.Bytes+1, 1<<20))
	for {
		n, err := in.Read(buf)
		if _, err := to.Write(buf[:n]); err != nil {
			return nil, err
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, &InputError{Path: f.Path, Cause: "cannot be read to its end", Remedy: "check the disk"}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	h.Sum(f.SHA256[:0])
	return cuts.end(), nil
}

// folder returns the folder of the unit's parts.
func (s *scanner) folder(f *ArchiveFile) string {
	if !s.a.o.Opaque {
		return f.Folder
	}
	if s.a.o.Key != nil {
		mac := hmac.New(sha256.New, s.a.o.Key.Derive("folder"))
		mac.Write([]byte(f.Folder))
		return fmt.Sprintf("batch=%x", mac.Sum(nil)[:6])
	}
	// Without a key a hash of the folder's name could be undone by trying all
	// months; one of the content cannot without the content.
	return fmt.Sprintf("batch=%x", f.SHA256[:6])
}

func (s *scanner) dumpUnits(f *ArchiveFile, unit pipeline.Unit, cuts []cut) {
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

func (s *scanner) parquetUnits(f *ArchiveFile, unit pipeline.Unit) error {
	inspect := inspect
	if s.a.o.Fence != nil {
		inspect = s.a.o.Fence.inspect
	}
	l, err := inspect(f.Path, &s.a.o)
	if strange, ok := errors.AsType[*SchemaError](err); ok {
		s.strange = append(s.strange, strangeFile{f, strange})
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.check(f.Path, &s.a.o); err != nil {
		return err
	}
	if err := s.schema(f, l); err != nil {
		return err
	}
	f.Groups = len(l.Groups)
	bytes := int64(0)
	for g, group := range l.Groups {
		f.Rows += group.Rows
		unit.Rows += group.Rows
		bytes += group.Bytes
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

// schema checks that the file has what the options want, and notes in what it
// differs from the first.
func (s *scanner) schema(f *ArchiveFile, l *layout) error {
	if s.kinds == nil {
		s.kinds, s.lacks = map[string]pipeline.ColumnKind{}, map[string]error{}
	}
	for _, x := range l.Extra {
		if x.Missing {
			s.lacks[x.Name] = cmp.Or(s.lacks[x.Name], error(&SchemaError{f.Path, x.Name, "is missing", x.Remedy}))
			continue
		}
		if kind, known := s.kinds[x.Name]; known && kind != x.Kind {
			return &SchemaError{f.Path, x.Name, "has another type than in the files before", "give these months apart, or leave the column out"}
		}
		s.kinds[x.Name] = x.Kind
	}
	if s.first == nil {
		s.first = l
		return nil
	}
	s.a.Drift = append(s.a.Drift, drift(f.Path, s.first.Columns, l.Columns)...)
	return nil
}

func drift(path string, first, now []columnType) []Drift {
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

// extras settles the kinds of the pass-through columns for the whole archive.
func (s *scanner) extras() error {
	s.a.o.kinds = s.kinds
	dumps := s.first == nil
	for _, x := range s.a.o.extras() {
		kind, known := s.kinds[x.name]
		if !known && !dumps {
			return s.lacks[x.name]
		}
		if !known {
			return &SchemaError{s.a.Files[0].Path, x.name, "is missing", "a raw dump has ids and texts only"}
		}
		s.a.Extra = append(s.a.Extra, pipeline.Column{Name: x.as, Kind: kind})
	}
	return nil
}

// listed checks the file against the list of checksums: "" if it agrees or
// there is no list.
func (s *scanner) listed(f *ArchiveFile) string {
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

// missing reports files that the list of checksums names below one of the
// folders and that are not there: an archive that was not delivered whole.
func (s *scanner) missing(inputs []string) {
	for _, name := range slices.Sorted(maps.Keys(s.sums)) {
		if !isParquet(name) && !isDump(name) {
			continue
		}
		for _, in := range inputs {
			root, err := filepath.Abs(in)
			if err != nil {
				continue
			}
			if below, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(below) {
				s.a.Bad = append(s.a.Bad, pipeline.BadInput{Input: filepath.ToSlash(below), SHA256: s.sums[name], Cause: "is in the list of checksums and not in the archive"})
				break
			}
		}
	}
}

// readChecksums reads a file as sha256sum writes it: the sum, two characters,
// the path, which counts from the folder of the list.
func readChecksums(name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &InputError{Path: name, Cause: inputCause(err), Remedy: "give the list that sha256sum wrote"}
	}
	defer f.Close() // only read
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), "\r")
		if line == "" {
			continue
		}
		sum, path, ok := strings.Cut(line, " ")
		raw, err := hex.DecodeString(sum)
		if !ok || err != nil || len(raw) != sha256.Size || len(path) < 2 {
			return nil, &InputError{Path: name, Line: n, Cause: "is no line of a SHA-256 list", Remedy: "write it with: sha256sum FILES"}
		}
		path = filepath.FromSlash(path[1:]) // behind the second space or the asterisk
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(name), path)
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		sums[path] = strings.ToLower(sum)
	}
	if lines.Err() != nil {
		return nil, &InputError{Path: name, Cause: "cannot be read to its end", Remedy: "give the list that sha256sum wrote"}
	}
	return sums, nil
}
