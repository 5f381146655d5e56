// Command shortnotes turns labelled reports (a brat folder such as MEDDOCAN
// train) into notes of the kind that primary care writes: the header stripped,
// the body cut into one to three sentences, upper and lower case and accents
// mangled in part. Its output is half of what `primary-care` learns from; the
// other half is `velum synth`. See `make models`.
//
//	shortnotes --in ../shared/data/meddocan/train --out out/short.jsonl --seed 1
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

func main() {
	in := flag.String("in", "", "brat folder of labelled reports")
	out := flag.String("out", "", "JSONL file to write")
	seed := flag.Uint64("seed", 1, "seed of the cuts and of the mangling")
	copies := flag.Int("copies", 1, "how often each report is cut, every time in another way")
	flag.Parse()
	if err := run(*in, *out, *seed, *copies); err != nil {
		fmt.Fprintln(os.Stderr, "shortnotes:", err)
		os.Exit(1)
	}
}

func run(in, out string, seed uint64, copies int) error {
	src, err := text.NewBrat(in, text.Options{})
	if err != nil {
		return err
	}
	dst, err := write.NewJSONL(out, write.TextOptions{Gold: true})
	if err != nil {
		return err
	}
	c := &cutter{rng: rand.New(rand.NewPCG(seed, 7))}
	reports, notes := new(pipeline.Batch), new(pipeline.Batch)
	for {
		reports.Reset()
		if err := src.Next(reports); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		notes.Reset()
		for i := range reports.Len() {
			for k := range copies {
				id := fmt.Sprintf("%s:%d", reports.ID.At(i), k)
				c.report(notes, id, reports.Text.At(i), reports.Gold.At(i))
			}
		}
		if err := dst.Put(notes); err != nil {
			return err
		}
	}
	fmt.Printf("%d notes, %d spans\n", c.notes, c.spans)
	return dst.Close()
}
