package bilstm

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/embed"
)

// vocabulary numbers what has a vector. Number 0 is what is not known; the
// rows of tables are these numbers.
type vocabulary struct {
	words    map[string]int32 // in lower case, or as vectors have them
	features keyTable
	chars    map[rune]int32
	lemma    features.Slot // nil: none
	vectors  bool          // words began with vectors, of words in this form:
	norm     embed.Normalization
	lower    []byte // scratch space of word
}

const (
	unknown = 0
)

// longest is how many characters of a token the network looks at: the first
// half of them from the left, the others from the right.
const longest = 40

// record is what the network knows of a form.
type record struct {
	word     int32
	chars    []int32
	features []layers.Valued
	blind    []layers.Valued // those that are left of a blind token, see Recipe.Blind; for training alone
}

// lower appends form in lower case.
func lower(dst, form []byte) []byte {
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

// appendChars appends the numbers of the characters of text.
func (v *vocabulary) appendChars(dst []int32, text []byte) []int32 {
	n := utf8.RuneCount(text)
	for i := 0; len(text) > 0; i++ {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if n <= longest || i < longest/2 || i >= n-longest/2 {
			dst = append(dst, v.chars[r])
		}
	}
	return dst
}

// appendFeatures appends those of the features that have vectors.
func (v *vocabulary) appendFeatures(dst []layers.Valued, fs []features.Feature) []layers.Valued {
	for _, f := range fs {
		if row := v.features.row(f.Key); row != 0 {
			dst = append(dst, layers.Valued{Row: row, Value: f.Value})
		}
	}
	return dst
}

// key appends what a form's record depends on: the form, and with post-space
// characters those behind it, up to three before the next token (INV §4.3.4).
// No form holds a line feed, which separates the two.
func key(dst, form, behind []byte) []byte {
	dst = append(dst, form...)
	if behind == nil {
		return dst
	}
	dst = append(dst, separator)
	for n := 0; n < 3 && len(behind) > 0; n++ {
		_, size := utf8.DecodeRune(behind)
		dst = append(dst, behind[:size]...)
		behind = behind[size:]
	}
	return dst
}

const separator = '\n'
