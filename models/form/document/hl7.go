package document

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// HL7 v2 (2.3 to 2.8, chapters 2, 3, 4, 6, 7 and 9). A segment is read by the table
// below: what it gives to a person is a field, what it does not name stays in the
// segments that it has, and is text in all others.

// hl7Fields are the fields of persons, by segment.
var hl7Fields = map[string]map[int]Kind{}

func init() {
	kinds := map[string]Kind{"words": Words, "name": PatientName, "relative": RelativeName, "staff": StaffName, "address": Address, "phone": Phone, "id": PatientID, "date": Date}
	for segment, fields := range map[string]string{
		"MSH": "", "EVN": "staff 5", "MSA": "words 3", "FHS": "", "BHS": "", "PV2": "staff 13;address 23;words 12", "SFT": "", "UAC": "",
		"PID": "id 2 3 4 18 19 20 21;name 5 6 9;date 7 29;address 11 12 23;phone 13 14 40",
		"PD1": "address 3;staff 4", "MRG": "id 1 2 3 4 5 6;name 7",
		"NK1": "relative 2 26 30;address 4 13 32;phone 5 6 31 40 41;id 12 33 37;date 16",
		"PV1": "address 3 6 11 42 43;staff 7 8 9 17 52;id 5 19 50",
		"IN1": "words 4;address 5 19 44;name 6 16 30;phone 7;id 8 36 49;date 18;address 9 11", "IN2": "id 1 2 6 8 61;name 7 9 22 40 52;phone 58 63;address 3",
		"GT1": "id 2 10 12 19;relative 3 4 42 45;address 5 16 17 21;phone 6 7 18 46;date 8",
		"ORC": "id 2 3 4;staff 10 11 12 19;phone 14 23;address 13 21 22 24;words 16 30", "OBR": "id 2 3;staff 10 16 28 32 33 34 35;phone 17;words 13 31 39 46;address 40",
		"OBX": "staff 16 25;address 23 24", "TXA": "staff 5 9 10 11 22 23", "NTE": "words 3;staff 5", "SPM": "words 14;id 2", "TQ1": "words 9 10 11",
		"STF": "id 2;staff 3;date 6;phone 10;address 11", "PRD": "staff 2;address 3 4;phone 5", "ROL": "staff 4;address 11;phone 12", "CTD": "staff 2;address 3 4;phone 5",
	} {
		hl7Fields[segment] = map[int]Kind{}
		for part := range strings.SplitSeq(fields, ";") {
			name, numbers, _ := strings.Cut(part, " ")
			for number := range strings.FieldsSeq(numbers) {
				n, _ := strconv.Atoi(number)
				hl7Fields[segment][n] = kinds[name]
			}
		}
	}
}

// hl7Parts are the components that hold what a kind is about; the others are codes, or
// words as titles are.
var hl7Parts = map[Kind][]int{
	PatientName: {1, 2, 3}, RelativeName: {1, 2, 3}, StaffName: {2, 3, 4}, Address: {1, 2, 3, 4, 5, 8, 9, 10}, Phone: {1, 4, 6, 7, 8, 9, 12}, PatientID: {1}, Date: {1}, EventDate: {1},
}

// hl7Codes are segments about messages: what the table does not name in them stays. In
// others it is looked at as text, if it has a word.
const hl7Codes = "MSH FHS BHS EVN MSA SFT UAC"

// hl7Types are what OBX-5 holds, by the type that OBX-2 says; Kinds: it stays.
var hl7Types = map[string]Kind{
	"NM": Kinds, "SN": Kinds, "DT": Kinds, "TM": Kinds, "TS": Kinds, "DTM": Kinds, "SI": Kinds, "ID": Kinds, "IS": Kinds, "MO": Kinds, "CP": Kinds, "NR": Kinds,
	"XPN": PatientName, "PN": PatientName, "XCN": StaffName, "CN": StaffName, "PPN": StaffName, "XAD": Address, "AD": Address, "XON": Address, "PL": Address,
	"XTN": Phone, "TN": Phone, "CX": PatientID, "CK": PatientID,
}

