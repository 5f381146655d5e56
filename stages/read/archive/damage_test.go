package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
)

// longForm asks for the long form of TestDamage: `make torture`.
var longForm = flag.Bool("long", false, "the long forms of the tests on reliability")

// TestDamage reads Parquet files that it has damaged: bits flipped, blocks lost, footers and page headers that lie. The
// reading process never ends, no worker takes more than its processor time, and with page checksums, or a list of SHA-256
// sums beside the archive, no row is lost or changed without an error.
// What is done to file i depends on seed and i alone.
func TestDamage(t *testing.T) {
	files := 2000
	if *longForm {
		files = 200_000
	}
	damage(t, files)
}

func damage(t *testing.T, files int) {
	trial, err := newTrial(t.TempDir(), 2026)
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.run(files); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	trial.report(&table)
	t.Log("\n" + table.String())
	if err := trial.verdict(); err != nil {
		t.Error(err)
	}
}

// outcome is what became of a damaged file.
type outcome int

const (
	same    outcome = iota // every row as it was: what was damaged is not read
	refused                // an error for the whole file
	partly                 // an error for some units, the others as they were
	changed                // rows lost or changed without an error
	numOutcomes
)

// protection is what a file has against changes.
type protection int

const (
	listed protection = iota // SHA-256 list
	summed                   // page checksums
	none                     // nothing, or checksums that were made to fit
	numProtections
)

var protectionNames = [numProtections]string{"SHA-256 list", "page checksums", "nothing"}

// trial is a run over damaged files.
type trial struct {
	dir   string
	seed  uint64
	sound []soundFile
	rows  []string // of every sound file, in order
	fence *fence.Fence

	counts [][numProtections][numOutcomes]int // by mutator

	files, deaths, late, crashes int
	slowest, took                time.Duration
	slowestFile                  int
	silent                       []string // files with checksums or a list that changed without an error
}

func newTrial(dir string, seed uint64) (*trial, error) {
	sound, err := soundFiles()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	t := &trial{dir: dir, seed: seed, sound: sound, fence: fence.New(fence.Options{Memory: 128 << 20, Timeout: 8 * time.Second}), counts: make([][numProtections][numOutcomes]int, len(mutators))}
	for _, s := range sound {
		if err := os.WriteFile(t.path(), s.data, 0o600); err != nil {
			return nil, err
		}
		units, failed, err := t.read("")
		if err != nil || failed > 0 || len(units) != fileRows/groupRows {
			return nil, fmt.Errorf("the sound file %q cannot be read: %d units, %w", s.name, len(units), err)
		}
		var rows []string
		for _, u := range units {
			rows = append(rows, u.rows...)
		}
		if t.rows == nil {
			t.rows = rows
		}
		if !slices.Equal(t.rows, rows) {
			return nil, fmt.Errorf("the sound file %q has other rows than %q", s.name, sound[0].name)
		}
	}
	return t, nil
}

func (t *trial) path() string { return filepath.Join(t.dir, "damaged.parquet") }

// run damages and reads the files.
func (t *trial) run(files int) error {
	begin := time.Now()
	for i := range files {
		if err := t.file(i); err != nil {
			return err
		}
	}
	t.took = time.Since(begin)
	_, died := t.fence.Workers()
	t.deaths = int(died)
	return t.fence.Close()
}

// file damages one file and reads it.
func (t *trial) file(i int) error {
	rng := rand.New(rand.NewPCG(t.seed, uint64(i)))
	s := t.sound[rng.IntN(len(t.sound))]
	k := rng.IntN(len(mutators))
	m := mutators[k]
	damaged := m.do(slices.Clone(s.data), rng)
	p, list := none, ""
	switch {
	case rng.IntN(20) == 0:
		p = listed
		list = filepath.Join(t.dir, "SHA256SUMS")
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(s.data), filepath.Base(t.path()))
		if err := os.WriteFile(list, []byte(line), 0o600); err != nil {
			return err
		}
	case s.sums && !m.forges && (m.name != "blocks exchanged" || !sumsFit(s.data, damaged)):
		p = summed
	}
	if err := os.WriteFile(t.path(), damaged, 0o600); err != nil {
		return err
	}
	begin := time.Now()
	o := t.outcome(list)
	took := time.Since(begin)
	if took > t.slowest {
		t.slowest, t.slowestFile = took, i
	}
	if took > 10*time.Second {
		t.late++
	}
	t.files++
	t.counts[k][p][o]++
	if o == changed && p != none {
		t.silent = append(t.silent, fmt.Sprintf("file %d: %s of %q, %s", i, m.name, s.name, protectionNames[p]))
	}
	return nil
}

