package lake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/velum-health/velum/stages/read/input"
)

const logFolder = "_delta_log"

// What the log of Delta Lake says is JSON, an action a line.
type (
	action struct {
		Protocol   *protocol   `json:"protocol"`
		MetaData   *metaData   `json:"metaData"`
		Add        *addFile    `json:"add"`
		Remove     *removeFile `json:"remove"`
		CommitInfo *struct {
			InCommitTimestamp int64 `json:"inCommitTimestamp"`
		} `json:"commitInfo"`
		Sidecar *sidecar `json:"sidecar"`
	}
	sidecar struct {
		Path string `json:"path"`
	}
	protocol struct {
		MinReaderVersion int      `json:"minReaderVersion"`
		ReaderFeatures   []string `json:"readerFeatures"`
	}
	metaData struct {
		Format struct {
			Provider string `json:"provider"`
		} `json:"format"`
		SchemaString     string            `json:"schemaString"`
		PartitionColumns []string          `json:"partitionColumns"`
		Configuration    map[string]string `json:"configuration"`
	}
	addFile struct {
		Path            string             `json:"path"`
		PartitionValues map[string]*string `json:"partitionValues"`
		Size            int64              `json:"size"`
		Stats           string             `json:"stats"`
		DeletionVector  *deletionVector    `json:"deletionVector"`
	}
	removeFile struct {
		Path           string          `json:"path"`
		DeletionVector *deletionVector `json:"deletionVector"`
	}
	deletionVector struct {
		StorageType    string `json:"storageType"`
		PathOrInlineDv string `json:"pathOrInlineDv"`
		Offset         *int64 `json:"offset"`
		SizeInBytes    int64  `json:"sizeInBytes"`
		Cardinality    int64  `json:"cardinality"`
	}
)

// id tells vectors apart.
func (v *deletionVector) id() string {
	if v == nil || v.StorageType == "" {
		return ""
	}
	id := v.StorageType + v.PathOrInlineDv
	if v.Offset != nil {
		id += "@" + strconv.FormatInt(*v.Offset, 10)
	}
	return id
}

// Features of readers that are honoured. Those of writers are no matter of ours.
var deltaFeatures = []string{"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening", "typeWidening-preview"}

// logical is a file of the log's: one of rows with a vector.
type logicalFile struct{ path, vector string }

// deltaLog is what the log has come to.
type deltaLog struct {
	dir      string
	version  int64
	protocol *protocol
	metaData *metaData
	files    map[logicalFile]*addFile
	made     time.Time
}

var (
	commitName     = regexp.MustCompile(`^(\d{20})\.json$`)
	checkpointName = regexp.MustCompile(`^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-fA-F-]{36})?\.(parquet|json)$`)
)

// checkpoint is what stands in the log instead of the commits before.
type checkpoint struct {
	version int64
	parts   []string
}

// logFiles is what lies in the folder of the log.
type logFiles struct {
	commits     map[int64]bool
	checkpoints []checkpoint // that are whole, ascending
	newest      int64
}

func listLog(dir string) (*logFiles, error) {
	entries, err := os.ReadDir(filepath.Join(dir, logFolder))
	if err != nil {
		return nil, &input.Error{Path: filepath.Join(dir, logFolder), Cause: input.Cause(err), Remedy: "check its permissions"}
	}
	l := &logFiles{commits: map[int64]bool{}, newest: -1}
	parts := map[string]*checkpoint{} // of several files
	for _, e := range entries {
		if m := commitName.FindStringSubmatch(e.Name()); m != nil {
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				continue
			}
			l.commits[n], l.newest = true, max(l.newest, n)
		}
		m := checkpointName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			continue
		}
		c := checkpoint{n, []string{e.Name()}}
		if of, _ := strconv.Atoi(m[3]); of > 0 {
			all := parts[m[1]+m[3]]
			if all == nil {
				all = &checkpoint{version: n}
				parts[m[1]+m[3]] = all
			}
			all.parts = append(all.parts, e.Name())
			if len(all.parts) < of {
				continue
			}
			c = *all
		}
		l.checkpoints, l.newest = append(l.checkpoints, c), max(l.newest, n)
	}
	slices.SortStableFunc(l.checkpoints, func(a, b checkpoint) int { return int(max(-1, min(1, a.version-b.version))) })
	if l.newest < 0 {
		return nil, &input.Error{Path: filepath.Join(dir, logFolder), Cause: "has no entries of a log of Delta Lake", Remedy: Restore}
	}
	return l, nil
}

