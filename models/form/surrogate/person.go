package surrogate

import (
	"bytes"
	"unicode"
)

// particles and titles stand among names and are no part of them, in small
// letters: doña is one, Donà a surname. None tells anything: words of three
// letters and more are those that verify does not look for either.
var particles = setOf("a al d da de del dels di do don doña dr dra du dña e el els en i l la las le les los mª na san sant santa sr sra y")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range bytes.FieldsSeq([]byte(words)) {
		set[string(w)] = true
	}
	return set
}

// Person appends the name of another person to dst: each given name and
// surname has its own surrogate, of the same gender and origin, initials
// become other initials; order, commas, hyphens, particles and case stay. False:
// there is no name in it.
func (w *Writer) Person(dst, value []byte) (out []byte, ok bool) {
	w.take(value)
	accents := hasAccents(value)
	givenFirst, at, surnamesSeen := !w.commaFirst(value), 0, 0
	names := 0
	for i, p := range w.parts {
		switch {
		case p.kind == comma:
			givenFirst, surnamesSeen = true, -1 // given names follow
			continue
		case p.kind == numeral:
			return dst, false
		}
		dst = append(dst, value[at:p.start]...)
		at = p.end
		f := w.folded(value, p)
		switch {
		case p.letters == 1 && unicode.IsUpper(rune(value[p.start])):
			dst = w.initial(dst, f)
			names++
			continue
		case w.isParticle(value, p):
			dst = append(dst, value[p.start:p.end]...)
			continue
		}
		names++
		name := ""
		if w.isGiven(f, i, givenFirst, surnamesSeen) {
			name = w.givenFor(value[p.start:p.end], f)
		} else {
			if surnamesSeen >= 0 {
				surnamesSeen++
			}
			name = w.surnameFor(f)
		}
		if name == "" {
			return dst, false
		}
		dst = appendLike(dst, value[p.start:p.end], name, accents)
	}
	return append(dst, value[at:]...), names > 0
}

func (w *Writer) isParticle(value []byte, p part) bool {
	w.try = appendLower(w.try[:0], value[p.start:p.end])
	return particles[string(w.try)]
}

// commaFirst tells whether the value is written as García López, Ana.
func (w *Writer) commaFirst(value []byte) bool {
	for i, p := range w.parts {
		if p.kind == comma && value[p.start] == ',' {
			return i > 0 && i < len(w.parts)-1
		}
	}
	return false
}

// isGiven tells whether part i, a folded word, is a given name: by the lists,
// and where they know it as both or neither, by its place.
func (w *Writer) isGiven(f []byte, i int, givenFirst bool, surnamesSeen int) bool {
	if surnamesSeen < 0 {
		return true
	}
	if !givenFirst {
		return false
	}
	_, isGiven := w.lists.given[string(f)]
	_, isSurname := w.lists.surnames[string(f)]
	if isGiven != isSurname {
		return isGiven
	}
	if isGiven {
		return surnamesSeen == 0
	}
	return i == 0 && len(w.parts) > 1
}

// givenFor draws for a given name and its folded form. As it is written it is
// looked up first: Núria is Catalan, Nuria Spanish.
func (w *Writer) givenFor(written, f []byte) string {
	w.try = appendLower(w.try[:0], written)
	g, known := w.lists.given[string(w.try)]
	if !known {
		g, known = w.lists.given[string(f)]
	}
	if !known {
		g.woman = guessWoman(string(f))
		if w.Catalan {
			g.origin = catalan
		}
	}
	if g.woman {
		return w.from(womenNames+pool(g.origin), "woman", f)
	}
	return w.from(menNames+pool(g.origin), "man", f)
}

func (w *Writer) surnameFor(f []byte) string {
	o, known := w.lists.surnames[string(f)]
	if !known && w.Catalan {
		o = catalan
	}
	return w.from(surnames+pool(o), "surname", f)
}

// initials begin names about as often as they stand here.
const initials = "AAABCCDEFGGIJJLLMMMNPPRRRSSTV"

func (w *Writer) initial(dst, f []byte) []byte {
	for attempt := 0; ; attempt++ {
		if c := initials[w.Source.Draw("initial", f, attempt).IntN(len(initials))]; len(f) == 0 || c|0x20 != f[0] {
			return append(dst, c)
		}
	}
}
