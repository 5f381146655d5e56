package readtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/parquet-go/parquet-go"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// J is an object of JSON.
type J = map[string]any

// Lake writes tables of a lakehouse in a folder, file by file.
type Lake struct {
	T   testing.TB
	Dir string
}

// NewLake makes a folder for a table.
func NewLake(t testing.TB) *Lake { return &Lake{t, filepath.Join(t.TempDir(), "notes")} }

// Put writes a file below the folder and returns its length.
func (l *Lake) Put(name string, data []byte) int {
	l.T.Helper()
	path := filepath.Join(l.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.T.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		l.T.Fatal(err)
	}
	return len(data)
}

// JSON writes values, one a line.
func (l *Lake) JSON(name string, values ...any) {
	l.T.Helper()
	var all []byte
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			l.T.Fatal(err)
		}
		all = append(append(all, line...), '\n')
	}
	l.Put(name, all)
}

// Notes writes a file of notes with these ids, whose texts name them, in columns of
// these names, and returns its length.
func (l *Lake) Notes(name, idColumn, textColumn string, ids ...string) int {
	var all, texts []any
	for _, id := range ids {
		all, texts = append(all, id), append(texts, "Control de "+id)
	}
	return l.Columns(name, Column{idColumn, parquet.String(), all}, Column{textColumn, parquet.String(), texts})
}

// Columns writes a file of Parquet, two rows a row group, and returns its length.
func (l *Lake) Columns(name string, columns ...Column) int {
	l.T.Helper()
	l.Put(name, nil)
	path := filepath.Join(l.Dir, name)
	WriteFile(l.T, path, columns, 2)
	info, err := os.Stat(path)
	if err != nil {
		l.T.Fatal(err)
	}
	return int(info.Size())
}

// Vector is a deletion vector with its length before it and its checksum behind.
func Vector(rows ...uint64) []byte {
	var body bytes.Buffer
	body.Write(binary.LittleEndian.AppendUint32(nil, 1681511377))
	bits := roaring64.BitmapOf(rows...)
	bits.RunOptimize()
	if _, err := bits.WriteTo(&body); err != nil {
		panic(err)
	}
	data := binary.BigEndian.AppendUint32(nil, uint32(body.Len()))
	data = append(data, body.Bytes()...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(body.Bytes()))
}

// Commit writes a version of a table of Delta Lake.
func (l *Lake) Commit(version int, actions ...any) {
	l.T.Helper()
	l.JSON(fmt.Sprintf("_delta_log/%020d.json", version), actions...)
}

// DeltaField is a column of a schema of Delta Lake, kept in files under another name if
// physical has one.
func DeltaField(name, kind, physical string, id int) J {
	about := J{}
	if physical != "" {
		about = J{"delta.columnMapping.physicalName": physical, "delta.columnMapping.id": id}
	}
	return J{"name": name, "type": kind, "nullable": true, "metadata": about}
}

// MetaData is the action that gives a table of Delta Lake its columns.
func MetaData(configuration J, partitions []string, fields ...J) J {
	schema, _ := json.Marshal(J{"type": "struct", "fields": fields})
	return J{"metaData": J{"id": "1", "format": J{"provider": "parquet"}, "schemaString": string(schema), "partitionColumns": partitions, "configuration": configuration}}
}

// Protocol is the action that says what readers of Delta Lake must know.
func Protocol(reader int, features ...string) J {
	return J{"protocol": J{"minReaderVersion": reader, "minWriterVersion": 7, "readerFeatures": features}}
}

// Add is the action that adds a file; more goes beside path and size.
func Add(path string, size int, more J) J {
	about := J{"path": path, "size": size, "partitionValues": J{}, "dataChange": true}
	for k, v := range more {
		about[k] = v
	}
	return J{"add": about}
}

// Remove is the action that removes a file, with the deletion vector that it had.
func Remove(path string, vector any) J {
	return J{"remove": J{"path": path, "deletionVector": vector}}
}

// The schemas of Iceberg's manifests, without what no reader needs.
const (
	listSchema = `{"type":"record","name":"manifest_file","fields":[
		{"name":"manifest_path","type":"string"},{"name":"content","type":"int"},{"name":"sequence_number","type":"long"},
		{"name":"partition_spec_id","type":"int"},{"name":"added_snapshot_id","type":"long"}]}`
	manifestSchema = `{"type":"record","name":"manifest_entry","fields":[
		{"name":"status","type":"int"},{"name":"snapshot_id","type":["null","long"]},{"name":"sequence_number","type":["null","long"]},
		{"name":"data_file","type":{"type":"record","name":"r2","fields":[
			{"name":"content","type":"int"},{"name":"file_path","type":"string"},{"name":"file_format","type":"string"},
			{"name":"partition","type":{"type":"record","name":"r102","fields":[PARTITION]}},
			{"name":"record_count","type":"long"},{"name":"file_size_in_bytes","type":"long"},
			{"name":"key_metadata","type":["null","bytes"]},{"name":"equality_ids","type":["null",{"type":"array","items":"int"}]},
			{"name":"referenced_data_file","type":["null","string"]},{"name":"content_offset","type":["null","long"]},{"name":"content_size_in_bytes","type":["null","long"]}]}}]}`
)

