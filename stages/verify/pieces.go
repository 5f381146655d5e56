package verify

import (
	"bytes"
	"strings"
)

// pieces is a number as a person reads it: digits with up to four signs,
// blanks or line ends between two of them, also a letter that was typed for one.
type pieces struct {
	n      int
	digits [26]byte // 0 to 9
	at     [26]int  // where digit k stands
	gaps   int
	rest   bool // other digits stand before, as near
}

// maxGap is how many bytes may stand between two digits of a number.
const maxGap = 4

// read fills p with the number at i.
func (p *pieces) read(text []byte, i int) {
	b := i - gapBefore(text, i) - 1
	p.n, p.gaps, p.rest = 0, 0, b >= 0 && isDigit(text[b])
	for p.n < len(p.digits) {
		for ; p.n < len(p.digits); i++ {
			d := digitAt(text, i)
			if d > 9 {
				break
			}
			p.digits[p.n], p.at[p.n] = d, i
			p.n++
		}
		w := gapAt(text, i)
		if w == 0 || !isDigit(at(text, i+w)) {
			return
		}
		p.gaps++
		i += w
	}
}

// digitAt returns the digit at i, of a letter between two digits the one that
// it looks like; above 9 if there is none.
func digitAt(text []byte, i int) byte {
	b := at(text, i)
	if isDigit(b) {
		return b - '0'
	}
	if isDigit(at(text, i-1)) && isDigit(at(text, i+1)) {
		switch b {
		case 'o', 'O':
			return 0
		case 'l', 'I', '|':
			return 1
		}
	}
	return 0xFF
}

// separates tells whether b may stand between the digits of a number: a sign,
// but for those that say what a number is or that open a placeholder.
func separates(b byte) bool {
	switch b {
	case '[', ']', '@', '%', '+', '<', '>', '&', '$', '"', '{', '}', '!', '?', 0:
		return false
	}
	return kinds[b] == sign
}

// gapAt returns how many bytes at i may stand between two digits, at most
// maxGap characters; gapBefore those before i.
func gapAt(text []byte, i int) (w int) {
	for n := 0; n < maxGap && separates(at(text, i+w)); n++ {
		if text[i+w] == 0xC2 {
			w++
		}
		w++
	}
	return w
}

func gapBefore(text []byte, i int) (w int) {
	for w < maxGap && separates(at(text, i-w-1)) {
		w++
	}
	return w
}

// end returns the place behind the first n digits if a piece ends there, else
// 0.
func (p *pieces) end(n int) int {
	if p.n < n || p.n > n && p.at[n] == p.at[n-1]+1 {
		return 0
	}
	return p.at[n-1] + 1
}

// together tells whether the first n digits touch.
func (p *pieces) together(n int) bool { return p.at[n-1] == p.at[0]+n-1 }

// value returns digits i to j as a number.
func (p *pieces) value(i, j int) (v int) {
	for _, d := range p.digits[i:j] {
		v = v*10 + int(d)
	}
	return v
}

// checkedForm tells whether an identifier with right check digits stands at i.
func (v *verifier) checkedForm(text []byte, i int, p *pieces) bool {
	return v.strict[dniForm] && (dni(text, p) || nie(text, i, p) || cif(text, i, p)) ||
		v.strict[nassForm] && nass(p) ||
		v.strict[cipForm] && cip(text, i, p) ||
		v.strict[ibanForm] && ibanPieces(text, i, p) ||
		v.strict[accountForm] && (account(p) || card(text, p))
}

// checkLetters are those of a number of identity, by its rest by 23.
const checkLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

// letter tells whether b is an ASCII letter.
func letter(b byte) bool { return kinds[b] == upper || kinds[b] == lower }

// checked tells whether the check letter of number stands behind i. A word may
// touch it: behind a capital that it does not go on, or behind digits that
// touch the letter themselves.
func checked(text []byte, i, number int, together bool) bool {
	w := gapAt(text, i)
	b, next := at(text, i+w), at(text, i+w+1)
	if b&^0x20 != checkLetters[number%len(checkLetters)] || isDigit(next) {
		return false
	}
	return !isLetter(next) || w == 0 && (together || kinds[b] == upper && kinds[next] != upper)
}

// dni tells whether p begins with eight digits and their letter stands behind.
func dni(text []byte, p *pieces) bool {
	end := p.end(8)
	return end > 0 && (p.together(8) || !p.rest) && checked(text, end, p.value(0, 8), p.together(8))
}

// nie tells whether X, Y, Z, K, L or M stands before seven digits at i, and the
// right letter behind.
func nie(text []byte, i int, p *pieces) bool {
	end, q := p.end(7), i-gapBefore(text, i)-1
	if end == 0 || q < i-1 && isAlnum(at(text, q-1)) {
		return false
	}
	number := p.value(0, 7)
	switch first := at(text, q) &^ 0x20; first {
	case 'X', 'Y', 'Z':
		number += int(first-'X') * 10_000_000
	case 'K', 'L', 'M':
	default:
		return false
	}
	return checked(text, end, number, p.together(7))
}

