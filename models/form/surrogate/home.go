package surrogate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// home is the town to which an address, or a row of adjacent places, is moved, with its postal codes and hospitals.
type home struct {
	town      string
	size      pool   // by people
	postal    string // the first code of the town
	codes     int    // how many it has
	hospitals []string
	in        *province
}

type province struct {
	code, name, region string
	catalan            bool
}

// homes holds the towns, drawn by population.
type homes struct {
	all  []*home
	upTo []int // thousands of people
}

func (h *homes) add(a *home, thousands int) {
	if n := len(h.upTo); n > 0 {
		thousands += h.upTo[n-1]
	}
	h.all, h.upTo = append(h.all, a), append(h.upTo, thousands)
}

func (h *homes) draw(rng *rand.Rand) *home {
	at, _ := slices.BinarySearch(h.upTo, rng.IntN(h.upTo[len(h.upTo)-1])+1)
	return h.all[at]
}

// language is the row of tables that are kept by language.
func language(isCatalan bool) int {
	if isCatalan {
		return 1
	}
	return 0
}

// readHomes reads lists/places.txt: a line "= code;names;language;community" for a
// province, and below it its towns.
func (l *lists) readHomes() {
	l.homeOf, l.provinces = map[string]*home{}, map[string]*province{}
	var in *province
	for line := range lines("lists/places.txt") {
		if rest, ok := strings.CutPrefix(line, "= "); ok {
			in = l.readProvince(rest)
			continue
		}
		f := strings.Split(line, ";")
		thousands, err := strconv.Atoi(f[1])
		if err != nil {
			panic("surrogate: places.txt: " + line) // a test reads it
		}
		h := &home{town: f[0], size: sizeOf(1000 * thousands), in: in, codes: 1}
		first, last, many := strings.Cut(f[2], "-")
		if h.postal = first; many {
			h.codes = number([]byte(last)) - number([]byte(first[5-len(last):])) + 1
		}
		if len(f) > 3 {
			h.hospitals = strings.Split(f[3], "|")
		}
		of := language(in.catalan)
		l.homes[of].add(h, thousands)
		l.homesBySize[of][h.size].add(h, thousands)
		l.homeOf[folded(h.town)] = h
	}
}

// readProvince reads "08;Barcelona;ca;Cataluña".
func (l *lists) readProvince(line string) *province {
	f := strings.Split(line, ";")
	names := strings.Split(f[1], "|")
	p := &province{code: f[0], name: names[0], region: f[3], catalan: f[2] == "ca"}
	for _, name := range names {
		l.provinces[folded(name)] = p
	}
	return p
}

// Begin starts a note with its places, one per line. A place that names no town is assumed to be in the first town that
// the note names. Without Begin, each run of adjacent places is treated by itself.
func (w *Writer) Begin(places []byte) {
	w.take(places)
	w.first = w.townIn(places)
	w.towns = append(append(w.towns[:0], w.key...), '\n')
	w.inNote = true
}

// site holds what a run of text says about its place.
type site struct {
	size    pool // numSizes: it does not say
	catalan bool
}

// settle draws the home of a run of adjacent places: a town of the same size as the one that the run names, in the same
// language. w.home is nil if there is no town that may be used.
func (w *Writer) settle(run []byte) {
	w.take(run)
	at, nth := w.townIn(run), 0
	switch {
	case w.inNote && at.size == numSizes:
		at = w.first
		w.key = append(w.key[:0], w.towns[:bytes.IndexByte(w.towns, '\n')]...)
	case w.inNote:
		nth = w.townNumber()
	}
	if len(w.key) == 0 {
		w.key = append(w.key[:0], w.whole(run)...)
	}
	w.catalan = at.catalan
	w.home = w.drawHome(at.size, nth)
}

// townNumber returns which of the towns of the note the one in w.key is.
func (w *Writer) townNumber() (n int) {
	for town := range bytes.SplitSeq(w.towns, []byte{'\n'}) {
		if bytes.Equal(town, w.key) {
			return n
		}
		n++
	}
	w.towns = append(append(w.towns, w.key...), '\n')
	return n - 1
}

