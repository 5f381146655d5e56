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
		Path     string `avro:"manifest_path"`
		Content  int    `avro:"content"`
		Sequence int64  `avro:"sequence_number"`
		Spec     int    `avro:"partition_spec_id"`
		Key      []byte `avro:"key_metadata"`
	}
	manifestEntry struct {
		Status   int      `avro:"status"`
		Sequence *int64   `avro:"sequence_number"`
		File     dataFile `avro:"data_file"`
	}
	dataFile struct {
		Content    int            `avro:"content"`
		Path       string         `avro:"file_path"`
		Format     string         `avro:"file_format"`
		Partition  map[string]any `avro:"partition"`
		Rows       int64          `avro:"record_count"`
		Bytes      int64          `avro:"file_size_in_bytes"`
		Key        []byte         `avro:"key_metadata"`
		Equality   []int32        `avro:"equality_ids"`
		Referenced *string        `avro:"referenced_data_file"`
		Offset     *int64         `avro:"content_offset"`
		Size       *int64         `avro:"content_size_in_bytes"`

		sequence int64
		of       string // its partition
		local    string // path below the table
	}
)

const (
	entryDeleted     = 2 // a status
	positionDeletes  = 1 // contents
	equalityDeletes  = 2
	manifestsDeletes = 1 // content of a manifest
)

// eachAvro decodes the records of a file.
func eachAvro[T any](path string, do func(*T) error) error {
	bad := &input.Error{Path: path, Cause: "cannot be decoded as Avro", Remedy: restore}
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
		var record T
		if err := r.Decode(&record); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return bad
		}
		if err := do(&record); err != nil {
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
			if f.Content == 0 {
				rows = append(rows, f)
			} else {
				deletes = append(deletes, f)
			}
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(rows, func(a, b *dataFile) int { return cmp.Compare(a.local, b.local) })
	l.table.Files = make([]File, len(rows))
	for i, f := range rows {
		l.table.Files[i] = File{Path: f.local, Bytes: f.Bytes, Rows: f.Rows}
	}
	d := deleting{l, rows, map[string]int{}, map[int]bool{}}
	for i, f := range rows {
		d.at[f.local] = i
	}
	return d.all(deletes)
}

// manifests lists those of a snapshot.
func (l *icebergLog) manifests(s *icebergSnapshot) (all []manifestFile, err error) {
	if s.List == "" {
		for _, path := range s.Manifests {
			all = append(all, manifestFile{Path: path})
		}
		return all, nil
	}
	path, err := l.local(s.List)
	if err != nil {
		return nil, err
	}
	err = eachAvro(filepath.Join(l.dir, path), func(m *manifestFile) error {
		all = append(all, *m)
		return nil
	})
	return all, err
}

// manifest calls do for the files of a manifest that are still there.
func (l *icebergLog) manifest(m *manifestFile, do func(*dataFile)) error {
	path, err := l.local(m.Path)
	if err != nil {
		return err
	}
	return eachAvro(filepath.Join(l.dir, path), func(e *manifestEntry) (err error) {
		f := &e.File
		if e.Status == entryDeleted {
			return nil
		}
		f.sequence = m.Sequence // of what was added with it
		if e.Sequence != nil {
			f.sequence = *e.Sequence
		}
		f.of = fmt.Sprint(m.Spec, " ", f.Partition) // maps are printed in the order of their keys
		if f.local, err = l.local(f.Path); err != nil {
			return err
		}
		vector := f.Content == positionDeletes && strings.EqualFold(f.Format, "PUFFIN")
		switch {
		case len(f.Key) > 0:
			return l.refuse("is an Iceberg table that is encrypted")
		case !strings.EqualFold(f.Format, "PARQUET") && !vector:
			return l.refuse(fmt.Sprintf("is an Iceberg table with files of %s, which are not read", plainFormat(f.Format)))
		case f.Content < 0 || f.Content > equalityDeletes || (f.Content > 0) != (m.Content == manifestsDeletes):
			return l.broken(path, "has files of a kind that cannot be")
		}
		do(f)
		return nil
	})
}

// plainFormat is a format as an error may show it.
func plainFormat(s string) string {
	for _, known := range []string{"ORC", "AVRO"} {
		if strings.EqualFold(s, known) {
			return known
		}
	}
	return "another kind"
}
