// Package obfuscate writes invented identifiers in the forms in which people
// type, paste, dictate and hide them, and tells whether one can still be read
// in a masked note: kinds by forms.
package obfuscate

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/velum-health/velum/models/word/view"
)

// Kind is a kind of identifier.
type Kind struct {
	Name    string
	Label   string // what stands before it in form "labelled", and in all if Needs
	Checked bool   // it has check digits, or a birth date in a fixed place
	Needs   bool   // it has no form of its own: nothing but its label tells it
	draw    func(r *rand.Rand) string
}

// Kinds in the order of the table. A blank of a value stands between groups.
var Kinds = []Kind{
	{"DNI", "DNI", true, false, func(r *rand.Rand) string { return dni(10_000_000 + r.IntN(89_999_999)) }},
	{"NIE", "NIE", true, false, nie},
	{"NIF-KLM", "NIF", true, false, func(r *rand.Rand) string {
		n := r.IntN(10_000_000)
		return fmt.Sprintf("%c%07d%c", "KLM"[r.IntN(3)], n, letters[n%23])
	}},
	{"CIF", "CIF", true, false, cif},
	{"NASS", "NASS", true, false, func(r *rand.Rand) string { return social(r, 8) }},
	{"CCC", "CCC", true, false, func(r *rand.Rand) string { return social(r, 7) }},
	{"CIP", "CIP", true, false, cip},
	{"IBAN", "IBAN", true, false, iban},
	{"account", "cuenta", true, false, func(r *rand.Rand) string {
		a := account(r)
		return a[:4] + " " + a[4:8] + " " + a[8:10] + " " + a[10:]
	}},
	{"Visa", "tarjeta", true, false, func(r *rand.Rand) string { return fours(luhn(r, "4", 16)) }},
	{"Mastercard", "tarjeta", true, false, func(r *rand.Rand) string { return fours(luhn(r, fmt.Sprint(51+r.IntN(5)), 16)) }},
	{"Amex", "tarjeta", true, false, func(r *rand.Rand) string {
		c := luhn(r, "37", 15)
		return c[:4] + " " + c[4:10] + " " + c[10:]
	}},
	{"IMEI", "IMEI", true, false, func(r *rand.Rand) string {
		c := luhn(r, "35", 15)
		return c[:2] + " " + c[2:8] + " " + c[8:14] + " " + c[14:]
	}},
	{"mobile", "tel", false, false, func(r *rand.Rand) string { return threes(fmt.Sprint(600_000_000 + r.IntN(199_999_999))) }},
	{"landline", "tel", false, false, func(r *rand.Rand) string {
		return fmt.Sprintf("93 %03d %02d %02d", 200+r.IntN(700), r.IntN(100), r.IntN(100))
	}},
	{"+34", "tel", false, false, func(r *rand.Rand) string { return "+34 " + threes(fmt.Sprint(600_000_000+r.IntN(99_999_999))) }},
	{"e-mail", "correo", false, false, func(r *rand.Rand) string {
		return syllables(r, 6) + "." + syllables(r, 6) + "@" + []string{"gmail.com", "hotmail.es", "hospital.cat"}[r.IntN(3)]
	}},
	{"passport", "pasaporte", false, true, func(r *rand.Rand) string { return capitals(r, 3) + digits(r, 6) }},
	{"plate", "matrícula", false, true, func(r *rand.Rand) string { return digits(r, 4) + " " + consonants(r, 3) }},
	{"NHC", "NHC", false, true, func(r *rand.Rand) string { return fmt.Sprint(1_000_000 + r.IntN(8_999_999)) }},
	{"episode", "episodio", false, true, func(r *rand.Rand) string { return fmt.Sprint(1_000_000 + r.IntN(8_999_999)) }},
	{"collegiate", "nº colegiado", false, true, func(r *rand.Rand) string {
		return fmt.Sprintf("%02d %02d %05d", 8, 8, 10_000+r.IntN(80_000))
	}},
	{"TIS", "TIS", false, true, func(r *rand.Rand) string { return digits(r, 8) }},
	{"NUHSA", "NUHSA", false, false, func(r *rand.Rand) string { return "AN" + "0" + digits(r, 9) }},
	{"CIP-SNS", "CIP-SNS", false, false, func(r *rand.Rand) string { return "BBBBBBBB" + capitals(r, 2) + digits(r, 6) }},
	{"CIA Aragón", "CIA", false, true, drawn("9999999999")},
	{"CIPNA", "CIPNA", false, true, drawn("9999999")},
	{"SIP", "SIP", false, true, drawn("99999999")},
	{"CIPA", "CIPA", false, true, drawn("9999999999")},
	{"CIP Galicia", "CIP", false, true, drawn("999999AAAA9999")},
	{"CIP Murcia", "CIP", false, true, drawn("CARM999999999999")},
	{"CIP Castilla y León", "CIP", false, true, drawn("CYL999999999")},
	{"CIP Castilla-La Mancha", "CIP", false, true, drawn("AAAA999999999")},
	{"CIP Canarias", "CIP", false, true, drawn("AAAA999999999999")},
	{"TSI Baleares", "TSI", false, true, drawn("99999999")},
	{"tarjeta Extremadura", "tarjeta sanitaria", false, true, drawn("CPAA9999999999")},
	{"MUFACE", "MUFACE", false, true, drawn("99/9999999/99")},
	{"ISFAS", "ISFAS", false, true, drawn("9999999999")},
	{"MUGEJU", "MUGEJU", false, true, drawn("99999999")},
	{"policy", "póliza", false, true, drawn("99/9999999")},
	{"passport France", "pasaporte", false, true, drawn("99AA99999")},
	{"passport Romania", "pasaporte", false, true, drawn("999999999")},
	{"passport Morocco", "pasaporte", false, true, drawn("AA9999999")},
	{"passport Germany", "pasaporte", false, true, drawn("C99A99A99")},
	{"passport China", "pasaporte", false, true, drawn("E99999999")},
	{"passport Colombia", "pasaporte", false, true, drawn("AA999999")},
	{"passport Venezuela", "pasaporte", false, true, drawn("99999999")},
	{"CNP Romania", "CNP", false, true, drawn("9999999999999")},
	{"EGN Bulgaria", "EGN", false, true, drawn("9999999999")},
	{"PESEL Poland", "PESEL", false, true, drawn("99999999999")},
	{"cédula Venezuela", "cédula", false, true, drawn("V-99.999.999")},
	{"RUT Chile", "RUT", false, true, drawn("99.999.999-9")},
	{"CURP Mexico", "CURP", false, true, drawn("AAAA999999AAAAAA99")},
	{"identity card Italy", "documento de identidad", false, true, drawn("CA99999AA")},
	{"CNIE Morocco", "CNIE", false, true, drawn("AA999999")},
	{"serial", "nº de serie", false, true, drawn("AA99-99999-A9")},
	{"MAC", "MAC", false, true, drawn("hh:hh:hh:hh:hh:hh")},
	{"cadastral", "referencia catastral", false, true, drawn("9999999AA9999A9999AA")},
	{"VIN", "bastidor", false, true, drawn("AAAAAA9AA9A999999")},
	{"plate France", "matrícula", false, true, drawn("AA-999-AA")},
	{"plate before 2000", "matrícula", false, true, drawn("A-9999-AA")},
	{"handle", "instagram", false, true, drawn("pepe_9999")},
	{"telephone France", "tel", false, true, drawn("+33 9 99 99 99 99")},
	{"telephone Morocco", "tel", false, true, drawn("+212 699-999999")},
	{"telephone Romania", "teléfono", false, true, drawn("0040 799 999 999")},
}

