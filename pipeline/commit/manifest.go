package commit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
)

// UnitRecord is the record of a unit in a manifest. Name, Input, SHA256, From, To and most counts are in the private
// manifest only: they reveal the month, or depend on masked words, which could be found by trying candidates.
type UnitRecord struct {
	Name   string `json:"name,omitempty"`
	Input  string `json:"input,omitempty"` // path below the archive
	SHA256 string `json:"input_sha256,omitempty"`
	Copy   int    `json:"copy,omitempty"` // Unit.Copy
	Mark   string `json:"part,omitempty"` // value of the column part in its rows
	From   int64  `json:"from,omitempty"` // row groups or bytes [From, To) of the input
	To     int64  `json:"to,omitempty"`
	Counts
	Config string       `json:"config_sha256,omitempty"` // hash of the configuration of the run that did it, if different from the manifest's
	Model  string       `json:"model_sha256,omitempty"`  // hash of the model, likewise
	Damage string       `json:"damage,omitempty"`        // why nothing of it could be read
	Unread bool         `json:"unread,omitempty"`        // the reason is a failure of the system, or a note took too long: it is tried again
	Starts int          `json:"starts,omitempty"`        // number of starts at which a note took too long, at most mostStarts
	Parts  []PartRecord `json:"parts"`

	Members []memberRecord `json:"members,omitempty"` // files that share the unit; then Input is a pattern, and From and To say nothing

	Run    string `json:"run,omitempty"` // Planned.Run of the plan that it was done for; in journals alone
	Shares bool   `json:"-"`             // of one of the Inputs of a manifest: it shares its unit
	First  int64  `json:"-"`             // of the same: row of the unit that its first note has
}

// memberRecord is a small file that shares a unit with others. Its notes are the
// rows [First, First+Rows) of the unit. A unit that has lost members has gaps there.
type memberRecord struct {
	Name   string `json:"name"` // that the file would have as a unit of its own
	Input  string `json:"input"`
	SHA256 string `json:"input_sha256"`
	Copy   int    `json:"copy,omitempty"`
	From   int64  `json:"from,omitempty"` // as those of a unit
	To     int64  `json:"to"`
	First  int64  `json:"first"`
	Rows   int64  `json:"rows"`
	Damage string `json:"damage,omitempty"` // why it could not be read: its notes are in quarantine
	Unread bool   `json:"unread,omitempty"` // as that of a unit
}

// File returns the input file that a row of the unit comes from (Input, SHA256, From and To), and the row in that file.
func (u *UnitRecord) File(row int64) (f UnitRecord, at int64) {
	n := sort.Search(len(u.Members), func(i int) bool { return u.Members[i].First > row })
	if n == 0 {
		return *u, row
	}
	m := &u.Members[n-1]
	return UnitRecord{Input: m.Input, SHA256: m.SHA256, From: m.From, To: m.To}, row - m.First
}

// Files returns a record for each input file of the unit, as if it were a unit of its own that shares its parts; Counts
// has only the number of its rows. A unit of one file is returned unchanged.
func (u *UnitRecord) Files() []UnitRecord {
	if len(u.Members) == 0 {
		return []UnitRecord{*u}
	}
	all := make([]UnitRecord, len(u.Members))
	for i, m := range u.Members {
		all[i] = UnitRecord{
			Name: m.Name, Input: m.Input, SHA256: m.SHA256, Copy: m.Copy, From: m.From, To: m.To, Shares: true, First: m.First,
			Counts: Counts{Rows: m.Rows},
			Config: u.Config, Model: u.Model, Damage: cmp.Or(m.Damage, u.Damage), Unread: m.Unread || u.Unread, Parts: u.Parts,
		}
		if u.Mark != "" {
			all[i].Mark = fmt.Sprintf("%s:%d", u.Mark, m.First)
		}
	}
	return all
}

// Inputs returns the records of all input files, the Files of all units.
func (m *Manifest) Inputs() (all []UnitRecord) {
	for i := range m.Units {
		all = append(all, m.Units[i].Files()...)
	}
	return all
}

// mostStarts is at how many starts in a row a unit is tried that has a note
// which takes too long. Then the note stays in quarantine, until a run with
// UnitOptions.Fresh.
const mostStarts = 3

// Manifest lists the files of an output tree. Replacing it is the commit of a run: readers use it, and never a
// directory listing. It holds neither time nor place of the run, so that equal runs have equal manifests.
type Manifest struct {
	Schema string `json:"schema"`
	Config string `json:"config_sha256"`
	Model  string `json:"model_sha256"`
	Key    string `json:"key_id,omitempty"`
	Public string `json:"public_manifest_sha256,omitempty"` // in the private tree: hash of the public manifest that belongs to it

	LastStep string `json:"last_step,omitempty"` // UnitOptions.LastStep
	Counts
	Units     []UnitRecord `json:"units"`
	BadInputs []BadInput   `json:"bad_inputs,omitempty"`
	Files     []PartRecord `json:"files,omitempty"` // files that the last step of the run wrote
}

