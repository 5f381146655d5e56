// Package flow builds the stages of each verb from the configuration. This file, to be read first, has their order; the
// others open the model, the lists, the rules and the labelled notes that the stages need.
package flow

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/release/rarity"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/calendar"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/rare"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/resolve"
	"github.com/velum-health/velum/stages/restore"
	"github.com/velum-health/velum/stages/tag"
	"github.com/velum-health/velum/stages/teach"
	"github.com/velum-health/velum/stages/tokenize"
	"github.com/velum-health/velum/stages/verify"
)

// A Flow is the stages of the verbs, made from the configuration. Every verb
// is one row of stages between a source and a sink:
//
//	run        read.Archive ─> vet (apart) tokenize tag (recognize) resolve (calendar rare) mask verify (restore) teacher choose ─> unit.Unit
//	explain    one note     ─> (apart) tokenize tag (recognize) resolve (calendar rare) mask verify ─> explain
//	mask - -   stream       ─> vet (apart) tokenize tag (recognize) resolve (calendar rare) mask verify (restore) ─> stream (tag - - the same)
//	mask       read.Archive ─> vet (apart) tokenize (recognize) give (calendar rare) mask verify (restore) ─> unit.Unit (spans of an earlier run)
//	           read.Archive ─> (apart) tokenize (recognize) give        ─> mask.Collector (before it, if values are shuffled)
//	tag        read         ─> tokenize tag resolve                    ─> write
//	evaluate   read (gold)  ─> tokenize tag resolve                    ─> score
//	train      read (gold)  ─> tokenize                                ─> teach, then models/tag/crf
//	learn      read.Slice   ─> tokenize tag (agree) (recognize) resolve teacher (calibrate) choose ─> candidates, then choose.Final, train, evaluate; again
//	embed      read         ─> tokenize                                ─> teach, then models/word/embed
//	convert    read         ─>                                         ─> write
//	synth      synth        ─>                                         ─> write
//
// The order of the functions below is the order of the stages; what each needs
// of the configuration stands in its own function.
type Flow struct {
	*option.Config
	Model  *Model
	People *People // who is known and who objects; nil: nobody

	Range *mask.Range // of the archive, whose edges the policy trims; nil: nothing is trimmed

	Documents bool // the notes stand in documents, which are restored
}

// New opens the model that the configuration names and returns its Flow.
func New(c *option.Config) (*Flow, error) {
	m, err := loadModel(c)
	if err != nil {
		return nil, err
	}
	return With(c, m), nil
}

// With returns the Flow of a model that is already open.
func With(c *option.Config, m *Model) *Flow { return &Flow{Config: c, Model: m} }

// labels returns the label set of the spans: that of the model or, if the model has no categories, that of the profile,
// since patterns and rules give categories.
func (f *Flow) labels() string {
	if f.Model.Labels == untyped && f.Profile != configs.OMOPProfile {
		return f.Profile
	} else if f.Model.Labels == untyped {
		return configs.DefaultProfile
	}
	return f.Model.Labels
}

// Found holds the counters that the stages of a unit fill.
type Found struct {
	Resolve resolve.Counts
	Mask    mask.Counts

	Calendar calendar.Counts
}

// RunSteps returns the stages of `velum run`; kept are the columns of the archive that are written with the notes.
func (f *Flow) RunSteps(kept []pipeline.Column, found *Found) ([]pipeline.Step, error) {
	steps, err := f.countedSteps(&found.Resolve, nil)
	if err != nil {
		return nil, err
	}
	masked, err1 := f.foundSteps(kept, found, true)
	apart, err2 := f.Apart()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	steps = slices.Concat(f.vetted(), apart, steps, masked)
	if f.Choose.Use {
		steps = append(steps, teach.NewTeacher(teach.TeacherOptions{TagSet: f.Model.TaughtSet(), Workers: f.Workers()}), f.chosen())
	}
	return steps, nil
}