// IcebergFile is a file of a manifest.
type IcebergFile struct {
	Path       string // below the table
	Content    int
	Format     string // "" means PARQUET
	Ward       string // value of the partition; "": the table has none
	Rows, Size int
	Status     int
	Sequence   any // nil: that of the manifest
	Equality   []int
	Of         string // of a deletion vector
	Offset     any
	Length     any
	Key        []byte
}

// Manifest is a manifest of Iceberg.
type Manifest struct {
	Content, Sequence int
	Files             []IcebergFile
}

// Snapshot writes a snapshot with its manifests and returns what the metadata say of it.
func (l *Lake) Snapshot(id int, location string, manifests ...Manifest) J {
	l.T.Helper()
	var list []any
	for k, m := range manifests {
		var entries []any
		partition := ""
		for _, f := range m.Files {
			values := J{}
			if f.Ward != "" {
				partition = `{"name":"ward","type":["null","string"]}`
				values["ward"] = f.Ward
			}
			format := f.Format
			if format == "" {
				format = "PARQUET"
			}
			var equality, of, key any
			if f.Equality != nil {
				equality = f.Equality
			}
			if f.Of != "" {
				of = location + "/" + f.Of
			}
			if f.Key != nil {
				key = f.Key
			}
			entries = append(entries, J{"status": f.Status, "snapshot_id": nil, "sequence_number": f.Sequence, "data_file": J{
				"content": f.Content, "file_path": location + "/" + f.Path, "file_format": format, "partition": values,
				"record_count": f.Rows, "file_size_in_bytes": f.Size, "key_metadata": key, "equality_ids": equality,
				"referenced_data_file": of, "content_offset": f.Offset, "content_size_in_bytes": f.Length}})
		}
		name := fmt.Sprintf("metadata/%d-m%d.avro", id, k)
		l.avro(name, strings.Replace(manifestSchema, "PARTITION", partition, 1), entries)
		list = append(list, J{"manifest_path": location + "/" + name, "content": m.Content, "sequence_number": m.Sequence, "partition_spec_id": 0, "added_snapshot_id": id})
	}
	name := fmt.Sprintf("metadata/snap-%d.avro", id)
	l.avro(name, listSchema, list)
	return J{"snapshot-id": id, "timestamp-ms": 1_000_000 * id, "schema-id": 0, "manifest-list": location + "/" + name}
}

func (l *Lake) avro(name, schema string, records []any) {
	l.T.Helper()
	s, err := avro.Parse(schema)
	if err != nil {
		l.T.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := ocf.NewWriter(&buf, s)
	if err != nil {
		l.T.Fatal(err)
	}
	for _, r := range records {
		if err := w.Encode(r); err != nil {
			l.T.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		l.T.Fatal(err)
	}
	l.Put(name, buf.Bytes())
}

// Metadata writes the metadata of an Iceberg table whose newest snapshot is the last.
func (l *Lake) Metadata(name, location string, more J, snapshots ...J) {
	var log []any
	current := any(-1)
	for _, s := range snapshots {
		log = append(log, J{"snapshot-id": s["snapshot-id"], "timestamp-ms": s["timestamp-ms"]})
		current = s["snapshot-id"]
	}
	m := J{"format-version": 2, "location": location, "last-updated-ms": 1, "current-schema-id": 0, "current-snapshot-id": current, "snapshots": snapshots, "snapshot-log": log,
		"schemas":         []any{J{"schema-id": 0, "fields": []any{J{"id": 1, "name": "note_id"}, J{"id": 2, "name": "text"}, J{"id": 3, "name": "ward"}}}},
		"partition-specs": []any{J{"spec-id": 0, "fields": []any{}}}}
	for k, v := range more {
		m[k] = v
	}
	l.JSON("metadata/"+name, m)
}

// Vectored puts the deletion vector of a row into the file of vectors of a table of Delta
// Lake, changed, and returns what the log says of it.
func (l *Lake) Vectored(row uint64, cardinality int, change func(data []byte)) J {
	data := Vector(row)
	change(data)
	l.Put("deletion_vector_00000000-0000-0000-0000-000000000000.bin", append([]byte{1}, data...))
	return J{"storageType": "u", "pathOrInlineDv": strings.Repeat("0", 20), "offset": 1, "sizeInBytes": len(Vector(row)) - 8, "cardinality": cardinality}
}
