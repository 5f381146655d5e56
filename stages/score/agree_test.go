package score_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/score"
	"github.com/velum-health/velum/stages/write"
)

// TestAgree spoils a gold corpus by lot, writes it as a system's output, and
// scores it. scripts/experiments/agree.sh runs it and holds report.json against a scorer
// that others wrote. It needs
//
//	VELUM_AGREE_GOLD  a brat folder
//	VELUM_AGREE_OUT   a folder for system/ and report.json
func TestAgree(t *testing.T) {
	gold, out := os.Getenv("VELUM_AGREE_GOLD"), os.Getenv("VELUM_AGREE_OUT")
	if gold == "" || out == "" {
		t.Skip("VELUM_AGREE_GOLD and VELUM_AGREE_OUT are not set")
	}
	spoil(t, gold, filepath.Join(out, "system"))

	golds, err := read.NewBrat(gold, read.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	systems, err := read.NewBrat(filepath.Join(out, "system"), read.TextOptions{TextDir: gold})
	if err != nil {
		t.Fatal(err)
	}
	s := score.New(score.Options{Seed: 1})
	for {
		var g, x pipeline.Batch
		err := golds.Next(&g)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := systems.Next(&x); err != nil {
			t.Fatal(err)
		}
		g.Spans = x.Gold
		if err := s.Put(&g); err != nil {
			t.Fatal(err)
		}
	}
	report, err := json.Marshal(s.Report())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "report.json"), report, 0o600); err != nil {
		t.Fatal(err)
	}
}

// spoil writes a system that makes every kind of error.
func spoil(t *testing.T, gold, system string) {
	src, err := read.NewBrat(gold, read.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dst, err := write.NewBrat(system, write.TextOptions{NoText: true})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 9))
	labels, err := pipeline.Labels("meddocan")
	if err != nil {
		t.Fatal(err)
	}
	for {
		var b pipeline.Batch
		err := src.Next(&b)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			b.Spans.Append(spoiled(b.Text.At(i), b.Gold.At(i), labels.Categories, random)...)
		}
		if err := dst.Put(&b); err != nil {
			t.Fatal(err)
		}
	}
}

func spoiled(text []byte, gold []pipeline.Span, categories []pipeline.Category, random *rand.Rand) []pipeline.Span {
	var x offset.Index
	x.Reset(text, offset.CodePoints)
	// moved is byte at, some characters further.
	moved := func(at int32, by int) int32 {
		k, _ := x.FromByte(int(at))
		b, _ := x.ToByte(min(max(k+by, 0), x.Len()))
		return int32(b)
	}
	var out []pipeline.Span
	for _, s := range gold {
		switch random.IntN(20) {
		case 0: // lost
			continue
		case 1:
			s.Category = categories[random.IntN(len(categories))]
		case 2:
			s.Start = moved(s.Start, random.IntN(7)-3)
		case 3:
			s.End = moved(s.End, random.IntN(7)-3)
		case 4: // cut in two, at a character or around one
			if k := moved(s.Start, 1+random.IntN(6)); k < s.End {
				out = append(out, pipeline.Span{Start: s.Start, End: k, Category: s.Category})
				s.Start = moved(k, random.IntN(2))
			}
		case 5: // joined with the one before
			if len(out) > 0 && s.Start-out[len(out)-1].End < 40 {
				s.Start = out[len(out)-1].Start
				out = out[:len(out)-1]
			}
		case 6: // invented
			at := moved(0, random.IntN(x.Len()))
			out = append(out, pipeline.Span{Start: at, End: moved(at, 1+random.IntN(12)), Category: s.Category})
		}
		out = append(out, s)
	}
	return disjoint(out)
}

// disjoint drops spans that overlap an earlier one.
func disjoint(spans []pipeline.Span) []pipeline.Span {
	slices.SortFunc(spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
	kept, end := spans[:0], int32(0)
	for _, s := range spans {
		if s.Start >= end && s.Start < s.End {
			kept = append(kept, s)
			end = s.End
		}
	}
	return kept
}
