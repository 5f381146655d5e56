// Package start implements `velum start`, the first month with an archive that nobody has labelled. The same command is
// given every evening; it looks at the state of its folder and does the next step.
//
//	archive ─> velum.yaml ─> first model ─> masked month ─> questions ─> a person
//	answers ─> a turn of learning, judged ─> masked month ─> questions ─> a person ...
//
// It only decides which step is next; packages propose, train, learn, review and run do the work (BOOT §3.2.1 and §4.4,
// ATN §2.3, INV §4.3). The result of each step is on disk before the next one begins, so a start after a kill repeats
// only what is missing.
package start

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/learn"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/propose"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/pipeline/durable"
)

// Options holds the arguments of `velum start` beside the configuration.
type Options struct {
	In    string   // the archive
	Out   string   // folder that grows, private but for its masked/
	Lists []string // lists of names, compiled or not, of which the first model is made; none: the one of the configuration
	Ask   int      // most questions an evening
	More  bool     // ask also where the stop rule holds

	// Load loads the configuration. file says how the archive is read, for users without a file of their own; "" before
	// it exists.
	Load func(file string) (*option.Config, error)
	Own  bool // they name one

	Typed []string // the command line behind the program's name: it is typed again the next evening
}

// Names of files and folders in the folder of `velum start`.
const (
	stateName   = "start.json"
	configName  = "velum.yaml"
	listsName   = "lists.model"
	learnedName = "learned"
	maskedName  = "masked"
	stateSchema = "velum.start/1"
)

// month is one call of `velum start`.
type month struct {
	*console.Console
	*Options
	cfg    *option.Config
	state  state
	said   summary
	warned bool // of a model that comes too late
}

// state is start.json: the evenings so far. What stands in the folder of learning is not
// told again.
type state struct {
	Schema   string    `json:"schema"`
	In       string    `json:"in"`
	Evenings []evening `json:"evenings"` // by their questions
	Agreed   []float64 `json:"agreed"`   // of each turn but the first: how far its model agrees with the one before
}

// Run looks at the state of the folder and does the next step.
func Run(ctx context.Context, c *console.Console, o *Options) error {
	if o.Ask < 1 {
		return exit.Misconfiguredf("ask at least one; `velum run` masks and asks nothing", "--ask %d", o.Ask)
	}
	m := &month{Console: c, Options: o}
	own := func(name string) bool { return name == stateName || name == files.LockName }
	return files.Held(o.Out, "velum start", own, func() error { return m.evening(ctx) })
}

// read reads how far the folder is: while the folder is held, for another start may just have ended.
func (m *month) read() error {
	_, err := turns.Decode(m.at(stateName), stateSchema, &m.state)
	if errors.Is(err, os.ErrNotExist) {
		m.state = state{Schema: stateSchema, In: m.Options.In, Evenings: []evening{}, Agreed: []float64{}}
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case filepath.Clean(m.state.In) == filepath.Clean(m.Options.In):
	case m.turns() > 0:
		return exit.Misconfiguredf("name another --out, or put the new month beside the others", "%s was started with --in %s", m.Options.Out,
			m.state.In)
	default: // a slip of the first call: nothing was learned from there
		m.state.In, err = m.Options.In, durable.RemoveIfThere(durable.OS, m.at(configName))
	}
	return err
}

func (m *month) at(name ...string) string {
	return filepath.Join(append([]string{m.Options.Out}, name...)...)
}

// save writes the state.
func (m *month) save() error {
	data, err := turns.Encode(&m.state)
	if err != nil {
		return err
	}
	return durable.WriteFile(nil, m.at(stateName), data)
}

// evening does the work of one call: answers, a turn, the masked month, questions.
func (m *month) evening(ctx context.Context) error {
	if err := m.read(); err != nil {
		return err
	}
	if err := m.asked(); err != nil { // and whose the folder is, before anything else stands there
		return err
	}
	if err := m.configure(ctx); err != nil {
		return err
	}
	if err := m.take(ctx); err != nil {
		return err
	}
	if err := errors.Join(m.settle(ctx), m.mask(ctx)); err != nil {
		return err
	}
	if err := m.ask(ctx); err != nil {
		return err
	}
	return m.print()
}

// quiet returns a console for the called packages that shows only progress and warnings.
func (m *month) quiet() *console.Console {
	c := &console.Console{In: m.Console.In, Out: io.Discard, Errs: m.Errs, Env: m.Env, Version: m.Version, Quiet: !m.Verbose,
		NoColor: m.NoColor, Verbose: m.Verbose, JSON: m.JSON}
	c.StartLog()
	c.Quiet = m.Quiet
	return c
}

// configure loads the configuration; the first start finds out how the archive is read.
func (m *month) configure(ctx context.Context) (err error) {
	file := m.at(configName)
	if m.Own {
		file = ""
	} else if _, err := os.Stat(file); err != nil {
		if err := m.propose(ctx, file); err != nil {
			return err
		}
	}
	m.cfg, err = m.Load(file)
	return err
}

