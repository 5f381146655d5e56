package verify

import "github.com/velum-health/velum/pipeline"

// Forms of the second look.
const (
	dniForm = iota
	nassForm
	ibanForm
	cipForm
	mailForm
	urlForm
	telephoneForm
	numForms
)

// formCategories are the categories that switch a form off when they are kept.
var formCategories = [numForms]string{
	dniForm:       "DNI ID_SUJETO_ASISTENCIA IDNUM",
	nassForm:      "SOCIAL_SECURITY_ID ID_ASEGURAMIENTO SSN",
	ibanForm:      "IBAN ACCOUNT",
	cipForm:       "SANITARY_CARD_ID ID_SUJETO_ASISTENCIA HEALTHPLAN",
	mailForm:      "EMAIL CORREO_ELECTRONICO",
	urlForm:       "URL URL_WEB",
	telephoneForm: "TELEPHONE NUMERO_TELEFONO NUMERO_FAX PHONE FAX",
}

// look reads the masked text once. At every word it asks whether a masked
// value begins, at every number and sign of an address also whether an
// identifier does.
func (v *verifier) look(text []byte) pipeline.Reason {
	strict := false
	before := uint8(sign)
	for i := 0; i < len(text); {
		b := text[i]
		k := kinds[b]
		switch k {
		case sign:
			if b == '[' {
				if end := v.placeholder(text, i); end > i {
					i, before = end, sign
					continue
				}
			}
			if b == '@' || b == ':' || b == '.' {
				strict = strict || v.address(text, i)
			}
			i++
		case numeric:
			if v.firsts>>(b&31)&1 != 0 && (v.number(text, i) || v.readable(text, i)) {
				return pipeline.SurvivingValue
			}
			strict = strict || v.identifier(text, i)
			for i++; i < len(text) && kinds[text[i]] == numeric; i++ {
			}
		default:
			begins := before == sign || before == numeric || k == upper && before != upper
			if begins && (k == other || v.firsts>>(b&31)&1 != 0) && v.readable(text, i) {
				return pipeline.SurvivingValue
			}
			for i++; i < len(text) && kinds[text[i]] == k; i++ {
			}
			if k == other { // the rest of the character
				for i < len(text) && text[i]&0xC0 == 0x80 {
					i++
				}
			}
		}
		before = k
	}
	if strict {
		return pipeline.StrictFinding
	}
	return pipeline.Sound
}

// placeholder returns the end of the placeholder at i, or i.
func (v *verifier) placeholder(text []byte, i int) int {
	for j := i + 1; j < len(text) && j-i < 48; j++ {
		switch b := text[j]; {
		case b == ']':
			if v.placeholders[string(text[i:j+1])] {
				return j + 1
			}
			return i
		case kinds[b] != upper && b != '_' && b != '-':
			return i
		}
	}
	return i
}

