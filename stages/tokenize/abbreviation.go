package tokenize

import (
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// abbreviations do not end a sentence with their full stop: titles, streets,
// and what Spanish, Catalan and English notes shorten, without the stop and
// in lower case. A single letter never ends one either. Not in the list are
// words (no, mal, cap, sol), units (5 min. Alta) and what is written without
// a stop (rx, hta, uci): behind them the stop ends a sentence more often.
// They are packed; a word of more than eight bytes is not an abbreviation.
var abbreviations = map[uint64]bool{}

func init() {
	locale.Read("abbreviation", func(_ pipeline.Language, _, words []string) error {
		for _, w := range words {
			if key, ok := packed([]byte(w)); ok {
				abbreviations[key] = true
			}
		}
		return nil
	})
}

// packed folds the case of ASCII and of À to Þ and packs the bytes of word
// into a number.
func packed(word []byte) (key uint64, ok bool) {
	if len(word) > 8 {
		return 0, false
	}
	prev := byte(0)
	for _, b := range word {
		f := b
		if b >= 'A' && b <= 'Z' || prev == 0xC3 && b >= 0x80 && b <= 0x9E {
			f |= 0x20
		}
		key = key<<8 | uint64(f)
		prev = b
	}
	return key, true
}

// abbreviates tells whether a full stop behind word may belong to it.
func abbreviates(word []byte) bool {
	if c, n := classAt(word, 0); n == len(word) && c.letter() {
		return true
	}
	key, ok := packed(word)
	return ok && abbreviations[key]
}
