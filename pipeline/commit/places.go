package commit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
)

// Places say where the inputs of an output lay when they were read. An output that grows needs this to tell whether
// notes.parquet is a new version of an earlier notes.parquet or another month. Places are kept in a file of the private
// tree and not in a manifest, so that equal archives have equal manifests wherever they lie. If the file is missing or
// cannot be read, no notes are lost or there twice: an input counts as lying where the given file of its name lies, and their
// notes are compared.
//
// Paths are bytes, which need not be UTF-8. The file is one line of a journal, whose hash shows any change. plan.json has
// the same places.
type places struct {
	Format string
	Output []byte            // the public tree that the private one belongs to
	Units  map[string]place  // by name of the unit
	Bad    map[string][]byte // by badKey
}

// place is where the input of a unit lay.
type place struct {
	At     []byte
	Former bool `json:",omitempty"` // the file made way for another there, and stays
}

const (
	placesName   = "_inputs"
	placesFormat = "velum.inputs/2"
)

func badKey(b *BadInput) string {
	sum := sha256.Sum256([]byte(b.Input))
	return hex.EncodeToString(sum[:8]) + b.SHA256
}

func noPlaces() *places {
	return &places{Format: placesFormat, Units: map[string]place{}, Bad: map[string][]byte{}}
}

// at returns where the input of a unit lay; "" if that is not known.
func (p *places) at(unit string) string { return string(p.Units[unit].At) }

// listed returns the places of the inputs that the given manifests list.
func (p *places) listed(manifests ...*Manifest) *places {
	of := noPlaces()
	of.Output = p.Output
	for _, m := range manifests {
		if m == nil {
			continue
		}
		for _, u := range m.Inputs() {
			if at := p.Units[u.Name]; at.At != nil {
				of.Units[u.Name] = at
			}
		}
		for i := range m.BadInputs {
			if key := badKey(&m.BadInputs[i]); p.Bad[key] != nil {
				of.Bad[key] = p.Bad[key]
			}
		}
	}
	return of
}

// readPlaces reads the places of a private tree. Those that are not there, or not whole, or of another version, are none.
// sound tells whether the file is whole, or not there.
func readPlaces(d durable.FS, private string) (at *places, sound bool, err error) {
	at = noPlaces()
	data, err := durable.ReadFile(d, filepath.Join(private, placesName))
	if errors.Is(err, fs.ErrNotExist) {
		return at, true, nil
	}
	sound = len(data) > 0
	for line := range bytes.Lines(data) {
		body, whole := durable.ParseLine(line)
		if sound = sound && whole; !sound || json.Unmarshal(body, at) != nil || at.Format != placesFormat {
			at = noPlaces()
		}
	}
	return at, sound, err
}

// An Input is a file from which an output was made.
type Input struct {
	Input string // name in the private manifest
	Path  string // where the file was, links followed; "" if unknown
	Root  string // folder of the archive that the name is relative to; "" if unknown
}

// Inputs lists the files from which an output was made, in the order of its manifest. The error is from reading the
// manifest, fs.ErrNotExist if there is none.
func Inputs(out Output) ([]Input, error) {
	out = out.withDefaults()
	m, err := readManifest(out.FS, out.Private)
	if err != nil {
		return nil, err
	}
	at, _, err := readPlaces(out.FS, out.Private)
	if err != nil {
		return nil, err
	}
	var all []Input
	seen := map[string]bool{}
	for _, u := range m.Inputs() {
		in := Input{Input: u.Input, Path: at.at(u.Name)}
		if root, ok := strings.CutSuffix(in.Path, "/"+in.Input); ok {
			in.Root = cmp.Or(root, "/")
		}
		if key := cmp.Or(in.Path, in.Input); !seen[key] {
			seen[key] = true
			all = append(all, in)
		}
	}
	return all, nil
}

// locator finds out where inputs lie, one look at the disk for each.
type locator map[string]string

func (l locator) of(path string) string {
	if l[path] == "" {
		l[path] = resolve(path)
	}
	return l[path]
}

// below tells whether a location is one of the roots or lies in it. Both are
// resolved.
func below(at string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return at == root || strings.HasPrefix(at, strings.TrimSuffix(root, "/")+"/")
	})
}