// townIn finds the first town that a text names and leaves its folded name in w.key; without a town, what the text's
// provinces and streets say.
func (w *Writer) townIn(text []byte) site {
	w.key = w.key[:0]
	at := site{numSizes, w.Catalan}
	inStreet := false
	for i, p := range w.parts {
		if i == 0 || w.ends(text, i) {
			f := w.folded(text, p)
			inStreet = gazetteer.Default().Classes(text[p.start:p.end])&gazetteer.StreetType != 0 || string(f) == "c"
			if tongue, ok := streetTongue[string(f)]; ok {
				at.catalan = tongue
			}
		}
		if inStreet = inStreet && p.kind == word; inStreet {
			continue // a street is called after a town
		}
		for j := min(len(w.parts), i+longestTown); j > i; j-- {
			f := w.foldedRun(text, i, j)
			if f == nil {
				continue
			}
			place := w.lists.places[string(f)]
			if h := w.lists.homeOf[string(f)]; h != nil {
				w.key = append(w.key, f...)
				return site{h.size, h.in.catalan}
			} else if p := w.lists.provinces[string(f)]; p != nil {
				at.catalan = p.catalan
			} else if place >= towns && place < cities {
				w.key = append(w.key, f...)
				return site{place - towns, at.catalan}
			}
		}
	}
	return at
}

// longestTown is how many words the name of a town has at the most.
const longestTown = 5

func (w *Writer) drawHome(size pool, nth int) *home {
	of := &w.lists.homes[language(w.catalan)]
	if size < numSizes && w.lists.homesBySize[language(w.catalan)][size].all != nil {
		of = &w.lists.homesBySize[language(w.catalan)][size]
	}
	for attempt := range attempts {
		h := of.draw(w.Source.Draw("home", nth, w.key, attempt))
		w.name = append(append(append(w.name[:0], h.town...), ' '), h.in.name...)
		if w.fits(w.key) {
			return h
		}
	}
	return nil
}

// foldedRun returns parts i to j folded, words by single blanks; nil if something
// stands between them that ends a name.
func (w *Writer) foldedRun(value []byte, i, j int) []byte {
	w.fold = w.fold[:0]
	for k := i; k < j; k++ {
		if w.parts[k].kind != word || k > i && w.ends(value, k) {
			return nil
		}
		if k > i {
			w.fold = append(w.fold, ' ')
		}
		w.fold = gazetteer.Fold(w.fold, value[w.parts[k].start:w.parts[k].end])
	}
	return w.fold
}

// ends tells whether what stands before part k ends the name before it.
func (w *Writer) ends(value []byte, k int) bool {
	return bytes.ContainsAny(value[w.parts[k-1].end:w.parts[k].start], ",;()\n") || w.parts[k].kind == comma
}

// streetTongue tells whether a word for a way is Catalan.
var streetTongue = map[string]bool{}

func init() {
	locale.Read("surrogate way", func(l pipeline.Language, _, words []string) error {
		for _, w := range words {
			streetTongue[w] = l == pipeline.Catalan
		}
		return nil
	})
}

// appendPostal appends a postal code of the home.
func (h *home) appendPostal(dst []byte, rng *rand.Rand) []byte {
	code := strconv.Itoa(100_000 + number([]byte(h.postal)) + rng.IntN(max(h.codes, 1)))
	return append(dst, code[1:]...)
}

// hospital returns the name of a hospital of the home, to follow the word for it: General de Vic, because a name that
// every town has would say nothing of this one. named says that the words before it give the kind already.
func (w *Writer) hospital(named bool) []byte {
	h := w.home
	if n := len(h.hospitals); n > 0 {
		name := h.hospitals[w.Source.Draw("hospital", 0, w.key, 0).IntN(n)]
		if _, plain := plainHospitals[name]; !plain {
			return append(w.name[:0], name...)
		} else if !named {
			return w.appendOf(append(append(w.name[:0], name...), ' '), h.town)
		}
	}
	return w.appendOf(w.name[:0], h.town)
}

// plainHospitals are names that say only what kind of hospital it is.
var plainHospitals = locale.Forms("surrogate plain-hospital")

// appendOf appends a town behind the word for of: de Sabadell, d'Olot, del Prat.
func (w *Writer) appendOf(dst []byte, town string) []byte {
	if w.catalan {
		for _, article := range [...][2]string{{"El ", "del "}, {"Els ", "dels "}, {"La ", "de la "}, {"Les ", "de les "}, {"L'", "de l'"}} {
			if rest, ok := strings.CutPrefix(town, article[0]); ok {
				return append(append(dst, article[1]...), rest...)
			}
		}
		if strings.IndexByte("AEIOUH", town[0]) >= 0 {
			return append(append(dst, "d'"...), town...)
		}
	}
	return append(append(dst, "de "...), town...)
}