func openDelta(dir, version string) (*Table, error) {
	l, err := listLog(dir)
	if err != nil {
		return nil, err
	}
	at, err := l.wanted(dir, version)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := &deltaLog{dir: full, version: at, files: map[logicalFile]*addFile{}}
	if err := d.replay(l); err != nil {
		return nil, err
	}
	return d.table()
}

// wanted is the number of the version that is meant.
func (l *logFiles) wanted(dir, version string) (int64, error) {
	refuse := func(cause string) (int64, error) {
		return 0, &input.Error{Path: dir, Cause: cause, Remedy: fmt.Sprintf("give read.version a number up to %d or a time as 2026-01-31T12:00:00Z", l.newest)}
	}
	if version == "" {
		return l.newest, nil
	}
	if n, err := strconv.ParseInt(version, 10, 64); err == nil {
		if n < 0 || n > l.newest {
			return refuse(fmt.Sprintf("has no version %d, the newest is %d", n, l.newest))
		}
		return n, nil
	}
	until, ok := asOf(version)
	if !ok {
		return refuse("read.version is no number and no time")
	}
	best, before := int64(-1), time.Time{}
	for _, n := range slices.Sorted(maps.Keys(l.commits)) { // a name may have any number
		made, err := commitTime(dir, n)
		if err != nil {
			return 0, err
		}
		if !made.After(before) {
			made = before.Add(time.Millisecond) // clocks go back, versions do not
		}
		if before = made; made.After(until) {
			break
		}
		best = n
	}
	if best < 0 {
		return refuse("has no version of that time: its log begins later")
	}
	return best, nil
}

func commitPath(dir string, version int64) string {
	return filepath.Join(dir, logFolder, fmt.Sprintf("%020d.json", version))
}

// commitTime is when a version was made: as its first line says, or else when its file
// was written.
func commitTime(dir string, version int64) (time.Time, error) {
	path := commitPath(dir, version)
	var made time.Time
	err := eachAction(path, func(a *action) error {
		if a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp > 0 {
			made = time.UnixMilli(a.CommitInfo.InCommitTimestamp)
		}
		return io.EOF // it is the first
	})
	if err != nil || !made.IsZero() {
		return made, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return made, &input.Error{Path: path, Cause: input.Cause(err), Remedy: Restore}
	}
	return info.ModTime(), nil
}

// mostAction bounds a line of the log; the longest have statistics of all columns.
const mostAction = 64 << 20

// eachAction reads a file of actions. do may return io.EOF to end it.
func eachAction(path string, do func(*action) error) error {
	f, err := os.Open(path)
	if err != nil {
		return &input.Error{Path: path, Cause: input.Cause(err), Remedy: Restore}
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), mostAction)
	for n := 1; lines.Scan(); n++ {
		a, err := parseAction(lines.Bytes())
		if err != nil {
			return &input.Error{Path: path, Line: n, Cause: err.Error(), Remedy: Restore}
		}
		if err := do(a); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return &input.Error{Path: path, Cause: "cannot be read to its end", Remedy: Restore}
	}
	return nil
}

var errAction = errors.New("is no action of a log of Delta Lake")

// parseAction reads a line of the log; an empty one says nothing.
func parseAction(line []byte) (*action, error) {
	a := new(action)
	if len(bytes.TrimSpace(line)) == 0 {
		return a, nil
	}
	if json.Unmarshal(line, a) != nil { // its error quotes the line
		return nil, errAction
	}
	return a, nil
}

