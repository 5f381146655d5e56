package surrogate

import (
	"bytes"
	"unicode"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// genericWords belong to the kind of a place, not to its name.
var genericWords = setOf(`de del la las los el els les l d i y e en a al san santa sant general universitario universitaria universitari
	universitaria clinico clinica clinic provincial comarcal regional infantil materno maternal militar nacional central publico privado
	publica privada alta resolucion especialidades consultas externas urgencias urgencies atencion primaria salud salut medico
	medicos norte sur este oeste nord sud est oest nuestra senora nostra senyora virgen mare deu don dona doctor doctora dr dra
	piso puerta planta escalera bajo bajos baixos esc izq izquierda dcha derecha atico entlo entresuelo principal pral bloque portal
	num numero n km s n cp edificio poligono urbanizacion servicio servei unidad unitat`)

func generic(folded []byte) bool { return genericWords[string(folded)] }

// kinds of places by their first words.
type placeKind uint8

const (
	plainPlace placeKind = iota
	hospitalPlace
	healthCentre
	institution
	street
)

// Place appends another place to dst: a hospital for a hospital, a street for a
// street with another number, a town for one of the same size, a province, a
// country. The words that say what it is stay. False: nothing in it is a name.
func (w *Writer) Place(dst, value []byte) (out []byte, ok bool) {
	w.take(value)
	if at := w.known(value); at != 0 {
		name := w.from(at, "place", w.whole(value))
		return w.appendLike(dst, value, value, name), name != nil
	}
	head, kind := w.head(value)
	switch {
	case head == len(w.parts):
		return dst, false
	case kind == street || kind == plainPlace && w.hasDigits():
		return w.address(dst, value, head)
	case kind == plainPlace && len(w.parts) == 1 && isAcronym(value[w.parts[0].start:w.parts[0].end]):
		name := w.from(acronyms, "acronym", w.folded(value, w.parts[0]))
		return w.rest(dst, value, 0, name)
	}
	return w.rest(dst, value, head, w.nameFor(kind, value, head))
}

// whole returns the value folded, words by single blanks.
func (w *Writer) whole(value []byte) []byte {
	w.fold = w.fold[:0]
	for _, p := range w.parts {
		if p.kind == comma {
			continue
		}
		if len(w.fold) > 0 {
			w.fold = append(w.fold, ' ')
		}
		w.fold = gazetteer.Fold(w.fold, value[p.start:p.end])
	}
	return w.fold
}

// known returns the pool of a place that the lists know, else 0.
func (w *Writer) known(value []byte) pool {
	if at := w.lists.places[string(gazetteer.Fold(w.fold[:0], bytes.TrimSpace(value)))]; at != 0 {
		return at
	}
	return w.lists.places[string(w.whole(value))]
}

// head returns how many parts say what kind of place it is, and the kind.
func (w *Writer) head(value []byte) (n int, kind placeKind) {
	for i, p := range w.parts {
		if p.kind != word {
			return i, kind
		}
		f := w.folded(value, p)
		c := gazetteer.Default().Classes(value[p.start:p.end])
		switch {
		case i == 0 && (c&gazetteer.StreetType != 0 || string(f) == "c"):
			kind = street
		case kind == plainPlace && primaryCare[string(f)]:
			kind = healthCentre
		case kind <= hospitalPlace && c&gazetteer.HospitalHead != 0:
			kind = hospitalPlace
		case kind == plainPlace && c&gazetteer.InstitutionHead != 0:
			kind = institution
		case kind == hospitalPlace && primaryCare[string(f)]: // centro de salud
			kind = healthCentre
		case (i == 0 || kind == plainPlace) && (!generic(f) || i == 0):
			return 0, plainPlace
		case !generic(f):
			return i, kind
		}
	}
	return len(w.parts), kind
}

var primaryCare = setOf(`cap ambulatorio ambulatori consultorio consultori salud salut abs cs ubs uba cuap`)

// nameFor draws the name of a place of a kind, for what follows the head.
func (w *Writer) nameFor(kind placeKind, value []byte, head int) []byte {
	w.fold = w.fold[:0]
	for _, p := range w.parts[head:] {
		if len(w.fold) > 0 {
			w.fold = append(w.fold, ' ')
		}
		w.fold = gazetteer.Fold(w.fold, value[p.start:p.end])
	}
	town := w.lists.places[string(w.fold)]
	switch {
	case town >= towns && town < cities:
		return w.from(town, "place", w.fold)
	case kind == hospitalPlace:
		return w.from(centres, "centre", w.fold)
	case kind == institution:
		return w.from(surnames, "institution", w.fold)
	}
	return w.from(towns+2, "place", w.fold)
}

// rest appends the head and a name in place of what follows it.
func (w *Writer) rest(dst, value []byte, head int, name []byte) ([]byte, bool) {
	if name == nil {
		return dst, false
	}
	from, last := w.parts[head], w.parts[len(w.parts)-1]
	dst = append(dst, value[:from.start]...)
	dst = w.appendLike(dst, value, value[from.start:from.end], name)
	return append(dst, value[last.end:]...), true
}

func (w *Writer) hasDigits() bool {
	for _, p := range w.parts {
		if p.kind == numeral {
			return true
		}
	}
	return false
}

// isAcronym tells whether a word is written in two to six capitals.
func isAcronym(text []byte) bool {
	if len(text) < 2 || len(text) > 6 {
		return false
	}
	for _, b := range text {
		if !unicode.IsUpper(rune(b)) {
			return false
		}
	}
	return true
}

// address appends a street with a number, a floor, a postal code, a town: each
// run of words between numbers and commas has one surrogate, a street behind
// its kind, a town elsewhere; numbers have as many digits.
func (w *Writer) address(dst, value []byte, head int) ([]byte, bool) {
	at, names := 0, 0
	for i := 0; i < len(w.parts); {
		p := w.parts[i]
		dst = append(dst, value[at:p.start]...)
		if i < head || p.kind == comma || p.kind == word && (generic(w.folded(value, p)) || p.letters == 1) {
			dst = append(dst, value[p.start:p.end]...)
			at = p.end
			i++
			continue
		}
		if p.kind == numeral {
			dst = w.digits(dst, value[p.start:p.end], "address")
			names++
			at = p.end
			i++
			continue
		}
		end := i + 1
		for end < len(w.parts) && w.parts[end].kind == word {
			end++
		}
		name := w.run(value, i, end, i == head && head > 0)
		if name == nil {
			return dst, false
		}
		dst = w.appendLike(dst, value, value[p.start:p.end], name)
		names++
		at = w.parts[end-1].end
		i = end
	}
	return append(dst, value[at:]...), names > 0
}

// run draws a name for the words from i to end.
func (w *Writer) run(value []byte, i, end int, street bool) []byte {
	w.fold = w.fold[:0]
	for _, p := range w.parts[i:end] {
		if len(w.fold) > 0 {
			w.fold = append(w.fold, ' ')
		}
		w.fold = gazetteer.Fold(w.fold, value[p.start:p.end])
	}
	if at := w.lists.places[string(w.fold)]; at != 0 && !street {
		return w.from(at, "place", w.fold)
	}
	return w.from(streets, "street", w.fold)
}

// Profession appends another occupation to dst, which ends alike: in a for a
// woman's.
func (w *Writer) Profession(dst, value []byte) (out []byte, ok bool) {
	w.take(value)
	f := w.whole(value)
	if len(f) < 3 {
		return dst, false
	}
	at := tradesOf
	if f[len(f)-1] == 'a' {
		at = trades
	}
	name := w.from(at, "profession", f)
	return w.appendLike(dst, value, value, name), name != nil
}
