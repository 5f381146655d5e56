package surrogate

import (
	"bytes"
	"slices"
	"unicode"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
)

// particles lists particles and titles in lower case that may stand among names and are no part of them (doña, while
// Donà is a surname). They identify nobody: those of three letters and more are also ignored by stages/verify.
var particles = locale.Forms("surrogate particle")

// role is the part that a word plays in a person's name.
type role uint8

const (
	sign role = iota // comma, particle: it stays
	initial
	givenName
	surname
)

// Person appends the name of another person to dst. Each given name and surname is replaced by one of the same gender
// and origin, a usual pair of given names by another usual pair, and initials by initials; order, commas, hyphens,
// particles and case stay. ok is false if value has no name.
func (w *Writer) Person(dst, value []byte) (out []byte, ok bool) {
	w.take(value)
	if !w.assign(value) {
		return dst, false
	}
	at, names, accents := 0, 0, w.accented(value)
	for i := 0; i < len(w.parts); i++ {
		p := w.parts[i]
		if w.roles[i] == sign {
			continue
		}
		names++
		dst = append(dst, value[at:p.start]...)
		at = p.end
		var name []byte
		switch {
		case w.roles[i] == initial:
			at := len(dst)
			for k := range p.letters {
				dst = w.initial(dst, w.folded(value, p)[k:])
			}
			if unicode.IsLower(rune(value[p.start])) {
				dst[at] |= 0x20 // "debora g."
			}
			continue
		case w.roles[i] == surname:
			name = w.surnameFor(value, i)
		case w.behind(value, i) != 0 || i > 0 && w.isMaria(value, i-1):
			name = w.givenFor(value, i)
		default:
			if w.isPair(value, i) {
				i++
			}
			at = w.parts[i].end
			name = w.givenNames(value[p.start:at])
			p.end = at
		}
		if name == nil {
			return dst, false
		}
		dst = appendLike(dst, value[p.start:p.end], name, accents)
	}
	return append(dst, value[at:]...), names > 0
}

// accented reports whether a surrogate is written with its accents: as the original is or, if the original has none to
// show, as the note is. Names in capitals mostly have none.
func (w *Writer) accented(name []byte) bool {
	if HasAccents(name) {
		return true
	}
	could := slices.ContainsFunc(w.parts, func(p part) bool { return w.lists.accented[string(w.folded(name, p))] })
	return w.Accents && !could && bytes.IndexFunc(name, unicode.IsLower) >= 0
}

// assign finds the role of each part. False: a number is among them.
func (w *Writer) assign(value []byte) bool {
	w.roles = w.roles[:0]
	turned, before := w.commaFirst(value), 0 // before: how many given names
	for i, p := range w.parts {
		r := sign
		switch {
		case p.kind == numeral:
			return false
		case p.kind == comma:
			turned, before = false, -1 // given names follow
		case p.letters == 1 && unicode.IsUpper(rune(value[p.start])):
			r = initial
		case w.isParticle(value, p):
		case p.letters == 1, len(w.parts) == 1 && p.letters < 4 && isAcronym(value[p.start:p.end]) &&
			gazetteer.Default().Classes(value[p.start:p.end])&(gazetteer.GivenName|gazetteer.Surname) == 0:
			r = initial // MGB alone: VIZ behind a name would be told as a short rare surname
		case w.isGiven(value, i, turned, before):
			r = givenName
			if before >= 0 {
				before++
			}
		default:
			r = surname
		}
		w.roles = append(w.roles, r)
	}
	return true
}

// isGiven tells whether part i is a given name: by the lists, and where they know
// it as both or neither, by its place. turned: surnames stand first; before: given
// names before it, -1 behind a comma.
func (w *Writer) isGiven(value []byte, i int, turned bool, before int) bool {
	switch {
	case w.behind(value, i) != 0:
		return w.behind(value, i) >= mariaDeLa
	case turned:
		return false
	case before < 0:
		return true
	}
	f := w.folded(value, w.parts[i])
	_, isGiven := w.lists.given[string(f)]
	_, isSurname := w.lists.surnames[string(f)]
	switch last := i == len(w.parts)-1; {
	case i > 0 && w.roles[i-1] == surname:
		return false
	case before > 0 && last:
		return w.together(value, i-1) || w.lists.leaning[string(f)] > hardlySurname
	case before > 0 && isSurname:
		return isGiven && w.lists.leaning[string(f)] > 0 || w.together(value, i-1)
	case isGiven != isSurname:
		return isGiven
	case isGiven:
		return len(w.parts) > 1 || w.lists.leaning[string(f)] >= 0 // Moreno alone
	}
	return i == 0 && len(w.parts) > 1
}

// hardlySurname is the ratio, in hundreds, of people above which a name counts as a given name wherever it is: Luis
// Francisco.
const hardlySurname = 2000

// together tells whether parts i and i+1 are given names that go together.
func (w *Writer) together(value []byte, i int) bool {
	w.try = gazetteer.Fold(w.try[:0], value[w.parts[i].start:w.parts[i+1].end])
	_, known := w.lists.pairs[string(w.try)]
	return known
}

// isPair tells whether parts i and i+1 are given names with a blank between.
func (w *Writer) isPair(value []byte, i int) bool {
	return i+1 < len(w.parts) && w.roles[i+1] == givenName && w.parts[i+1].start-w.parts[i].end == 1 && value[w.parts[i].end] == ' '
}

// inPairs is how many of a hundred people have two given names.
const inPairs = 30

