// Package dictionarytrain makes the taggers of package dictionary: it reads words and counts from lists, counts the
// words of an archive, and chooses thresholds on labelled notes.
//
//	in:  compiled lists, notes without labels; a few labelled notes
//	out: the frequencies of words, parameters
package dictionarytrain

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Counter counts the words of an archive that occur in the lists, and all tokens with a letter.
type Counter struct {
	counts map[uint64]uint64
	tokens uint64
}

// NewCounter returns an empty counter.
func NewCounter() *Counter { return &Counter{counts: map[uint64]uint64{}} }

// Add counts the tokens of a note. It keeps hashes of words, no text.
func (c *Counter) Add(text []byte, tokens []pipeline.Token) {
	for _, t := range tokens {
		if key := wordKey(text[t.Start:t.End]); key != 0 {
			c.counts[key]++
			c.tokens++
		}
	}
}

// Tokens returns the number of words counted.
func (c *Counter) Tokens() uint64 { return c.tokens }

// wordKey returns the hash of a form that may be a name: two letters at least
// once it is folded, for initials say nothing; 0 for others.
func wordKey(form []byte) uint64 {
	var room [64]byte // longer forms are in no list and may cost an allocation
	letters := 0
	for _, c := range gazetteer.Fold(room[:0], form) {
		if c >= 'a' && c <= 'z' || c >= utf8.RuneSelf {
			letters++
		}
	}
	if letters < 2 {
		return 0
	}
	return gazetteer.Hash(form)
}

// List maps words of compiled lists, by their hash, to their counts.
type List map[uint64]float64

// Words returns the words of tables that are entries of one of the classes by themselves, with the sum of the counts of
// all entries that contain them; the second result is the sum over all words. So Carmen includes the people called
// María Carmen, and "de" of De la Cruz is no name.
func Words(classes gazetteer.Class, tables ...*gazetteer.Table) (List, float64) {
	list, parts, sum := List{}, List{}, 0.0
	for _, t := range tables {
		for f := range t.All() {
			if f.Class&classes == 0 {
				continue
			}
			n := float64(f.Count(classes))
			words := 0
			for w := range strings.FieldsSeq(f.Form) {
				key := wordKey([]byte(w))
				words++
				if key != 0 {
					parts[key] += n
					sum += n
				}
			}
			if key := wordKey([]byte(f.Form)); words == 1 && key != 0 {
				list[key] = 0
			}
		}
	}
	for key := range list {
		list[key] = parts[key]
	}
	return list, sum
}

// Half a count stands for none: a name that nobody in the archive bears is
// rare, not impossible, and its logarithm must be finite.
const half = 0.5

// Frequencies joins the relative frequencies of every word in the positive lists, the negative lists and the archive.
// seen may be nil for the binary method.
func Frequencies(positive List, positives float64, negative List, negatives float64, seen *Counter) map[uint64]dictionary.Word {
	words := make(map[uint64]dictionary.Word, len(positive))
	for key, n := range positive {
		words[key] = dictionary.Word{Positive: relative(n, positives)}
	}
	for key, n := range negative {
		if w, both := words[key]; both { // a word of the negative lists alone is never a name
			w.Negative = relative(n, negatives)
			words[key] = w
		}
	}
	for key, w := range words {
		w.Archive = 1
		if seen != nil {
			w.Archive = relative(float64(seen.counts[key]), float64(seen.tokens))
		}
		words[key] = w
	}
	return words
}

func relative(n, sum float64) float32 {
	return float32(min(1, max(n, half)/math.Max(sum, 1)))
}
