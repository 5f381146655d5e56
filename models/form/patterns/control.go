package patterns

import (
	"maps"
	"slices"

	"github.com/velum-health/velum/models/word/cut"
)

// controls are check digits by name. A value comes as its ASCII letters and
// digits alone, letters as capitals.
var controls = map[string]func(value []byte) bool{
	"luhn": func(v []byte) bool { d := digitsOf(v); return len(d) > 1 && luhn(d) },
	"dni":  dniControl,
	"cif": func(v []byte) bool {
		return len(v) == 9 && cut.IsUpper(v[0]) && digitsOnly(v[1:8]) && cifControl([8]byte(v[1:]))
	},
	"iban": ibanControl,
	"nass": func(v []byte) bool { return socialControl(digitsOf(v)) },
	"cip":  cipForm,
}

// Controls are the names that Control knows.
func Controls() []string { return slices.Sorted(maps.Keys(controls)) }

// Control returns the check of that name: whether a value, whatever stands
// between its letters and digits, has the right check digit or letter. luhn is
// ISO/IEC 7812, dni that of DNI and NIE, cif that of companies, iban ISO 7064
// mod 97-10, nass that of the Spanish Social Security; cip has none and asks for
// a sex and a birth date that can be, see catSalut. luhn and nass look at digits
// alone. Values of more than 64
// letters and digits are never right. nil if there is no such check.
func Control(name string) func(value []byte) bool {
	check := controls[name]
	if check == nil {
		return nil
	}
	return func(value []byte) bool {
		var plain [64]byte
		n := 0
		for _, b := range value {
			if b >= 'a' && b <= 'z' {
				b &^= 0x20
			}
			if !cut.IsUpper(b) && (b < '0' || b > '9') {
				continue
			}
			if n == len(plain) {
				return false
			}
			plain[n] = b
			n++
		}
		return check(plain[:n])
	}
}

// digitsOf takes the letters out: those of a prefix, as in NSS 28...
func digitsOf(v []byte) []byte {
	return slices.DeleteFunc(v, func(b byte) bool { return b < '0' || b > '9' })
}

func digitsOnly(v []byte) bool {
	for _, b := range v {
		if b < '0' || b > '9' {
			return false
		}
	}
	return len(v) > 0
}

func number(v []byte) (n int) {
	for _, b := range v {
		n = n*10 + int(b-'0')
	}
	return n
}

// dniControl takes 12345678Z, X1234567L and K1234567L.
func dniControl(v []byte) bool {
	if len(v) != 9 && len(v) != 8 {
		return false
	}
	body, first := v[:len(v)-1], 0
	switch v[0] {
	case 'X', 'Y', 'Z':
		first, body = int(v[0]-'X')*10_000_000, body[1:]
	case 'K', 'L', 'M':
		body = body[1:]
	}
	if !digitsOnly(body) {
		return false
	}
	_, right := checkLetter(v[len(v)-1], first+number(body))
	return right && cut.IsUpper(v[len(v)-1])
}

// ibanControl: country and check digits go behind the rest, and the whole is 1
// modulo 97.
func ibanControl(v []byte) bool {
	if len(v) < 15 || len(v) > 34 || !cut.IsUpper(v[0]) || !cut.IsUpper(v[1]) || !digitsOnly(v[2:4]) {
		return false
	}
	rest := 0
	for _, part := range [2][]byte{v[4:], v[:4]} {
		for _, b := range part {
			rest = mod97(rest, b)
		}
	}
	return rest == 1
}

// cipForm: four letters, sex, birth date, three digits.
func cipForm(v []byte) bool {
	if len(v) != 14 || !digitsOnly(v[4:]) {
		return false
	}
	for _, b := range v[:4] {
		if !cut.IsUpper(b) {
			return false
		}
	}
	day := two(v[9:11])
	return (v[4] == '0' || v[4] == '1') && isMonth(two(v[7:9])) && day >= 1 && day <= 31
}
