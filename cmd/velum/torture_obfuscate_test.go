package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/velum-health/velum/models/word/view"
)

// An obfuscation test writes invented identifiers in the forms in which people
// type, paste, dictate and hide them, and tells whether one can still be read
// in a masked note: kinds by forms.

// Kind is a kind of identifier.
type obfuscateKind struct {
	Name    string
	Label   string // what stands before it in form "labelled", and in all if Needs
	Checked bool   // it has check digits, or a birth date in a fixed place
	Needs   bool   // it has no form of its own: nothing but its label tells it
	draw    func(r *rand.Rand) string
}

// Kinds in the order of the table. A blank of a value stands between groups.
var obfuscateKinds = []obfuscateKind{
	{"DNI", "DNI", true, false, func(r *rand.Rand) string { return obfuscateDni(10_000_000 + r.IntN(89_999_999)) }},
	{"NIE", "NIE", true, false, obfuscateNie},
	{"NIF-KLM", "NIF", true, false, func(r *rand.Rand) string {
		n := r.IntN(10_000_000)
		return fmt.Sprintf("%c%07d%c", "KLM"[r.IntN(3)], n, obfuscateLetters[n%23])
	}},
	{"CIF", "CIF", true, false, obfuscateCif},
	{"NASS", "NASS", true, false, func(r *rand.Rand) string { return obfuscateSocial(r, 8) }},
	{"CCC", "CCC", true, false, func(r *rand.Rand) string { return obfuscateSocial(r, 7) }},
	{"CIP", "CIP", true, false, obfuscateCip},
	{"IBAN", "IBAN", true, false, obfuscateIban},
	{"account", "cuenta", true, false, func(r *rand.Rand) string {
		a := obfuscateAccount(r)
		return a[:4] + " " + a[4:8] + " " + a[8:10] + " " + a[10:]
	}},
	{"Visa", "tarjeta", true, false, func(r *rand.Rand) string { return obfuscateFours(obfuscateLuhn(r, "4", 16)) }},
	{"Mastercard", "tarjeta", true, false, func(r *rand.Rand) string { return obfuscateFours(obfuscateLuhn(r, fmt.Sprint(51+r.IntN(5)), 16)) }},
	{"Amex", "tarjeta", true, false, func(r *rand.Rand) string {
		c := obfuscateLuhn(r, "37", 15)
		return c[:4] + " " + c[4:10] + " " + c[10:]
	}},
	{"IMEI", "IMEI", true, false, func(r *rand.Rand) string {
		c := obfuscateLuhn(r, "35", 15)
		return c[:2] + " " + c[2:8] + " " + c[8:14] + " " + c[14:]
	}},
	{"mobile", "tel", false, false, func(r *rand.Rand) string { return obfuscateThrees(fmt.Sprint(600_000_000 + r.IntN(199_999_999))) }},
	{"landline", "tel", false, false, func(r *rand.Rand) string {
		return fmt.Sprintf("93 %03d %02d %02d", 200+r.IntN(700), r.IntN(100), r.IntN(100))
	}},
	{"+34", "tel", false, false, func(r *rand.Rand) string { return "+34 " + obfuscateThrees(fmt.Sprint(600_000_000+r.IntN(99_999_999))) }},
	{"e-mail", "correo", false, false, func(r *rand.Rand) string {
		return obfuscateSyllables(r, 6) + "." + obfuscateSyllables(r, 6) + "@" + []string{"gmail.com", "hotmail.es", "hospital.cat"}[r.IntN(3)]
	}},
	{"passport", "pasaporte", false, true, func(r *rand.Rand) string { return obfuscateCapitals(r, 3) + obfuscateDigits(r, 6) }},
	{"plate", "matrícula", false, true, func(r *rand.Rand) string { return obfuscateDigits(r, 4) + " " + obfuscateConsonants(r, 3) }},
	{"NHC", "NHC", false, true, func(r *rand.Rand) string { return fmt.Sprint(1_000_000 + r.IntN(8_999_999)) }},
	{"episode", "episodio", false, true, func(r *rand.Rand) string { return fmt.Sprint(1_000_000 + r.IntN(8_999_999)) }},
	{"collegiate", "nº colegiado", false, true, func(r *rand.Rand) string {
		return fmt.Sprintf("%02d %02d %05d", 8, 8, 10_000+r.IntN(80_000))
	}},
	{"TIS", "TIS", false, true, func(r *rand.Rand) string { return obfuscateDigits(r, 8) }},
	{"NUHSA", "NUHSA", false, false, func(r *rand.Rand) string { return "AN" + "0" + obfuscateDigits(r, 9) }},
	{"CIP-SNS", "CIP-SNS", false, false, func(r *rand.Rand) string { return "BBBBBBBB" + obfuscateCapitals(r, 2) + obfuscateDigits(r, 6) }},
	{"CIA Aragón", "CIA", false, true, obfuscateDrawn("9999999999")},
	{"CIPNA", "CIPNA", false, true, obfuscateDrawn("9999999")},
	{"SIP", "SIP", false, true, obfuscateDrawn("99999999")},
	{"CIPA", "CIPA", false, true, obfuscateDrawn("9999999999")},
	{"CIP Galicia", "CIP", false, true, obfuscateDrawn("999999AAAA9999")},
	{"CIP Murcia", "CIP", false, true, obfuscateDrawn("CARM999999999999")},
	{"CIP Castilla y León", "CIP", false, true, obfuscateDrawn("CYL999999999")},
	{"CIP Castilla-La Mancha", "CIP", false, true, obfuscateDrawn("AAAA999999999")},
	{"CIP Canarias", "CIP", false, true, obfuscateDrawn("AAAA999999999999")},
	{"TSI Baleares", "TSI", false, true, obfuscateDrawn("99999999")},
	{"tarjeta Extremadura", "tarjeta sanitaria", false, true, obfuscateDrawn("CPAA9999999999")},
	{"MUFACE", "MUFACE", false, true, obfuscateDrawn("99/9999999/99")},
	{"ISFAS", "ISFAS", false, true, obfuscateDrawn("9999999999")},
	{"MUGEJU", "MUGEJU", false, true, obfuscateDrawn("99999999")},
	{"policy", "póliza", false, true, obfuscateDrawn("99/9999999")},
	{"passport France", "pasaporte", false, true, obfuscateDrawn("99AA99999")},
	{"passport Romania", "pasaporte", false, true, obfuscateDrawn("999999999")},
	{"passport Morocco", "pasaporte", false, true, obfuscateDrawn("AA9999999")},
	{"passport Germany", "pasaporte", false, true, obfuscateDrawn("C99A99A99")},
	{"passport China", "pasaporte", false, true, obfuscateDrawn("E99999999")},
	{"passport Colombia", "pasaporte", false, true, obfuscateDrawn("AA999999")},
	{"passport Venezuela", "pasaporte", false, true, obfuscateDrawn("99999999")},
	{"CNP Romania", "CNP", false, true, obfuscateDrawn("9999999999999")},
	{"EGN Bulgaria", "EGN", false, true, obfuscateDrawn("9999999999")},
	{"PESEL Poland", "PESEL", false, true, obfuscateDrawn("99999999999")},
	{"cédula Venezuela", "cédula", false, true, obfuscateDrawn("V-99.999.999")},
	{"RUT Chile", "RUT", false, true, obfuscateDrawn("99.999.999-9")},
	{"CURP Mexico", "CURP", false, true, obfuscateDrawn("AAAA999999AAAAAA99")},
	{"identity card Italy", "documento de identidad", false, true, obfuscateDrawn("CA99999AA")},
	{"CNIE Morocco", "CNIE", false, true, obfuscateDrawn("AA999999")},
	{"serial", "nº de serie", false, true, obfuscateDrawn("AA99-99999-A9")},
	{"MAC", "MAC", false, true, obfuscateDrawn("hh:hh:hh:hh:hh:hh")},
	{"cadastral", "referencia catastral", false, true, obfuscateDrawn("9999999AA9999A9999AA")},
	{"VIN", "bastidor", false, true, obfuscateDrawn("AAAAAA9AA9A999999")},
	{"plate France", "matrícula", false, true, obfuscateDrawn("AA-999-AA")},
	{"plate before 2000", "matrícula", false, true, obfuscateDrawn("A-9999-AA")},
	{"handle", "instagram", false, true, obfuscateDrawn("pepe_9999")},
	{"telephone France", "tel", false, true, obfuscateDrawn("+33 9 99 99 99 99")},
	{"telephone Morocco", "tel", false, true, obfuscateDrawn("+212 699-999999")},
	{"telephone Romania", "teléfono", false, true, obfuscateDrawn("0040 799 999 999")},
}

