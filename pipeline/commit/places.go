package commit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline/durable"
)

// Places say where the inputs of an output lay when they were read. An output
// that grows needs them: notes.parquet of January is not another version of
// notes.parquet of February. They stand in a
// file of the private tree and in no manifest, since equal archives have equal manifests wherever they lie. An
// output without them, or with places that cannot be read, loses nothing by
// it: what nobody knows to be another version stays.
//
// The lines are those of a journal: a header, then one for each input.
type places struct {
	output string            // the public tree that the private one belongs to
	unit   map[string]string // by name of the unit
	former map[string]bool   // units whose file made way for another at its place, and stay
	bad    map[string]string // by badKey
}

const (
	placesName   = "_inputs"
	placesFormat = "velum.inputs/1"
)

type placesHeader struct {
	Format string   `json:"format"`
	Output location `json:"output"`
	Inputs int      `json:"inputs"`
}

type placedInput struct {
	Path   location `json:"path"`
	Units  []string `json:"units,omitempty"`
	Former []string `json:"former,omitempty"`
	Bad    string   `json:"bad,omitempty"` // badKey of an input that could not be read
}

// A location is an absolute path. In JSON, bytes that are not UTF-8 are escaped.
type location string

// MarshalText implements encoding.TextMarshaler.
func (l location) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(l)) {
		return []byte(l), nil
	}
	return []byte(strconv.Quote(string(l))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *location) UnmarshalText(text []byte) error {
	*l = location(text)
	if !bytes.HasPrefix(text, []byte{'"'}) {
		return nil
	}
	s, err := strconv.Unquote(string(text))
	if err != nil {
		return errors.New("is no quoted path")
	}
	*l = location(s)
	return nil
}

func badKey(b *BadInput) string {
	sum := sha256.Sum256([]byte(b.Input))
	return hex.EncodeToString(sum[:8]) + b.SHA256
}

func noPlaces() *places {
	return &places{unit: map[string]string{}, former: map[string]bool{}, bad: map[string]string{}}
}

// parsePlaces reads the content of the file; ok tells whether it is whole.
func parsePlaces(data []byte) (at *places, ok bool) {
	at = noPlaces()
	left := -1 // inputs to come; before the header -1
	for line := range bytes.Lines(data) {
		body, whole := durable.ParseLine(line)
		if !whole || left == 0 {
			return at, false
		}
		if left < 0 {
			var h placesHeader
			if json.Unmarshal(body, &h) != nil || h.Format != placesFormat || h.Inputs < 0 {
				return at, false
			}
			at.output, left = string(h.Output), h.Inputs
			if left == 0 {
				return at, len(line) == len(data)
			}
			continue
		}
		var in placedInput
		if json.Unmarshal(body, &in) != nil {
			return at, false
		}
		for _, name := range in.Units {
			at.unit[name] = string(in.Path)
		}
		for _, name := range in.Former {
			at.unit[name], at.former[name] = string(in.Path), true
		}
		if in.Bad != "" {
			at.bad[in.Bad] = string(in.Path)
		}
		left--
	}
	return at, left == 0
}

// file returns the content of the file: what some manifests list, by path.
func (at *places) file(manifests ...*Manifest) ([]byte, error) {
	byPath, listed := map[string]*placedInput{}, map[string]bool{}
	input := func(path string) *placedInput {
		if byPath[path] == nil {
			byPath[path] = &placedInput{Path: location(path)}
		}
		return byPath[path]
	}
	for _, m := range manifests {
		if m == nil {
			continue
		}
		for _, u := range m.Inputs() {
			name := u.Name
			path := at.unit[name]
			if path == "" {
				continue
			}
			names := &input(path).Units
			if at.former[name] {
				names = &input(path).Former
			}
			if !listed[name] {
				*names = append(*names, name)
			}
			listed[name] = true
		}
		for i := range m.BadInputs {
			if key := badKey(&m.BadInputs[i]); at.bad[key] != "" {
				input(at.bad[key]).Bad = key
			}
		}
	}
	lines := []any{placesHeader{placesFormat, location(at.output), len(byPath)}}
	for _, path := range sortedKeys(byPath) {
		lines = append(lines, byPath[path])
	}
	var file []byte
	for _, line := range lines {
		data, err := durable.Line(line)
		if err != nil {
			return nil, err
		}
		file = append(file, data...)
	}
	return file, nil
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// readPlaces reads the places of a private tree. Those that are not there, or
// not whole, are none.
func readPlaces(d durable.FS, private string) (*places, error) {
	data, err := durable.ReadFile(d, filepath.Join(private, filepath.FromSlash(placesName)))
	if errors.Is(err, fs.ErrNotExist) {
		return noPlaces(), nil
	}
	if err != nil {
		return nil, err
	}
	at, ok := parsePlaces(data)
	if !ok {
		return noPlaces(), nil
	}
	return at, nil
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
	at, err := readPlaces(out.FS, out.Private)
	if err != nil {
		return nil, err
	}
	var all []Input
	seen := map[string]bool{}
	for _, u := range m.Inputs() {
		in := Input{Input: u.Input, Path: at.unit[u.Name]}
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

// placesSound tells whether the places of a tree are whole, or not there.
func placesSound(d durable.FS, dir string) (bool, error) {
	data, err := durable.ReadFile(d, filepath.Join(dir, filepath.FromSlash(placesName)))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	_, ok := parsePlaces(data)
	return ok, nil
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
