// Package control checks the control digits and letters of document numbers: DNI and NIE, CIF, Spanish Social Security,
// bank accounts, payment cards. It takes a value and reports whether its control is right. models/form/patterns raises
// the score of a valid value, models/tag/rules offers the checks by name, and models/form/surrogate generates valid
// numbers.
package control

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/velum-health/velum/models/word/cut"
)

// Letters holds the control letters of DNI and NIE, indexed by the number modulo 23.
const Letters = "TRWAGMYFPDXBNJZSQVHLCKE"

// Letter returns the control letter of a DNI.
func Letter(number int) byte { return Letters[number%len(Letters)] }

// NIE returns the number from which the control letter of a foreigner's document is computed: the prefix X, Y or Z
// counts as the digit 0, 1 or 2 before the digits; K, L and M (documents of persons without a DNI) count as nothing. ok
// is false for any other prefix.
func NIE(first byte, digits int) (number int, ok bool) {
	switch first &^= 0x20; first {
	case 'X', 'Y', 'Z':
		if digits < 10_000_000 {
			digits += int(first-'X') * 10_000_000
		}
	case 'K', 'L', 'M':
	default:
		return 0, false
	}
	return digits, true
}

// controls maps names to checks. A check receives the ASCII letters and digits of a value, with letters in upper case.
var controls = map[string]func(value []byte) bool{
	"luhn": func(v []byte) bool { d := digitsOf(v); return len(d) > 1 && Luhn(d) },
	"dni":  dni,
	"cif": func(v []byte) bool {
		return len(v) == 9 && cut.IsUpper(v[0]) && digitsOnly(v[1:8]) && CIF([8]byte(v[1:]))
	},
	"iban": IBAN,
	"nass": func(v []byte) bool { return Social(digitsOf(v)) },
	"cip":  cip,
}

// Names returns the names that Named accepts.
func Names() []string { return slices.Sorted(maps.Keys(controls)) }

// Named returns the check with that name, or nil: a function that reports whether a value has the right check digit or
// letter, whatever separators it contains. luhn is ISO/IEC 7812, dni covers DNI and NIE, cif the numbers of companies,
// iban ISO 7064 mod 97-10, nass the Spanish Social Security; cip has no check digit and is tested for a possible sex
// and birth date. luhn and nass ignore letters. Values of more than 64 letters and digits never pass.
func Named(name string) func(value []byte) bool {
	check := controls[name]
	if check == nil {
		return nil
	}
	return func(value []byte) bool {
		var room [64]byte
		plain := room[:0]
		for _, b := range value {
			if !cut.IsAlnum(b) {
				continue
			}
			if len(plain) == len(room) {
				return false
			}
			if cut.IsLower(b) {
				b &^= 0x20
			}
			plain = append(plain, b)
		}
		return check(plain)
	}
}

// digitsOf takes the letters out: those of a prefix, as in NSS 28...
func digitsOf(v []byte) []byte {
	return slices.DeleteFunc(v, func(b byte) bool { return !cut.IsDigit(b) })
}

func digitsOnly(v []byte) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(b byte) bool { return !cut.IsDigit(b) })
}

func number(v []byte) int { return cut.Text(v).Value(0, len(v)) }

// dni takes 12345678Z, X1234567L and K1234567L.
func dni(v []byte) bool {
	if len(v) != 9 && len(v) != 8 {
		return false
	}
	body, last := v[:len(v)-1], v[len(v)-1]
	first := byte('X') // which is nothing
	if cut.IsUpper(v[0]) {
		first, body = v[0], body[1:]
	}
	if !digitsOnly(body) {
		return false
	}
	n, ok := NIE(first, number(body))
	return ok && last == Letter(n)
}

// cip is the form of a health card of CatSalut: four letters, sex, birth date, three
// digits.
func cip(v []byte) bool {
	return len(v) == 14 && !slices.ContainsFunc(v[:4], cut.IsDigit) && digitsOnly(v[4:]) && Born(v[4:])
}

