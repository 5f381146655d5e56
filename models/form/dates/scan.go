package dates

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// item is a word, number or sign of a date.
type item struct {
	start, end int
	kinds      kind
	value      int // of a number; the byte of a sign
	words      []word
	gap        uint8 // blanks before it, at most 3
	dotted     bool  // 2.014
	sure       bool  // a number of four digits, or dotted: a year and nothing else
}

// is tells whether the item can be one of some kinds.
func (it *item) is(some kind) bool { return it.kinds&some != 0 }

// by tells whether the item is one of some signs.
func (it *item) by(signs string) bool {
	return it.is(sign) && strings.IndexByte(signs, byte(it.value)) >= 0
}

func (it *item) width() int { return (it.end - it.start) }

// maxItems is the largest number of items in a date; a range of two dates with weekdays has about 20.
const maxItems = 40

// scan cuts the text into items. It returns false if the text holds something that no date has.
func (p *Parser) scan() bool {
	p.items = p.items[:0]
	for i := 0; i < len(p.Text); {
		if len(p.items) >= maxItems {
			return false
		}
		end, ok := p.next(i)
		if !ok {
			return false
		}
		i = end
	}
	return len(p.items) > 0
}

// cut cuts text[i:j] into items, whatever they are.
func (p *Parser) cut(text []byte, i, j int) {
	p.Text, p.items, p.finding, p.language = text, p.items[:0], true, pipeline.Spanish
	for i < j {
		i, _ = p.next(i)
	}
}

// next reads the blank, number, word or sign at i and returns its end. It returns false if this is something that no
// date has.
func (p *Parser) next(i int) (end int, ok bool) {
	switch b := p.Text[i]; {
	case b == '\n' || b == '\r':
		return i + 1, true
	case p.Space(i) > 0:
		return i + p.Space(i), true
	case cut.IsDigit(b):
		return p.number(i), true
	case cut.IsLetter(b):
		return p.word(i)
	case signs[b]:
		p.push(item{start: i, end: (i + 1), kinds: sign, value: int(b)})
		return i + 1, true
	}
	return p.wordOrSign(i)
}

func (p *Parser) push(it item) {
	if n := len(p.items); n > 0 {
		it.gap = uint8(min(it.start-p.items[n-1].end, 3))
	}
	p.items = append(p.items, it)
}

func isYear(v int) bool { return v >= 1900 && v <= 2099 }

// number reads the digits at i: a clock time, a year with a point for the
// thousands, a number, or the two or three that stand without a sign between.
func (p *Parser) number(i int) int {
	j := p.Digits(i)
	w := j - i
	if end := p.clockAt(i, j); end > 0 {
		p.push(item{start: i, end: end, kinds: clock})
		return end
	}
	if w == 1 && p.At(j) == '.' {
		if end := p.Digits(j + 1); end == j+4 {
			if v := p.Value(i, j)*1000 + p.Value(j+1, end); isYear(v) {
				p.push(item{start: i, end: end, kinds: number, value: v, dotted: true, sure: true})
				return end
			}
		}
	}
	switch behind := p.behindSign(); {
	case w == 8 && !p.finding && isYear(p.Value(i+4, j)):
		p.pieces(i, 2, 2, 4)
	case w == 8 && !p.finding:
		p.pieces(i, 4, 2, 2)
	case w == 6 && behind && isYear(p.Value(i+2, j)):
		p.pieces(i, 2, 4)
	case behind && isYear(p.Value(i+1, j)):
		p.pieces(i, 1, 4)
	case w == 6 && !p.finding:
		p.pieces(i, 2, 2, 2)
	case w == 4 && behind && p.Value(i, i+2) <= 12 && p.items[len(p.items)-2].width() == 2: // 21/0714
		p.pieces(i, 2, 2)
	case p.Value(i, j)/100 == 200 && p.ofMonth(): // 6 de mayo de 20015
		p.push(item{start: i, end: j, kinds: number, value: 2000 + p.Value(i, j)%100, sure: true})
	case w > 4:
		p.push(item{start: i, end: j, kinds: number, value: -1}) // no part of a date is that long
	default:
		p.piece(i, j)
	}
	return j
}

// ofMonth tells whether "de" has just been read, as between a month and its year.
func (p *Parser) ofMonth() bool {
	n := len(p.items)
	return n > 0 && p.items[n-1].is(ofTime)
}

// behindSign tells whether a number and a sign have just been read.
func (p *Parser) behindSign() bool {
	n := len(p.items)
	return n >= 2 && p.items[n-1].is(sign) && p.items[n-2].is(number)
}

func (p *Parser) pieces(i int, widths ...int) {
	for _, w := range widths {
		p.piece(i, i+w)
		i += w
	}
}