// Form is a way to write a value. label is the kind's; the note has it before
// the value unless the form puts it there itself.
type Form struct {
	Name  string
	write func(value, label string) string
	alter func(value string) string // nil: the value stays; else its check digits are right no longer, and the note has the label
}

// Forms in the order of the table.
var Forms = []Form{
	{Name: "as written", write: func(v, _ string) string { return v }},
	{Name: "together", write: func(v, _ string) string { return join(v, "") }},
	{Name: "label", write: func(v, l string) string { return l + ": " + join(v, "") }},
	{Name: "label glued", write: func(v, l string) string { return l[strings.LastIndexByte(l, ' ')+1:] + join(v, "") }},
	{Name: "brackets", write: func(v, _ string) string { return "(" + join(v, "") + ")" }},
	{Name: "word glued before", write: func(v, _ string) string { return "Avisar" + join(v, "") }},
	{Name: "word glued behind", write: func(v, _ string) string { return join(v, "") + ifDigit(v, "Dolor", ". Dolor") }},
	{Name: "lower case", write: func(v, _ string) string { return strings.ToLower(v) }},
	{Name: "two blanks", write: func(v, _ string) string { return apart(v, "  ") }},
	{Name: "tab", write: func(v, _ string) string { return apart(v, "\t") }},
	{Name: "no-break space", write: func(v, _ string) string { return apart(v, "\u00a0") }},
	{Name: "narrow space", write: func(v, _ string) string { return apart(v, "\u202f") }},
	{Name: "line end", write: func(v, _ string) string { return apart(v, "\n") }},
	{Name: "line end in the middle", write: middle},
	{Name: "en dash", write: func(v, _ string) string { return apart(v, "–") }},
	{Name: "commas", write: func(v, _ string) string { return apart(v, ",") }},
	{Name: "dots", write: func(v, _ string) string { return apart(v, ".") }},
	{Name: "soft hyphens", write: func(v, _ string) string { return between(join(v, ""), "\u00ad\u200b") }},
	{Name: "tags", write: func(v, _ string) string { return between(join(v, ""), "<b></b>") }},
	{Name: "entities", write: func(v, _ string) string { return apart(v, "&nbsp;") }},
	{Name: "line tags", write: func(v, _ string) string { return apart(v, "<br>") }},
	{Name: "full width", write: func(v, _ string) string { return mapped(v, wide) }},
	{Name: "look-alikes", write: func(v, _ string) string { return mapped(v, cyrillic) }},
	{Name: "label, next line", write: func(v, l string) string { return l + ":\n" + v }},
	{Name: "label, cell", write: func(v, l string) string { return "\n| " + l + " | " + v + " |\n" }},
	{Name: "label, cell of HTML", write: func(v, l string) string { return "<tr><td>" + l + "</td><td>" + v + "</td></tr>" }},
	{Name: "label, column", write: func(v, l string) string { return "\nfecha\t" + l + "\tmotivo\n12/03/2021\t" + v + "\ttos\n" }},
	{Name: "label, words between", write: func(v, l string) string { return l + " francés de su marido: " + v }},
	{Name: "label, letters apart", write: func(v, l string) string { return l + " " + between(join(v, ""), " ") }},
	{Name: "label, emoji between", write: func(v, l string) string { return l + " " + between(join(v, ""), "\U0001F600") }},
	{Name: "label, hyphen at a line's end", write: func(v, l string) string { return l + " " + hyphened(join(v, "")) }},
	{Name: "label, base64", write: func(v, l string) string { return l + " " + base64.StdEncoding.EncodeToString([]byte(join(v, ""))) }},
	{Name: "label, percent", write: func(v, l string) string { return l + " " + hexed(v, "%") }},
	{Name: "label, quoted-printable", write: func(v, l string) string { return l + " " + hexed(v, "=") }},
	{Name: "label, mail word", write: func(v, l string) string {
		return l + " =?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
	}},
	{Name: "label, RTF", write: func(v, l string) string { return l + " {\\b " + between(join(v, ""), "}{\\i ") + "}" }},
	{Name: "label, superscript", write: func(v, l string) string { return l + " " + mapped(v, superscript) }},
	{Name: "digit dropped", write: asIs, alter: func(v string) string { return typo(v, func(d string) string { return "" }) }},
	{Name: "digit doubled", write: asIs, alter: func(v string) string { return typo(v, func(d string) string { return d + d }) }},
	{Name: "digits swapped", write: asIs, alter: swapped},
	{Name: "digit wrong", write: asIs, alter: func(v string) string { return typo(v, func(d string) string { return string('0' + (d[0]-'0'+3)%10) }) }},
	{Name: "O for 0, l for 1", write: asIs, alter: func(v string) string { return mapped(v, func(r rune) rune { return ocr(r, "01", "Ol") }) }},
	{Name: "S for 5, B for 8", write: asIs, alter: func(v string) string { return mapped(v, func(r rune) rune { return ocr(r, "58", "SB") }) }},
	{Name: "one letter for a digit", write: asIs, alter: func(v string) string {
		return typo(v, func(d string) string { return string("OlZ3ASG7B9"[d[0]-'0']) })
	}},
	{Name: "digits in words", write: asIs, alter: spoken},
}