// Born reports whether the digits begin with a sex (0 or 1) and a possible year, month and day, as in a CIP of
// CatSalut.
func Born(d []byte) bool {
	month, day := number(d[3:5]), number(d[5:7])
	return d[0] <= '1' && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// CIF reports whether d[7] is the control digit or letter of the seven digits of a company's number: ten minus the last
// digit of the sum of the even places and of the digit sums of the doubled odd places.
func CIF(d [8]byte) bool {
	sum := 0
	for k, b := range d[:7] {
		v := int(b - '0')
		if k%2 == 0 {
			v = 2*v/10 + 2*v%10
		}
		sum += v
	}
	c := (10 - sum%10) % 10
	return d[7] == byte('0'+c) || d[7] == "JABCDEFGHI"[c]
}

// Social reports whether the last two digits of a Social Security number are right.
func Social(d []byte) bool {
	body := len(d) - 2
	return (body == 10 || body == 9) && SocialCheck(d[:body]) == number(d[body:])
}

// SocialCheck returns the check of a Social Security number: province and number modulo 97. A number below ten million
// is joined to its province without its leading zero.
func SocialCheck(body []byte) int {
	p, v := number(body[:2]), number(body[2:])
	if v >= 10_000_000 {
		p *= 10
	}
	return (p*10_000_000 + v) % 97
}

// Account reports whether both control digits of the twenty digits of a Spanish bank account are right.
func Account(d []byte) bool { return bank(d[:8]) == d[8] && bank(d[10:20]) == d[9] }

// bank is the control digit of up to ten digits: weights 1 2 4 8 5 10 9 7 3 6 from
// the left of ten places, mod 11.
func bank(d []byte) byte {
	weights := [10]int{1, 2, 4, 8, 5, 10, 9, 7, 3, 6}
	sum := 0
	for k, b := range d {
		sum += int(b-'0') * weights[10-len(d)+k]
	}
	switch c := 11 - sum%11; c {
	case 11:
		return '0'
	case 10:
		return '1'
	default:
		return byte('0' + c)
	}
}

//go:embed ibans.txt
var ibansFile string

var ibans = func() (t [26 * 26]uint8) {
	cut.Sections(ibansFile, func(_, row []string) {
		for _, r := range row {
			t[int(r[0]-'A')*26+int(r[1]-'A')] = uint8(number([]byte(r[2:])))
		}
	})
	return t
}()

// IBANLength returns the length of an IBAN of the country with the two capital letters a and b; 0 if the country has
// none.
func IBANLength(a, b byte) int {
	if !cut.IsUpper(a) || !cut.IsUpper(b) {
		return 0
	}
	return int(ibans[int(a-'A')*26+int(b-'A')])
}

// IBAN reports whether the check digits of an IBAN are right.
func IBAN(v []byte) bool {
	return len(v) >= 15 && len(v) <= 34 && cut.IsUpper(v[0]) && cut.IsUpper(v[1]) && digitsOnly(v[2:4]) && IBANRest(v) == 1
}

// IBANRest returns the remainder modulo 97 of an IBAN whose first four characters are moved to the end (ISO 7064);
// letters count from 10. The remainder is 1 if the check digits are right.
func IBANRest(v []byte) (rest int) {
	for i := range v {
		if b := v[(i+4)%len(v)]; cut.IsDigit(b) {
			rest = (rest*10 + int(b-'0')) % 97
		} else {
			rest = (rest*100 + int(b-'A') + 10) % 97
		}
	}
	return rest
}

//go:embed cards.txt
var cardsFile string

// cards are the rows of cards.txt: digits, and the first and last four digits with
// which a card begins.
var cards = func() (rows [][3]int) {
	cut.Sections(cardsFile, func(_, row []string) {
		rows = append(rows, [3]int{number([]byte(row[0])), number([]byte(row[1])), number([]byte(row[2]))})
	})
	return rows
}()

// Issued reports whether a payment card with that many digits may begin with these four.
func Issued(first, digits int) bool {
	return slices.ContainsFunc(cards, func(c [3]int) bool { return c[0] == digits && c[1] <= first && first <= c[2] })
}

// Luhn reports whether the last digit is the check digit of the others.
func Luhn(d []byte) bool {
	sum := 0
	for k, b := range d {
		v := int(b - '0')
		if (len(d)-k)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && sum > 0
}
