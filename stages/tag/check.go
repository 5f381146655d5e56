package tag

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// cover reports whether the tokens are in order with nothing but white space and control characters outside them: text
// outside tokens would never be tagged.
func cover(text []byte, tokens []pipeline.Token) bool {
	at := 0
	for _, t := range tokens {
		start := int(t.Start)
		if start < at || int(t.End) <= start || int(t.End) > len(text) {
			return false
		}
		if start-at > 1 || start > at && text[at] != ' ' {
			if !blank(text[at:start]) {
				return false
			}
		}
		at = int(t.End)
	}
	return at == len(text) || blank(text[at:])
}

func blank(gap []byte) bool {
	for i := 0; i < len(gap); {
		if gap[i] < utf8.RuneSelf {
			if gap[i] > ' ' && gap[i] != 0x7F {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(gap[i:])
		if !unicode.IsSpace(r) && !unicode.IsControl(r) {
			return false
		}
		i += n
	}
	return true
}

// share is false for what is no probability, NaN included. A sum of floats may
// be above 1 by its rounding.
func share(x float32) bool { return x >= 0 && x <= 1.001 }

func within(text []byte, matches []pipeline.Match) bool {
	for _, m := range matches {
		if m.Start < 0 || m.End <= m.Start || int(m.End) > len(text) || !share(m.Score) || int(m.Category) >= pipeline.Categories() {
			return false
		}
	}
	return true
}

func known(tags []pipeline.Tag, n int) bool {
	for _, t := range tags {
		if int(t) >= n {
			return false
		}
	}
	return true
}