// StreamSteps returns the stages of `velum mask - -` and `velum model tag - -`: those of run without the selection set
// and the curators' list. kept are the columns that are passed through. The ids are vetted if masked notes are written.
func (f *Flow) StreamSteps(kept []pipeline.Column, vetted bool) ([]pipeline.Step, error) {
	steps, err := f.maskedSteps(kept, nil)
	if err != nil || !vetted {
		return steps, err
	}
	apart, err := f.Apart()
	return slices.Concat(f.vetted(), apart, steps), err
}

// ExplainSteps returns the stages of `velum model explain`: those of a stream, with trace called after each step of
// resolve.
func (f *Flow) ExplainSteps(trace resolve.Trace) ([]pipeline.Step, error) {
	steps, err := f.maskedSteps(nil, trace)
	if err != nil {
		return nil, err
	}
	apart, err := f.Apart()
	return append(apart, steps...), err
}

func (f *Flow) maskedSteps(kept []pipeline.Column, trace resolve.Trace) ([]pipeline.Step, error) {
	found := new(Found)
	steps, err := f.countedSteps(&found.Resolve, trace)
	if err != nil {
		return nil, err
	}
	masked, err := f.foundSteps(kept, found, false)
	return append(steps, masked...), err
}

// TagSteps returns the stages of `velum model tag` and `velum prove evaluate`.
func (f *Flow) TagSteps() ([]pipeline.Step, error) { return f.countedSteps(nil, nil) }

func (f *Flow) countedSteps(found *resolve.Counts, trace resolve.Trace) ([]pipeline.Step, error) {
	resolved, err := f.resolved(found, trace)
	if err != nil {
		return nil, err
	}
	recognized, err := f.recognized(true)
	return slices.Concat([]pipeline.Step{Tokenized(f.Config), f.Tagged()}, recognized, []pipeline.Step{resolved}), err
}

// Taught returns the steps that turn the spans of the whole pipeline into training tags: resolve decides the spans, and
// each becomes tags of set with a confidence of its own. to maps the categories into set.
func (f *Flow) Taught(set *pipeline.TagSet, to func(pipeline.Category) pipeline.Category) ([]pipeline.Step, error) {
	resolved, err := f.resolved(nil, nil)
	if err != nil {
		return nil, err
	}
	o := teach.TeacherOptions{TagSet: set, Map: to, Workers: f.Workers()}
	if _, says := f.Model.NewLabeller().(tagger.Marginals); says {
		o.NewLabeller = func() tagger.Marginals { return f.Model.NewLabeller().(tagger.Marginals) }
	}
	recognized, err := f.recognized(f.Documents)
	return append(recognized, resolved, teach.NewTeacher(o)), err
}

// TeachSteps returns the stages of `velum teach train` and `velum teach embed`.
func TeachSteps(c *option.Config) []pipeline.Step { return []pipeline.Step{Tokenized(c)} }

// GivenSteps returns the stages of `velum prove evaluate --system`, which take the spans of a note from g by the note's
// id.
func GivenSteps(g *files.Tree) []pipeline.Step {
	give := func(b *pipeline.Batch) error {
		for i := range b.Len() {
			id := b.ID.At(i)
			b.Spans.Append(g.Spans[string(id)]...)
			if g.Quarantined[string(id)] {
				b.Quarantine(i, pipeline.StrictFinding)
			}
		}
		return nil
	}
	whole := tokenize.New(tokenize.Options{MaxBytes: 1 << 30, MaxTokens: 1 << 28, AllowControls: true})
	return []pipeline.Step{whole, {Name: "give", New: func() func(*pipeline.Batch) error { return give }}}
}

// Tokenized returns the tokenizer step, the first step of every verb except convert and synth.
func Tokenized(c *option.Config) pipeline.Step {
	return tokenize.New(tokenizeOptions(c))
}

