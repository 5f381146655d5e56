package rewrite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

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

// mixedRows is how many rows a public part has at the most, give or take chance. Tests lower it.
var mixedRows = int64(1 << 18)

// Mix makes the public parts of a kind out of the staged ones. Parts of other columns, or of other metadata, stay apart, as the
// rows of an earlier run with other options may: it returns how many groups there are. The error is a *durable.IntegrityError
// if a staged part is not what was written.
func Mix(f *commit.Final, kind, staged string, rowGroup int) (groups int, err error) {
	shift := uint(63)
	for rows := f.Manifest.Masked; rows > mixedRows; rows = (rows + 1) / 2 {
		shift--
	}
	by, layouts := map[string][]commit.Staged{}, []string(nil)
	for _, s := range f.Staged(staged) {
		layout, err := layoutOf(s)
		if err != nil {
			return 0, err
		}
		if by[layout] == nil {
			layouts = append(layouts, layout)
		}
		by[layout] = append(by[layout], s)
	}
	for g, layout := range layouts {
		m := mixing{f: f, kind: kind, rowGroup: rowGroup, shift: shift, first: int64(g) << (63 - shift)}
		if err := m.mix(by[layout]); err != nil {
			return 0, fmt.Errorf("%s: %w", kind, err)
		}
	}
	return len(layouts), nil
}

// layoutOf says what columns and metadata a part has.
func layoutOf(s commit.Staged) (string, error) {
	r, err := openPart(s)
	if err != nil {
		return "", err
	}
	m := r.footer.Metadata()
	layout, err := thrift.Marshal(new(thrift.CompactProtocol), format.FileMetaData{Schema: m.Schema, KeyValueMetadata: m.KeyValueMetadata})
	return string(layout), errors.Join(err, r.file.Close())
}

// mixing makes the parts of one kind and layout.
type mixing struct {
	f        *commit.Final
	kind     string
	rowGroup int
	shift    uint  // a number without so many bits is that of its part
	first    int64 // number of the first part

	like *reader     // a part of the layout
	to   *table.Part // nil: none is begun
	at   int64       // its number
}

// mix merges parts until so few are left that the public parts can be made of them.
func (m *mixing) mix(from []commit.Staged) error {
	var passing []*commit.Part
	for len(from) > mostMerged {
		var merged []commit.Staged
		for some := range slices.Chunk(from, mostMerged) {
			file, err := m.f.Create("passing", fmt.Sprintf("passing/%d-%d-%d.parquet", m.first, len(from), len(merged)), true)
			if err != nil {
				return err
			}
			passing = append(passing, file)
			err = m.merge(some, func(int64) (err error) {
				if m.to == nil {
					m.to, err = m.like.again(file, table.StagedRows)
				}
				return err
			})
			if err != nil {
				return err
			}
			merged = append(merged, m.f.Passed(file))
		}
		from = merged
	}
	err := m.merge(from, m.cut)
	for _, file := range passing {
		err = errors.Join(err, m.f.Drop(file))
	}
	return err
}

// cut begins a public part where a number is the first of its range.
func (m *mixing) cut(number int64) error {
	at := m.first + number>>m.shift
	if m.to != nil && at == m.at {
		return nil
	}
	if err := m.end(); err != nil {
		return err
	}
	file, err := m.f.Create(m.kind, fmt.Sprintf("%s/part-%05d-%s.parquet", m.kind, at, commit.DigestHere), false)
	if err != nil {
		return err
	}
	m.at = at
	m.to, err = m.like.again(file, m.rowGroup, column.Part(mixedPart)...)
	return err
}

// end ends the part at hand.
func (m *mixing) end() error {
	if m.to == nil {
		return nil
	}
	to := m.to
	m.to = nil
	if err := to.End(); err != nil {
		return err
	}
	return m.f.Settle(to.File)
}

// merge writes the rows of some parts in the order of their numbers; turn is told the number of each before it is written.
func (m *mixing) merge(from []commit.Staged, turn func(number int64) error) (err error) {
	var open []*reader
	defer func() {
		for _, r := range open {
			err = errors.Join(err, r.file.Close())
		}
	}()
	for _, s := range from {
		r, err := openPart(s)
		if err != nil {
			return err
		}
		open = append(open, r)
		if m.like = r; r.called < 0 {
			return r.changed()
		}
		if err := r.next(nil); err != nil {
			return err
		}
	}
	var last *reader
	for number := int64(-1); ; {
		var least *reader
		for _, r := range open {
			if r.row != nil && (least == nil || r.number < least.number) {
				least = r
			}
		}
		switch {
		case least == nil:
			return m.end()
		case least.number < number:
			return least.changed()
		case least.number == number && least != last:
			return errors.New("the key calls two notes by one number, as it may once in a hundred archives of 400 million notes: take another one (key.file)")
		}
		last, number = least, least.number
		if err := turn(number); err != nil {
			return err
		}
		if err := errors.Join(m.to.Take(least.row), least.next(m.to)); err != nil {
			return err
		}
	}
}
