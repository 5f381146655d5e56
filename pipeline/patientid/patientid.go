// Package patientid recognizes the same patient id in different spellings. It takes an id from a column, a list or a
// command line and whether it was a number there, and returns a normalized form; equal forms mean the same patient.
//
// An archive and the lists beside it come from different programs: 123 in one may be 123.0, "00123", '123, １２３ or
// U+FEFF 123 in another. (A column of integers with nulls is float64 in pandas; spreadsheets remove leading zeros.) If
// ids were compared as bytes, a patient who objects could remain in the output. So ids are normalized where they are
// read (stages/read), and all that depends on the patient uses the normalized form: objections, known people, keys of
// surrogates and dates, k-anonymity.
//
// Leading zeros mean nothing in a number and may be significant in a text. If either id was a number they are ignored
// (Same); if both are texts they count. Two texts that differ only in such zeros, or in letters around the digits that
// one of them lacks (1000, 0001000, P1000), may be the same patient or not: they are Alike, and a person has to decide.
//
// A document may name its patient by several ids. Their forms are joined with Between, the first one first, and each of
// them identifies the patient.
package patientid

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// number begins the form of an id that was a number. No other form begins with it.
const number = '='

// Between separates the forms of several ids of one patient. No form contains it.
const Between = 0x1f

// misread is a byte order mark that was read as Latin-1.
var misread = []byte("\u00ef\u00bb\u00bf")

// longest is the most digits of a number that is written with an exponent.
const longest = 40

// AppendText appends the normalized form of an id that was text; nothing if it holds no id ("", "NaN", "-"). The form
// has upper-case letters and digits; blanks, surrounding quotes, control characters, zero-width characters and a plus
// sign are removed, Unicode digits and wide letters are replaced by ASCII, and .0 after digits is dropped.
func AppendText(dst, id []byte) []byte {
	first := len(dst)
	simple, formed := plain(id)
	if simple {
		dst = append(dst, id...)
		raise(dst[first:])
		if formed {
			return dst
		}
	} else {
		dst = fold(dst, bytes.TrimPrefix(id, misread))
	}
	form := trim(dst[first:])
	if null(form) {
		return dst[:first]
	}
	if whole, ok := written(form); ok {
		form = whole
	}
	return append(dst[:first], form...)
}

// AppendNumber appends the normalized form of an id that was a number, given as text: 123, -5, 123.50; nothing if it is
// no number (NaN).
func AppendNumber(dst, id []byte) []byte {
	first := len(dst)
	dst = AppendText(append(dst, number), id)
	form := dst[first+1:]
	if len(form) == 0 {
		return dst[:first]
	}
	if bytes.IndexByte(form, '.') > 0 {
		form = bytes.TrimRight(form, "0")
	}
	return append(dst[:first+1], withoutZeros(form)...)
}

// Key returns the part that all forms of a patient share: without the mark of numbers and without leading zeros. Keys
// of surrogates and counts of people use it, since there it is a smaller error that two patients share a key than that
// one patient has two. For several ids it is the first one's. The result aliases form.
func Key(form []byte) []byte {
	form, _, _ = bytes.Cut(form, []byte{Between})
	if len(form) > 0 && form[0] == number {
		return form[1:]
	}
	return withoutZeros(form)
}

// Each calls do with each of several joined forms until do returns true, and reports whether it did.
func Each(forms []byte, do func(form []byte) bool) bool {
	for len(forms) > 0 {
		form, rest, _ := bytes.Cut(forms, []byte{Between})
		if len(form) > 0 && do(form) {
			return true
		}
		forms = rest
	}
	return false
}

// Same reports whether two forms, or any of several joined forms, belong to the same patient.
func Same(a, b []byte) bool {
	return Each(a, func(a []byte) bool { return Each(b, func(b []byte) bool { return same(a, b) }) })
}

func same(a, b []byte) bool {
	if isNumber(a) || isNumber(b) {
		return bytes.Equal(Key(a), Key(b))
	}
	return bytes.Equal(a, b)
}

func isNumber(form []byte) bool { return len(form) > 0 && form[0] == number }

// plain tells whether an id is of ASCII letters, digits and marks (simple), and
// whether it is its own form but for capitals, as nearly all are (formed).
func plain(id []byte) (simple, formed bool) {
	digits, points := false, false
	for _, c := range id {
		switch {
		case isDigit(c):
			digits = true
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '_', c == '/':
		case c == '.':
			points = true
		default:
			return false, false
		}
	}
	return true, digits && !points
}

// raise makes capitals of ASCII letters.
func raise(form []byte) {
	for i, c := range form {
		if 'a' <= c && c <= 'z' {
			form[i] = c - ('a' - 'A')
		}
	}
}

