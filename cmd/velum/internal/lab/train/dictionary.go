package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/dictionarytrain"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/teach"
)

// DictionaryOptions holds the arguments for training a tagger of kind dictionary.
type DictionaryOptions struct {
	Method                      string
	Gazetteers, Negative, Notes []string
	Classes                     []string
	Category                    string
}

// trainDictionary makes a tagger of lists of names, and of how often notes hold their words.
func trainDictionary(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	d := &o.Dictionary
	method := dictionary.Method(d.Method)
	switch {
	case len(d.Gazetteers) == 0:
		return exit.Misconfiguredf("see `velum teach train --help`", "--gazetteer is needed")
	case method == dictionary.Divergence && len(d.Notes) == 0:
		return exit.Misconfiguredf("name notes with --archive; labels are not needed",
			"--archive is needed: divergence compares with how often notes hold a word")
	case len(o.Train)+len(o.Dev) > 0:
		return exit.Misconfiguredf("score it with velum prove evaluate --model", "--train, --dev: a dictionary is not trained on labelled notes")
	}
	m, err := dictionaryOf(ctx, c, cfg, o, method)
	if err != nil {
		return err
	}
	data, err := (&flow.Model{Model: m}).File()
	if err != nil {
		return err
	}
	return writeModel(c, o.Out, data, map[string]any{"message_type": "train", "header": m.Details()},
		`, {{.header.params.method}} model of {{.header.words}} words, {{figure "%.0f" .header.archive_tokens}} words counted in the archive
`)
}

// dictionaryOf makes the model.
func dictionaryOf(ctx context.Context, c *console.Console, cfg *option.Config, o *Options, method dictionary.Method) (*dictionary.Model, error) {
	d, counter := &o.Dictionary, dictionarytrain.NewCounter()
	var classes gazetteer.Class
	for _, name := range d.Classes {
		c, err := gazetteer.ParseClass(name)
		if err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("--classes: %w", err), files.ClassRemedy(name))
		}
		classes |= c
	}
	if c, err := pipeline.ParseCategory(d.Category); err != nil || c == pipeline.None {
		return nil, exit.Misconfiguredf("categories: "+strings.Join(option.LabelNames("primary-care"), ", "), "--category: unknown category %q",
			d.Category)
	}
	names, prints, err := files.OpenTables(d.Gazetteers)
	if err != nil {
		return nil, err
	}
	others, _, err := files.OpenTables(d.Negative)
	if err != nil {
		return nil, err
	}
	count := &teach.Words{Note: func(text []byte, tokens []pipeline.Token, _ uint64) error {
		counter.Add(text, tokens)
		return nil
	}}
	for _, path := range d.Notes {
		if err := eachNote(ctx, c, cfg, path, count); err != nil {
			return nil, err
		}
	}
	positive, positives := dictionarytrain.Words(classes, names...)
	if len(positive) == 0 {
		return nil, exit.Misconfiguredf("look at `velum teach gazetteer show FILE`", "--gazetteer: no entries of the classes %s",
			strings.Join(d.Classes, ", "))
	}
	negative, negatives := dictionarytrain.Words(^gazetteer.Class(0), others...)
	seen := counter
	if method == dictionary.Binary {
		seen = nil
	}
	return dictionary.New(dictionary.Header{
		Name: o.modelName(), Categories: []string{d.Category}, Params: dictionary.Defaults(method), Archive: counter.Tokens(),
		Gazetteers: prints,
	}, dictionarytrain.Frequencies(positive, positives, negative, negatives, seen))
}

// eachNote hands the words of the notes of a path on.
func eachNote(ctx context.Context, c *console.Console, cfg *option.Config, path string, to *teach.Words) error {
	progress := c.NewProgress("read", "notes", 0)
	defer progress.End()
	return flow.InputError(readNotes(ctx, cfg, "", path, flow.Watched{Sink: to, Progress: progress}))
}

// readNotes moves the notes of a path, tokenized, into a sink. The format lines is a note a line of plain text.
func readNotes(ctx context.Context, cfg *option.Config, format, path string, to pipeline.Sink) error {
	o, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	o.SkipUnknown = true
	var src read.Text
	if format == "lines" {
		if src, err = text.NewPlain(path, o); err != nil {
			err = exit.Misconfigured(err, "")
		}
	} else {
		src, err = flow.OpenNotes("from", format, path, o)
	}
	if err != nil {
		return err
	}
	defer src.Close()
	return pipeline.Run(ctx, src, flow.TeachSteps(cfg), to, nil)
}