// Form is a way to write a value. label is the kind's; the note has it before
// the value unless the form puts it there itself.
type obfuscateForm struct {
	Name  string
	write func(value, label string) string
	alter func(value string) string // nil: the value stays; else its check digits are right no longer, and the note has the label
}

// Forms in the order of the table.
var obfuscateForms = []obfuscateForm{
	{Name: "as written", write: func(v, _ string) string { return v }},
	{Name: "together", write: func(v, _ string) string { return obfuscateJoin(v, "") }},
	{Name: "label", write: func(v, l string) string { return l + ": " + obfuscateJoin(v, "") }},
	{Name: "label glued", write: func(v, l string) string { return l[strings.LastIndexByte(l, ' ')+1:] + obfuscateJoin(v, "") }},
	{Name: "brackets", write: func(v, _ string) string { return "(" + obfuscateJoin(v, "") + ")" }},
	{Name: "word glued before", write: func(v, _ string) string { return "Avisar" + obfuscateJoin(v, "") }},
	{Name: "word glued behind", write: func(v, _ string) string { return obfuscateJoin(v, "") + obfuscateIfDigit(v, "Dolor", ". Dolor") }},
	{Name: "lower case", write: func(v, _ string) string { return strings.ToLower(v) }},
	{Name: "two blanks", write: func(v, _ string) string { return obfuscateApart(v, "  ") }},
	{Name: "tab", write: func(v, _ string) string { return obfuscateApart(v, "\t") }},
	{Name: "no-break space", write: func(v, _ string) string { return obfuscateApart(v, "\u00a0") }},
	{Name: "narrow space", write: func(v, _ string) string { return obfuscateApart(v, "\u202f") }},
	{Name: "line end", write: func(v, _ string) string { return obfuscateApart(v, "\n") }},
	{Name: "line end in the middle", write: obfuscateMiddle},
	{Name: "en dash", write: func(v, _ string) string { return obfuscateApart(v, "–") }},
	{Name: "commas", write: func(v, _ string) string { return obfuscateApart(v, ",") }},
	{Name: "dots", write: func(v, _ string) string { return obfuscateApart(v, ".") }},
	{Name: "soft hyphens", write: func(v, _ string) string { return obfuscateBetween(obfuscateJoin(v, ""), "\u00ad\u200b") }},
	{Name: "tags", write: func(v, _ string) string { return obfuscateBetween(obfuscateJoin(v, ""), "<b></b>") }},
	{Name: "entities", write: func(v, _ string) string { return obfuscateApart(v, "&nbsp;") }},
	{Name: "line tags", write: func(v, _ string) string { return obfuscateApart(v, "<br>") }},
	{Name: "full width", write: func(v, _ string) string { return obfuscateMapped(v, obfuscateWide) }},
	{Name: "look-alikes", write: func(v, _ string) string { return obfuscateMapped(v, obfuscateCyrillic) }},
	{Name: "label, next line", write: func(v, l string) string { return l + ":\n" + v }},
	{Name: "label, cell", write: func(v, l string) string { return "\n| " + l + " | " + v + " |\n" }},
	{Name: "label, cell of HTML", write: func(v, l string) string { return "<tr><td>" + l + "</td><td>" + v + "</td></tr>" }},
	{Name: "label, column", write: func(v, l string) string { return "\nfecha\t" + l + "\tmotivo\n12/03/2021\t" + v + "\ttos\n" }},
	{Name: "label, words between", write: func(v, l string) string { return l + " francés de su marido: " + v }},
	{Name: "label, letters apart", write: func(v, l string) string { return l + " " + obfuscateBetween(obfuscateJoin(v, ""), " ") }},
	{Name: "label, emoji between", write: func(v, l string) string { return l + " " + obfuscateBetween(obfuscateJoin(v, ""), "\U0001F600") }},
	{Name: "label, hyphen at a line's end", write: func(v, l string) string { return l + " " + obfuscateHyphened(obfuscateJoin(v, "")) }},
	{Name: "label, base64", write: func(v, l string) string {
		return l + " " + base64.StdEncoding.EncodeToString([]byte(obfuscateJoin(v, "")))
	}},
	{Name: "label, percent", write: func(v, l string) string { return l + " " + obfuscateHexed(v, "%") }},
	{Name: "label, quoted-printable", write: func(v, l string) string { return l + " " + obfuscateHexed(v, "=") }},
	{Name: "label, mail word", write: func(v, l string) string {
		return l + " =?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
	}},
	{Name: "label, RTF", write: func(v, l string) string { return l + " {\\b " + obfuscateBetween(obfuscateJoin(v, ""), "}{\\i ") + "}" }},
	{Name: "label, superscript", write: func(v, l string) string { return l + " " + obfuscateMapped(v, obfuscateSuperscript) }},
	{Name: "digit dropped", write: obfuscateAsIs, alter: func(v string) string { return obfuscateTypo(v, func(d string) string { return "" }) }},
	{Name: "digit doubled", write: obfuscateAsIs, alter: func(v string) string { return obfuscateTypo(v, func(d string) string { return d + d }) }},
	{Name: "digits swapped", write: obfuscateAsIs, alter: obfuscateSwapped},
	{Name: "digit wrong", write: obfuscateAsIs, alter: func(v string) string {
		return obfuscateTypo(v, func(d string) string { return string('0' + (d[0]-'0'+3)%10) })
	}},
	{Name: "O for 0, l for 1", write: obfuscateAsIs, alter: func(v string) string {
		return obfuscateMapped(v, func(r rune) rune { return obfuscateOcr(r, "01", "Ol") })
	}},
	{Name: "S for 5, B for 8", write: obfuscateAsIs, alter: func(v string) string {
		return obfuscateMapped(v, func(r rune) rune { return obfuscateOcr(r, "58", "SB") })
	}},
	{Name: "one letter for a digit", write: obfuscateAsIs, alter: func(v string) string {
		return obfuscateTypo(v, func(d string) string { return string("OlZ3ASG7B9"[d[0]-'0']) })
	}},
	{Name: "digits in words", write: obfuscateAsIs, alter: obfuscateSpoken},
}

