package dates

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

const hint = float32(pipeline.HintScore)

// judgeFile is judge.txt, the decision tables that score the dates which were parsed.
//
//go:embed judge.txt
var judgeFile string

var tables map[string]*cut.Table[*Finder]

func init() {
	tables = cut.Tables(strings.ReplaceAll(judgeFile, "-> hint", fmt.Sprint("-> ", hint)), condition)
}

// partNames are the names that judge.txt uses: first the items of a date, then the numbers that its conditions compare.
var partNames = strings.Fields("a b c day month year lead first next by then items bytes dmy orders dayMonth yearMonth of joined tight weekdays")

const numPlaces = 9

// question holds the date that the decision tables are to judge.
type question struct {
	places [numPlaces]int
	sums   [12]item
}

// aim sets the question to the date d of items i to next, or to the items there if they are no date.
func (f *Finder) aim(d *date, i, next int) {
	_, lead := f.lead(i)
	f.places = [...]int{d.a, d.b, d.c, d.day, d.month, d.year, lead, i, next}
	for k, v := range [...]int{0, 0, next - i, f.items[next-1].end - f.items[i].start, int(d.orders & (1 << DMY)), int(d.orders),
		d.day - d.month, d.year - d.month, 0, 0, 0, 0} {
		f.sums[k].value = v
	}
	f.setSign(0, d.by)
	f.setSign(1, d.then)
}

// setSign stores sign b as number k of the question; 0 means that there is no sign.
func (f *Finder) setSign(k, b int) {
	f.sums[k].kinds, f.sums[k].value = sign, b
	if b == 0 {
		f.sums[k].kinds = 0
	}
}

// conditionForm is a name of sayings with an item in brackets, or an item, a sign and what
// it is held against.
var conditionForm = regexp.MustCompile(`^(?:(\w+)\()?([a-zA-Z]+[-+]?\d?)(.)(.*)$`)

// partOf reads "month-1".
func partOf(text string) (part, off int) {
	name := strings.TrimRight(text, "+-0123456789")
	off, _ = strconv.Atoi(text[len(name):])
	return slices.Index(partNames, name), off
}

// itemOf returns a function that finds the item or number with that name.
func itemOf(text string) func(*Finder) *item {
	part, off := partOf(text)
	if part >= numPlaces {
		return func(f *Finder) *item { return &f.sums[part-numPlaces] }
	}
	return func(f *Finder) *item { return f.at(f.places[part] + off) }
}

// condition compiles a condition of judge.txt.
func condition(text string) func(*Finder) bool {
	m := conditionForm.FindStringSubmatch(text)
	at, by, arg := itemOf(m[2]), m[3], m[4]
	measure := func(it *item) int { return it.value }
	switch by {
	case ")":
		part, off := partOf(m[2])
		said := sayings[m[1]]
		return func(f *Finder) bool { return said(f, f.places[part]+off) }
	case ":":
		var some kind
		for name := range strings.SplitSeq(arg, "|") {
			some |= kindNamed(name)
		}
		return func(f *Finder) bool { return at(f).is(some) }
	case "'":
		return func(f *Finder) bool { return at(f).by(arg) }
	case "@":
		return func(f *Finder) bool { return strings.IndexByte(arg, f.Text[at(f).start]) >= 0 }
	case "^":
		return func(f *Finder) bool { return strings.IndexByte(arg, f.At(at(f).end)) >= 0 }
	case "%":
		measure = (*item).width
	case "~":
		measure = func(it *item) int { return int(it.gap) }
	}
	if signed := strings.TrimLeft(arg, "<>"); signed != arg {
		by, arg = arg[:1], signed
	}
	n, err := strconv.Atoi(arg)
	with := func(*Finder) int { return n }
	if err != nil {
		other := itemOf(arg)
		with = func(f *Finder) int { return other(f).value }
	}
	return func(f *Finder) bool {
		switch a, b := measure(at(f)), with(f); by {
		case "<":
			return a < b
		case ">":
			return a > b
		default:
			return a == b
		}
	}
}

