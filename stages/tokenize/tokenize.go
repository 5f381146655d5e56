// Package tokenize cuts texts into tokens with byte offsets. In: Text. Out:
// Tokens, Language, and a Reason for texts that cannot be notes.
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
	"github.com/velum-health/velum/models/language"
	"github.com/velum-health/velum/pipeline"
)

// Options of the stage. The zero value works.
type Options struct {
	// MaxBytes is the longest text in bytes; 0 means 1 MiB. The longest
	// hospital reports have about 200 kB; what is longer is an attachment.
	MaxBytes int
	// MaxTokens is the largest number of tokens; 0 means 65,536, for which
	// a tagger needs some ten megabytes of scratch space.
	MaxTokens int
	// AllowControls keeps texts with control characters other than tab and
	// line ends, which are quarantined otherwise. They count as white space.
	// NUL is never allowed.
	AllowControls bool
	Workers       int // 0 means 1
}

func (o Options) withDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 20
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 1 << 16
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

// do fills Tokens and Language of every note. A note that has a Reason, or is
// given one here, has no tokens.
func (o Options) do(b *pipeline.Batch) error {
	for i := range b.Len() {
		lang := pipeline.UnknownLanguage
		if b.Reason[i] == pipeline.Sound {
			lang = o.guarded(b, i)
		}
		b.Tokens.End()
		b.Language = append(b.Language, lang)
	}
	return nil
}

// guarded is note; a note on which it panics goes to quarantine.
func (o Options) guarded(b *pipeline.Batch, i int) (lang pipeline.Language) {
	before := len(b.Tokens.Items)
	if pipeline.Guard(func() { lang = o.note(b, i) }) {
		b.Quarantine(i, pipeline.Panicked)
		b.Tokens.Items = b.Tokens.Items[:before]
		return pipeline.UnknownLanguage
	}
	return lang
}

// note appends the tokens of note i to b.Tokens.Items and returns its
// language, or quarantines it and appends nothing.
func (o Options) note(b *pipeline.Batch, i int) pipeline.Language {
	text := b.Text.At(i)
	if len(text) > o.MaxBytes {
		b.Quarantine(i, pipeline.TooLong)
		return pipeline.UnknownLanguage
	}
	before := len(b.Tokens.Items)
	items, found := cut(b.Tokens.Items, text)
	switch tokens := items[before:]; {
	case found&badByte != 0:
		b.Quarantine(i, pipeline.BadEncoding)
	case found&nulByte != 0 || found&controlByte != 0 && !o.AllowControls:
		b.Quarantine(i, pipeline.ControlText)
	case len(tokens) > o.MaxTokens:
		b.Quarantine(i, pipeline.TooLong)
	default:
		b.Tokens.Items = items
		return language.Of(text, tokens)
	}
	b.Tokens.Items = items[:before]
	return pipeline.UnknownLanguage
}

// Tokenizer cuts single notes. The zero value is ready; it keeps nothing
// between notes.
type Tokenizer struct{}

// Tokens appends the tokens of text to dst. Any bytes are allowed: a byte
// that is no UTF-8 is a token of its own. Text must be shorter than 2 GiB.
func (*Tokenizer) Tokens(dst []pipeline.Token, text []byte) []pipeline.Token {
	dst, _ = cut(dst, text)
	return dst
}

func cut(dst []pipeline.Token, text []byte) ([]pipeline.Token, found) {
	s := scanner{text: text, dst: dst, first: len(dst)}
	s.scan()
	return s.dst, s.found
}