func asIs(v, _ string) string { return v }

// Value draws a value of the kind.
func (k *Kind) Value(r *rand.Rand) string { return k.draw(r) }

// Note writes a note with the value in the form. The notes say nothing else
// that could be masked.
func (k *Kind) Note(r *rand.Rand, f *Form, value string) string {
	before := []string{"Acude por tos. Anoto ", "Refiere mejoría, deja ", "Sin fiebre ni dolor; consta ", "Aporta documento, "}[r.IntN(4)]
	if f.alter != nil {
		return before + k.Label + " " + f.write(value, k.Label) + " en la hoja y sigue igual."
	}
	if k.Needs && !strings.HasPrefix(f.Name, "label") {
		before += k.Label + " "
	}
	if f.Name == "word glued before" && k.Needs {
		return before[:len(before)-1] + join(value, "") + " en la hoja y sigue igual."
	}
	return before + f.write(value, k.Label) + " en la hoja y sigue igual."
}

// Breaks tells whether the form gives the value an error.
func (f *Form) Breaks() bool { return f.alter != nil }

// Written returns the value as the form has it: with its error.
func (f *Form) Written(value string) string {
	if f.alter == nil {
		return value
	}
	return f.alter(value)
}

// Readable tells whether the value can be read in a masked note: half of its
// letters and digits in a row, whatever stands between them, or more.
func Readable(masked, value string) bool {
	have, want := core(masked), core(value)
	least := max((len(want)+1)/2, 4)
	for i := 0; i+least <= len(want); i++ {
		if strings.Contains(have, want[i:i+least]) {
			return true
		}
	}
	return false
}