func obfuscateAsIs(v, _ string) string { return v }

// Value draws a value of the kind.
func (k *obfuscateKind) Value(r *rand.Rand) string { return k.draw(r) }

// Note writes a note with the value in the form. The notes say nothing else
// that could be masked.
func (k *obfuscateKind) Note(r *rand.Rand, f *obfuscateForm, value string) string {
	before := []string{"Acude por tos. Anoto ", "Refiere mejoría, deja ", "Sin fiebre ni dolor; consta ", "Aporta documento, "}[r.IntN(4)]
	if f.alter != nil {
		return before + k.Label + " " + f.write(value, k.Label) + " en la hoja y sigue igual."
	}
	if k.Needs && !strings.HasPrefix(f.Name, "label") {
		before += k.Label + " "
	}
	if f.Name == "word glued before" && k.Needs {
		return before[:len(before)-1] + obfuscateJoin(value, "") + " en la hoja y sigue igual."
	}
	return before + f.write(value, k.Label) + " en la hoja y sigue igual."
}

// Breaks tells whether the form gives the value an error.
func (f *obfuscateForm) Breaks() bool { return f.alter != nil }

// Written returns the value as the form has it: with its error.
func (f *obfuscateForm) Written(value string) string {
	if f.alter == nil {
		return value
	}
	return f.alter(value)
}

