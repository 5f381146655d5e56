package main

// badNotes are the notes that a masking pipeline meets on a bad day:
// attachments, other encodings, control characters, texts without end, texts
// that look like markup. All are invented. The tests of cmd/velum mask each of
// them, TestTorture masks mutations of them by the hundred thousand.

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// Note is a bad note with the name of what is bad about it.
type badNoteNote struct {
	Name string
	Text []byte
}

// seeds are sound notes full of personal health information; all is invented.
var badNoteSeeds = []struct{ name, text string }{
	{"es", "Acude Dolors Ferrer Puig (DNI 12345678Z), tel. 612 345 678, vive en Sabadell.\nControl de TA 130/80 el 12/03/2024. Dr. Roura."},
	{"ca", "L'Anna Vidal i Soler, de 67 anys, ve amb el seu fill Pol. Telèfon 93 412 34 56, CIP VISO0570412003. Analítica a l'Hospital de Sant Pau."},
	{"caps", "PACIENTE JOSE LUIS MORALES GIL, NHC 4455667, REMITIDO POR DRA. PONS A URGENCIAS. EMAIL JLMORALES@EJEMPLO.ES"},
}

// changes are what happens to a note on its way.
var badNoteChanges = []struct {
	name string
	do   func(s string) string
}{
	{"NUL between characters", badNoteBetween("\x00")},
	{"NUL at the end", func(s string) string { return s + "\x00\x00\x00" }},
	{"BOM", func(s string) string { return "\ufeff" + s }},
	{"BOM at every word", func(s string) string { return strings.ReplaceAll(s, " ", " \ufeff") }},
	{"UTF-16LE", func(s string) string { return badNoteWide(s, binary.LittleEndian, "") }},
	{"UTF-16BE with BOM", func(s string) string { return badNoteWide(s, binary.BigEndian, "\xfe\xff") }},
	{"Latin-1", badNoteLatin1},
	{"UTF-8 twice", func(s string) string { return badNoteTwice(s) }},
	{"UTF-8 three times", func(s string) string { return badNoteTwice(badNoteTwice(s)) }},
	{"lone surrogate", func(s string) string { return s[:len(s)/2] + "\xed\xa0\x80" + s[len(s)/2:] }},
	{"surrogate pair in WTF-8", func(s string) string { return s + "\xed\xa0\xbd\xed\xb8\x80" }},
	{"overlong slash", func(s string) string { return s + "\xc0\xaf" }},
	{"overlong NUL", func(s string) string { return s + "\xc0\x80" }},
	{"cut in a character", func(s string) string { return s + "\xc3" }},
	{"byte FF", func(s string) string { return "\xff" + s }},
	{"right-to-left override", func(s string) string { return "\u202e" + s + "\u202c" }},
	{"bidi in every word", func(s string) string { return strings.ReplaceAll(s, " ", " \u2067") }},
	{"left-to-right marks", badNoteBetween("\u200e")},
	{"zero width space between characters", badNoteBetween("\u200b")},
	{"zero width joiner between characters", badNoteBetween("\u200d")},
	{"word joiner between characters", badNoteBetween("\u2060")},
	{"soft hyphen between characters", badNoteBetween("\u00ad")},
	{"combining acute on every letter", badNoteBetween("\u0301")},
	{"twenty marks on every letter", badNoteBetween(strings.Repeat("\u0316\u0301", 10))},
	{"decomposed", func(s string) string { return badNoteDecompose.Replace(s) }},
	{"full width", func(s string) string { return badNoteShift(s, '!', '~', 0xff01-'!') }},
	{"mathematical bold", func(s string) string {
		return badNoteShift(badNoteShift(s, 'A', 'Z', 0x1d400-'A'), 'a', 'z', 0x1d41a-'a')
	}},
	{"Cyrillic homoglyphs", func(s string) string { return badNoteCyrillic.Replace(s) }},
	{"Greek homoglyphs", func(s string) string { return badNoteGreek.Replace(s) }},
	{"no-break spaces", func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }},
	{"spaces of all widths", func(s string) string { return strings.ReplaceAll(s, " ", "\u2003\u2009\u202f") }},
	{"no spaces", func(s string) string { return strings.ReplaceAll(s, " ", "") }},
	{"a space between characters", badNoteBetween(" ")},
	{"a dot between characters", badNoteBetween(".")},
	{"a line a character", badNoteBetween("\n")},
	{"CRLF", func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") }},
	{"CR only", func(s string) string { return strings.ReplaceAll(s, " ", "\r") }},
	{"LF CR", func(s string) string { return strings.ReplaceAll(s, " ", "\n\r") }},
	{"line and paragraph separators", func(s string) string { return strings.ReplaceAll(s, " ", "\u2028\u2029") }},
	{"next line", func(s string) string { return strings.ReplaceAll(s, " ", "\u0085") }},
	{"form feeds and vertical tabs", func(s string) string { return strings.ReplaceAll(s, " ", "\f\v") }},
	{"tabs", func(s string) string { return strings.ReplaceAll(s, " ", "\t\t") }},
	{"bell and backspace", func(s string) string { return strings.ReplaceAll(s, " ", "\a\b") }},
	{"escape sequences", func(s string) string { return strings.ReplaceAll(s, " ", " \x1b[31m") }},
	{"C1 controls", func(s string) string { return strings.ReplaceAll(s, " ", " \u0090") }},
	{"delete characters", badNoteBetween("\x7f")},
	{"replacement characters", func(s string) string { return strings.ReplaceAll(s, "a", "\ufffd") }},
	{"private use", func(s string) string { return strings.ReplaceAll(s, " ", " \ue000\U0010fffd ") }},
	{"noncharacters", func(s string) string { return s + "\uffff\ufdd0\U0010ffff" }},
	{"tag characters", func(s string) string { return s + badNoteShift(s, ' ', '~', 0xe0000) }},
	{"variation selectors", badNoteBetween("\ufe0f")},
	{"emoji families", func(s string) string {
		return strings.ReplaceAll(s, " ", " 👨‍👩‍👧‍👦👩🏽‍⚕️🏴󠁧󠁢󠁣󠁴󠁿 ")
	}},
	{"flags", func(s string) string { return strings.ReplaceAll(s, " ", " 🇪🇸🇦🇩 ") }},
	{"upside down", func(s string) string { return badNoteReverse(s) }},
	{"upper case", strings.ToUpper},
	{"lower case", strings.ToLower},
	{"rot13", func(s string) string { return badNoteRot13(s) }},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"percent encoded", badNotePercent},
	{"entities", badNoteEntities},
	{"quoted printable", func(s string) string { return strings.ReplaceAll(s, " ", "=20=\n") }},
	{"HTML", func(s string) string {
		return "<html><body onload=x()><p>" + strings.ReplaceAll(s, " ", "</p><p class='n'>") + "</p><!-- " + s + " --></body>"
	}},
	{"XML with CDATA", func(s string) string { return "<?xml version='1.0'?><n><![CDATA[" + s + "]]>&#x41;</n>" }},
	{"RTF", func(s string) string {
		return `{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}\f0\fs20 ` + strings.ReplaceAll(s, " ", `\par `) + "}"
	}},
	{"JSON", func(s string) string { return fmt.Sprintf(`{"note":{"text":%q,"n":[1,2,{"a":null}]}}`, s) }},
	{"CSV", func(s string) string { return `1;"` + strings.ReplaceAll(s, " ", `";"`) + `"` }},
	{"SQL", func(s string) string { return "'); DROP TABLE notes; -- " + s }},
	{"log4j", func(s string) string { return "${jndi:ldap://x/" + s + "}" }},
	{"format verbs", func(s string) string { return strings.ReplaceAll(s, " ", " %s%n%x{{.}} ") }},
	{"placeholders", func(s string) string { return strings.ReplaceAll(s, " ", " [PERSON] ") }},
	{"nested placeholders", func(s string) string { return strings.Repeat("[PERSON", 50) + s + strings.Repeat("]", 50) }},
	{"nested brackets", func(s string) string { return strings.Repeat("([{<", 500) + s + strings.Repeat(">}])", 500) }},
	{"quotes of all kinds", func(s string) string { return strings.ReplaceAll(s, " ", " «“„'‘’”»`´ ") }},
	{"Catalan ŀ", func(s string) string { return strings.ReplaceAll(s, "l", "ŀl") + " Gal·la Soŀler col.legi" }},
	{"Turkish i", func(s string) string { return strings.NewReplacer("i", "ı", "I", "İ").Replace(s) }},
	{"sharp s and ligatures", func(s string) string { return strings.NewReplacer("s", "ß", "f", "ﬃ").Replace(s) }},
	{"Arabic digits", func(s string) string { return badNoteShift(s, '0', '9', 0x660-'0') }},
	{"superscript digits", func(s string) string { return strings.NewReplacer("1", "¹", "2", "²", "3", "³").Replace(s) }},
	{"a thousand times", func(s string) string { return strings.Repeat(s+"\n", 1000) }},
	{"a thousand times on one line", func(s string) string {
		return strings.ReplaceAll(strings.Repeat(s+" ", 1000), "\n", " ")
	}},
}

