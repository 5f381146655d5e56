package document

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// The kinds of what markup is made of.
const (
	noMarkup = iota
	openTag
	closeTag
	emptyTag
	charData
	cdata
	comment
	aside // a processing instruction, or the doctype of HTML
)

// markup cuts XML, or HTML if lenient is set, into tags and texts. It knows no entity
// but those of characters, takes no DTD, and never looks outside the document.
type markup struct {
	src     []byte
	at      int
	lenient bool
	raw     string // the element of HTML at hand whose content is no markup; "": none

	kind       int
	name       string // of a tag, without its prefix
	start, end int    // of a text, without what stands around it
	attrs      []attr
	open       []string // elements, with their prefixes
}

type attr struct {
	name       string // without its prefix
	start, end int    // of the value
	from, to   int    // of all of it
}

// next reads the next piece; false at the end, and where the markup is broken, which
// whole tells apart.
func (m *markup) next() bool {
	m.attrs = m.attrs[:0]
	switch {
	case m.at >= len(m.src):
		return false
	case m.raw != "":
		return m.text(bytes.Index(bytes.ToLower(m.src[m.at:]), []byte("</"+m.raw)))
	case m.src[m.at] != '<':
		return m.text(bytes.IndexByte(m.src[m.at:], '<'))
	}
	rest := m.src[m.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return m.until(comment, "<!--", "-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return m.until(cdata, "<![CDATA[", "]]>")
	case bytes.HasPrefix(rest, []byte("<?")):
		return m.until(aside, "<?", "?>")
	case bytes.HasPrefix(rest, []byte("<!")):
		return m.lenient && m.until(aside, "<!", ">")
	case bytes.HasPrefix(rest, []byte("</")):
		return m.closing()
	case len(rest) > 1 && nameByte(rest[1]):
		return m.opening()
	case m.lenient: // a sign of HTML that somebody has not escaped
		n := bytes.IndexByte(rest[1:], '<')
		if n >= 0 {
			n++
		}
		return m.text(n)
	}
	return false
}

// whole tells whether all was read, and every element was closed.
func (m *markup) whole() bool { return m.at >= len(m.src) && (m.lenient || len(m.open) == 0) }

// text is the next n bytes; all that is left if n is negative.
func (m *markup) text(n int) bool {
	if n < 0 {
		n = len(m.src) - m.at
	}
	m.kind, m.start, m.end = charData, m.at, m.at+n
	m.at += n
	if m.raw != "" {
		m.raw = ""
		m.kind = cdata // its entities are none
		if n == 0 {
			return m.next()
		}
	}
	return true
}

func (m *markup) until(kind int, begin, end string) bool {
	n := bytes.Index(m.src[m.at+len(begin):], []byte(end))
	if n < 0 {
		return false
	}
	m.kind, m.start = kind, m.at+len(begin)
	m.end = m.start + n
	m.at = m.end + len(end)
	return true
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '-' || c == '.' || c >= utf8.RuneSelf
}

// word reads a name.
func (m *markup) word() string {
	at := m.at
	for m.at < len(m.src) && nameByte(m.src[m.at]) {
		m.at++
	}
	return string(m.src[at:m.at])
}

func (m *markup) blank() {
	for m.at < len(m.src) && strings.IndexByte(" \t\r\n", m.src[m.at]) >= 0 {
		m.at++
	}
}

func (m *markup) closing() bool {
	m.at += 2
	full := m.word()
	m.kind, m.name = closeTag, local(full)
	m.blank()
	if m.at >= len(m.src) || m.src[m.at] != '>' {
		return false
	}
	m.at++
	if m.lenient {
		m.name = strings.ToLower(m.name)
		return true
	}
	n := len(m.open) - 1
	if n < 0 || m.open[n] != full {
		return false
	}
	m.open = m.open[:n]
	return true
}

// opening reads a tag and its attributes.
func (m *markup) opening() bool {
	m.at++
	full := m.word()
	m.kind, m.name = openTag, local(full)
	if m.lenient {
		m.name = strings.ToLower(m.name)
	}
	for {
		m.blank()
		switch {
		case m.at >= len(m.src):
			return false
		case m.src[m.at] == '>':
			m.at++
			return m.opened(full)
		case m.src[m.at] == '/':
			if m.at++; m.at < len(m.src) && m.src[m.at] == '>' {
				m.at++
				m.kind = emptyTag
				return true
			}
			if !m.lenient {
				return false
			}
		case !m.attribute():
			return false
		}
	}
}

func (m *markup) opened(full string) bool {
	if m.lenient {
		if m.name == "script" || m.name == "style" {
			m.raw = m.name
		}
		return true
	}
	m.open = append(m.open, full)
	return len(m.open) <= maxDepth
}

// attribute reads an attribute; HTML may have one without a value, or without quotes.
func (m *markup) attribute() bool {
	a := attr{from: m.at}
	a.name = local(m.word())
	if m.at == a.from {
		m.at++ // a sign that is no name
		return m.lenient
	}
	a.start, a.end, a.to = m.at, m.at, m.at
	m.blank()
	if m.at >= len(m.src) || m.src[m.at] != '=' {
		return m.lenient
	}
	m.at++
	m.blank()
	if m.at >= len(m.src) {
		return false
	}
	a.start = m.at
	if quote := m.src[m.at]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(m.src[m.at+1:], quote)
		if n < 0 {
			return false
		}
		a.start++
		a.end = a.start + n
		m.at = a.end + 1
	} else if !m.lenient {
		return false
	} else {
		for m.at < len(m.src) && strings.IndexByte(" \t\r\n>", m.src[m.at]) < 0 {
			m.at++
		}
		a.end = m.at
	}
	a.to = m.at
	m.attrs = append(m.attrs, a)
	return m.lenient || bytes.IndexByte(m.src[a.start:a.end], '<') < 0
}

