package surrogate

import (
	"bytes"
	"slices"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
)

// genericWords belong to the kind of a place, not to its name.
var genericWords = locale.Words("surrogate generic")

func generic(folded []byte) bool { return genericWords[string(folded)] }

// doors lists the words before the number of a house or flat.
var doors = locale.Words("surrogate door")

// particlesOfPlaces stand between the word for a place and its name: those of the new
// name come with it.
var particlesOfPlaces = locale.Words("surrogate place-particle")

// placeKind is the kind of a place by its first words.
type placeKind uint8

const (
	plainPlace placeKind = iota
	hospitalPlace
	healthCentre
	house
	street
)

// PlaceIn appends another place to dst: a hospital for a hospital, a street with another number for a street, a town of
// similar size for a town, and likewise for provinces and countries. Words for the kind of place stay. ok is false if
// value has no name. run is the sequence of adjacent places that value belongs to, so that street, postal code and town
// agree with each other.
func (w *Writer) PlaceIn(dst, value, run []byte) (out []byte, ok bool) {
	w.settle(run)
	w.take(value)
	if w.home == nil {
		return dst, false
	}
	at, names := 0, 0
	for i := 0; i < len(w.parts); {
		p := w.parts[i]
		if p.kind == comma {
			i++
			continue
		}
		dst = append(dst, value[at:p.start]...)
		if p.kind == numeral {
			dst = w.numberIn(dst, value[p.start:p.end])
			at = p.end
			i++
			names++
			continue
		}
		end := w.end(value, i)
		wrote := false
		if dst, wrote = w.part(dst, value, i, end); wrote {
			names++
		}
		at = w.parts[end-1].end
		i = end
	}
	return append(dst, value[at:]...), names > 0
}

// numberIn appends a postal code of the home, or as many other digits.
func (w *Writer) numberIn(dst, digits []byte) []byte {
	if len(digits) != 5 {
		return w.digits(dst, digits, "address")
	}
	start := len(dst)
	for attempt := range attempts {
		dst = w.home.appendPostal(dst[:start], w.Source.Draw("postal", 0, w.key, attempt))
		if !bytes.Equal(dst[start:], digits) && !w.Source.Avoid(dst[start:]) {
			break
		}
	}
	return dst
}