func tokenizeOptions(c *option.Config) tokenize.Options {
	o := tokenize.Options{MaxBytes: int(c.Read.MaxNoteBytes), AllowControls: c.Lenient, Workers: c.Workers()}
	if c.Lenient {
		o.MaxTokens = 1 << 24
	}
	return o
}

// Tagged returns the step that runs the patterns and the tagger.
func (f *Flow) Tagged() pipeline.Step {
	return tag.New(tag.Options{
		Workers: f.Workers(), TagSet: f.Model.TagSet(), NewLabeller: f.Model.NewLabeller,
		Patterns: Finder(f.Config), NoteTimeout: f.Run.NoteTimeout,
	})
}

// Finder returns the patterns that the configuration wants; nil if it turns them off.
func Finder(c *option.Config) tag.Finder {
	if !c.Patterns.Use {
		return nil
	}
	var wanted []pipeline.Category
	for _, name := range option.LabelNames("pattern") {
		if category, err := pipeline.ParseCategory(name); err == nil {
			wanted = append(wanted, category)
		}
	}
	return patterns.New(patterns.Options{Categories: wanted})
}

func (f *Flow) resolved(found *resolve.Counts, trace resolve.Trace) (pipeline.Step, error) {
	o, err := f.Resolving()
	if err != nil {
		return pipeline.Step{}, err
	}
	o.Counts, o.Trace = found, trace
	return resolve.New(o)
}

// Resolving returns the options of stages/resolve from the configuration.
func (f *Flow) Resolving() (resolve.Options, error) {
	words, err := files.Words(f.Resolve.Words...)
	if err != nil {
		return resolve.Options{}, fmt.Errorf("resolve.words: %w", err)
	}
	o, err := resolve.Defaults(f.labels(), words)
	if err != nil {
		return o, err
	}
	lists, err := ResolveLists(f.Config)
	if err != nil {
		return o, err
	}
	if err := ownPatterns(f.labels(), &o); err != nil {
		return o, err
	}
	o.Workers, o.Lexicons = f.Workers(), files.LexiconsOf(lists)
	if err := f.resolveOptions(&o); err != nil {
		return o, exit.Misconfigured(err, "")
	}
	return o, nil
}

// ownPatterns maps the categories of patterns into the institution's own label set. A category without a counterpart is
// kept, because its spans must still be masked.
func ownPatterns(labels string, o *resolve.Options) error {
	if !slices.Contains(configs.OwnSchemes(), labels) {
		return nil
	}
	to, err := configs.CategoryMap("pattern", labels)
	if err != nil {
		return err
	}
	for _, name := range option.LabelNames("pattern") {
		o.Categories[name] = name
		if c, err := pipeline.ParseCategory(name); err == nil && to[c] != pipeline.None {
			o.Categories[name] = to[c].String()
		}
	}
	return nil
}

// ErrShuffled is returned when a policy shuffles values in a verb that writes notes before it has seen all values.
var ErrShuffled = exit.Misconfiguredf("tag first, then make an extract with velum mask --tagged",
	"the policy shuffles values, which have to be known before the first note is written")

// GivenSpans returns the first steps of `velum mask`, which read the spans of an earlier run from given, loaded for the
// current unit. Fields of documents come from that run, too: if a document were taken apart differently now, restore
// could not find them.
func (f *Flow) GivenSpans(given *files.TaggedUnit, found *calendar.Counts) ([]pipeline.Step, error) {
	give := pipeline.Step{Name: "give", New: func() func(*pipeline.Batch) error { return given.Give }}
	recognized, err := f.recognized(false)
	if err != nil {
		return nil, err
	}
	apart, err := f.Apart()
	if err != nil {
		return nil, err
	}
	calendar, err := f.looked(found, true)
	if len(recognized)+len(calendar) == 0 { // nobody looks at tokens, and languages are known
		o := tokenizeOptions(f.Config)
		o.Languages = given.Languages
		return append(apart, tokenize.NewCheck(o), give), nil
	}
	return slices.Concat(apart, []pipeline.Step{Tokenized(f.Config)}, recognized, []pipeline.Step{give}, calendar), err
}

