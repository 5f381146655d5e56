// Package tokenize cuts texts into tokens with byte offsets. In: Text. Out:
// Tokens, Language, Words, View and ViewFrom, and a Reason for texts that cannot be
// notes. What is cut is the normalized view of a note (models/word/view); the tokens'
// offsets are those of the text.
//
// Clinical notes are glued (HVhebron, 12/03Dr.Pou, LopezNºCol), so a border
// too many is better than one too few: a name that starts inside a token can
// never be masked alone. NGRID table 1 says where letters and digits part,
// MEDDOCAN's gold says that every punctuation mark stands alone (an e-mail
// address or URL is never one token), Catalan says what an apostrophe and a
// middle dot do. The text is never altered; tokens and gaps give it back.
//
// Every character has a class, by a table of 256 entries for ASCII and one of
// 2,048 for all letters of two bytes; a token is a run of classes, cut in one
// pass. A generated automaton was not needed: words are capitals followed by
// small letters, numbers are digits, and everything else is one character.
package tokenize

import (
	"slices"

	"github.com/velum-health/velum/models/word/language"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/pipeline/limit"
)

// Options holds the options of the stage. The zero value works.
type Options struct {
	// MaxBytes is the longest text in bytes; 0 means 1 MiB. The longest
	// hospital reports have about 200 kB; what is longer is an attachment.
	MaxBytes int
	// MaxTokens is the largest number of tokens; 0 means MaxTokens, for
	// which a tagger needs some ten megabytes of scratch space.
	MaxTokens int
	// AllowControls accepts texts with control characters other than tab and line ends, or with characters that reverse
	// the direction of text; otherwise they are quarantined. Control characters count as white space. NUL is never
	// allowed.
	AllowControls bool
	Workers       int // 0 means 1

	Languages func(b *pipeline.Batch) // of NewCheck: fills Batch.Language; called by several workers
}

// MaxTokens is the default for the largest number of tokens in a note.
const MaxTokens = 1 << 16

func (o Options) withDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = limit.NoteBytes
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = MaxTokens
	}
	return o
}

// New returns the stage.
func New(o Options) pipeline.Step {
	o = o.withDefaults()
	return pipeline.Step{Name: "tokenize", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return o.do
	}}
}

// do fills Tokens, Language and Words of every note. A note that has a Reason, or is
// given one here, has no tokens.
func (o Options) do(b *pipeline.Batch) error {
	b.Tokens.Items = slices.Grow(b.Tokens.Items, len(b.Text.Data)/bytesAToken)
	for i := range b.Len() {
		lang, words := pipeline.UnknownLanguage, pipeline.Words{}
		if b.Reason[i] == pipeline.Sound {
			lang, words = o.guarded(b, i)
		}
		b.Tokens.End()
		b.View.End()
		b.ViewFrom.End()
		b.Language, b.Words = append(b.Language, lang), append(b.Words, words)
	}
	return nil
}

// bytesAToken is how much text has a token, in clinical notes: room is made for
// all tokens of a batch at once, or the first batches are copied five times as
// they grow.
const bytesAToken = 5

// guarded is note; a note on which it panics goes to quarantine.
func (o Options) guarded(b *pipeline.Batch, i int) (lang pipeline.Language, words pipeline.Words) {
	tokens, data, from := len(b.Tokens.Items), len(b.View.Data), len(b.ViewFrom.Items)
	if guard.Note(func() { lang, words = o.note(b, i) }) {
		b.Quarantine(i, pipeline.Panicked)
	}
	if b.Reason[i] != pipeline.Sound {
		b.Tokens.Items, b.View.Data, b.ViewFrom.Items = b.Tokens.Items[:tokens], b.View.Data[:data], b.ViewFrom.Items[:from]
		return pipeline.UnknownLanguage, pipeline.Words{}
	}
	return lang, words
}

// note appends the tokens of note i to b.Tokens.Items and returns its
// language, or quarantines it.
func (o Options) note(b *pipeline.Batch, i int) (lang pipeline.Language, words pipeline.Words) {
	text := b.Text.At(i)
	if len(text) > o.MaxBytes {
		b.Quarantine(i, pipeline.TooLong)
		return lang, words
	}
	seen, from := o.look(b, text)
	before := len(b.Tokens.Items)
	items, found := cut(b.Tokens.Items, seen)
	b.Tokens.Items = items
	switch tokens := items[before:]; {
	case found&badByte != 0:
		b.Quarantine(i, pipeline.BadEncoding)
	case found&nulByte != 0 || (found&controlByte != 0 || from != nil && view.Overridden(text)) && !o.AllowControls:
		b.Quarantine(i, pipeline.ControlText)
	case len(tokens) > o.MaxTokens:
		b.Quarantine(i, pipeline.TooLong)
	default:
		lang, words = language.Of(seen, tokens)
		b.Tokens.Items = items[:before+len(view.BackTokens(from, tokens))]
	}
	return lang, words
}

// look returns the note as it is looked at, and fills its view if it has one.
func (o Options) look(b *pipeline.Batch, text []byte) (seen []byte, from []int32) {
	if view.Plain(text) {
		return text, nil
	}
	data, items := len(b.View.Data), len(b.ViewFrom.Items)
	b.View.Data, b.ViewFrom.Items = view.Append(b.View.Data, b.ViewFrom.Items, text)
	return b.View.Data[data:], b.ViewFrom.Items[items:]
}

func cut(dst []pipeline.Token, text []byte) ([]pipeline.Token, found) {
	s := scanner{text: text, dst: dst, first: len(dst)}
	s.scan()
	return s.dst, s.found
}
