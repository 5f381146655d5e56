// Package language detects the language of a note: Spanish, Catalan, English, a mixture of them, another language whose
// function words are in models/word/locale, or unknown. It also counts how many of the note's words are unknown in the
// known languages. It takes text and tokens and returns pipeline.Language and pipeline.Words.
//
// The model is a multinomial logistic regression over the words and the byte
// trigrams of the first words of a note, hashed into [Size] buckets. Spanish
// is the reference class, so a bucket has two weights, one for Catalan and
// one for English; both fit into one number and are added together. Words
// alone were not enough for notes of five words with abbreviations; trigrams
// over accents that people leave out need the training with and without
// accents that weights_test.go does.
//
// Every other language is detected by its function words alone. That is enough to recognize that a note is in
// none of the three languages. Of a note in another language no words are counted as unknown.
package language

import (
	_ "embed"
	"math/bits"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

const (
	// Size is the number of hash buckets.
	Size = 1 << 14
	// scale is the number of steps of a stored weight in one unit of
	// log-odds.
	scale      = 24
	maxWords   = 40 // read from a note
	chunkWords = 5  // judged together, to see a change of language
	maxBytes   = 20 // read from a word
)

// weightBytes holds two signed bytes a bucket, Catalan and English, in the
// order of the buckets. Written by weights_test.go.
//
//go:embed weights.bin
var weightBytes []byte

// weights holds both weights of a bucket plus 128 each, in the halves of a
// number, so that one addition adds both. Sums of a chunk stay below 1<<16.
var weights = func() (t [Size]uint32) {
	for k := range t {
		ca, en := int8(weightBytes[2*k]), int8(weightBytes[2*k+1])
		t[k] = uint32(int(ca)+128) | uint32(int(en)+128)<<16
	}
	return t
}()

// commonBytes is a set of hashes, a bit each, of the words of [LeastWord] bytes
// and more that are common in Spanish and Catalan, clinical and general, with
// and without accents. Written by weights_test.go. A word that
// shares its hash with one of them counts as known: one in eleven.
//
//go:embed words.bin
var commonBytes []byte

const (
	// CommonBits is the base-2 logarithm of the number of bits in the set: 64 KiB, which fit the second-level cache.
	CommonBits = 19
	// leastWord is the least length of a word that is looked up: shorter ones are in all languages.
	leastWord = 3
)

// known tells whether the set has the word of this hash (read).
func known(form uint32) bool {
	at := CommonBit(form)
	return commonBytes[at>>3]&(1<<(at&7)) != 0
}

// CommonBit returns the bit for the word with this hash in the set of common words.
func CommonBit(form uint32) uint32 { return form * 0x9E3779B1 >> (32 - CommonBits) }

// Decision thresholds, in steps of 1/Scale; chosen on held-out sentences
// (weights_test.go prints the figures).
const (
	sure      = scale / 2 // lead of the best language over the next
	english   = 2 * scale // the lead of English: rare in the current archives
	mixture   = 3 * scale // evidence for each of two languages in a mixture
	mixedPart = 4         // the weaker has at least this part of the stronger
)

// Of returns the language of a text, and counts the known and unknown ones of its first words. Words are not counted
// for a language without a list of common words.
func Of(text []byte, tokens []pipeline.Token) (told pipeline.Language, counted pipeline.Words) {
	var e evidence
	var sum uint32
	var votes [pipeline.MaxLanguages]int // function words of other languages
	words, features, most := 0, 0, 0
	for _, t := range tokens {
		if !Word(text, t) {
			continue
		}
		all, n, form := read(text[t.Start:t.End])
		if t.End-t.Start >= leastWord {
			counted.Seen++
			if !known(form) {
				counted.Unknown++
			}
		}
		switch of := functions.languages(form); {
		case of&(1<<pipeline.English) != 0:
			votes[pipeline.English]++
		case of&modelled == 0:
			for ; of != 0; of &= of - 1 {
				votes[bits.TrailingZeros16(of)]++
			}
		}
		sum += all
		features += n
		if words++; words%chunkWords == 0 {
			e.add(sum, features)
			if sum, features = 0, 0; words == maxWords {
				break
			}
		}
	}
	e.add(sum, features)
	told = e.language()
	for l, n := range votes {
		if l == int(pipeline.English) {
			if told == pipeline.English && n*englishPart >= words { // else it may be German, or no text at all
				counted = pipeline.Words{}
			}
		} else if n >= max(fewVotes, most+1) && n*votesPart >= words {
			told, counted, most = pipeline.Language(l), pipeline.Words{}, n
		}
	}
	return told, counted
}

// functionWords maps hashes of function words (see read) to their languages, one bit each.
type functionWords struct {
	of     map[uint32]uint16
	filter [1 << 10]uint64 // bits of some of the hash: most words of a note are in no list
}

var functions = functionWords{of: map[uint32]uint16{}}

func init() {
	locale.Read("function", func(l pipeline.Language, _, words []string) error {
		for _, w := range words {
			for _, written := range [...][]byte{[]byte(w), gazetteer.Fold(nil, []byte(w))} { // with and without accents
				_, _, form := read(written)
				functions.of[form] |= 1 << l
				functions.filter[form&0xFFFF>>6] |= 1 << (form & 63)
			}
		}
		return nil
	})
}

func (f *functionWords) languages(form uint32) uint16 {
	if f.filter[form&0xFFFF>>6]>>(form&63)&1 == 0 {
		return 0
	}
	return f.of[form]
}

const (
	modelled    = 1<<pipeline.Spanish | 1<<pipeline.Catalan | 1<<pipeline.English // the languages that have weights
	fewVotes    = 2                                                               // function words that a language needs,
	votesPart   = 6                                                               // and one of so many words at least
	englishPart = 12                                                              // English ones among so many words for a note to be English and not another language without weights
)

// evidence is the log-odds of Catalan and English against Spanish: over all,
// and how much of it speaks for and against Catalan, chunk by chunk.
type evidence struct {
	catalan, english int
	forCatalan       int
	forSpanish       int
}

func (e *evidence) add(sum uint32, features int) {
	ca := int(sum&0xFFFF) - 128*features
	en := int(sum>>16) - 128*features
	e.catalan += ca
	e.english += en
	e.forCatalan += max(0, ca-max(0, en))
	e.forSpanish += max(0, -max(ca, en))
}

func (e *evidence) language() pipeline.Language {
	weak, strong := min(e.forCatalan, e.forSpanish), max(e.forCatalan, e.forSpanish)
	switch {
	case weak >= mixture && weak*mixedPart >= strong:
		return pipeline.MixedLanguage
	case e.english >= english+max(0, e.catalan):
		return pipeline.English
	case e.catalan >= sure+max(0, e.english):
		return pipeline.Catalan
	case -sure >= max(e.catalan, e.english):
		return pipeline.Spanish
	}
	return pipeline.UnknownLanguage
}

// Word reports whether the model uses a token: it must start with a letter.
func Word(text []byte, t pipeline.Token) bool {
	c := text[t.Start]
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0xC3 && c <= 0xC5
}

// read returns the sum of the weights of a word's n buckets, which are those of its form and of its trigrams, and a hash of
// the word. Case is folded; · ’ and ' are kept, since l· and d' indicate Catalan.
func read(word []byte) (sum uint32, n int, form uint32) {
	word = word[:min(len(word), maxBytes)]
	n = len(word)
	three := uint32(' ')
	for i, b := range word {
		f := uint32(folded[b])
		form = (form ^ f) * 0x01000193
		three = three<<8 | f
		if i > 0 {
			sum += weights[bucket(three&0xFFFFFF)]
		}
	}
	if n < maxBytes {
		sum += weights[bucket((three<<8|' ')&0xFFFFFF)]
		n++
	}
	return sum + weights[bucket(form^0x5bd1e995)], n, form
}

func bucket(key uint32) uint32 { return key * 0x9E3779B1 >> (32 - 14) }

// folded makes small letters of capitals, À to Þ included: in UTF-8 those
// are 0xC3 and a byte below 0x9F. What this does to other letters is
// harmless, since it does so in training, too.
var folded = func() (t [256]byte) {
	for b := range t {
		t[b] = byte(b)
		if b >= 'A' && b <= 'Z' || b >= 0x80 && b <= 0x9E {
			t[b] = byte(b | 0x20)
		}
	}
	return t
}()
