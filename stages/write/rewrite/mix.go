package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/write/table"
)

// Where dates are shifted, a public part with the rows of one file would reveal the month of these rows. So each row has
// a number, which is computed with the key. Units write their public rows into staged parts in the private tree, sorted
// by number, and the last step merges these into the public parts:
//
//	masked/ of every unit, private  ─> one stream in the order of the numbers  ─> masked/part-00000, part-00001... public
//
// A public part has the rows of a range of numbers, and a number depends only on the key, the file and the row. So the
// names, sizes and order of the parts reveal nothing of the files, and they are the same whichever process did which
// unit, and when.

// mixedPart is the value of the column part in every row of a mixed extract: there the number alone identifies a row.
const mixedPart = "mixed"

// mostMerged is the largest number of parts that one merge reads. If there are more, their merged parts are merged again.
const mostMerged = 64

// mostWorkers is the largest number of goroutines that merge at the same time. Each holds about 100 MB, more if notes
// are long.
const mostWorkers = 6

// mixedRows is roughly the largest number of rows in a public part; numbers are random, so a part may have a few more.
// Tests lower it.
var mixedRows = int64(1 << 18)

// Mix writes the public parts of a kind from the staged ones; several workers each merge a range of numbers. Staged
// parts with other columns or metadata, such as those of an earlier run with other options, form groups of their own;
// Mix returns the number of groups. The error is a *durable.IntegrityError if a staged part is not as it was written.
func Mix(ctx context.Context, f *commit.Final, kind, staged string, rowGroup, workers int) (groups int, err error) {
	shift := uint(63)
	for rows := f.Manifest.Masked; rows > mixedRows; rows = (rows + 1) / 2 {
		shift--
	}
	all, err := f.Staged(staged)
	by, layouts := map[string][]commit.Staged{}, []string(nil)
	for _, s := range all {
		if err != nil {
			break
		}
		var layout string
		if layout, err = layoutOf(s); by[layout] == nil {
			layouts = append(layouts, layout)
		}
		by[layout] = append(by[layout], s)
	}
	for g, layout := range layouts {
		m := mixing{f: f, kind: kind, rowGroup: rowGroup, shift: shift, first: int64(g) << (63 - shift)}
		if err == nil {
			err = m.mix(ctx, by[layout], min(workers, mostWorkers))
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", kind, err)
	}
	return len(layouts), err
}

// layoutOf returns the encoded columns and metadata of a part; parts with equal results can be merged.
func layoutOf(s commit.Staged) (string, error) {
	r, err := openPart(s)
	if err != nil {
		return "", err
	}
	m := r.footer.Metadata()
	layout, err := thrift.Marshal(new(thrift.CompactProtocol), format.FileMetaData{Schema: m.Schema, KeyValueMetadata: m.KeyValueMetadata})
	if r.called < 0 {
		err = r.changed()
	}
	return string(layout), errors.Join(err, r.file.Close())
}

// mixing merges the staged parts of one kind and layout.
type mixing struct {
	f        *commit.Final
	kind     string
	rowGroup int
	shift    uint   // the number of a row, shifted right by this, is the number of its part
	first    int64  // number of the first part
	passing  string // name of the only part, if it is to be merged again

	to *table.Part // nil: none is begun
	at int64       // its number
}

// mix merges parts until at most mostMerged are left, and writes the public parts from these.
func (m *mixing) mix(ctx context.Context, from []commit.Staged, workers int) (err error) {
	var passed []*commit.Part
	for done := false; err == nil && !done; {
		level, parts, over := len(from), 1<<(63-m.shift), len(from)-mostMerged
		now := level
		if done = over <= 0; !done { // as few as leave mostMerged parts
			now = min(level, over+over/(mostMerged-1)+1)
		}
		some := slices.Collect(slices.Chunk(from[:now], mostMerged))
		tasks := len(some)
		if from = from[now:]; done {
			tasks = min(parts, workers)
		}
		err = pipeline.Each(ctx, tasks, workers, func() func(int) (*commit.Part, error) {
			return func(k int) (*commit.Part, error) {
				one := *m
				if done {
					return one.merge(some[0], int64(k*parts/tasks)<<m.shift, int64((k+1)*parts/tasks)<<m.shift-1)
				}
				one.kind, one.rowGroup, one.shift = "passing", table.StagedRows, 63
				one.passing = fmt.Sprintf("passing/%s-%d-%d-%d.parquet", m.kind, m.first, level, k)
				return one.merge(some[k], 0, math.MaxInt64)
			}
		}, func(_ int, file *commit.Part) error {
			if !done {
				passed, from = append(passed, file), append(from, m.f.Passed(file))
			}
			return nil
		})
	}
	for _, file := range passed {
		err = errors.Join(err, m.f.Drop(file))
	}
	return err
}

// cut ends the current part and begins the next one if the row of like belongs to the range of another part.
func (m *mixing) cut(like *reader) error {
	at := m.first + like.number>>m.shift
	if m.to != nil && at == m.at {
		return nil
	}
	_, err := m.end()
	if err != nil {
		return err
	}
	name := cmp.Or(m.passing, fmt.Sprintf("%s/part-%05d-%s.parquet", m.kind, at, commit.DigestHere))
	file, err := m.f.Create(m.kind, name, m.passing != "")
	if err != nil {
		return err
	}
	m.at = at
	m.to, err = like.again(file, m.rowGroup, column.Part(mixedPart)...)
	return err
}

// end ends the current part, if there is one, and returns it.
func (m *mixing) end() (*commit.Part, error) {
	to := m.to
	if m.to = nil; to == nil {
		return nil, nil
	}
	err := to.End()
	if err == nil {
		err = m.f.Settle(to.File)
	}
	return to.File, err
}

// merge writes the rows whose numbers lie from first to last, in the order of their numbers, and returns the last part
// that it wrote. Two rows with the same number, which one in a hundred archives of 400 million notes has, are written
// in the order of their ids.
func (m *mixing) merge(from []commit.Staged, first, last int64) (made *commit.Part, err error) {
	var open []*reader
	defer func() {
		for _, r := range open {
			err = errors.Join(err, r.file.Close())
		}
	}()
	for _, s := range from {
		r, err := openPart(s)
		if err != nil {
			return nil, err
		}
		open = append(open, r)
		if err := r.seek(first); err != nil {
			return nil, err
		}
	}
	for {
		var least *reader
		for _, r := range open {
			if r.row != nil && r.number <= last && (least == nil || r.before(least)) {
				least = r
			}
		}
		if least == nil {
			return m.end()
		}
		if err := m.cut(least); err != nil {
			return nil, err
		}
		if err := errors.Join(m.to.Take(least.row), least.next(m.to)); err != nil {
			return nil, err
		}
	}
}
