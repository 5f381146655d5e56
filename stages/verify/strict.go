package verify

import "github.com/velum-health/velum/pipeline"

// Kinds of identifiers that the strict check looks for.
const (
	dniForm = iota
	nassForm
	ibanForm
	cipForm
	mailForm
	urlForm
	telephoneForm
	accountForm
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
	accountForm:   "IBAN ACCOUNT OTRO_NUMERO_IDENTIF",
	telephoneForm: "TELEPHONE NUMERO_TELEFONO NUMERO_FAX PHONE FAX",
}

// look reads the masked text once. At every word it asks whether a masked
// value begins, at every number and sign of an address also whether an
// identifier does. What stands in a place was put there: an identifier there is
// a surrogate, and a placeholder holds no value.
func (v *verifier) look(text []byte) pipeline.Reason {
	if len(v.needles) == 0 && len(v.places) == 0 {
		return v.lookPlain(text)
	}
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
				strict = strict || v.address(text, i) && v.placeOf(i) < 0
			}
			i++
		case numeric:
			if v.firsts>>(b&31)&1 != 0 && (v.number(text, i) || v.readable(text, i)) {
				return pipeline.SurvivingValue
			}
			strict = strict || v.identifier(text, i) && v.placeOf(i) < 0
			for i++; i < len(text) && kinds[text[i]] == numeric; i++ {
			}
		default:
			first := before == sign || before == numeric || k == upper && before != upper
			if first && (k == other || v.firsts>>(b&31)&1 != 0) && v.readable(text, i) {
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

// lookPlain is look at a note in which nothing was masked: no word of it can be a
// value, so only numbers and signs of addresses are looked at.
func (v *verifier) lookPlain(text []byte) pipeline.Reason {
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case !opens[b]:
		case kinds[b] != numeric:
			if v.address(text, i) {
				return pipeline.StrictFinding
			}
		case v.identifier(text, i):
			return pipeline.StrictFinding
		default:
			for i+1 < len(text) && kinds[text[i+1]] == numeric {
				i++
			}
		}
	}
	return pipeline.Sound
}

// opens are the bytes at which an identifier may begin, or have its sign.
var opens = func() (t [256]bool) {
	for b := range t {
		t[b] = kinds[b] == numeric || b == '@' || b == ':' || b == '.'
	}
	return t
}()

// placeholder returns the end of the placeholder that was put at i, or i.
func (v *verifier) placeholder(text []byte, i int) int {
	k := v.placeOf(i)
	if k < 0 || int(v.places[k].Start) != i || !v.placeholders[string(text[i:v.places[k].End])] {
		return i
	}
	return int(v.places[k].End)
}

// placeOf returns the place that byte i lies in, -1 if it lies in none. A note
// has few.
func (v *verifier) placeOf(i int) int {
	for k, p := range v.places {
		if int(p.Start) <= i && i < int(p.End) {
			return k
		}
	}
	return -1
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

// identifier looks at the number at i.
func (v *verifier) identifier(text []byte, i int) bool {
	var p pieces
	p.read(text, i)
	if v.strict[ibanForm] && iban(text, i) {
		return true
	}
	if p.n < 7 {
		return false
	}
	return v.checkedForm(text, i, &p) || v.strict[telephoneForm] && telephone(text, i, &p)
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
func telephone(text []byte, i int, p *pieces) bool {
	spanish := func(at int) bool { return p.end(at+9) > 0 && p.digits[at] >= 6 }
	switch {
	case isLetter(at(text, i-1)):
		return false
	case at(text, i-1) == '+' && p.value(0, 2) == 34 && spanish(2), p.value(0, 4) == 34 && spanish(4):
		return true
	}
	return spanish(0) && announced(text, i)
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
	_, ok := same(text, 0, []byte(letters))
	return ok
}
