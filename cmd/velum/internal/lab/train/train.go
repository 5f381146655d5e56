// Package train trains models from labelled notes, lists and treebanks, and scores them. Each kind of model has a file.
package train

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/pipeline/durable"
)

// Options holds the arguments of `velum teach train` beside the configuration.
type Options struct {
	Kind   string
	Train  []string // paths of labelled notes
	Dev    []string // and of those to score on
	Labels string   // label set; "": that of the profile
	Scores string   // model whose scores and recall dial to take
	Init   string   // model whose weights to begin with
	Real   string   // what the notes of Dev are called, if they are real ones; "": they are not
	Held   []string // MODEL=PATHS: notes that a model made like this one has not seen, to calibrate it with
	Source string   // expression whose group names the source of a note by its id; "": its file is its source
	Out    string   // file to write
	Name   string   // of the model; "": that of the file

	Dictionary            DictionaryOptions
	MinCount, MinPatients int // of a common word
	Lookups               Lookups
}

// otherwise are the kinds that are not trained on labelled notes.
var otherwise = map[string]func(context.Context, *console.Console, *option.Config, *Options) error{
	dictionary.Kind:   trainDictionary,
	"morph":           trainMorph,
	inverse.WordsKind: trainWords,
}

// Kinds returns the names of all kinds of models that can be trained.
func Kinds() []string {
	names := slices.Sorted(maps.Keys(otherwise))
	for _, k := range flow.Kinds {
		if k.Learns {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Train trains the model that the options describe.
func Train(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if train := otherwise[o.Kind]; train != nil {
		return train(ctx, c, cfg, o)
	}
	return trainTagger(ctx, c, cfg, o)
}

func unknownKind(name string) error {
	return exit.Misconfiguredf("known: "+strings.Join(Kinds(), ", "), "--kind: unknown kind %q", name)
}

// need says what every training on labelled notes needs.
func (o *Options) need() error {
	if len(o.Train) == 0 {
		return exit.Misconfiguredf("see `velum teach train --help`", "--train is needed")
	}
	return nil
}

// writeModel writes the file of a model and says so: its size, and what the template text makes of the fields.
func writeModel(c *console.Console, out string, data []byte, fields map[string]any, text string) error {
	if err := durable.WriteFile(nil, out, data); err != nil {
		return err
	}
	fields["model"], fields["bytes"] = out, len(data)
	return c.Tell(fields, `{{.model}}: {{times 1e-6 .bytes | figure "%.1f"}} MB`+text)
}

// modelName is the name of the model, by default that of its file.
func (o *Options) modelName() string { return nameOf(o.Name, o.Out) }

func nameOf(name, file string) string {
	return cmp.Or(name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
}
