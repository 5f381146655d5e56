package dates

import (
	"bytes"
	"math/bits"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// stays marks an item that is written without a change.
const stays = -1

// moved is a date of an expression after the shift.
type moved struct {
	parts
	y2, m2, d2 int
}

// insertion names the parts that a date has to write out once it no longer shares them: "30 y 31 de mayo" may
// become "31 de mayo y 1 de junio".
type insertion struct{ month, year bool }

// AppendShifted appends the date shifted by days, in the same format, order, language, case and resolution. It returns
// dst and false if the shifted date cannot be written in that form.
func (p *Parser) AppendShifted(dst []byte, c Context, days int) (out []byte, ok bool) {
	o := p.order(c.Order)
	for i := range p.items {
		p.out[i] = stays
	}
	for i := len(p.dates) - 1; i >= 0; i-- { // those that share come before those that own
		if !p.move(i, o, c, days) {
			return dst, false
		}
	}
	p.start = len(dst)
	return p.write(dst), true
}

// move computes the parts of date i after the shift and where they go.
func (p *Parser) move(i int, o Order, c Context, days int) bool {
	d := &p.dates[i]
	v := moved{parts: p.resolve(i, o, c)}
	t := time.Date(v.y, time.Month(v.m), v.d+days, 0, 0, 0, 0, time.UTC)
	v.y2, v.m2, v.d2 = t.Year(), int(t.Month()), t.Day()
	if v.y2 < 1900 || v.y2 > 2099 {
		return false
	}
	p.moved[i], p.inserted[i] = v, insertion{}
	if p.put(v.day, v.d2); v.day != none {
		p.items[v.day].kinds &^= month // set de maig
	}
	p.put(v.month, v.m2)
	p.put(v.year, v.y2)
	p.put(d.suffix, v.d2)
	if d.weekday != none {
		was := p.items[d.weekday].wordOf(weekday, p.language).value
		p.put(d.weekday, ((was+days)%7+7)%7)
	}
	if v.month == none && d.monthOf == none {
		p.put(d.third, min((v.m2-1)/4, 2))
	} else {
		p.put(d.third, min((v.d2-1)/10, 2))
	}
	if d.season != none {
		p.put(d.season, v.m2%12/3)
	}
	return p.share(i, d, &v)
}

func (p *Parser) put(item int, value int) {
	if item != none {
		p.out[item] = value
	}
}

// share decides whether date i still shares the month and the year of another date after the shift, or has to write its
// own. It returns false if there is no layout to write them in.
func (p *Parser) share(i int, d *date, v *moved) bool {
	need := &p.inserted[i]
	if d.monthOf != none {
		need.month = p.moved[d.monthOf].m2 != v.m2
	}
	if d.yearOf != none {
		own := &p.moved[d.yearOf]
		need.year = own.year != none && own.y2 != v.y2
		if need.year && (own.month == none || own.month > own.year) { // the year stands first: there is no layout to copy
			return false
		}
	}
	if need.month {
		own := &p.moved[d.monthOf]
		return own.day != none && own.day < own.month
	}
	return true
}

// write appends the items and what stands between them.
func (p *Parser) write(dst []byte) []byte {
	at, next := p.from, 0
	for k := range p.items {
		it := &p.items[k]
		if it.start < p.from || it.end > p.to {
			continue
		}
		if p.out[k] != stays {
			dst = append(dst, p.Text[at:it.start]...)
			dst = p.render(dst, k, p.out[k])
			at = it.end
		}
		for next < len(p.dates) && p.dates[next].lastItem < k {
			next++
		}
		if next < len(p.dates) && p.dates[next].lastItem == k {
			dst = p.insert(dst, next)
		}
	}
	return append(dst, p.Text[at:p.to]...)
}

// Elides reports whether the article or preposition at the end of before still fits after the word was is replaced by
// now. "l'abril" must not become "l'novembre", nor "el maig" in a Catalan note "el abril". The words in before are
// outside of the date.
func (p *Parser) Elides(before, was, now []byte) bool {
	if !cut.Text(was).LetterAt(0) {
		return true
	}
	text := bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("'")), []byte("’"))
	n := len(text)
	if n < len(before) {
		return n == 0 || text[n-1]|0x20 != 'l' && text[n-1]|0x20 != 'd' || vowel(now[0])
	}
	if p.language != pipeline.Catalan || vowel(was[0]) || !vowel(now[0]) {
		return true
	}
	for _, word := range [...]string{"el ", "de ", "del ", "al ", "pel "} {
		if at := n - len(word); at >= 0 && bytes.EqualFold(text[at:], []byte(word)) && !cut.Text(text).LetterBefore(at) {
			return false
		}
	}
	return true
}

