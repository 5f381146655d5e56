package lake

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/twmb/avro/ocf"

	"github.com/velum-health/velum/stages/read/input"
)

// Snapshots list manifests, manifests list files: Avro, in which version 1 lacks what
// came with deletes.
type (
	manifestFile struct {
		path          string
		content, spec int64
		sequence      int64
	}
	dataFile struct {
		content  int64
		path     string // below the table
		format   string
		values   int    // of its partition
		of       string // the partition that it is of
		rows     int64
		bytes    int64
		equality []int32
		sequence int64

		referenced   string // what a deletion vector is of, where it stands
		offset, size *int64
	}
)

const (
	entryDeleted     = 2 // a status
	positionDeletes  = 1 // contents
	equalityDeletes  = 2
	manifestsDeletes = 1 // content of a manifest
)

// record is a record of Avro; what it lacks is null.
type record map[string]any

func (r record) text(name string) string {
	s, _ := r[name].(string)
	return s
}

// number is nil for null.
func (r record) number(name string) *int64 {
	var n int64
	switch v := r[name].(type) {
	case int:
		n = int64(v)
	case int32:
		n = int64(v)
	case int64:
		n = v
	default:
		return nil
	}
	return &n
}

// integer is 0 for null.
func (r record) integer(name string) int64 {
	if n := r.number(name); n != nil {
		return *n
	}
	return 0
}

func (r record) record(name string) record {
	m, _ := r[name].(map[string]any)
	return m
}

func (r record) integers(name string) (all []int32) {
	list, _ := r[name].([]any)
	for _, v := range list {
		all = append(all, int32(record{"": v}.integer("")))
	}
	return all
}

// eachAvro decodes the records of a file.
func eachAvro(path string, do func(record) error) error {
	bad := &input.Error{Path: path, Cause: "cannot be decoded as Avro", Remedy: Restore}
	f, err := os.Open(path)
	if err != nil {
		bad.Cause = input.Cause(err)
		return bad
	}
	defer f.Close() // only read
	r, err := ocf.NewReader(f)
	if err != nil {
		return bad
	}
	for {
		var v map[string]any
		if err := r.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return bad
		}
		if err := do(v); err != nil {
			return err
		}
	}
}

// files gathers the files of a snapshot and what is deleted in them.
func (l *icebergLog) files(s *icebergSnapshot) error {
	manifests, err := l.manifests(s)
	if err != nil {
		return err
	}
	var rows, deletes []*dataFile
	for _, m := range manifests {
		err := l.manifest(&m, func(f *dataFile) {
			if f.content == 0 {
				rows = append(rows, f)
			} else {
				deletes = append(deletes, f)
			}
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(rows, func(a, b *dataFile) int { return cmp.Compare(a.path, b.path) })
	l.table.Files = make([]File, len(rows))
	for i, f := range rows {
		l.table.Files[i] = File{Path: f.path, Bytes: f.bytes, Rows: f.rows}
	}
	d := deleting{l, rows, map[string]int{}, map[int]bool{}}
	for i, f := range rows {
		d.at[f.path] = i
	}
	return d.all(deletes)
}

// manifests lists those of a snapshot.
func (l *icebergLog) manifests(s *icebergSnapshot) (all []manifestFile, err error) {
	if s.List == "" {
		for _, path := range s.Manifests {
			all = append(all, manifestFile{path: path})
		}
		return all, nil
	}
	path, err := l.local(s.List)
	if err != nil {
		return nil, err
	}
	err = eachAvro(filepath.Join(l.dir, path), func(r record) error {
		all = append(all, manifestFile{r.text("manifest_path"), r.integer("content"), r.integer("partition_spec_id"), r.integer("sequence_number")})
		return nil
	})
	return all, err
}

// manifest calls do for the files of a manifest that are still there.
func (l *icebergLog) manifest(m *manifestFile, do func(*dataFile)) error {
	path, err := l.local(m.path)
	if err != nil {
		return err
	}
	path = filepath.Join(l.dir, path)
	return eachAvro(path, func(e record) error {
		if e.integer("status") == entryDeleted {
			return nil
		}
		f, err := l.file(e, m)
		if err != nil {
			return err
		}
		if f.content < 0 || f.content > equalityDeletes || (f.content > 0) != (m.content == manifestsDeletes) {
			return l.broken(path, "has files of a kind that cannot be")
		}
		do(f)
		return nil
	})
}

// file is a file of an entry of a manifest.
func (l *icebergLog) file(e record, m *manifestFile) (f *dataFile, err error) {
	r := e.record("data_file")
	partition := r.record("partition")
	f = &dataFile{
		content: r.integer("content"), format: strings.ToUpper(r.text("file_format")), rows: r.integer("record_count"), bytes: r.integer("file_size_in_bytes"),
		values: len(partition), of: fmt.Sprint(m.spec, " ", partition), // maps are printed in the order of their keys
		equality: r.integers("equality_ids"), sequence: m.sequence, // of what was added with the manifest
		referenced: r.text("referenced_data_file"), offset: r.number("content_offset"), size: r.number("content_size_in_bytes"),
	}
	if n := e.number("sequence_number"); n != nil {
		f.sequence = *n
	}
	vector := f.content == positionDeletes && f.format == "PUFFIN"
	switch {
	case r["key_metadata"] != nil:
		return nil, l.refuse("is an Iceberg table that is encrypted")
	case f.format == "ORC", f.format == "AVRO":
		return nil, l.refuse("is an Iceberg table with files of " + f.format + ", which are not read")
	case f.format != "PARQUET" && !vector:
		return nil, l.refuse("is an Iceberg table with files that are not of Parquet")
	}
	f.path, err = l.local(r.text("file_path"))
	return f, err
}
