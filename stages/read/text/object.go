package text

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/velum-health/velum/stages/read/input"
)

// object is the members of a JSON object, in their order; of two of one name the last counts.
type object []member

// member has the name of a member and its value as the JSON that it is.
type member struct{ name, value []byte }

// get returns the value of a member as JSON; nil: there is none.
func (o object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if string(m.name) == name {
			return m.value
		}
	}
	return nil
}

// names returns the names of the members, sorted, as they may stand in a log line.
func (o object) names() (all []string) {
	for _, m := range o {
		all = append(all, input.PlainColumn(string(m.name)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parse cuts an object into its members, which are pieces of data. What is not plain goes through the library: names with
// escapes, and all that is no JSON, of which the library says where.
func (o *object) parse(data []byte) error {
	*o = (*o)[:0]
	if o.cut(data) {
		return nil
	}
	*o = (*o)[:0]
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	for name, value := range fields {
		*o = append(*o, member{[]byte(name), value})
	}
	return err
}

// cut does it in one pass; false: the object is not plain.
func (o *object) cut(data []byte) bool {
	s := scan{data, 0}
	if !s.sign('{') {
		return false
	}
	for more := !s.sign('}'); more; more = s.sign(',') {
		s.blanks()
		name, ok := s.value()
		if !ok || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) || !s.sign(':') {
			return false
		}
		s.blanks()
		value, ok := s.value()
		if !ok {
			return false
		}
		*o = append(*o, member{name[1 : len(name)-1], value})
	}
	if len(*o) > 0 && !s.sign('}') {
		return false
	}
	s.blanks()
	return s.at == len(data)
}

// scan reads JSON from a place on.
type scan struct {
	data []byte
	at   int
}

func (s *scan) blanks() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t' || s.data[s.at] == '\r' || s.data[s.at] == '\n') {
		s.at++
	}
}

// sign goes over one sign, and the blanks before it, if it is there.
func (s *scan) sign(c byte) bool {
	s.blanks()
	there := s.at < len(s.data) && s.data[s.at] == c
	if there {
		s.at++
	}
	return there
}

// value goes over the value that begins here. It is sound if ok.
func (s *scan) value() (value []byte, ok bool) {
	from, depth := s.at, 0
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			if !s.text() {
				return nil, false
			}
			if depth == 0 {
				return s.data[from:s.at], s.data[from] == '"'
			}
			continue
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c <= ' '):
			value = s.data[from:s.at]
			return value, json.Valid(value)
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				s.at++
				value = s.data[from:s.at]
				return value, json.Valid(value)
			}
		}
		s.at++
	}
	return nil, false
}

// text goes over a string, whose first quote is here.
func (s *scan) text() bool {
	for at := s.at + 1; at < len(s.data); at++ {
		switch c := s.data[at]; {
		case c == '"':
			s.at = at + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			at++
			if at == len(s.data) || unescaped[s.data[at]] == 0 && (s.data[at] != 'u' || unit(s.data[at+1:]) < 0) {
				return false
			}
		}
	}
	return false
}

// unescaped are the characters that escapes of one letter stand for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit is the unit of UTF-16 that four hexadecimal digits write; -1: they are none.
func unit(digits []byte) rune {
	if len(digits) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// appendUnquoted appends the characters of a JSON string, which is sound. What is no text, a
// byte that is no UTF-8 or half a pair of UTF-16, stays no text, so that the
// note goes to quarantine: the library would put U+FFFD in its place.
func appendUnquoted(dst []byte, raw json.RawMessage) []byte {
	first, rest := len(dst), raw[1:len(raw)-1]
	sound := utf8.Valid(rest)
	for sound {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			return append(dst, rest...)
		}
		c := rest[at+1]
		dst, rest = append(dst, rest[:at]...), rest[at+2:]
		if c != 'u' {
			dst = append(dst, unescaped[c])
			continue
		}
		r := unit(rest)
		rest = rest[4:]
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if bytes.HasPrefix(rest, []byte(`\u`)) {
				low = unit(rest[2:])
				rest = rest[6:]
			}
			r = utf16.DecodeRune(r, low)
			sound = r != utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst[:first], 0xff)
}