// Readable tells whether the value can be read in a masked note: half of its
// letters and digits in a row, whatever stands between them, or more.
func obfuscateReadable(masked, value string) bool {
	have, want := obfuscateCore(masked), obfuscateCore(value)
	least := max((len(want)+1)/2, 4)
	for i := 0; i+least <= len(want); i++ {
		if strings.Contains(have, want[i:i+least]) {
			return true
		}
	}
	return false
}

// core returns the letters and digits of a text as a person reads them.
func obfuscateCore(text string) string {
	var seen []byte
	if seen = []byte(text); !view.Plain(seen) {
		seen, _ = view.Append(nil, nil, seen)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || unicode.IsLetter(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, string(seen))
}

const obfuscateLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

// drawn draws values of a form: 9 stands for a digit, A for a capital, h for a
// hexadecimal digit; what has a check digit is drawn without.
func obfuscateDrawn(form string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		return strings.Map(func(c rune) rune {
			switch c {
			case '9':
				return rune('0' + r.IntN(10))
			case 'A':
				return rune(obfuscateCapitals(r, 1)[0])
			case 'h':
				return rune("0123456789ABCDEF"[r.IntN(16)])
			}
			return c
		}, form)
	}
}

// typo writes one digit of a value, from its middle, as to says.
func obfuscateTypo(v string, to func(digit string) string) string {
	var at []int
	for k := range v {
		if v[k]-'0' < 10 {
			at = append(at, k)
		}
	}
	if len(at) == 0 {
		return v
	}
	k := at[len(at)/2]
	return v[:k] + to(v[k:k+1]) + v[k+1:]
}

