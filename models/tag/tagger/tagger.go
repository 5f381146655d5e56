// Package tagger defines the interfaces of all taggers: the header of a model, tagging, training, and explanation.
//
//	in:  tokens and pattern matches of a note
//	out: one tag a token, and a confidence
//
// A kind of tagger is a package of its own (models/tag/crf, models/tag/dictionary) that implements [Model] and, if it
// learns from labelled notes, [Trainer]. It has one row in the table of kinds (cmd/velum/internal/flow/kinds.go); no
// other package knows the kinds. Abilities of some kinds only are interfaces with one more method, which the caller
// asserts: [Marginals], [Spanned], [Sized], [Summarized], [Templated], [Explainer].
package tagger

import (
	"errors"
	"io"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// A Model is a trained tagger. It is shared by its labellers and never changed.
type Model interface {
	// Header returns what the model says of itself.
	Header() Header
	// WithHeader returns the model with name, scores, recall dial, measured notes, risk and parent of h, all of which
	// are known only after training. Other fields of h are ignored.
	WithHeader(h Header) Model
	// TagSet returns what the model's tags mean.
	TagSet() *pipeline.TagSet
	// NewLabeller returns a labeller for one goroutine. Options that a kind does not support are ignored.
	NewLabeller(o LabelOptions) Labeller
	// Write writes the model file (models/number/modelfile), whose header is a JSON
	// object with the fields of Header, and more if the kind has more to say.
	// The same model gives the same bytes.
	Write(w io.Writer) error
	// MarshalHeader returns that header as indented JSON.
	MarshalHeader() ([]byte, error)
}

// A Labeller tags one note at a time. It has scratch space and must be used by one goroutine.
type Labeller interface {
	// Label writes one tag a token into tags and returns the confidence of the
	// note, in [0, 1]. In steady state it allocates nothing.
	Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32
}

// Marginals is a Labeller that computes the probability of each tag.
type Marginals interface {
	// Marginals appends P(tag|note) of every token and tag to dst: [tokens][tags].
	Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32
}

// Spanned is a Labeller that computes the probability of each span.
type Spanned interface {
	// SpanProbs returns, in their order, P(span|note) of the spans that the last
	// tags of Label write (pipeline.TagSet.Decode): the probability that just
	// there, with just these borders, is a span of this category. Spans of a
	// labeller without LabelOptions.SpanProbs, and of a kind that knows none,
	// have none, and the list is empty. It is good until the next call.
	SpanProbs() []float32
}

// Confidence selects how the confidence of a note is computed.
type Confidence uint8

// The kinds of confidence.
const (
	PathProbability Confidence = iota // Π over lines of P(y*|line) (BOOT); shrinks with length
	LineMinimum                       // min over lines of P(y*|line): the unit of confidence of reports
)

// Join combines the confidence of the lines so far with that of a further line: the product for path probabilities,
// otherwise the minimum.
func (c Confidence) Join(all, line float64) float64 {
	if c == PathProbability {
		return all * line
	}
	return min(all, line)
}

// LabelOptions holds the options of a labeller. The zero value works.
type LabelOptions struct {
	OBias      float32 // taken away from O's score: the recall dial
	Confidence Confidence
	SpanProbs  bool // the labeller is asked for them: see Spanned. Notes without spans cost no more.
	Shared     bool // several labellers of the model work at once: they may keep forms for each other
	CacheBytes int  // for what is kept by form; 0 means 64 MiB, which holds all but one form in a thousand of an archive's running text
}

// A Trainer trains a model: all tagged notes are added first, then Train is called once.
type Trainer interface {
	// Add stores what training needs of a tagged note.
	Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error
	// Work returns what Train repeats and how often: "iterations", 120. 0 means unknown.
	Work() (unit string, times int)
	// Train fits the model. An option that the kind does not support is an error such as ErrInit, if it would change
	// the result.
	Train(o TrainOptions) (Model, error)
}

// TrainOptions holds the options common to all kinds. Options of a single kind are passed when its trainer is made.
type TrainOptions struct {
	Workers int // cores; 0 means 1. The result does not depend on it.

	// Init is the model to start from, for fine-tuning; nil starts from scratch.
	Init Model
	// Progress, if set, is called after each unit of Work with a short status (no text of a note). It stops the
	// training by returning false.
	Progress func(said string) bool
	// About is kept in the model's header; the fields that training knows are
	// filled in.
	About Header
}

// ErrInit is returned if training cannot start from the given model, because it is of another kind or shape.
var ErrInit = errors.New("training cannot begin with that model")

// ErrLists is returned if a model was trained with other word lists than the present ones.
var ErrLists = errors.New("model needs word lists")

// Sized is a Model that counts its features and weights.
type Sized interface {
	Size() (features, weights int)
}

// Summarized is a Model that describes its composition in a line.
type Summarized interface {
	Summary() string
}

// Templated is a Model with a feature template.
type Templated interface {
	// Resources returns the slots and lists in which the model looks words up, for training another one like it.
	Resources() features.Resources
}

// An Explainer is a Model that can explain its tags.
type Explainer interface {
	// Describe lists the attributes of a note's tokens, by sequence and token.
	Describe(text []byte, tokens []pipeline.Token, matches []pipeline.Match) [][][]features.Attribute
	// Reasons returns what an attribute adds to the score of each tag, none if
	// the model does not know it.
	Reasons(a features.Attribute) []Reason
	// Why explains the probabilities of a note's tags; bias is subtracted from the score of O. It is slow, and meant
	// for single notes that a user asks about.
	Why(text []byte, tokens []pipeline.Token, matches []pipeline.Match, bias float32) Why
}

// A Reason is the contribution of one attribute to the score of one tag.
type Reason struct {
	Attribute string // as features.Describe writes it: "word[-1]=calle"
	Tag       pipeline.Tag
	Weight    float32 // weight times value
}

// Why explains the probabilities of the tags of one note.
type Why interface {
	// Odds splits log P(tag)/P(against) of token t into the contributions to it.
	Odds(t int, tag, against pipeline.Tag) Odds
}

// Odds is log P(tag)/P(against) of a token with its summands.
type Odds struct {
	Log      float64   `json:"log"`
	Dial     float64   `json:"dial"`   // the recall dial
	Before   float64   `json:"before"` // what the tokens on either side of it say, by the scores between tags
	After    float64   `json:"after"`
	Features []Weighed `json:"features"` // of the token, the loudest first
}

// Weighed is an attribute with its contribution to the odds.
type Weighed struct {
	Attribute string  `json:"name"`
	Weight    float64 `json:"weight"`
}

// Divided is a Labeller with several members, or with rules beside its probabilities.
type Divided interface {
	// Parts returns what each member says about a note, and what is subtracted from the logarithm of O's mean before
	// decoding.
	Parts(text []byte, tokens []pipeline.Token, matches []pipeline.Match) (parts []Part, bias float32)
}

// A Part is the output of one member for a note.
type Part struct {
	Model  Model
	Weight []float32 // that its probabilities have in the mean, by token: 0 where it was not asked; nil: it does not enter the mean
	Probs  []float32 // [tokens][tags] P(tag|note); nil: it was not asked, or has none
	Lists  []string  // the list that decides over each token; nil: there are none
}
