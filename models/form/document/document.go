// Package document extracts the text of documents that other systems exchange, and writes changed text back into them:
// FHIR R4 resources, HL7 v2 messages, CDA R2 documents.
//
// It takes the bytes of one document and returns its id, its patient, one text that joins all places with words, and
// the fields in this text that the standard reserves for a person: a name, an address, an identifier. Restore takes
// edits of the text and returns the document with these edits; all other bytes are unchanged.
//
// Everything that no table here knows as a code, a number or the time of an event is extracted: as text, or as a field
// if it looks like a name or number of a person. A name found in one field is then searched in the whole document,
// including codes and links, and is a field there, too. A document with content that cannot be examined, such as a scan
// or an unknown character set, is refused.
package document

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// Kind is the kind of personal data that a field of a document holds.
type Kind uint8

// The kinds of fields. Words marks ordinary text, which is no field.
const (
	Words Kind = iota
	PatientName
	RelativeName
	StaffName
	Address // of anybody, and names of institutions
	Phone   // mail addresses as well
	PatientID
	StaffID
	Date // of birth or death
	EventDate
	Kinds

	// Values of these fields are not searched for elsewhere: an address of no person, and names and ids that may not be
	// those of a person.
	institution
	likeName
	likeID
)

// kindNames are the names of the kinds in names.txt and hl7.txt.
var kindNames = strings.Fields("words patient relative staff address phone id staffid birth - is place")

func kindOf(name string) Kind { return Kind(max(slices.Index(kindNames, name), 0)) }

// set is the kind of names of a table that is a set.
const set = Kinds

//go:embed names.txt
var namesText string

// names is a table of names.txt.
func names(table string) map[string]Kind {
	all := map[string]Kind{}
	for line := range strings.Lines(namesText) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == table {
			for _, name := range words[2:] {
				all[name] = kindOf(words[1])
			}
		}
	}
	return all
}

// quiet are the kinds of fields that are not searched for elsewhere.
var quiet = map[Kind]Kind{institution: Address, likeName: StaffName, likeID: PatientID}

// Field is a part of Document.Text that the standard reserves for personal data.
type Field struct {
	Start, End int
	Kind       Kind

	own bool // the value is also searched for elsewhere in the document
}

// Options holds how an institution wants its documents handled.
type Options struct {
	Dates bool // dates of events change with those in the text; otherwise they stay, whatever replaces them in the text
	UTF8  bool // the reader has decoded the document already, whatever character set it names
}

// about records an id of the patient: the first one is Patient, further ones are Others.
func (d *Document) about(id []byte) {
	switch {
	case len(id) == 0 || bytes.Equal(id, d.Patient):
	case d.Patient == nil:
		d.Patient = bytes.Clone(id)
	case !slices.ContainsFunc(d.Others, func(have []byte) bool { return bytes.Equal(have, id) }):
		d.Others = append(d.Others, bytes.Clone(id))
	}
}

// Edit replaces a part of Document.Text.
type Edit struct {
	Start, End int
	With       []byte
}

// Document is a document taken apart into its pieces of text. It does not share memory with the input.
type Document struct {
	ID      []byte   // nil: it has none
	Patient []byte   // id of the patient that the document is about, as written there; nil: unknown
	Others  [][]byte // further ids of patients in it: repetitions, and ids of other systems
	Text    []byte
	Fields  []Field // sorted, disjoint

	o      Options
	layers []layer
	pieces []piece // in the order of Text
	kept   []piece // codes, numbers and links, which are not part of Text
	known  values  // of persons
}

// layer is the document itself (the first layer), or content that is encoded inside of it.
type layer struct {
	src    []byte
	encode func([]byte) []byte // nil: as it is
	outer  int                 // the layer that it stands in
	start  int                 // there
	end    int
	edits  []Edit // of src
}

// piece is a piece of Text and where it stands.
type piece struct {
	source
	start, end int // in Text
	typed      *typed
	stays      bool // whatever its edits
	filled     bool // never empty
	changed    bool // by an edit
}

// typed is a value with a prescribed format. A replacement in another format would make the document invalid.
type typed struct {
	valid      func(text []byte) bool
	start, end int    // what is replaced else, in the layer
	with       string // by this
}

// source is a text that is written in a layer, by some rules.
type source struct {
	layer int
	text  []byte
	from  []int32 // of each byte of text, and its end, the place in the layer; nil: text is there as it is, from at
	at    int
	quote func(dst, text []byte) []byte // writes other text by the same rules; nil: as it is
}

