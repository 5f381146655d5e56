package flow

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/resolve"
)

// Open is New for a verb that takes hours: it first opens everything that the configuration names, and returns all
// mistakes together with those found while loading (wrong).
//
// It also raises GOGC until console.SteadyMemory lowers it, so that a process with few notes never runs the garbage
// collector.
func Open(c *option.Config, wrong error) (*Flow, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1000)
	}
	ahead(c)
	k, err := newChecker(c, wrong)
	if err != nil {
		return nil, err
	}
	k.input()
	k.masking()
	m := k.tagging()
	if err := k.verdict(); err != nil {
		return nil, err
	}
	return With(c, m), nil
}

// ahead loads lists and sections of embedded models in parallel, before they are needed one after the other.
func ahead(c *option.Config) {
	if c == nil || c.Tag.Fast || !slices.Contains(embedded.Names(), c.Tag.Model) {
		return
	}
	kernels.Parallel(runtime.GOMAXPROCS(0), 2, func(_, i int) {
		if i == 0 {
			gazetteer.Default()
		} else if f, err := embedded.Open(c.Tag.Model); err == nil {
			f.Ahead()
		}
	})
}

// Check opens everything that the configuration names, for any verb, and returns all mistakes together with those found
// while loading (wrong).
func Check(c *option.Config, wrong error) error {
	k, err := newChecker(c, wrong)
	if err != nil {
		return err
	}
	k.input()
	k.masking()
	k.tagging()
	k.training()
	k.learning()
	return k.verdict()
}

// checker collects the mistakes of a configuration.
type checker struct {
	*option.Config
	mistakes []exit.Mistake
	codes    []exit.Code // of each
}

// newChecker starts with the mistakes found while loading. It returns any other error.
func newChecker(c *option.Config, wrong error) (*checker, error) {
	k := &checker{Config: c}
	if wrong == nil {
		return k, nil
	}
	loading, ok := errors.AsType[*exit.ConfigError](wrong)
	if !ok || c == nil {
		return nil, wrong
	}
	for _, m := range loading.Mistakes {
		k.add(exit.Config, m)
	}
	return k, nil
}

func (k *checker) add(code exit.Code, m exit.Mistake) {
	k.mistakes, k.codes = append(k.mistakes, m), append(k.codes, code)
}

// failed records an error about the value of an option; nil is ignored.
func (k *checker) failed(key string, err error) {
	if err == nil {
		return
	}
	if in, ok := errors.AsType[*input.Error](err); ok {
		m := k.Mistake(key, in.Path+": "+in.Cause, in.Remedy)
		if in.Line > 0 {
			m = exit.Mistake{File: in.Path, Line: in.Line, Column: max(in.Column, 1), Key: key, Message: in.Cause, Hint: in.Remedy}
		}
		k.add(exit.Config, m)
		return
	}
	code, remedy := exit.Explain(err)
	k.add(code, k.Mistake(key, strings.TrimPrefix(err.Error(), key+": "), remedy))
}

// verdict returns an error with all mistakes. Its exit code is the common one of the mistakes, or that of a wrong
// configuration.
func (k *checker) verdict() error {
	err := (&exit.ConfigError{Mistakes: k.mistakes}).OrNil()
	if err == nil {
		return nil
	}
	if first := k.codes[0]; first != exit.Config && !slices.ContainsFunc(k.codes, func(c exit.Code) bool { return c != first }) {
		return exit.With(first, err, "")
	}
	return err
}

// input checks the options for reading notes.
func (k *checker) input() {
	r := &k.Read
	_, err := delimiter(r.Delimiter)
	k.failed("read.delimiter", err)
	_, err = categoriesOf(r.Labels)
	k.failed("read.labels", err)
	k.failed("read.sha256", input.CheckList(r.SHA256))
	k.people()
}

// people checks the tables of people. Their rows are read later by the run.
func (k *checker) people() {
	for key, path := range map[string]string{"people.table": k.People.Table, "people.exclude": k.People.Exclude} {
		k.exists(key, "name a file of Parquet or CSV", path)
		if path != "" && k.Read.Columns.Patient == "" {
			k.failed(key, exit.Misconfiguredf("name its column with read.columns.patient", "is joined with the notes by patient"))
		}
	}
}

// exists records files and folders that do not exist.
func (k *checker) exists(key, remedy string, paths ...string) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			k.failed(key, exit.Misconfigured(err, remedy))
		}
	}
}

// masking checks the policy and the key.
func (k *checker) masking() {
	k.exists("mask.names", "name a file of Parquet or CSV", k.Mask.Names)
	chains, _ := k.Operators() // what is wrong with them was found when they were loaded
	if k.Read.Columns.Date == "" && slices.ContainsFunc(chains, func(c *mask.Chain) bool { return c.Dated() }) {
		k.failed("mask.policy", exit.Misconfiguredf("name the column with read.columns.date, or write interval from=first",
			"interval counts from the note's date, and no column has it: every date would be a placeholder"))
	}
	if k.Read.Columns.Patient == "" && !k.Mask.WithoutPatient && slices.ContainsFunc(chains, (*mask.Chain).PerPatient) {
		k.failed("mask.policy",
			exit.Misconfiguredf("name the column of the patient with read.columns.patient, or say --without-patient (mask.without_patient): each note stands alone, and the dates of one patient move apart",
				"moves dates or draws surrogates by patient, and no column has the patient"))
	}
	if k.Key.File != "" {
		k.failed("key.file", secret.Check(k.Key.File))
		return
	}
	const remedy = "name its file with key.file; (umask 077 && head -c 32 /dev/urandom > velum.key) makes one"
	if slices.ContainsFunc(chains, func(c *mask.Chain) bool { return c.Keyed() }) {
		k.failed("mask.policy", exit.Errorf(exit.Key, remedy, "the operators of this policy need a key"))
	} else if k.Read.IDs == "keyed" {
		k.failed("read.ids", exit.Errorf(exit.Key, remedy, "keyed ids need a key"))
	} else if k.Read.Opaque {
		k.failed("read.opaque", exit.Errorf(exit.Key, remedy, "opaque folders need a key"))
	}
}

