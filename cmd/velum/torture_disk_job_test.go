package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// Job is a run of commit.RunUnits whose notes are numbers: unit k has 4+k
// notes, of which every third goes to quarantine. Everything around the units
// is the real thing, and a job takes a millisecond.
type diskJob struct {
	Units  int
	Config byte
	Fresh  bool
	AtOnce int

	Months []diskMonth  // given in place of units, to an output that grows
	Forget map[int]bool // numbers of those that are taken out of it
}

// Month is an input file of one to three units, or a small one, which may share its
// unit. Another version of it has other notes.
type diskMonth struct {
	Number, Version int
	Small           bool
}

func (m diskMonth) input() string { return fmt.Sprintf("/nowhere/month-%d.parquet", m.Number) }

func (m diskMonth) units() (units []commit.Unit) {
	if m.Small {
		return []commit.Unit{{
			Input: m.input(), Folder: "month=0", SHA256: sha256.Sum256([]byte{2, byte(m.Number), byte(m.Version)}), To: 1, Rows: 1 + int64(m.Number%4), Small: 10,
		}}
	}
	for k := range int64(1 + m.Number%3) {
		units = append(units, commit.Unit{
			Input: m.input(), Folder: fmt.Sprintf("month=%d", m.Number), SHA256: sha256.Sum256([]byte{1, byte(m.Number), byte(m.Version)}),
			From: k, To: k + 1, First: int64(1000*m.Number+100*m.Version) + 10*k, Rows: 2 + k,
		})
	}
	return units
}

// dir is where jobs stand on their disk: some folders deep, and none of those
// below dir there yet.
const (
	diskVolume = "/volume"
	diskDir    = diskVolume + "/archive/masked/out"
)

// mark is what the rows of a unit are called by: as without a key, where its file lies.
func diskMark(u *commit.Unit) string {
	m := u.Mark()
	return fmt.Sprintf("%x-%x", m[:4], m[4:])
}

func (j diskJob) plan() *commit.Plan {
	p := &commit.Plan{Config: sha256.Sum256([]byte{j.Config}), Mark: diskMark}
	for _, m := range j.Months {
		p.Units = append(p.Units, m.units()...)
	}
	for k := range int64(j.Units) {
		p.Units = append(p.Units, commit.Unit{
			Input: "notes.parquet", Folder: fmt.Sprintf("month=%d", k/2), SHA256: sha256.Sum256([]byte{byte(k / 2)}),
			From: k, To: k + 1, First: 100 * k, Rows: 4 + k,
		})
	}
	return p
}

// worker runs jobs on a disk and knows what they promised.
type diskWorker struct {
	disk *memoryDisk

	mu      sync.Mutex
	settled map[string]bool // units that were journalled, by name
	twice   []string        // units that were done although they were
}

// run is one process.
func (w *diskWorker) run(j diskJob) error {
	plan := j.plan()
	_, err := commit.RunUnits(context.Background(), plan, commit.Output{Dir: diskDir, FS: w.disk}, w.line(j, plan), w.options(j))
	return err
}

// line makes the lines of units. The plan gives their names, to see what is done twice.
func (w *diskWorker) line(j diskJob, plan *commit.Plan) func(int, *commit.Unit, *commit.Parts) (commit.Line, error) {
	return func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		if plan != nil {
			name := plan.Name(u)
			w.mu.Lock()
			if w.settled[name] {
				w.twice = append(w.twice, name)
			}
			w.mu.Unlock()
		}
		s, err := diskNewSink(parts, j.Config)
		if u.Small > 0 || len(u.Members) > 0 {
			return commit.Line{Source: &diskSmallSource{unit: u}, Sink: s}, err
		}
		return commit.Line{Source: &diskSource{left: int(u.Rows), first: u.First}, Sink: s}, err
	}
}

func (w *diskWorker) options(j diskJob) commit.UnitOptions {
	return commit.UnitOptions{
		Rest: diskRemain, Forget: func(u *commit.UnitRecord, _ string) bool { return j.forgets(u.Input) },
		AtOnce: j.AtOnce, Fresh: j.Fresh, Grow: j.Months != nil, Verify: diskVerify, Finish: diskFinish,
		Done: func(u *commit.UnitRecord, reused bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			// What is found done may be a line that nobody has synced yet.
			if w.settled != nil && !reused {
				w.settled[u.Name] = true
			}
		},
	}
}

type diskSource struct {
	left  int
	first int64
}