// replay takes the last checkpoint before the version and every commit since.
func (d *deltaLog) replay(l *logFiles) error {
	next := int64(0)
	for _, c := range slices.Backward(l.checkpoints) {
		if c.version > d.version {
			continue
		}
		for _, part := range c.parts {
			if err := d.checkpoint(filepath.Join(d.dir, logFolder, part)); err != nil {
				return err
			}
		}
		next = c.version + 1
		break
	}
	for n := next; n <= d.version; n++ {
		if !l.commits[n] {
			return &input.Error{Path: commitPath(d.dir, n), Cause: fmt.Sprintf("is missing from the log, and nothing else says what version %d is", d.version),
				Remedy: "restore the file; if old entries were cleaned up, read a newer version"}
		}
		if err := d.commit(n); err != nil {
			return err
		}
	}
	if d.protocol == nil || d.metaData == nil {
		return &input.Error{Path: filepath.Join(d.dir, logFolder), Cause: fmt.Sprintf("has no protocol or schema of version %d", d.version), Remedy: Restore}
	}
	if l.commits[d.version] {
		var err error
		d.made, err = commitTime(d.dir, d.version)
		return err
	}
	return nil
}

// commit applies a commit. What it removes goes before what it adds: a file whose
// vector changes is both, in any order.
func (d *deltaLog) commit(version int64) error {
	var added []*addFile
	err := eachAction(commitPath(d.dir, version), func(a *action) error {
		if a.Remove != nil {
			delete(d.files, logicalFile{a.Remove.Path, a.Remove.DeletionVector.id()})
		}
		if a.Add != nil {
			added = append(added, a.Add)
		}
		d.settings(a)
		return nil
	})
	for _, f := range added {
		d.add(f)
	}
	return err
}

func (d *deltaLog) settings(a *action) {
	if a.Protocol != nil {
		d.protocol = a.Protocol
	}
	if a.MetaData != nil {
		d.metaData = a.MetaData
	}
}

func (d *deltaLog) add(f *addFile) { d.files[logicalFile{f.Path, f.DeletionVector.id()}] = f }

// refuse says that the table asks for what is not done here.
func (d *deltaLog) refuse(cause string) error {
	return &input.Error{Path: d.dir, Cause: cause, Remedy: "write what the table says into a file of Parquet with the program that wrote it, and give that"}
}

// understood tells whether the protocol is one that this package reads.
func (d *deltaLog) understood() error {
	p := d.protocol
	if p.MinReaderVersion > 3 {
		return d.refuse(fmt.Sprintf("is a table of Delta Lake for readers of version %d; this one is of version 3", p.MinReaderVersion))
	}
	for _, f := range p.ReaderFeatures {
		if !slices.Contains(deltaFeatures, f) {
			return d.refuse(fmt.Sprintf("is a table of Delta Lake with %q, which is not read", f))
		}
	}
	if provider := d.metaData.Format.Provider; provider != "" && provider != "parquet" {
		return d.refuse("is a table of Delta Lake with files that are not of Parquet")
	}
	return nil
}

// deltaSchema is what the log says of the columns.
type deltaSchema struct {
	Fields []struct {
		Name     string          `json:"name"`
		Type     json.RawMessage `json:"type"`
		Metadata struct {
			ID       int32  `json:"delta.columnMapping.id"`
			Physical string `json:"delta.columnMapping.physicalName"`
		} `json:"metadata"`
	} `json:"fields"`
}

// table is what the log says at the end.
func (d *deltaLog) table() (*Table, error) {
	if err := d.understood(); err != nil {
		return nil, err
	}
	t := &Table{Dir: d.dir, Format: DeltaLake, Version: strconv.FormatInt(d.version, 10), Time: d.made}
	physical, err := d.columns(t)
	if err != nil {
		return nil, err
	}
	for _, f := range d.files {
		file, err := d.file(f, t.Values, physical)
		if err != nil {
			return nil, err
		}
		t.Files = append(t.Files, file)
	}
	return t, d.counted()
}

// columns settles what columns are called, and returns the names that partition
// values have in the log.
func (d *deltaLog) columns(t *Table) (physical map[string]string, err error) {
	var s deltaSchema
	if json.Unmarshal([]byte(d.metaData.SchemaString), &s) != nil {
		return nil, &input.Error{Path: filepath.Join(d.dir, logFolder), Cause: "has a schema that cannot be decoded", Remedy: Restore}
	}
	mode := d.metaData.Configuration["delta.columnMapping.mode"]
	physical = map[string]string{}
	for _, f := range s.Fields {
		name := f.Name
		switch mode {
		case "", "none":
		case "name", "id":
			if name = f.Metadata.Physical; name == "" {
				return nil, d.refuse(fmt.Sprintf("maps its columns and does not say what %q is called in its files", f.Name))
			}
			t.Names.Add(name, f.Metadata.ID, f.Name, mode == "id")
		default:
			return nil, d.refuse(fmt.Sprintf("is a table of Delta Lake whose columns are mapped by %q, which is not read", mode))
		}
		physical[f.Name] = name
		if slices.Contains(d.metaData.PartitionColumns, f.Name) {
			t.Values = append(t.Values, Column{f.Name, strings.Trim(string(f.Type), `"`)})
		}
	}
	return physical, nil
}