// fold appends the characters of an id that count.
func fold(dst, id []byte) []byte {
	first := len(dst)
	for _, c := range string(norm.NFKC.Bytes(id)) {
		switch {
		case c < 0x80:
		case unicode.Is(unicode.Pd, c), c == '\u2212':
			c = '-'
		case unicode.Is(unicode.Nd, c):
			c = digit(c)
		case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c), unicode.Is(unicode.Variation_Selector, c):
			continue
		}
		if unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Z) {
			continue
		}
		dst = utf8.AppendRune(dst, unicode.ToUpper(c))
	}
	return append(dst[:first], norm.NFKC.Bytes(dst[first:])...) // what stood apart may go together now
}

// digit returns the usual digit for one of another script: they stand in the
// table in rows of ten, from zero.
func digit(c rune) rune {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= c && c <= rune(row.Hi) {
			return '0' + (c-rune(row.Lo))%10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= c && c <= rune(row.Hi) {
			return '0' + (c-rune(row.Lo))%10
		}
	}
	return c
}

// trim takes off what stands around an id and is none of it.
func trim(form []byte) []byte {
	form = bytes.TrimFunc(form, func(c rune) bool {
		return c == '"' || c == '\'' || c == '`' || c == '´' || c == '=' || c == ',' || c == ';' ||
			unicode.In(c, unicode.Pi, unicode.Pf, unicode.Ps, unicode.Pe)
	})
	if rest, plus := bytes.CutPrefix(form, []byte("+")); plus && len(rest) > 0 && isDigit(rest[0]) {
		form = rest
	}
	return withoutPart(form)
}

// withoutPart takes .0 off digits. Of 12.000 nobody knows whether it is twelve or
// twelve thousand: it stays.
func withoutPart(form []byte) []byte {
	at := bytes.IndexAny(form, ".,")
	if at < 0 {
		return form
	}
	whole, zeros := form[:at], form[at+1:]
	digits := bytes.TrimPrefix(whole, []byte("-"))
	if !allDigits(digits) || len(bytes.Trim(zeros, "0")) > 0 || len(zeros) == 3 && len(digits) <= 3 {
		return form
	}
	return whole
}