func (s *diskSource) Next(b *pipeline.Batch) error {
	if s.left == 0 {
		return io.EOF
	}
	b.First = s.first
	for range min(3, s.left) {
		b.ID.Append(fmt.Appendf(nil, "note %d", s.first))
		b.Text.Append([]byte("text"))
		b.Reason = append(b.Reason, pipeline.Sound)
		if s.first%3 == 0 {
			b.Reason[len(b.Reason)-1] = pipeline.NullID
		}
		s.first++
		s.left--
	}
	return nil
}

// smallSource reads the notes of a unit of small files. Each says which row it is.
type diskSmallSource struct {
	unit *commit.Unit
	at   int
	row  int64
}

func (s *diskSmallSource) Next(b *pipeline.Batch) error {
	files := s.unit.Members
	if files == nil {
		files = []commit.Unit{*s.unit}
	}
	if s.at == len(files) {
		return io.EOF
	}
	b.First = s.row
	for i := range files[s.at].Rows {
		b.ID.Append(fmt.Appendf(nil, "note %d %d", diskFirstID(&files[s.at])+i, s.row))
		b.Text.Append([]byte("text"))
		reason := pipeline.Sound
		if s.row%3 == 0 {
			reason = pipeline.NullID
		}
		b.Reason = append(b.Reason, reason)
		s.row++
	}
	s.at++
	return nil
}

// firstID is the number of the first note of a small file.
func diskFirstID(u *commit.Unit) int64 {
	return int64(binary.LittleEndian.Uint32(u.SHA256[:])) * 10
}

// forgets tells whether the job takes an input out.
func (j *diskJob) forgets(input string) bool {
	for number := range j.Forget {
		if (diskMonth{Number: number}).input() == input {
			return true
		}
	}
	return false
}

// sink writes ids, one a line; those of masked notes once more, for the last step to mix.
type diskSink struct {
	masked, staged, quarantine *commit.Part
	counts                     commit.Counts
}

func diskNewSink(parts *commit.Parts, config byte) (*diskSink, error) {
	masked, err1 := parts.Create("masked", ".parquet", false)
	staged, err2 := parts.Create("staged", ".parquet", true)
	quarantine, err3 := parts.Create("quarantine", ".parquet", true)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	_, err := fmt.Fprintf(masked, "configuration %d\n", config)
	return &diskSink{masked: masked, staged: staged, quarantine: quarantine}, err
}

func (s *diskSink) Put(b *pipeline.Batch) error {
	for i, r := range b.Reason {
		if err := s.note(string(b.ID.At(i)), r != pipeline.Sound); err != nil {
			return err
		}
	}
	return nil
}

func (s *diskSink) note(id string, quarantined bool) error {
	s.counts.Rows++
	if quarantined {
		s.counts.Quarantined++
		s.counts.Reasons = map[string]int64{pipeline.NullID.String(): s.counts.Quarantined}
		return diskPut(s.quarantine, id)
	}
	s.counts.Masked++
	return errors.Join(diskPut(s.masked, id), diskPut(s.staged, id))
}

func diskPut(to *commit.Part, id string) error {
	to.Rows++
	to.Digest = fmt.Sprintf("%08x", crc32.Update(diskDigest(to), crc32.IEEETable, []byte(id)))
	_, err := fmt.Fprintf(to, "%s\n", id)
	return err
}

func (s *diskSink) Close() (commit.Counts, error) { return s.counts, nil }

func diskDigest(p *commit.Part) (d uint32) {
	_, _ = fmt.Sscanf(p.Digest, "%x", &d)
	return d
}

// verify reads a part again as table.Verify does.
func diskVerify(_ string, r io.ReaderAt, size int64) (rows int64, digest string, err error) {
	data, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return 0, "", err
	}
	sum := uint32(0)
	for line := range strings.Lines(string(data)) {
		if id, whole := strings.CutSuffix(line, "\n"); whole && strings.HasPrefix(id, "note ") {
			rows++
			sum = crc32.Update(sum, crc32.IEEETable, []byte(id))
			digest = fmt.Sprintf("%08x", sum)
		}
	}
	return rows, digest, nil
}

