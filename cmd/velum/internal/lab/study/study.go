// Package study implements `velum teach study`: it trains and scores many taggers on labelled notes (cross-validation,
// learning curves, ablation, grids, mixtures) and combines the scores into points with intervals and pairs with
// significance tests. Results are kept in a folder, so that an interrupted command continues.
//
//	labelled notes ─> folds, shares, mixtures ─> trials (train on X, tag Y, count) ─> points, pairs ─> study.json
//
// All results are functions of notes, options and seed. Only counts of a trial are kept: no text and no model.
package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// Options holds the arguments of a study beside the configuration.
type Options struct {
	Way             string   // one of Names
	Gold, With, Dev []string // paths of labelled notes
	Kinds           []string // see parseArm
	By, Group       string   // what is never split, and what names it by an id
	K               int      // folds; 0: a group each
	Labels, Out     string
	Seed            int
	Beta            float64 // weight of recall in F_β
	Draws           int     // of the bootstrap

	Shares     []float64 // curve: per cent of the notes; mix: per cent of --with
	Times      int       // curve, mix: draws of each
	Forward    bool      // ablate: groups are added in turn
	Vary       []string  // grid: KEY=VALUE,VALUE
	Thresholds []float64 // confidence
}

// ways are the studies that there are.
var ways = map[string]func(*study, context.Context, []split) (*Part, error){
	"folds": (*study).foldsPart, "curve": (*study).curvePart, "ablate": (*study).ablatePart, "rank": (*study).rankPart,
	"grid": (*study).gridPart, "mix": (*study).mixPart, "confidence": (*study).confidencePart,
}

// Names returns the names of the studies.
func Names() []string { return slices.Sorted(maps.Keys(ways)) }

// study is one study in its folder.
type study struct {
	*console.Console
	*Options
	cfg      *option.Config
	options  option.Sources
	labels   string
	into     func(pipeline.Category) pipeline.Category
	corpus   *corpus
	arms     []*arm
	dir      string
	code     string // digest of the program
	progress *console.Progress
	done     map[string]bool // keys of trials
}

const (
	trialsFolder = "trials"
	resultName   = "study.json"
)

// Run runs one study and writes study.json. Results of other studies in the same folder are kept.
func Run(ctx context.Context, c *console.Console, options option.Sources, o *Options) error {
	if ways[o.Way] == nil {
		return exit.Misconfiguredf(exit.Suggest(o.Way, Names()), "no study %q", o.Way)
	}
	s := &study{Console: c, Options: o, options: options, dir: o.Out, code: codeDigest(c.Version), done: map[string]bool{}}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	own := func(name string) bool { return name == trialsFolder || name == files.LockName }
	return files.Held(s.dir, "velum teach study", own, func() error { return s.held(ctx) })
}

// prepare reads options and notes before anything is written.
func (s *study) prepare(ctx context.Context) (err error) {
	if s.cfg, err = option.Load(s.options); err != nil {
		return err
	}
	s.labels = cmp.Or(s.Labels, s.cfg.Profile)
	if s.into, err = flow.IntoLabels(s.labels); err != nil {
		return err
	}
	if len(s.Kinds) == 0 {
		return exit.Misconfiguredf("name some, as crf,bilstm", "--kinds is empty")
	}
	for _, text := range s.Kinds {
		a, err := s.parseArm(text)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.arms, func(b *arm) bool { return b.name == a.name }) {
			return exit.Misconfiguredf("give one of them another name, as two="+text, "--kinds: %s comes twice", a.name)
		}
		if len(s.Vary) == 0 { // else what is varied may be what it wants
			if err := s.trainable(a); err != nil {
				return err
			}
		}
		s.arms = append(s.arms, a)
	}
	s.corpus, err = readCorpus(ctx, s.cfg, s.Options)
	return err
}