// at returns text[i], or 0 outside.
func at(text []byte, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

func isDigit(b byte) bool { return kinds[b] == numeric }
func isAlnum(b byte) bool { return kinds[b] == numeric || kinds[b] == lower || kinds[b] == upper }

// address finds e-mail addresses at '@' and URLs at "://" and "www.".
func (v *verifier) address(text []byte, i int) bool {
	switch text[i] {
	case '@':
		return v.strict[mailForm] && isAlnum(at(text, i-1)) && dotted(text, i+1)
	case ':':
		return v.strict[urlForm] && at(text, i+1) == '/' && at(text, i+2) == '/' && isAlnum(at(text, i+3)) && isAlnum(at(text, i-1))
	}
	if !v.strict[urlForm] || i < 3 || text[i-1]|0x20 != 'w' || text[i-2]|0x20 != 'w' || text[i-3]|0x20 != 'w' {
		return false
	}
	return !isAlnum(at(text, i-4)) && dotted(text, i+1)
}

// dotted tells whether a host with a dot and an ending of two letters begins
// at i.
func dotted(text []byte, i int) bool {
	if !isAlnum(at(text, i)) {
		return false
	}
	for limit := min(i+253, len(text)); i < limit; i++ {
		switch b := text[i]; {
		case b == '.' && isLetter(at(text, i+1)) && isLetter(at(text, i+2)):
			return true
		case !isAlnum(b) && b != '-' && b != '.':
			return false
		}
	}
	return false
}

// A run is the digits from a place on, with single signs between groups.
type run struct {
	digits [26]byte
	n      int     // digits
	groups int     // groups
	ends   [8]int  // where group k ends in the text
	upTo   [8]int  // how many digits there are up to the end of group k
	sep    [8]byte // between groups k and k+1
}

// read fills r with the number at i.
func (r *run) read(text []byte, i int) {
	r.n, r.groups = 0, 0
	for r.groups < len(r.ends) {
		for i < len(text) && isDigit(text[i]) && r.n < len(r.digits) {
			r.digits[r.n] = text[i] - '0'
			r.n++
			i++
		}
		r.ends[r.groups], r.upTo[r.groups] = i, r.n
		r.groups++
		b := at(text, i)
		if b != ' ' && b != '.' && b != '-' && b != '/' || !isDigit(at(text, i+1)) || r.n == len(r.digits) {
			return
		}
		r.sep[r.groups-1] = b
		i++
	}
}

// value returns digits i to j as a number.
func (r *run) value(i, j int) (v int) {
	for _, d := range r.digits[i:j] {
		v = v*10 + int(d)
	}
	return v
}

// whole returns the text position behind the first n digits, if a group ends
// there, else 0.
func (r *run) whole(n int) int {
	for k := range r.groups {
		if r.upTo[k] == n {
			return r.ends[k]
		}
	}
	return 0
}

// identifier looks at the number at i.
func (v *verifier) identifier(text []byte, i int) bool {
	j := i + 1
	for j < len(text) && isDigit(text[j]) {
		j++
	}
	if j-i < 7 && !(joinsDigits(at(text, j)) && isDigit(at(text, j+1))) && (i == 0 || !isLetter(text[i-1])) {
		return false
	}
	if i > 0 && joinsDigits(text[i-1]) && text[i-1] != ' ' && i > 1 && isDigit(text[i-2]) {
		return false // goes on a number that was looked at
	}
	var r run
	r.read(text, i)
	if r.n < 7 {
		return v.strict[ibanForm] && iban(text, i)
	}
	return v.strict[dniForm] && (dni(text, i, &r) || nie(text, i, &r)) ||
		v.strict[nassForm] && nass(text, i, &r) ||
		v.strict[cipForm] && cip(text, i, &r) ||
		v.strict[ibanForm] && iban(text, i) ||
		v.strict[telephoneForm] && telephone(text, i, &r)
}

// residue is the rest by 23 that belongs to a check letter, from A to Z; -1 for
// letters that are none.
var residue = [26]int8{3, 11, 20, 9, 22, 7, 4, 18, -1, 13, 21, 19, 5, 12, -1, 8, 16, 1, 15, 0, -1, 17, 2, 10, 6, 14}

// checked tells whether the letter behind i, also behind one sign, is the check
// letter of number.
func checked(text []byte, i, number int) bool {
	if b := at(text, i); b == '-' || b == ' ' || b == '.' {
		i++
	}
	b := at(text, i)
	if kinds[b] != upper && kinds[b] != lower || isAlnum(at(text, i+1)) || kinds[at(text, i+1)] == other {
		return false
	}
	if at(text, i-1) == ' ' && kinds[b] == lower {
		return false // a word of one letter
	}
	return int(residue[b&^0x20-'A']) == number%23
}

// dni tells whether eight digits and their letter stand at i.
func dni(text []byte, i int, r *run) bool {
	if r.n < 8 || isLetter(at(text, i-1)) || r.upTo[0] != 8 && r.upTo[0] != 2 {
		return false
	}
	end := r.whole(8)
	return end > 0 && checked(text, end, r.value(0, 8))
}

// nie tells whether X, Y or Z stands before seven digits at i and the right
// letter behind.
func nie(text []byte, i int, r *run) bool {
	p := i - 1
	if b := at(text, p); b == '-' || b == ' ' {
		p--
	}
	first := at(text, p) &^ 0x20
	if first < 'X' || first > 'Z' || isAlnum(at(text, p-1)) {
		return false
	}
	end := r.whole(7)
	return end > 0 && checked(text, end, int(first-'X')*10_000_000+r.value(0, 7))
}

// nass tells whether a number of the Social Security with right check digits
// stands at i: 12 digits together, or 2-8-2, 2-10, 10-2.
func nass(text []byte, i int, r *run) bool {
	end := r.whole(12)
	if end == 0 || isLetter(at(text, i-1)) || isAlnum(at(text, end)) {
		return false
	}
	switch {
	case r.upTo[0] == 12, r.upTo[0] == 10:
	case r.upTo[0] == 2 && r.groups >= 2 && (r.upTo[1] == 10 || r.upTo[1] == 12):
	default:
		return false
	}
	province, number, check := r.value(0, 2), r.value(2, 10), r.value(10, 12)
	if province < 1 || province > 66 {
		return false
	}
	base := province*100_000_000 + number
	if number < 10_000_000 {
		base = province*10_000_000 + number
	}
	return base%97 == check
}

// cip tells whether the ten digits at i stand behind four letters and hold a
// sex and a birth date.
func cip(text []byte, i int, r *run) bool {
	p := i
	if at(text, p-1) == ' ' {
		p--
	}
	for k := 1; k <= 4; k++ {
		if b := at(text, p-k); kinds[b] != upper && (kinds[b] != lower || p < i) {
			return false
		}
	}
	end := r.whole(10)
	if isAlnum(at(text, p-5)) || end == 0 || isAlnum(at(text, end)) {
		return false
	}
	month, day := r.value(3, 5), r.value(5, 7)
	return r.digits[0] <= 1 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// iban tells whether an account with right check digits stands at i-2: two
// letters, then at least 13 letters and digits, in groups or together.
func iban(text []byte, i int) bool {
	a, b := at(text, i-2), at(text, i-1)
	if kinds[a] != upper && kinds[a] != lower || kinds[b] != upper && kinds[b] != lower ||
		isAlnum(at(text, i-3)) || !isDigit(at(text, i+1)) {
		return false
	}
	rest, n := 0, 0
	for j := i + 2; j < len(text) && n < 30; j++ {
		switch c := text[j]; {
		case isAlnum(c):
			rest = append97(rest, c)
			n++
		case (c == ' ' || c == '-') && isAlnum(text[j-1]):
			continue
		default:
			return false
		}
		if n >= 11 && !isAlnum(at(text, j+1)) {
			whole := append97(append97(append97(append97(rest, a), b), text[i]), text[i+1])
			if whole == 1 {
				return true
			}
		}
	}
	return false
}

// append97 goes on with the rest by 97 of a number in which letters count from
// ten.
func append97(rest int, c byte) int {
	if isDigit(c) {
		return (10*rest + int(c-'0')) % 97
	}
	return (100*rest + int(c|0x20) - 'a' + 10) % 97
}

// telephone tells whether a Spanish number stands at i: nine digits from 6 on,
// behind +34 or 0034, or behind a word that announces a telephone.
func telephone(text []byte, i int, r *run) bool {
	switch {
	case isLetter(at(text, i-1)):
		return false
	case at(text, i-1) == '+' && r.n >= 11 && r.value(0, 2) == 34 && r.digits[2] >= 6 && r.whole(11) > 0:
		return true
	case r.n >= 13 && r.value(0, 4) == 34 && r.digits[4] >= 6 && r.whole(13) > 0:
		return true
	}
	return r.n >= 9 && r.digits[0] >= 6 && r.whole(9) > 0 && announced(text, i)
}

// announced tells whether a word such as "tel" begins within 24 bytes before
// i, in the same line.
func announced(text []byte, i int) bool {
	for p := i - 1; p >= 0 && i-p <= 24 && text[p] != '\n'; p-- {
		if p > 0 && isLetter(text[p-1]) && kinds[text[p]] != upper {
			continue
		}
		switch rest := text[p:i]; {
		case begins(rest, "tel"), begins(rest, "tlf"), begins(rest, "tfn"), begins(rest, "fax"), begins(rest, "movil"),
			begins(rest, "mobil"), begins(rest, "phone"), begins(rest, "llama"), begins(rest, "truca"), begins(rest, "whats"):
			return true
		}
	}
	return false
}

// begins tells whether text begins with the folded letters.
func begins(text []byte, letters string) bool {
	for i := 0; len(letters) > 0; {
		if i >= len(text) {
			return false
		}
		c, width := fold(text, i)
		i += width
		if c == nought {
			continue
		}
		if c != rune(letters[0]) {
			return false
		}
		letters = letters[1:]
	}
	return true
}
