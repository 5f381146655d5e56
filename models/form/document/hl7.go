package document

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// HL7 v2 (2.3 to 2.8). The table hl7.txt says of what type a field is, and what the
// components of a type hold. What it calls a code, a number or the time of an event stays,
// if it is written as one; all else is looked at.

// hl7Table is the content of hl7.txt.
type hl7Table struct {
	types  map[string][]string // by the name of a type: what its components hold
	fields map[string][]string // by the name of a segment: the types of its fields
}

//go:embed hl7.txt
var hl7Text string

var hl7Standard = sync.OnceValue(func() *hl7Table {
	t := &hl7Table{map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(hl7Text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		into := t.fields
		if words[0] == "type" {
			into, words = t.types, words[1:]
		}
		var row []string
		for _, word := range words[1:] {
			word, times, _ := strings.Cut(word, "*")
			n, _ := strconv.Atoi(times)
			row = append(row, slices.Repeat([]string{word}, max(n, 1))...)
		}
		for name := range strings.SplitSeq(words[0], "/") {
			into[name] = row
		}
	}
	return t
})

// field returns the kinds of the components of a field; nil if nobody knows.
func (t *hl7Table) field(segment string, number int) []string {
	if row := t.fields[segment]; number <= len(row) {
		return t.types[row[number-1]]
	}
	return nil
}

// hl7Persons says whose names and addresses a segment has.
var hl7Persons = names("hl7-persons")

// hl7Number is how a number, a time of day or a range of numbers is written.
var hl7Number = regexp.MustCompile(`^[-+<>=~ ]*[0-9]+[-+0-9.,:/eE ]*%?$`)

// hl7Date is a date or a time of a message.
var hl7Date = regexp.MustCompile(`^[0-9]{4}([0-9]{2}([0-9]{2}([0-9]{2}([0-9]{2}([0-9]{2}(\.[0-9]{1,4})?)?)?)?)?)?([+-][0-9]{4})?$`)

// message walks over a message.
type message struct {
	*Document
	all                                                source
	field, component, repetition, escape, subcomponent byte
	signs                                              []byte // all of them
	text                                               script
	at                                                 string      // name of the current segment
	observed                                           string      // its type of observation, OBX-2
	patient                                            [3][][]byte // ids in PID-2, PID-3 and PID-4
}

func (d *Document) hl7() pipeline.Reason {
	src := d.layers[0].src
	if len(src) < 8 || !bytes.HasPrefix(src, []byte("MSH")) {
		return pipeline.BadRow
	}
	m := &message{Document: d, signs: bytes.Clone(src[3:8]), field: src[3], component: src[4], repetition: src[5], escape: src[6],
		subcomponent: src[7]}
	if m.subcomponent == m.field { // three signs only
		m.signs, m.subcomponent = m.signs[:4], 0
	}
	if !signs(src[3:7]) {
		return pipeline.BadRow
	}
	charset := ""
	if !d.o.UTF8 {
		charset = hl7Charset(src, m.field, m.repetition)
	}
	text, back, ok := decoded(src, charset, false)
	if !ok {
		return pipeline.BadEncoding
	}
	d.layers[0] = layer{src: text, encode: back}
	m.all = d.whole(0)
	m.text = script{m.unescape, m.quote}
	if head, _, _ := bytes.Cut(bytes.ReplaceAll(text, []byte("\n"), []byte("\r")), []byte("\r")); bytes.Contains(head,
		[]byte{'P', 'I', 'D', m.field}) {
		return pipeline.BadRow // its line ends were lost
	}
	for at := 0; at < len(text); {
		end := at + len(text[at:])
		if n := bytes.IndexAny(text[at:], "\r\n"); n >= 0 {
			end = at + n
		}
		if reason := m.segment(at, end); reason != pipeline.Sound {
			return reason
		}
		at = end + 1
	}
	for _, number := range []int{3, 2, 4} {
		for _, id := range m.patient[number-2] {
			d.about(id)
		}
	}
	return pipeline.Sound
}

// identify takes the ids of the patient from PID-2, PID-3 or PID-4: the first component of each
// repetition.
func (m *message) identify(number int, field []byte) {
	for _, one := range bytes.Split(field, []byte{m.repetition}) {
		id := m.first(one)
		m.patient[number-2] = append(m.patient[number-2], id)
	}
}

// signs tells whether the separators of a message are signs, each another.
func signs(all []byte) bool {
	for i, c := range all {
		if c <= ' ' || c >= utf8.RuneSelf || c == '.' || nameByte(c) && c != '-' && c != '_' || bytes.IndexByte(all[:i], c) >= 0 {
			return false
		}
	}
	return true
}

// nameByte tells whether a byte may stand in a name.
func nameByte(c byte) bool {
	return cut.IsAlnum(c) || c >= utf8.RuneSelf || strings.IndexByte("_:-.", c) >= 0
}

// hl7Charset returns the first repetition of MSH-18.
func hl7Charset(src []byte, field, repetition byte) string {
	line := src
	if n := bytes.IndexAny(line, "\r\n"); n >= 0 {
		line = line[:n]
	}
	fields := bytes.Split(line, []byte{field})
	if len(fields) < 18 {
		return ""
	}
	name, _, _ := bytes.Cut(fields[17], []byte{repetition})
	switch text := strings.ToLower(strings.TrimSpace(string(name))); text {
	case "unicode utf-8", "unicode":
		return "utf-8"
	default:
		return text
	}
}

// segment reads the fields of a segment.
func (m *message) segment(at, end int) pipeline.Reason {
	line := m.all.text[at:end]
	if len(bytes.TrimSpace(line)) == 0 {
		return pipeline.Sound
	}
	if len(line) < 3 || len(line) > 3 && line[3] != m.field {
		return pipeline.BadRow
	}
	number := 0 // of the field
	if m.at = string(line[:3]); m.at == "MSH" {
		number++ // the separator is the first
	}
	m.observed = ""
	for from := 0; from <= len(line); number++ {
		to := len(line)
		if n := bytes.IndexByte(line[from:], m.field); n >= 0 {
			to = from + n
		}
		if value := line[from:to]; number > 0 && len(value) > 0 && string(value) != `""` {
			s, _ := m.all.within(at+from, at+to, script{})
			if reason := m.value(number, s); reason != pipeline.Sound {
				return reason
			}
		}
		from = to + 1
	}
	return pipeline.Sound
}

// value reads a field.
func (m *message) value(number int, s source) pipeline.Reason {
	switch place := m.at + strconv.Itoa(number); place {
	case "MSH10", "TXA12":
		m.identified(s)
		return pipeline.Sound
	case "MSH1", "MSH2":
		return pipeline.Sound
	case "OBX2":
		m.observed = string(s.text)
	case "OBX5":
		return m.observation(s)
	case "NTE3":
		m.words(s)
		return pipeline.Sound
	case "PID2", "PID3", "PID4":
		m.identify(number, s.text)
	}
	m.parts(s, hl7Standard().field(m.at, number))
	return pipeline.Sound
}

// identified takes the id of the message: that of the document, or else the control id.
func (m *message) identified(s source) {
	if m.at == "TXA" || m.ID == nil {
		m.ID = m.first(s.text)
	}
}

// first is the first component of the first repetition.
func (m *message) first(field []byte) []byte {
	text, _, _ := m.unescape(m.upTo(m.upTo(m.upTo(field, m.repetition), m.component), m.subcomponent))
	return bytes.Clone(text)
}

// observation reads OBX-5, by the type that OBX-2 gave.
func (m *message) observation(s source) pipeline.Reason {
	switch m.observed {
	case "ED":
		return m.enclosed(s)
	case "RP":
		return pipeline.Unreadable // it stands elsewhere
	case "TX", "FT", "ST", "":
		m.words(s)
	default:
		m.parts(s, hl7Standard().types[m.observed])
	}
	return pipeline.Sound
}

// enclosed reads encapsulated data: source, type, subtype, encoding, data.
func (m *message) enclosed(s source) pipeline.Reason {
	parts := bytes.SplitN(s.text, []byte{m.component}, 5)
	if len(parts) < 5 {
		return pipeline.BadRow
	}
	kind, sub := strings.ToLower(string(parts[1])), strings.ToLower(string(parts[2]))
	contentType := kind + "/" + sub
	switch {
	case kind == "text" && sub == "", kind == "tx", kind == "ft":
		contentType = "text/plain"
	case strings.Contains(kind, "/"):
		contentType = kind
	}
	inner, _ := s.within(len(s.text)-len(parts[4]), len(s.text), script{})
	switch strings.ToLower(string(parts[3])) {
	case "base64":
		data, encode, ok := fromBase64(inner.text)
		if !ok {
			return pipeline.BadEncoding
		}
		m.apart('\n')
		reason := m.content(&inner, data, encode, contentType)
		m.apart('\n')
		return reason
	case "a", "":
		if !strings.HasPrefix(contentType, "text/") {
			return pipeline.Unreadable
		}
		m.words(inner)
		return pipeline.Sound
	}
	return pipeline.Unreadable
}

// words adds a field as text.
func (m *message) words(s source) {
	inner, _ := s.within(0, len(s.text), m.text)
	m.look(inner)
	m.apart('\n')
}

// look adds a text to be examined, or a name that stands alone.
func (m *message) look(s source) {
	if named(s.text) {
		m.add(s, likeName, nil)
	} else {
		m.add(s, Words, nil)
	}
}

// parts adds what the components of a field hold, by the words of the table. A repetition
// that has more components than its type is of no type.
func (m *message) parts(s source, holds []string) {
	for at := 0; at <= len(s.text); {
		end := at + len(m.upTo(s.text[at:], m.repetition))
		known := bytes.Count(s.text[at:end], []byte{m.component}) < len(holds)
		for from, component := at, 0; from <= end; component++ {
			to := from + len(m.upTo(s.text[from:end], m.component))
			hold := "?"
			if known {
				hold = holds[component]
			}
			for from <= to {
				part := m.upTo(s.text[from:to], m.subcomponent)
				if len(bytes.TrimSpace(part)) > 0 && string(part) != `""` {
					inner, _ := s.within(from, from+len(part), m.text)
					m.part(inner, hold)
					m.apart(' ')
				}
				from += len(part) + 1
			}
		}
		at = end + 1
		m.apart('\n')
	}
}

// upTo is text up to a sign, all of it if it has none.
func (m *message) upTo(text []byte, sign byte) []byte {
	if n := bytes.IndexByte(text, sign); n >= 0 && sign != 0 {
		return text[:n]
	}
	return text
}

// part adds a component, or keeps it.
func (m *message) part(s source, hold string) {
	text := bytes.TrimSpace(s.text)
	empty := &typed{start: s.raw(0), end: s.raw(len(s.text))} // what means: unknown
	switch {
	case hold == "system", hold == "code" && !named(text) && bytes.IndexByte(text, ' ') < 0:
		m.keep(s, nil)
	case hold == "number" && hl7Number.Match(text):
		empty.valid = hl7Number.Match
		m.keep(s, empty)
	case (hold == "birth" || hold == "?" && len(text) >= 8) && hl7Date.Match(text):
		empty.valid = hl7Date.Match
		m.add(s, Date, empty)
	case hold == "event" && hl7Date.Match(text):
		empty.valid = hl7Date.Match
		if len(text) < 8 {
			m.keep(s, empty)
		} else {
			m.add(s, EventDate, empty)
		}
	case hold == "words", hold == "code":
		m.look(s)
	case kindOf(hold) == Words:
		m.suspect(s, text)
	default:
		m.person(s, kindOf(hold), text)
	}
}

// person adds a component that the standard gives to somebody.
func (m *message) person(s source, kind Kind, text []byte) {
	whose, about := hl7Persons[m.at]
	switch {
	case kind == StaffName && about:
		kind = whose
	case kind == institution && about:
		kind = Address
	case kind == StaffID && !bytes.ContainsAny(text, "0123456789"): // older versions have the name there
		kind = StaffName
	}
	m.add(s, kind, nil)
}

// suspect adds a component of unknown meaning. It is a name if all its words are capitalized letters, and an identifier
// if it has five or more digits.
func (m *message) suspect(s source, text []byte) {
	digits, names, words := 0, 0, 0
	for word := range bytes.FieldsSeq(text) {
		words++
		if r, _ := utf8.DecodeRune(word); unicode.IsUpper(r) && !bytes.ContainsFunc(word,
			func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' && r != '.' }) {
			names++
		}
	}
	for _, c := range text {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	switch {
	case utf8.RuneCount(text) < 3:
		m.keep(s, nil)
	case words <= 5 && names == words || named(text):
		m.add(s, likeName, nil)
	case words == 1 && digits > 4:
		m.add(s, likeID, nil)
	default:
		m.add(s, Words, nil)
	}
}

// unescape is script.decode: section 2.7 of the standard. A repetition is a line.
func (m *message) unescape(raw []byte) (text []byte, from []int32, ok bool) {
	return decodedBy(raw, m.escaped)
}

// escaped decodes an escape sequence. A locally defined one, and an escape character that begins none, are examined as
// they are.
func (m *message) escaped(raw []byte) (says string, size int, ok bool) {
	if raw[0] == m.repetition {
		return "\n", 1, true
	}
	n := bytes.IndexByte(raw[1:], m.escape)
	if raw[0] != m.escape || n < 1 || n > 100 {
		return "", 0, true
	}
	name := string(raw[1 : 1+n])
	switch sign := strings.Index(signNames[:len(m.signs)], name); {
	case sign >= 0 && n == 1:
		says = string(m.signs[sign : sign+1])
	case name == "H" || name == "N":
	case name[0] == '.':
		says = "\n"
	default:
		data, err := hex.DecodeString(name[1:])
		if name[0] != 'X' || err != nil {
			return "", 0, true
		}
		says = string(data)
	}
	return says, n + 2, true
}

// quote is script.quote.
func (m *message) quote(dst, text []byte) []byte {
	for _, c := range text {
		switch sign := bytes.IndexByte(m.signs, c); {
		case sign >= 0:
			dst = append(dst, m.escape, signNames[sign], m.escape)
		case c == '\n':
			dst = append(dst, m.escape, '.', 'b', 'r', m.escape)
		case c != '\r':
			dst = append(dst, c)
		}
	}
	return dst
}

// signNames are the letters of message.signs in escape sequences.
const signNames = "FSRET"
