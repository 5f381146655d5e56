// Command archive builds the archive that the benchmarks run on: months of
// short notes as Parquet, of any size, as like a primary-care archive as open
// text allows.
//
//	archive --notes 3000000 --out out/archive --data ../shared/data
//	archive --kind reports --notes 50000 --out out/reports
//
// A share of the notes (--generated) is made by stages/synth, which gives them
// PHI at the densities of BOOT appendix B. The others are cut from real clinical
// text under --data (NUBes, CANTEMIST, CardioCCC, CodiEsp, Catalan health
// sentences): sentences are recombined into notes of 19 words on average,
// their numbers varied, misspelt, glued, their case changed at random. Without
// --data all notes are generated, and the program says so. With --kind reports
// both are documents of about 3 kB. It ends with the share of repeated notes,
// the number of types, and new types a million tokens.
//
// All words are counted: those between white space, punctuation included. The
// archive of BOOT has 3.43 M types in 631 M words; this one has more,
// since numbers and misspellings are drawn anew, so that caches find less here.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

type options struct {
	notes, months int
	seed          uint64
	data, out     string
	kind          string
	generated     float64
	reports       float64
	rows          int
}

func main() {
	var o options
	flag.IntVar(&o.notes, "notes", 3_000_000, "notes in all")
	flag.IntVar(&o.months, "months", 1, "months (files) that they are divided over")
	flag.Uint64Var(&o.seed, "seed", 1, "seed")
	flag.StringVar(&o.data, "data", "../shared/data", "folder of the corpora; generated notes only if it is not there")
	flag.StringVar(&o.out, "out", "out/archive", "folder to write")
	flag.Float64Var(&o.generated, "generated", 0.4, "share of generated notes")
	flag.StringVar(&o.kind, "kind", "notes", "notes of 19 words, or reports of 3 kB")
	flag.Float64Var(&o.reports, "reports", 0, "share of 3 kB reports among notes of --kind notes")
	flag.IntVar(&o.rows, "rows", 0, "notes a row group; 0: 100,000, or 5,000 reports")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	switch o.kind {
	case "notes":
		o.rows = cmp.Or(o.rows, 100_000)
	case "reports":
		o.rows, o.reports = cmp.Or(o.rows, 5_000), 1
	default:
		return fmt.Errorf("--kind is notes or reports")
	}
	rng := rand.New(rand.NewPCG(o.seed, 11))
	real, err := loadPool(o.data)
	if err != nil {
		return err
	}
	if len(real.sentences) == 0 {
		fmt.Printf("no corpora under %s: all notes are generated\n", o.data)
		o.generated = 1
	}
	made := &generated{src: synth.New(synth.Options{
		Notes: int64(o.notes) + 1, Seed: o.seed, Split: synth.Test, Reports: o.reports, Density: 1 / o.generated,
	})}
	var count census
	for m := range o.months {
		if err := o.month(m, rng, real, made, &count); err != nil {
			return err
		}
	}
	count.print(os.Stdout)
	return nil
}

func (o options) month(m int, rng *rand.Rand, real *pool, made *generated, count *census) (err error) {
	first := time.Date(2026, time.Month(1+m), 1, 0, 0, 0, 0, time.UTC)
	dir := filepath.Join(o.out, first.Format("year=2006"), first.Format("month=01"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	w := write.NewArchive(filepath.Join(dir, "notes.parquet"), o.rows, write.TextOptions{})
	notes := o.notes*(m+1)/o.months - o.notes*m/o.months
	b := &pipeline.Batch{Extra: []pipeline.Column{
		{Name: "patient_id", Kind: pipeline.Int64Column}, {Name: "date", Kind: pipeline.DateColumn}, {Name: "center"},
	}}
	for i := range notes {
		text, err := o.note(rng, real, made)
		if err != nil {
			w.Abort()
			return err
		}
		count.note(text)
		b.ID.Append(fmt.Appendf(nil, "%d|%d|%d", 1+m, 1+i/1000, i))
		b.Text.Append(text)
		b.Reason = append(b.Reason, pipeline.Sound)
		fixed(&b.Extra[0], uint64(rng.Int64N(int64(o.notes)/8+1)))
		fixed(&b.Extra[1], uint64(first.Unix()/86400+int64(i*28/notes)))
		b.Extra[2].Valid = append(b.Extra[2].Valid, true)
		b.Extra[2].Bytes.Append(fmt.Appendf(nil, "EAP-%03d", rng.IntN(400)))
		if b.Len() == 1024 || i == notes-1 {
			if err := w.Put(b); err != nil {
				w.Abort()
				return err
			}
			b.Reset()
		}
	}
	return w.Close()
}

func fixed(c *pipeline.Column, v uint64) {
	c.Valid = append(c.Valid, true)
	c.Fixed = append(c.Fixed, v)
}

func (o options) note(rng *rand.Rand, real *pool, made *generated) ([]byte, error) {
	if rng.Float64() < o.generated {
		return made.next()
	}
	if rng.Float64() < o.reports {
		return real.report(rng), nil
	}
	return real.note(rng), nil
}

// generated hands out the texts of a synth source one by one.
type generated struct {
	src pipeline.Source
	b   pipeline.Batch
	at  int
}

func (g *generated) next() ([]byte, error) {
	if g.at == g.b.Len() {
		g.b.Reset()
		g.at = 0
		if err := g.src.Next(&g.b); err == io.EOF {
			return nil, fmt.Errorf("the generator ended early")
		} else if err != nil {
			return nil, err
		}
	}
	g.at++
	return g.b.Text.At(g.at - 1), nil
}