// givenNames draws one given name, or two that are used together, whatever the original had. If the number were kept,
// it would identify people: the median rank among candidates fell by half.
func (w *Writer) givenNames(run []byte) []byte {
	first, second, two := bytes.Cut(run, []byte{' '})
	g := w.given(first)
	if two {
		g.origin = w.pairOrigin(first, second, g.origin)
	}
	at, pair := menNames, twoMen
	if g.woman {
		at, pair = womenNames, twoWomen
	}
	w.fold = gazetteer.Fold(w.fold[:0], run)
	if g.origin != elsewhere && w.Source.Draw("words", w.nth, w.fold, 0).IntN(100) < inPairs {
		at = pair
	}
	return w.from(at+pool(g.origin), "given", w.fold)
}

// pairOrigin returns where two given names are at home. Maria without accent may
// be both: Carmen or Carme tells.
func (w *Writer) pairOrigin(one, two []byte, o origin) origin {
	w.try = append(append(append(w.try[:0], one...), ' '), two...)
	w.name = gazetteer.Fold(w.name[:0], w.try)
	if known, ok := w.lists.pairs[string(w.name)]; ok && !w.lists.bothGiven[string(w.name)] {
		return known
	}
	if w.try = gazetteer.Fold(w.try[:0], one); w.lists.bothGiven[string(w.try)] && !HasAccents(one) {
		o = w.given(two).origin
	}
	if o == elsewhere {
		return w.tongue()
	}
	return o
}

// tongue is the origin of names that are Spanish and Catalan ones.
func (w *Writer) tongue() origin {
	if w.Catalan {
		return catalan
	}
	return spanish
}

func (w *Writer) isParticle(value []byte, p part) bool {
	w.try = appendLower(w.try[:0], value[p.start:p.end])
	return particles[string(w.try)]
}

// commaFirst tells whether the value is written as García López, Ana.
func (w *Writer) commaFirst(value []byte) bool {
	i := slices.IndexFunc(w.parts, func(p part) bool { return p.kind == comma && value[p.start] == ',' })
	return i > 0 && i < len(w.parts)-1
}

// given returns what is known of a given name, or guessed. As it is written it is
// looked up first: Núria is Catalan, Nuria Spanish.
func (w *Writer) given(written []byte) given {
	w.try = appendLower(w.try[:0], written)
	g, known := w.lists.given[string(w.try)]
	if !known {
		w.try = gazetteer.Fold(w.try[:0], written)
		g, known = w.lists.given[string(w.try)]
	}
	if !known {
		g.woman = w.lists.guessWoman(string(w.try))
		g.origin = w.tongue()
	}
	if w.try = gazetteer.Fold(w.try[:0], written); w.lists.bothGiven[string(w.try)] && !HasAccents(written) {
		g.origin = w.tongue()
	}
	return g
}

// givenFor draws for part i, a given name behind María and the words between. Behind Mª
// stands what goes together with María.
func (w *Writer) givenFor(value []byte, i int) []byte {
	at := w.behind(value, i)
	if at == 0 {
		at = mariaDeLa + 5
	}
	return w.from(at, "maria", w.folded(value, w.parts[i]))
}

// isMaria tells whether part i is María or what is written for it.
func (w *Writer) isMaria(value []byte, i int) bool {
	f := w.folded(value, w.parts[i])
	return string(f) == "ma" || string(f) == "maria"
}

// surnameFor draws for part i, a surname: one that goes with the words before it.
func (w *Writer) surnameFor(value []byte, i int) []byte {
	at := w.behind(value, i)
	f := w.folded(value, w.parts[i])
	if at == 0 {
		at = surnames + pool(w.surnameOrigin(f, value[w.parts[i].start:w.parts[i].end]))
	}
	return w.from(at, "surname", f)
}

// surnameOrigin returns where a surname is at home, folded and as it is written:
// Rubió is Catalan, and Rubio too, if the note is.
func (w *Writer) surnameOrigin(f, written []byte) origin {
	o, known := w.lists.surnames[string(f)]
	w.try = appendLower(w.try[:0], written)
	switch exact, ok := w.lists.surnames[string(w.try)]; {
	case known && ok && HasAccents(written):
		return exact
	case known && w.lists.bothSurnames[string(f)]:
		return w.tongue()
	case known:
		return o
	case w.Catalan:
		return catalan
	}
	return guessOrigin(string(w.try))
}

// behind returns the pool of names that stand behind the particles before part i,
// and behind María, if she is before them; 0: any.
func (w *Writer) behind(value []byte, i int) (at pool) {
	if i == 0 {
		return 0
	}
	switch i--; string(w.folded(value, w.parts[i])) {
	case "la":
		at = afterDeLa
	case "del":
		at = afterDel
	case "los":
		at = afterDeLos
	case "las":
		at = afterDeLas
	case "de":
		at = afterDe
	default:
		return 0
	}
	for i > 0 && w.isParticle(value, w.parts[i]) && !w.isMaria(value, i) {
		i--
	}
	if w.isMaria(value, i) {
		at += mariaDeLa - afterDeLa
	}
	return at
}

// initials begin names about as often as they stand here.
const initials = "AAABCCDEFGGIJJLLMMMNPPRRRSSTV"

func (w *Writer) initial(dst, f []byte) []byte {
	w.nth++
	for attempt := 0; ; attempt++ {
		if c := initials[w.Source.Draw("initial", w.nth, f, attempt).IntN(len(initials))]; len(f) == 0 || c|0x20 != f[0] {
			return append(dst, c)
		}
	}
}