// core returns the letters and digits of a text as a person reads them.
func core(text string) string {
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

const letters = "TRWAGMYFPDXBNJZSQVHLCKE"

// drawn draws values of a form: 9 stands for a digit, A for a capital, h for a
// hexadecimal digit; what has a check digit is drawn without.
func drawn(form string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		return strings.Map(func(c rune) rune {
			switch c {
			case '9':
				return rune('0' + r.IntN(10))
			case 'A':
				return rune(capitals(r, 1)[0])
			case 'h':
				return rune("0123456789ABCDEF"[r.IntN(16)])
			}
			return c
		}, form)
	}
}

// typo writes one digit of a value, from its middle, as to says.
func typo(v string, to func(digit string) string) string {
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
func swapped(v string) string {
	for k := 1; k < len(v); k++ {
		if v[k]-'0' < 10 && v[k-1]-'0' < 10 && v[k] != v[k-1] {
			return v[:k-1] + v[k:k+1] + v[k-1:k] + v[k+1:]
		}
	}
	return v
}

// ocr returns the letter that a machine read for r.
func ocr(r rune, digits, letters string) rune {
	if k := strings.IndexRune(digits, r); k >= 0 {
		return rune(letters[k])
	}
	return r
}

func superscript(r rune) rune {
	if r >= '0' && r <= '9' {
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}
	return r
}

// spoken says the digits of a value.
func spoken(v string) string {
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

func hexed(v, sign string) string {
	var b strings.Builder
	for k := range len(v) {
		fmt.Fprintf(&b, "%s%02X", sign, v[k])
	}
	return b.String()
}

func hyphened(v string) string { return v[:len(v)/2] + "-\n" + v[len(v)/2:] }

func dni(n int) string { return fmt.Sprintf("%08d%c", n, letters[n%23]) }

func nie(r *rand.Rand) string {
	k, n := r.IntN(3), r.IntN(10_000_000)
	return fmt.Sprintf("%c%07d%c", "XYZ"[k], n, letters[(k*10_000_000+n)%23])
}

func cif(r *rand.Rand) string {
	body := digits(r, 7)
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
func social(r *rand.Rand, width int) string {
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

func cip(r *rand.Rand) string {
	return fmt.Sprintf("%s%d%02d%02d%02d%03d", capitals(r, 4), r.IntN(2), r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), r.IntN(1000))
}

// account draws bank, branch, check digits and account.
func account(r *rand.Rand) string {
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
	bank, number := digits(r, 8), digits(r, 10)
	return fmt.Sprintf("%s%d%d%s", bank, control("00"+bank), control(number), number)
}

func iban(r *rand.Rand) string {
	a := account(r)
	rest := 0
	for _, c := range a + "142800" { // ES00
		rest = (rest*10 + int(c-'0')) % 97
	}
	whole := fmt.Sprintf("ES%02d%s", 98-rest, a)
	return fours(whole)
}

// luhn draws a number of n digits with the right last one.
func luhn(r *rand.Rand, first string, n int) string {
	body := first + digits(r, n-1-len(first))
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

func digits(r *rand.Rand, n int) string     { return from(r, "0123456789", n) }
func capitals(r *rand.Rand, n int) string   { return from(r, "ABCDEFGHJKLMNPRSTVZ", n) }
func consonants(r *rand.Rand, n int) string { return from(r, "BCDFGHJKLMNPRSTVWXYZ", n) }

func from(r *rand.Rand, signs string, n int) string {
	b := make([]byte, n)
	for k := range b {
		b[k] = signs[r.IntN(len(signs))]
	}
	return string(b)
}

func syllables(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for k := range b {
		b[k] = []string{"bdgjkpvxz", "aeiou"}[k%2][r.IntN(5)]
	}
	return string(b)
}

func fours(v string) string  { return groups(v, 4) }
func threes(v string) string { return groups(v, 3) }

func groups(v string, n int) string {
	var parts []string
	for ; len(v) > n; v = v[n:] {
		parts = append(parts, v[:n])
	}
	return strings.Join(append(parts, v), " ")
}

func join(v, sign string) string { return strings.ReplaceAll(v, " ", sign) }

// apart sets the groups of a value apart: those that it has, else three digits
// from the right; an address before and behind its signs.
func apart(v, sign string) string {
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
		return join(v, sign)
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

func middle(v, _ string) string {
	v = join(v, "")
	return v[:len(v)/2] + "\n" + v[len(v)/2:]
}

func between(v, sign string) string {
	var b strings.Builder
	for k, r := range v {
		if k > 0 {
			b.WriteString(sign)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func ifDigit(v, then, otherwise string) string {
	if c := v[len(v)-1]; c >= '0' && c <= '9' || strings.IndexByte(v, '@') < 0 {
		return then
	}
	return otherwise
}

func mapped(v string, to func(rune) rune) string { return strings.Map(to, v) }

func wide(r rune) rune {
	if r > ' ' && r < 0x7F {
		return r + 0xFEE0
	}
	return r
}

// cyrillic has look-alikes for letters, and Arabic-Indic digits for every other
// digit.
func cyrillic(r rune) rune {
	const latin, other = "ABCEHIJKMOPSTXYaceiopsxy", "АВСЕНІЈКМОРЅТХУасеіорѕху"
	if k := strings.IndexRune(latin, r); k >= 0 {
		return []rune(other)[k]
	}
	if r >= '0' && r <= '9' && r%2 == 0 {
		return r - '0' + 0x660
	}
	return r
}
