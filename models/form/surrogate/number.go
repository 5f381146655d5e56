package surrogate

import (
	"bytes"
	"strconv"

	"github.com/velum-health/velum/models/form/control"
)

// Number appends another number to dst in the same format: signs and blanks stay, letters become letters of the same
// case, digits become digits. A valid DNI, NIE, Social Security number or IBAN becomes another valid one, an invalid
// one another invalid one. The sex digit and the signs of a health card stay. ok is false if value has no digits.
func (w *Writer) Number(dst, value []byte) (out []byte, ok bool) {
	digits := 0
	for _, b := range value {
		if b >= '0' && b <= '9' {
			digits++
		}
	}
	if digits == 0 || digits > 40 || len(value) > 80 {
		return dst, false
	}
	start := len(dst)
	w.nth = 0
	w.fold = appendPlain(w.fold[:0], value)
	form := formOf(w.fold)
	label := 0
	if form == anyNumber {
		label = labelOf(value)
	}
	for attempt := range attempts {
		dst = dst[:start]
		rng := w.Source.Draw("number", w.nth, w.fold, attempt)
		first := true
		for i, b := range value {
			switch {
			case i < label:
				dst = append(dst, b)
			case b >= '0' && b <= '9':
				d := byte(rng.IntN(10))
				if first && b != '0' && d == 0 {
					d = byte(1 + rng.IntN(9))
				}
				first = false
				dst = append(dst, '0'+d)
			case b|0x20 >= 'a' && b|0x20 <= 'z':
				dst = append(dst, b&0x20|'A'+byte(rng.IntN(26)))
			default:
				dst = append(dst, b)
			}
		}
		form.mend(dst[start:], value)
		w.try = appendPlain(w.try[:0], dst[start:])
		if !bytes.Equal(w.try, w.fold) && !w.Source.Avoid(w.try) {
			return dst, true
		}
	}
	return dst[:start], false
}

// labelOf returns the length of a word that stands before a number and says
// what it is: NHC 45792.
func labelOf(value []byte) int {
	n := 0
	for n < len(value) && (value[n]|0x20 >= 'a' && value[n]|0x20 <= 'z' || value[n] >= 0x80) {
		n++
	}
	if n < 2 || n < len(value) && value[n] >= '0' && value[n] <= '9' {
		return 0
	}
	return n
}

// digits appends as many other digits; the first is no nought.
func (w *Writer) digits(dst, value []byte, what string) []byte {
	w.nth++
	rng := w.Source.Draw(what, w.nth, value, 0)
	for i := range value {
		low := 0
		if i == 0 {
			low = 1
		}
		d := byte('0' + low + rng.IntN(10-low))
		if i == len(value)-1 && d == value[i] {
			d = '0' + (d-'0'+1)%10
			if len(value) == 1 && d == '0' {
				d = '2'
			}
		}
		dst = append(dst, d)
	}
	return dst
}

// appendPlain appends the letters, in capitals, and digits of a number.
func appendPlain(dst, value []byte) []byte {
	for _, b := range value {
		switch {
		case b >= '0' && b <= '9' || b >= 'A' && b <= 'Z':
			dst = append(dst, b)
		case b >= 'a' && b <= 'z':
			dst = append(dst, b-0x20)
		}
	}
	return dst
}

// form is the shape of a number in letters and digits.
type form uint8

const (
	anyNumber form = iota
	dni
	nie
	nass
	iban
	cip
	telephone
)

func formOf(plain []byte) form {
	shape := func(letters string) bool { // A: a letter, 9: a digit
		if len(plain) != len(letters) {
			return false
		}
		for i, b := range plain {
			if (letters[i] == '9') != (b >= '0' && b <= '9') {
				return false
			}
		}
		return true
	}
	switch {
	case shape("99999999A") && plain[8] == control.Letter(number(plain[:8])):
		return dni
	case shape("A9999999A") && plain[0] >= 'X' && plain[0] <= 'Z' && plain[8] == control.Letter(nieNumber(plain)):
		return nie
	case shape("999999999999") && number(plain[:2]) >= 1 && number(plain[:2]) <= 66 && control.Social(plain):
		return nass
	case len(plain) == 24 && string(plain[:2]) == "ES" && control.IBANRest(plain) == 1:
		return iban
	case shape("AAAA9999999999"):
		return cip
	case shape("999999999") && plain[0] >= '6', shape("99999999999") && string(plain[:2]) == "34", shape("9999999999999") &&
		string(plain[:4]) == "0034":
		return telephone
	}
	return anyNumber
}

