package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// convertFlags are the choices of `velum convert` and, for what it reads and
// writes, of `velum tag`.
type convertFlags struct {
	in, from, out, to string
	unitIn, unitOut   string
	scheme            string
	offsets           bool
}

func (f *convertFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.in, "in", "", "`PATH` to read (file or folder)")
	flags.StringVar(&f.from, "from", "", "its `FORMAT`: brat, i2b2, conll, jsonl, csv, parquet; told from the files if left out")
	flags.StringVar(&f.out, "out", "", "`PATH` to write")
	flags.StringVar(&f.to, "to", "", "its `FORMAT`; told from the name if left out")
	flags.StringVar(&f.unitIn, "offsets-in", "codepoints", "what offsets count in jsonl, csv and conll input: bytes, codepoints, utf16")
	flags.StringVar(&f.unitOut, "offsets-out", "codepoints", "the same for output")
	flags.StringVar(&f.scheme, "scheme", "BIO", "tag scheme of conll output: BIO or BIOESU")
	flags.BoolVar(&f.offsets, "columns", true, "write offset columns in conll output, so that it can be read back exactly")
	a.noteFlags(c)
}

// noteFlags adds the flags of options on how labelled notes are read.
func (a *app) noteFlags(c *cobra.Command) {
	a.optionFlag(c, "encoding", "read.encoding")
	a.optionFlag(c, "delimiter", "read.delimiter")
	a.optionFlag(c, "id-column", "read.columns.id")
	a.optionFlag(c, "text-column", "read.columns.text")
	a.optionFlag(c, "map", "read.labels")
	a.optionFlag(c, "skip-unknown", "read.skip_unknown")
}

func (f *convertFlags) options(cfg *option.Config) (r read.TextOptions, w write.TextOptions, err error) {
	if f.in == "" || f.out == "" {
		return r, w, exit.Errorf(exit.Config, "name both", "--in and --out are needed")
	}
	if r, err = flow.TextOptions(cfg); err != nil {
		return r, w, err
	}
	if r.Unit, err = offset.ParseUnit(f.unitIn); err == nil {
		w.Unit, err = offset.ParseUnit(f.unitOut)
	}
	if err == nil {
		w.Scheme, err = pipeline.ParseScheme(f.scheme)
	}
	if err != nil {
		return r, w, exit.With(exit.Config, err, "")
	}
	w.Comma, w.Offsets, w.IDColumn, w.TextColumn = r.Comma, f.offsets, r.IDColumn, r.TextColumn
	return r, w, nil
}

func newConvertCommand(a *app) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert --in PATH --from FORMAT --out PATH --to FORMAT",
		Short: "Convert labelled notes between brat, i2b2 XML, CoNLL, JSONL, CSV and Parquet",
		Example: `  velum convert --in dev/ --from brat --out dev.jsonl --to jsonl
  velum convert --in dev.jsonl --out dev.conll --scheme BIOESU
  velum convert --in labels.jsonl --offsets-in utf16 --out brat/ --to brat`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.convert(c, &f) },
	}
	f.add(a, c)
	return c
}

func (a *app) convert(c *cobra.Command, f *convertFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	r, w, err := f.options(cfg)
	if err != nil {
		return err
	}
	w.Gold = true
	src, err := flow.OpenNotes("from", f.from, f.in, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, to, err := flow.CreateNotes("to", f.to, f.out, w)
	if err != nil {
		return err
	}
	n := &flow.Counted{Text: dst, Progress: a.NewProgress("convert", "notes", 0), Gold: true}
	err = pipeline.Run(c.Context(), src, flow.ConvertSteps(to), n, nil)
	return a.ended(n, flow.InputError(err), f.out)
}

// ended finishes the output of a verb, or takes it back, and prints its counts.
func (a *app) ended(n *flow.Counted, err error, out string) error {
	n.Progress.End()
	if err != nil {
		n.Abort()
		return err
	}
	if err := n.Close(); err != nil {
		return err
	}
	results := a.Out
	if out == write.Stdout {
		results = a.Errs // stdout holds the notes
	}
	switch {
	case a.JSON:
		err = json.NewEncoder(results).Encode(map[string]any{
			"notes": n.Notes, "spans": n.Spans, "unreadable": n.Unreadable, "reasons": n.Reasons, "skipped": n.Skipped(), "out": out,
		})
	case out != write.Stdout || !a.Quiet:
		_, err = fmt.Fprintf(results, "%d notes, %d spans -> %s\n", n.Notes, n.Spans, out)
	}
	if err != nil || n.Unreadable == 0 && n.Skipped() == 0 {
		return err
	}
	return leftOut(n)
}

// leftOut says which notes are not in the output, or are there without spans.
func leftOut(n *flow.Counted) error {
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
