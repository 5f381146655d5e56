// Package attack attacks velum's own output, as somebody would who has all of it except the private tree. Each attack
// takes an extract, reports how often its guesses were right beside how often chance is, and decides whether that is
// more than allowed. An attack that had too little data to fail reports that it had no power.
//
// Each attack is a value of type attack in a file named for it. Its figures are a struct, which the JSON holds and
// the sentence tells; the function judged turns them into a verdict. The attack on names plants some missed
// names to learn from: a mention becomes a few numbers (repetition.go, frequency.go), a classifier is trained on
// extracts with planted names and applied to other patients (judge.go).
package attack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// Options holds the arguments of `velum prove attack` beside the configuration.
type Options struct {
	Dir    string   // an extract, its private tree beside it
	In     []string // its archive; none: where it lay
	Gold   []string // labelled notes of the archive
	Only   []string // names of attacks; none: all that apply
	Misses []float64
	Most   float64 // how many times as much as guessing an attack may find
	Notes  int     // of the archive that are looked at
	People string  // table of names and of how many people bear them; "": none
	Link   LinkOptions
	With   string // another extract of the archive, or an earlier release of this one
	Seed   uint64 // of everything that is drawn
}

// finding holds the result of an attack.
type finding struct {
	Kind     string    `json:"message_type"`
	Attack   string    `json:"attack"`
	Verdict  string    `json:"verdict"`
	Output   string    `json:"output,omitempty"` // digest of the extract
	Sentence string    `json:"sentence"`
	Results  []*Result `json:"results,omitempty"`
	Figures  any       `json:"figures,omitempty"` // a pointer to a struct of numbers

	remedy string // if it did not pass
}

// notTried is the verdict on an attack that does not apply to the extract.
const notTried = "not tried"

// add adds the result for one kind of missed names. The worst verdict with enough power counts.
func (f *finding) add(r *Result) {
	r.Attack = f.Attack
	f.Results = append(f.Results, r)
	order := []string{"", noPower, passed, failed}
	if slices.Index(order, r.Verdict) <= slices.Index(order, f.Verdict) {
		return
	}
	f.Verdict = r.Verdict
	f.Sentence = r.sentence()
	f.remedy = "raise tag.recall: what is not left cannot be told; or take placeholders"
	if f.Verdict == noPower {
		f.remedy = "give more patients or labelled notes, or more of the archive with --notes; without power nothing is known"
	}
}

// attack is one way to find out something that an extract should not reveal.
type attack struct {
	name  string
	needs func(a *attacker) string // says why it does not apply; "" if it does
	run   func(*attacker, context.Context) (*finding, error)
}

// attacks lists the attacks in the order in which they run.
var attacks = []attack{names, candidates, dateRange, rowOrder, twoExtracts, linkage}

// judged returns the finding of an attack from its figures. With too little data the verdict is "no power", unless
// failed shows that the data was sufficient. remedy is the advice if the attack succeeded, power if it had no power.
func judged(figures any, failure, powerless bool, remedy, power, sentence string, args ...any) *finding {
	f := &finding{Verdict: passed, Figures: figures, Sentence: fmt.Sprintf(sentence, args...)}
	switch {
	case failure:
		f.Verdict, f.remedy = failed, remedy
	case powerless:
		f.Verdict, f.remedy = noPower, power
	}
	return f
}

// attacker holds the state shared by the attacks.
type attacker struct {
	*console.Console
	*Options
	config  *option.Config
	planted *planter // nil: not read yet
}

// Names returns the names of all attacks.
func Names() (all []string) {
	for _, t := range attacks {
		all = append(all, t.name)
	}
	return all
}

// Run runs the selected attacks and prints the findings of each. The exit code is 15 unless all attacks that were run
// have passed.
func Run(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	a := &attacker{Console: c, Options: o, config: cfg}
	if err := a.check(); err != nil {
		return err
	}
	findings, err := a.findings(ctx)
	if err != nil {
		return err
	}
	return a.report(findings)
}

