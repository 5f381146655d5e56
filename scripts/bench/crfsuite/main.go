// Command crfsuite is our side of the comparison with CRFsuite, which
// scripts/bench/crfsuite_compare.py runs.
//
//	crfsuite items --in DIR --template FILE --out FILE
//	    writes the notes of a brat folder as CRFsuite items: a line a token,
//	    tag and attributes with tabs between, an empty line after a sequence
//	crfsuite train --train DIR --dev DIR --template FILE --c2 X --workers N ...
//	    trains our CRF with CRFsuite's objective, tags the notes of dev with it
//	    and prints a JSON record
//	crfsuite liblinear --train DIR --dev DIR --template FILE --out DIR [--tolerance X] [--reference X]
//	    solves one against the rest of the tags with our SVM and with LIBLINEAR's
//	    tools (Debian liblinear-tools) and prints a JSON record a loss
//
// The same template, tokenizer, patterns and word lists make both sides'
// features. The files hold words of notes: they are for a folder of one's own.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/tag/tagger"

	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/learn/svmtrain"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/teach"
	"github.com/velum-health/velum/stages/tokenize"
	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crfsuite:", err)
		os.Exit(1)
	}
}

// task is one call: what the three commands share.
type task struct {
	in, train, dev, template, out        string
	c1, c2, delta, epsilon               float64
	tolerance, reference                 float64
	period, iterations, workers, repeats int
	sgd                                  bool

	t   *features.Template
	set *pipeline.TagSet
	res features.Resources
	pat *patterns.Matcher
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which: items, train or liblinear?")
	}
	k := task{pat: patterns.New(patterns.Options{})}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&k.in, "in", "", "brat folder")
	f.StringVar(&k.train, "train", "", "brat folder to learn from")
	f.StringVar(&k.dev, "dev", "", "brat folder to score on")
	f.StringVar(&k.template, "template", "configs/templates/meddocan.txt", "template file")
	f.StringVar(&k.out, "out", "", "file to write")
	f.Float64Var(&k.c1, "c1", 0, "CRFsuite's c1")
	f.Float64Var(&k.c2, "c2", .5, "CRFsuite's c2")
	f.Float64Var(&k.delta, "delta", 1e-5, "CRFsuite's delta")
	f.Float64Var(&k.epsilon, "epsilon", 1e-5, "CRFsuite's epsilon")
	f.Float64Var(&k.tolerance, "tolerance", svmtrain.Tolerance, "LIBLINEAR's -e")
	f.Float64Var(&k.reference, "reference", 0, "how exactly we solve once more, so that it is known which side is farther from the optimum; 0: not")
	f.IntVar(&k.period, "period", 10, "CRFsuite's period")
	f.IntVar(&k.iterations, "iterations", 1000, "most iterations")
	f.BoolVar(&k.sgd, "sgd", false, "passes of stochastic gradient descent: beside CRFsuite's l2sgd")
	f.IntVar(&k.workers, "workers", 1, "cores")
	f.IntVar(&k.repeats, "repeats", 5, "passes of tagging that are timed")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if err := k.open(); err != nil {
		return err
	}
	switch args[0] {
	case "items":
		return k.items()
	case "train":
		return k.learn()
	case "liblinear":
		return k.liblinear()
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func (t *task) open() error {
	text, err := os.ReadFile(t.template)
	if err != nil {
		return err
	}
	if t.t, err = features.Parse(string(text)); err != nil {
		return err
	}
	labels, err := pipeline.Labels("meddocan")
	if err != nil {
		return err
	}
	t.set = &pipeline.TagSet{Categories: labels.Categories}
	lists := gazetteer.Default()
	t.res = features.Resources{Lexicon: lists, Phrases: lists}
	return nil
}

// feed sends the notes of a brat folder to dst.
func (t *task) feed(dir string, dst pipeline.Sink, more ...pipeline.Step) error {
	src, err := text.NewBrat(dir, text.Options{})
	if err != nil {
		return err
	}
	return pipeline.Run(context.Background(), src, append([]pipeline.Step{tokenize.New(tokenize.Options{})}, more...), dst, nil)
}

// items writes every token's attributes. Colons and backslashes are escaped
// as CRFsuite's file format asks.
func (t *task) items() error {
	f, err := os.OpenFile(t.out, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = t.feed(t.in, teach.New(teach.Options{TagSet: t.set, Corpus: itemWriter{t, w}, Patterns: t.pat}))
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// itemWriter is a corpus that is a file.
type itemWriter struct {
	*task
	w *bufio.Writer
}

var escaper = strings.NewReplacer(`\`, `\\`, `:`, `\:`)

func (i itemWriter) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	at := 0
	for _, sequence := range features.Describe(i.t, i.res, text, tokens, matches) {
		for _, attributes := range sequence {
			i.w.WriteString(i.set.Name(tags[at]))
			at++
			for _, a := range attributes {
				i.w.WriteByte('\t')
				i.w.WriteString(escaper.Replace(a.Name))
				if a.Value != 1 {
					fmt.Fprintf(i.w, ":%v", a.Value)
				}
			}
			i.w.WriteByte('\n')
		}
		i.w.WriteByte('\n')
	}
	return nil
}

// record is what a command found out.
type record struct {
	Tokens     int     `json:"tokens"`
	Seconds    float64 `json:"seconds"`
	CPU        float64 `json:"cpu_seconds"` // of this process, all threads
	Objective  float64 `json:"objective,omitempty"`
	Iterations int     `json:"iterations,omitempty"`
	Weights    int     `json:"weights,omitempty"`
	F1         float64 `json:"f1"`      // of dev
	Tagged     int     `json:"tagged"`  // tokens of dev
	Tagging    float64 `json:"tagging"` // processor seconds of a pass over dev
}

func (r record) print() error { return json.NewEncoder(os.Stdout).Encode(r) }

// learn trains with CRFsuite's objective: illegal paths count in Z, weights
// for what was seen.
func (t *task) learn() error {
	corpus := crftrain.NewCorpus(t.t, t.set, t.res)
	if err := t.feed(t.train, teach.New(teach.Options{TagSet: t.set, Corpus: corpus, Patterns: t.pat})); err != nil {
		return err
	}
	r := record{Tokens: corpus.Tokens()}
	began, cpu := time.Now(), processor()
	m, err := crftrain.Train(corpus, crftrain.TrainOptions{
		L1: t.c1, L2: 2 * t.c2, SGD: t.sgd, AllTransitions: true, Workers: t.workers,
		Iterations: t.iterations, Delta: t.delta, Epsilon: t.epsilon, Period: t.period,
		Progress: func(p crftrain.Progress) bool {
			r.Objective, r.Iterations, r.Weights = p.Objective, p.Iteration, p.Weights
			return true
		},
	})
	if err != nil {
		return err
	}
	r.Seconds, r.CPU = time.Since(began).Seconds(), processor()-cpu
	if err := t.label(m, &r); err != nil {
		return err
	}
	return r.print()
}

// processor returns the processor time that this program has taken so far.
func processor() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// label tags dev: one pass to fill the cache of forms, then timed ones. Tokens
// and matches are made beforehand, as CRFsuite's items are.
func (t *task) label(m *crf.Model, r *record) error {
	var notes held
	if err := t.feed(t.dev, teach.New(teach.Options{TagSet: t.set, Corpus: &notes, Patterns: t.pat})); err != nil {
		return err
	}
	l := m.NewLabeller(tagger.LabelOptions{})
	began, right, found, gold := 0.0, 0, 0, 0
	for pass := range 1 + t.repeats {
		if pass == 1 {
			began = processor()
		}
		for i := range notes.all {
			n := &notes.all[i]
			l.Label(n.text, n.tokens, n.matches, n.tags)
		}
	}
	r.Tagging = (processor() - began) / float64(t.repeats)
	for _, n := range notes.all {
		ours, theirs := t.set.Decode(nil, n.tokens, n.tags), t.set.Decode(nil, n.tokens, n.gold)
		r.Tagged, found, gold = r.Tagged+len(n.tags), found+len(ours), gold+len(theirs)
		for _, s := range ours {
			if slices.ContainsFunc(theirs, func(g pipeline.Span) bool { return g.Start == s.Start && g.End == s.End && g.Category == s.Category }) {
				right++
			}
		}
	}
	r.F1 = 2 * float64(right) / float64(max(found+gold, 1))
	return nil
}

// held is a corpus that keeps notes as they are.
type held struct{ all []note }

type note struct {
	text    []byte
	tokens  []pipeline.Token
	matches []pipeline.Match
	gold    []pipeline.Tag
	tags    []pipeline.Tag
}

func (h *held) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	h.all = append(h.all, note{slices.Clone(text), slices.Clone(tokens), slices.Clone(matches), slices.Clone(tags), make([]pipeline.Tag, len(tags))})
	return nil
}
