// Package tagger is the door through which every kind of tagger comes in: what
// a model says of itself, how it tags, how it is made, and how it explains
// itself if it can.
//
//	in:  tokens and pattern matches of a note
//	out: one tag a token, and a confidence
//
// A kind is a package of its own (models/tag/crf, models/tag/dictionary) that fulfils
// [Model] and, if it learns from labelled notes, [Trainer], and one row in the
// table of kinds (cmd/velum/internal/flow/kinds.go). Nobody else knows kinds.
// What only some kinds can do is an interface of one method more, which the
// caller asks for: [Marginals], [Spanned], [Sized], [Summarized], [Templated], [Explainer].
package tagger

import (
	"errors"
	"io"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// A Model is a tagger that is ready to make labellers. It is shared by all of
// them and never written.
type Model interface {
	// Header returns what the model says of itself.
	Header() Header
	// WithHeader returns the model with name, scores, recall dial, measured notes, risk and parent
	// of h: what is known only after it was made. The rest of h is not looked at.
	WithHeader(h Header) Model
	// TagSet returns what the model's tags mean.
	TagSet() *pipeline.TagSet
	// NewLabeller returns a labeller for one goroutine. What a kind cannot do
	// with an option it leaves aside.
	NewLabeller(o LabelOptions) Labeller
	// Write writes the model file (models/number/modelfile), whose header is a JSON
	// object with the fields of Header, and more if the kind has more to say.
	// The same model gives the same bytes.
	Write(w io.Writer) error
	// MarshalHeader returns that header as indented JSON.
	MarshalHeader() ([]byte, error)
}

// A Labeller tags notes, one at a time. It owns scratch space and is used by
// one goroutine.
type Labeller interface {
	// Label writes one tag a token into tags and returns the confidence of the
	// note, in [0, 1]. In steady state it allocates nothing.
	Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32
}

// Marginals is a Labeller that says how probable each tag is.
type Marginals interface {
	// Marginals appends P(tag|note) of every token and tag to dst: [tokens][tags].
	Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32
}

// Spanned is a Labeller that says how probable each span is.
type Spanned interface {
	// SpanProbs returns, in their order, P(span|note) of the spans that the last
	// tags of Label write (pipeline.TagSet.Decode): the probability that just
	// there, with just these borders, is a span of this category. Spans of a
	// labeller without LabelOptions.SpanProbs, and of a kind that knows none,
	// have none, and the list is empty. It is good until the next call.
	SpanProbs() []float32
}

// Confidence is the kind of confidence that a note is given.
type Confidence uint8

// The kinds of confidence.
const (
	PathProbability Confidence = iota // Π over lines of P(y*|line) (BOOT); shrinks with length
	LineMinimum                       // min over lines of P(y*|line): the unit of confidence of reports
)

// Join returns the confidence of a note, so far all, with a further line: the
// product of path probabilities, else the lesser.
func (c Confidence) Join(all, line float64) float64 {
	if c == PathProbability {
		return all * line
	}
	return min(all, line)
}

// LabelOptions of a labeller. The zero value works.
type LabelOptions struct {
	OBias      float32 // taken away from O's score: the recall dial
	Confidence Confidence
	SpanProbs  bool // the labeller is asked for them: see Spanned. Notes without spans cost no more.
	Shared     bool // several labellers of the model work at once: they may keep forms for each other
	CacheBytes int  // for what is kept by form; 0 means 64 MiB, which holds all but one form in a thousand of an archive's running text
}

// A Trainer makes a model out of tagged notes: first all of them are added,
// then it is trained, once.
type Trainer interface {
	// Add keeps what is needed of a tagged note.
	Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error
	// Work says what Train does how often: "iterations", 120. 0 is not known.
	Work() (unit string, times int)
	// Train fits the model. What a kind cannot do with an option is an error,
	// as ErrInit, if the result would be another.
	Train(o TrainOptions) (Model, error)
}

// TrainOptions are those of every kind. What else a kind is told it is told
// when its trainer is made.
type TrainOptions struct {
	Workers int // cores; 0 means 1. The result does not depend on it.

	// Init is the model to begin with: fine-tuning. Nil begins anew.
	Init Model
	// Progress is called after each unit of Work, if it is set, with a few
	// words on how it goes (no text of a note); it stops the training by
	// returning false.
	Progress func(said string) bool
	// About is kept in the model's header; the fields that training knows are
	// filled in.
	About Header
}

// ErrInit says that a model cannot be begun with: it is of another kind, or of
// another shape.
var ErrInit = errors.New("training cannot begin with that model")

// ErrLists says that a model was trained with other lists of words than those
// that there are.
var ErrLists = errors.New("model needs word lists")

// Sized is a Model that counts what it has learned.
type Sized interface {
	Size() (features, weights int)
}

// Summarized is a Model that says in a line how it is made up.
type Summarized interface {
	Summary() string
}

// Templated is a Model with a feature template.
type Templated interface {
	// Resources returns the slots and lists that the model looks forms up in,
	// for training another like it.
	Resources() features.Resources
}

// An Explainer is a Model that can say why.
type Explainer interface {
	// Describe lists the attributes of a note's tokens, by sequence and token.
	Describe(text []byte, tokens []pipeline.Token, matches []pipeline.Match) [][][]features.Attribute
	// Reasons returns what an attribute adds to the score of each tag, none if
	// the model does not know it.
	Reasons(a features.Attribute) []Reason
	// Why takes the probabilities of a note's tags apart, with bias taken away from
	// O's score. It is slow: for a note that somebody asks about.
	Why(text []byte, tokens []pipeline.Token, matches []pipeline.Match, bias float32) Why
}

// A Reason is what one attribute adds to the score of one tag.
type Reason struct {
	Attribute string // as features.Describe writes it: "word[-1]=calle"
	Tag       pipeline.Tag
	Weight    float32 // weight times value
}

// Why says why the tags of a note are as probable as they are.
type Why interface {
	// Odds takes apart log P(tag)/P(against) of token t.
	Odds(t int, tag, against pipeline.Tag) Odds
}

// Odds is log P(tag)/P(against) of a token and what it is the sum of.
type Odds struct {
	Log      float64   `json:"log"`
	Dial     float64   `json:"dial"`   // the recall dial
	Before   float64   `json:"before"` // what the tokens on either side of it say, by the scores between tags
	After    float64   `json:"after"`
	Features []Weighed `json:"features"` // of the token, the loudest first
}

// Weighed is an attribute with the weight that it adds to the odds.
type Weighed struct {
	Attribute string  `json:"name"`
	Weight    float64 `json:"weight"`
}

// Divided is a Labeller that is made of several, or has rules that say more than
// probabilities.
type Divided interface {
	// Parts returns what each says of a note, and what is taken from the logarithm of
	// O's mean before it is decoded.
	Parts(text []byte, tokens []pipeline.Token, matches []pipeline.Match) (parts []Part, bias float32)
}

// A Part is what one of several taggers says of a note.
type Part struct {
	Model  Model
	Weight []float32 // that its probabilities have in the mean, by token: 0 where it was not asked; nil: it does not enter the mean
	Probs  []float32 // [tokens][tags] P(tag|note); nil: it was not asked, or has none
	Lists  []string  // the list that decides over each token; nil: there are none
}
