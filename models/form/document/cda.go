package document

import (
	"bytes"
	"regexp"

	"github.com/velum-health/velum/pipeline"
)

// CDA R2 (ISO/HL7 27932). Elements are read by their names below the document: names,
// addresses and identifiers of participants are fields, codes and times stay, every
// other text and every name that is shown beside a code is text.

// Tables of element names from names.txt for CDA.
var (
	cdaWhose     = names("cda-whose")
	cdaDocuments = names("cda-documents")
)

// cdaDate is a time of HL7 v3.
var cdaDate = regexp.MustCompile(`^[0-9]{4}([0-9]{2}([0-9]{2}([0-9]{2,6}(\.[0-9]+)?)?)?)?([+-][0-9]{2,4})?$`)

// clinical walks over a document.
type clinical struct {
	*Document
	all   source
	m     markup
	names []string // elements that are open, without prefixes
	body  int      // so deep stands the current narrative or content; 0: none
}

func (d *Document) cda() pipeline.Reason {
	src := d.layers[0].src
	charset := ""
	if !d.o.UTF8 {
		charset = xmlCharset(src)
	}
	text, back, ok := decoded(src, charset, true)
	if !ok {
		return pipeline.BadEncoding
	}
	d.layers[0] = layer{src: text, encode: back}
	c := &clinical{Document: d, all: d.whole(0), m: markup{src: bytes.TrimPrefix(text, []byte("\ufeff"))}}
	if len(c.m.src) < len(text) {
		c.all, _ = c.all.within(3, len(text), script{})
	}
	if !wellFormed(c.m.src) {
		return pipeline.BadRow
	}
	for c.m.next() {
		if reason := c.token(); reason != pipeline.Sound {
			return reason
		}
	}
	if len(d.pieces) == 0 && d.ID == nil {
		return pipeline.BadRow
	}
	return pipeline.Sound
}

var declared = regexp.MustCompile(`^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding=["']([A-Za-z0-9._-]+)["']`)

// xmlCharset is the encoding that the declaration names; "" if it names none.
func xmlCharset(src []byte) string {
	if found := declared.FindSubmatch(src[:min(len(src), 200)]); found != nil {
		return string(found[1])
	}
	return ""
}

func (c *clinical) token() pipeline.Reason {
	switch c.m.kind {
	case openTag, emptyTag:
		return c.opens()
	case closeTag:
		if c.narrated() {
			c.shown(&c.all, &c.m)
		}
		c.names = c.names[:len(c.names)-1]
		if len(c.names) < c.body {
			c.body = 0
		}
		if !c.narrated() {
			c.apart('\n')
		}
	case charData, cdata, comment:
		if c.narrated() {
			c.shown(&c.all, &c.m)
		} else if len(c.names) > 0 || c.m.kind == comment {
			c.chars(&c.all, &c.m, c.textKind())
		}
	}
	return pipeline.Sound
}

// narrated tells whether a narrative is at hand.
func (c *clinical) narrated() bool { return c.body > 0 }

// opens reads a tag and its attributes.
func (c *clinical) opens() pipeline.Reason {
	name := c.m.name
	if len(c.names) == 0 && name != "ClinicalDocument" {
		return pipeline.BadRow
	}
	parent := ""
	if n := len(c.names); n > 0 {
		parent = c.names[n-1]
	}
	if c.narrated() {
		c.shown(&c.all, &c.m)
	} else {
		c.attributes(name, parent)
	}
	if c.m.kind == emptyTag {
		return pipeline.Sound
	}
	c.names = append(c.names, name)
	if name == "text" && !c.narrated() {
		c.body = len(c.names)
		c.apart('\n')
	}
	if c.m.value("representation") == "B64" {
		return c.encodedText(c.m.value("mediaType"))
	}
	return pipeline.Sound
}

// encodedText reads the content of an element in base64.
func (c *clinical) encodedText(media string) pipeline.Reason {
	if !c.m.next() || c.m.kind != charData {
		return pipeline.BadRow
	}
	s, _ := c.all.within(c.m.start, c.m.end, script{})
	data, encode, ok := fromBase64(bytes.Join(bytes.Fields(s.text), nil))
	if !ok {
		return pipeline.BadEncoding
	}
	if media == "" {
		media = "text/plain" // the default of the schema
	}
	return c.content(&s, data, encode, media)
}

// attributes adds those of a tag that hold something of a person, or words.
func (c *clinical) attributes(name, parent string) {
	whose := c.whose()
	for _, a := range c.m.attrs {
		inner, _ := c.all.within(a.start, a.end, inXML)
		switch {
		case name == "id" && a.name == "extension":
			c.id(a, parent, whose)
		case name == "telecom" && a.name == "value":
			c.attrText(&c.all, a, Phone, nil)
		case a.name == "value" && cdaDate.Match(c.m.src[a.start:a.end]):
			kind := EventDate
			if name == "birthTime" || name == "deceasedTime" {
				kind = Date
			} else if a.end-a.start < 8 {
				c.keep(inner, nil) // a number
				continue
			}
			start, end := c.all.raw(a.from), c.all.raw(a.to)
			c.attrText(&c.all, a, kind, &typed{valid: cdaDate.Match, start: start, end: end, with: `nullFlavor="MSK"`})
		case a.name == "displayName" || a.name == "title" || a.name == "assigningAuthorityName" && whose != Words:
			c.attrText(&c.all, a, Words, nil)
		case a.name != "nullFlavor" && named(inner.text):
			c.attrText(&c.all, a, likeName, nil)
		default:
			c.keep(inner, nil)
		}
	}
	if a, there := c.m.attr("root"); there && name == "id" && parent == "ClinicalDocument" && c.ID == nil {
		c.ID = bytes.Clone(c.m.src[a.start:a.end])
	}
}

// id adds the extension of an id.
func (c *clinical) id(a attr, parent string, whose Kind) {
	s, _ := c.all.within(a.start, a.end, inXML)
	value := s.text
	switch {
	case cdaDocuments[parent] == set:
		if parent == "ClinicalDocument" {
			c.ID = []byte(c.m.value("root") + "/" + string(value))
		}
		c.keep(s, nil)
	case whose == StaffName:
		c.attrText(&c.all, a, StaffID, nil)
	default:
		if parent == "patientRole" || parent == "patient" {
			c.about(value)
		}
		c.attrText(&c.all, a, PatientID, nil)
	}
}

// whose says whose the current element is; Words: nobody's.
func (c *clinical) whose() Kind {
	for i := len(c.names) - 1; i >= 0; i-- {
		if k := cdaWhose[c.names[i]]; k != Words {
			return k
		}
	}
	return Words
}

// textKind returns the kind of a text in the current element.
func (c *clinical) textKind() (whose Kind) {
	if named(c.m.src[c.m.start:c.m.end]) {
		whose = likeName
	}
	if c.m.kind == comment {
		return whose
	}
	for i := len(c.names) - 1; i >= 0; i-- {
		switch c.names[i] {
		case "addr":
			if c.whose() == institution {
				return institution
			}
			return Address
		case "prefix", "suffix": // titles, which are words of notes as well
			return Words
		case "manufacturedMaterial", "manufacturedLabeledDrug", "playingEntity", "code":
			return Words // the name of a thing
		case "name", "given", "family":
			if k := c.whose(); k != Words {
				return k
			}
			return StaffName
		}
	}
	return whose
}