// held does the study in its folder, which nobody else writes to.
func (s *study) held(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(s.dir, trialsFolder), 0o700); err != nil {
		return err
	}
	all, err := readParts(s.dir) // nobody else writes there, and what is damaged is told before hours of trials
	if err != nil {
		return err
	}
	splits, err := s.splits()
	if err != nil {
		return err
	}
	part, err := ways[s.Way](s, ctx, splits)
	s.progress.End()
	if err != nil {
		return err
	}
	s.describe(part, s.Way)
	all.Parts[s.Way] = part
	if err := all.write(s.dir); err != nil {
		return err
	}
	if s.Quiet && !s.JSON {
		return nil
	}
	return s.Tell(part, said)
}

// Study is the content of study.json: the results of all studies of a folder, by name. It holds counts and names of
// options and labels, and no text of a note.
type Study struct {
	Schema string           `json:"schema"`
	Parts  map[string]*Part `json:"studies"`
}

// Schema identifies the format of study.json.
const Schema = "velum.study/1"

// readParts reads what other studies of the folder found. What is there and cannot be read
// is an error: to write over it would lose them.
func readParts(dir string) (*Study, error) {
	path := filepath.Join(dir, resultName)
	s := new(Study)
	_, err := turns.Decode(path, Schema, s)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Integrity, fmt.Errorf("%s is damaged: %w", path, err),
			"move it away or name another folder; trials are kept beside it, so the studies that it held are soon made again by their commands")
	}
	if s.Schema = Schema; s.Parts == nil {
		s.Parts = map[string]*Part{}
	}
	return s, nil
}

func (s *Study) write(dir string) error {
	data, err := turns.Encode(s)
	if err != nil {
		return err
	}
	return durable.WriteFile(nil, filepath.Join(dir, resultName), data)
}

// said shows a study to people; of each category of a kind the ten heaviest features.
const said = `{{.notes}} notes, {{.groups}} groups by {{.by}}, {{.trials}} trials
{{define "4"}}{{figure "%.4f" .}}{{end -}}
{{define "ends"}}{{figure "%.4f" (index . 0)}}-{{figure "%.4f" (index . 1)}}{{end -}}
{{define "test"}}{{figure "%+.4f" .difference}} [{{figure "%+.4f" (index .ends 0)}}, {{figure "%+.4f" (index .ends 1)}}], by chance {{template "4" .alpha}}{{end -}}
{{$part := .}}{{$beta := ne (figure "%g" .beta) "1" -}}
{{if .points}}kind	{{if ne .varied "kind"}}{{.varied}}{{end}}	learned	P	R	F1	95 %	{{if $beta}}F{{.beta}}	{{end}}mean	sd	masked	95 %
{{end}}{{range .points -}}
{{.kind}}	{{with .at}}{{.}}{{end}}{{with .on}} {{.}}{{end}}	{{.learned}}	{{with .strict}}{{template "4" .precision}}	{{template "4" .recall}}	{{template "4" .f1}}	{{template "ends" .f1_ends}}	{{if $beta}}{{template "4" .f_beta}}	{{end}}{{end -}}
{{template "4" .mean}}	{{template "4" .sd}}	{{template "4" .masked_entities.recall}}	{{template "ends" .masked_entities.recall_ends -}}
{{if .taken}}	taken{{else if eq $part.study "confidence"}}	{{figure "%.3f" .share}} of notes{{end}}
{{end}}{{with .caution}}{{.}}
{{end}}{{range .pairs -}}
{{with .at}}{{.}}: {{end}}{{.a}} - {{.b}}: strict F1 {{template "test" .strict_f1}}, of all {{len $part.pairs}} pairs {{template "4" .strict_f1.holm -}}
; masking recall {{template "test" .masked_recall}}, {{template "4" .masked_recall.holm}}
{{end}}{{$last := ""}}{{$n := 0}}{{range .ranking -}}
{{$of := print .kind " " .category}}{{if ne $of $last}}{{$n = 0}}{{$last = $of}}{{end}}{{$n = next $n}}{{if le $n 10 -}}
{{.kind}}	{{.category}}	{{figure "%+8.3f" .adds}}	{{.feature}}	({{.tokens}} tokens)
{{end}}{{end}}`