const (
	manifestFamily = `"velum.manifest/` // every version
	manifestSchema = "velum.manifest/3"
	manifestAlone  = "velum.manifest/2" // in which no files share a unit
	manifestName   = "manifest.json"
	successName    = "_SUCCESS"
	lockName       = ".lock"
	runsName       = "_runs"

	journalName   = "journal" // of the run; those of shares have their name behind it
	journalFormat = "velum.journal/1"
)

// MarshalFile returns the content of manifest.json.
func (m *Manifest) MarshalFile() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", " ")
	return append(data, '\n'), err
}

// ParseManifest reads the content of a manifest.json. Errors are
// *durable.IntegrityError and quote nothing.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &durable.IntegrityError{Cause: "is no manifest: not valid JSON or of another shape"}
	}
	if m.Schema != manifestSchema && m.Schema != manifestAlone {
		return nil, &durable.IntegrityError{Cause: "is of another version than " + manifestSchema + "; use the version of velum that wrote it"}
	}
	return &m, nil
}

// ReadManifest reads the manifest of an output tree.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(durable.OS, dir) }

func readManifest(d durable.FS, dir string) (*Manifest, error) {
	data, err := durable.ReadFile(d, filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(data)
	if bad, ok := errors.AsType[*durable.IntegrityError](err); ok {
		bad.Path = filepath.Join(dir, manifestName)
	}
	return m, err
}

// public returns what of the manifest may be given away with the masked notes:
// the parts of the public tree and counts by category. Names of units, digests
// of input files, offsets in them and the other counts are functions of what
// the parts hide.
func (m *Manifest) public() *Manifest {
	h := *m
	h.Public, h.Counts = "", m.Counts.public()
	h.Units = []UnitRecord{}
	for _, u := range m.Units {
		// The number of notes of a file stays private where no public part belongs to the file.
		if parts := ofTree(u.Parts, false); len(parts) > 0 || u.Damage != "" {
			h.Units = append(h.Units, UnitRecord{Counts: u.Counts.public(), Config: u.Config, Model: u.Model, Damage: u.Damage, Unread: u.Unread &&
				u.Damage != "", Parts: parts})
		}
	}
	h.BadInputs = []BadInput{}
	for _, b := range Faults(m.BadInputs) {
		h.BadInputs = append(h.BadInputs, BadInput{Cause: b.Cause, Other: b.Other})
	}
	h.Files = ofTree(m.Files, false)
	return &h
}

// public returns the counts that reveal no more than the masked notes do.
func (c *Counts) public() Counts {
	open := Counts{Rows: c.Rows, Masked: c.Masked, Quarantined: c.Quarantined}
	for name, n := range c.Tally {
		if name == spanNotes || strings.HasPrefix(name, categoryTally) {
			open.Tally.Add(map[string]int64{name: n})
		}
	}
	return open
}

// Names of tallies that may be public: spans by category, and notes with spans.
const (
	categoryTally = "category/"
	spanNotes     = "notes_with_spans"
)

// digest returns the SHA-256 of a manifest's file, in hexadecimal: what _SUCCESS and the other manifest record of it.
func digest(manifest []byte) string { return fmt.Sprintf("%x", sha256.Sum256(manifest)) }

// Vouches reports whether this private manifest belongs to the public manifest with these bytes.
func (m *Manifest) Vouches(public []byte) bool { return m.Public == digest(public) }

func ofTree(parts []PartRecord, private bool) []PartRecord {
	mine := []PartRecord{}
	for _, p := range parts {
		if p.Private == private {
			mine = append(mine, p)
		}
	}
	return mine
}

// Here returns the parts in the tree of this manifest; the private manifest also lists the parts of the public tree.
func (m *Manifest) Here() (mine []PartRecord) {
	for p := range m.all {
		if p.Private == (m.Public != "") {
			mine = append(mine, p)
		}
	}
	return mine
}

// committed returns the manifest of the whole run, put together from those of both trees: the private one, without
// units whose public parts the public manifest does not list. Such units belong to a run that was not committed.
func committed(public, private *Manifest) *Manifest {
	listed := map[string]string{}
	for p := range public.all {
		listed[p.Path] = p.SHA256
	}
	whole := *private
	whole.Public, whole.Units, whole.Files = "", nil, nil
	for _, u := range private.Units {
		if !slices.ContainsFunc(ofTree(u.Parts, false), func(p PartRecord) bool { return listed[p.Path] != p.SHA256 }) {
			whole.Units = append(whole.Units, u)
		}
	}
	for _, p := range private.Files {
		if p.Private || listed[p.Path] == p.SHA256 {
			whole.Files = append(whole.Files, p)
		} else {
			whole.LastStep = "another run's" // so that it is done again
		}
	}
	return &whole
}

// all is an iterator over every part that the manifest lists; nil lists none.
func (m *Manifest) all(do func(PartRecord) bool) {
	if m == nil {
		return
	}
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if !do(p) {
				return
			}
		}
	}
	for _, p := range m.Files {
		if !do(p) {
			return
		}
	}
}

