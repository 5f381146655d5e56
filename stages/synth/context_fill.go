package synth

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// fillers are phrases in whose place a value may stand, in lines that have
// none. What the first group matches stays.
var fillers = []struct {
	phrase   *regexp.Regexp
	category pipeline.Category
	value    func(g *contextual) string
}{
	{regexp.MustCompile(`(?i)\b()(?:el|la) pacien?te?\b`), categoryPerson, (*contextual).someone},
	{regexp.MustCompile(`(?i)\b((?:su|la (?:seva|meva)|el (?:seu|meu)) (?:hij[oa]|mujer|marido|espos[oa]|madre|padre|herman[oa]|niet[oa]|sobrin[oa]|cuidadora?|filla?|mare|pare|germana?|marit|dona|neta?) )`), categoryPerson, (*contextual).firstName},
	{regexp.MustCompile(`(?i)\b()(?:est[ea]|nuestr[oa]|aquest[a]?|el nostre) (?:centro|hospital|cl[ií]nica|centre)\b`), categoryLocation, (*contextual).house},
	{regexp.MustCompile(`(?i)\b(desde )hace (?:unos |un |una )?(?:\d{1,2}|varios|dos|tres|cuatro|cinco|seis)? ?(?:d[ií]as?|semanas?|mes(?:es)?|años?)\b`), categoryDate, (*contextual).someDay},
	{regexp.MustCompile(`(?i)\b()hace (?:unos |un |una )?(?:\d{1,2}|varios|dos|tres|cuatro|cinco|seis)? ?(?:d[ií]as?|semanas?|mes(?:es)?|años?)\b`), categoryDate, (*contextual).someDay},
	{regexp.MustCompile(`(?i)\b(des de )fa (?:uns |un |una )?(?:\d{1,2}|dos|tres|quatre|cinc|sis)? ?(?:dies?|setman(?:a|es)|mes(?:os)?|anys?)\b`), categoryDate, (*contextual).someDay},
}

// fill writes a line with values where it had phrases; false if it had none.
func (g *contextual) fill(c *context) bool {
	g.writer.Catalan = c.ca
	type place struct {
		start, end, filler int
	}
	var places []place
	for at := 0; at < len(c.text); {
		best := place{start: len(c.text)}
		for k := range fillers {
			if m := fillers[k].phrase.FindSubmatchIndex(c.text[at:]); m != nil && at+m[3] < best.start {
				best = place{at + m[3], at + m[1], k}
			}
		}
		if best.start == len(c.text) {
			break
		}
		places = append(places, best)
		at = max(best.end, at+1)
	}
	at := 0
	for _, p := range places {
		f := &fillers[p.filler]
		g.out = append(g.out, c.text[at:p.start]...)
		g.drawn = append(g.drawn[:0], f.value(g)...)
		if p.end == p.start && p.start < len(c.text) { // behind a word that stays
			g.mark(f.category)
			g.out = append(g.out, ' ')
		} else {
			g.mark(f.category)
		}
		at = p.end
	}
	g.out = append(g.out, c.text[at:]...)
	return len(places) > 0 && !g.holds(g.out)
}

func (g *contextual) pick(p pool) string {
	return g.lexicon.pools[p][g.r.IntN(len(g.lexicon.pools[p]))]
}

func (g *contextual) firstName() string { return g.pick(firstName) }

// someone draws a name with no title: two in five given names alone.
func (g *contextual) someone() string {
	switch k := g.r.IntN(10); {
	case k < 4:
		return g.pick(firstName)
	case k < 7:
		return g.pick(firstName) + " " + g.pick(lastName)
	case k < 8:
		return g.pick(firstName) + " " + g.pick(lastName) + " " + g.pick(lastName)
	case k < 9:
		return g.pick(lastName) + ", " + g.pick(firstName)
	}
	return strings.ToLower(g.pick(firstName) + " " + g.pick(lastName))
}