// looked returns the steps that find identifying words which are no identifiers (calendar, rare). Unless listed, facts
// that would only be listed for people are not searched.
func (f *Flow) looked(counts *calendar.Counts, listed bool) ([]pipeline.Step, error) {
	steps, err := f.calendar(counts)
	if err != nil || f.Mask.Rare == rare.Off || f.Mask.Rare == rare.Review && !listed {
		return steps, err
	}
	lists, err := ResolveLists(f.Config)
	if err != nil {
		return nil, err
	}
	packs, err := files.Packs("mask.rare_rules", f.Mask.RareRules, lists)
	return append(steps, rare.New(rare.Options{Packs: packs, Do: f.Mask.Rare, Alone: rarity.Alone(f.Anonymity.K), Workers: f.Workers()})), err
}

// calendar returns the step that finds words which identify a date; none if the policy does not shift dates.
func (f *Flow) calendar(counts *calendar.Counts) ([]pipeline.Step, error) {
	chains, err := f.Operators()
	if err != nil || len(f.Mask.Calendar) == 0 {
		return nil, err
	}
	o := calendar.Options{Counts: counts, Workers: f.Workers()}
	for _, name := range option.LabelNames(f.labels()) { // the label set's own date goes before those of others
		if c, err := pipeline.ParseCategory(name); err == nil && chains[c].Moves() != "" {
			o.Date = c
			break
		}
	}
	if o.Date == pipeline.None {
		o.Date = pipeline.Category(max(slices.IndexFunc(chains, func(c *mask.Chain) bool { return c.Moves() != "" }), 0))
	}
	if o.Date == pipeline.None {
		return nil, nil
	}
	o.Weekdays = chains[o.Date].MovesWeekdays()
	lists, err := ResolveLists(f.Config)
	if err == nil {
		o.Packs, err = files.Packs("mask.calendar", f.Mask.Calendar, lists)
	}
	return []pipeline.Step{calendar.New(o)}, err
}

// TaggedSteps returns the stages of `velum mask`. dealt holds the values that an earlier pass has shuffled; nil if the
// policy does not shuffle.
func (f *Flow) TaggedSteps(given *files.TaggedUnit, dealt mask.Dealt, kept []pipeline.Column, found *Found) ([]pipeline.Step, error) {
	masked, err := f.maskSteps(kept, found, dealt)
	if err != nil {
		return nil, err
	}
	steps, err := f.GivenSpans(given, &found.Calendar)
	return slices.Concat(f.vetted(), steps, masked), err
}

// foundSteps returns the steps from tags to the masked text.
func (f *Flow) foundSteps(kept []pipeline.Column, found *Found, listed bool) ([]pipeline.Step, error) {
	calendar, err := f.looked(&found.Calendar, listed)
	if err != nil {
		return nil, err
	}
	masked, err := f.maskSteps(kept, found, nil)
	return append(calendar, masked...), err
}

// maskSteps returns the steps from spans to the masked text.
func (f *Flow) maskSteps(kept []pipeline.Column, found *Found, dealt mask.Dealt) ([]pipeline.Step, error) {
	o, err := f.MaskOptions()
	if err != nil {
		return nil, err
	}
	o.Counts, o.Dealt = &found.Mask, dealt
	if o.Times, err = f.times(kept); err != nil {
		return nil, err
	}
	if dealt == nil && len(o.Shuffled()) > 0 {
		return nil, ErrShuffled
	}
	masked, err := mask.New(*o)
	if errors.Is(err, mask.ErrNoKey) {
		err = exit.With(exit.Key, err, "name its file with key.file")
	}
	if err != nil {
		return nil, err
	}
	verified, err := f.verified(o.Shuffled())
	restored, err2 := f.restored()
	return append([]pipeline.Step{masked, verified}, restored...), errors.Join(err, err2)
}