// end returns where the words end that begin with part i: at a sign that ends them, or
// at a number, unless it is in the name of a house.
func (w *Writer) end(value []byte, i int) int {
	_, kind := w.head(value, i, len(w.parts))
	inName := kind == hospitalPlace || kind == house
	end := i + 1
	for end < len(w.parts) && !w.ends(value, end) && (w.parts[end].kind == word || inName) && !doors[string(w.folded(value, w.parts[end]))] {
		end++
	}
	return end
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

// part appends what stands for parts i to end, words without a sign between.
func (w *Writer) part(dst, value []byte, i, end int) ([]byte, bool) {
	if name := w.knownPlace(value, i, end); name != nil {
		return appendLike(dst, value[w.parts[i].start:w.parts[end-1].end], name, w.Accents || HasAccents(value)), true
	}
	head, kind := w.head(value, i, end)
	from := head
	for from < end && (kind != plainPlace || from > i) && particlesOfPlaces[string(w.folded(value, w.parts[from]))] {
		from++
	}
	if from == end || w.allGeneric(value, from, end) && kind == plainPlace {
		return append(dst, value[w.parts[i].start:w.parts[end-1].end]...), false
	}
	if head > i {
		dst = append(dst, value[w.parts[i].start:w.parts[head].start]...)
	}
	like := value[w.parts[from].start:w.parts[from].end]
	f := w.foldedRun(value, from, end)
	if f == nil {
		f = w.key
	}
	name := w.nameFor(kind, value, like, f, i, head)
	if name == nil {
		return dst, false
	}
	if from == head+1 && kind > hospitalPlace && name[0] != 'd' && bytes.HasPrefix([]byte("de"), w.folded(value, w.parts[head])) {
		name = w.appendOf(nil, string(name)) // CAP de Sils
	}
	return appendLike(dst, like, name, w.Accents || HasAccents(value)), true
}

// allGeneric tells whether words say only what kind of place it is, or which door.
func (w *Writer) allGeneric(value []byte, i, end int) bool {
	return !slices.ContainsFunc(w.parts[i:end], func(p part) bool {
		return p.kind != word || p.letters > 1 && !generic(w.folded(value, p))
	})
}

// knownPlace returns the surrogate of a town, province, community, country or city in the lists; nil if the lists do
// not have it.
func (w *Writer) knownPlace(value []byte, i, end int) []byte {
	readRegions()
	f := w.foldedRun(value, i, end)
	at := w.lists.places[string(f)]
	h, p := w.lists.homeOf[string(f)], w.lists.provinces[string(f)]
	if p != nil && (!bytes.Equal(f, w.key) || i > 0 && bytes.IndexByte(value[w.parts[i-1].end:w.parts[i].start], '(') >= 0) {
		h = nil // Girona behind Olot is the province
	}
	switch {
	case f == nil:
		return nil
	case h != nil || p == nil && at >= towns && at < cities:
		if small := at == towns || at == towns+1; small && bytes.Equal(w.key, w.whole(value)) {
			return w.from(at, "place", w.key)
		}
		return append(w.name[:0], w.home.town...)
	case p == nil && regions[string(f)]:
		return append(w.name[:0], w.regionName()...)
	case p != nil || at == provinces:
		return append(w.name[:0], w.home.in.name...)
	case at == countries:
		tongue := language(w.Catalan)
		if slices.Contains(w.lists.countries[1-tongue], string(f)) && !slices.Contains(w.lists.countries[tongue], string(f)) {
			tongue = 1 - tongue
		}
		return w.from(countriesBy+pool(tongue), "country", f)
	case at == cities:
		return w.from(cities, "place", f)
	}
	return nil
}

func (w *Writer) regionName() string {
	if w.Catalan && w.home.in.region == "Cataluña" {
		return "Catalunya"
	}
	return w.home.in.region
}

// head returns up to which part of i to end the words say what kind of place it is,
// and the kind.
func (w *Writer) head(value []byte, i, end int) (n int, kind placeKind) {
	start := i
	for ; i < end && w.parts[i].kind == word; i++ {
		f := w.folded(value, w.parts[i])
		says, particle := qualifiers[string(f)], particlesOfPlaces[string(f)]
		c := gazetteer.Default().Classes(value[w.parts[i].start:w.parts[i].end])
		first := i == start
		switch {
		case first && string(f) == "c" && i+1 < end && w.parts[i+1].letters == 1 &&
			bytes.IndexByte([]byte("sShH"), value[w.parts[i+1].start]) >= 0:
			kind = healthCentre // C.S., C. H.
			i++
		case first && (c&gazetteer.StreetType != 0 || string(f) == "c"):
			kind = street
		case kind != street && primaryCare[string(f)]:
			kind = healthCentre
		case first && hospitals[string(f)]:
			kind = hospitalPlace
		case first && (firms[string(f)] || c&(gazetteer.HospitalHead|gazetteer.InstitutionHead) != 0):
			kind = house
		case first || particle && !w.headGoesOn(value, i+1, end):
			return i, kind
		case !says && !particle:
			return i, kind
		}
	}
	return i, kind
}

// PlaceKind returns the kind of a place: hospital, health centre, house, street, number (postal code), country,
// province, or any other, such as a town. Places of one kind may replace each other.
func (w *Writer) PlaceKind(value []byte) uint8 {
	w.take(value)
	if _, kind := w.head(value, 0, len(w.parts)); kind != plainPlace {
		return uint8(kind)
	}
	c := gazetteer.Default().Classes(value)
	switch {
	case len(w.parts) > 0 && w.parts[0].kind == numeral:
		return uint8(street) + 1
	case c&gazetteer.Country != 0:
		return uint8(street) + 2
	case c&gazetteer.Province != 0 && c&gazetteer.Municipality == 0:
		return uint8(street) + 3
	}
	return uint8(plainPlace)
}

// headGoesOn tells whether the word behind a particle still says what kind of place it
// is: centro de salud, hospital de día.
func (w *Writer) headGoesOn(value []byte, i, end int) bool {
	if i >= end || w.parts[i].kind != word {
		return false
	}
	f := w.folded(value, w.parts[i])
	return primaryCare[string(f)] || qualifiers[string(f)]
}

var (
	hospitals   = locale.Words("surrogate hospital")
	primaryCare = locale.Words("surrogate primary-care")
	qualifiers  = locale.Words("surrogate qualifier")
	// firms say what they make or sell, and whose they are
	firms = locale.Words("surrogate firm")
)

// nameFor draws the name of a place of a kind, for the folded words f of which like is
// the first: it stands behind parts i to head.
func (w *Writer) nameFor(kind placeKind, value, like, f []byte, i, head int) []byte {
	switch {
	case kind != plainPlace && bytes.IndexByte(f, ' ') > 0 && gazetteer.Default().Classes(like)&gazetteer.GivenName != 0:
		at, tongue := menNames, pool(language(w.catalan)) // Isabel Zendal
		if w.given(like).woman {
			at = womenNames
		}
		w.after = append(append(w.after[:0], w.from(at+tongue, "called", f)...), ' ')
		w.after = append(w.after, w.from(surnames+tongue, "called", f)...)
		return w.after
	case kind == hospitalPlace:
		return w.hospital(head-i > 1)
	case kind > hospitalPlace && (kind != healthCentre || w.lists.places[string(f)] == 0):
		return w.called([...]pool{healthCentre: care, house: houses, street: streetsBy}[kind], like, f)
	case kind != plainPlace:
	case isAcronym(like) && len(w.parts) == 1:
		return w.from(acronyms, "acronym", f)
	case i == 0 && slices.ContainsFunc(w.parts, func(p part) bool { return p.kind == numeral }):
		return w.called(streetsBy, like, f)
	case bytes.Equal(w.key, w.whole(value)):
		return w.from(towns, "place", w.key) // no list has it: a village
	}
	return append(w.name[:0], w.home.town...)
}

// called draws the name of an institution, a firm, a street or a health centre: a surname for a surname and for a word of no
// list, otherwise a name from a list or of a street. The lists alone have a few dozen, and a model trained on these found a ninth
// fewer of the places in other notes.
func (w *Writer) called(at pool, like, f []byte) []byte {
	if c := gazetteer.Default().Classes(like); bytes.IndexByte(f, ' ') < 0 && (c == 0 || c&gazetteer.Surname != 0) {
		at = surnames
	} else if w.Source.Draw("called", 0, f, 0).IntN(2) == 0 {
		at = streetsBy
	}
	return w.from(at+pool(language(w.catalan)), "called", f)
}

// isAcronym tells whether a word is written in two to six capitals.
func isAcronym(text []byte) bool {
	return len(text) >= 2 && len(text) <= 6 && len(bytes.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) == 0
}

// Profession appends another occupation of the same language and gender to dst.
func (w *Writer) Profession(dst, value []byte) (out []byte, ok bool) {
	w.take(value)
	if len(w.parts) == 0 || w.parts[0].kind != word || w.parts[0].letters < 3 {
		return dst, false
	}
	f := w.folded(value, w.parts[0])
	woman := f[len(f)-1] == 'a'
	f = w.whole(value)
	tongue := w.Catalan
	if t, known := w.lists.trades[string(f)]; known && !w.lists.both[string(f)] {
		tongue = t
	}
	at := tradesBy + pool(language(tongue))
	if woman {
		at += 2
	}
	name := w.from(at, "profession", f)
	return appendLike(dst, value, name, w.Accents || HasAccents(value)), name != nil
}
