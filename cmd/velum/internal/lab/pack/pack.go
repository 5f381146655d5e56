// Package pack implements `velum teach rules`: it compiles packs of rules, tries them on sentences and labelled notes,
// and writes them as tagger models.
package pack

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// open compiles a file of networks.
func open(cfg *option.Config, file string) (*rules.Pack, error) {
	lists, err := flow.FeatureLists(cfg)
	if err != nil {
		return nil, err
	}
	return files.Pack(file, lists)
}

// Options names the rule files, what to do with them, and the output.
type Options struct {
	File  string   // of rules
	Files []string // to check
	Words []string // names of lists; a sentence to trace
	In    string   // notes, of which ID is traced
	ID    string
	Gold  string // labelled notes to score on
	With  string // file of the rules as they were
	Out   string // model to write
}

// Check compiles rule files and prints their contents. It tries all files and reports all mistakes.
func Check(_ context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	wrong := &exit.ConfigError{In: "the rules"}
	for _, file := range o.Files {
		check := checkRules
		if files.IsWords(file) {
			check = checkWords
		}
		if err := check(c, cfg, file); err != nil {
			mistakes := files.Mistakes(file, err)
			if mistakes == nil {
				return err
			}
			wrong.Mistakes = append(wrong.Mistakes, mistakes...)
		}
	}
	if len(wrong.Mistakes) == 0 {
		return nil
	}
	return exit.Misconfigured(wrong, "`velum help house-rules` tells what stands in such files")
}

// checkRules prints what a file of networks holds.
func checkRules(c *console.Console, cfg *option.Config, file string) error {
	p, err := open(cfg, file)
	if err != nil {
		return err
	}
	var categories []string
	for _, category := range p.Categories() {
		categories = append(categories, category.String())
	}
	return c.Tell(map[string]any{
		"message_type": "rules", "file": file, "networks": p.Networks(), "categories": categories, "sha256": fmt.Sprintf("%x", p.Fingerprint()),
	},
		"{{.file}}: {{len .networks}} network{{if ne (len .networks) 1}}s{{end}} that find {{range $i, $name := .categories}}{{if $i}}, {{end}}{{.}}{{end}}: {{range $i, $name := .networks}}{{if $i}}, {{end}}{{.}}{{end}}\n")
}

// checkWords prints which lists of words a file changes.
func checkWords(c *console.Console, _ *option.Config, file string) error {
	shipped, err := files.Words()
	if err != nil {
		return err
	}
	words, err := files.Words(file)
	if err != nil {
		return err
	}
	lists := []string{}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		if !slices.Equal(words[name], shipped[name]) {
			lists = append(lists, name)
		}
	}
	return c.Tell(map[string]any{"message_type": "rules", "file": file, "lists": lists},
		"{{.file}}: changes the words of {{len .lists}} list{{if ne (len .lists) 1}}s{{end}}: {{range $i, $name := .lists}}{{if $i}}, {{end}}{{.}}{{end}}\n")
}

// Words prints the word lists of velum's rules, as changed by the configuration: the lists named in the options, or
// all.
func Words(_ context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	words, err := files.Words(cfg.Resolve.Words...)
	if err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(words))
	for _, name := range o.Words {
		if !slices.Contains(known, name) {
			return exit.Misconfiguredf(exit.Suggest(name, known), "no list of words %q", name)
		}
	}
	if c.JSON {
		return c.WriteJSON(map[string]any{"message_type": "words", "lists": words})
	}
	_, err = c.Out.Write([]byte(words.Text(o.Words...)))
	return err
}

// Build writes a pack of rules as a model file.
func Build(_ context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	p, err := open(cfg, o.File)
	if err != nil {
		return err
	}
	m, err := rules.New(p)
	if err != nil {
		return exit.Misconfigured(err, "give a network a category and a score")
	}
	data, err := (&flow.Model{Model: m}).File()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(nil, o.Out, data); err != nil {
		return err
	}
	return c.Tell(map[string]any{"message_type": "rules", "model": o.Out, "bytes": len(data), "networks": p.Networks()},
		"{{.model}}: {{len .networks}} networks\n")
}

// Trace prints which spans the rules find in a sentence or a note, and through which states.
func Trace(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	p, err := open(cfg, o.File)
	if err != nil {
		return err
	}
	t := &tracer{Machine: p.NewMachine(), out: c.Out}
	if (len(o.Words) == 0) == (o.In == "") {
		return exit.Misconfiguredf("write the sentence in quotation marks, or name a note with --in and --id",
			"velum teach rules trace: a sentence or a note is needed")
	}
	if o.In == "" {
		return pipeline.Run(ctx, &sentence{text: strings.Join(o.Words, " ")}, []pipeline.Step{flow.Tokenized(cfg)}, t, nil)
	}
	return t.note(ctx, cfg, o)
}

// note traces one note of a file.
func (t *tracer) note(ctx context.Context, cfg *option.Config, o *Options) error {
	if o.ID == "" {
		return exit.Misconfiguredf("name the note with --id", "velum teach rules trace: --in without --id")
	}
	// gold spans do not count here
	notes := flow.Labelled{Flag: "in", Paths: []string{o.In}, Config: cfg, Keep: map[string]bool{o.ID: true}, SkipUnknown: true}
	if err := notes.Run(ctx, []pipeline.Step{flow.Tokenized(cfg)}, t); err != nil {
		return err
	}
	if !t.found {
		return exit.Misconfiguredf("ids are those of the file, or paths below the folder", "no note with that id")
	}
	return nil
}

// sentence is a source of one note.
type sentence struct {
	text string
	done bool
}

// Next implements pipeline.Source.
func (s *sentence) Next(b *pipeline.Batch) error {
	if s.done {
		return io.EOF
	}
	s.done = true
	b.ID.Append(nil)
	b.Text.Append([]byte(s.text))
	b.Gold.End()
	b.Reason = append(b.Reason, pipeline.Sound)
	return nil
}

// tracer is a sink that prints the finds of a note.
type tracer struct {
	*rules.Machine
	out   io.Writer
	found bool
}

// Put implements pipeline.Sink.
func (t *tracer) Put(b *pipeline.Batch) error {
	for i := range b.Sound() {
		t.found = true
		if err := t.print(b.Text.At(i), b.Tokens.At(i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracer) print(text []byte, tokens []pipeline.Token) error {
	var w []byte
	finds := t.Trace(text, tokens)
	if len(finds) == 0 {
		w = []byte("nothing found\n")
	}
	kept := t.Spans(nil, text, tokens)
	for _, f := range finds {
		lost := ""
		if !slices.ContainsFunc(kept, func(s pipeline.Span) bool {
			return s.Start == f.Start && s.End == f.End && s.Category == f.Category
		}) {
			lost = ", overlapped by a surer one"
		}
		w = fmt.Appendf(w, "%s  %.2f  %q  bytes %d to %d, network %s%s\n", f.Category, f.Score, text[f.Start:f.End], f.Start, f.End, f.Name, lost)
		for _, s := range f.Steps {
			w = fmt.Appendf(w, "    line %d  %s/%s  %q\n", s.Line, s.Network, s.State, text[s.Start:s.End])
		}
	}
	_, err := t.out.Write(w)
	return err
}
