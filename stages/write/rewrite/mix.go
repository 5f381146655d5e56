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

// Where dates move, a public part of one file would tell the month of its rows. So units stage what is public in the
// private tree, in the order of the numbers by which the key calls the rows, and the last step makes the public parts of it:
//
//	masked/ of every unit, private  ─> one stream in the order of the numbers  ─> masked/part-00000, part-00001... public
//
// A part has the rows of a range of numbers, and a number is a function of key, file and row alone. So neither name, size nor
// order of the parts tells a file, and which unit was done when, or by whom, changes nothing.

// mixedPart is what all rows of a mixed extract have in the column part: a row is called by its number alone.
const mixedPart = "mixed"

// mostMerged is how many parts are merged at once; of more, the merged ones are merged.
const mostMerged = 64

// mostWorkers are as many as merge side by side: each holds some 100 MB, more where notes are long.
const mostWorkers = 6

// mixedRows is how many rows a public part has at the most, give or take chance. Tests lower it.
var mixedRows = int64(1 << 18)

// Mix makes the public parts of a kind out of the staged ones, which workers do range by range. Parts of other columns, or of other
// metadata, stay apart, as the rows of an earlier run with other options may: it returns how many groups there are. The error is a
// *durable.IntegrityError if a staged part is not what was written.
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

// layoutOf says what columns and metadata a part has.
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

// mixing makes parts of one kind and layout.
type mixing struct {
	f        *commit.Final
	kind     string
	rowGroup int
	shift    uint   // a number without so many bits is that of its part
	first    int64  // number of the first part
	passing  string // name of the only part, if it is to be merged again

	to *table.Part // nil: none is begun
	at int64       // its number
}

// mix merges parts until so few are left that the public parts can be made of them.
func (m *mixing) mix(ctx context.Context, from []commit.Staged, workers int) (err error) {
	var passed []*commit.Part
	for done := false; err == nil && !done; {
		level, parts, over := len(from), 1<<(63-m.shift), len(from)-mostMerged
		now := level
		if done = over <= 0; !done { // as few as leave so many
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

// cut begins a part where a number is the first of its range.
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

// end ends the part at hand.
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

// merge writes the rows of some parts that are called from first to last, in the order of their numbers, and returns the last part
// that it made. Two notes of one number, as there may be once in a hundred archives of 400 million, are in the order of their ids.
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
