// Package explain implements `velum model explain`: for each word of one note it says why the word is masked or is not.
// It takes a note and the configuration of a run, and prints the result of each stage, as text or as JSON.
//
//	the note ─> the row of a run, with a look at each step of resolve ─> steps, spans, words ─> causes
//
// The explanation quotes words of the note. It is written only where the user directs it.
package explain

import (
	"context"
	"fmt"
	"io"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/read/input"
)

// Options selects a note, and the words of it to explain.
type Options struct {
	Text         string // the note itself; "-" reads it
	In, From, ID string // notes, their format, and one of them
	Word         string // explain this word at all places
	At           int    // explain the word at this byte; negative: not set
}

// Explanation is the result for one note, in the form of --json. All positions are byte offsets in its text.
type Explanation struct {
	Kind     string   `json:"message_type"`
	ID       string   `json:"id,omitempty"`
	Model    string   `json:"model"`
	Language string   `json:"language,omitempty"`
	Status   string   `json:"status"`           // masked, or the reason why the note is quarantined
	Text     string   `json:"text"`             // the note as given
	Masked   string   `json:"masked,omitempty"` // the note as masked
	Conf     *float32 `json:"confidence,omitempty"`
	Steps    []Step   `json:"steps"` // steps of resolve that changed something, in order
	Spans    []Span   `json:"spans"` // what is masked in the end
	Words    []Word   `json:"words"`
}

// Span is a span of the note with its category, the stage that found it (source) and its score.
type Span struct {
	Start    int32   `json:"start"`
	End      int32   `json:"end"`
	Text     string  `json:"text"`
	Category string  `json:"category"`
	Source   string  `json:"source"`
	Score    float32 `json:"score"`
	Operator string  `json:"operator,omitempty"` // what the policy does with it
}

// Step holds the spans that one step of resolve added and removed.
type Step struct {
	Name    string `json:"name"`
	Added   []Span `json:"added,omitempty"`
	Removed []Span `json:"removed,omitempty"`
}

// Word is a token of the note, with the tag, the probabilities, the lists and the patterns that concern it.
type Word struct {
	Start    int32     `json:"start"`
	End      int32     `json:"end"`
	Text     string    `json:"text"`
	Masked   bool      `json:"masked"`
	Tag      string    `json:"tag"`                // what the tagger chose
	Rival    string    `json:"rival"`              // the likeliest tag beside it: O if another was chosen
	Says     *Says     `json:"says,omitempty"`     // probability of both by all taggers together; nil: the kind of model has none
	Members  []Member  `json:"members,omitempty"`  // the taggers whose mean that is
	Lists    []string  `json:"lists,omitempty"`    // kinds of lists that contain the word
	Patterns []Pattern `json:"patterns,omitempty"` // that match here
	Why      []Cause   `json:"why"`                // causes, the most certain first

	named bool // a list of names or places contains it
}

// Says holds the probabilities of the chosen tag and of the next most probable one.
type Says struct {
	Tag   float32 `json:"tag"`
	Rival float32 `json:"rival"`
}

// Member holds the probabilities that one tagger of an ensemble gives for a word.
type Member struct {
	Kind   string       `json:"kind"`
	Weight float32      `json:"weight"`         // in the mean; 0: it was not asked, or does not enter it
	Says   *Says        `json:"says,omitempty"` // nil: it was not asked about this word
	List   string       `json:"list,omitempty"` // of an inverse model: the list that decides
	Odds   *tagger.Odds `json:"odds,omitempty"`
}

// Pattern is a match of one of the patterns of models/form/patterns.
type Pattern struct {
	Category string  `json:"category"`
	Score    float32 `json:"score"`
	Checked  bool    `json:"checked"` // the check digit is right
	Off      bool    `json:"off"`     // the configuration leaves the pattern out
}

// Run explains one note and prints the explanation.
func Run(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	src, err := source(ctx, c, cfg, o)
	if err != nil {
		return err
	}
	x, err := open(cfg)
	if err != nil {
		return err
	}
	e, err := x.explain(ctx, src, o)
	if err != nil {
		return err
	}
	return e.print(c, o)
}

// open opens the models and lists of a configuration.
func open(cfg *option.Config) (*explaining, error) {
	own := *cfg
	own.Run.Workers, own.Read.Columns.Patient, own.Read.Columns.Date = 1, "", "" // one note, and no columns
	f, err := flow.New(&own)
	if err != nil {
		return nil, err
	}
	x := &explaining{Flow: f}
	if x.lists, err = flow.ResolveLists(&own); err != nil {
		return nil, err
	}
	resolving, err := f.Resolving()
	x.least = resolving.MinScore
	return x, err
}

