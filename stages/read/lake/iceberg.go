package lake

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/stages/read/input"
)

const (
	metadataFolder = "metadata"
	versionHint    = "version-hint.text" // of tables without a catalog: the number of the newest metadata
)

// icebergMetadata is a file of a table's metadata.
type icebergMetadata struct {
	FormatVersion int              `json:"format-version"`
	Location      string           `json:"location"`
	Updated       int64            `json:"last-updated-ms"`
	Schema        *icebergSchema   `json:"schema"` // of version 1
	Schemas       []*icebergSchema `json:"schemas"`
	CurrentSchema int              `json:"current-schema-id"`
	Spec          []partitionField `json:"partition-spec"` // of version 1
	Specs         []struct {
		ID     int              `json:"spec-id"`
		Fields []partitionField `json:"fields"`
	} `json:"partition-specs"`
	Properties map[string]string  `json:"properties"`
	Current    *int64             `json:"current-snapshot-id"`
	Snapshots  []*icebergSnapshot `json:"snapshots"`
	Log        []struct {
		ID   int64 `json:"snapshot-id"`
		Time int64 `json:"timestamp-ms"`
	} `json:"snapshot-log"`
	Refs map[string]struct {
		ID int64 `json:"snapshot-id"`
	} `json:"refs"`
	Keys []json.RawMessage `json:"encryption-keys"`
}

type icebergSchema struct {
	ID     int `json:"schema-id"`
	Fields []struct {
		ID      int32           `json:"id"`
		Name    string          `json:"name"`
		Default json.RawMessage `json:"initial-default"`
	} `json:"fields"`
}

type partitionField struct {
	Source    int32  `json:"source-id"`
	Transform string `json:"transform"`
}

type icebergSnapshot struct {
	ID        int64    `json:"snapshot-id"`
	Time      int64    `json:"timestamp-ms"`
	Schema    *int     `json:"schema-id"`
	List      string   `json:"manifest-list"`
	Manifests []string `json:"manifests"` // of version 1, without a list
}

// icebergLog is a table while it is read.
type icebergLog struct {
	*icebergMetadata
	dir, path string // of the table, of the metadata
	table     *Table
}

var metadataName = regexp.MustCompile(`^(?:v(\d+)|(\d+)-[^.]+)(?:\.gz)?\.metadata\.json(?:\.gz)?$`)

// metadataNumber is the number in the name of a file of metadata.
func metadataNumber(name string) (n int64, ok bool) {
	m := metadataName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	return n, err == nil
}

// newestMetadata finds the file of metadata with the highest number. Which one counts
// is what a catalog knows; without one two of a number leave it open.
func newestMetadata(dir string) (string, error) {
	folder := filepath.Join(dir, metadataFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", &input.Error{Path: folder, Cause: input.Cause(err), Remedy: "check its permissions"}
	}
	hint := int64(-1)
	if data, err := only(filepath.Join(folder, versionHint), 64); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil {
			hint = n
		}
	}
	best, at, twice := "", int64(-1), false
	for _, e := range entries {
		n, ok := metadataNumber(e.Name())
		if !ok || n < max(hint, at) { // the hint may be behind
			continue
		}
		best, at, twice = e.Name(), n, n == at
	}
	switch {
	case best == "":
		return "", &input.Error{Path: folder, Cause: "has no metadata of an Iceberg table", Remedy: Restore}
	case twice:
		return "", &input.Error{Path: folder, Cause: fmt.Sprintf("has two files of metadata with the number %d, and only the catalog knows which one counts", at), Remedy: "move the one away that is not the table's"}
	}
	return filepath.Join(folder, best), nil
}

// mostMetadata bounds a file of metadata, unpacked.
const mostMetadata = 1 << 30

func readMetadata(path string) (*icebergMetadata, error) {
	bad := &input.Error{Path: path, Cause: "is no metadata of an Iceberg table", Remedy: Restore}
	f, err := os.Open(path)
	if err != nil {
		bad.Cause = input.Cause(err)
		return nil, bad
	}
	defer f.Close() // only read
	from := io.Reader(f)
	if strings.Contains(path, ".gz") {
		if from, err = gzip.NewReader(f); err != nil {
			return nil, bad
		}
	}
	m := &icebergMetadata{CurrentSchema: -1}
	if json.NewDecoder(io.LimitReader(from, mostMetadata)).Decode(m) != nil || m.Location == "" {
		return nil, bad
	}
	return m, nil
}