// attr returns an attribute of the tag at hand.
func (m *markup) attr(name string) (a attr, there bool) {
	i := slices.IndexFunc(m.attrs, func(a attr) bool { return a.name == name })
	if i < 0 {
		return a, false
	}
	return m.attrs[i], true
}

// value is an attribute of the tag at hand as its bytes; "" if it has none.
func (m *markup) value(name string) string {
	a, _ := m.attr(name)
	return string(m.src[a.start:a.end])
}

// local is a name without its prefix.
func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// inXML is text between tags and in attributes.
var inXML = script{unescapeXML, escapeXML}

// unescapeXML is script.decode of XML. What is no entity of a character stays as it is.
func unescapeXML(raw []byte) (text []byte, from []int32, ok bool) {
	if bytes.IndexByte(raw, '&') < 0 {
		return raw, nil, true
	}
	for i := 0; i < len(raw); {
		at, size := i, 1
		if r, n := entity(raw[i:]); n > 0 {
			text, size = utf8.AppendRune(text, r), n
		} else {
			text = append(text, raw[i])
		}
		for len(from) < len(text) {
			from = append(from, int32(at))
		}
		i += size
	}
	return text, append(from, int32(len(raw))), true
}

// entity reads an entity of a character and returns its bytes; 0 if there is none.
func entity(raw []byte) (r rune, size int) {
	if raw[0] != '&' {
		return 0, 0
	}
	end := bytes.IndexByte(raw[:min(len(raw), 12)], ';')
	if end < 2 {
		return 0, 0
	}
	text := html.UnescapeString(string(raw[:end+1]))
	if r, size = utf8.DecodeRuneInString(text); size < len(text) || r == utf8.RuneError {
		return 0, 0 // no entity of a character
	}
	return r, end + 1
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

// The tables of names.txt that narratives are read by.
var (
	htmlInline = names("html-inline")
	htmlShown  = names("html-shown")
)

// narrative adds the text of XHTML or HTML. It returns false if it is broken.
func (d *Document) narrative(s source, lenient bool) bool {
	m := markup{src: s.text, lenient: lenient}
	for m.next() {
		d.shown(&s, &m)
	}
	return m.whole()
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

// chars adds the text at hand.
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
