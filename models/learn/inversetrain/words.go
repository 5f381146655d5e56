package inversetrain

import (
	"bytes"
	"maps"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// seen counts the occurrences of a form.
type seen struct {
	small, capital uint32 // in small letters; with a capital within a sentence
	patients       uint32 // who have it in small letters
	last           uint64 // of them
}

// WordCounter counts the words of an archive. It keeps hashes, no text.
type WordCounter struct {
	forms    map[uint64]*seen
	patients map[uint64]struct{}
	tokens   uint64
}

// NewWordCounter returns an empty counter.
func NewWordCounter() *WordCounter {
	return &WordCounter{forms: map[uint64]*seen{}, patients: map[uint64]struct{}{}}
}

// Add counts the tokens of one note; patient is a hash of the patient's id.
func (c *WordCounter) Add(patient uint64, text []byte, tokens []pipeline.Token) {
	c.patients[patient] = struct{}{}
	for _, t := range tokens {
		form := text[t.Start:t.End]
		if !isWord(form) {
			continue
		}
		key := gazetteer.Hash(form)
		if key == 0 {
			continue
		}
		c.tokens++
		s := c.forms[key]
		if s == nil {
			s = new(seen)
			c.forms[key] = s
		}
		if r, _ := utf8.DecodeRune(form); unicode.IsUpper(r) {
			if t.Flags&pipeline.SentenceStart == 0 {
				s.capital++
			}
			continue
		}
		s.small++
		if s.patients == 0 || s.last != patient { // notes of a patient follow each other in most archives
			s.patients++
			s.last = patient
		}
	}
}

// isWord tells whether a form is made of letters, two at least.
func isWord(form []byte) bool {
	n := 0
	for i := 0; i < len(form); {
		r, size := utf8.DecodeRune(form[i:])
		if !unicode.IsLetter(r) && r != '·' && r != '-' {
			return false
		}
		n, i = n+1, i+size
	}
	return n >= 2
}

// Words returns the forms that occur at least minCount times in lower case and in the notes of at least minNotes
// patients.
func (c *WordCounter) Words(name string, minCount, minNotes int) (*inverse.Words, error) {
	kept := map[uint64]byte{}
	for key, s := range c.forms {
		if int(s.small) >= minCount && int(s.patients) >= minNotes {
			kept[key] = inverse.Band(s.small, s.capital)
		}
	}
	n := uint64(len(kept))*3/2 + 1
	slots, bands := make([]uint64, n), make([]byte, n)
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		i, _ := bits.Mul64(key<<1, n)
		for slots[i] != 0 {
			if i++; i == n {
				i = 0
			}
		}
		slots[i], bands[i] = key, kept[key]
	}
	var b bytes.Buffer
	h := inverse.WordsHeader{Kind: inverse.WordsKind, Name: name, Tokens: c.tokens, Patients: uint64(len(c.patients)), MinCount: minCount,
		MinNotes: minNotes, Words: len(kept)}
	err := modelfile.Write(&b, h, modelfile.Section{Name: "slot", Data: modelfile.Bytes(slots)}, modelfile.Section{Name: "band", Data: bands})
	if err != nil {
		return nil, err
	}
	return inverse.OpenWords(b.Bytes())
}
