package bilstm

import (
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// Vocabulary numbers the words, characters and features that have vectors. Number 0 stands for unknown ones; the
// numbers are the rows of the tables of vectors.
type Vocabulary struct {
	Words    []string // in lower case, or as vectors have them; the first has number 1
	words    KeyTable // of their hashes
	Features KeyTable
	Chars    map[rune]int32
	Lemma    features.Slot        // nil: none
	Norm     *embed.Normalization // words began with vectors, of words in this form; nil: at random
	lower    []byte               // scratch space of Word
}

// Unknown is the number of everything without a vector of its own.
const Unknown = 0

// longest is how many characters of a token the network looks at: the first
// half of them from the left, the others from the right.
const longest = 40

// NewVocabulary returns an empty vocabulary. Words that it does not have are looked up by their lemma, if lemma is not
// nil.
func NewVocabulary(lemma features.Slot) *Vocabulary {
	return &Vocabulary{Chars: map[rune]int32{}, Lemma: lemma}
}

// AddWord assigns a number to a new word.
func (v *Vocabulary) AddWord(w string) {
	if h := xxh3.HashString(w); v.words.row(h) == Unknown {
		v.words.Add(h)
		v.Words = append(v.Words, w)
	}
}

// AddChar assigns a number to a new character.
func (v *Vocabulary) AddChar(r rune) {
	if _, known := v.Chars[r]; !known && r != utf8.RuneError {
		v.Chars[r] = int32(len(v.Chars)) + Border + 1
	}
}

// number takes over what the lists say; their first entries stand for what has
// no name.
func (v *Vocabulary) number(words []string, fs []uint64, chars []rune) {
	v.Words = words[1:len(words):len(words)]
	v.words.room(len(words))
	for i, w := range v.Words {
		v.words.add(xxh3.HashString(w), int32(i)+1)
	}
	v.Features.room(len(fs))
	for i, k := range fs[1:] {
		v.Features.add(k, int32(i)+1)
	}
	for i, r := range chars[Border+1:] {
		v.Chars[r] = int32(i) + Border + 1
	}
}

// lists is the inverse of number.
func (v *Vocabulary) lists() (words []string, fs []uint64, chars []rune) {
	words = append([]string{""}, v.Words...)
	fs, chars = make([]uint64, v.Features.Len()+1), make([]rune, len(v.Chars)+Border+1)
	for _, s := range v.Features.slots {
		if s.row != 0 {
			fs[s.row] = s.key
		}
	}
	for r, i := range v.Chars {
		chars[i] = r
	}
	return words, fs, chars
}

// Word returns the row of the vector for a form: that of the form as written, else of the form in lower case, else of
// the form normalized as in the pretrained vectors, else of its lemma, else of unknown words (BOOT §3.5.1).
func (v *Vocabulary) Word(form []byte) int32 {
	row := v.words.row(xxh3.Hash(form))
	if row == Unknown {
		v.lower = Lower(v.lower[:0], form)
		row = v.words.row(xxh3.Hash(v.lower))
	}
	if row == Unknown && v.Norm != nil {
		v.lower = v.Norm.Append(v.lower[:0], form)
		row = v.words.row(xxh3.Hash(v.lower))
	}
	if row == Unknown && v.Lemma != nil {
		v.lower = v.Lemma.Value(v.lower[:0], form)
		row = v.words.row(xxh3.Hash(v.lower))
	}
	return row
}

// Lower appends form in lower case.
func Lower(dst, form []byte) []byte {
	for i := 0; i < len(form); {
		if c := form[i]; c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(form[i:])
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += n
	}
	return dst
}

// AppendChars appends the numbers of the characters of text.
func (v *Vocabulary) AppendChars(dst []int32, text []byte) []int32 {
	n := utf8.RuneCount(text)
	for i := 0; len(text) > 0; i++ {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if n <= longest || i < longest/2 || i >= n-longest/2 {
			dst = append(dst, v.Chars[r])
		}
	}
	return dst
}

// AppendFeatures appends the features that have a vector.
func (v *Vocabulary) AppendFeatures(dst []Valued, fs []features.Feature) []Valued {
	for _, f := range fs {
		if row := v.Features.row(f.Key); row != 0 {
			dst = append(dst, Valued{Row: row, Value: f.Value})
		}
	}
	return dst
}

// AppendKey appends the text on which the vector of token i depends: its form and, in a network with post-space
// characters, up to three of the characters before the next token (INV §4.3.4). A line feed, which no form contains,
// separates the two.
func (a Architecture) AppendKey(dst, text []byte, tokens []pipeline.Token, i int) []byte {
	dst = append(dst, text[tokens[i].Start:tokens[i].End]...)
	if !a.PostSpace {
		return dst
	}
	end := len(text)
	if i+1 < len(tokens) {
		end = int(tokens[i+1].Start)
	}
	dst = append(dst, Separator)
	behind := text[tokens[i].End:end]
	for n := 0; n < 3 && len(behind) > 0; n++ {
		_, size := utf8.DecodeRune(behind)
		dst = append(dst, behind[:size]...)
		behind = behind[size:]
	}
	return dst
}

// Separator stands between a form and the characters behind it in the result of AppendKey.
const Separator = '\n'
