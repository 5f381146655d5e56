package document

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// value is a value of JSON and where it stands.
type value struct {
	key        string
	kind       byte // { [ " or the first byte of what else it is
	start, end int  // its bytes, quotes included
	from       int  // where its member begins, with the key
	below      []value
}

// parseJSON returns the tree of a JSON document; false if it is none.
func parseJSON(src []byte) (v value, ok bool) {
	if !json.Valid(src) || !utf8.Valid(src) {
		return v, false
	}
	p := parser{src: src}
	p.blank()
	v, ok = p.value(0)
	return v, ok
}

// parser walks over valid JSON.
type parser struct {
	src []byte
	at  int
}

func (p *parser) blank() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\t' || p.src[p.at] == '\r' || p.src[p.at] == '\n') {
		p.at++
	}
}

// value reads the value at hand; false if it stands too deep.
func (p *parser) value(depth int) (v value, ok bool) {
	v = value{kind: p.src[p.at], start: p.at, from: p.at}
	switch {
	case depth > maxDepth:
		return v, false
	case v.kind == '{' || v.kind == '[':
		ok = p.inside(&v, depth)
	case v.kind == '"':
		p.string()
		ok = true
	default:
		for p.at < len(p.src) && !endsScalar(p.src[p.at]) {
			p.at++
		}
		ok = true
	}
	v.end = p.at
	return v, ok
}

func endsScalar(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// inside reads the members of an object or the elements of an array.
func (p *parser) inside(v *value, depth int) bool {
	p.at++
	for {
		p.blank()
		if c := p.src[p.at]; c == '}' || c == ']' {
			p.at++
			return true
		} else if c == ',' {
			p.at++
			continue
		}
		from, key := p.at, ""
		if v.kind == '{' {
			p.string()
			text, _, _ := unquoteJSON(p.src[from+1 : p.at-1])
			key = string(text)
			p.blank()
			p.at++ // the colon
			p.blank()
		}
		below, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		below.key, below.from = key, from
		v.below = append(v.below, below)
	}
}

func (p *parser) string() {
	for p.at++; p.src[p.at] != '"'; p.at++ {
		if p.src[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
}

// get returns a member of an object; nil if it has none of that name.
func (v *value) get(key string) *value {
	for i := range v.below {
		if v.kind == '{' && v.below[i].key == key {
			return &v.below[i]
		}
	}
	return nil
}

// inJSON is text in a JSON string, between its quotes.
var inJSON = script{unquoteJSON, quoteJSON}

// unquoteJSON is script.decode of strings. Half a pair of UTF-16 is no text.
func unquoteJSON(raw []byte) (text []byte, from []int32, ok bool) {
	text, from = make([]byte, 0, len(raw)), make([]int32, 0, len(raw)+1)
	ok = true
	for i := 0; i < len(raw); {
		at, size := i, 1
		if raw[i] != '\\' {
			text = append(text, raw[i])
		} else {
			var r rune
			r, size = escaped(raw[i:])
			if utf16.IsSurrogate(r) {
				ok = false
			}
			text = utf8.AppendRune(text, r)
		}
		for len(from) < len(text) {
			from = append(from, int32(at))
		}
		i += size
	}
	if len(text) == len(raw) {
		return text, nil, ok
	}
	return text, append(from, int32(len(raw))), ok
}

// escaped reads an escape of valid JSON and returns its bytes.
func escaped(raw []byte) (rune, int) {
	switch c := raw[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hexOf(raw[2:6])
		if utf16.IsSurrogate(r) && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if pair := utf16.DecodeRune(r, hexOf(raw[8:12])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	default:
		return rune(c), 2
	}
}

// hexOf is the number that four hexadecimal digits of valid JSON write.
func hexOf(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 16)
	return rune(n)
}

// quoteJSON is script.quote of strings.
func quoteJSON(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// fromBase64 decodes base64, with or without padding, and returns what encodes again
// as it was.
func fromBase64(text []byte) (data []byte, encode func([]byte) []byte, ok bool) {
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		data = make([]byte, e.DecodedLen(len(text)))
		if n, err := e.Decode(data, text); err == nil {
			return data[:n], func(b []byte) []byte { return e.AppendEncode(nil, b) }, true
		}
	}
	return nil, nil, false
}
