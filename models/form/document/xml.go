package document

import (
	"bytes"
	"encoding/xml"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The kinds of what markup is made of.
const (
	openTag = iota
	closeTag
	emptyTag
	charData
	cdata
	comment
	aside // a processing instruction, or the doctype of HTML
)

// markup cuts XML, or HTML if lenient is set, into tags and texts. It knows no entity
// but those of characters, takes no DTD, and never looks outside the document. Whether
// XML is well formed is for wellFormed to say.
type markup struct {
	src     []byte
	at      int
	lenient bool
	raw     string // the current HTML element whose content is no markup; "": none

	kind       int
	name       string // of a tag, without its prefix
	start, end int    // of a text, without what stands around it
	attrs      []attr
}

type attr struct {
	name       string // without its prefix
	start, end int    // of the value; of the name, if there is none
	from, to   int    // of all of it
}

// enclosed are the pieces that begin and end with signs of their own.
var enclosed = []struct {
	kind       int
	begin, end string
}{{comment, "<!--", "-->"}, {cdata, "<![CDATA[", "]]>"}, {aside, "<?", "?>"}, {aside, "<!", ">"}}

// next reads the next piece; false at the end. A sign that opens no tag is text.
func (m *markup) next() bool {
	m.attrs = m.attrs[:0]
	rest := m.src[m.at:]
	if len(rest) == 0 {
		return false
	}
	if raw := m.raw; raw != "" {
		m.raw = ""
		return m.text(cdata, bytes.Index(bytes.ToLower(rest), []byte("</"+raw)))
	}
	for _, e := range enclosed {
		if !bytes.HasPrefix(rest, []byte(e.begin)) {
			continue
		}
		if n := bytes.Index(rest, []byte(e.end)); n >= len(e.begin) {
			m.kind, m.start, m.end, m.at = e.kind, m.at+len(e.begin), m.at+n, m.at+n+len(e.end)
			return true
		}
	}
	return rest[0] == '<' && m.tag(rest) || m.text(charData, bytes.IndexByte(rest[1:], '<')+1)
}

// text is the next n bytes; all that is left if there is no end.
func (m *markup) text(kind, n int) bool {
	if n < 0 || n == 0 && kind == charData {
		n = len(m.src) - m.at
	}
	m.kind, m.start, m.end = kind, m.at, m.at+n
	m.at += n
	return n > 0 || m.next()
}

// attrForm is an attribute; HTML may have one without a value, or without quotes.
var attrForm = regexp.MustCompile(`(?:[^\s"'<>/=:]*:)?([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?`)

// tag reads a tag and its attributes; false if rest begins with none.
func (m *markup) tag(rest []byte) bool {
	end, quote := 0, byte(0)
	for ; end < len(rest) && (quote != 0 || rest[end] != '>'); end++ {
		switch c := rest[end]; {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
	}
	inner, closes := bytes.CutPrefix(rest[1:min(end, len(rest))], []byte("/"))
	if end == len(rest) || len(inner) == 0 || !nameByte(inner[0]) {
		return false
	}
	name := inner
	if n := bytes.IndexAny(inner, " \t\r\n/"); n >= 0 {
		name = inner[:n]
	}
	m.kind, m.name = openTag, string(name[bytes.IndexByte(name, ':')+1:])
	switch {
	case closes:
		m.kind = closeTag
	case rest[end-1] == '/':
		m.kind = emptyTag
	}
	if m.lenient {
		if m.name = strings.ToLower(m.name); m.kind == openTag && (m.name == "script" || m.name == "style") {
			m.raw = m.name
		}
	}
	base := m.at + end - len(inner) + len(name)
	for _, x := range attrForm.FindAllSubmatchIndex(inner[len(name):], -1) {
		a := attr{name: string(m.src[base+x[2] : base+x[3]]), start: base + x[0], end: base + x[1], from: base + x[0], to: base + x[1]}
		if x[4] >= 0 {
			a.start, a.end = base+x[4], base+x[5]
			if c := m.src[a.start]; c == '"' || c == '\'' {
				a.start, a.end = a.start+1, a.end-1
			}
		}
		m.attrs = append(m.attrs, a)
	}
	m.at += end + 1
	return true
}

// wellFormed reports whether XML is well-formed, using the standard library's parser.
func wellFormed(src []byte) bool {
	p := xml.NewDecoder(bytes.NewReader(src))
	p.Entity = xml.HTMLEntity
	p.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it was read already
	for depth := 0; depth <= maxDepth; {
		token, err := p.Token()
		switch token.(type) {
		case nil:
			return err == io.EOF
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.Directive:
			return false
		}
	}
	return false
}

// attr returns an attribute of the current tag.
func (m *markup) attr(name string) (a attr, there bool) {
	i := slices.IndexFunc(m.attrs, func(a attr) bool { return a.name == name })
	if i < 0 {
		return a, false
	}
	return m.attrs[i], true
}

// value is an attribute of the current tag as its bytes; "" if it has none.
func (m *markup) value(name string) string {
	a, _ := m.attr(name)
	return string(m.src[a.start:a.end])
}

// inXML is text between tags and in attributes. What is no entity of a character stays as it is.
var inXML = script{func(raw []byte) ([]byte, []int32, bool) { return decodedBy(raw, entity) }, escapeXML}

// entity reads an entity of a character and returns its bytes; 0 if there is none.
func entity(raw []byte) (says string, size int, ok bool) {
	end := bytes.IndexByte(raw[:min(len(raw), 12)], ';')
	if raw[0] != '&' || end < 2 {
		return "", 0, true
	}
	says = html.UnescapeString(string(raw[:end+1]))
	if r, n := utf8.DecodeRuneInString(says); n < len(says) || r == utf8.RuneError {
		return "", 0, true // no entity of a character
	}
	return says, end + 1, true
}

// escapeXML is script.quote of XML.
func escapeXML(dst, text []byte) []byte { return append(dst, html.EscapeString(string(text))...) }

// unmarked is text in which a sign means itself: in CDATA, comments and scripts.
var unmarked = script{quote: func(dst, text []byte) []byte {
	for _, c := range text {
		if c == '<' || c == '>' { // of which their ends are made
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}}

// Tables of element names from names.txt for the narrative text in XML.
var (
	htmlInline = names("html-inline")
	htmlShown  = names("html-shown")
)

// narrative adds the text of XHTML or HTML. It returns false if it is broken.
func (d *Document) narrative(s source, lenient bool) bool {
	m := markup{src: s.text, lenient: lenient}
	if !lenient && !wellFormed(m.src) {
		return false
	}
	for m.next() {
		d.shown(&s, &m)
	}
	return true
}

// shown adds a piece of a narrative.
func (d *Document) shown(s *source, m *markup) {
	switch m.kind {
	case charData, cdata, comment:
		d.chars(s, m, Words)
	case openTag, closeTag, emptyTag:
		switch {
		case m.name == "td" || m.name == "th":
			d.apart('\t')
		case htmlInline[m.name] != set:
			d.apart('\n')
		}
		for _, a := range m.attrs {
			if htmlShown[a.name] == set && bytes.ContainsAny(m.src[a.start:a.end], " @:") {
				d.attrText(s, a, Words, nil)
			} else {
				inner, _ := s.within(a.start, a.end, inXML)
				d.keep(inner, nil)
			}
		}
	}
}

// chars adds the current text.
func (d *Document) chars(s *source, m *markup, kind Kind) {
	by := inXML
	if m.kind != charData {
		by = unmarked
	}
	if len(bytes.TrimSpace(m.src[m.start:m.end])) == 0 {
		if m.start < m.end {
			d.apart(' ')
		}
		return
	}
	if m.kind == comment {
		d.apart('\n')
	}
	inner, _ := s.within(m.start, m.end, by)
	d.add(inner, kind, nil)
	if kind != Words || m.kind == comment {
		d.apart('\n')
	}
}

// attrText adds the value of an attribute.
func (d *Document) attrText(s *source, a attr, kind Kind, t *typed) {
	inner, _ := s.within(a.start, a.end, inXML)
	d.apart('\n')
	d.add(inner, kind, t)
	d.apart('\n')
}