// diskMix makes one public part of what the units have staged, in the order of the ids, by way of a part that passes.
func diskMix(f *commit.Final) error {
	var ids []string
	passing, err := f.Create("passing", "passing/part.parquet", true)
	if err != nil {
		return err
	}
	staged, err := f.Staged("staged")
	if err != nil {
		return err
	}
	for _, s := range append(staged, f.Passed(passing)) {
		if s.Kind == "passing" {
			if err := f.Settle(passing); err != nil {
				return err
			}
			ids = nil // they are in it
		}
		file, err := s.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		for id := range strings.Lines(string(data)) {
			ids = append(ids, strings.TrimSuffix(id, "\n"))
			if s.Kind != "passing" {
				if err := diskPut(passing, ids[len(ids)-1]); err != nil {
					return err
				}
			}
		}
	}
	slices.Sort(ids)
	if err := f.Drop(passing); err != nil {
		return err
	}
	mixed, err := f.Create("mixed", "mixed/part-00000-"+commit.DigestHere+".parquet", false)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := diskPut(mixed, id); err != nil {
			return err
		}
	}
	return f.Settle(mixed)
}

// finish writes a report into each tree, out of what the units wrote, and mixes.
func diskFinish(_ context.Context, f *commit.Final) error {
	if err := diskMix(f); err != nil {
		return err
	}
	notes := 0
	for _, u := range f.Manifest.Units {
		for _, p := range u.Parts {
			file, err := f.Open(p)
			if err != nil {
				return err
			}
			data, err := io.ReadAll(file)
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
			notes += strings.Count(string(data), "note ")
		}
	}
	for _, private := range []bool{false, true} {
		part, err := f.Create("report", "report.json", private)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(part, "{\"rows\":%d,\"notes\":%d}\n", f.Manifest.Rows, notes); err != nil {
			return err
		}
	}
	return nil
}

// undisturbed returns the files of a job in which nothing goes wrong, and how
// many operations it takes.
func diskUndisturbed(j diskJob) (files map[string]string, ops int, err error) {
	w := &diskWorker{disk: newMemoryDisk(1, diskVolume)}
	w.disk.Start(diskFault{})
	j.AtOnce = 1
	err = w.run(j)
	return diskOutputs(w.disk), len(w.disk.Ops()), err
}

// outputs lists both trees of a job.
func diskOutputs(d *memoryDisk) map[string]string { return d.Files(filepath.Dir(diskDir)) }

// differs tells how two lists of files differ, "" if they do not.
func diskDiffers(got, want map[string]string) string {
	var all []string
	for name, data := range want {
		if have, ok := got[name]; !ok {
			all = append(all, name+" is missing")
		} else if have != data {
			all = append(all, name+" is another")
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			all = append(all, name+" is too many")
		}
	}
	return strings.Join(all, ", ")
}

// unsound returns what is wrong with the trees that a power loss left, "" if
// nothing is. parts are all parts that may ever be there, by path.
// The damaged one, if any, is taken for sound.
func diskUnsound(d *memoryDisk, parts map[string]string, damaged string) string {
	files := diskOutputs(d)
	if diskHas(files, damaged) {
		files[damaged] = parts[damaged]
	}
	for name, data := range files {
		want, known := parts[name]
		known = known || strings.Contains(name, "/mixed/") && strings.Contains(name, diskSum(data)[:16]) // of months that came in any order
		if strings.Contains(name, "/part-") && !strings.Contains(name, "/_runs/") && (!known || want != "" && data != want) {
			return name + " has its name and is not what was verified"
		}
	}
	for _, tree := range []string{"out", "out.private"} {
		if bad := diskUnsoundTree(diskBelow(files, tree)); bad != "" {
			return tree + ": " + bad
		}
	}
	public, private := diskBelow(files, "out"), diskBelow(files, "out.private")
	m, err := commit.ParseManifest([]byte(private["manifest.json"]))
	if diskHas(public, "_SUCCESS") && (err != nil || !m.Vouches([]byte(public["manifest.json"]))) {
		return "out/_SUCCESS is there and the manifests are not of one run"
	}
	return ""
}

// unsoundTree: a manifest that is there has its parts, and _SUCCESS means that
// all is there.
func diskUnsoundTree(files map[string]string) string {
	text, ok := files["manifest.json"]
	vouched, success := files["_SUCCESS"]
	if success && (!ok || !strings.Contains(vouched, diskSum(text))) {
		return "_SUCCESS is there and its manifest is not"
	}
	if !ok {
		return ""
	}
	m, err := commit.ParseManifest([]byte(text))
	if err != nil {
		return "the manifest is torn"
	}
	for _, p := range m.Here() {
		if (success || strings.Contains(p.Path, "/part-")) && diskSum(files[p.Path]) != p.SHA256 {
			return p.Path + " is in the manifest and not whole"
		}
	}
	return ""
}

func diskSum(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }
