package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// table is what an experiment found, with a row for several draws.
type table struct {
	title, first string
	turns, costs []int // of questions: F1 after these turns
	rows         []row
}

type row struct {
	name string
	runs []*measured
}

func (r *row) add(m *measured) {
	if m != nil {
		r.runs = append(r.runs, m)
	}
}

// of collects one figure of every run.
func (r *row) of(f func(*measured) float64) (all []float64) {
	for _, m := range r.runs {
		all = append(all, f(m))
	}
	return all
}

// spread writes mean ± standard deviation.
func spread(all []float64) string {
	mean, square := 0.0, 0.0
	for _, x := range all {
		mean += x / float64(len(all))
	}
	for _, x := range all {
		square += (x - mean) * (x - mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", mean, math.Sqrt(square/float64(max(1, len(all)-1))))
}

func least(all []float64) float64 {
	low := math.Inf(1)
	for _, x := range all {
		low = min(low, x)
	}
	return low
}

func supervised(m *measured) float64 { return m.Strict[0].F1 }
func chosen(m *measured) float64     { return m.Strict[m.Best].F1 }
func last(m *measured) float64       { return m.Strict[len(m.Strict)-1].F1 }
func gain(m *measured) float64       { return chosen(m) - supervised(m) }

func (t *table) write(w io.Writer) error {
	if len(t.turns) > 0 {
		return t.writeTurns(w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n| %s | draws | supervised F1 | turn that the validation slice chose | gain, mean and spread | least gain | last turn |\n|---|---|---|---|---|---|---|\n", t.title, t.first)
	for _, r := range t.rows {
		if len(r.runs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %+.4f | %s |\n", r.name, len(r.runs),
			spread(r.of(supervised)), spread(r.of(chosen)), spread(r.of(gain)), least(r.of(gain)), spread(r.of(last)))
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

// writeTurns writes F1 after some turns.
func (t *table) writeTurns(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n| %s | draws | none |", t.title, t.first)
	for _, c := range t.costs {
		fmt.Fprintf(&b, " %d |", c)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(t.turns)) + "\n")
	for _, r := range t.rows {
		if len(r.runs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %s |", r.name, len(r.runs), spread(r.of(supervised)))
		for _, turn := range t.turns {
			fmt.Fprintf(&b, " %s |", spread(r.of(func(m *measured) float64 { return m.Strict[min(turn, len(m.Strict)-1)].F1 })))
		}
		b.WriteString("\n")
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}
