package patterns

import (
	"strings"

	"github.com/velum-health/velum/models/word/cut"
)

// postal finds a postal code behind a label, behind the number of a street or
// before a town.
func (s documentFinder) postal(n *num) {
	if n.end-n.start != 5 || n.inner || !s.stops(n.end) && s.At(n.end) != '-' || s.LetterAt(n.end) {
		return
	}
	if s.labelOf(n)&forPostal != 0 {
		s.add(n.start, n.end, postalCode, 0.95, false)
		return
	}
	if p := s.Value(n.start, n.start+2); p < 1 || p > 52 {
		return
	}
	if s.At(n.start-1) == '-' && (s.At(n.start-2) == 'E' || s.At(n.start-2) == 'D') && !s.AlnumBefore(n.start-2) {
		s.add(n.start-2, n.end, postalCode, 0.85, false) // the sign of the country
		return
	}
	if n.glued {
		return
	}
	townNext, capital := s.townBehind(n.end)
	switch {
	case s.labelOf(n)&labels != 0:
	case townNext:
		s.add(n.start, n.end, postalCode, 0.85, false)
	case s.measured(n.end):
	case s.streetBefore(n.start):
		s.add(n.start, n.end, postalCode, 0.8, false)
	case capital && s.afterHouse(n.start):
		s.add(n.start, n.end, postalCode, 0.6, false)
	}
}

// townBehind tells whether the word behind j is a known town, and whether it
// has a capital at all.
func (s documentFinder) townBehind(j int) (known, capital bool) {
	p := j
	for range 4 {
		switch b := s.At(p); {
		case b == ',' || b == '-' || b == '(' || b == ')' || b == '.':
			p++
		case s.Space(p) > 0:
			p += s.Space(p)
		}
	}
	for range 3 { // L'Hospitalet, San Sebastián de, Las Palmas
		end, e := s.wordFrom(p)
		if e.roles&town != 0 && s.LetterAt(p) && !s.Lower(p) {
			return true, true
		}
		capital = capital || s.Upper(p) && s.Lower(p+1) && e.roles&unit == 0
		p = end
		for b := s.At(p); b == ' ' || b == '\'' || b == '('; b = s.At(p) {
			p++
		}
	}
	return false, capital
}

// streetBefore tells whether a word such as "calle" or "avda" stands within
// 60 bytes before i, in its line.
func (s *scan) streetBefore(i int) bool {
	for p, floor := i, max(i-60, 0); p > floor; {
		b := s.Text[p-1]
		if b == '\n' || b == ';' {
			return false
		}
		if class[b] != letter {
			p--
			continue
		}
		start, e := s.wordUpTo(p)
		if e.roles&street != 0 && (p-start > 3 || s.At(p) == '/' || s.At(p) == '.' && p-start > 1) {
			return true
		}
		if start == p {
			start--
		}
		p = start
	}
	return false
}

// afterHouse tells whether the end of an address stands before i: ", 3 -".
func (s documentFinder) afterHouse(i int) bool {
	p := s.SpacesBefore(i)
	switch s.At(p - 1) {
	case '-', ',', '.':
		p = s.SpacesBefore(p - 1)
	}
	return s.Digit(p-1) || string(s.Text[max(p-2, 0):p]) == "/n"
}

// plate finds licence plates: 1234 BCD, and the old B-1234-XY.
func (s documentFinder) plate(n *num) {
	if n.end-n.start != 4 || n.inner {
		return
	}
	if s.oldPlate(n) || n.glued || s.At(n.start-1) == '-' {
		return
	}
	p := n.end
	sep := s.At(p)
	if sep == '-' || sep == ' ' {
		p++
	}
	for k := range 3 {
		if !consonant(s.At(p + k)) {
			return
		}
	}
	if s.AlnumAt(p + 3) {
		return
	}
	_, e := s.wordFrom(p)
	labelled := s.labelOf(n)&forPlate != 0
	switch {
	case labelled:
		s.add(n.start, p+3, licencePlate, 0.95, false)
	case e.roles != 0 || acronyms[string(s.Text[p:p+3])]:
	case sep == '-' || sep != ' ':
		s.add(n.start, p+3, licencePlate, 0.6, false)
	}
}

// consonant tells whether b stands in plates since 2000: no vowel, no Q.
func consonant(b byte) bool {
	switch b {
	case 'A', 'E', 'I', 'O', 'U', 'Q':
		return false
	}
	return cut.IsUpper(b)
}

// acronyms of three consonants that stand behind numbers in notes.
var acronyms = map[string]bool{
	"TSH": true, "HDL": true, "LDL": true, "LDH": true, "FSH": true, "PCR": true, "VHC": true, "VHB": true, "HTP": true,
	"PSP": true, "MMG": true, "KCL": true, "CTS": true, "BCG": true, "CMV": true, "FBC": true, "VSG": true, "HTT": true,
	"CPK": true, "GGT": true, "TTP": true, "PTH": true, "DMT": true, "SNC": true, "SNG": true, "RMN": true, "TBC": true,
	"NRL": true, "NML": true, "HVB": true, "MCG": true, "MGR": true, "MGS": true, "GRS": true, "HRS": true, "PPM": true,
	"LPM": true, "RPM": true, "BPM": true, "MLS": true, "KGS": true, "SPT": true,
}

