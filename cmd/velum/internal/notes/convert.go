// Package notes implements the verbs on single files of labelled notes: convert, tag, reveal and synth. Each reads a
// file or folder and writes another.
package notes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

// Options holds the files and formats of `velum teach convert`, `velum model tag` and `velum reveal`.
type Options struct {
	In, From, Out, To string
	UnitIn, UnitOut   string // what offsets count
}

// text returns how the notes are read and written.
func (o *Options) text(cfg *option.Config) (r text.Options, w write.TextOptions, err error) {
	if r, err = flow.TextOptions(cfg); err != nil {
		return r, w, err
	}
	if r.Unit, err = offset.ParseUnit(cmp.Or(o.UnitIn, "codepoints")); err == nil {
		w.Unit, err = offset.ParseUnit(cmp.Or(o.UnitOut, "codepoints"))
	}
	if err != nil {
		return r, w, exit.Misconfigured(err, "")
	}
	w.Comma, w.IDColumn, w.TextColumn = r.Comma, r.IDColumn, r.TextColumn
	return r, w, nil
}

// Convert reads labelled notes and writes them in another format.
func Convert(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	r, w, err := f.text(cfg)
	if err != nil {
		return err
	}
	w.Gold = true
	r.SetAside = (&console.Aside{Log: c.Log}).Row
	src, err := flow.OpenNotes("from", f.From, f.In, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := create(f.To, f.Out, math.MaxInt64, 1, w)
	if err != nil {
		return err
	}
	n := &Counted{Text: dst, Progress: c.NewProgress("convert", "notes", 0), Gold: true}
	err = pipeline.Run(ctx, src, nil, n, nil)
	flow.WarnUnknown(c, f.In, src.Warnings().Unknown)
	return ended(c, n, flow.InputError(err), f.Out)
}

// ended finishes the output of a verb, or takes it back, and prints its counts.
func ended(c *console.Console, n *Counted, err error, out string) error {
	n.Progress.End()
	if err != nil {
		n.Abort()
		return err
	}
	if err := n.Close(); err != nil {
		return err
	}
	results := c.Out
	if out == write.Stdout {
		results = c.Errs // stdout holds the notes
	}
	switch {
	case c.JSON:
		err = json.NewEncoder(results).Encode(map[string]any{
			"notes": n.Notes, "spans": n.Spans, "unreadable": n.Unreadable, "reasons": n.Reasons, "skipped": n.Skipped(), "out": out,
		})
	case out != write.Stdout || !c.Quiet:
		_, err = fmt.Fprintf(results, "%d notes, %d spans -> %s\n", n.Notes, n.Spans, out)
	}
	if err != nil || n.Unreadable == 0 && n.Skipped() == 0 {
		return err
	}
	return leftOut(n)
}

// leftOut says which notes are not in the output, or are there without spans.
func leftOut(n *Counted) error {
	var reasons []string
	for _, r := range slices.Sorted(maps.Keys(n.Reasons)) {
		reasons = append(reasons, fmt.Sprintf("%s %d", r, n.Reasons[r]))
	}
	remedy := "look at these rows"
	if n.Reasons[pipeline.BadEncoding.String()] > 0 {
		remedy = "name the encoding with --encoding latin-1 or another"
	}
	rows := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(n.Rows)), ", "), "[]")
	if n.Unreadable > int64(len(n.Rows)) {
		rows += " and more"
	}
	return exit.Errorf(exit.Quarantined, remedy, "%d of %d notes could not be read (%s; rows %s); %d notes were left out",
		n.Unreadable, n.Notes, strings.Join(reasons, ", "), rows, n.Skipped())
}