// raw is the place in the layer of a byte of the text, or of its end.
func (s *source) raw(i int) int {
	if s.from == nil {
		return s.at + i
	}
	return int(s.from[i])
}

// script is a way in which a format writes text (backslashes of JSON, entities of XML, escapes of HL7). decode returns
// the text that raw says. If that differs from raw, from has for each byte of the text, and for its end, the offset in
// raw from which it was decoded; else from is nil. ok is false if raw is not well formed. quote appends text to dst as the
// format writes it.
type script struct {
	decode func(raw []byte) (text []byte, from []int32, ok bool)
	quote  func(dst, text []byte) []byte
}

// decodedBy is script.decode of what read says: what stands at the begin of raw, in how many
// bytes, 0 if these are as they are; ok is false if that is no text.
func decodedBy(raw []byte, read func(raw []byte) (says string, size int, ok bool)) (text []byte, from []int32, ok bool) {
	same := true
	ok = true
	for i := 0; i < len(raw); {
		says, size, sound := read(raw[i:])
		ok = ok && sound
		if at := int32(i); size > 0 {
			same = false
			text = append(text, says...)
			i += size
			from = append(from, slices.Repeat([]int32{at}, len(says))...)
		} else {
			text, from = append(text, raw[i]), append(from, at)
			i++
		}
	}
	if same {
		return raw, nil, ok
	}
	return text, append(from, int32(len(raw))), ok
}

// within is the text that stands in a piece of s, written by a script.
func (s *source) within(start, end int, by script) (source, bool) {
	inner := source{layer: s.layer, at: s.raw(start), text: s.text[start:end], quote: by.quote}
	if s.from != nil {
		inner.from = s.from[start : end+1]
	}
	ok := true
	if by.decode != nil {
		var from []int32
		if inner.text, from, ok = by.decode(inner.text); from != nil {
			for i := range from {
				from[i] = int32(s.raw(start + int(from[i])))
			}
			inner.from = from
		}
	}
	switch outer := s.quote; {
	case by.quote == nil:
		inner.quote = outer
	case outer != nil:
		inner.quote = func(dst, text []byte) []byte { return outer(dst, by.quote(nil, text)) }
	}
	return inner, ok
}

// whole is the text of a layer.
func (d *Document) whole(layer int) source { return source{layer: layer, text: d.layers[layer].src} }

// encoded adds a layer: what a piece of a source encodes as a whole.
func (d *Document) encoded(s *source, src []byte, encode func([]byte) []byte) source {
	d.layers = append(d.layers, layer{src: src, encode: encode, outer: s.layer, start: s.raw(0), end: s.raw(len(s.text))})
	return d.whole(len(d.layers) - 1)
}

// add appends a piece of Text. Blanks around a field are not part of it.
func (d *Document) add(s source, kind Kind, t *typed) {
	if len(s.text) == 0 {
		return
	}
	at := len(d.Text)
	d.Text = append(d.Text, s.text...)
	d.pieces = append(d.pieces, piece{source: s, start: at, end: len(d.Text), typed: t, stays: kind == EventDate && !d.o.Dates})
	if field := bytes.TrimSpace(s.text); kind != Words && len(field) > 0 {
		at += bytes.Index(s.text, field)
		is, guessed := quiet[kind]
		if !guessed {
			is = kind
			d.known.add(kind, field)
		}
		d.Fields = append(d.Fields, Field{Start: at, End: at + len(field), Kind: is, own: !guessed})
	}
}

// keep records a code, a number or a link, which stays unless it is a value of a person.
func (d *Document) keep(s source, t *typed) { d.kept = append(d.kept, piece{source: s, typed: t}) }

// apart puts a sign between what was added and what follows; a line end stays one.
func (d *Document) apart(sign byte) {
	n := len(d.Text)
	if n == 0 || d.Text[n-1] == '\n' && d.ended() || d.Text[n-1] == sign && d.ended() {
		return
	}
	d.Text = append(d.Text, sign)
}

// ended tells whether a separator stands behind the last piece already.
func (d *Document) ended() bool {
	n := len(d.pieces)
	return n == 0 || d.pieces[n-1].end < len(d.Text)
}

