package dates

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
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
	number    kind = iota // digits
	month                 // octubre, oct, VI
	weekday               // lunes
	third                 // principios, mediados, finales
	season                // verano
	first                 // primero
	ordinal               // º, th: behind a number
	yearWord              // año
	dayWord               // día
	particle              // de, del, the: joins the parts of one date
	opener                // entre, desde, semana: before a date or a range
	conn                  // y, al, hasta: between two dates
	clock                 // 10:30
	sign                  // / - . , ( ) '
	numeral               // veinticinco
	ambiguous             // a month that is a common word or unit too: set, mar
	foreign               // a month or weekday that has its name in English only

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
	first:    "primero primer",
	ordinal:  "o er r a st nd rd th",
	clock:    "h hs hrs horas hores las les utc z",

	ambiguous: "mar mai set gen des ag march dec ago dx dm ds dj dv dg dl mon sun sat lun jue vie dom mie sab tue thu fri wed may",
	foreign:   "january february april june july august september october november december",
	speaks: "dia dias dies day desde des dsd hasta fins since until till through fecha data date pasado proximo pasada proxima mismo passat " +
		"passada proper propera mateix mateixa",
	article: "el l al del dels a the on by para per pel from to entre between en los els este aquest",
	inTime:  "en in desde des dsd hasta fins since until hacia cap al pel para per este aquest pasado passat proximo proper mismo mateix mes",
	ofTime:  "del de d dels entre between from of",
	until:   "al a hasta fins to till until through",
	label: "fecha fechas data date dates dob fn nacimiento naixement nacido nacida nascut nascuda born birth nac fnac fna fur dum " +
		"naix alta ingreso ingres fechado datado exitus admission discharge",
	occasion: "iq intervencion intervenciones reintervencion ingreso reingreso control controles ctrl analitica cultivo cultivos urocultivo " +
		"hemocultivo hemocultivos coprocultivo exudado biopsia tac tc rm rmn rx eco ecografia ecocardio ecocardiograma ecg ekg gammagrafia " +
		"colonoscopia gastroscopia broncoscopia arteriografia cateterismo endoscopia radiografia analisis ultima ultimo previa previo " +
		"caida cirugia exitus alta visita revision consulta intervencio ingres reingres caiguda cirurgia darrera darrer previ revisio " +
		"inicio inici fur dum cita citado dx qx",
	reading: "apgar ta tas tad pam glasgow gcs pio av agudeza agudesa visual fuerza forca eva score puntuacion puntuacio " +
		"ca cyfra karnofsky grado grau rankin bishop",
	dosage: "comp comps comprimido comprimidos comprimit comprimits pauta sintrom aldocumar resto resta pastilla pastillas pastilles dosis dosi " +
		"mg diario diari diaria",
	unit: "mg mgr mgrs mcg ug g gr grs gramos grams kg kgs kilos ml cc cl dl l litros litres ui u iu mui meq mmol mol nmol pmol " +
		"mm cm m km mts metros metres mmhg lpm bpm rpm ppm latidos pulsaciones ci mci gy cgy mev kev kv kcal cal " +
		"leucocitos leucocits leucos linfocitos neutrofilos plaquetas plaq plaquetes hematies hemates celulas cels cel copias copies " +
		"eosinofilos unidades unitats units comp comprimidos cp caps gotas gts ampollas amp vial viales sobres puff puffs " +
		"h hr hrs hora horas hores hour hours min mins minuto minutos minuts minutes seg segundos sg s febre fiebre " +
		"veces vegades cops times euros eur pacientes pacients casos patients cases personas persones pasos passos metabolitos " +
		"pg ng fl ph dioptrias grados graus degrees points puntos punts cigarrillos cigarretes cig paq pack packs mil millones milions " +
		"hz khz w j ms kpa cmh mcgr microgramos miligramos mililitros inhalaciones " +
		"dia dias dies day days semana semanas setmana setmanes weeks mes meses mesos months ano anos any anys years post",
	naming: "hospital hosp ho hu universitario universitari huvn instituto institut colegio ies cap centro clinica residencia plaza " +
		"calle c carrer avenida avda av avinguda avgda pza pl placa plc paseo pso passeig carretera ctra crta camino cami ronda rda via " +
		"travesia travessera rambla rbla glorieta callejon urbanizacion urb poligono barrio partida domicilio adreca domicili direccion " +
		"street road avenue passatge pasaje ptge cuesta costanilla alameda pda",
	monthly:  "mes month",
	definite: "el l al del the",
	often:    "cada por per x al c",
}

// numerals are the days of a month in words, from one, written as a note writes
// them; _ is a blank.
var numerals = [...]string{
	spanish: "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve " +
		"veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta treinta_y_uno",
	catalan: "u dos tres quatre cinc sis set vuit nou deu onze dotze tretze catorze quinze setze disset divuit dinou " +
		"vint vint-i-u vint-i-dos vint-i-tres vint-i-quatre vint-i-cinc vint-i-sis vint-i-set vint-i-vuit vint-i-nou trenta trenta-u",
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

// numeralNames are numerals, one by one.
var numeralNames [len(numerals)][]string

// compounds are the numerals of several words.
var compounds []compound

type compound struct {
	name  string
	words []word
}

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
	for l, list := range numerals {
		for i, name := range strings.Fields(list) {
			numeralNames[l] = append(numeralNames[l], strings.ReplaceAll(name, "_", " "))
			w := word{1 << numeral, full, 1 << l, 0, int8(i + 1)}
			if strings.ContainsAny(name, "_-") {
				compounds = append(compounds, compound{strings.ReplaceAll(name, "_", " "), []word{w}})
				continue
			}
			addWord(name, w)
		}
	}
	for k, list := range plainWords {
		for name := range strings.FieldsSeq(list) {
			addWord(name, word{kinds: 1 << k})
		}
	}
	for name, meanings := range words {
		known.add(name, meanings)
	}
	fillOpens()
}

// misspelt returns what a folded word that is not known can be: a full name with a
// mistake, one character wrong, missing, too many or changed with the next, two in
// names of eight letters or more; and that name. nil if it is between two names.
func misspelt(folded []byte) (names []word, name string) {
	if len(folded) < 4 {
		return nil, ""
	}
	best, distance := "", 3
	for _, name := range fuzzy {
		if name[0] != folded[0] {
			continue
		}
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
	return words[best], best
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
