package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/release/shuffle"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/mask"
)

// dealt holds the shuffled values: if the policy shuffles, a first pass over all notes assigns the values before any
// note is written. The permutation depends on the notes, their spans, the key and the purpose, so a resumed run makes
// the same one, and no part is written twice.
type dealt struct {
	table *shuffle.Table
	first map[unitKey]int64 // number of the first note of each unit
	files []*os.File
}

// unitKey is the notes that a unit has.
type unitKey struct {
	sha256   [32]byte
	from, to int64
}

func keyOf(u *commit.Unit) unitKey { return unitKey{u.SHA256, u.From, u.To} }

func (d *dealt) close() {
	if d == nil {
		return
	}
	for _, f := range d.files {
		f.Close() // nobody can open them again, and they hold nothing that is wanted
	}
}

// unitDealt holds the values assigned to the notes of one unit. It implements mask.Dealt.
type unitDealt struct {
	*dealt
	files []dealtFile // of the current unit
}

// dealtFile converts the row of a note in its unit to its number among all notes: the note in row r of a file has the
// number base + r. row is the first row of the file in the unit.
type dealtFile struct{ row, base int64 }

func (d *unitDealt) begin(u *commit.Unit) {
	d.files = d.files[:0]
	for i := range u.Members {
		m := &u.Members[i]
		d.files = append(d.files, dealtFile{m.First, d.first[keyOf(m)] - m.First})
	}
	if len(u.Members) == 0 {
		d.files = append(d.files, dealtFile{u.First, d.first[keyOf(u)] - u.First})
	}
}

// Other implements mask.Dealt.
func (d *unitDealt) Other(dst []byte, row int64, card int) ([]byte, bool, error) {
	k, found := slices.BinarySearchFunc(d.files, row, func(f dealtFile, row int64) int { return cmp.Compare(f.row, row) })
	if !found {
		k = max(k-1, 0)
	}
	return d.table.Other(dst, d.files[k].base+row, card)
}

// withShuffled adds all units to the digest that affects units if values are shuffled between them.
func (m *masking) withShuffled(sum string) (string, error) {
	o, err := m.MaskOptions()
	if err != nil || len(o.Shuffled()) == 0 {
		return sum, err
	}
	all := sha256.New()
	for i := range m.archive.Units {
		u := &m.archive.Units[i]
		fmt.Fprintf(all, "%x %d %d %s\n", u.SHA256, u.From, u.To, u.Without)
	}
	return fmt.Sprintf("%s shuffled 2 %x", sum, all.Sum(nil)), nil
}

// deal runs the first pass over the archive if the policy shuffles.
func (m *masking) deal(ctx context.Context, plan *commit.Plan) error {
	o, err := m.MaskOptions()
	if err != nil || len(o.Shuffled()) == 0 {
		return err
	}
	if m.tagged == nil {
		return flow.ErrShuffled
	}
	if m.options.Save { // shards would deal each for itself
		return exit.Misconfiguredf("make it with `velum mask --tagged` in one process",
			"the policy shuffles: values of the whole archive are dealt, which shards cannot do")
	}
	if o.Key == nil {
		return exit.With(exit.Key, fmt.Errorf("%w: shuffle", mask.ErrNoKey), "name its file with key.file")
	}
	d := &dealt{first: map[unitKey]int64{}}
	m.dealt = d
	for range 3 {
		f, err := durable.NamelessFile(m.options.Out)
		if err != nil {
			return err
		}
		d.files = append(d.files, f)
	}
	dealer := shuffle.NewDealer(shuffle.Files{Values: d.files[0], Cards: d.files[1], Notes: d.files[2]}, mask.ShuffleDraw(o.Key, o.Purpose))
	progress := m.NewProgress("shuffle", "notes", m.archive.Rows())
	defer progress.End()
	given := new(files.TaggedUnit)
	steps, err := m.GivenSpans(given, nil)
	if err != nil {
		return err
	}
	collector := mask.NewCollector(o, dealer)
	units := plan.Shared()
	for i := range units {
		u, first := &units[i], dealer.Rows()
		d.first[keyOf(u)] = first
		for k := range u.Members {
			d.first[keyOf(&u.Members[k])] = first + u.Members[k].First
		}
		if err := m.collect(ctx, u, given, steps, collector); err != nil {
			return err
		}
		if n := dealer.Rows() - first; n != u.Rows {
			return exit.Errorf(exit.Integrity, "fetch the file again", "%s: %d notes were read where %d are", u.Input, n, u.Rows)
		}
		progress.Add(u.Rows)
	}
	if d.table, err = dealer.Deal(); err == nil && dealer.Alone > 0 {
		m.Log.Warn("values that no other note can have become placeholders, or what the policy says next", "values", dealer.Alone)
	}
	return err
}

// collect takes in the values of a unit.
func (m *masking) collect(ctx context.Context, u *commit.Unit, given *files.TaggedUnit, steps []pipeline.Step, to *mask.Collector) error {
	if err := m.tagged.Load(u, given); err != nil {
		return err
	}
	src, err := m.archive.Open(u)
	if err != nil {
		return err
	}
	return errors.Join(pipeline.Run(ctx, src, steps, to, nil), src.Close())
}
