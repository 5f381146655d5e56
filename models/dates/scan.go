package dates

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/gazetteer"
)

// item is a word, number or sign of a date.
type item struct {
	start, end int32
	kinds      uint32 // bit 1 << kind: what it can be
	value      int32  // of a number; the byte of a sign
	words      []word
	dotted     bool // 2.014
	sure       bool // a number of four digits, or dotted: a year and nothing else
}

func (it *item) is(k kind) bool { return it.kinds>>k&1 != 0 }

func (it *item) width() int { return int(it.end - it.start) }

// maxItems is how many items a date has at most: a range of two dates with
// weekdays has some 20.
const maxItems = 40

// scan cuts the text into items. False: there is something that no date has.
func (p *Parser) scan() bool {
	p.items = p.items[:0]
	for i := 0; i < len(p.text); {
		if len(p.items) == maxItems {
			return false
		}
		b := p.text[i]
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			i++
		case b >= '0' && b <= '9':
			i = p.number(i)
		default:
			end, ok := p.wordOrSign(i)
			if !ok {
				return false
			}
			i = end
		}
	}
	return len(p.items) > 0
}

func (p *Parser) push(it item) { p.items = append(p.items, it) }

func (p *Parser) digits(i int) int {
	for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
		i++
	}
	return i
}

func (p *Parser) value(i, j int) (v int32) {
	for _, b := range p.text[i:j] {
		v = v*10 + int32(b-'0')
	}
	return v
}

func isYear(v int32) bool { return v >= 1900 && v <= 2099 }

// number reads the digits at i: a clock time, a year with a point for the
// thousands, a number, or the two or three that stand without a sign between.
func (p *Parser) number(i int) int {
	j := p.digits(i)
	w := j - i
	if end := p.clockAt(i, j); end > 0 {
		p.push(item{start: int32(i), end: int32(end), kinds: 1 << clock})
		return end
	}
	if w == 1 && j < len(p.text) && p.text[j] == '.' {
		if end := p.digits(j + 1); end == j+4 {
			if v := p.value(i, j)*1000 + p.value(j+1, end); isYear(v) {
				p.push(item{start: int32(i), end: int32(end), kinds: 1 << number, value: v, dotted: true, sure: true})
				return end
			}
		}
	}
	switch behind := p.behindSign(); {
	case w == 8 && isYear(p.value(i+4, j)):
		p.pieces(i, 2, 2, 4)
	case w == 8 && isYear(p.value(i, i+4)):
		p.pieces(i, 4, 2, 2)
	case w == 6 && behind && isYear(p.value(i+2, j)):
		p.pieces(i, 2, 4)
	case w == 5 && behind && isYear(p.value(i+1, j)):
		p.pieces(i, 1, 4)
	case w == 6 && !behind:
		p.pieces(i, 2, 2, 2)
	case w > 4:
		p.push(item{start: int32(i), end: int32(j), kinds: 1 << number, value: -1}) // no part of a date is that long
	default:
		p.piece(i, j)
	}
	return j
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
	v := p.value(i, j)
	p.push(item{start: int32(i), end: int32(j), kinds: 1 << number, value: v, sure: j-i == 4 && isYear(v)})
}

// clockAt returns the end of a time such as 10:30, 10:30:05 or T10:30, 0 if
// none stands there.
func (p *Parser) clockAt(i, j int) int {
	if j-i > 2 || j >= len(p.text) || p.text[j] != ':' || p.value(i, j) > 24 {
		return 0
	}
	end := p.digits(j + 1)
	if end != j+3 {
		return 0
	}
	for end < len(p.text) && (p.text[end] == ':' || p.text[end] == '.') && p.digits(end+1) > end+1 {
		end = p.digits(end + 1)
	}
	return end
}

// wordOrSign reads the word or the sign at i.
func (p *Parser) wordOrSign(i int) (end int, ok bool) {
	r, size := utf8.DecodeRune(p.text[i:])
	switch {
	case unicode.IsLetter(r) || r == 'º' || r == 'ª' || r == '°':
	case r == '–' || r == '—' || r == '‐' || r == '‑' || r == '−':
		p.push(item{start: int32(i), end: int32(i + size), kinds: 1 << sign, value: '-'})
		return i + size, true
	case r == '’' || r == '´' || r == '`':
		p.push(item{start: int32(i), end: int32(i + size), kinds: 1 << sign, value: '\''})
		return i + size, true
	case r == '/' || r == '-' || r == '.' || r == ',' || r == '(' || r == ')' || r == '\'' || r == ':' || r == '\\' || r == '[' || r == ']':
		p.push(item{start: int32(i), end: int32(i + size), kinds: 1 << sign, value: r})
		return i + size, true
	default:
		return 0, false
	}
	end = i + size
	for end < len(p.text) {
		r, size := utf8.DecodeRune(p.text[end:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && r != '·' {
			break
		}
		end += size
	}
	var buf [48]byte
	if end-i > len(buf)/2 {
		return 0, false
	}
	it := item{start: int32(i), end: int32(end), words: lookup(gazetteer.Fold(buf[:0], p.text[i:end]))}
	for _, w := range it.words {
		it.kinds |= w.kinds
	}
	if it.kinds == 0 && end == i+1 && (r == 'T' || r == 't') { // 2014-01-12T10:30
		it.kinds = 1 << particle
	}
	p.push(it)
	return end, it.kinds != 0
}

// wordOf returns the word of kind k that an item is, preferring a language and
// the full name: may is short in Spanish and full in English.
func (it *item) wordOf(k kind, prefer language) word {
	var found word
	best := -1
	for _, w := range it.words {
		if !w.is(k) {
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