// cif tells whether a company's number stands at i-1: a letter, seven digits, a
// control digit or letter. One in ten passes, so nothing may touch its letter
// but a capital's word or "CIF".
func cif(text []byte, i int, p *pieces) bool {
	q := i - gapBefore(text, i) - 1
	first := at(text, q)
	if !letter(first) || first&^0x20 > 'W' || first&^0x20 == 'I' || first&^0x20 == 'O' || first&^0x20 == 'T' || p.n > 8 {
		return false
	}
	sum := 0
	for k, d := range p.digits[:7] {
		if k%2 == 0 {
			d = 2*d/10 + 2*d%10
		}
		sum += int(d)
	}
	control, right := (10-sum%10)%10, false
	if end := p.end(8); end > 0 {
		right = int(p.digits[7]) == control && !isDigit(at(text, end)) && (p.together(8) || !isAlnum(at(text, end)))
	} else if end := p.end(7); end > 0 {
		end += gapAt(text, end)
		right = at(text, end)&^0x20 == "JABCDEFGHI"[control] && !isAlnum(at(text, end+1))
	}
	if !right {
		return false
	}
	tight, before := q == i-1, at(text, q-1)
	switch {
	case q >= 3 && (begins(text[q-3:], "cif") || begins(text[q-3:], "nif")):
		return true
	case isLetter(before) || isDigit(before):
		return tight && kinds[first] == upper && kinds[before] == lower
	}
	return kinds[first] == upper || tight && p.gaps == 0
}

// nass tells whether p begins with a number of the Social Security with right
// check digits: 12 digits, of an employer 11.
func nass(p *pieces) bool {
	province := p.value(0, 2)
	if province < 1 || province > 53 && province != 66 {
		return false
	}
	right := func(body, check int) bool {
		number := p.value(2, body)
		base := province*100_000_000 + number
		if number < 10_000_000 {
			base = province*10_000_000 + number
		}
		return base%97 == p.value(body, check)
	}
	if p.end(12) > 0 && right(10, 12) {
		return true
	}
	mobile := province == 34 && p.n > 2 && p.digits[2] >= 6
	return p.n == 11 && p.gaps <= 2 && !mobile && right(9, 11)
}

// cip tells whether the ten digits at i stand behind four letters, together or
// one by one, and hold a sex and a birth date.
func cip(text []byte, i int, p *pieces) bool {
	end, month, day := p.end(10), p.value(3, 5), p.value(5, 7)
	if end == 0 || p.digits[0] > 1 || month < 1 || month > 12 || day < 1 || day > 31 || isDigit(at(text, end)) {
		return false
	}
	q := i - gapBefore(text, i)
	last, apart := q, 0
	for k := range 4 {
		if k > 0 && separates(at(text, q-1)) {
			apart++
			q--
		}
		if !letter(at(text, q-1)) {
			return false
		}
		q--
	}
	if apart != 0 && apart != 3 {
		return false
	}
	capitals := kinds[text[q]] == upper && kinds[text[last-1]] == upper
	switch before := at(text, q-1); {
	case isAlnum(before) || isLetter(before):
		return q >= 3 && (begins(text[q-3:], "tis") || begins(text[q-3:], "cip")) || kinds[before] == lower && capitals
	}
	return last == i || capitals
}

// digitsOnly are the lengths of the IBANs that have digits behind the country.
var digitsOnly = func() map[[2]byte]int {
	lengths := map[[2]byte]int{}
	for row := range strings.FieldsSeq("ES24 PT25 DE22 BE16 PL28 AT20 DK18 FI18 HU28 NO15 SE24") {
		lengths[[2]byte{row[0], row[1]}] = int(row[2]-'0')*10 + int(row[3]-'0')
	}
	return lengths
}()

// ibanPieces tells whether p is an account behind its country, whatever stands
// between.
func ibanPieces(text []byte, i int, p *pieces) bool {
	q := i - gapBefore(text, i) - 1
	o := q - 1
	if separates(at(text, o)) {
		o--
	}
	a, b := at(text, o)&^0x20, at(text, q)&^0x20
	n := digitsOnly[[2]byte{a, b}] - 2
	if n <= 0 || n > len(p.digits) || p.end(n) == 0 {
		return false
	}
	rest := 0
	for _, d := range p.digits[2:n] {
		rest = (10*rest + int(d)) % 97
	}
	rest = append97(append97(rest, a), b)
	return (100*rest+10*int(p.digits[0])+int(p.digits[1]))%97 == 1
}

// account tells whether p begins with the twenty digits of a Spanish account.
func account(p *pieces) bool {
	control := func(first, n int) byte {
		sum, weight := 0, 1
		for k := range 10 { // weights are the powers of two by 11, from the left of ten places
			if d := k - (10 - n); d >= 0 {
				sum += int(p.digits[first+d]) * weight
			}
			weight = weight * 2 % 11
		}
		switch c := (11 - sum%11) % 11; c {
		case 10:
			return 1
		default:
			return byte(c)
		}
	}
	return p.end(20) > 0 && control(0, 8) == p.digits[8] && control(10, 10) == p.digits[9]
}

// card tells whether p begins with the number of a payment card, or is the
// IMEI of a telephone.
func card(text []byte, p *pieces) bool {
	if p.rest {
		return false
	}
	for n := 13; n <= 19; n++ {
		end := p.end(n)
		if end == 0 || isDigit(at(text, end)) || !luhn(p.digits[:n]) {
			continue
		}
		two, four := p.value(0, 2), p.value(0, 4)
		switch {
		case n == 16 && (two/10 == 4 || two > 50 && two < 56 || four >= 2221 && four <= 2720 || four == 6011 || two == 65 || two == 35),
			n == 15 && (two == 34 || two == 37), n == 14 && (two == 36 || two == 38), (n == 13 || n == 19) && two/10 == 4,
			n == 15 && p.n == 15 && (p.gaps == 0 || p.end(2) > 0 && p.end(8) > 0 && p.end(14) > 0 ||
				p.gaps == 1 && bytes.IndexByte(text[p.at[0]:end], '\n') > 0):
			return true
		}
	}
	return false
}

// luhn tells whether the last digit is the check digit of those before.
func luhn(digits []byte) bool {
	sum := 0
	for k := range digits {
		d := int(digits[len(digits)-1-k])
		if k%2 == 1 {
			d = 2*d/10 + 2*d%10
		}
		sum += d
	}
	return sum > 0 && sum%10 == 0
}
