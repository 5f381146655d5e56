package attack

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/plant"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// spelling goes by how a name is written: with or without accents, capitals, short
// or with an error, where the note it stands in is or is not.
type spelling struct {
	known    *gazetteer.Gazetteer
	accented map[string]bool // folded words that are written with an accent somewhere
	pool     map[string]bool // folded words of surrogates
	near     map[string]bool // what one error makes of them: a letter left out
}

func newSpelling(*attacker) (spy, error) {
	s := &spelling{known: gazetteer.Default(), accented: map[string]bool{}, pool: map[string]bool{}, near: map[string]bool{}}
	for e := range gazetteer.Entries(gazetteer.Shipped()) {
		if e.Class&(gazetteer.GivenName|gazetteer.Surname) != 0 {
			s.write([]byte(e.Form))
		}
	}
	return s, nil
}

// write takes in that a name is written so.
func (s *spelling) write(name []byte) {
	for w := range bytes.FieldsSeq(name) {
		if accents(w) > 0 {
			s.accented[string(gazetteer.Fold(nil, w))] = true
		}
	}
}

func (s *spelling) learn(e *plant.Extract) {
	for i := range e.Notes {
		n := &e.Notes[i]
		for _, m := range n.Mentions {
			s.write(n.Text[m.Start:m.End])
			for _, w := range m.Words {
				s.pool[string(w)] = true
				for k := range w {
					s.near[string(w[:k])+string(w[k+1:])] = true
				}
			}
		}
	}
}

func (s *spelling) look(*plant.Extract) (look, error) { return s.see, nil }

func (s *spelling) see(n *plant.Note, k int) (c cell) {
	m := &n.Mentions[k]
	name := n.Text[m.Start:m.End]
	around := append(bytes.Clone(n.Text[:m.Start]), n.Text[m.End:]...)
	c = cell{style(around), style(name), uint8(min(accents(around), 2)), uint8(min(accents(name), 1)), 0, 0, 0, uint8(min(len(m.Words), 3))}
	for w := range bytes.FieldsSeq(name) {
		if accents(w) == 0 && s.accented[string(gazetteer.Fold(nil, w))] {
			c[4] = 1 // it could have one
		}
		if utf8.RuneCount(w) < 3 || bytes.HasSuffix(w, []byte(".")) {
			c[5] = 1
		}
	}
	for _, w := range m.Words {
		if !s.pool[string(w)] && s.known.Classes(w) == 0 {
			c[6] = max(c[6], 1)
			if s.misspelt(w) {
				c[6] = 2
			}
		}
	}
	return c
}

// misspelt tells whether one error makes a word of a surrogate's.
func (s *spelling) misspelt(w []byte) bool {
	if s.near[string(w)] {
		return true
	}
	for k := range w {
		if less := string(w[:k]) + string(w[k+1:]); s.pool[less] || s.near[less] {
			return true
		}
	}
	return false
}

// style is how a text is written: 0 without letters, 1 small letters, 2 capitals
// first or in part, 3 capitals.
func style(text []byte) uint8 {
	upper, lower := 0, 0
	for _, r := range string(text) {
		if unicode.IsUpper(r) {
			upper++
		} else if unicode.IsLower(r) {
			lower++
		}
	}
	switch {
	case upper+lower == 0:
		return 0
	case upper == 0:
		return 1
	case lower*8 < upper:
		return 3
	}
	return 2
}

// accents counts letters with a mark.
func accents(text []byte) (n int) {
	for _, r := range string(text) {
		if r > unicode.MaxASCII && unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