// explain runs the stages on the note of a source.
func (e *explaining) explain(ctx context.Context, src pipeline.Source, o *Options) (*Explanation, error) {
	e.o, e.said, e.steps = o, nil, nil
	steps, err := e.ExplainSteps(e.trace)
	if err != nil {
		return nil, err
	}
	if err := flow.InputError(pipeline.Run(ctx, src, steps, e, nil)); err != nil {
		return nil, err
	}
	switch {
	case e.said == nil:
		err = exit.Misconfiguredf("ids are those of the file, or paths below the folder", "no note with the id %q", o.ID)
	case !e.asked:
		err = exit.Misconfiguredf("--word takes it as it stands in the note, --at a byte of its text", "there is no such word in the note")
	}
	return e.said, err
}

// source is a pipeline.Source of the note to explain.
func source(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) (pipeline.Source, error) {
	if (o.In == "") == (o.Text == "") || o.In != "" && o.ID == "" {
		return nil, exit.Misconfiguredf("write the note behind the command, pipe it in with -, or name it with --in and --id",
			"explain needs one note")
	}
	if o.In == "" {
		text := []byte(o.Text)
		if o.Text == "-" {
			if c.Asks() && !c.Quiet {
				fmt.Fprintln(c.Errs, "velum waits for a note; Ctrl-D behind it ends it")
			}
			var err error
			if text, err = io.ReadAll(io.LimitReader(paced.NewReader(ctx, c.In), int64(cfg.Read.MaxNoteBytes)+1)); err != nil {
				return nil, err
			}
		}
		return typed(text, cfg), nil
	}
	to, err := flow.TextOptions(cfg)
	if err != nil {
		return nil, err
	}
	to.SkipUnknown = true // gold spans do not count here
	src, err := flow.OpenNotes("from", o.From, o.In, to)
	return &one{from: src, id: o.ID}, err
}

// one is a source of a single note: a given text, or the note with an id in a file.
type one struct {
	text   []byte
	reason pipeline.Reason // for which its source sets it aside
	from   io.Closer
	id     string
	done   bool
}

// typed is a note given on the command line or on standard input.
func typed(text []byte, cfg *option.Config) *one {
	return &one{text: text, reason: input.Soundness(text, int(cfg.Read.MaxNoteBytes))}
}

// Next implements pipeline.Source.
func (o *one) Next(b *pipeline.Batch) error {
	if o.done {
		return io.EOF
	}
	o.done = true
	id := ""
	if o.from != nil {
		id = o.id
		if err := o.find(); err != nil {
			return err
		}
	}
	b.ID.Append([]byte(id))
	b.Text.Append(o.text)
	b.Gold.End()
	b.Reason = append(b.Reason, o.reason)
	return nil
}

// find reads until the note comes.
func (o *one) find() error {
	defer o.from.Close()
	var b pipeline.Batch
	for {
		b.Reset()
		if err := o.from.(pipeline.Source).Next(&b); err != nil {
			return err
		}
		for i := range b.Len() {
			if string(b.ID.At(i)) == o.id {
				o.text, o.reason = append(o.text, b.Text.At(i)...), b.Reason[i]
				return nil
			}
		}
	}
}

// explaining is the sink that reads the note after all stages.
type explaining struct {
	*flow.Flow
	lists *gazetteer.Gazetteer
	least map[string]float32 // score that a pattern's match needs
	o     *Options
	said  *Explanation
	asked bool // some word is the one that was asked about
	steps []traced
}

// traced holds the spans after one step of resolve.
type traced struct {
	name  string
	spans []pipeline.Span
}

func (e *explaining) trace(step string, spans []pipeline.Span) {
	e.steps = append(e.steps, traced{step, spans})
}

// Put implements pipeline.Sink.
func (e *explaining) Put(b *pipeline.Batch) error {
	const i = 0
	text := b.Text.At(i)
	said := &Explanation{Kind: "explanation", ID: string(b.ID.At(i)), Model: e.Model.Name, Language: b.Language[i].String(),
		Text: string(text), Status: "masked"}
	e.said = said
	if b.Reason[i] != pipeline.Sound {
		said.Status = b.Reason[i].String()
	} else {
		said.Masked = string(b.Masked.At(i))
	}
	if i < len(b.Conf) {
		conf := b.Conf[i] // the batch is filled again
		said.Conf = &conf
	}
	e.asked = e.o.Word == "" && e.o.At < 0 || b.Reason[i] != pipeline.Sound
	chains, err := e.Operators()
	if err != nil {
		return err
	}
	spans := b.Spans.At(i)
	for _, s := range spans {
		n := spanOf(text, s)
		n.Operator = chains[s.Category].String()
		said.Spans = append(said.Spans, n)
	}
	said.Steps = changes(text, e.steps)
	if b.TagSet != nil && len(b.TagsOf(i)) > 0 {
		e.words(b, i, chainsKeep(chains))
	}
	return nil
}
