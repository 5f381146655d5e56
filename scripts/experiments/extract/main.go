// Extract puts the operators of mask to labelled notes: what share of the
// values each one replaces, and the notes with the replacements as their labels,
// from which a tagger can be trained.
//
//	go run ./scripts/experiments/extract --in dev/ --key FILE --out dev.jsonl
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/verify"
	"github.com/velum-health/velum/stages/write"
)

func main() {
	in := flag.String("in", "", "labelled notes: a brat folder, or a JSONL file")
	key := flag.String("key", "", "file of the key")
	out := flag.String("out", "", "JSONL file to write; \"\": none")
	names := flag.String("names", "surrogate", "operators of all categories but dates and ages")
	times := flag.String("dates", "shift", "operators of dates")
	ages := flag.String("ages", "age", "operators of ages")
	given := flag.String("given", "models/surrogate/lists/given.txt", "list of given names with gender and language, to see whether they stay")
	flag.Parse()
	if err := extract(*in, *key, *out, *names, *times, *ages, *given); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func extract(in, keyFile, out, names, times, ages, given string) error {
	key, err := secret.Load(keyFile)
	if err != nil {
		return err
	}
	counts := new(mask.Counts)
	o := mask.Options{Policy: map[pipeline.Category]*mask.Chain{}, Key: key, Counts: counts}
	if o.Default, err = mask.ParseChain(names); err != nil {
		return err
	}
	for name, chain := range map[string]string{"DATE": times, "FECHAS": times, "AGE": ages, "EDAD_SUJETO_ASISTENCIA": ages} {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return err
		}
		if o.Policy[c], err = mask.ParseChain(chain); err != nil {
			return err
		}
	}
	masked, err := mask.New(o)
	if err != nil {
		return err
	}
	src, err := open(in)
	if err != nil {
		return err
	}
	defer src.Close()
	steps := []pipeline.Step{step("gold", gold), masked, verify.New(verify.Options{})}
	sink := &labelled{reasons: map[pipeline.Reason]int{}, kept: kept{names: map[string]int{}}}
	if sink.kept.given, err = readGiven(given); err != nil {
		return err
	}
	if out != "" {
		if sink.to, err = write.NewJSONL(out, write.TextOptions{Gold: true}); err != nil {
			return err
		}
	}
	if err := pipeline.Run(context.Background(), src, steps, sink, nil); err != nil {
		return err
	}
	report(counts.Take())
	sink.kept.report()
	fmt.Println("verify:", sink.reasons)
	if sink.to == nil {
		return nil
	}
	return sink.to.Close()
}

func open(in string) (interface {
	pipeline.Source
	Close() error
}, error) {
	if info, err := os.Stat(in); err == nil && info.IsDir() {
		return read.NewBrat(in, read.TextOptions{})
	}
	return read.NewJSONL(in, read.TextOptions{})
}

func step(name string, do func(*pipeline.Batch) error) pipeline.Step {
	return pipeline.Step{Name: name, New: func() func(*pipeline.Batch) error { return do }}
}

// gold takes the labels for what was found.
func gold(b *pipeline.Batch) error {
	b.Spans.Offsets = append(b.Spans.Offsets[:0], b.Gold.Offsets...)
	b.Spans.Items = append(b.Spans.Items[:0], b.Gold.Items...)
	return nil
}

// labelled writes masked notes with the places as their labels. Notes that
// verify holds back are counted and written, too: their labels were learned.
type labelled struct {
	to      *write.JSONL
	reasons map[pipeline.Reason]int
	kept    kept
}

// Put implements pipeline.Sink.
func (s *labelled) Put(b *pipeline.Batch) error {
	for i, r := range b.Reason {
		s.reasons[r]++
		s.kept.note(b.Text.At(i), b.Spans.At(i), b.Masked.At(i), b.Places.At(i))
	}
	if s.to == nil {
		return nil
	}
	n := pipeline.Batch{Reason: make([]pipeline.Reason, b.Len())}
	for i := range b.Len() {
		n.ID.Append(b.ID.At(i))
		n.Text.Append(b.Masked.At(i))
		n.Gold.Append(b.Places.At(i)...)
	}
	return s.to.Put(&n)
}

// report prints the share of each operator, by category.
func report(uses map[mask.Use]int64) {
	total := map[pipeline.Category]int64{}
	for u, n := range uses {
		total[u.Category] += n
	}
	lines := map[string]string{}
	for u, n := range uses {
		name := u.Operator
		if u.Fallback {
			name += " (fallback)"
		}
		lines[u.Category.String()+" "+name] = fmt.Sprintf("%-34s %-24s %6d %7.2f %%", u.Category, name, n, 100*float64(n)/float64(total[u.Category]))
	}
	for _, k := range slices.Sorted(maps.Keys(lines)) {
		fmt.Println(lines[k])
	}
}