// success is the content of _SUCCESS: it vouches for the manifest as the
// manifest does for the parts.
func success(manifest []byte) []byte {
	return fmt.Appendf(nil, "{\"schema\":\"velum.success/1\",\"manifest_sha256\":\"%x\"}\n", sha256.Sum256(manifest))
}

// distinct checks that no two parts have one path: one of them would be lost.
func (m *Manifest) distinct() error {
	seen := pathsOf()
	for p := range m.all {
		if seen[tree(p.Private)][p.Path] {
			return &durable.IntegrityError{Path: p.Path, Cause: "is a part of two units: notes of one would be lost"}
		}
		seen[tree(p.Private)][p.Path] = true
	}
	return nil
}

// pathsOf returns the paths of the parts that some manifests list, by tree.
func pathsOf(manifests ...*Manifest) [2]map[string]bool {
	paths := [2]map[string]bool{{}, {}}
	for _, m := range manifests {
		for p := range m.all {
			paths[tree(p.Private)][p.Path] = true
		}
	}
	return paths
}

// Difference is one deviation of a tree from its manifest.
type Difference struct {
	Path string `json:"path"` // path within the tree, with slashes
	Kind string `json:"kind"` // missing, changed, unknown, unfinished
}

func (d Difference) String() string { return d.Kind + ": " + d.Path }

// A Log is a file of a tree that no manifest lists because it holds times and users. It is verified by its own hashes.
type Log struct {
	Name  string                          // path within the tree, with slashes; its last element may be a pattern of path.Match
	Sound func(name string) (bool, error) // reports whether the log is unchanged
}

// Check compares every byte of an output tree with its manifest and returns the differences sorted by path: missing or
// changed parts, files that the manifest does not list, an unfinished run, a log that fails its own check. A run that
// read no note has no _SUCCESS file. Check changes nothing. The error says that the tree could not be read or that ctx
// is done.
func Check(ctx context.Context, dir string, logs ...Log) ([]Difference, error) {
	data, err := durable.ReadFile(durable.OS, filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	var diffs []Difference
	known := map[string]bool{manifestName: true, successName: true}
	vouched, err := durable.ReadFile(durable.OS, filepath.Join(dir, successName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if m, err := ParseManifest(data); err != nil || m.Rows > 0 { // else nothing was read, see commit
			diffs = append(diffs, Difference{successName, "missing"})
		}
	case err != nil:
		return nil, err
	case !bytes.Equal(vouched, success(data)):
		diffs = append(diffs, Difference{manifestName, "changed"}, Difference{successName, "changed"})
	}
	m, err := ParseManifest(data)
	if err != nil {
		return append(diffs, Difference{manifestName, "changed"}), nil
	}
	for _, p := range m.Here() {
		known[p.Path] = true
		kind, err := partState(durable.OS, dir, p, false)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if kind != "" {
			diffs = append(diffs, Difference{p.Path, kind})
		}
	}
	logs = append(logs, Log{placesName, func(string) (bool, error) {
		_, sound, err := readPlaces(durable.OS, dir)
		return sound, err
	}})
	err = walk(durable.OS, dir, "", func(name string, e fs.DirEntry) error {
		kind := "unknown"
		switch at := slices.IndexFunc(logs, func(l Log) bool { is, _ := path.Match(l.Name, name); return is }); {
		case name == runsName || name == lockName || name == planName:
			kind = "unfinished"
		case e.IsDir() || known[name]:
			return nil
		case at >= 0:
			kind = "changed"
			if sound, err := logs[at].Sound(filepath.Join(dir, name)); sound || err != nil {
				return err
			}
		}
		diffs = append(diffs, Difference{name, kind})
		return fs.SkipDir
	})
	slices.SortFunc(diffs, func(a, b Difference) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(diffs), err
}

// walk calls do with the slash-separated path of everything below a folder of a tree, a folder before its content. If
// do returns fs.SkipDir for a folder, its content is skipped.
func walk(d durable.FS, root, dir string, do func(name string, e fs.DirEntry) error) error {
	entries, err := d.ReadDir(filepath.Join(root, dir))
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		bad := do(name, e)
		if bad == nil && e.IsDir() {
			bad = walk(d, root, name, do)
		}
		if bad != nil && bad != fs.SkipDir {
			return bad
		}
	}
	return err
}

// partState compares a part with its record, by existence and length, and unless that is all that is asked for by hash: ""
// if it agrees, otherwise "missing" or "changed".
func partState(d durable.FS, dir string, p PartRecord, byLength bool) (string, error) {
	if !filepath.IsLocal(p.Path) {
		return "changed", nil // a record that leads out of the tree
	}
	name := filepath.Join(dir, p.Path)
	info, err := d.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() != p.Bytes:
		return "changed", nil
	case byLength:
		return "", nil
	}
	f, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, struct{ io.Reader }{f})
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if hex.EncodeToString(h.Sum(nil)) != p.SHA256 {
		return "changed", nil
	}
	return "", nil
}
