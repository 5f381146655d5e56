package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// convertFlags are the choices of `velum convert` and, for what it reads and
// writes, of `velum tag`.
type convertFlags struct {
	in, from, out, to string
	unitIn, unitOut   string
	scheme            string
	comma             string
	offsets           bool
	skipUnknown       bool
}

func (f *convertFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.in, "in", "", "`PATH` to read (file or folder)")
	flags.StringVar(&f.from, "from", "", "its `FORMAT`: brat, i2b2, conll, jsonl, csv, parquet; told from the files if left out")
	flags.StringVar(&f.out, "out", "", "`PATH` to write")
	flags.StringVar(&f.to, "to", "", "its `FORMAT`; told from the name if left out")
	flags.StringVar(&f.unitIn, "offsets-in", "codepoints", "what offsets count in jsonl, csv and conll input: bytes, codepoints, utf16")
	flags.StringVar(&f.unitOut, "offsets-out", "codepoints", "the same for output")
	flags.StringVar(&f.scheme, "scheme", "BIO", "tag scheme of conll output: BIO or BIOESU")
	flags.BoolVar(&f.offsets, "columns", true, "write offset columns in conll output, so that it can be read back exactly")
	flags.StringVar(&f.comma, "comma", ",", "delimiter of csv")
	flags.BoolVar(&f.skipUnknown, "skip-unknown", false, "leave out spans of unknown categories instead of stopping")
}

func (f *convertFlags) options() (r read.TextOptions, w write.TextOptions, err error) {
	if f.in == "" || f.out == "" {
		return r, w, exitf(exitConfig, "name both", "--in and --out are needed")
	}
	if r.Unit, err = pipeline.ParseOffsetUnit(f.unitIn); err == nil {
		w.Unit, err = pipeline.ParseOffsetUnit(f.unitOut)
	}
	if err == nil {
		w.Scheme, err = pipeline.ParseScheme(f.scheme)
	}
	if err != nil {
		return r, w, exit(exitConfig, err, "")
	}
	comma, size := utf8.DecodeRuneInString(f.comma)
	if size == 0 || size != len(f.comma) {
		return r, w, exitf(exitConfig, "give one character", "--comma")
	}
	r.Comma, w.Comma, w.Offsets, r.SkipUnknown = comma, comma, f.offsets, f.skipUnknown
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
	f.add(c)
	return c
}

func (a *app) convert(c *cobra.Command, f *convertFlags) error {
	r, w, err := f.options()
	if err != nil {
		return err
	}
	w.Gold = true
	src, err := openNotes("from", f.from, f.in, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, to, err := createNotes("to", f.to, f.out, w)
	if err != nil {
		return err
	}
	n := &counted{Text: dst, progress: a.newProgress("convert", "notes", 0), gold: true}
	err = pipeline.Run(c.Context(), src, convertPlan(to), n, nil)
	return a.ended(n, inputError(err), f.out)
}

// counted is a sink that counts what passes.
type counted struct {
	write.Text
	*progress
	gold                     bool
	notes, spans, unreadable int64
}

func (n *counted) Put(b *pipeline.Batch) error {
	n.progress.Add(int64(b.Len()))
	n.notes += int64(b.Len())
	for _, r := range b.Reason {
		if r != pipeline.Sound {
			n.unreadable++
		}
	}
	if n.gold {
		n.spans += int64(len(b.Gold.Items))
	} else {
		n.spans += int64(len(b.Spans.Items))
	}
	return n.Text.Put(b)
}

// ended finishes the output of a verb, or takes it back, and prints its counts.
func (a *app) ended(n *counted, err error, out string) error {
	n.progress.End()
	if err != nil {
		n.Abort()
		return err
	}
	if err := n.Close(); err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.out).Encode(map[string]any{
			"notes": n.notes, "spans": n.spans, "unreadable": n.unreadable, "skipped": n.Skipped(), "out": out,
		})
	}
	if _, err := fmt.Fprintf(a.out, "%d notes, %d spans -> %s\n", n.notes, n.spans, out); err != nil {
		return err
	}
	if n.unreadable > 0 {
		_, err = fmt.Fprintf(a.out, "%d notes could not be read (bad encoding, too long or empty); %d of them do not fit the format and were left out\n", n.unreadable, n.Skipped())
	}
	return err
}

// inputError gives errors of what a user handed in their exit code.
func inputError(err error) error {
	if _, ok := errors.AsType[*read.InputError](err); ok {
		return exit(exitConfig, err, "")
	}
	return err
}
