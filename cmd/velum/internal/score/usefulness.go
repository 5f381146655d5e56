package score

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/terms"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write"
)

// UsefulnessOptions holds the arguments of `velum prove usefulness`.
type UsefulnessOptions struct {
	Extract string // output of `velum run`, or notes with spans; "": what the model masks
	In      string // the notes as they were
	From    string
	Gold    bool // the notes have gold spans: what is masked outside of them is masked in vain
	Forms   int  // commonest forms that are shown
	Sample  int  // notes for an expert
	Out     string
	Seed    uint64
}

// Report measures what masking costs the reader: clinical terms kept or lost, and harmless words masked.
type Report struct {
	Notes int64   `json:"notes"`
	Kinds []Kept  `json:"kinds"`
	All   int64   `json:"notes_keep_all"`     // of the notes that have a term
	Some  int64   `json:"notes_keep_some"`    //
	None  int64   `json:"notes_keep_nothing"` //
	Words int64   `json:"words"`              // tokens with a letter or a digit
	Hid   int64   `json:"words_masked"`
	Vain  int64   `json:"words_in_vain"` // outside gold; without gold, in a safe list
	Lists []Count `json:"in_vain_by_list"`
	By    []Count `json:"in_vain_by_category"`
	Forms []Count `json:"in_vain_by_form"` // those of safe lists alone
}

// Kept counts the terms of one kind in the notes, and how many of them were not masked at all.
type Kept struct {
	Kind  string  `json:"kind"`
	Terms int64   `json:"terms"`
	Kept  int64   `json:"kept"`
	Share float64 `json:"share"`
}

// Count is how many harmless words of one list, category or form were masked.
type Count struct {
	Name  string `json:"name"`
	Words int64  `json:"words"`
}

// Usefulness measures and prints what masking costs the reader (INV §5.2.4): which doses, drugs, values, symptoms,
// diagnoses, parts of the body and procedures remain readable, how many notes keep all, some or none of these, and
// which harmless words were masked.
func Usefulness(ctx context.Context, c *console.Console, cfg *option.Config, o *UsefulnessOptions) error {
	steps, err := o.steps(cfg)
	if err != nil {
		return err
	}
	m := newMeasure(o)
	notes := flow.Labelled{Paths: []string{o.In}, Format: o.From, Config: cfg}
	progress := c.NewProgress("usefulness", "notes", 0)
	defer progress.End()
	if err := notes.Run(ctx, steps, flow.Watched{Sink: m, Progress: progress}); err != nil {
		return err
	}
	if m.Notes == 0 {
		return exit.Errorf(exit.Nothing, "look at --in and --from", "%s: no notes", o.In)
	}
	if o.Sample > 0 {
		if err := m.writeSample(o); err != nil {
			return err
		}
	}
	m.finish()
	return c.Tell(m.Report, usefulnessText)
}

// steps returns the stages that supply the spans: those of an output or of the model.
func (o *UsefulnessOptions) steps(cfg *option.Config) ([]pipeline.Step, error) {
	if o.Extract == "" {
		f, err := flow.New(cfg)
		if err != nil {
			return nil, err
		}
		return f.TagSteps()
	}
	given, err := (&flow.Labelled{Flag: "extract", Paths: []string{o.Extract}, Config: cfg}).Given()
	if err != nil {
		return nil, err
	}
	return flow.GivenSteps(given), nil
}

// measure is the sink that counts terms and harmless masked words.
type measure struct {
	Report
	o      *UsefulnessOptions
	finder terms.Finder
	vain   *inverse.Vain
	found  []terms.Term
	all    [16]Kept // by kind of term
	random *rand.Rand
	sample []drawn
}

// drawn is a note of the sample.
type drawn struct {
	id, text string
	spans    []pipeline.Span
}

func newMeasure(o *UsefulnessOptions) *measure {
	return &measure{
		o: o, finder: terms.Finder{Lists: gazetteer.Default()}, vain: inverse.NewVain(gazetteer.Default(), gazetteer.Names()),
		random: rand.New(rand.NewPCG(o.Seed, 0)),
	}
}

// Put implements pipeline.Sink.
func (m *measure) Put(b *pipeline.Batch) error {
	for i := range b.Sound() {
		m.Notes++
		text, tokens, spans := b.Text.At(i), b.Tokens.At(i), b.Spans.At(i)
		m.terms(text, tokens, spans)
		m.vain.Add(text, tokens, spans, m.marked(b, i))
		m.draw(b, i)
	}
	return nil
}