// check returns an error for contradictory options.
func (a *attacker) check() error {
	for _, name := range a.Only {
		if !slices.Contains(Names(), name) {
			return exit.Misconfiguredf("it is one of "+strings.Join(Names(), ", "), "--only: %q is no attack", name)
		}
	}
	for _, m := range a.Misses {
		if m <= 0 || m >= 1 {
			return exit.Misconfiguredf("as --misses 0.001,0.01", "--misses wants shares between 0 and 1")
		}
	}
	switch {
	case a.Most <= 1 || a.Notes < 1:
		return exit.Misconfiguredf("see `velum prove attack --help`", "--most wants more than 1, --notes 1 or more")
	}
	return nil
}

// findings runs the selected attacks that apply. It is an error if none applies.
func (a *attacker) findings(ctx context.Context) (all []*finding, err error) {
	m, err := commit.ReadManifest(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Misconfiguredf("name the output of velum run or velum mask", "%s has no manifest.json", a.Dir)
	}
	if err != nil {
		return nil, err
	}
	tried := 0
	for _, t := range attacks {
		asked := slices.Contains(a.Only, t.name)
		if len(a.Only) > 0 && !asked {
			continue
		}
		f := &finding{Verdict: notTried, Sentence: t.needs(a)}
		switch {
		case f.Sentence == "":
			if f, err = t.run(a, ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			tried++
		case asked:
			return nil, exit.Misconfiguredf("see `velum prove attack --help`", "%s: %s", t.name, f.Sentence)
		}
		f.Kind, f.Attack, f.Output = "finding", t.name, audit.OutputDigest(m)
		all = append(all, f)
	}
	if tried == 0 {
		return nil, exit.Misconfiguredf("see `velum prove attack --help`", "no attack applies; %s: %s", all[0].Attack, all[0].Sentence)
	}
	return all, nil
}

// report prints the findings and returns an error that names the attacks which succeeded or had no power.
func (a *attacker) report(all []*finding) (shut error) {
	for _, f := range all {
		if err := a.Tell(f, said); err != nil {
			return err
		}
		if f.Verdict != passed && f.Verdict != notTried {
			shut = errors.Join(shut, exit.Errorf(exit.Privacy, f.remedy, "%s: %s: %s", f.Attack, f.Verdict, f.Sentence))
		}
	}
	return shut
}

// said tells a finding to people. The figures stand in the sentence; all of them are in the JSON.
const said = `{{if .results -}}
attack	misses	left	of	pointed	right	precision	guessing	times (95 %)	surest	patients named	needed	verdict
{{range .results -}}
{{.attack}}	{{.kind}}{{with .misses}} {{figure "%.4g" .}}{{end}}	{{.left}}	{{.all}}	{{.pointed}}	{{.right}}	{{figure "%.4f" .precision}}	{{figure "%.4f" .guess}}	{{figure "%.2f" .lift}} ({{figure "%.2f" .lift_low}}-{{figure "%.2f" .lift_high}})	{{figure "%.2f" .surest_lift}}	{{figure "%.1f" .named}} of {{.patients}} ({{figure "%.1f" .named_by_guess}})	{{.needed}}	{{.verdict}}
{{end}}{{end}}{{.attack}}: {{.verdict}}: {{.sentence}}
`

// sentence says it in words.
func (r *Result) sentence() string {
	if r.Verdict == noPower {
		return fmt.Sprintf("%s: %d of %d %s were left, at least %d are needed", r.Why, r.Left, r.All, r.Of, r.Needed)
	}
	s := fmt.Sprintf("%d of %d that it points at are right, %.2f times guessing (%.2f to %.2f); %.1f of %d patients named (guessing: %.1f)",
		r.Right, r.Pointed, r.Lift, r.Low, r.High, r.Named, r.Patients, r.NamedBy)
	if r.Why != "" {
		s = r.Why + ": " + s
	}
	return s
}