// file is a file of the log with what is deleted in it.
func (d *deltaLog) file(f *addFile, partitions []Column, physical map[string]string) (File, error) {
	name := Unescaped(f.Path)
	if rest, absolute := strings.CutPrefix(withoutScheme(name), d.dir+"/"); absolute {
		name = rest
	}
	path, ok := inside(name)
	if !ok {
		return File{}, d.refuse("is a table of Delta Lake with files outside its folder (a shallow clone?)")
	}
	file := File{Path: path, Bytes: f.Size, Rows: -1, Values: map[string]*string{}}
	var stats struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if json.Unmarshal([]byte(f.Stats), &stats) == nil && stats.NumRecords != nil {
		file.Rows = *stats.NumRecords
	}
	for _, c := range partitions {
		if v := f.PartitionValues[physical[c.Name]]; v != nil && *v != "" {
			file.Values[c.Name] = v
		}
	}
	if f.DeletionVector.id() == "" {
		return file, nil
	}
	rows, err := d.vector(f.DeletionVector)
	if err == nil && int64(rows.GetCardinality()) != f.DeletionVector.Cardinality {
		err = fmt.Errorf("%w: it has not as many rows as the log says", errVector)
	}
	if err != nil {
		cause := err.Error()
		if !errors.Is(err, errVector) {
			cause = "its deletion vector " + input.Cause(err)
		}
		return File{}, &input.Error{Path: filepath.Join(d.dir, path), Cause: cause, Remedy: Restore}
	}
	file.Deleted = rows
	return file, nil
}

// vector reads a deletion vector, in the log or in a file.
func (d *deltaLog) vector(v *deletionVector) (*roaring64.Bitmap, error) {
	if v.StorageType == "i" {
		data, err := decodeZ85(v.PathOrInlineDv)
		if err != nil || int64(len(data)) < v.SizeInBytes || v.SizeInBytes < 0 {
			return nil, errVector
		}
		return parseVector(data[:v.SizeInBytes])
	}
	offset := int64(1) // behind the version of the format
	if v.Offset != nil {
		offset = *v.Offset
	}
	name := ""
	switch {
	case v.StorageType == "u" && len(v.PathOrInlineDv) >= 20:
		prefix, id := v.PathOrInlineDv[:len(v.PathOrInlineDv)-20], v.PathOrInlineDv[len(v.PathOrInlineDv)-20:]
		u, err := decodeZ85(id)
		if err != nil {
			return nil, err
		}
		name = filepath.Join(prefix, fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
	case v.StorageType == "p":
		name, _ = strings.CutPrefix(withoutScheme(Unescaped(v.PathOrInlineDv)), d.dir+"/")
	}
	path, ok := inside(name)
	if !ok {
		return nil, fmt.Errorf("%w: it lies outside the table", errVector)
	}
	return readVector(filepath.Join(d.dir, path), offset, v.SizeInBytes)
}

// counted compares the files with the checksum of the version, if there is one.
func (d *deltaLog) counted() error {
	path := strings.TrimSuffix(commitPath(d.dir, d.version), ".json") + ".crc"
	data, err := only(path, mostAction)
	if err != nil {
		return nil // it may be missing
	}
	var sum struct {
		NumFiles       *int64 `json:"numFiles"`
		TableSizeBytes *int64 `json:"tableSizeBytes"`
	}
	bytes := int64(0)
	for _, f := range d.files {
		bytes += f.Size
	}
	if json.Unmarshal(data, &sum) != nil || sum.NumFiles != nil && *sum.NumFiles != int64(len(d.files)) || sum.TableSizeBytes != nil && *sum.TableSizeBytes != bytes {
		return &input.Error{Path: path, Cause: fmt.Sprintf("is not the checksum of what the log says: %d files of %d bytes", len(d.files), bytes), Remedy: Restore}
	}
	return nil
}
