package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
)

func newTrainCommand(a *app) *cobra.Command {
	var f train.Options
	c := &cobra.Command{
		Use:   "train --kind KIND --train PATH [--dev PATH] [--init MODEL] --out FILE",
		Short: "Train a model from labelled notes",
		Long: `Train a tagger from labelled notes in any format. With --dev the model is scored on
notes that it has not seen, and its recall dial is set: which bias towards masking
reaches which masking recall, at which precision. The scores stand in the model.

A template may look forms up: parts of speech and lemmas (pos, lemma), clusters
(cluster/NAME; --clusters). What is looked up becomes part of the model file. velum teach study grid
--vary train.clusters=... compares clusterings. A line "use wc lm
mph pos c" stands for groups of the papers, the templates boot, ngrid, vigi and inv for
their whole sets, networks of the papers are --variant boot, ngrid, b-1... --kind morph makes a table of parts of speech and lemmas from
treebanks in CoNLL-U.

--kind bilstm trains a recurrent network, on all cores. Its words may begin with the vectors of velum
embed (--set network.vectors=FILE), and it may see notes without capitals and accents
(--set network.noise=0.1). --kind ensemble makes one tagger of several (--members,
--mode) and measures them on --train, which should be notes that they have not seen.
--init cascade --epochs 2 tunes the network that ships to notes of the house; --kind inverse
--learner bilstm --labels SET has a network of several categories say what is safe (INV).
--kind svm tags each token by itself, by the same templates (--set svm.cost=0.1).

A dictionary needs no labelled notes: it takes names from lists (velum teach gazetteer build)
and how often an archive holds them. --dev then chooses its thresholds.`,
		Example: `  velum teach train --kind crf --train meddocan/train --dev meddocan/dev --labels meddocan --out m.velum
  velum teach train --kind crf --train gold.jsonl,selected.jsonl --init primary-care --out next.velum
  velum teach train --kind dictionary --gazetteer names.velum --archive notes.jsonl --dev few.jsonl --out names-model.velum
  velum teach train --train train/ --template boot --clusters wc=words.velum:1024 --out boot.velum
  velum teach train --kind bilstm --train meddocan/train --dev meddocan/dev --labels meddocan --out net.velum
  velum teach train --kind ensemble --members m.velum,net.velum --mode cascade --train meddocan/dev --labels meddocan --out both.velum
  velum teach train --kind morph --train es.conllu.gz,ca.conllu.gz --out morph.velum`,
		Args: noArgs,
		RunE: call(a, train.Train, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.Kind, "kind", "crf", "kind of model: "+strings.Join(train.Kinds(), ", "))
	flags.StringSliceVar(&f.Train, "train", nil, "`PATHS` of labelled notes to learn from")
	flags.StringSliceVar(&f.Dev, "dev", nil, "`PATHS` of labelled notes to score on")
	flags.StringVar(&f.Labels, "labels", "", "label `SET` of the model; gold of other schemes is mapped (default: that of the profile)")
	flags.StringVar(&f.Scores, "scores", "", "`MODEL` whose scores and recall dial to take: one that was made in the same way without the notes that it was scored on")
	flags.StringVar(&f.Real, "real", "", "the notes of --dev are real ones, not generated, and called `NAME`: reports say by them how much is left")
	flags.StringVar(&f.Init, "init", "", "`MODEL` whose weights to begin with")
	flags.StringVar(&f.Out, "out", "", "model `FILE` to write")
	flags.StringVar(&f.Name, "name", "", "name of the model (default: that of the file)")
	flags.BoolVar(&f.Stop, "early-stop", false, "stop when the F1 on --dev no longer rises, and keep the best model")
	flags.StringVar(&f.Dictionary.Method, "method", "divergence", "dictionary: how it decides, divergence or binary")
	flags.StringSliceVar(&f.Dictionary.Gazetteers, "gazetteer", nil, "dictionary: `FILES` of names, from velum teach gazetteer build")
	flags.StringSliceVar(&f.Dictionary.Negative, "negative", nil, "dictionary: `FILES` of words that are no names")
	flags.StringSliceVar(&f.Dictionary.Notes, "archive", nil, "dictionary, words: `PATHS` of notes in which names or words are counted; no labels needed")
	flags.StringSliceVar(&f.Dictionary.Classes, "classes", []string{"GivenName", "Surname"}, "dictionary: classes of the lists that are tagged")
	flags.StringVar(&f.Dictionary.Category, "category", "PERSON", "dictionary: what they are tagged as")
	flags.IntVar(&f.MinCount, "min-count", 5, "words: `N` times or more in small letters is a common word")
	flags.IntVar(&f.MinPatients, "min-patients", 3, "words: in the notes of `N` patients or more")
	flags.StringVar(&f.Lookups.Rules, "rules", "", "`FILE` of rules that the feature group rules looks at (default: those that ship)")
	flags.StringVar(&f.Lookups.Morph, "morph", "", "`FILE` of parts of speech and lemmas (default: the one in the binary)")
	a.noteFlags(c)
	a.optionFlags(c, "variant=network.variant", "epochs=network.epochs", "seed=network.seed", "members=ensemble.members", "mode=ensemble.mode", "words=inverse.words",
		"learner=inverse.learner", "template=train.template", "clusters=train.clusters", "scheme=train.scheme", "l1=train.l1", "l2=train.l2", "iterations=train.iterations", "workers=run.workers")
	return c
}
