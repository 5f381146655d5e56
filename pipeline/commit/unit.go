package commit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"

	"github.com/velum-health/velum/pipeline"
)

// Unit is a part of the archive that is processed and committed as a whole: row groups of one input file, or bytes of
// it if its format has no row groups. Names and bytes of its parts depend only on the unit and on the plan's
// configuration, model and key.
type Unit struct {
	Input  string `json:"-"`                // path of the input file
	Source string `json:"source,omitempty"` // its path below the archive, which the private manifest names; "" means Input
	// where its parts stand below masked/ and so on: month=2026-01, or an opaque name; may be empty
	Folder  string   `json:"folder,omitempty"`
	SHA256  [32]byte `json:"-"`                 // hash of the whole input file
	Copy    int      `json:"copy,omitempty"`    // distinguishes files with one content in one folder or one Source; Prepare sets it
	From    int64    `json:"from,omitempty"`    // row groups, or bytes, [From, To)
	To      int64    `json:"to,omitempty"`      // the same
	First   int64    `json:"first,omitempty"`   // row of the first note in the file
	Rows    int64    `json:"rows"`              // notes, as the file's footer or the planner's count has it
	Without string   `json:"without,omitempty"` // hash of the rows that are left out because somebody objects; "": none
	Small   int64    `json:"-"`                 // size of a file that may share its unit with others; 0: it may not
	Shelf   *string  `json:"-"`                 // folder in which files of several folders may share a unit; nil: only those of its own folder
	Placed  bool     `json:"-"`                 // the ids of its notes contain the file's path: the same content elsewhere is other notes

	// files that share this unit, see share.go: a Plan has none, Prepare makes them; First is the row of the unit
	Members []Unit `json:"members,omitempty"`

	set settled // what Prepare settles
}

// Plan lists the units that a run is to do.
type Plan struct {
	Units     []Unit
	Config    [32]byte // hash of everything that shapes the output
	Model     [32]byte // hash of the model file
	Key       string   // Key.ID
	BadInputs []BadInput
	Roots     []string // the files and folders that were scanned: a file below them that is gone counts as vanished

	Mark func(*Unit) string // what the rows of a unit's parts are called by; nil: nothing
	With json.RawMessage    // further data in plan.json for the processes that join: see Join
}

// BadInput is a file of the archive that was not read at all, because that failed or because it is of another kind than
// the archive. It is recorded in the manifest so that it cannot be overlooked.
type BadInput struct {
	Input  string `json:"input,omitempty"` // path below the archive; in the private manifest only
	SHA256 string `json:"input_sha256,omitempty"`
	Bytes  int64  `json:"bytes"`
	Cause  string `json:"cause"`
	Other  bool   `json:"other,omitempty"` // the file is of another kind than the archive
	Known  bool   `json:"known,omitempty"` // and that is no fault: it holds no notes, or the options say what kind the archive is
	Path   string `json:"-"`               // where the file is; "" if it is not there
}

// Faults returns the inputs that should have been read.
func Faults(bad []BadInput) []BadInput {
	return slices.DeleteFunc(slices.Clone(bad), func(b BadInput) bool { return b.Known })
}