// restored returns the step that writes masked text back into documents.
func (f *Flow) restored() ([]pipeline.Step, error) {
	o, err := f.restoring()
	if f.Documents {
		o.Source, o.Column = input.SourceColumn, input.DocumentColumn
	}
	return []pipeline.Step{restore.New(o)}, err
}

// Apart returns the step that takes apart documents which are cells of a table (see stages/restore). It returns no step
// if the reader has done so.
func (f *Flow) Apart() ([]pipeline.Step, error) {
	if f.Documents {
		return nil, nil // the reader has done so
	}
	o, err := f.restoring()
	return []pipeline.Step{restore.Apart(o)}, err
}

func (f *Flow) restoring() (restore.Options, error) {
	o, err := documentOptions(f.Config)
	return restore.Options{Document: o, Workers: f.Workers()}, err
}

// documentOptions returns how documents are taken apart: if the policy replaces dates by anything but a placeholder,
// dates of events in fields are changed, too.
func documentOptions(c *option.Config) (o document.Options, err error) {
	chains, err := c.Operators()
	for i, chain := range chains {
		if pipeline.Category(i).Kind() == pipeline.DateKind && chain.String() != mask.PlaceholderName {
			o.Dates = true
		}
	}
	return o, err
}

// MaskOptions returns the options of stages/mask from the policy, without those that depend on the archive.
func (f *Flow) MaskOptions() (*mask.Options, error) {
	chains, err := f.Operators()
	if err != nil {
		return nil, err
	}
	o := &mask.Options{
		Policy: map[pipeline.Category]*mask.Chain{}, Workers: f.Workers(), Purpose: f.Mask.Purpose,
		PatientColumn: usedAs(f.Read.Columns.Patient, input.PatientColumn), DateColumn: usedAs(f.Read.Columns.Date, input.DateColumn),
		Range: f.Range,
	}
	for c, chain := range chains {
		o.Policy[pipeline.Category(c)] = chain
	}
	if f.Anonymity.K > 0 {
		for _, name := range slices.Sorted(maps.Keys(f.Anonymity.Text)) {
			c, err := pipeline.ParseCategory(name)
			if err != nil {
				return nil, err
			}
			o.Lift = append(o.Lift, c)
		}
	}
	if o.Names, err = f.names(); err == nil && f.Key.File != "" {
		o.Key, err = secret.Load(f.Key.File)
	}
	return o, err
}

// usedAs returns the name of a column in a batch, if the configuration names it.
func usedAs(column, name string) string {
	if column == "" {
		return ""
	}
	return name
}

// times returns the date columns in read.keep, if the policy shifts dates.
func (f *Flow) times(kept []pipeline.Column) (times []mask.TimeColumn, err error) {
	if moved, err := f.Dates(); moved == "" {
		return nil, err
	}
	for _, c := range kept {
		day, isTime := parquet.TimeOf(c)
		if isTime && day == 0 || c.Name == f.Read.Columns.Date && !isTime {
			return nil,
				exit.Misconfiguredf("leave it out of read.keep", "column %s holds dates in a form that cannot be moved with those of the notes", c.Name)
		}
		if isTime {
			times = append(times, mask.TimeColumn{Name: c.Name, Day: day})
		}
	}
	return times, nil
}

// verified returns the step verify, which ignores the categories that the policy leaves readable.
func (f *Flow) verified(shuffled []pipeline.Category) (pipeline.Step, error) {
	chains, err := f.Operators()
	var kept []pipeline.Category
	for c, chain := range chains {
		if chain.Keeps() {
			kept = append(kept, pipeline.Category(c))
		}
	}
	return verify.New(verify.Options{Workers: f.Workers(), Kept: kept, Shuffled: shuffled, NoteTimeout: f.Run.NoteTimeout}), err
}

func (f *Flow) chosen() pipeline.Step {
	h := &f.Choose
	return choose.New(choose.Options{
		MinConfidence: h.MinConfidence, ReviewBelow: choose.ReviewBelow, Workers: f.Workers(),
	})
}