// hl7Date is a date or a time of a message.
var hl7Date = regexp.MustCompile(`^[0-9]{4}([0-9]{2}([0-9]{2}([0-9]{2}([0-9]{2}([0-9]{2}(\.[0-9]{1,4})?)?)?)?)?)?([+-][0-9]{4})?$`)

// message walks over a message.
type message struct {
	*Document
	all                                              source
	field, component, repetition, escape, subcomment byte
	text                                             script
	observed                                         string // OBX-2 of the segment at hand
	patient                                          []byte
}

func (d *Document) hl7() pipeline.Reason {
	src := d.layers[0].src
	if len(src) < 8 || !bytes.HasPrefix(src, []byte("MSH")) {
		return pipeline.BadRow
	}
	m := &message{Document: d, field: src[3], component: src[4], repetition: src[5], escape: src[6], subcomment: src[7]}
	if m.subcomment == m.field { // three signs only
		m.subcomment = 0
	}
	if !signs(src[3:7]) {
		return pipeline.BadRow
	}
	charset := hl7Charset(src, m.field, m.repetition)
	text, back, ok := decoded(src, charset, false)
	if !ok {
		return pipeline.BadEncoding
	}
	d.layers[0] = layer{src: text, encode: back}
	m.all = d.whole(0)
	m.text = script{m.unescape, m.quote}
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
	d.Patient = m.patient
	return pipeline.Sound
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

// hl7Charset is what MSH-18 says, the first of its repetitions.
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
	name := string(line[:3])
	kinds := hl7Fields[name]
	number := 0 // of the field
	if name == "MSH" {
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
			kind, ours := kinds[number]
			if reason := m.value(name, number, s, kind, ours); reason != pipeline.Sound {
				return reason
			}
		}
		from = to + 1
	}
	return pipeline.Sound
}

// value reads a field. ours says that the table names its kind.
func (m *message) value(segment string, number int, s source, kind Kind, ours bool) pipeline.Reason {
	switch {
	case segment == "MSH" && number == 10, segment == "TXA" && number == 12:
		m.identified(segment, s)
	case segment == "MSH" && number == 2:
		return pipeline.Sound
	case segment == "OBX" && number == 2:
		m.observed = string(s.text)
	case segment == "OBX" && number == 5:
		return m.observation(s)
	case !ours && len(s.text) >= 8 && hl7Date.Match(s.text):
		m.parts(s, EventDate)
	case !ours && strings.Contains(hl7Codes, segment):
	case !ours:
		m.parts(s, Words)
	case kind == Words:
		m.words(s)
	default:
		if segment == "PID" && (number == 3 || number == 2 && m.patient == nil) {
			first, _ := m.first(s.text)
			m.patient = first
		}
		m.parts(s, kind)
	}
	return pipeline.Sound
}

// identified takes the id of the message: that of the document, or else the control id.
func (m *message) identified(segment string, s source) {
	first, n := m.first(s.text)
	if segment == "TXA" || m.ID == nil {
		m.ID = first
	}
	s, _ = s.within(0, n, script{})
	m.named(s)
}

// first is the first component of the first repetition, and its bytes.
func (m *message) first(field []byte) (text []byte, size int) {
	n := bytes.IndexFunc(field, func(r rune) bool { return r == rune(m.component) || r == rune(m.repetition) || r == rune(m.subcomment) })
	if n < 0 {
		n = len(field)
	}
	text, _, _ = m.unescape(field[:n])
	return bytes.Clone(text), n
}

