// Package recognizers is patterns that a house writes: numbers and names of its
// own, in a YAML file as those of Microsoft Presidio, whose fields have the same
// meaning.
//
//	in:  a file of recognizers; the text of a note
//	out: places with a category, a score, and whether a check digit is right
//
//	version: 1
//	recognizers:
//	  - name: record
//	    category: SANITARY_CARD_ID
//	    patterns:                       # regular expressions of RE2
//	      - {regex: '\bHC-?\d{6,8}\b', score: 0.6}
//	      - {regex: '\b\d{8}\b', score: 0.2}
//	    context: [historia, nhc]        # each of the five words in front may be one: the score rises
//	    check: luhn                     # a right check digit lifts the score to 1; a wrong one rejects nothing
//	  - name: wards
//	    category: LOCATION
//	    deny_list: [Sala Roble, Planta Nord]
//
// What is below min_score (0.5) counts for nothing: an expression that matches
// too much stands at less and needs its context. A match stays in its line.
//
// Cost: an expression looks at windows of a line, a thousand bytes at once, so
// that the time is linear in the text whatever the expression; how many
// instructions all of a file may have is bounded, and so is the work on one note
// (MaxWork): where that is not enough, Find says so and the note is in doubt. An
// expression that needs a digit is not tried on lines without.
package recognizers

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// version of the files, which they name.
const version = 1

// Bounds of a file. They hold what a hostile one could ask for.
const (
	maxBytes        = 1 << 20
	maxRecognizers  = 256
	maxInstructions = 4096 // of RE2, of all expressions of a file together
	maxExpression   = 1000 // bytes
	maxPhrases      = 1 << 16
	maxContext      = 1000
)

// maxWork is how many instructions of RE2 may be spent on bytes of one note, as
// counted at worst: some ten seconds. An ordinary expression of 20 on a note of
// 1 MiB counts 60 million.
const maxWork = 1 << 33

const (
	defaultMinScore   = 0.5
	contextFactor     = 0.35 // what a word of the context adds to a score, as in Presidio
	leastWithContext  = 0.4  // and what it is then at least
	contextWords      = 5    // in front of a match
	contextBytes      = 128
	window            = 768 // a match begins within it,
	lead              = 32  // with so many bytes in front of it
	maxMatch          = 256 // and reaches so far behind it at the most: longer ones are not found
	separators        = 3   // bytes between two words of a phrase
	maxFoldedWord     = 96
	rightCheckDigit   = 1
	defaultDenyList   = 1
	maxWordsOfAPhrase = 16
)

// Set is the recognizers of one file. It is immutable and may be used by many
// goroutines.
type Set struct {
	text        string
	recognizers []recognizer
	work        int64          // MaxWork
	phrases     map[string]int // deny lists: by their folded words, of which recognizer; beginning for what goes on
}

// beginning stands for words that are the beginning of phrases and none.
const beginning = -1

type recognizer struct {
	name        string
	category    pipeline.Category
	expressions []expression
	context     map[string]bool // folded
	check       func([]byte) bool
	minScore    float32
	denyScore   float32
	denied      int // phrases
}

type expression struct {
	re     *regexp.Regexp
	score  float32
	digits bool // needs one
	line   int
	size   int64 // instructions
}

// A Find is a place that a recognizer found.
type Find struct {
	Start, End int32 // bytes of the text, half open
	Recognizer int   // see Names
	Category   pipeline.Category
	Score      float32
	Checked    bool // the check digit is right
	Context    bool // a word of the context stands in front
	Line       int  // of the expression in the file; 0: of a deny list
}

// Names returns the names of the recognizers, in the order of the file.
func (s *Set) Names() (names []string) {
	for i := range s.recognizers {
		names = append(names, s.recognizers[i].name)
	}
	return names
}

// Categories returns those of the recognizers, in order, once each.
func (s *Set) Categories() (all []pipeline.Category) {
	for i := range s.recognizers {
		all = append(all, s.recognizers[i].category)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Text returns the file.
func (s *Set) Text() string { return s.text }

// Find appends what the recognizers find in a text to dst, by place. ok tells
// whether all of it was looked at within MaxWork; if not, what is there is not all.
func (s *Set) Find(dst []Find, text []byte) (all []Find, ok bool) {
	begin, left := len(dst), s.work
	for at := 0; at < len(text) && left > 0; {
		end := at
		digits := false
		for end < len(text) && text[end] != '\n' {
			digits = digits || text[end] >= '0' && text[end] <= '9'
			end++
		}
		dst = s.line(dst, text, at, end, digits, &left)
		at = end + 1
	}
	if len(s.phrases) > 0 {
		dst = s.denied(dst, text)
	}
	slices.SortStableFunc(dst[begin:], func(a, b Find) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Score, a.Score), cmp.Compare(b.End, a.End), cmp.Compare(a.Recognizer, b.Recognizer))
	})
	return dst, left > 0
}

