package bilstm

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// Vocabulary numbers what has a vector. Number 0 is what is not known; the
// rows of tables are these numbers.
type Vocabulary struct {
	Words    map[string]int32 // in lower case, or as vectors have them
	Features KeyTable
	Chars    map[rune]int32
	Lemma    features.Slot        // nil: none
	Norm     *embed.Normalization // words began with vectors, of words in this form; nil: at random
	lower    []byte               // scratch space of Word
}

// Unknown is the number of what has no vector of its own.
const Unknown = 0

// longest is how many characters of a token the network looks at: the first
// half of them from the left, the others from the right.
const longest = 40

// NewVocabulary returns an empty vocabulary for words that may be looked up by their
// lemma; nil for none.
func NewVocabulary(lemma features.Slot) *Vocabulary {
	return &Vocabulary{Words: map[string]int32{}, Chars: map[rune]int32{}, Lemma: lemma}
}

// AddWord gives a word a number, unless it has one.
func (v *Vocabulary) AddWord(w string) {
	if _, known := v.Words[w]; !known {
		v.Words[w] = int32(len(v.Words)) + 1
	}
}

// AddChar gives a character a number, unless it has one.
func (v *Vocabulary) AddChar(r rune) {
	if _, known := v.Chars[r]; !known && r != utf8.RuneError {
		v.Chars[r] = int32(len(v.Chars)) + Border + 1
	}
}

// number takes over what the lists say; their first entries stand for what has
// no name.
func (v *Vocabulary) number(words []string, fs []uint64, chars []rune) {
	for i, w := range words[1:] {
		v.Words[w] = int32(i) + 1
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
	words, fs, chars = make([]string, len(v.Words)+1), make([]uint64, v.Features.Len()+1), make([]rune, len(v.Chars)+Border+1)
	for w, i := range v.Words {
		words[i] = w
	}
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

// Word returns the row of a form's word: of the form as it stands, else in lower
// case, else as the vectors have it that words began with, else of its lemma,
// else that of all unknown words (BOOT §3.5.1).
func (v *Vocabulary) Word(form []byte) int32 {
	if row, ok := v.Words[string(form)]; ok {
		return row
	}
	v.lower = Lower(v.lower[:0], form)
	if row, ok := v.Words[string(v.lower)]; ok {
		return row
	}
	if v.Norm != nil {
		v.lower = v.Norm.Append(v.lower[:0], form)
		if row, ok := v.Words[string(v.lower)]; ok {
			return row
		}
	}
	if v.Lemma == nil {
		return Unknown
	}
	v.lower = v.Lemma.Value(v.lower[:0], form)
	return v.Words[string(v.lower)]
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

// AppendFeatures appends those of the features that have vectors.
func (v *Vocabulary) AppendFeatures(dst []Valued, fs []features.Feature) []Valued {
	for _, f := range fs {
		if row := v.Features.row(f.Key); row != 0 {
			dst = append(dst, Valued{Row: row, Value: f.Value})
		}
	}
	return dst
}

// AppendKey appends what the vector of token i depends on wherever it stands: its
// form, and of a network with post-space characters up to three of those before
// the next token (INV §4.3.4). No form holds a line feed, which separates the two.
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

// Separator stands between a form and the characters behind it.
const Separator = '\n'
