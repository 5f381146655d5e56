package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/idset"
	"github.com/velum-health/velum/stages/read/tagged"
)

// compare implements commit.UnitOptions.Compare: it counts the notes that an input file has in common with the file
// that was at its path before, using the parts made from the latter. It is called for few files per run.
func (m *masking) compare(given []commit.Unit, was []*commit.UnitRecord) (commit.Overlap, error) {
	if m.Read.IDs == "drop" {
		return commit.Overlap{Unknown: true}, nil
	}
	key := [2]string{given[0].Input, was[0].Name}
	if o, known := m.overlap[key]; known {
		return o, nil
	}
	before, now := idset.NewSample(), idset.NewSample()
	for _, u := range was {
		if err := m.countMade(before, u); err != nil {
			return commit.Overlap{}, err
		}
	}
	for i := range given {
		if err := m.countUnit(now, &given[i]); err != nil {
			return commit.Overlap{}, err
		}
	}
	if m.overlap == nil {
		m.overlap = map[[2]string]commit.Overlap{}
	}
	var o commit.Overlap
	o.Was, o.Given, o.Shared, o.Seen, o.Alike = before.Overlap(now)
	m.overlap[key] = o
	return o, nil
}

// countMade counts the notes that were made of a file. Files that share a unit come
// one after the other, so that the notes of one unit are kept.
func (m *masking) countMade(c *idset.Sample, u *commit.UnitRecord) error {
	if u.Damage != "" {
		return nil // nothing of it could be read
	}
	if !u.Shares {
		return m.eachMade(u, func(n madeNote) { c.Add(n.id, n.text) })
	}
	if len(u.Parts) > 0 && m.made.part != u.Parts[0].Path {
		m.made.part, m.made.notes = u.Parts[0].Path, nil
		err := m.eachMade(u, func(n madeNote) {
			m.made.notes = append(m.made.notes, madeNote{n.row, bytes.Clone(n.id), bytes.Clone(n.text)})
		})
		if err != nil {
			return err
		}
	}
	for _, n := range m.made.notes {
		if n.row >= u.First && n.row < u.First+u.Rows {
			c.Add(n.id, n.text)
		}
	}
	return nil
}

// madeNote is a note of the output; its text is nil if it was quarantined.
type madeNote struct {
	row      int64
	id, text []byte
}

// eachMade calls do with every note of a unit of the output, good during the call.
func (m *masking) eachMade(u *commit.UnitRecord, do func(madeNote)) error {
	for i := range u.Parts {
		if err := m.eachOfPart(&u.Parts[i], do); err != nil {
			return err
		}
	}
	return nil
}

func (m *masking) eachOfPart(p *commit.PartRecord, do func(madeNote)) error {
	columns := map[string][]string{"masked": {"row", "note_id", "text"}, "quarantine": {"row", "note_id"}}[p.Kind]
	if columns == nil {
		return nil
	}
	root := m.options.Out
	if p.Private {
		root = m.options.Private
	}
	f, err := m.options.Disk.OpenFile(filepath.Join(root, p.Path), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = tagged.EachOf(p.Path, io.NewSectionReader(f, 0, p.Bytes), columns, func(row []tagged.PartValue) error {
		n := madeNote{row: int64(row[0].Bits), id: row[1].Bytes}
		if len(row) > 2 {
			n.text = row[2].Bytes
		}
		do(n)
		return nil
	})
	return errors.Join(err, f.Close())
}

// countUnit counts the notes of a unit of the archive, as far as it can be read.
func (m *masking) countUnit(c *idset.Sample, u *commit.Unit) error {
	return m.archive.Each(context.Background(), u, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Len() {
			c.Add(b.ID.At(i), b.Text.At(i))
		}
		return nil
	}))
}