// marked returns the gold spans of note i; nil without --gold.
func (m *measure) marked(b *pipeline.Batch, i int) []pipeline.Span {
	gold := []pipeline.Span{}
	if !m.o.Gold {
		return nil
	}
	if b.Gold.Len() == b.Len() {
		gold = append(gold, b.Gold.At(i)...)
	}
	return gold
}

// terms counts the terms of a note, and those that are not masked at all.
func (m *measure) terms(text []byte, tokens []pipeline.Token, spans []pipeline.Span) {
	m.found = m.finder.Find(m.found[:0], text, tokens)
	kept, next := 0, 0
	for _, t := range m.found {
		start, end := tokens[t.First].Start, tokens[t.Last-1].End
		for next < len(spans) && spans[next].End <= start {
			next++
		}
		m.all[t.Kind].Terms++
		if next == len(spans) || spans[next].Start >= end {
			m.all[t.Kind].Kept++
			kept++
		}
	}
	switch {
	case len(m.found) == 0:
	case kept == len(m.found):
		m.All++
	case kept > 0:
		m.Some++
	default:
		m.None++
	}
}

// draw keeps the note with the probability that makes all notes equally likely
// (Vitter's algorithm R).
func (m *measure) draw(b *pipeline.Batch, i int) {
	if m.o.Sample == 0 {
		return
	}
	at := int64(len(m.sample))
	if at == int64(m.o.Sample) {
		if at = m.random.Int64N(m.Notes); at >= int64(m.o.Sample) {
			return
		}
	} else {
		m.sample = append(m.sample, drawn{})
	}
	m.sample[at] = drawn{string(b.ID.At(i)), string(b.Text.At(i)), slices.Clone(b.Spans.At(i))}
}

// writeSample writes the notes of the sample with their spans, for `velum
// review --ask usefulness`.
func (m *measure) writeSample(o *UsefulnessOptions) error {
	dst, err := flow.CreateNotes("out", "", o.Out, write.TextOptions{})
	if err != nil {
		return err
	}
	b := new(pipeline.Batch)
	for _, n := range m.sample {
		b.ID.Append([]byte(n.id))
		b.Text.Append([]byte(n.text))
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Spans.Append(n.spans...)
	}
	if err := dst.Put(b); err != nil {
		return err
	}
	return dst.Close()
}

// counts are those that are not 0, the largest first.
func counts(n int, name func(int) string, of func(int) int64) (all []Count) {
	for i := range n {
		if words := of(i); words > 0 {
			all = append(all, Count{name(i), words})
		}
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(a.Name, b.Name)) })
	return all
}

func (m *measure) finish() {
	for k := 1; k < terms.Kinds(); k++ {
		kept := m.all[k]
		kept.Kind = terms.Kind(k).String()
		if kept.Terms > 0 {
			kept.Share = float64(kept.Kept) / float64(kept.Terms)
		}
		m.Kinds = append(m.Kinds, kept)
	}
	v := m.vain
	m.Words, m.Hid, m.Vain = v.Words, v.Masked, v.All
	m.Lists = counts(len(v.ByList), func(l int) string { return inverse.List(l).String() }, func(l int) int64 { return v.ByList[l] })
	m.By = counts(pipeline.Categories(), func(c int) string { return pipeline.Category(c).String() },
		func(c int) int64 { return v.ByCategory[pipeline.Category(c)] })
	for _, f := range v.Forms(m.o.Forms) {
		m.Forms = append(m.Forms, Count{f.Form, f.Words})
	}
}

const usefulnessText = `{{.notes}} notes: {{.notes_keep_all}} keep all terms, {{.notes_keep_some}} some, {{.notes_keep_nothing}} nothing

{{printf "%-10s %8s %8s %7s" "kind" "terms" "kept" "share"}}
{{range .kinds}}{{printf "%-10s %8d %8d" .kind .terms .kept}} {{figure "%7.4f" .share}}
{{end}}
{{.words_masked}} of {{.words}} words are masked, {{.words_in_vain}} of them in vain
{{range .in_vain_by_list}}{{printf "  list      %-28s %8d" .name .words}}
{{end}}{{range .in_vain_by_category}}{{printf "  category  %-28s %8d" .name .words}}
{{end}}{{range .in_vain_by_form}}{{printf "  form      %-28s %8d" .name .words}}
{{end}}`