// singles are bad notes that are not a change of a sound one.
var badNoteSingles = []struct {
	name string
	text func() string
}{
	{"empty", func() string { return "" }},
	{"one space", func() string { return " " }},
	{"one NUL", func() string { return "\x00" }},
	{"one letter", func() string { return "a" }},
	{"one mark", func() string { return "\u0301" }},
	{"one emoji", func() string { return "😀" }},
	{"one byte FF", func() string { return "\xff" }},
	{"line ends only", func() string { return strings.Repeat("\r\n", 5000) }},
	{"spaces only", func() string { return strings.Repeat(" ", 100_000) }},
	{"marks only", func() string { return strings.Repeat("\u0301\u0327", 50_000) }},
	{"joiners only", func() string { return strings.Repeat("\u200d", 100_000) }},
	{"a million letters", func() string { return strings.Repeat("a", 1_000_000) }},
	{"a million capitals", func() string { return strings.Repeat("A", 1_000_000) }},
	{"a million digits", func() string { return strings.Repeat("7", 1_000_000) }},
	{"a million dots", func() string { return strings.Repeat(".", 1_000_000) }},
	{"a million lines", func() string { return strings.Repeat("\n", 1_000_000) }},
	{"a line of a million characters", func() string { return strings.Repeat("acude hoy ", 100_000) }},
	{"two mebibytes", func() string { return strings.Repeat("tos ", 1<<19) }},
	{"alternating case", func() string { return strings.Repeat("aB", 100_000) }},
	{"letters and digits", func() string { return strings.Repeat("a1", 100_000) }},
	{"a hyphenated word without end", func() string { return strings.Repeat("a-", 100_000) }},
	{"an e-mail without end", func() string { return strings.Repeat("a.", 50_000) + "@" + strings.Repeat("b.", 50_000) + "es" }},
	{"at signs", func() string { return strings.Repeat("@", 100_000) }},
	{"a URL without end", func() string { return "https://" + strings.Repeat("a/", 100_000) }},
	{"colons", func() string { return strings.Repeat("tel:", 50_000) }},
	{"plus signs", func() string { return strings.Repeat("+34 ", 50_000) }},
	{"slashes and digits", func() string { return strings.Repeat("1/", 100_000) }},
	{"half a date, many times", func() string { return strings.Repeat("12 de ", 50_000) }},
	{"10,000 e-mails", func() string { return badNoteMany(10_000, "ana%d@ejemplo.es ") }},
	{"10,000 telephones", func() string { return badNoteMany(10_000, "6123%05d ") }},
	{"10,000 names", func() string { return badNoteMany(5_000, "Dolors Ferrer%d, ") }},
	{"5,000 dates", func() string { return strings.Repeat("12/03/2024 ", 5_000) }},
	{"5,000 DNI", func() string { return strings.Repeat("DNI 12345678Z ", 5_000) }},
	{"one name 10,000 times", func() string { return strings.Repeat("Dolors ", 10_000) }},
	{"a huge number", func() string { return "peso " + strings.Repeat("9", 400) + "," + strings.Repeat("9", 400) + " kg" }},
	{"exponents", func() string { return "1e999 -1e-999 0x1p-1074 NaN Inf" }},
	{"a huge IBAN", func() string { return "ES" + strings.Repeat("91 2100 0418 ", 1000) }},
	{"brackets only", func() string { return strings.Repeat("[", 100_000) }},
	{"only placeholders", func() string { return strings.Repeat("[PERSON] [LOCATION] [DNI] ", 1000) }},
	{"a placeholder in pieces", func() string { return "[PER\u00adSON] [PERSON:Ada] [PERSON [PERSON]]" }},
	{"every ASCII character", func() string { return badNoteByteRange(1, 127) }},
	{"every byte", func() string { return badNoteByteRange(0, 255) }},
	{"every character of two bytes", func() string { return badNoteRunes(0x80, 0x7ff) }},
	{"planes of CJK", func() string { return badNoteRunes(0x4e00, 0x9fff) }},
	{"plane 1", func() string { return badNoteRunes(0x10000, 0x1ffff) }},
	{"zalgo", func() string { return strings.Repeat("D"+strings.Repeat("\u0336\u0489", 100), 200) }},
	{"Hangul in pieces", func() string { return strings.Repeat("\u1112\u1161\u11ab", 10_000) }},
	{"Thai without spaces", func() string { return strings.Repeat("คนไข้มีไข้", 5_000) }},
	{"Arabic", func() string { return "المريض فاطمة الزهراء هاتف 612345678" }},
	{"Chinese name", func() string { return "患者王小明, tel 612345678, Sra. 李" }},
	{"PEM key", func() string { return "-----BEGIN X-----\n" + strings.Repeat("QUJD", 500) + "\n-----END X-----" }},
	{"PDF", func() string { return "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\nxref\n\x80\x81\x82" }},
	{"ZIP", func() string { return "PK\x03\x04\x14\x00\x00\x00\x08\x00" }},
	{"PNG", func() string { return "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" }},
	{"Parquet", func() string { return "PAR1\x15\x04\x15\x10PAR1" }},
	{"HL7", func() string { return "MSH|^~\\&|LAB||||20240312||ORU^R01\rPID|1||4455667^^^H||FERRER^DOLORS" }},
	{"CDA", func() string { return "<ClinicalDocument xmlns='urn:hl7-org:v3'><name><given>Dolors</given></name>" }},
	{"e-mail message", func() string {
		return "From: Dolors Ferrer <dferrer@ejemplo.es>\r\nSubject: =?utf-8?Q?an=C3=A1lisis?=\r\n\r\nhola"
	}},
	{"stack trace", func() string {
		return "panic: runtime error\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:7 +0x1d"
	}},
	{"a table", func() string {
		return strings.Repeat("| Dolors | Ferrer | 612345678 |\n|---|---|---|\n", 500)
	}},
	{"glued name", func() string { return "pacienteDolorsFerrerPuigtel612345678vive" }},
	{"two strange apostrophes", func() string { return "l''Anna d’’en Pol l´Enric d`Andorra" }},
}