// propose writes how the archive is read, whole or not at all.
func (m *month) propose(ctx context.Context, file string) error {
	cfg, err := m.Load("")
	if err != nil {
		return err
	}
	draft, err := durable.NewDraft(nil, m.at("proposed"))
	if err != nil {
		return err
	}
	defer draft.Discard()
	c := m.quiet()
	c.Quiet, c.JSON = true, false
	if err := propose.Run(ctx, c, cfg, &propose.Options{In: m.Options.In, Out: draft.Path(configName), Yes: true}); err != nil {
		return err
	}
	data, err := os.ReadFile(draft.Path(configName))
	if err != nil {
		return err
	}
	return durable.WriteFile(nil, file, data)
}

// first returns the first model: that of the configuration, or one made of lists and the frequencies of their words in
// the archive.
func (m *month) first(ctx context.Context) (string, error) {
	if len(m.Lists) == 0 {
		return m.cfg.Tag.Model, m.sameFirst()
	}
	out := m.at(listsName)
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	lists, err := m.compiled(ctx)
	if err != nil {
		return "", err
	}
	o := &train.Options{Kind: dictionary.Kind, Out: out, Dictionary: train.DictionaryOptions{
		Method: string(dictionary.Divergence), Gazetteers: lists, Notes: []string{m.Options.In}, Classes: []string{"GivenName", "Surname"},
		Category: "PERSON",
	}}
	return out, train.Train(ctx, m.quiet(), m.cfg, o)
}

// sameFirst returns an error if a model is named after the first turn used another one, or if the name is unknown.
func (m *month) sameFirst() error {
	data, err := flow.ModelData(m.cfg.Tag.Model)
	if err != nil || !m.cfg.Given("tag.model") || m.warned {
		return err
	}
	if began, err := os.ReadFile(m.at(learnedName, turns.Folder(0), turns.ModelName)); err == nil && !bytes.Equal(began, data) {
		m.warned = true
		m.Log.Warn("the model counts on the first evening alone, and this folder began with another, or with an older velum: it goes on with that", "model", m.cfg.Tag.Model)
	}
	return nil
}

// compiled returns the lists as `velum teach gazetteer build` makes them: those that are as a house has them, CSV or lines, are
// made into one.
func (m *month) compiled(ctx context.Context) (lists []string, err error) {
	var raw []string
	for _, list := range m.Lists {
		f, err := modelfile.Open(list)
		switch {
		case err == nil:
			lists, err = append(lists, list), f.Close()
		case errors.Is(err, modelfile.ErrNotAModel), errors.Is(err, os.ErrNotExist):
			raw, err = append(raw, list), nil
		}
		if err != nil {
			return nil, exit.With(exit.Integrity, err, "build it again: velum teach gazetteer build")
		}
	}
	if len(raw) == 0 {
		return lists, nil
	}
	out := m.at("lists.velum")
	return append(lists, out), look.BuildList(ctx, m.quiet(), &look.ListOptions{Out: out, MaxBad: look.MaxBad, Lists: raw})
}

// learning is the configuration of a turn. Each start does one if there are new answers, and none else.
func (m *month) learning(ctx context.Context) (*option.Config, error) {
	start, err := m.first(ctx)
	if err != nil {
		return nil, err
	}
	cfg := *m.cfg
	l := &cfg.Learn
	l.In, l.Gold, l.Dev, l.Start, l.Turns, l.Again = []string{m.Options.In}, nil, nil, start, 0, true
	return &cfg, nil
}

// learn does a turn with new answers, or asks.
func (m *month) learn(ctx context.Context, o *learn.Options) error {
	cfg, err := m.learning(ctx)
	if err != nil {
		return err
	}
	o.Out, o.To, o.BackTo = m.at(learnedName), "jsonl", m.turns()-1 // a month that came since is learned from, too
	return learn.Learn(ctx, m.quiet(), cfg, o)
}

// turns is how many turns there are.
func (m *month) turns() int { return len(turns.Folders(m.at(learnedName), "turn", 0)) }

// mask masks the archive with the model in use.
func (m *month) mask(ctx context.Context) error {
	load := func() (*option.Config, error) {
		cfg := *m.cfg
		cfg.Tag.Model = m.at(learnedName, "models")
		return &cfg, nil
	}
	err := run.Mask(ctx, m.quiet(), load, &run.Options{In: []string{m.Options.In}, Out: m.at(maskedName), Again: true,
		Record: run.RecordOptions{EmptyOK: true}})
	// the month is there, and its report says what is not
	if code := exit.CodeOf(err); err != nil && code != exit.Nothing && code != exit.Quarantined {
		return err
	}
	return m.masked()
}

// ask writes the questions of the evening, unless those of before wait for their first answer.
func (m *month) ask(ctx context.Context) error {
	if m.waiting() {
		return nil
	}
	if m.enough() && !m.More {
		m.said.Done = fmt.Sprintf("%d turns in a row changed fewer than one in a hundred of what the model finds; --more asks all the same",
			enoughTurns)
		return nil
	}
	err := m.learn(ctx, &learn.Options{Ask: m.Ask})
	if exit.CodeOf(err) == exit.Nothing && len(m.state.Evenings) > 0 {
		m.said.Done = "every note of the archive is answered or learned from"
		return nil
	}
	if err != nil {
		return err
	}
	return m.asked()
}