func (g *contextual) house() string { return houseHeads[g.r.IntN(len(houseHeads))] + " " + g.tail() }

func (g *contextual) someDay() string { return string(g.form(nil, g.r.IntN(numDateForms))) }

// The ways in which a date is written, by the pieces that are drawn: d and m
// with no zero before them, D and M with one, Y and y years of four and two
// digits, B and b the month's name and its first letters, R in Roman numbers.
// The first ones have digits alone, those from wordForms on a month's name.
var dateForms = []string{
	"d/m/Y", "d/m/y", "D/M/Y", "D/M/y", "D-M-Y", "d-m-y", "D.M.Y", "d.m.y", "D/m/y", "M/Y", "m/y", "M-Y",
	"d-R-Y", "R/Y", "'y", "d/m", "D-M",
	"d de B de Y", "d de B del Y", "d de B", "d B Y", "d-b-Y", "d b y", "B de Y", "B del Y", "B Y", "b Y", "b-y", "b/y", "B",
}

const (
	wordForms    = 17
	numDateForms = 30
)

var (
	romanMonths = [12]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
	onlyYear    = regexp.MustCompile(`^(?:19|20)\d\d$`)
	ownLetters  = regexp.MustCompile(`\pL{3}`)
	number      = regexp.MustCompile(`\d+`)
)

// isMonth tells whether a folded word is the name of a month, which many dates
// share.
func isMonth(w []byte) bool { return gazetteer.Default().Classes(w)&gazetteer.Month != 0 }

// date appends another date: a year for a year, one with a month's name for
// such a one, else digits.
func (g *contextual) date(dst, value []byte) []byte {
	switch {
	case onlyYear.Match(value):
		return strconv.AppendInt(dst, int64(1975+g.r.IntN(51)), 10)
	case ownLetters.Match(value):
		start := len(dst)
		dst = g.form(dst, wordForms+g.r.IntN(numDateForms-wordForms-1))
		if bytes.Equal(value, bytes.ToUpper(value)) {
			copy(dst[start:], bytes.ToUpper(dst[start:]))
		}
		return dst
	}
	return g.form(dst, g.r.IntN(wordForms))
}

// form writes a date in one of the forms.
func (g *contextual) form(dst []byte, k int) []byte {
	day, month, year := 1+g.r.IntN(28), g.r.IntN(12), 1975+g.r.IntN(51)
	names := &monthNames[spanish]
	if g.writer.Catalan {
		names = &monthNames[catalan]
	}
	two := func(n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }
	form := dateForms[k]
	for i := range len(form) {
		alone := (i == 0 || !isLower(form[i-1])) && (i+1 == len(form) || !isLower(form[i+1]))
		switch ch := form[i]; {
		case !alone && isLower(ch):
			dst = append(dst, ch)
		case ch == 'd':
			dst = strconv.AppendInt(dst, int64(day), 10)
		case ch == 'm':
			dst = strconv.AppendInt(dst, int64(month+1), 10)
		case ch == 'D':
			dst = two(day)
		case ch == 'M':
			dst = two(month + 1)
		case ch == 'Y':
			dst = strconv.AppendInt(dst, int64(year), 10)
		case ch == 'y':
			dst = two(year % 100)
		case ch == 'B':
			dst = append(dst, names[month]...)
		case ch == 'b':
			dst = append(dst, string([]rune(names[month])[:3])...)
		case ch == 'R':
			dst = append(dst, romanMonths[month]...)
		default:
			dst = append(dst, ch)
		}
	}
	return dst
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// age appends another age of as many digits.
func (g *contextual) age(dst, value []byte) []byte {
	return append(dst, number.ReplaceAllFunc(value, func(old []byte) []byte {
		lowest, ages := 18, 80
		if len(old) == 1 {
			lowest, ages = 1, 9
		}
		for {
			if n := strconv.AppendInt(nil, int64(lowest+g.r.IntN(ages)), 10); !bytes.Equal(n, old) {
				return n
			}
		}
	})...)
}