// Named returns all bad notes: more than 200.
func badNoteNamed() (notes []badNoteNote) {
	for _, s := range badNoteSingles {
		notes = append(notes, badNoteNote{s.name, []byte(s.text())})
	}
	for _, c := range badNoteChanges {
		for _, s := range badNoteSeeds {
			notes = append(notes, badNoteNote{c.name + "/" + s.name, []byte(c.do(s.text))})
		}
	}
	return notes
}

// Mutated returns one more note, of at most 4 KiB: pieces of bad notes,
// changed again.
func badNoteMutated(rng *rand.Rand, from []badNoteNote) []byte {
	var out []byte
	for range 1 + rng.IntN(4) {
		text := from[rng.IntN(len(from))].Text
		if len(text) == 0 {
			continue
		}
		start := rng.IntN(len(text))
		out = append(out, text[start:start+min(1+rng.IntN(400), len(text)-start)]...)
		seed := badNoteSeeds[rng.IntN(len(badNoteSeeds))].text
		if rng.IntN(2) == 0 {
			seed = badNoteChanges[rng.IntN(len(badNoteChanges)-2)].do(seed[:1+rng.IntN(len(seed)-1)]) // the last two are long
		}
		at := rng.IntN(len(out) + 1)
		out = append(out[:at:at], append([]byte(seed), out[at:]...)...)
	}
	if rng.IntN(3) > 0 {
		out = bytes.ToValidUTF8(out, nil)
	}
	if rng.IntN(3) > 0 {
		out = bytes.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' {
				return -1
			}
			return r
		}, out)
	}
	for range rng.IntN(3) {
		if len(out) > 0 {
			out[rng.IntN(len(out))] ^= 1 << rng.IntN(8)
		}
	}
	return out[:min(len(out), 4096)]
}