// swapped exchanges the first two digits beside each other that are not the same.
func obfuscateSwapped(v string) string {
	for k := 1; k < len(v); k++ {
		if v[k]-'0' < 10 && v[k-1]-'0' < 10 && v[k] != v[k-1] {
			return v[:k-1] + v[k:k+1] + v[k-1:k] + v[k+1:]
		}
	}
	return v
}

// ocr returns the letter that a machine read for r.
func obfuscateOcr(r rune, digits, letters string) rune {
	if k := strings.IndexRune(digits, r); k >= 0 {
		return rune(letters[k])
	}
	return r
}

func obfuscateSuperscript(r rune) rune {
	if r >= '0' && r <= '9' {
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}
	return r
}

// spoken says the digits of a value.
func obfuscateSpoken(v string) string {
	names := strings.Fields("cero uno dos tres cuatro cinco seis siete ocho nueve")
	var words []string
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			words = append(words, names[c-'0'])
		case c != ' ':
			words = append(words, string(c))
		}
	}
	return strings.Join(words, " ")
}

func obfuscateHexed(v, sign string) string {
	var b strings.Builder
	for k := range len(v) {
		fmt.Fprintf(&b, "%s%02X", sign, v[k])
	}
	return b.String()
}

func obfuscateHyphened(v string) string { return v[:len(v)/2] + "-\n" + v[len(v)/2:] }

func obfuscateDni(n int) string { return fmt.Sprintf("%08d%c", n, obfuscateLetters[n%23]) }

func obfuscateNie(r *rand.Rand) string {
	k, n := r.IntN(3), r.IntN(10_000_000)
	return fmt.Sprintf("%c%07d%c", "XYZ"[k], n, obfuscateLetters[(k*10_000_000+n)%23])
}

func obfuscateCif(r *rand.Rand) string {
	body := obfuscateDigits(r, 7)
	sum := 0
	for k, c := range body {
		v := int(c - '0')
		if k%2 == 0 {
			v *= 2
			v = v/10 + v%10
		}
		sum += v
	}
	return fmt.Sprintf("%c%s%d", "ABEFGH"[r.IntN(6)], body, (10-sum%10)%10)
}

// social writes a number of a person (8 digits) or an employer (7).
func obfuscateSocial(r *rand.Rand, width int) string {
	p, n := []int{8, 17, 25, 28, 43}[r.IntN(5)], 0
	for range width {
		n = n*10 + r.IntN(10)
	}
	base := p*100_000_000 + n
	if n < 10_000_000 {
		base = p*10_000_000 + n
	}
	return fmt.Sprintf("%02d %0*d %02d", p, width, n, base%97)
}

func obfuscateCip(r *rand.Rand) string {
	return fmt.Sprintf("%s%d%02d%02d%02d%03d", obfuscateCapitals(r, 4), r.IntN(2), r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), r.IntN(1000))
}

// account draws bank, branch, check digits and account.
func obfuscateAccount(r *rand.Rand) string {
	control := func(d string) int {
		sum := 0
		for k, w := range []int{1, 2, 4, 8, 5, 10, 9, 7, 3, 6} {
			sum += w * int(d[k]-'0')
		}
		if c := 11 - sum%11; c < 10 {
			return c
		} else if c == 10 {
			return 1
		}
		return 0
	}
	bank, number := obfuscateDigits(r, 8), obfuscateDigits(r, 10)
	return fmt.Sprintf("%s%d%d%s", bank, control("00"+bank), control(number), number)
}

func obfuscateIban(r *rand.Rand) string {
	a := obfuscateAccount(r)
	rest := 0
	for _, c := range a + "142800" { // ES00
		rest = (rest*10 + int(c-'0')) % 97
	}
	whole := fmt.Sprintf("ES%02d%s", 98-rest, a)
	return obfuscateFours(whole)
}