// judge returns the score of a date that was read from items i to next, 0 if it
// is none, and the item behind it: a year that belongs to something else is left.
func (f *Finder) judge(d *date, i, next int) (score float32, end int) {
	end = next
	switch {
	case d.shape == triple:
		return f.judgeTriple(d, i, next), next
	case d.shape == pair:
		score = f.decide(d, i, next, "pair")
	case d.day != none && d.month != none:
		score = f.decide(d, i, next, "day")
	case d.month != none && d.year != none:
		score = f.decide(d, i, next, "monthYear")
	case d.month != none:
		score = f.decide(d, i, next, "monthAlone")
	case d.season != none:
		score = f.decide(d, i, next, "season")
	case d.year != none:
		if score = f.decide(d, i, next, "year"); score >= 0.5 {
			f.year = f.items[i].end
		}
		if tables["twoYears"].Decide(f) > 0 {
			end += 2
		}
	default:
		return f.judgeDayAlone(d, i)
	}
	return score, end
}

// decide asks a table about the date d of items i to next.
func (f *Finder) decide(d *date, i, next int, table string) float32 {
	f.aim(d, i, next)
	return tables[table].Decide(f)
}

// judgeTriple judges three numbers.
func (f *Finder) judgeTriple(d *date, i, next int) float32 {
	if c := &f.items[d.c]; d.then == 0 && c.gap < 2 { // 12/032014, 6/08 2011
		d.then = d.by
	}
	score := f.decide(d, i, next, "triple")
	if f.items[d.a].sure {
		return score
	}
	if d.orders&(1<<DMY) == 0 {
		score -= 0.2
	}
	if f.items[d.c].width() == 1 {
		return score
	}
	if score > 0 && tables["lifted"].Decide(f) > 0 {
		score += 0.35
	}
	switch {
	case score >= 0.35:
		return min(score, 0.99)
	case score >= hint:
		return hint
	}
	return 0
}

// judgeDayAlone judges a day, with those that share its word: "los días 13 y 14".
func (f *Finder) judgeDayAlone(d *date, i int) (score float32, end int) {
	f.aim(d, i, i+1)
	lead := f.places[slices.Index(partNames, "lead")]
	end = i + 1
	if f.at(lead).is(dayWord) && f.plural(lead) {
		for f.at(end).is(conn) && f.at(end+1).is(number) && f.at(end+1).width() <= 2 {
			end += 2
		}
	}
	f.places[numPlaces-1], f.sums[2].value = end, end-i
	return tables["dayAlone"].Decide(f), end
}

// slip parses what no regular form covers: a date without signs, 12032014, and typing errors.
func (f *Finder) slip(i int) int {
	d, last, table := noDate, i, "compact"
	d.a = i
	if w := f.items[i].width(); w != 6 && w != 8 {
		if !f.at(i+1).by("/-.") || f.decide(&d, i, i+1, "slip") == 0 {
			return 0
		}
		d.b, last, table = i+2, i+2, "slipOfTwo"
		if f.at(i+3).is(sign) && f.at(i+4).is(number) && f.at(d.b).width() <= 2 {
			d.c, last, table = i+4, i+4, "slipOfThree"
		}
	}
	score := f.decide(&d, i, last+1, table)
	if score == 0 {
		return 0
	}
	f.add(i, last+1, score, score != hint && tables["whole"].Decide(f) > 0)
	if score == hint {
		return 0
	}
	f.done = f.items[last].end
	return last + 1
}

