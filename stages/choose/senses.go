package choose

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Senses counts how often each word of a slice, folded without case and accents, is inside and outside of spans. In
// most archives a word has one sense (Yarowsky 1995): a word that is mostly in spans but not in this note was probably
// missed here, and the note would teach a wrong tag.
type Senses map[uint64]sense

type sense struct{ all, in uint32 }

const (
	// leastWord is the least length of a word in bytes.
	leastWord = 4
	// A word counts as a name if it is in a span at least leastIn times, and in at least the share mostly of its
	// places.
	leastIn = 3
	mostly  = 2. / 3
)

// Add counts the words of a note.
func (s Senses) Add(text []byte, tokens []pipeline.Token, tags []pipeline.Tag) {
	for k, t := range tokens {
		word := text[t.Start:t.End]
		if !isWord(word) {
			continue
		}
		key := gazetteer.Hash(word)
		n := s[key]
		n.all++
		if tags[k] != pipeline.O {
			n.in++
		}
		s[key] = n
	}
}

// Missed reports whether a note has a word outside of spans that is mostly in spans elsewhere.
func (s Senses) Missed(text []byte, tokens []pipeline.Token, tags []pipeline.Tag) bool {
	for k, t := range tokens {
		if tags[k] != pipeline.O || !isWord(text[t.Start:t.End]) {
			continue
		}
		if n := s[gazetteer.Hash(text[t.Start:t.End])]; n.in >= leastIn && float64(n.in) >= mostly*float64(n.all) {
			return true
		}
	}
	return false
}

// isWord tells whether a token is of letters and long enough to have a sense.
func isWord(form []byte) bool {
	if len(form) < leastWord {
		return false
	}
	for i := 0; i < len(form); {
		r, n := utf8.DecodeRune(form[i:])
		if !unicode.IsLetter(r) {
			return false
		}
		i += n
	}
	return true
}