func number(digits []byte) (n int) {
	for _, b := range digits {
		n = n*10 + int(b-'0')
	}
	return n
}

// two writes a number of two digits.
func two(dst []byte, n int) { dst[0], dst[1] = '0'+byte(n/10), '0'+byte(n%10) }

func nieNumber(plain []byte) int { return int(plain[0]-'X')*10_000_000 + number(plain[1:8]) }

// mend writes the check letters and digits of a form into text, a number of
// random digits in the format of value, and what must stay.
func (f form) mend(text, value []byte) {
	var buf [80]byte
	plain := appendPlain(buf[:0], text)
	var old [80]byte
	was := appendPlain(old[:0], value)
	switch f {
	case anyNumber:
		return
	case dni:
		plain[8] = control.Letter(number(plain[:8]))
	case nie:
		plain[0] = 'X' + (plain[0] % 3)
		plain[8] = control.Letter(nieNumber(plain))
	case nass:
		two(plain, number(plain[:2])%52+1)
		two(plain[10:], control.SocialCheck(plain[:10]))
	case iban:
		copy(plain, "ES00")
		two(plain[2:], 98-control.IBANRest(plain))
	case cip:
		plain[4] = was[4]
		two(plain[7:], number(plain[7:9])%12+1)
		two(plain[9:], number(plain[9:11])%28+1)
	case telephone:
		copy(plain, was[:len(was)-8]) // prefix, and the digit that tells a mobile from a fixed line
	}
	k := 0
	for i, b := range text {
		if b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' {
			if b >= 'a' {
				text[i] = plain[k] | 0x20
			} else {
				text[i] = plain[k]
			}
			k++
		}
	}
}

// hosts are domains that RFC 2606 keeps for examples.
var hosts = [...]string{"example.org", "example.com", "example.net"}

// Contact appends another e-mail address, URL or IP address to dst, from the domains and networks that are reserved for
// examples (RFC 2606, 5737, 3849). ok is false if value is none of them.
func (w *Writer) Contact(dst, value []byte) (out []byte, ok bool) {
	w.fold = append(w.fold[:0], bytes.ToLower(value)...)
	rng := w.Source.Draw("contact", 0, w.fold, 0)
	letters := func(n int) {
		for i := range n {
			dst = append(dst, [...]string{"bcdglmnrst", "aaaeeeiiou"}[i%2][rng.IntN(10)])
		}
	}
	host := hosts[rng.IntN(len(hosts))]
	switch at := bytes.IndexByte(value, '@'); {
	case at > 0:
		letters(9)
		dst = append(dst, '@')
		return append(dst, host...), true
	case bytes.Contains(w.fold, []byte("://")):
		dst = append(dst, value[:bytes.Index(w.fold, []byte("://"))+3]...)
		dst = append(append(dst, host...), '/')
		letters(6)
		return dst, true
	case bytes.HasPrefix(w.fold, []byte("www.")):
		return append(append(dst, value[:4]...), host...), true
	case bytes.Count(value, []byte{'.'}) == 3 && number(bytes.ReplaceAll(value, []byte{'.'}, nil)) > 0 &&
		len(bytes.Trim(value, "0123456789.")) == 0:
		dst = append(dst, "192.0.2."...)
		return strconv.AppendInt(dst, 1+rng.Int64N(254), 10), true
	case bytes.Count(value, []byte{':'}) >= 2 && len(bytes.Trim(w.fold, "0123456789abcdef:")) == 0:
		dst = append(dst, "2001:db8::"...)
		return strconv.AppendInt(dst, 1+rng.Int64N(999), 10), true
	}
	return dst, false
}