func vowel(b byte) bool { return bytes.IndexByte([]byte("aeiouh"), b|0x20) >= 0 }

// insert appends the month and year of date i, written like those that it shared before the shift.
func (p *Parser) insert(dst []byte, i int) []byte {
	d, v, need := &p.dates[i], &p.moved[i], p.inserted[i]
	if need.month {
		own := &p.moved[d.monthOf]
		end := p.items[own.day].end
		if s := p.dates[d.monthOf].suffix; s != none {
			end = p.items[s].end
		}
		dst = append(dst, p.Text[end:p.items[own.month].start]...)
		dst = p.render(dst, own.month, v.m2)
	}
	if need.year {
		own := &p.moved[d.yearOf]
		dst = append(dst, p.Text[p.items[own.month].end:p.items[own.year].start]...)
		dst = p.render(dst, own.year, v.y2)
	}
	return dst
}

// render appends a value in the form of item k.
func (p *Parser) render(dst []byte, k int, v int) []byte {
	it := &p.items[k]
	switch {
	case it.is(number):
		return p.numberLike(dst, k, v)
	case it.is(first):
		if v == 1 {
			return append(dst, p.Text[it.start:it.end]...)
		}
		return strconv.AppendInt(dst, int64(v), 10)
	case it.is(numeral) && !it.is(month):
		w := it.wordOf(numeral, p.language)
		return appendLike(dst, p.Text[it.start:it.end], lists[list{numeral, w.in(p.language), full}][v-1])
	case it.is(ordinal):
		return p.ordinalLike(dst, it, v)
	}
	return p.wordLike(dst, it, v)
}