// tagging checks the model and the lists, and returns the model, or nil if it cannot be used.
func (k *checker) tagging() *Model {
	r := &k.Resolve
	lists := k.lists("tag.gazetteers", k.Tag.Gazetteers)
	k.lists("resolve.gazetteers", r.Gazetteers)
	k.words("resolve.always_file", r.AlwaysFile, func(line string) (problem, hint string) {
		_, _, problem, hint = option.AlwaysEntry(line)
		return problem, hint
	})
	k.words("resolve.never_file", r.NeverFile, func(string) (string, string) { return "", "" })
	for _, name := range r.SkipRules {
		if !slices.Contains(resolve.RuleNames(), name) {
			k.failed("resolve.skip_rules", exit.Misconfiguredf(exit.Suggest(name, resolve.RuleNames()), "no rule %q", name))
		}
	}
	_, err := files.Words(r.Words...)
	k.failed("resolve.words", err)
	if !lists {
		return nil
	}
	if all, unread := ResolveLists(k.Config); unread == nil {
		_, err = files.Packs("resolve.packs", r.Packs, all)
	}
	k.failed("resolve.packs", err)
	if all, unread := ResolveLists(k.Config); unread == nil {
		_, err = files.Packs("mask.calendar", k.Mask.Calendar, all)
		k.failed("mask.calendar", err)
		_, err = files.Packs("mask.rare_rules", k.Mask.RareRules, all)
	}
	k.failed("mask.rare_rules", err)
	k.inverse()
	m, err := OpenModel(k.Tag.Model, k.Config)
	if err != nil {
		k.failed("tag.model", err)
		return nil
	}
	err = m.set(k.Config)
	k.failed("tag.recall", err)
	return m
}

// lists opens files of compiled lists, and tells whether all are sound.
func (k *checker) lists(key string, paths []string) bool {
	sound := true
	for _, path := range paths {
		if _, err := files.OpenTable(path); err != nil {
			k.failed(key, err)
			sound = false
		}
	}
	return sound
}

// words reads a file of words and records every invalid line.
func (k *checker) words(key, path string, wrong func(line string) (problem, hint string)) {
	if path == "" {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		k.failed(key, exit.Misconfigured(err, "name a file with an entry a line"))
		return
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if problem, hint := wrong(line); problem != "" {
			k.add(exit.Config, exit.Mistake{File: path, Line: n, Column: 1, Key: key, Message: problem, Hint: hint})
		}
	}
}

// training checks the files that `velum teach train` opens.
func (k *checker) training() {
	k.template("train.template", k.Train.Template)
	for _, name := range k.Ensemble.Members {
		k.model("ensemble.members", name)
	}
}

// learning checks the files that `velum teach learn` opens.
func (k *checker) learning() {
	l := &k.Learn
	k.exists("learn.in", "name files or folders of the archive", l.In...)
	for _, set := range []struct {
		key   string
		paths []string
	}{{"learn.gold", l.Gold}, {"learn.dev", l.Dev}} {
		k.exists(set.key, "name files or folders of labelled notes", set.paths...)
	}
	if l.Labels != "" {
		if _, err := pipeline.Labels(l.Labels); err != nil {
			k.failed("learn.labels", exit.Misconfigured(err, exit.Suggest(l.Labels, configs.Schemes())))
		}
	}
	for _, name := range Together(strings.Join(l.Kind, "+")) {
		if kind, ok := KindNamed(name); !ok || !kind.Learns {
			k.failed("learn.kind", exit.Misconfiguredf(exit.Suggest(name, learners()), "no kind %q that learns", name))
		}
	}
	if l.Start != "" {
		k.model("learn.start", l.Start)
	}
}

// learners returns the names of the kinds that learn from labelled notes.
func learners() (names []string) {
	for _, k := range Kinds {
		if k.Learns {
			names = append(names, k.Name)
		}
	}
	return names
}

// model opens a model from which another one is made. It uses the lists of its own file.
func (k *checker) model(key, name string) {
	_, _, err := ModelFile(name)
	k.failed(key, err)
}

// template reads a feature template; "" is none.
func (k *checker) template(key, name string) {
	if name == "" {
		return
	}
	text, err := TemplateText(name)
	if err == nil {
		_, err = features.Parse(text)
	}
	if err != nil {
		k.failed(key, exit.Misconfigured(err, "name a file, or one of "+strings.Join(configs.Templates(), ", ")))
	}
}

// TemplateText returns the text of a feature template: a built-in name or a
// file.
func TemplateText(name string) (string, error) {
	if text, err := configs.Template(name); err == nil {
		return string(text), nil
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// CutClusters splits NAME=FILE:K; k is negative if text does not have that form.
func CutClusters(text string) (name, file string, k int) {
	name, rest, ok := strings.Cut(text, "=")
	colon := strings.LastIndexByte(rest, ':')
	k, err := strconv.Atoi(rest[colon+1:])
	if !ok || colon < 1 || err != nil {
		return name, "", -1
	}
	return name, rest[:colon], k
}