func (p *Parser) piece(i, j int) {
	v := p.Value(i, j)
	p.push(item{start: i, end: j, kinds: number, value: v, sure: isYear(v)})
}

// clockAt returns the end of a time such as 10:30, 10:30:05 or T10:30, 0 if
// none stands there.
func (p *Parser) clockAt(i, j int) int {
	if p.At(j) != ':' || p.Value(i, j) > 24 {
		return 0
	}
	end := p.Digits(j + 1)
	if end != j+3 {
		return 0
	}
	for (p.At(end) == ':' || p.At(end) == '.') && p.Digit(end+1) {
		end = p.Digits(end + 1)
	}
	return end
}

// wordOrSign reads the word or the sign at i.
func (p *Parser) wordOrSign(i int) (end int, ok bool) {
	r, size := utf8.DecodeRune(p.Text[i:])
	switch {
	case unicode.IsLetter(r) || r == 'º' || r == 'ª' || r == '°':
		return p.word(i)
	case r == '–' || r == '—' || r == '‐' || r == '‑' || r == '−':
		p.push(item{start: i, end: (i + size), kinds: sign, value: '-'})
		return i + size, true
	case r == '’' || r == '´' || r == '`':
		p.push(item{start: i, end: (i + size), kinds: sign, value: '\''})
		return i + size, true
	case !p.finding:
		return 0, false
	}
	p.push(item{start: i, end: (i + size)})
	return i + size, true
}

// signs are those of dates.
var signs = cut.SetOf("/-.,()':\\[]")

// wordEnd returns where the word ends that begins at i, with the indicator of an
// ordinal behind it.
func (p *Parser) wordEnd(i int) (end int, plain bool) {
	end, plain = p.WordEnd(i)
	for p.At(end) == 0xC2 && (p.At(end+1) == 0xBA || p.At(end+1) == 0xAA || p.At(end+1) == 0xB0) {
		end, plain = end+2, false
	}
	return end, plain
}

// word reads the word at i.
func (p *Parser) word(i int) (int, bool) {
	end, plain := p.wordEnd(i)
	it := item{start: i, end: end}
	if k := known.Word(p.Text, i, end, plain); k != nil {
		it.words, it.kinds = k.words, k.kinds
	} else if !p.finding || p.dayOf() {
		it.words, it.kinds = p.misspelt(p.Text[i:end])
	}
	if end == i+1 && p.Text[i]|0x20 == 't' { // 2014-01-12T10:30
		it.kinds = particle
	}
	p.push(it)
	return p.numeral(end), it.kinds != 0
}

// misspelt returns what a word that is not known was meant to be, if it is
// nearly the name of a month or weekday.
func (p *Parser) misspelt(typed []byte) (names []word, kinds kind) {
	if len(typed) > maxName {
		return nil, 0
	}
	var buf [maxName * 2]byte
	folded := gazetteer.Fold(buf[:0], typed)
	names, name := misspelt(folded)
	if p.finding && len(folded) < 7 && len(folded) == len(name) && !anagrams(folded, name) {
		return nil, 0
	}
	for _, w := range names {
		kinds |= w.kinds
	}
	return names, kinds
}

// dayOf tells whether "12 de" has just been read.
func (p *Parser) dayOf() bool {
	n := len(p.items)
	return n >= 2 && p.items[n-1].is(ofTime) && p.items[n-2].is(number)
}

// anagrams tells whether a short word of as many letters as a name has two of
// them exchanged. One wrong letter makes another word: marca.
func anagrams(a []byte, b string) bool {
	for i := range a {
		if bytes.Count(a, a[i:i+1]) != strings.Count(b, string(a[i])) {
			return false
		}
	}
	return true
}

// numeral joins "vint-i-cinc" and "treinta y uno", whose first word ends at end
// and is the last item, to one item.
func (p *Parser) numeral(end int) int {
	it := &p.items[len(p.items)-1]
	if !it.is(numeral) {
		return end
	}
	for k := range compounds {
		c := &compounds[k]
		stop := it.start + len(c.name)
		if stop <= len(p.Text) && bytes.EqualFold(p.Text[it.start:stop], []byte(c.name)) && !p.LetterAt(stop) {
			it.end, it.words = stop, c.words
			return stop
		}
	}
	return end
}

// wordOf returns the word of kind k that an item is, preferring a language and
// the full name: may is short in Spanish and full in English.
func (it *item) wordOf(k kind, prefer pipeline.Language) word {
	var found word
	best := -1
	for _, w := range it.words {
		if w.kinds&k == 0 {
			continue
		}
		rank := int(w.langs>>prefer&1) * 2
		if w.form == full {
			rank++
		}
		if rank > best {
			found, best = w, rank
		}
	}
	return found
}