// numberLike appends a number in the format of item k: a year with as many
// digits, days and months with a leading zero if those of the date have one.
func (p *Parser) numberLike(dst []byte, k int, v int) []byte {
	it := &p.items[k]
	switch {
	case it.dotted:
		dst = strconv.AppendInt(dst, int64(v/1000), 10)
		dst = append(dst, '.')
		return appendPadded(dst, v%1000, 3)
	case it.sure:
		return appendPadded(dst, v, 4)
	case v > 99:
		if it.width() == 1 {
			return append(dst, '0'+byte(v%10))
		}
		return appendPadded(dst, v%100, 2)
	case p.padded(k):
		return appendPadded(dst, v, 2)
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

func appendPadded(dst []byte, v int, width int) []byte {
	var room [4]byte
	digits := strconv.AppendInt(room[:0], int64(v), 10)
	return append(append(dst, "000"[:width-len(digits)]...), digits...)
}

// padded reports whether days and months are written with two digits at item k: in a numeric date unless its day or
// month has a single digit, in other dates if item k begins with a zero.
func (p *Parser) padded(k int) bool {
	for i := range p.dates {
		d := &p.dates[i]
		if d.shape == named || k < d.firstItem || k > d.lastItem {
			continue
		}
		for _, part := range [...]int{p.moved[i].day, p.moved[i].month} {
			if part != none && p.items[part].width() == 1 {
				return false
			}
		}
		return true
	}
	it := &p.items[k]
	return p.Text[it.start] == '0'
}

// ordinalLike appends the ordinal of a day: English has one for each, Spanish
// and Catalan write one for the first alone.
func (p *Parser) ordinalLike(dst []byte, it *item, day int) []byte {
	was := p.Text[it.start:it.end]
	if len(was) == 2 && (was[1]|0x20 == 't' || was[1]|0x20 == 'd' || was[1]|0x20 == 'h') {
		suffix := "th"
		if day/10 != 1 {
			switch day % 10 {
			case 1:
				suffix = "st"
			case 2:
				suffix = "nd"
			case 3:
				suffix = "rd"
			}
		}
		return append(dst, suffix...)
	}
	if day == 1 {
		return append(dst, was...)
	}
	return dst
}

// wordLike appends the name of a month, weekday, season or part in the
// language, form and case of an item.
func (p *Parser) wordLike(dst []byte, it *item, v int) []byte {
	was := p.Text[it.start:it.end]
	name, l := p.name(it, v)
	if it.is(month) && l == pipeline.Catalan {
		dst = append(dst[:p.start], elide(dst[p.start:], name)...)
	}
	return appendLike(dst, was, name)
}

// in returns the preferred language if it has the word, else the first that has it.
func (w *word) in(prefer pipeline.Language) pipeline.Language {
	if w.langs>>prefer&1 != 0 {
		return prefer
	}
	return pipeline.Language(bits.TrailingZeros16(w.langs))
}

// name returns the name of the value in the list of words that the item comes from.
func (p *Parser) name(it *item, v int) (string, pipeline.Language) {
	for _, k := range [...]kind{month, weekday, season, third} {
		if !it.is(k) {
			continue
		}
		w := it.wordOf(k, p.language)
		l := w.in(p.language)
		if k == month {
			v--
		}
		if w.names != nil {
			return (*w.names)[v], pipeline.Spanish
		}
		return lists[list{k, l, w.form}][v], l
	}
	return "", p.language
}

// elisions of Catalan: before a vowel, before a consonant.
var elisions = [...][2]string{{"de l'", "del "}, {"l'", "el "}, {"d'", "de "}}

// elide changes "de " at the end of dst into "d'" before a month that begins
// with a vowel, and back; the article alike.
func elide(dst []byte, name string) []byte {
	from, to := 0, 1
	if name[0] == 'a' || name[0] == 'o' {
		from, to = 1, 0
	}
	if n := len(dst); n > 3 && string(dst[n-3:]) == "’" {
		dst = append(dst[:n-3], '\'')
	}
	for _, e := range elisions {
		n := len(dst) - len(e[from])
		if n < 0 || !bytes.EqualFold(dst[n:], []byte(e[from])) || n > 0 && unicode.IsLetter(rune(dst[n-1])) {
			continue
		}
		upper := unicode.IsUpper(rune(dst[n]))
		dst = append(dst[:n], e[to]...)
		if upper {
			dst[n] &^= 0x20
		}
		return dst
	}
	return dst
}

// appendLike appends a name in the case of a word, without accents if the
// word lacks one that it should have.
func appendLike(dst, was []byte, name string) []byte {
	upper, lower := 0, 0
	for _, r := range string(was) {
		if unicode.IsUpper(r) {
			upper++
		} else if unicode.IsLetter(r) {
			lower++
		}
	}
	first, _ := utf8.DecodeRune(was)
	start := len(dst)
	for i, r := range name {
		if upper > 1 && lower == 0 || i == 0 && unicode.IsUpper(first) || upper == 1 && lower == 0 && len(name) < 4 {
			r = unicode.ToUpper(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	if isASCII(was) && plainSpelling(was) {
		var buf [maxName * 2]byte
		return keepCase(dst[:start], append(buf[:0], dst[start:]...))
	}
	return dst
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainSpelling tells whether the word is a name that has accents, written
// without: sabado.
func plainSpelling(was []byte) bool {
	var buf [maxName * 3]byte
	return accented[string(gazetteer.Fold(buf[:0], was))]
}

// keepCase appends name without its accents, in its own case.
func keepCase(dst, name []byte) []byte {
	for _, r := range string(name) {
		var buf, one [8]byte
		plain := gazetteer.Fold(buf[:0], utf8.AppendRune(one[:0], r))
		if unicode.IsUpper(r) {
			plain[0] &^= 0x20
		}
		dst = append(dst, plain...)
	}
	return dst
}