// null tells whether a form says that there is no id: it has no letter and no
// digit, or is what programs write for nothing.
func null(form []byte) bool {
	switch string(bytes.ToUpper(form)) {
	case "NAN", "NA", "N/A", "#N/A", "<NA>", "NAT", "NONE", "NULL", "NIL":
		return true
	}
	return !bytes.ContainsFunc(form, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func allDigits(form []byte) bool {
	for _, c := range form {
		if !isDigit(c) {
			return false
		}
	}
	return len(form) > 0
}

// withoutZeros leaves out zeros in front of digits, behind a sign too: a number
// has no width. The sign goes with what is no zero.
func withoutZeros(form []byte) []byte {
	rest := bytes.TrimPrefix(form, []byte("-"))
	if !allDigits(rest) || len(rest) < 2 && rest[0] != '0' || rest[0] != '0' {
		return form
	}
	rest = bytes.TrimLeft(rest, "0")
	if len(rest) == 0 {
		return form[len(form)-1:] // -0 and 000 are 0
	}
	if len(rest) == len(form) || form[0] != '-' {
		return rest
	}
	return append([]byte{'-'}, rest...)
}

// written writes out a whole number with an exponent as programs write it, with a
// point or a sign: 1.5E+3. 15E2 is an id of letters and digits.
func written(form []byte) (out []byte, ok bool) {
	mantissa, power, exponent := bytes.Cut(bytes.ToUpper(form), []byte("E"))
	if !exponent || bytes.IndexByte(mantissa, '.') < 0 && !bytes.HasPrefix(power, []byte("+")) {
		return nil, false
	}
	shift, err := strconv.Atoi(string(power))
	whole, part, _ := bytes.Cut(mantissa, []byte("."))
	part = bytes.TrimRight(part, "0")
	if err != nil || !allDigits(bytes.TrimPrefix(whole, []byte("-"))) || len(part) > 0 && !allDigits(part) || shift < len(part) ||
		shift > longest {
		return nil, false
	}
	out = slices.Concat(whole, part)
	for range shift - len(part) {
		out = append(out, '0')
	}
	return out, true
}

// A Set holds ids, each with its row in a list. It stores 64-bit hashes: with a million ids and a hundred million
// patients, a confusion has a probability of one in 200,000. When all ids are added, Find may be called by several
// goroutines.
type Set struct {
	hash    func([]byte) uint64
	members []Member
	at      map[uint64][]int32 // by Member.Key
	near    map[uint64][]int32 // by Member.Core
}

// A Member is an id of a set.
type Member struct {
	Row    int64  `json:"-"`
	Number bool   `json:"number,omitempty"`
	Key    uint64 `json:"key"` // hashes
	Form   uint64 `json:"form"`

	// Hashes of the digits, and of the letters before and behind them; 0 if there are none: see Alike.
	Core   uint64 `json:"core,omitempty"`
	Before uint64 `json:"before,omitempty"`
	Behind uint64 `json:"behind,omitempty"`
}

// NewSet returns an empty set that uses the hash function hash.
func NewSet(hash func([]byte) uint64) *Set {
	return &Set{hash: hash, members: []Member{}, at: map[uint64][]int32{}, near: map[uint64][]int32{}}
}

// Add adds the form of an id with its row.
func (s *Set) Add(form []byte, row int64) {
	m := Member{Row: row, Number: isNumber(form), Key: s.hash(Key(form)), Form: s.hash(form)}
	m.Core, m.Before, m.Behind = s.digits(form)
	s.Put(m)
}

// digits returns the hashes of the digits of a form and of the letters around them; 0 for
// what there is none of.
func (s *Set) digits(form []byte) (core, before, behind uint64) {
	a, b, c := split(form)
	sum := func(part []byte) uint64 {
		if len(part) == 0 {
			return 0
		}
		return s.hash(part)
	}
	return sum(b), sum(a), sum(c)
}

// Put adds a member of another set with the same hash function.
func (s *Set) Put(m Member) {
	k := int32(len(s.members))
	s.at[m.Key] = append(s.at[m.Key], k)
	if m.Core != 0 {
		s.near[m.Core] = append(s.near[m.Core], k)
	}
	s.members = append(s.members, m)
}

// Members returns all members, in the order in which they were added.
func (s *Set) Members() []Member {
	if s == nil {
		return nil
	}
	return s.members
}

// Without returns a copy of the set without the patient of a form.
func (s *Set) Without(form []byte) *Set {
	gone := map[int]bool{}
	s.Each(form, func(k int) { gone[k] = true })
	rest := NewSet(s.hash)
	for k, m := range s.members {
		if !gone[k] {
			rest.Put(m)
		}
	}
	return rest
}

// Has reports whether the patient of a form, or of any of several joined forms, is in the set. A nil set is empty.
func (s *Set) Has(forms []byte) bool {
	found := false
	s.Each(forms, func(int) { found = true })
	return found
}

// Each calls do with the index of each member that is the patient of a form, or of any of several joined forms.
func (s *Set) Each(forms []byte, do func(member int)) {
	if s == nil || len(s.members) == 0 {
		return
	}
	Each(forms, func(form []byte) bool {
		for _, k := range s.at[s.hash(Key(form))] {
			if m := &s.members[k]; m.Number || isNumber(form) || m.Form == s.hash(form) {
				do(int(k))
			}
		}
		return false
	})
}

// Alike reports whether a form, or any of several joined forms, may be another spelling of a member's id: the digits
// are the same except for leading zeros, and so are the letters before and after them, unless one of the two has none
// there.
func (s *Set) Alike(forms []byte) bool {
	if s == nil || len(s.members) == 0 {
		return false
	}
	return Each(forms, func(form []byte) bool {
		core, before, behind := s.digits(form)
		return core != 0 && slices.ContainsFunc(s.near[core], func(k int32) bool {
			m := &s.members[k]
			return fits(m.Before, before) && fits(m.Behind, behind)
		})
	})
}

func fits(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// split divides the letters and digits of a form into the letters before its first digit, what
// stands from there to its last digit without zeros in front, and the letters behind.
func split(form []byte) (before, core, behind []byte) {
	all := letters(form)
	first, last := bytes.IndexAny(all, "0123456789"), bytes.LastIndexAny(all, "0123456789")
	if first < 0 {
		return nil, nil, nil
	}
	return all[:first], bytes.TrimLeft(all[first:last+1], "0"), all[last+1:]
}

// Near reports whether two ids look like spellings of one: they differ only in leading zeros or punctuation, or by one
// character too many, too few, wrong or swapped with its neighbour.
func Near(a, b []byte) bool {
	a, b = bones(a), bones(b)
	return len(a) > 0 && len(b) > 0 && (bytes.Equal(a, b) || oneEdit(a, b))
}

// bones returns the letters and digits of a form, without zeros in front.
func bones(form []byte) []byte { return bytes.TrimLeft(letters(form), "0") }

// letters returns the letters and digits of a form, in capitals.
func letters(form []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToUpper(c)
		}
		return -1
	}, form)
}

func oneEdit(a, b []byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return bytes.Equal(a[i:], b[i+1:])
	}
	if i == len(a) || bytes.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && bytes.Equal(a[i+2:], b[i+2:])
}