// observation reads OBX-5, by the type that OBX-2 gave.
func (m *message) observation(s source) pipeline.Reason {
	kind, known := hl7Types[m.observed]
	switch {
	case m.observed == "ED":
		return m.enclosed(s)
	case m.observed == "RP":
		return pipeline.Unreadable // it stands elsewhere
	case kind == Kinds:
		if hl7Date.Match(s.text) && len(s.text) >= 8 {
			m.parts(s, EventDate)
		}
	case known:
		m.parts(s, kind)
	case m.observed == "TX" || m.observed == "FT" || m.observed == "ST" || m.observed == "":
		m.words(s)
	default:
		m.parts(s, Words)
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
	m.add(inner, Words, nil)
	m.apart('\n')
}

// parts adds what the components of a field hold of a person.
func (m *message) parts(s source, kind Kind) {
	component, from := 1, 0
	for i := 0; i <= len(s.text); i++ {
		if i < len(s.text) && s.text[i] != m.component && s.text[i] != m.repetition && (s.text[i] != m.subcomment || m.subcomment == 0) {
			continue
		}
		if k := partKind(kind, component); i > from && (k != Words || wordy(s.text[from:i])) {
			m.part(s, from, i, k)
		}
		from = i + 1
		switch {
		case i == len(s.text):
		case s.text[i] == m.component:
			component++
		case s.text[i] == m.repetition:
			component = 1
			m.apart('\n')
		}
	}
	m.apart('\n')
}

// partKind is what a component of a field of a kind holds.
func partKind(kind Kind, component int) Kind {
	switch {
	case kind == StaffName && component == 1:
		return StaffID
	case slices.Contains(hl7Parts[kind], component):
		return kind
	}
	return Words
}

// wordy tells whether a component has a word, and is no code.
func wordy(text []byte) bool {
	letters, small := 0, false
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
			small = true
			letters++
		case c >= 'A' && c <= 'Z':
			letters++
		case c == ' ' && letters > 1:
			return true
		default:
			letters, small = 0, false
		}
		if small && letters >= 4 {
			return true
		}
	}
	return false
}

func (m *message) part(s source, from, to int, kind Kind) {
	inner, _ := s.within(from, to, m.text)
	if kind == StaffID && bytes.IndexFunc(inner.text, func(r rune) bool { return r >= '0' && r <= '9' }) < 0 {
		kind = StaffName // older versions have the name there
	}
	var t *typed
	if kind == Date || kind == EventDate {
		t = &typed{valid: hl7Date.Match, start: inner.raw(0), end: inner.raw(len(inner.text))} // empty: unknown
	}
	m.add(inner, kind, t)
	m.apart(' ')
}

// unescape is script.decode: section 2.7 of the standard. A repetition is a line.
func (m *message) unescape(raw []byte) (text []byte, from []int32, ok bool) {
	if bytes.IndexByte(raw, m.escape) < 0 && bytes.IndexByte(raw, m.repetition) < 0 {
		return raw, nil, true
	}
	for i := 0; i < len(raw); {
		at, size := i, 1
		switch {
		case raw[i] == m.repetition:
			text = append(text, '\n')
		case raw[i] == m.escape:
			size = len(m.appendEscape(&text, raw[i:]))
		default:
			text = append(text, raw[i])
		}
		for len(from) < len(text) {
			from = append(from, int32(at))
		}
		i += size
	}
	return text, append(from, int32(len(raw))), true
}

// appendEscape appends what an escape sequence says and returns its bytes. A sign that
// begins none is itself.
func (m *message) appendEscape(text *[]byte, raw []byte) []byte {
	n := bytes.IndexByte(raw[1:], m.escape)
	if n < 1 || n > 100 {
		*text = append(*text, raw[0])
		return raw[:1]
	}
	name := string(raw[1 : 1+n])
	signs := map[string]byte{"F": m.field, "S": m.component, "R": m.repetition, "E": m.escape, "T": m.subcomment}
	sign, is := signs[name]
	switch {
	case is:
		*text = append(*text, sign)
	case name == "H" || name == "N":
	case name[0] == '.':
		*text = append(*text, '\n')
	case name[0] == 'X' && len(name)%2 == 1 && hexOf([]byte(name[1:])) >= 0:
		for i := 1; i < len(name); i += 2 {
			*text = append(*text, byte(hexOf([]byte(name[i:i+2]))))
		}
	default: // of the house: looked at as it is
		*text = append(*text, raw[0])
		return raw[:1]
	}
	return raw[:n+2]
}

// quote is script.quote.
func (m *message) quote(dst, text []byte) []byte {
	for _, c := range text {
		name := ""
		switch c {
		case m.field:
			name = "F"
		case m.component:
			name = "S"
		case m.repetition:
			name = "R"
		case m.escape:
			name = "E"
		case m.subcomment:
			name = "T"
		case '\n':
			name = ".br"
		case '\r':
			continue
		}
		if name == "" {
			dst = append(dst, c)
			continue
		}
		dst = append(append(append(dst, m.escape), name...), m.escape)
	}
	return dst
}
