package selection

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline/commit"
)

// auditSamplePath is where the sample stands, below the private tree.
const auditSamplePath = "audit/sample.jsonl"

// AuditSample draws n masked notes at random, for a person to read, and writes
// which they are: id, unit, masked part, row in the input file, and the spans
// that were masked, as bytes of the note as it was. No text.
//
// Every masked note gets a random number; the n smallest are the sample. The
// numbers are a function of the configuration, the model and the units, so the
// same run draws the same notes on any machine, and whoever prepares the input
// cannot choose them without running velum. Memory grows with n alone. The
// notes stand in the order of their numbers: who reads only the first k has
// read a random sample of k.
func AuditSample(ctx context.Context, f *commit.Final, n int) error {
	drawn := drawSample(f.Manifest, n)
	if err := findSample(ctx, f, drawn); err != nil {
		return err
	}
	part, err := f.Create("audit", auditSamplePath, true)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(part)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, d := range drawn {
		if err := lines.Encode(d); err != nil {
			return err
		}
	}
	part.Rows = int64(len(drawn))
	return w.Flush()
}

// sampledNote is one note of the sample, and one line of its file.
type sampledNote struct {
	ID    string        `json:"note_id"`
	Unit  string        `json:"unit"`
	Part  string        `json:"part"` // below the public tree
	Row   int64         `json:"row"`  // in the input file
	Spans []sampledSpan `json:"spans"`

	number uint64 // drawn
	unit   int    // of the manifest
	at     int64  // row of the part
}

// sampledSpan is a masked span of a note.
type sampledSpan struct {
	Start    int32  `json:"start"` // bytes of the note as it was, half open
	End      int32  `json:"end"`
	Category string `json:"category"`
	Source   string `json:"source"`
}

func compareSampled(a, b *sampledNote) int {
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.unit, b.unit), cmp.Compare(a.at, b.at))
}

// drawSample chooses the notes. It reads no file: the manifest says how many
// rows every masked part has.
func drawSample(m *commit.Manifest, n int) []*sampledNote {
	var least sampleHeap // the largest of the n smallest on top
	for i := range m.Units {
		u := &m.Units[i]
		for _, p := range u.Parts {
			if p.Kind != "masked" {
				continue
			}
			numbers := sampleNumbers(m, i, p.SHA256)
			for at := range p.Rows {
				number := numbers.Uint64()
				if len(least) == n && (n == 0 || number >= least[0].number) {
					continue
				}
				heap.Push(&least, &sampledNote{Unit: u.Name, Part: p.Path, number: number, unit: i, at: at, Spans: []sampledSpan{}})
				if len(least) > n {
					heap.Pop(&least)
				}
			}
		}
	}
	slices.SortFunc(least, compareSampled)
	return least
}

// sampleNumbers seeds the random numbers of one part.
func sampleNumbers(m *commit.Manifest, unit int, part string) *rand.PCG {
	h := sha256.New()
	fmt.Fprintf(h, "velum audit sample 1\n%s %s %s %d %s %s\n", m.Config, m.Model, m.Key, unit, m.Units[unit].Name, part)
	sum := h.Sum(nil)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:]))
}

// sampleHeap is a heap.Interface with the largest note on top.
type sampleHeap []*sampledNote

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return compareSampled(h[i], h[j]) > 0 }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sampleHeap) Push(x any)        { *h = append(*h, x.(*sampledNote)) }
func (h *sampleHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// findSample fills in ids, rows and spans, from the parts of the units that
// have any of the notes.
func findSample(ctx context.Context, f *commit.Final, drawn []*sampledNote) error {
	byUnit := slices.Clone(drawn)
	slices.SortFunc(byUnit, func(a, b *sampledNote) int { return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.at, b.at)) })
	for len(byUnit) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := slices.IndexFunc(byUnit, func(d *sampledNote) bool { return d.unit != byUnit[0].unit })
		if end < 0 {
			end = len(byUnit)
		}
		if err := findInUnit(f, byUnit[:end]); err != nil {
			return err
		}
		byUnit = byUnit[end:]
	}
	return nil
}

// findInUnit does it for the notes of one unit.
func findInUnit(f *commit.Final, notes []*sampledNote) error {
	for _, p := range f.Manifest.Units[notes[0].unit].Parts {
		var err error
		switch p.Kind {
		case "masked":
			err = readPart(f, p, func(r *parquet.GenericReader[maskedPlace]) error { return findNotes(r, p.Path, notes) })
		case "original":
			err = readPart(f, p, func(r *parquet.GenericReader[spanPlace]) error { return findSpans(r, notes) })
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return nil
}

// readPart opens a part that a unit wrote for reading some of its columns.
func readPart[T any](f *commit.Final, p commit.PartRecord, read func(*parquet.GenericReader[T]) error) error {
	file, err := f.Open(p)
	if err != nil {
		return err
	}
	r := parquet.NewGenericReader[T](io.NewSectionReader(file, 0, p.Bytes))
	return errors.Join(read(r), r.Close(), file.Close())
}

// maskedPlace is what of a row of a masked part finds the note again.
type maskedPlace struct {
	ID  string `parquet:"note_id"`
	Row int64  `parquet:"row"`
}

func findNotes(r *parquet.GenericReader[maskedPlace], path string, notes []*sampledNote) error {
	var row [1]maskedPlace
	for _, d := range notes {
		if d.Part != path {
			continue
		}
		if err := r.SeekToRow(d.at); err != nil {
			return err
		}
		if n, err := r.Read(row[:]); n != 1 {
			return errors.Join(fmt.Errorf("row %d cannot be read", d.at), err)
		}
		d.ID, d.Row = row[0].ID, row[0].Row
	}
	return nil
}

// spanPlace is what of a row of a spans part goes into the sample.
type spanPlace struct {
	Row      int64  `parquet:"row"`
	Start    int32  `parquet:"start"`
	End      int32  `parquet:"end"`
	Category string `parquet:"category"`
	Source   string `parquet:"source"`
}

// findSpans adds the spans of the notes. Both the rows of the part and the
// notes go up.
func findSpans(r *parquet.GenericReader[spanPlace], notes []*sampledNote) error {
	rows := make([]spanPlace, 1024)
	for len(notes) > 0 {
		n, err := r.Read(rows)
		for _, row := range rows[:n] {
			for len(notes) > 0 && notes[0].Row < row.Row {
				notes = notes[1:]
			}
			if len(notes) > 0 && notes[0].Row == row.Row {
				notes[0].Spans = append(notes[0].Spans, sampledSpan{row.Start, row.End, row.Category, row.Source})
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