// sayings maps names in judge.txt to conditions that examine more than one item. Their items may be absent.
var sayings = map[string]func(f *Finder, i int) bool{
	"signs": (*Finder).signs, "stops": (*Finder).stops, "measured": (*Finder).measured, "glued": (*Finder).glued,
	"labelled": (*Finder).labelled, "named": (*Finder).named, "joined": (*Finder).joined, "shares": (*Finder).listed,
	"counts": (*Finder).counts, "weekday": (*Finder).weekdayAt, "plural": (*Finder).plural, "dosed": (*Finder).dosed,
	"calendar": (*Finder).calendar, "dayLike": func(f *Finder, i int) bool { return f.isDay(i) },
	"full": called(full), "short": called(short), "roman": called(roman),
	"sure":    func(f *Finder, i int) bool { return f.at(i).sure },
	"dotted":  func(f *Finder, i int) bool { return f.at(i).dotted },
	"capital": func(f *Finder, i int) bool { return i < len(f.items) && f.Upper(f.items[i].start) },
	"word":    func(f *Finder, i int) bool { return i >= 0 && f.LetterAt(f.items[i].start) },
	"letter":  func(f *Finder, i int) bool { return f.LetterAt(f.at(i).end) },
	"behind":  func(f *Finder, i int) bool { return f.Digit(f.at(i).end + 1) },
	"again": func(f *Finder, i int) bool {
		return int(f.At(f.at(i).end)) == f.at(i-1).value && f.Digit(f.at(i).end+1)
	},
	"small": func(f *Finder, i int) bool {
		return bytes.ContainsFunc(f.Text[f.at(i).start:f.at(i).end], func(r rune) bool { return r >= 'a' })
	},
	"march": func(f *Finder, i int) bool { return f.monthValue(i) == 3 },
	"english": func(f *Finder, i int) bool {
		return f.at(i).wordOf(month, pipeline.English).langs>>pipeline.English&1 != 0
	},
	"closed":   (*Finder).closed,
	"dated":    func(f *Finder, i int) bool { return f.at(f.glue(i, true)).sure },
	"yearly":   func(f *Finder, i int) bool { i = f.glue(i, true); return f.isYearOf(i) && f.at(i-1).is(sign) },
	"later":    func(f *Finder, i int) bool { return f.at(i).value > f.at(i-2).value%100 },
	"succeeds": func(f *Finder, i int) bool { return f.at(i).value == f.at(i-2).value+1 },
	"recent":   func(f *Finder, i int) bool { return f.year >= 0 && f.at(i).start-f.year <= 5 },
	"ends":     func(f *Finder, i int) bool { return f.at(i).end == f.done },
	"free":     func(f *Finder, i int) bool { return i >= 0 && f.at(i).end > f.doneBefore() },
}

// called tells whether a month is called by a form of its name.
func called(as form) func(*Finder, int) bool {
	return func(f *Finder, i int) bool { return f.at(i).wordOf(month, f.language).form == as }
}

// closed tells whether nothing or punctuation follows item k.
func (f *Finder) closed(k int) bool {
	j := f.at(k).end
	if f.Blank(j) {
		j++
	}
	return clauseEnds[f.At(j)]
}

var clauseEnds = cut.SetOf("\x00.,;)\n\r:")

// signs tells whether the items of the date from i on are numbers with one sign between
// two, and no blanks around points.
func (f *Finder) signs(i int) bool {
	for k := i + 1; k < f.places[numPlaces-1]; k++ {
		if it := &f.items[k]; !it.is(number) && (f.items[k-1].is(sign) && it.value != '/' || !it.by("/-.") || it.value == '.' && it.gap+f.items[k+1].gap > 0) {
			return false
		}
	}
	return true
}

// stops tells whether a number may end behind item k: no digit follows, not
// even behind a sign, and no letter.
func (f *Finder) stops(k int) bool {
	j := f.at(k).end
	if f.AlnumAt(j) {
		return false
	}
	return strings.IndexByte(".,/-:", f.At(j)) < 0 || !f.Digit(j+1)
}

// measured tells whether a unit follows item k: "mg", "%", "/h".
func (f *Finder) measured(k int) bool {
	next := f.at(k + 1)
	if k+1 >= len(f.items) {
		return false
	}
	switch b := f.Text[next.start]; {
	case b == '%' || next.is(unit) && !f.at(k+2).by("'"):
		return true
	case b == 0xC2:
		return strings.IndexByte("\xB0\xBA\xB5", f.At(next.start+1)) >= 0
	}
	return next.by("/") && f.LetterAt(next.end)
}

// glued tells whether a letter touches item i from the left.
func (f *Finder) glued(i int) bool {
	before := f.at(i - 1) // el12/3, control11-8
	return f.LetterBefore(f.items[i].start) &&
		(before.width() < 2 || !before.is(article|speaks|occasion|label|conn))
}