// oldPlate finds the form before 2000: letters of the province, four digits,
// one or two letters.
func (s documentFinder) oldPlate(n *num) bool {
	p := n.start
	tight := true
	if b := s.At(p - 1); b == '-' || b == ' ' {
		tight = b == '-'
		p--
	}
	start := s.capitals(p, 2)
	if start == p {
		return false
	}
	q := n.end
	if b := s.At(q); b == '-' || b == ' ' {
		tight = tight && b == '-'
		q++
	} else {
		tight = false
	}
	end := q
	for end < len(s.Text) && s.Upper(end) && end-q <= 2 {
		end++
	}
	if end == q || end-q > 2 || s.AlnumAt(end) {
		return false
	}
	switch {
	case s.context(start)&forPlate != 0:
		s.add(start, end, licencePlate, 0.95, false)
	case tight && provincePlate(string(s.Text[start:p])):
		s.add(start, end, licencePlate, 0.6, false)
	default:
		return false
	}
	return true
}

// provincePlate tells whether the letters are a province of old plates.
func provincePlate(letters string) bool {
	switch letters {
	case "A", "AB", "AL", "AV", "B", "BA", "BI", "BU", "C", "CA", "CC", "CE", "CO", "CR", "CS", "CU", "GC", "GE", "GI",
		"GR", "GU", "H", "HU", "IB", "J", "L", "LE", "LO", "LU", "M", "MA", "ML", "MU", "NA", "O", "OR", "OU", "P", "PM",
		"PO", "S", "SA", "SE", "SG", "SO", "SS", "T", "TE", "TF", "TO", "V", "VA", "VI", "Z", "ZA":
		return true
	}
	return false
}

// ibanLengths has the length of an IBAN by country, of all countries that have
// one (SWIFT, IBAN Registry, release 99), and of some that use the form.
var ibanLengths = func() (t [26 * 26]uint8) {
	const registry = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 " +
		"FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 " +
		"MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 " +
		"SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30 DZ26 AO25 CV25 CM27 CI28 SN28 ML28 GQ27"
	for row := range strings.FieldsSeq(registry) {
		t[int(row[0]-'A')*26+int(row[1]-'A')] = (row[2]-'0')*10 + row[3] - '0'
	}
	return t
}()

// ibanLength is the length of an IBAN of the country with these two letters,
// capitals; 0 if it has none.
func ibanLength(a, b byte) int {
	if !cut.IsUpper(a) || !cut.IsUpper(b) {
		return 0
	}
	return int(ibanLengths[int(a-'A')*26+int(b-'A')])
}

// ibanCode finds country, check digits and as many letters and digits as the
// country has.
func (s documentFinder) ibanCode(n *num) {
	start := n.start - 2
	if start < 0 || n.end-n.start < 2 || s.AlnumBefore(start) {
		return
	}
	country := [2]byte{s.Text[start] &^ 0x20, s.Text[start+1] &^ 0x20}
	want := ibanLength(country[0], country[1])
	if want == 0 || !s.Letter(start) || !s.Letter(start+1) {
		return
	}
	rest, have, end := 0, 2, n.start
	for at := n.start; at < len(s.Text) && have < want; at++ {
		b := s.Text[at]
		switch {
		case cut.IsAlnum(b):
			rest = mod97(rest, b)
			have++
			end = at + 1
			if have == 4 {
				rest = 0 // country and check digits go to the end
			}
		case (b == ' ' || b == '-') && end == at && have >= 4:
		default:
			at = len(s.Text)
		}
	}
	if have != want || s.AlnumAt(end) {
		return
	}
	for _, b := range [4]byte{country[0], country[1], s.Text[n.start], s.Text[n.start+1]} {
		rest = mod97(rest, b)
	}
	right := rest == 1
	labelled := s.context(start)&forIBAN != 0
	switch {
	case right:
		s.add(start, end, iban, 1, true)
	case labelled:
		s.add(start, end, iban, 0.9, false)
	case country == [2]byte{'E', 'S'} && s.Upper(start):
		s.add(start, end, iban, 0.8, false)
	}
}

// mod97 goes on with one sign of ISO 7064; letters count from 10.
func mod97(rest int, b byte) int {
	if cut.IsDigit(b) {
		return (rest*10 + int(b-'0')) % 97
	}
	return (rest*100 + int(b&^0x20-'A') + 10) % 97
}

// bankCode finds bank, branch, two check digits and account: 4-4-2-10.
func (s documentFinder) bankCode(n *num) {
	g := &n.g
	end := 0
	switch {
	case n.end-n.start == 20:
		end = n.end
	case g.n >= 4 && g.lens(3) == 442 && g.end[3]-g.start[3] == 10:
		end = g.end[3]
	case g.n >= 5 && g.lens(5) == 44444 && g.sameSep(5):
		end = g.end[4]
	}
	if end == 0 || n.inner || n.glued || !s.stops(end) || s.LetterAt(end) {
		return
	}
	var d [20]byte
	s.digitsOf(d[:], n.start, end)
	right := bankControl(d[:8]) == d[8] && bankControl(d[10:]) == d[9]
	switch labelled := s.labelOf(n)&forIBAN != 0; {
	case right && labelled:
		s.add(n.start, end, iban, 1, true)
	case right:
		s.add(n.start, end, iban, 0.85, true)
	case labelled:
		s.add(n.start, end, iban, 0.85, false)
	case g.n >= 4 && g.lens(3) == 442:
		s.add(n.start, end, iban, 0.5, false)
	}
}

// bankControl is the check digit of up to ten digits: weights 1 2 4 8 5 10 9 7
// 3 6 from the left of ten places, mod 11.
func bankControl(d []byte) byte {
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