// Restore returns the document with the edits applied. Edits must be sorted and disjoint. The text of an edit over
// several pieces goes into the first piece. Restore may be called once.
func (d *Document) Restore(edits []Edit) []byte {
	behind := 0 // the last piece
	for i := range d.pieces {
		p := &d.pieces[i]
		for len(edits) > 0 && edits[0].End <= p.start {
			edits = edits[1:]
		}
		mine := p.cut(edits, behind)
		d.layers[p.layer].edits = append(d.layers[p.layer].edits, mine...)
		behind = p.end
	}
	for k := len(d.layers) - 1; k > 0; k-- { // one within another comes behind it
		l := &d.layers[k]
		if len(l.edits) > 0 {
			outer := &d.layers[l.outer]
			outer.edits = append(outer.edits, Edit{l.start, l.end, l.restored()})
		}
	}
	return d.layers[0].restored()
}

// Check parses a document that Restore has written and compares it with the original: all pieces without an edit must
// be unchanged (ChangedText otherwise), and no value that an edit has hidden may occur (SurvivingValue).
func (d *Document) Check(out []byte, edits []Edit) pipeline.Reason {
	again, reason := taken(out, Options{Dates: d.o.Dates, UTF8: d.o.UTF8})
	switch {
	case reason != pipeline.Sound:
		return reason
	case !d.reads(again):
		return pipeline.ChangedText
	case d.survives(edits):
		return pipeline.SurvivingValue
	}
	return pipeline.Sound
}

// reads reports whether a document has the text of d. A piece that consists of a replacement sign only may be parsed as
// a code.
func (d *Document) reads(again *Document) bool {
	at := 0
	for i := range again.pieces {
		for at < len(d.pieces) && d.pieces[at].changed && !same(d.pieces[at].text, again.pieces[i].text) {
			at++
		}
		if at == len(d.pieces) || !same(d.pieces[at].text, again.pieces[i].text) {
			return false
		}
		at++
	}
	return !slices.ContainsFunc(d.pieces[at:], func(p piece) bool { return !p.changed })
}

// same compares texts without the blanks around them.
func same(a, b []byte) bool { return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) }

// cut returns the edits of a piece, in its layer, and makes them in its text. What
// began in front of behind stands in a piece before this one.
func (p *piece) cut(edits []Edit, behind int) (mine []Edit) {
	var text []byte
	at := 0
	for _, e := range edits {
		if e.Start >= p.end {
			break
		}
		from, to := max(e.Start, p.start)-p.start, min(e.End, p.end)-p.start
		with := e.With
		if e.Start < behind && !(p.filled && from == 0 && to == len(p.text)) {
			with = nil
		}
		text = append(append(text, p.text[at:from]...), with...)
		at = to
		if p.quote != nil {
			with = p.quote(nil, with)
		}
		mine = append(mine, Edit{p.raw(from), p.raw(to), with})
	}
	if len(mine) == 0 || p.stays {
		return nil
	}
	p.text, p.changed = append(text, p.text[at:]...), true
	if p.typed != nil && !p.typed.valid(p.text) {
		p.text = nil
		return []Edit{{p.typed.start, p.typed.end, []byte(p.typed.with)}}
	}
	return mine
}

// restored returns the bytes of the layer with its edits.
func (l *layer) restored() []byte {
	slices.SortStableFunc(l.edits, func(a, b Edit) int { return a.Start - b.Start })
	out := make([]byte, 0, len(l.src)+64)
	at := 0
	for _, e := range l.edits {
		if e.Start < at {
			continue // of two that write one value, as both halves of a date
		}
		out = append(append(out, l.src[at:e.Start]...), e.With...)
		at = e.End
	}
	out = append(out, l.src[at:]...)
	if l.encode != nil {
		out = l.encode(out)
	}
	return out
}

// Open takes a document apart. It returns BadRow if the document violates its format, and Unreadable if it has content
// that cannot be examined; such a document must not leave.
func Open(doc []byte, o Options) (*Document, pipeline.Reason) {
	d, reason := taken(doc, o)
	if reason == pipeline.Sound {
		d.search()
	}
	return d, reason
}

// taken parses a document without searching for the values of its fields.
func taken(doc []byte, o Options) (*Document, pipeline.Reason) {
	d := &Document{o: o, layers: []layer{{src: doc}}}
	if len(doc) > maxDocument {
		return d, pipeline.TooLong
	}
	reason := pipeline.BadRow
	switch Of(doc) {
	case FHIR:
		reason = d.fhir()
	case HL7:
		reason = d.hl7()
	case CDA:
		reason = d.cda()
	}
	if reason == pipeline.Sound && !utf8.Valid(d.Text) {
		reason = pipeline.BadEncoding
	}
	return d, reason
}

// maxDocument is the most bytes of a document: offsets are 32 bits.
const maxDocument = 1 << 28

// maxDepth is how deep elements and objects may stand in each other.
const maxDepth = 200
