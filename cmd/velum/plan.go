package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/resolve"
	"github.com/velum-health/velum/stages/tag"
	"github.com/velum-health/velum/stages/tokenize"
	"github.com/velum-health/velum/stages/verify"
)

// A plan is the stages of the verbs, made from the configuration. Every verb
// is one row of stages between a source and a sink:
//
//	run        read.Archive ─> tokenize tag resolve mask verify choose ─> write.Unit
//	tag        read         ─> tokenize tag resolve                    ─> write
//	evaluate   read (gold)  ─> tokenize tag resolve                    ─> score
//	train      read (gold)  ─> tokenize                                ─> teach, then models/crf
//	learn      read.Slice   ─> tokenize tag (agree) (calibrate) choose  ─> candidates, then choose.Final, train, evaluate; again
//	embed      read         ─> tokenize                                ─> teach, then models/embed
//	convert    read         ─>                                         ─> write
//	synth      synth        ─>                                         ─> write
//
// The order of the functions below is the order of the stages; what each needs
// of the configuration stands in its own function.
type plan struct {
	*Config
	model   *model
	notes   tag.CacheStats
	workers int
}

// newPlan loads the model that the configuration names.
func newPlan(c *Config) (*plan, error) {
	m, err := loadModel(c)
	if err != nil {
		return nil, err
	}
	return &plan{Config: c, model: m, workers: workers(c)}, nil
}

// workers of each heavy stage: what the configuration says, else one a core
// that Go may use.
func workers(c *Config) int {
	if c.Run.Workers > 0 {
		return c.Run.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// runSteps is the row of `velum run`; found counts what resolve does.
func (p *plan) runSteps(found *resolve.Counts) ([]pipeline.Step, error) {
	steps, err := p.countedSteps(found)
	if err != nil {
		return nil, err
	}
	masked, err := p.masked()
	if err != nil {
		return nil, err
	}
	verified, err := p.verified()
	if err != nil {
		return nil, err
	}
	steps = append(steps, masked, verified)
	if p.Choose.Use {
		steps = append(steps, p.chosen())
	}
	return steps, nil
}

// tagSteps is the row of `velum tag` and `velum evaluate`.
func (p *plan) tagSteps() ([]pipeline.Step, error) { return p.countedSteps(nil) }

func (p *plan) countedSteps(found *resolve.Counts) ([]pipeline.Step, error) {
	resolved, err := p.resolved(found)
	if err != nil {
		return nil, err
	}
	return []pipeline.Step{tokenized(p.Config), p.tagged(), resolved}, nil
}

// teachPlan is the row of `velum train` and `velum embed`.
func teachPlan(c *Config) []pipeline.Step { return []pipeline.Step{tokenized(c)} }

// convertPlan is the row of `velum convert` and `velum synth`: CoNLL is the
// one format that needs tokens.
func convertPlan(to string) []pipeline.Step {
	if to == "conll" {
		return []pipeline.Step{tokenize.New(tokenize.Options{MaxBytes: 1 << 30, MaxTokens: 1 << 28, AllowControls: true})}
	}
	return nil
}

// givenPlan is the row of `velum evaluate --system`: the spans come from a
// file, by the note's id.
func givenPlan(g *given) []pipeline.Step {
	give := func(b *pipeline.Batch) error {
		for i := range b.Len() {
			id := string(b.ID.At(i))
			b.Spans.Append(g.spans[id]...)
			if g.quarantined[id] {
				b.Quarantine(i, pipeline.StrictFinding)
			}
		}
		return nil
	}
	return append(convertPlan("conll"), pipeline.Step{Name: "give", New: func() func(*pipeline.Batch) error { return give }})
}

func tokenized(c *Config) pipeline.Step {
	return tokenize.New(tokenize.Options{
		MaxBytes: int(c.Read.MaxNoteBytes), MaxTokens: c.Tokenize.MaxTokens,
		AllowControls: c.Tokenize.AllowControls, Workers: workers(c),
	})
}

func (p *plan) tagged() pipeline.Step {
	return tag.New(tag.Options{
		Workers: p.workers, TagSet: p.model.tagSet, NewLabeller: p.model.newLabeller,
		Patterns: finder(p.Config), CacheBytes: int(p.Tag.NoteCache), Cache: &p.notes, NoteTimeout: p.Run.NoteTimeout,
	})
}

// finder returns the patterns that the configuration wants; nil for none.
func finder(c *Config) tag.Finder {
	if !c.Patterns.Use {
		return nil
	}
	var wanted []pipeline.Category
	for _, name := range labelNames("pattern") {
		if category, err := pipeline.ParseCategory(name); err == nil && !slices.Contains(c.Patterns.Skip, name) {
			wanted = append(wanted, category)
		}
	}
	return patterns.New(patterns.Options{Categories: wanted})
}

func (p *plan) resolved(found *resolve.Counts) (pipeline.Step, error) {
	o, err := resolve.Defaults(p.model.labels)
	if err != nil {
		return pipeline.Step{}, err
	}
	lists, err := p.resolveLists()
	if err != nil {
		return pipeline.Step{}, err
	}
	o.Workers, o.Counts, o.Lexicons = p.workers, found, lexicons(lists)
	if err := p.resolveOptions(&o); err != nil {
		return pipeline.Step{}, exit(exitConfig, err, "")
	}
	return resolve.New(o)
}

func (p *plan) masked() (pipeline.Step, error) {
	names, err := p.operators()
	if err != nil {
		return pipeline.Step{}, err
	}
	policy := map[pipeline.Category]mask.Operator{}
	for c, name := range names {
		if policy[pipeline.Category(c)], err = mask.ParseOperator(name); err != nil {
			return pipeline.Step{}, fmt.Errorf("policy: %w", err)
		}
	}
	return mask.New(mask.Options{Policy: policy, Workers: p.workers}), nil
}

// verified does not look for what the policy leaves in the text.
func (p *plan) verified() (pipeline.Step, error) {
	names, err := p.operators()
	var kept []pipeline.Category
	for c, name := range names {
		if name == "keep" {
			kept = append(kept, pipeline.Category(c))
		}
	}
	return verify.New(verify.Options{Workers: p.workers, MinValue: p.Verify.MinLength, Kept: kept, NoteTimeout: p.Run.NoteTimeout}), err
}

func (p *plan) chosen() pipeline.Step {
	h := &p.Choose
	return choose.New(choose.Options{
		MinConfidence: h.MinConfidence, MinTokens: h.MinTokens, WithoutSpans: h.WithoutSpans > 0,
		ReviewBelow: h.ReviewBelow, Workers: p.workers,
	})
}
