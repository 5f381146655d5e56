package people

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// kind of a run of characters.
type kind uint8

const (
	between kind = iota // neither letters nor digits
	letters
	digits
)

// word is a run of letters or digits of a note.
type word struct {
	start, end  int32 // in the text
	folded      int32 // in Finder.folded
	width       int32 // folded bytes
	kind        kind
	capital     bool // the first letter is upper case
	allCapitals bool // all letters are, two or more
	dotted      bool // a full stop follows
	person      int16
	mark        mark
}

// mark is the evidence that a word names somebody of the patient's people.
type mark uint8

const (
	unmarked mark = iota
	initial
	weak // tells together with another word
	strong
)

// kindOf tells what a character is.
func kindOf(r rune) kind {
	switch {
	case unicode.IsLetter(r), unicode.Is(unicode.Mn, r), r == '°': // Mª, M°
		return letters
	case unicode.IsDigit(r):
		return digits
	}
	return between
}

// wordAt returns the end of the run of one kind at i. A small letter in front
// of a capital ends a word, and a capital in front of a capital with a small
// letter: GarcíaLópez is two, so is DRAlfaro.
func wordAt(text []byte, i int) (end int, k kind) {
	r, n := utf8.DecodeRune(text[i:])
	k = kindOf(r)
	small, capitals, last := unicode.IsLower(r), 0, i // last: where the capital began that was read last
	if unicode.IsUpper(r) {
		capitals = 1
	}
	for end = i + n; end < len(text); end += n {
		r, n = utf8.DecodeRune(text[end:])
		upper := unicode.IsUpper(r)
		switch {
		case kindOf(r) != k || k == letters && small && upper:
			return end, k
		case k == letters && capitals > 2 && unicode.IsLower(r):
			return last, k
		}
		small = unicode.IsLower(r)
		if capitals++; !upper {
			capitals = 0
		}
		last = end
	}
	return end, k
}

// split cuts the text into words.
func (f *Finder) split(text []byte) {
	f.words, f.folded = f.words[:0], f.folded[:0]
	for i := 0; i < len(text); {
		end, k := wordAt(text, i)
		if k == between {
			i = end
			continue
		}
		w := word{start: int32(i), end: int32(end), folded: int32(len(f.folded)), kind: k}
		f.folded = gazetteer.Fold(f.folded, text[i:end])
		if w.width = int32(len(f.folded)) - w.folded; w.width == 0 { // accents alone
			i = end
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		w.capital = unicode.IsUpper(r)
		w.allCapitals = w.capital && end > i+n && !bytes.ContainsFunc(text[i:end], unicode.IsLower)
		w.dotted = end < len(text) && text[end] == '.'
		f.words = append(f.words, w)
		i = end
	}
}

func (f *Finder) word(i int) []byte {
	w := &f.words[i]
	return f.folded[w.folded : w.folded+w.width]
}

// untitled returns a word without the title that is glued to it: drgarcia. nil:
// there is none.
func untitled(form []byte) (rest [2][]byte) {
	for i, title := range []string{"dra", "dr"} {
		if len(form) >= len(title)+leastEdited-1 && string(form[:len(title)]) == title {
			rest[i] = form[len(title):]
		}
	}
	return rest
}

// oneEdit tells whether two words are one edit apart: a letter too many, too
// few, wrong, or exchanged with its neighbour (Damerau). Equal words are not.
func oneEdit(a, b []byte) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) > len(b) {
		return string(a[i+1:]) == string(b[i:])
	}
	if i == len(a) {
		return false
	}
	if string(a[i+1:]) == string(b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && string(a[i+2:]) == string(b[i+2:])
}

// shortened are names as they are shortened in notes: a name, and how it is written.
var shortened = map[string]string{}

func init() {
	locale.Read("people shortened", func(_ pipeline.Language, _, words []string) error {
		for _, short := range words[1:] {
			shortened[short] = words[0]
		}
		return nil
	})
}
