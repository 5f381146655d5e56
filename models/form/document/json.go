package document

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
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
	return node(json.NewDecoder(bytes.NewReader(src)), src, 0)
}

// node reads the next value of valid JSON; false if it stands too deep.
func node(d *json.Decoder, src []byte, depth int) (v value, ok bool) {
	v.start = next(d, src)
	v.from, v.kind = v.start, src[v.start]
	token, _ := d.Token()
	if _, opens := token.(json.Delim); opens {
		if depth > maxDepth {
			return v, false
		}
		for d.More() {
			from, key := next(d, src), ""
			if v.kind == '{' {
				token, _ = d.Token()
				key, _ = token.(string)
			}
			below, ok := node(d, src, depth+1)
			if !ok {
				return v, false
			}
			below.from, below.key = from, key
			v.below = append(v.below, below)
		}
		_, _ = d.Token() // its end
	}
	v.end = int(d.InputOffset())
	return v, true
}

// next is where the next token begins.
func next(d *json.Decoder, src []byte) int {
	return len(src) - len(bytes.TrimLeft(src[d.InputOffset():], " \t\r\n,:"))
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

func unquoteJSON(raw []byte) (text []byte, from []int32, ok bool) { return decodedBy(raw, escaped) }

// escaped reads an escape of valid JSON. Half a pair of UTF-16 is no text.
func escaped(raw []byte) (says string, size int, ok bool) {
	switch {
	case raw[0] != '\\':
		return "", 0, true
	case raw[1] != 'u':
		size = 2
	case len(raw) >= 12 && raw[2]|0x20 == 'd' && raw[3] >= '8' && raw[6] == '\\' && raw[7] == 'u':
		size = 12 // a pair
	default:
		size = 6
	}
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, raw[:size], []byte{'"'}), &says)
	return says, size, !strings.Contains(says, "\ufffd")
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