// outcome reads the damaged file and compares. A panic here would be the end
// of a run.
func (t *trial) outcome(list string) (o outcome) {
	defer func() {
		if recover() != nil {
			t.crashes++
			o = refused
		}
	}()
	units, failed, err := t.read(list)
	switch {
	case err != nil || failed == len(units):
		return refused
	case !t.asItWas(units):
		return changed
	case failed > 0:
		return partly
	}
	return same
}

// unitRows are what was read of the row groups [from, to).
type unitRows struct {
	from, to int64
	rows     []string
	damaged  bool
}

// read reads the file as a run does. err says that the whole file is refused.
func (t *trial) read(list string) (units []unitRows, failed int, err error) {
	a, err := Scan(context.Background(), []string{t.path()}, input.Options{
		Pass: []string{"date", "center"}, UnitNotes: groupRows, Checksums: list,
	}, t.fence)
	if err != nil {
		return nil, 0, err
	}
	if len(a.Bad) > 0 {
		return nil, 0, errors.New(a.Bad[0].Cause)
	}
	for i := range a.Units {
		u := &a.Units[i]
		rows, err := readUnit(a, u)
		if err != nil {
			failed++
		}
		units = append(units, unitRows{u.From, u.To, rows, err != nil})
	}
	return units, failed, nil
}

func readUnit(a *Archive, u *commit.Unit) (rows []string, err error) {
	src, err := a.Open(u)
	if err != nil {
		return nil, err
	}
	var b pipeline.Batch
	for err == nil {
		b.Reset()
		if err = src.Next(&b); err == nil {
			rows = appendRows(rows, &b)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return rows, errors.Join(err, src.Close())
}

func appendRows(rows []string, b *pipeline.Batch) []string {
	for i := range b.Len() {
		row := fmt.Appendf(nil, "%s\x00%s\x00%d", b.ID.At(i), b.Text.At(i), b.Reason[i])
		for k := range b.Extra {
			c := &b.Extra[k]
			if c.Kind == pipeline.BytesColumn {
				row = fmt.Appendf(row, "\x00%t%s", c.Valid[i], c.Bytes.At(i))
			} else {
				row = fmt.Appendf(row, "\x00%t%d", c.Valid[i], c.Fixed[i])
			}
		}
		rows = append(rows, string(row))
	}
	return rows
}

// asItWas tells whether every row came as it was or in a unit with an error.
func (t *trial) asItWas(units []unitRows) bool {
	at := int64(0)
	for _, u := range units {
		if u.from != at || u.to < u.from || u.to > fileRows/groupRows {
			return false
		}
		at = u.to
		if !u.damaged && !slices.Equal(u.rows, t.rows[u.from*groupRows:u.to*groupRows]) {
			return false
		}
	}
	return at == fileRows/groupRows
}

// report prints what became of the files.
func (t *trial) report(w io.Writer) {
	fmt.Fprintf(w, "%-32s %-15s %8s %8s %8s %8s %8s\n", "damage", "protection", "files", "refused", "partly", "same", "changed")
	var sums [numProtections][numOutcomes]int
	for k, m := range mutators {
		for p, c := range t.counts[k] {
			line(w, m.name, protection(p), c)
			for o := range c {
				sums[p][o] += c[o]
			}
		}
	}
	for p, c := range sums {
		line(w, "all", protection(p), c)
	}
	fmt.Fprintf(w, "%d files, seed %d, %.0f s (%.2f ms each, slowest %.2f s: file %d); crashes of the reading process %d, longer than 10 s %d, workers that died %d\n",
		t.files, t.seed, t.took.Seconds(), t.took.Seconds()*1e3/float64(max(t.files, 1)), t.slowest.Seconds(), t.slowestFile, t.crashes, t.late, t.deaths)
}

func line(w io.Writer, name string, p protection, c [numOutcomes]int) {
	files := c[same] + c[refused] + c[partly] + c[changed]
	if files > 0 {
		fmt.Fprintf(w, "%-32s %-15s %8d %8d %8d %8d %8d\n", name, protectionNames[p], files, c[refused], c[partly], c[same], c[changed])
	}
}

// verdict says what was promised and not kept.
func (t *trial) verdict() error {
	var errs []error
	if t.crashes > 0 { // how long a file takes by the wall is the machine's matter: workers are held to processor time
		errs = append(errs, fmt.Errorf("%d crashes", t.crashes))
	}
	for i, s := range t.silent {
		if i == 20 {
			errs = append(errs, fmt.Errorf("and %d more", len(t.silent)-i))
			break
		}
		errs = append(errs, fmt.Errorf("rows lost or changed without an error: %s", s))
	}
	return errors.Join(errs...)
}
