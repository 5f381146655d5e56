package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/synth"
)

// TestMain: the program decodes Parquet in processes of its own, which are this one here.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		os.Exit(fence.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// TestRun attacks an extract where it lies.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs, Quiet: true}
	c.StartLog()
	o := notes.SynthOptions{Notes: synth.Options{Notes: 120, Seed: 12, Density: 3}, Split: "train", Out: "archive", To: "archive", Months: 1}
	if err := notes.Synth(t.Context(), c, &o); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"key": "0123456789abcdef0123456789abcdeF0123456789abcdef", "strangers.jsonl": `{"id": "nobody", "text": "Ve amb la Rosa Puig", "spans": [{"start": 10, "end": 19, "label": "PERSON"}]}` + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	load := func() (*option.Config, error) {
		return option.Load(option.Sources{}.With([]string{"tag.fast=true", "run.workers=1", "mask.policy=research", "tag.recall=0", "key.file=key", "choose.use=false", "read.columns.patient=patient_id", "read.columns.date=date"}))
	}
	if err := run.Mask(t.Context(), c, load, &run.Options{In: []string{"archive"}, Out: "study"}); err != nil {
		t.Fatal(err, mistakes(err))
	}
	attack := func(json bool, plain bool, change func(*Options)) (string, error) {
		out.Reset()
		o := Options{Dir: "study", Misses: []float64{0.05}, Most: 2, Notes: 1000, Seed: 1}
		change(&o)
		cfg, err := load()
		if plain {
			cfg, err = option.Load(option.Sources{}.With([]string{"tag.fast=true", "read.columns.patient=patient_id"}))
		}
		if err != nil {
			t.Fatal(err)
		}
		c.JSON = json
		err = Run(t.Context(), c, cfg, &o)
		return out.String(), err
	}
	got, err := attack(false, false, func(*Options) {})
	if code := exit.CodeOf(err); code != exit.Done && code != exit.Privacy {
		t.Fatal(err)
	}
	for _, line := range []string{`^attack +misses +left +of +pointed`, `^names +planted 0.05`, `^candidates: (passed|no power|failed): surrogates alone lead to`, `^range: .* of \d+ offsets`, `^order: .* shuffled`, `^two: not tried: no other extract`, `^linkage: not tried: needs a --table`} {
		if !regexp.MustCompile("(?m)" + line).MatchString(got) {
			t.Errorf("no %s in\n%s", line, got)
		}
	}
	got, err = attack(true, false, func(o *Options) { o.Only, o.With = []string{"two"}, "study" })
	var f struct {
		Attack, Verdict, Output string
		Figures                 struct {
			Joined int `json:"joined_by_id"`
		}
	}
	if code := exit.CodeOf(err); code != exit.Done && code != exit.Privacy || json.Unmarshal([]byte(got), &f) != nil || f.Attack != "two" || len(f.Output) != 64 || f.Figures.Joined < 115 {
		t.Errorf("%s%v", got, err)
	}
	for what, x := range map[string]struct {
		plain  bool
		change func(*Options)
	}{
		`"name" is no attack`:                            {false, func(o *Options) { o.Only = []string{"name"} }},
		"names: the policy writes no surrogates":         {true, func(o *Options) { o.Only = []string{"names"} }},
		"two: no other extract":                          {false, func(o *Options) { o.Only = []string{"two"} }},
		"shares between 0 and 1":                         {false, func(o *Options) { o.Misses = []float64{0.5, 1} }},
		"--misses wants":                                 {false, func(o *Options) { o.Misses = []float64{0} }},
		"--most wants more than 1":                       {false, func(o *Options) { o.Most = 1 }},
		"--notes 1 or more":                              {false, func(o *Options) { o.Notes = 0 }},
		"none of the 1 labelled notes is in the extract": {false, func(o *Options) { o.Gold = []string{"strangers.jsonl"} }},
		"": {false, func(o *Options) { o.Dir = "archive" }},
	} {
		if _, err := attack(false, x.plain, x.change); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// mistakes are those of a configuration.
func mistakes(err error) (all []exit.Mistake) {
	if e, ok := errors.AsType[*exit.ConfigError](err); ok {
		all = e.Mistakes
	}
	return all
}