// lead returns the word before item i, behind which an apostrophe may stand, and its place.
func (f *Finder) lead(i int) (*item, int) {
	i--
	if f.at(i).by("'") {
		i--
	}
	if i < 0 {
		return &absent, -1
	}
	return &f.items[i], i
}

// labelled tells whether "fecha", "nacido" or the like stands before item i,
// over articles and signs; over three other words, too, if it is "fecha".
func (f *Finder) labelled(i int) bool {
	others := 0
	for k := i - 1; k >= max(i-8, 0); k-- {
		it := &f.items[k]
		switch {
		case it.is(label):
			return others == 0 || it.is(speaks)
		case it.is(number):
			return false
		case !it.is(particle | opener | conn | sign | article):
			others++
		}
	}
	return false
}

// plural tells whether an item ends in s: días.
func (f *Finder) plural(k int) bool { return f.At(f.at(k).end-1)|0x20 == 's' }

// dosed tells whether a dose or weekday stands before item k, over signs and what joins dates.
func (f *Finder) dosed(k int) bool {
	for k--; f.at(k).is(sign | conn); k-- {
	}
	return f.at(k).is(dosage | weekday)
}

// joined tells whether what stands between the part at item j and the part before it, the day
// of a month or the month of a year, stands between parts of a date: no "a las".
func (f *Finder) joined(j int) bool {
	i := f.places[3]
	if j == f.places[5] {
		i = f.places[4]
	}
	return !slices.ContainsFunc(f.items[i+1:j], func(it item) bool { return !it.is(sign | ofTime | yearWord | ordinal | definite) })
}

// named tells whether a place that may be named after a day stands before item
// i: "Hospital 12 de Octubre", "calle 2 de Mayo".
func (f *Finder) named(i int) bool {
	k := i - 1
	for k >= 0 && (f.items[k].by("/-.'\\[]") || f.Text[f.items[k].start] == '"') {
		k--
	}
	if k > 0 && f.items[k].is(ofTime) { // plaça del Vuit de Març
		k--
	}
	it := f.at(k)
	if it.width() == 1 && f.Text[it.start]|0x20 == 'h' { // H. 12 de Octubre; not "a las 10 h"
		return !f.at(k - 1).is(number)
	}
	return it.is(naming)
}

// listed tells whether the number at item i is the first of days that share a
// month behind them.
func (f *Finder) listed(i int) bool {
	k := i + 1
	for range 4 {
		if j := f.at(k); !j.is(conn|until) && !j.by(",-") {
			return false
		}
		k++
		if f.at(k).is(article) {
			k++
		}
		if d := f.at(k); !d.is(number) {
			return false
		}
		k++
		if f.at(k).by(")") {
			return f.at(k + 1).is(ofTime)
		}
		if f.at(f.glue(k, true)).is(month) || f.at(k).by("/") && f.at(k+1).is(number) {
			return true
		}
	}
	return false
}

// counts tells whether what follows item i makes it an amount, an ordinal or a
// day of something.
func (f *Finder) counts(i int) bool {
	next := f.at(i + 1)
	if i+1 >= len(f.items) {
		return false
	}
	switch b := f.Text[next.start]; {
	case b == '+' || b == '/' || b|0x20 == 'x', b == ':' && f.at(i+2).is(number):
		return true
	}
	word := bytes.ToLower(f.Text[next.start:next.end])
	return next.is(ordinal) && next.gap == 0 || bytes.HasPrefix(word, []byte("post")) || next.is(unit|ofTime)
}

// calendar tells whether the digits of item i are a day: 12032014, 20140312, 120314.
func (f *Finder) calendar(i int) bool {
	j := f.items[i].start
	day := func(y, m, d, century int) bool {
		v := func(k, n int) int { return f.Value(j+k, j+k+n) }
		year := 2000
		if century > 0 {
			if year = v(y, 4); !isYear(year) {
				return false
			}
		}
		return v(m, 2) >= 1 && v(m, 2) <= 12 && v(d, 2) >= 1 && v(d, 2) <= daysIn(v(m, 2), year)
	}
	if f.items[i].width() == 6 {
		return day(0, 2, 0, 0)
	}
	return day(4, 2, 0, 1) || day(0, 4, 6, 1)
}
