package propose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// roles holds the columns by the use that was guessed; nil is none.
type roles struct {
	text, id, patient, date *column
	others                  []*column // that could be the text as well, the best first
}

// Prefixes of column names by the use of the column, in lower case without accents.
var (
	textWords    = "text txt nota note evol curs observ inform descrip coment comment anamn contin content narrat motiv report"
	idWords      = "id uid uuid guid cod codi codigo num nota note doc document documento row key clave registro registre episodi episodio evol"
	patientWords = "pac paciente pacient patient nhc hc historia historial cip tis mrn person persona subject sujeto usuari usuario"
	dateWords    = "fec fecha data date datetime dia dt fh timestamp time moment"
	birthWords   = "nac naci nacimiento naix naixement birth dob defuncion exitus death"
	accents      = strings.NewReplacer("á", "a", "à", "a", "é", "e", "è", "e", "í", "i", "ï", "i", "ó", "o", "ò", "o", "ú", "u", "ü", "u", "ñ",
		"n", "ç", "c")
)

// words are those of a name: FEC_NOTA and fecNota are fec, nota.
func words(name string) []string {
	var spaced strings.Builder
	was := 'A'
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(was) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
		was = r
	}
	return strings.FieldsFunc(accents.Replace(strings.ToLower(spaced.String())), func(r rune) bool { return !unicode.IsLetter(r) })
}

// called is 1 if a word of the name is one of these, and else 0.
func (c *column) called(these string) int {
	list := strings.Fields(these)
	return points(slices.ContainsFunc(words(c.name), func(word string) bool { return slices.Contains(list, word) }))
}

func points(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// textScore is how much a column looks like notes; 0 is not at all.
func (c *column) textScore() float64 {
	if c.name == "" || c.filled == 0 || 2*c.letters < c.bytes || c.dates*2 > c.filled {
		return 0
	}
	score, least := float64(c.words)/float64(c.filled), 3.0
	named := slices.ContainsFunc(words(c.name), func(word string) bool {
		return slices.ContainsFunc(strings.Fields(textWords), func(begin string) bool { return strings.HasPrefix(word, begin) })
	})
	if named {
		least = 1.5
	}
	if score < least {
		return 0
	}
	if named {
		score *= 3
	}
	return score * float64(len(c.values)) / float64(c.filled) // descriptions of codes come again
}

// isCode tells whether values are single short words, as ids are.
func (c *column) isCode() bool {
	return c.name != "" && c.filled > 0 && c.longest <= 64 && c.words <= c.filled+c.filled/10
}

// settle finds what the columns are for. What is given stays; fits tells whether the file can be read so.
func (t *table) settle(r roles, fits func(roles) bool) roles {
	texts := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.textScore() == 0 || !fits(roles{text: c}) })
	slices.SortStableFunc(texts, func(a, b *column) int { return cmp.Compare(b.textScore(), a.textScore()) })
	if r.text == nil && len(texts) > 0 {
		r.text = texts[0]
	}
	if r.text == nil {
		return r
	}
	r.others = nil
	for _, c := range texts {
		if c != r.text && 4*c.textScore() >= r.text.textScore() && len(r.others) < 3 {
			r.others = append(r.others, c)
		}
	}
	if r.patient == nil {
		r.patient = t.best(func(c *column) int {
			if c == r.text || c == r.id || !c.isCode() || c.dates > 0 || !fits(roles{text: r.text, patient: c}) {
				return 0
			}
			return c.called(patientWords) * (1 + c.called("nhc mrn id cod num cip"))
		})
	}
	if r.date == nil {
		r.date = t.best(func(c *column) int {
			if c == r.id || c.name == "" || c.filled == 0 || 10*c.dates < 9*c.filled || c.called(birthWords) > 0 ||
				!fits(roles{text: r.text, date: c}) {
				return 0
			}
			return 1 + 2*c.called(dateWords) + c.called(idWords) + 2*points(2*c.filled > t.rows)
		})
	}
	if r.id == nil {
		r.id = t.best(func(c *column) int {
			unique := points(100*len(c.values) >= 99*c.filled)
			if c == r.text || c == r.date || c == r.patient || !c.isCode() || 100*c.filled < 99*t.rows || unique+c.called(idWords) == 0 ||
				2*len(c.values) < c.filled || !fits(roles{text: r.text, id: c}) {
				return 0
			}
			return 2*unique + c.called(idWords)
		})
	}
	return r
}

// quasiWords are what columns are called that could single somebody out together, by how they are generalized. A diagnosis
// is none of them: others should differ in it.
var quasiWords = [][2]string{
	{"number", "edad edat age anyo any year"},
	{"date", birthWords + " alta ingres ingreso admission"},
	{"postal", "cp postal zip"},
	{"place", "municipio municipi poblacion poblacio localidad ciudad town city provincia comarca"},
	{"value",
		"sexo sexe sex genero genere gender nacionalidad nacionalitat pais country etnia raza idioma profesion professio ocupacion estado civil centro centre servicio servei unidad"},
	{"sensitive", "diag diagnostico diagnostic dx cie icd motivo motiu grd drg"},
}

// quasi are the columns that nobody took and that could single somebody out, with how they would be generalized.
func (t *table) quasi(r *roles) (all []string) {
	for _, c := range t.columns {
		if c == r.text || c == r.id || c == r.patient || c == r.date || c.filled == 0 {
			continue
		}
		for _, q := range quasiWords {
			if c.called(q[1]) > 0 {
				all = append(all, option.QuoteYAML(c.name)+": "+q[0])
				break
			}
		}
	}
	return all
}

// best is the first column of the most points; nil if none has any.
func (t *table) best(points func(*column) int) (best *column) {
	most := 0
	for _, c := range t.columns {
		if n := points(c); n > most {
			best, most = c, n
		}
	}
	return best
}

// byName finds a column by the name that somebody typed.
func (t *table) byName(name string) *column {
	for _, c := range t.columns {
		if c.name == name && name != "" {
			return c
		}
	}
	return nil
}

// shown is the column's name; what may be words of a note is only numbered.
func (c *column) shown() string {
	if c.name == "" {
		return "(column " + strconv.Itoa(c.number+1) + ")"
	}
	return c.name
}

// names lists the columns.
func (t *table) names() string {
	var all []string
	for _, c := range t.columns {
		all = append(all, c.shown())
	}
	if len(all) == 0 {
		return "none that holds text or numbers"
	}
	return strings.Join(all, ", ")
}
