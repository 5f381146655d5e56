package dates

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// language of a word of a date.
type language uint8

const (
	spanish language = iota
	catalan
	english
	numLanguages
)

// languageOf returns the language whose words are preferred where several
// have one: Spanish, if it is not known.
func languageOf(l pipeline.Language) language {
	switch l {
	case pipeline.Catalan:
		return catalan
	case pipeline.English:
		return english
	}
	return spanish
}

// kind of an item of a date.
type kind uint8

const (
	number   kind = iota // digits
	month                // octubre, oct, VI
	weekday              // lunes
	third                // principios, mediados, finales
	season               // verano
	first                // primero
	ordinal              // º, th: behind a number
	yearWord             // año
	dayWord              // día
	particle             // de, del, the: joins the parts of one date
	opener               // entre, desde, semana: before a date or a range
	conn                 // y, al, hasta: between two dates
	clock                // 10:30
	sign                 // / - . , ( ) '
)

// form of the name of a month or weekday.
type form uint8

const (
	full form = iota
	short
	roman
	numForms
)

var monthNames = [numLanguages][numForms][12]string{
	spanish: {
		full:  {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		short: {"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"},
	},
	catalan: {
		full:  {"gener", "febrer", "març", "abril", "maig", "juny", "juliol", "agost", "setembre", "octubre", "novembre", "desembre"},
		short: {"gen", "feb", "mar", "abr", "mai", "jun", "jul", "ago", "set", "oct", "nov", "des"},
	},
	english: {
		full:  {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"},
		short: {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
	},
}

var romanMonths = [12]string{"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"}

// otherMonths are spellings that are read and not written.
var otherMonths = [numLanguages]string{
	spanish: "1:ener 2:febr 4:abri 8:agos 9:setiembre 9:sept 9:set 9:setbre 9:septbre 10:octbre 10:octub 11:novbre 11:novi 12:dicbre 12:dici",
	catalan: "2:febr 8:ag 9:sep 9:sept 9:setbre 11:novbre 12:desbre",
	english: "9:sept",
}

var weekdayNames = [numLanguages][2][7]string{
	spanish: {{"lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"}, {"lun", "mar", "mié", "jue", "vie", "sáb", "dom"}},
	catalan: {{"dilluns", "dimarts", "dimecres", "dijous", "divendres", "dissabte", "diumenge"}, {"dl", "dm", "dx", "dj", "dv", "ds", "dg"}},
	english: {{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}, {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
}

// thirdNames are the words for the first, middle and last part of a month or
// year. Families keep their words together.
var thirdNames = [][3]string{
	{"principios", "mediados", "finales"}, {"primeros", "mediados", "finales"}, {"comienzos", "mediados", "finales"}, {"inicios", "mediados", "finales"},
	{"principio", "mitad", "final"}, {"inicio", "medio", "fin"}, {"comienzo", "mitad", "fines"},
	{"principis", "mitjans", "finals"}, {"començaments", "mitjan", "finals"}, {"inicis", "meitat", "acabaments"}, {"inici", "meitat", "fi"},
	{"early", "mid", "late"}, {"beginning", "middle", "end"}, {"start", "middle", "end"},
}

// seasonNames: winter is that of January.
var seasonNames = [numLanguages][4]string{
	spanish: {"invierno", "primavera", "verano", "otoño"},
	catalan: {"hivern", "primavera", "estiu", "tardor"},
	english: {"winter", "spring", "summer", "autumn"},
}

var plainWords = map[kind]string{
	yearWord: "año ano any anys años anos year años l'any",
	dayWord:  "dia dias dies day",
	particle: "de del d dels el la los las els les l of the en in on at a s",
	opener:   "entre desde des between from semana setmana week fecha data date",
	conn:     "a y i e o u and or al hasta fins to until till through through the",
	first:    "primero primer uno",
	ordinal:  "o er r a st nd rd th",
	clock:    "h hs hrs horas hores las les utc z",
}

// word is what a folded word can be.
type word struct {
	kinds  uint32 // bit 1 << kind
	form   form
	langs  uint8 // bit 1 << language
	family int8  // of a third
	value  int8  // month from 1, weekday, third and season from 0
}

func (w word) is(k kind) bool { return w.kinds>>k&1 != 0 }

// words by folded form and kind: mar is a month and a weekday.
var words = map[string][]word{}

// accented are the full names that have accents, folded.
var accented = map[string]bool{}

// fuzzy are the full names that are found in spite of a mistake.
var fuzzy []string

func addWord(text string, w word) {
	folded := string(gazetteer.Fold(nil, []byte(text)))
	for i, have := range words[folded] {
		if have.kinds == w.kinds && have.value == w.value && have.form == w.form && have.family == w.family {
			words[folded][i].langs |= w.langs
			return
		}
	}
	words[folded] = append(words[folded], w)
}

func init() {
	for l := range numLanguages {
		bit := uint8(1) << l
		for f := range roman {
			for i, name := range monthNames[l][f] {
				addWord(name, word{1 << month, f, bit, 0, int8(i + 1)})
			}
			for i, name := range weekdayNames[l][f] {
				addWord(name, word{1 << weekday, f, bit, 0, int8(i)})
			}
		}
		for other := range strings.FieldsSeq(otherMonths[l]) {
			n, name, _ := strings.Cut(other, ":")
			f := short
			if len(name) > 6 {
				f = full
			}
			addWord(name, word{1 << month, f, bit, 0, int8(len(n)*10 - 10 + int(n[len(n)-1]-'0'))})
		}
		for i, name := range seasonNames[l] {
			addWord(name, word{1 << season, full, bit, 0, int8(i)})
		}
		for _, name := range slices.Concat(monthNames[l][full][:], weekdayNames[l][full][:]) {
			folded := string(gazetteer.Fold(nil, []byte(name)))
			fuzzy = append(fuzzy, folded)
			accented[folded] = accented[folded] || !isASCII([]byte(name))
		}
	}
	for i, name := range romanMonths {
		addWord(name, word{1 << month, roman, 7, 0, int8(i + 1)})
	}
	for f, family := range thirdNames {
		for i, name := range family {
			addWord(name, word{1 << third, full, 7, int8(f), int8(i)})
		}
	}
	for k, list := range plainWords {
		for name := range strings.FieldsSeq(list) {
			addWord(name, word{kinds: 1 << k})
		}
	}
}

// lookup returns what a folded word can be; a full name also with a mistake:
// one character wrong, missing, too many or changed with the next, two in
// names of eight letters or more. nil if it is unknown or between two names.
func lookup(folded []byte) []word {
	if w := words[string(folded)]; w != nil {
		return w
	}
	if len(folded) < 4 {
		return nil
	}
	best, distance := "", 3
	for _, name := range fuzzy {
		limit := 1
		if len(name) >= 8 {
			limit = 2
		}
		switch d := mistakes(folded, name, limit); {
		case d > limit:
		case d < distance:
			best, distance = name, d
		case d == distance && best != name:
			best = ""
		}
	}
	return words[best]
}

// maxName is longer than every name.
const maxName = 16

// mistakes returns the number of mistakes (Damerau-Levenshtein, neighbours
// only) between two words, or more than limit.
func mistakes(a []byte, b string, limit int) int {
	if len(a) >= maxName || len(a)-len(b) > limit || len(b)-len(a) > limit || len(b) < 5 {
		return limit + 1
	}
	var d [maxName + 1][maxName + 1]int
	for i := range len(a) + 1 {
		d[i][0] = i
	}
	for j := range len(b) + 1 {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