// Name returns the name of a unit, a hash of all that determines its parts: equal names mean equal parts.
func (p *Plan) Name(u *Unit) string {
	h := sha256.New()
	switch {
	case u.set.Name != "":
		return u.set.Name
	case u.set.Rest != nil:
		u.set.Rest.name(h)
		return hex.EncodeToString(h.Sum(nil)[:10])
	case len(u.Members) > 0:
		fmt.Fprintln(h, "velum shared unit 1")
		for i := range u.Members {
			fmt.Fprintln(h, p.Name(&u.Members[i]))
		}
		return hex.EncodeToString(h.Sum(nil)[:10])
	}
	fmt.Fprintf(h, "velum unit 1\n%x %d %d %d %q\n%x %x %q\n", u.SHA256, u.Copy, u.From, u.To, u.Folder, p.Config, p.Model, p.Key)
	if u.Without != "" {
		fmt.Fprintf(h, "without %s\n", u.Without)
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// check returns the mistake in a plan, or nil.
func (p *Plan) check() error {
	type piece struct {
		input    string
		sum      [32]byte
		from, to int64
	}
	seen := map[piece]bool{}
	for i := range p.Units {
		u := &p.Units[i]
		if u.Folder != "" && !filepath.IsLocal(u.Folder) {
			return fmt.Errorf("unit folder %q leaves the output tree", u.Folder)
		}
		if at := (piece{u.Input, u.SHA256, u.From, u.To}); seen[at] {
			return fmt.Errorf("%s: planned twice", u.Input)
		} else {
			seen[at] = true
		}
	}
	return nil
}

// Run returns the name of the run directory. It is the same for every start of the same plan.
func (p *Plan) Run() string {
	h := sha256.New()
	for i := range p.Units {
		fmt.Fprintln(h, p.Name(&p.Units[i]))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Planned returns the identification of the plan.
func (p *Plan) Planned() *Planned {
	return &Planned{p.Run(), hex.EncodeToString(p.Config[:]), hex.EncodeToString(p.Model[:]), p.Key, p.With}
}

// source returns what the private manifest calls the input file. It is not
// where the archive stands, so that equal archives have equal manifests.
func (u *Unit) source() string { return cmp.Or(u.Source, u.Input) }

// settled holds what Prepare decides about a unit, and plan.json carries to other processes: the names that its parts are
// made from. A digest of the content follows in the name of each part, so that a part of the last commit is not
// overwritten before the next commit.
type settled struct {
	Name    string `json:"name"`           // of the unit
	Mark    string `json:"mark,omitempty"` // what its rows are called by
	Public  string `json:"public"`         // stem of its public parts, below their kind
	Private string `json:"private"`        // the same of private ones, which sort in the order of the input

	Again bool  `json:"again,omitempty"` // the unit is one of an earlier run, and whole
	Rest  *rest `json:"rest,omitempty"`  // what is left of an earlier unit, if this unit is made from that
}

// label settles the names of a unit. The public name must not depend on what the masked notes hide: with a digest of
// the input, somebody could test guesses of a hidden name. It depends on the path of the input, which tells files
// apart. Where the names of folders are made opaque the path would tell the month, so there the keyed Plan.Mark is used
// instead.
func (p *Plan) label(u *Unit) {
	l := &u.set
	l.Name = p.Name(u)
	if p.Mark != nil {
		l.Mark = p.Mark(u)
	}
	of := u.Mark()
	public := fmt.Sprintf("%x-", of[:])
	if path.Clean(u.Folder) != path.Dir(u.source()) {
		public = strings.TrimPrefix(strings.ReplaceAll(l.Mark, "-", "")+"-", "-")
	}
	l.Public = path.Join(u.Folder, fmt.Sprintf("part-%s%09d", public, u.First))
	l.Private = path.Join(u.Folder, fmt.Sprintf("part-%x-%06d-%s", u.SHA256[:4], u.From, l.Name))
}

// part returns the path of a part of a unit.
func (l *settled) part(kind, ext string, private bool) string {
	stem := l.Public
	if private {
		stem = l.Private
	}
	return path.Join(kind, stem+"-"+DigestHere+ext)
}

// DigestHere stands in the path of a part for a digest of what it says, which is known when it is whole. No file has it in its name.
const DigestHere = "\x00"

// Mark tells the input file of a unit from those of other paths below the
// archive, without a word of its content.
func (u *Unit) Mark() [8]byte {
	of := fmt.Appendf(nil, "%q %d", u.source(), u.Copy)
	for i := range u.Members {
		of = fmt.Appendf(of, "\n%q %d", u.Members[i].source(), u.Members[i].Copy)
	}
	if u.set.Rest != nil {
		for _, m := range u.set.Rest.Keep {
			of = fmt.Appendf(of, "\n%q %d", m.Input, m.Copy)
		}
	}
	sum := sha256.Sum256(of)
	return [8]byte(sum[:8])
}

// A UnitSink writes the parts of one unit and returns the outcome of its notes.
type UnitSink interface {
	pipeline.Sink
	// Close finishes the parts: when it returns, Rows and Digest of each are
	// set.
	Close() (Counts, error)
}

// Counts counts notes by their outcome. Rows = Masked + Quarantined, always.
type Counts struct {
	Rows        int64        `json:"rows"`
	Masked      int64        `json:"masked"`
	Quarantined int64        `json:"quarantined"`
	Reasons     tally.Counts `json:"reasons,omitempty"` // quarantined notes by reason
	Tally       tally.Counts `json:"tally,omitempty"`   // whatever else the sink counts: spans by category and the like
}

// Add adds the counts of d to c.
func (c *Counts) Add(d Counts) {
	c.Rows += d.Rows
	c.Masked += d.Masked
	c.Quarantined += d.Quarantined
	c.Reasons.Add(d.Reasons)
	c.Tally.Add(d.Tally)
}

// conserved checks that no note got lost or came twice.
func (c *Counts) conserved(read, planned int64) error {
	byReason := int64(0)
	for _, n := range c.Reasons {
		byReason += n
	}
	if c.Rows != read || c.Rows != planned || c.Masked+c.Quarantined != c.Rows || byReason != c.Quarantined {
		return &durable.IntegrityError{Cause: fmt.Sprintf("notes got lost or came twice: planned %d, read %d, counted %d = %d masked + %d in quarantine (%d by reason)",
			planned, read, c.Rows, c.Masked, c.Quarantined, byReason)}
	}
	return nil
}

// A DamageError says that the input of a unit could not be decoded. All its rows go to quarantine (reason BadUnit), and
// the run continues.
type DamageError struct {
	Path     string
	RowGroup int // -1 if not known
	Column   string
	Cause    string
	Unread   bool // the system could not read the file, which may be sound: the next start tries again
}

func (e *DamageError) Error() string { return e.Path + ": " + e.where() }

// where describes the damage without the path, since that may name the month.
func (e *DamageError) where() string {
	s := e.Cause
	if e.Column != "" {
		s = fmt.Sprintf("column %q: %s", e.Column, s)
	}
	if e.RowGroup >= 0 {
		s = fmt.Sprintf("row group %d: %s", e.RowGroup, s)
	}
	return s
}

// PartRecord describes a file of an output tree.
type PartRecord struct {
	Kind    string `json:"kind"`              // masked, spans, candidates, quarantine, report...
	Path    string `json:"path"`              // path within its tree, with slashes
	Private bool   `json:"private,omitempty"` // it stands in the private tree
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Digest  string `json:"digest,omitempty"` // digest of the rows, independent of their encoding
}

// Part is a file that is being written. Its writer sets Rows and Digest.
type Part struct {
	Kind    string
	Private bool
	Rows    int64
	Digest  string

	name string // path in its tree, with slashes
	tmp  string
	f    durable.File
	sum  hash.Hash
	size int64
}

// Write implements io.Writer.
func (p *Part) Write(data []byte) (int, error) {
	n, err := p.f.Write(data)
	p.sum.Write(data[:n])
	p.size += int64(n)
	return n, err
}

// Parts creates the files of one unit, or of the last step of a run.
type Parts struct {
	run   *Prepared
	stem  string // of temporary names
	at    func(kind, ext string, private bool) string
	parts []*Part
}

// Create creates the unit's part of a kind, in the private tree if private is set.
func (p *Parts) Create(kind, ext string, private bool) (*Part, error) {
	return p.create(kind, p.at(kind, ext, private), private)
}

func (p *Parts) create(kind, name string, private bool) (*Part, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("part name %q leaves the output tree", name)
	}
	short := sha256.Sum256([]byte(name)) // a path of folders may be longer than a name may be
	tmp := filepath.Join(p.run.scratch(private), fmt.Sprintf("%s-%x%s", p.stem, short[:8], path.Ext(name)))
	f, err := p.run.fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, durable.FileMode)
	if err != nil {
		return nil, err
	}
	part := &Part{Kind: kind, Private: private, name: name, tmp: tmp, f: f, sum: sha256.New()}
	p.parts = append(p.parts, part)
	return part, nil
}

// discard removes all parts that have not been renamed to their final names.
func (p *Parts) discard() error {
	var errs []error
	for _, part := range p.parts {
		if part.f != nil {
			errs = append(errs, part.f.Close())
			part.f = nil
		}
		errs = append(errs, durable.RemoveIfThere(p.run.fs, part.tmp))
	}
	p.parts = nil
	return errors.Join(errs...)
}

// A verifier re-reads a part with another library than the one that wrote it.
// It returns the rows and the digest that it found.
type verifier func(kind string, r io.ReaderAt, size int64) (rows int64, digest string, err error)

// commit makes the parts durable, checks them, and gives them their names.
func (p *Parts) commit() ([]PartRecord, error) {
	records := make([]PartRecord, 0, len(p.parts))
	for _, part := range p.parts {
		if err := p.settle(part); err != nil {
			return nil, err
		}
		digits := 8
		if part.Private {
			digits = 4
		}
		part.name = strings.Replace(part.name, DigestHere, hex.EncodeToString(part.sum.Sum(nil)[:digits]), 1)
		records = append(records, part.record())
	}
	for _, part := range p.parts {
		to := filepath.Join(p.run.out.root(part.Private), part.name)
		err := p.run.made.Make(p.run.fs, filepath.Dir(to))
		if err == nil {
			err = p.run.fs.Rename(part.tmp, to)
		}
		if err == nil {
			err = p.run.fs.SyncDir(filepath.Dir(to))
		}
		if err != nil {
			return nil, err
		}
	}
	p.parts = nil
	return records, nil
}

// record describes a part that is whole.
func (p *Part) record() PartRecord {
	return PartRecord{Kind: p.Kind, Path: p.name, Private: p.Private, Rows: p.Rows, Bytes: p.size, SHA256: hex.EncodeToString(p.sum.Sum(nil)),
		Digest: p.Digest}
}

// settle syncs, closes and re-reads a part that is open still.
func (p *Parts) settle(part *Part) error {
	if part.f == nil {
		return nil
	}
	err := part.f.Sync()
	if err := errors.Join(err, part.f.Close()); err != nil {
		part.f = nil
		return err
	}
	part.f = nil
	f, err := p.run.fs.OpenFile(part.tmp, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	var disk durable.Witness
	return errors.Join(disk.Joined(check(disk.Watch(f), part, p.run.o.Verify)), f.Close())
}

func check(f durable.File, part *Part, verify verifier) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != part.size {
		return &durable.IntegrityError{Path: part.tmp, Cause: fmt.Sprintf("has %d bytes, wrote %d", info.Size(), part.size)}
	}
	if verify == nil || path.Ext(part.name) != ".parquet" {
		return nil
	}
	var rows int64
	var digest string
	err = pipeline.Try(func() error {
		rows, digest, err = verify(part.Kind, f, part.size)
		return err
	})
	if err != nil {
		return fmt.Errorf("re-read %s: %w", part.tmp, err)
	}
	if rows != part.Rows || digest != part.Digest {
		return &durable.IntegrityError{Path: part.tmp, Cause: fmt.Sprintf("re-read gives %d rows and digest %.16s, wrote %d and %.16s", rows,
			digest, part.Rows, part.Digest)}
	}
	return nil
}