// luhn draws a number of n digits with the right last one.
func obfuscateLuhn(r *rand.Rand, first string, n int) string {
	body := first + obfuscateDigits(r, n-1-len(first))
	sum := 0
	for k := range body {
		v := int(body[len(body)-1-k] - '0')
		if k%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return fmt.Sprint(body, (10-sum%10)%10)
}

func obfuscateDigits(r *rand.Rand, n int) string   { return obfuscateFrom(r, "0123456789", n) }
func obfuscateCapitals(r *rand.Rand, n int) string { return obfuscateFrom(r, "ABCDEFGHJKLMNPRSTVZ", n) }
func obfuscateConsonants(r *rand.Rand, n int) string {
	return obfuscateFrom(r, "BCDFGHJKLMNPRSTVWXYZ", n)
}

func obfuscateFrom(r *rand.Rand, signs string, n int) string {
	b := make([]byte, n)
	for k := range b {
		b[k] = signs[r.IntN(len(signs))]
	}
	return string(b)
}

func obfuscateSyllables(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for k := range b {
		b[k] = []string{"bdgjkpvxz", "aeiou"}[k%2][r.IntN(5)]
	}
	return string(b)
}

func obfuscateFours(v string) string  { return obfuscateGroups(v, 4) }
func obfuscateThrees(v string) string { return obfuscateGroups(v, 3) }

func obfuscateGroups(v string, n int) string {
	var parts []string
	for ; len(v) > n; v = v[n:] {
		parts = append(parts, v[:n])
	}
	return strings.Join(append(parts, v), " ")
}

func obfuscateJoin(v, sign string) string { return strings.ReplaceAll(v, " ", sign) }

// apart sets the groups of a value apart: those that it has, else three digits
// from the right; an address before and behind its signs.
func obfuscateApart(v, sign string) string {
	at := strings.IndexByte(v, '@')
	switch {
	case strings.Contains(v, "_"): // the name of an account is not written in groups
		return v
	case at >= 0 && (sign == "," || sign == "."):
		dot := strings.LastIndexByte(v, '.')
		return v[:dot] + sign + v[dot+1:]
	case at >= 0:
		return v[:at+1] + sign + v[at+1:]
	case strings.Contains(v, " "):
		return obfuscateJoin(v, sign)
	}
	first := strings.IndexAny(v, "0123456789")
	last := strings.LastIndexAny(v, "0123456789") + 1
	body := v[first:last]
	head := body[:len(body)%3]
	parts := []string{}
	if first > 0 {
		parts = append(parts, v[:first])
	}
	if head != "" {
		parts = append(parts, head)
	}
	for rest := body[len(head):]; rest != ""; rest = rest[3:] {
		parts = append(parts, rest[:3])
	}
	if last < len(v) {
		parts = append(parts, v[last:])
	}
	return strings.Join(parts, sign)
}

func obfuscateMiddle(v, _ string) string {
	v = obfuscateJoin(v, "")
	return v[:len(v)/2] + "\n" + v[len(v)/2:]
}

func obfuscateBetween(v, sign string) string {
	var b strings.Builder
	for k, r := range v {
		if k > 0 {
			b.WriteString(sign)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func obfuscateIfDigit(v, then, otherwise string) string {
	if c := v[len(v)-1]; c >= '0' && c <= '9' || strings.IndexByte(v, '@') < 0 {
		return then
	}
	return otherwise
}

func obfuscateMapped(v string, to func(rune) rune) string { return strings.Map(to, v) }

func obfuscateWide(r rune) rune {
	if r > ' ' && r < 0x7F {
		return r + 0xFEE0
	}
	return r
}

// cyrillic has look-alikes for letters, and Arabic-Indic digits for every other
// digit.
func obfuscateCyrillic(r rune) rune {
	const latin, other = "ABCEHIJKMOPSTXYaceiopsxy", "АВСЕНІЈКМОРЅТХУасеіорѕху"
	if k := strings.IndexRune(latin, r); k >= 0 {
		return []rune(other)[k]
	}
	if r >= '0' && r <= '9' && r%2 == 0 {
		return r - '0' + 0x660
	}
	return r
}
