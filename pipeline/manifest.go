package pipeline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// UnitRecord is what became of a unit.
type UnitRecord struct {
	Name   string `json:"name"`
	Input  string `json:"input,omitempty"` // path below the archive; in the private manifest only, since it may name the month
	SHA256 string `json:"input_sha256"`
	From   int64  `json:"from"` // row groups or bytes [From, To) of the input
	To     int64  `json:"to"`
	Counts
	Damage string       `json:"damage,omitempty"` // why none of it could be read
	Unread bool         `json:"unread,omitempty"` // and that is the system's failure: it is tried again
	Parts  []PartRecord `json:"parts"`
}

// Manifest lists what an output tree holds. Replacing it is the commit of a
// run: readers go by it, never by a directory listing. It says nothing of
// when or where the run took place, so that equal runs have equal manifests.
type Manifest struct {
	Schema  string `json:"schema"`
	Config  string `json:"config_sha256"`
	Model   string `json:"model_sha256"`
	Key     string `json:"key_id,omitempty"`
	Private string `json:"private_manifest_sha256,omitempty"` // of the manifest of the private tree that belongs to it

	LastStep string `json:"last_step,omitempty"` // UnitOptions.LastStep
	Counts
	Units     []UnitRecord `json:"units"`
	BadInputs []BadInput   `json:"bad_inputs,omitempty"`
	Files     []PartRecord `json:"files,omitempty"` // what the last step of the run wrote
}

const (
	manifestSchema = "velum.manifest/1"
	manifestName   = "manifest.json"
	successName    = "_SUCCESS"
	lockName       = ".lock"
	runsName       = "_runs"
)

// MarshalFile returns the content of manifest.json.
func (m *Manifest) MarshalFile() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", " ")
	return append(data, '\n'), err
}

// ParseManifest reads the content of a manifest.json. Errors are
// *IntegrityError and quote nothing.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &IntegrityError{Cause: "is no manifest: not valid JSON or of another shape"}
	}
	if m.Schema != manifestSchema {
		return nil, &IntegrityError{Cause: "is of another version than " + manifestSchema + "; use the version of velum that wrote it"}
	}
	return &m, nil
}

// ReadManifest reads the manifest of an output tree.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(OS, dir) }

func readManifest(d FS, dir string) (*Manifest, error) {
	data, err := readFile(d, filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(data)
	if bad, ok := errors.AsType[*IntegrityError](err); ok {
		bad.Path = filepath.Join(dir, manifestName)
	}
	return m, err
}

// half returns the manifest of one tree out of the one of the whole run.
func (m *Manifest) half(private bool) *Manifest {
	h := *m
	h.Units = make([]UnitRecord, len(m.Units))
	for i, u := range m.Units {
		u.Parts = ofTree(u.Parts, private)
		if !private {
			u.Input = ""
		}
		h.Units[i] = u
	}
	h.BadInputs = slices.Clone(m.BadInputs)
	if !private {
		for i := range h.BadInputs {
			h.BadInputs[i].Input = ""
		}
	}
	h.Files = ofTree(m.Files, private)
	return &h
}

func ofTree(parts []PartRecord, private bool) []PartRecord {
	mine := []PartRecord{}
	for _, p := range parts {
		if p.Private == private {
			mine = append(mine, p)
		}
	}
	return mine
}

// join is the inverse of half. Units that one of the two does not have are
// left out.
func join(public, private *Manifest) *Manifest {
	whole := *public
	whole.Private = ""
	whole.Units = nil
	other := make(map[string]*UnitRecord, len(private.Units))
	for i := range private.Units {
		other[private.Units[i].Name] = &private.Units[i]
	}
	for _, u := range public.Units {
		if o := other[u.Name]; o != nil {
			u.Input = o.Input
			u.Parts = slices.Concat(u.Parts, o.Parts)
			whole.Units = append(whole.Units, u)
		}
	}
	whole.BadInputs = private.BadInputs
	whole.Files = slices.Concat(public.Files, private.Files)
	return &whole
}

// all calls do for every part that the manifest lists.
func (m *Manifest) all(do func(PartRecord) bool) {
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

// Difference is one thing in which a tree is not what its manifest says.
type Difference struct {
	Path string `json:"path"` // below the tree, with slashes
	Kind string `json:"kind"` // missing, changed, unknown, unfinished
}

func (d Difference) String() string { return d.Kind + ": " + d.Path }

// Check compares every byte of an output tree with its manifest and names
// what differs, sorted by path: parts that are missing or changed, files that
// the manifest does not know, a run that did not end, an audit log whose chain
// is broken. It changes nothing. An error says that the tree could not be read.
func Check(dir string) ([]Difference, error) {
	data, err := readFile(OS, filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	var diffs []Difference
	known := map[string]bool{manifestName: true, successName: true}
	vouched, err := readFile(OS, filepath.Join(dir, successName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		diffs = append(diffs, Difference{successName, "missing"})
	case err != nil:
		return nil, err
	case !bytes.Equal(vouched, success(data)):
		diffs = append(diffs, Difference{manifestName, "changed"}, Difference{successName, "changed"})
	}
	m, err := ParseManifest(data)
	if err != nil {
		return append(diffs, Difference{manifestName, "changed"}), nil
	}
	m.all(func(p PartRecord) bool {
		known[p.Path] = true
		kind, e := partState(OS, dir, p)
		if e != nil {
			err = e
			return false
		}
		if kind != "" {
			diffs = append(diffs, Difference{p.Path, kind})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	log, err := auditState(dir)
	if err != nil {
		return nil, err
	}
	if known[AuditName] = true; log != "" {
		diffs = append(diffs, Difference{AuditName, log})
	}
	unknown, err := unknownFiles(dir, known)
	diffs = append(diffs, unknown...)
	slices.SortFunc(diffs, func(a, b Difference) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(diffs), err
}

// partState tells whether a part is what its record says: "" if so, else
// missing or changed.
func partState(d FS, dir string, p PartRecord) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(p.Path)) {
		return "changed", nil // a record that leads out of the tree
	}
	f, err := d.OpenFile(filepath.Join(dir, filepath.FromSlash(p.Path)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	info, err := f.Stat()
	if err == nil && (info.IsDir() || info.Size() != p.Bytes) {
		return "changed", f.Close()
	}
	h := sha256.New()
	if err == nil {
		_, err = io.Copy(h, struct{ io.Reader }{f})
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if hex.EncodeToString(h.Sum(nil)) != p.SHA256 {
		return "changed", nil
	}
	return "", nil
}

func unknownFiles(dir string, known map[string]bool) ([]Difference, error) {
	var diffs []Difference
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == runsName || rel == lockName {
			diffs = append(diffs, Difference{rel, "unfinished"})
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.IsDir() && !known[rel] {
			diffs = append(diffs, Difference{rel, "unknown"})
		}
		return nil
	})
	return diffs, err
}