func openIceberg(dir, version string) (*Table, error) {
	path, err := newestMetadata(dir)
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(path)
	if err != nil {
		return nil, err
	}
	l := &icebergLog{m, dir, path, &Table{Dir: dir, Format: Iceberg}}
	switch {
	case m.FormatVersion < 1 || m.FormatVersion > 3:
		return nil, l.refuse(fmt.Sprintf("is an Iceberg table of format version %d; 1 to 3 are read", m.FormatVersion))
	case len(m.Keys) > 0 || m.Properties["encryption.key-id"] != "":
		return nil, l.refuse("is an Iceberg table that is encrypted")
	}
	s, err := l.snapshot(version)
	if err != nil {
		return nil, err
	}
	l.table.Version = "none"
	l.table.Time = time.UnixMilli(m.Updated)
	schema := m.CurrentSchema
	if s != nil {
		l.table.Version, l.table.Time = strconv.FormatInt(s.ID, 10), time.UnixMilli(s.Time)
		if version != "" && s.Schema != nil {
			schema = *s.Schema
		}
	}
	if err := l.columns(schema); err != nil || s == nil {
		return l.table, err
	}
	return l.table, l.files(s)
}

func (l *icebergLog) refuse(cause string) error {
	return &input.Error{Path: l.dir, Cause: cause, Remedy: "write what the table says into a file of Parquet with the program that wrote it, and give that"}
}

// broken is an error about a file of the log.
func (l *icebergLog) broken(path, cause string) error {
	return &input.Error{Path: path, Cause: cause, Remedy: Restore}
}

// snapshot is the one that is meant; nil: the table has none yet.
func (l *icebergLog) snapshot(version string) (*icebergSnapshot, error) {
	id := int64(-1)
	if version == "" {
		if l.Current == nil || *l.Current == -1 {
			return nil, nil
		}
		id = *l.Current
	} else if ref, ok := l.Refs[version]; ok {
		id = ref.ID
	} else if n, err := strconv.ParseInt(version, 10, 64); err == nil {
		id = n
	} else if until, ok := asOf(version); !ok {
		return nil, &input.Error{Path: l.dir, Cause: "read.version is no id of a snapshot, branch, tag or time", Remedy: "give one of the ids in " + l.path}
	} else {
		for _, e := range l.Log {
			if e.Time <= until.UnixMilli() {
				id = e.ID
			}
		}
		if id == -1 {
			return nil, &input.Error{Path: l.dir, Cause: "has no snapshot of that time: its log begins later", Remedy: "give read.version a later time"}
		}
	}
	at := slices.IndexFunc(l.Snapshots, func(s *icebergSnapshot) bool { return s.ID == id })
	if at < 0 {
		return nil, &input.Error{Path: l.path, Cause: fmt.Sprintf("has no snapshot %d, or none any more", id), Remedy: "give read.version one of the ids in that file, or a time"}
	}
	return l.Snapshots[at], nil
}

// columns settles what columns are called: fields have ids, and files without ids go
// by the names that the table maps to them.
func (l *icebergLog) columns(id int) error {
	schema := l.Schema
	for _, s := range l.Schemas {
		if s.ID == id {
			schema = s
		}
	}
	if schema == nil {
		return l.broken(l.path, fmt.Sprintf("has no schema %d", id))
	}
	identity := map[int32]bool{}
	specs := [][]partitionField{l.Spec}
	for _, s := range l.Specs {
		specs = append(specs, s.Fields)
	}
	for _, p := range slices.Concat(specs...) {
		identity[p.Source] = identity[p.Source] || p.Transform == "identity"
	}
	mapped := map[int32][]string{}
	var mapping []struct {
		ID    int32    `json:"field-id"`
		Names []string `json:"names"`
	}
	if text := l.Properties["schema.name-mapping.default"]; text != "" {
		if json.Unmarshal([]byte(text), &mapping) != nil {
			return l.broken(l.path, "has a mapping of names that cannot be decoded")
		}
	}
	for _, m := range mapping {
		mapped[m.ID] = m.Names
	}
	names := &l.table.Names
	for _, f := range schema.Fields {
		if len(f.Default) > 0 && string(f.Default) != "null" {
			return l.refuse(fmt.Sprintf("is an Iceberg table whose column %q has a default for files without it, which is not read", f.Name))
		}
		names.Add("", f.ID, f.Name, true)
		for _, name := range mapped[f.ID] {
			names.Add(name, f.ID, f.Name, true)
		}
		if identity[f.ID] {
			l.table.Apart = append(l.table.Apart, f.Name)
		}
	}
	return nil
}

// local is where a file of the table lies on this machine, below its folder: tables
// move, and their logs keep the place where they were.
func (l *icebergLog) local(name string) (string, error) {
	rest, is := strings.CutPrefix(name, strings.TrimRight(l.Location, "/")+"/")
	if !is {
		location := strings.TrimRight(withoutScheme(l.Location), "/") + "/"
		if rest, is = strings.CutPrefix(withoutScheme(name), location); !is {
			full, err := filepath.Abs(l.dir)
			if err != nil {
				return "", err
			}
			rest, is = strings.CutPrefix(withoutScheme(name), full+"/")
		}
	}
	path, ok := inside(rest)
	if !is || !ok {
		return "", l.refuse("is an Iceberg table with files outside its folder")
	}
	return path, nil
}