// line tries the expressions on text[from:to], which holds no line end, and takes
// what they cost from left.
func (s *Set) line(dst []Find, text []byte, from, to int, digits bool, left *int64) []Find {
	for at := from; at < to && *left > 0; at += window {
		lo, hi := max(from, at-lead), min(to, at+window+maxMatch)
		if at == from {
			lo = from
		}
		for i := range s.recognizers {
			r := &s.recognizers[i]
			for k := range r.expressions {
				x := &r.expressions[k]
				if x.digits && !digits {
					continue
				}
				matches := x.re.FindAllIndex(text[lo:hi], -1)
				*left -= int64(len(matches)+1) * int64(hi-lo) * x.size
				for _, m := range matches {
					start, end := lo+m[0], lo+m[1]
					if start < at || start >= at+window || start == end || hi < to && end == hi {
						continue
					}
					dst = s.matched(dst, text, from, i, x, start, end)
				}
			}
		}
	}
	return dst
}

// matched adds a match if its score is high enough.
func (s *Set) matched(dst []Find, text []byte, line, i int, x *expression, start, end int) []Find {
	r := &s.recognizers[i]
	f := Find{Start: int32(start), End: int32(end), Recognizer: i, Category: r.category, Score: x.score, Line: x.line}
	if r.check != nil && r.check(text[start:end]) {
		f.Checked, f.Score = true, rightCheckDigit
	}
	if len(r.context) > 0 && r.near(text[line:start]) {
		f.Context, f.Score = true, min(1, max(f.Score+contextFactor, leastWithContext))
	}
	if f.Score < r.minScore {
		return dst
	}
	return append(dst, f)
}

// near tells whether one of the last words is of the context.
func (r *recognizer) near(before []byte) bool {
	least := max(0, len(before)-contextBytes)
	var folded [maxFoldedWord]byte
	for end, n := len(before), 0; end > least && n < contextWords; n++ {
		for end > least && !wordByte(before[end-1]) {
			end--
		}
		start := end
		for start > least && wordByte(before[start-1]) {
			start--
		}
		if start < end && end-start <= maxFoldedWord/2 && r.context[string(gazetteer.Fold(folded[:0], before[start:end]))] {
			return true
		}
		end = start
	}
	return false
}

// wordByte tells whether a byte is of a word: letters, digits, and all that is
// not ASCII.
func wordByte(b byte) bool {
	return b >= 0x80 || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// word returns the next word of a text from a place on; start is len(text) if
// there is none.
func word(text []byte, at int) (start, end int) {
	for at < len(text) && !wordByte(text[at]) {
		at++
	}
	end = at
	for end < len(text) && wordByte(text[end]) {
		end++
	}
	return at, end
}

// denied finds the entries of deny lists, the longest from each place.
func (s *Set) denied(dst []Find, text []byte) []Find {
	var key [maxWordsOfAPhrase * (maxFoldedWord + 1)]byte
	for at := 0; at < len(text); {
		start, end := word(text, at)
		if start == end {
			break
		}
		at = end
		found := Find{Recognizer: beginning}
		words := key[:0]
		for next := start; end-next <= maxFoldedWord/2; next, end = word(text, end) {
			if words = gazetteer.Fold(words, text[next:end]); len(words) == 0 {
				break
			}
			i, ok := s.phrases[string(words)]
			if !ok {
				break
			}
			if i != beginning {
				r := &s.recognizers[i]
				found = Find{Start: int32(start), End: int32(end), Recognizer: i, Category: r.category, Score: r.denyScore}
			}
			if after, _ := word(text, end); after == len(text) || after-end > separators {
				break
			}
			words = append(words, ' ')
		}
		if found.Recognizer != beginning {
			dst, at = append(dst, found), int(found.End)
		}
	}
	return dst
}
