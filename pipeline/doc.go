// Package pipeline defines the types that all stages share (batches, spans, categories, tags), and runs the stages.
//
//	Parquet ─> read ─> tokenize ─> tag ─> resolve ─> mask ─> verify ─> choose ─> write ─> parts
//	            ▲                                                                  │
//	            └──────────────────────── empty batches ───────────────────────────┘
//
// A [Batch] holds some thousand notes as columns in Arrow layout: one buffer
// of bytes and one of offsets for every column of text, one flat array and
// offsets for everything that a note has several of. There is no Go string
// and no allocation per note. The fields of a Batch stand in the order in which
// the stages fill them, so the type is the drawing of the flow.
//
// Ownership: a Batch has one owner at a time; sending it on a channel transfers the ownership. A stage fills its own
// group of fields and changes no earlier ones.
//
// Back-pressure: [Run] makes a fixed number of batches, which are reused. So memory is bounded, and a slow stage slows
// the others down.
//
// Errors: a stage that cannot vouch for one note sets [Batch.Reason] for that
// note, and the note ends in quarantine; a stage returns an error only when
// the run cannot go on. No error holds text of a note: ids and offsets only.
//
// Words: one word a thing, one thing a word.
//
//	note         one row of the archive
//	batch        what goes round in memory: pipeline.Batch
//	step         one named stage as the pump runs it: pipeline.Step
//	flow         the steps of a verb, made from the configuration (cmd/velum/internal/flow)
//	unit         one input file's range of row groups, which is committed whole: commit.Unit
//	plan         all units of a run and what shapes their output: commit.Plan
//	part         a file that a unit, or the last step, writes: commit.Part
//	last step    what is done when all units are: commit.Final
//	manifest     the list of the parts of a tree; a run counts from the moment it is in place: commit.Manifest
//	tree         a folder of output: the public one, and the private one beside it: commit.Output
//	reason       why a note is in quarantine: pipeline.Reason; a tagger.Reason is another thing: what one feature adds to a tag
//	category     what a span is, as PERSON: pipeline.Category; its kind is pipeline.Kind
//	label set    the categories of one scheme of annotation or kind of model: pipeline.LabelSet
//	scheme       how spans are written as tags, BIO or BIOESU: pipeline.Scheme
//	tag          what a token is in a scheme: pipeline.Tag, of a pipeline.TagSet
//	match        what a pattern found: pipeline.Match
//	span         a place in a note with a category: pipeline.Span
//	mask         to replace the spans of a note; what replaces one is an operator
//	confidence   how sure a tagger is of a whole note, 0 to 1: tagger.Confidence has the kinds
//	score        how sure a pattern or rule is of one span; measures on gold notes are measures (score.Measure)
//	key          the secret: secret.Key; the name of an option is a key of the configuration
//	gate         what refuses: a model that loses recall, a run in which stages fail
//	tally        what is counted besides masked and quarantined notes, as spans and languages: tally.Counts
//	network      rules that people write, as states and arcs; a pack is a file of them: rules.Pack
//	kind         of tagger: a row of flow.Kinds
//	teacher      whose spans of the archive the next model learns: the whole pipeline, or the model alone
//	turn         one round of self-learning, and its folder
//	selection    the notes that a run or a turn takes for training: report.Selection
package pipeline