func badNoteBetween(sep string) func(string) string {
	return func(s string) string { return strings.Join(strings.Split(s, ""), sep) }
}

func badNoteWide(s string, order binary.ByteOrder, bom string) string {
	b := []byte(bom)
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

func badNoteLatin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// twice reads UTF-8 as if it were Latin-1.
func badNoteTwice(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func badNoteShift(s string, from, to, by rune) string {
	return strings.Map(func(r rune) rune {
		if r >= from && r <= to {
			return r + by
		}
		return r
	}, s)
}

var (
	badNoteDecompose = strings.NewReplacer("á", "a\u0301", "é", "e\u0301", "è", "e\u0300", "í", "i\u0301", "ó", "o\u0301", "ñ", "n\u0303", "o", "o\u0301")
	badNoteCyrillic  = strings.NewReplacer("a", "а", "e", "е", "o", "о", "p", "р", "c", "с", "x", "х", "A", "А", "P", "Р")
	badNoteGreek     = strings.NewReplacer("o", "ο", "v", "ν", "A", "Α", "E", "Ε", "P", "Ρ", "N", "Ν")
)

func badNoteReverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func badNoteRot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

func badNotePercent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func badNoteEntities(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, "&#%d;", r)
	}
	return b.String()
}

func badNoteMany(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func badNoteByteRange(from, to int) string {
	var b []byte
	for c := from; c <= to; c++ {
		b = append(b, byte(c))
	}
	return string(b)
}

func badNoteRunes(from, to rune) string {
	var b strings.Builder
	for r := from; r <= to; r++ {
		b.WriteRune(r)
	}
	return b.String()
}
