package tokenize

import (
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
)

// Tokenizer cuts single notes. The zero value is ready; it keeps nothing
// between notes but memory.
type Tokenizer struct {
	seen []byte
	from []int32
}

// Tokens appends the tokens of text to dst. Any bytes are allowed: a byte
// that is no UTF-8 is a token of its own. Text must be shorter than 2 GiB.
func (t *Tokenizer) Tokens(dst []pipeline.Token, text []byte) []pipeline.Token {
	first := len(dst)
	if view.Plain(text) {
		dst, _ = cut(dst, text)
		return dst
	}
	t.seen, t.from = view.Append(t.seen[:0], t.from[:0], text)
	dst, _ = cut(dst, t.seen)
	return dst[:first+len(view.BackTokens(t.from, dst[first:]))]
}
