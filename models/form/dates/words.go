package dates

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/models/word/near"
	"github.com/velum-health/velum/pipeline"
)

// languageOf returns the language whose words are preferred where several
// have one: Spanish, if it is not known.
func languageOf(l pipeline.Language) pipeline.Language {
	if l == pipeline.UnknownLanguage || l == pipeline.MixedLanguage {
		return pipeline.Spanish
	}
	return l
}

// kind is a set of bits: the parts of a date that an item may be.
type kind uint32

const (
	number    kind = 1 << iota // digits
	month                      // octubre, oct, VI
	weekday                    // lunes
	third                      // principios, mediados, finales
	season                     // verano
	first                      // primero
	ordinal                    // º, th: behind a number
	yearWord                   // año
	dayWord                    // día
	particle                   // de, del, the: joins the parts of one date
	opener                     // entre, desde, semana: before a date or a range
	conn                       // y, al, hasta: between two dates
	clock                      // 10:30
	sign                       // / - . , ( ) '
	numeral                    // veinticinco
	ambiguous                  // a month that is a common word or unit too: set, mar
	foreign                    // a month or weekday that has its name in English only

	// What stands around dates, for [Finder].
	speaks   // speaks of time only: desde, hasta, día, pasado
	article  // may stand before a date: el, al, para
	inTime   // before a month or year alone: en, desde
	ofTime   // before a year and other things: de, del, entre
	until    // joins the ends of a range: al, hasta
	label    // fecha, nacido, alta
	occasion // what happens on a day: control
	reading  // before a score or measurement: Apgar, TA
	dosage   // comprimidos
	unit     // what a quantity is measured in
	naming   // what may be named after a day: hospital, calle
	monthly  // mes
	definite // el, al
	often    // cada, al: before a day that is no date
)

// form of the name of a month or weekday.
type form uint8

const (
	full form = iota
	short
	roman
)

// The names of kinds and forms in the sections of the topic, in their order.
const (
	kindNames = `number month weekday third season first ordinal yearWord dayWord particle opener conn clock sign numeral ambiguous
		foreign speaks article inTime ofTime until label occasion reading dosage unit naming monthly definite often`
	formNames = "full short roman"
)

// word holds the kinds that a folded word may have.
type word struct {
	kinds kind
	form  form
	langs uint16    // bit 1 << language
	value int       // month and numeral from 1, weekday, third and season from 0
	names *[]string // the list of a third or of a Roman month
}

// entry is all that a form can be: mar is a month and a weekday.
type entry struct {
	kinds kind
	words []word
}

// known maps folded words to their meanings; it and the variables below are filled at program start.
var (
	known     cut.Lexicon[entry]
	lists     = map[list][]string{} // the names of months, weekdays and seasons, and numerals
	compounds []compound            // the numerals of several words
	accented  = map[string]bool{}   // the full names that have accents, folded
	fuzzy     []fullName            // the full names that are found in spite of a mistake
	opens     cut.Prefixes          // the first three letters of the months and seasons
)

// list says which names stand in a list.
type list struct {
	kind     kind
	language pipeline.Language
	form     form
}

type fullName struct {
	folded string
	*entry
}

type compound struct {
	name  string
	words []word
}

func init() {
	locale.Read("dates", func(l pipeline.Language, section, words []string) error {
		w := word{kinds: kindNamed(section[0])}
		if w.kinds == 0 {
			return errors.New("there is no such kind of word")
		}
		if len(section) == 1 && w.kinds != third {
			for _, name := range words {
				addWord(name, w)
			}
			return nil
		}
		if w.langs = 1 << l; len(section) > 1 {
			w.form = max(form(slices.Index(strings.Fields(formNames), section[1])), full)
		}
		of := &list{w.kinds, l, w.form}
		if w.kinds == third || w.form == roman {
			of, w.langs = nil, 1<<pipeline.MaxLanguages-1
		}
		return addList(w, of, words)
	})
}

// kindNamed returns the kind of a name, 0 if there is none.
func kindNamed(name string) kind {
	i := slices.Index(strings.Fields(kindNames), name)
	if i < 0 {
		return 0
	}
	return 1 << i
}

// addList adds names in their order, or after a number other names of that one.
func addList(w word, of *list, names []string) error {
	if w.kinds&(month|numeral) != 0 {
		w.value = 1
	}
	if n, err := strconv.Atoi(names[0]); err == nil {
		for _, name := range names[1:] {
			w.value = n
			addWord(name, w)
		}
		return nil
	}
	switch {
	case len(names) != lengths[w.kinds]:
		return errors.New("the list has another length than those of other languages")
	case of == nil:
		w.names = &names
	default:
		lists[*of] = names
	}
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "_", " ")
		if w.kinds == numeral && strings.ContainsAny(name, "_-") {
			compounds = append(compounds, compound{names[i], []word{w}})
		} else {
			addWord(name, w)
		}
		if w.form == full && w.kinds&(month|weekday) != 0 {
			folded := fold(name)
			fuzzy = append(fuzzy, fullName{folded, known.Add(folded)})
			accented[folded] = accented[folded] || !isASCII([]byte(name))
		}
		w.value++
	}
	return nil
}

// lengths are how many names the lists have.
var lengths = map[kind]int{month: 12, weekday: 7, third: 3, season: 4, numeral: 31}

func fold(name string) string { return string(gazetteer.Fold(nil, []byte(name))) }

func addWord(text string, w word) {
	e := known.Add(text)
	e.kinds |= w.kinds
	if f := fold(text); w.kinds&(month|season) != 0 && len(f) > 2 {
		opens.Add(f)
	}
	for i, have := range e.words {
		if have.kinds == w.kinds && have.value == w.value && have.form == w.form && have.names == w.names {
			e.words[i].langs |= w.langs
			return
		}
	}
	e.words = append(e.words, w)
}

// misspelt returns the meanings of an unknown folded word that is nearly a full name of a month or weekday, and that
// name: one character wrong, missing, too many or swapped, two in names of eight letters or more. It returns nil if two
// names are equally near.
func misspelt(folded []byte) (names []word, name string) {
	if len(folded) < 4 {
		return nil, ""
	}
	best, distance := fullName{}, 3
	for _, n := range fuzzy {
		if n.folded[0] != folded[0] {
			continue
		}
		limit := 1
		if len(n.folded) >= 8 {
			limit = 2
		}
		switch d := mistakes(folded, n.folded, limit); {
		case d > limit:
		case d < distance:
			best, distance = n, d
		case d == distance && best.folded != n.folded:
			best = fullName{}
		}
	}
	if best.entry == nil {
		return nil, ""
	}
	return best.words, best.folded
}

// maxName is longer than every name.
const maxName = 16

// mistakes returns the number of mistakes (Damerau-Levenshtein, neighbours
// only) between two words, or more than limit.
func mistakes(a []byte, b string, limit int) int {
	if len(a) >= maxName || len(a)-len(b) > limit || len(b)-len(a) > limit || len(b) < 5 {
		return limit + 1
	}
	return near.Distance(a, b)
}
