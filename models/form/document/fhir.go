package document

import (
	"bytes"
	"mime"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/velum-health/velum/pipeline"
)

// FHIR R4 (hl7.org/fhir/R4). A resource of any type is read by the names of its
// members: what a datatype gives to persons is a field wherever it stands, what is coded
// stays, and every other string is text.

// Tables of element names from names.txt for FHIR.
var (
	fhirKeeps   = names("fhir-keeps")
	fhirTypes   = names("fhir-types")
	fhirPersons = names("fhir-persons")
	fhirShown   = names("fhir-shown")
	fhirFiles   = names("fhir-files")
)

// maskedHere is FHIR's own sign that a value was left out for privacy.
const maskedHere = `{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"masked"}]}`

// fhirNumber is a number of JSON.
var fhirNumber = regexp.MustCompile(`^-?[0-9][-+0-9.eE]*$`)

// fhirDate matches a date, a dateTime or an instant.
var fhirDate = regexp.MustCompile(`^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])(T[0-9:.]+(Z|[+-][0-9:]+))?)?)?$`)

// resource walks over a resource, and those in it.
type resource struct {
	*Document
	all    source
	reason pipeline.Reason
}

func (d *Document) fhir() pipeline.Reason {
	root, ok := parseJSON(d.layers[0].src)
	r := &resource{Document: d, all: d.whole(0)}
	kind := r.string(root.get("resourceType"))
	if !ok || len(kind) == 0 {
		return pipeline.BadRow
	}
	if id := r.string(root.get("id")); len(id) > 0 {
		d.ID = []byte(string(kind) + "/" + string(id))
	}
	r.patient(&root, &root, string(kind))
	r.object(&root, "", Words)
	return r.reason
}

// string is the text of a string; nil if v is none.
func (r *resource) string(v *value) []byte {
	if v == nil || v.kind != '"' {
		return nil
	}
	text, _, _ := unquoteJSON(r.all.text[v.start+1 : v.end-1])
	return text
}

// patient takes the ids of the patients whom a resource is about: its own, those of its
// subject, which may be a patient that root contains, or those of all resources of a bundle.
func (r *resource) patient(v, root *value, kind string) {
	if kind == "Patient" {
		if v == root || root.get("contained") == nil { // else the id is one within the resource
			r.about(r.string(v.get("id")))
		}
		r.identifiers(v)
		return
	}
	for _, member := range []string{"subject", "patient", "beneficiary"} {
		of := v.get(member)
		if of == nil {
			continue
		}
		ref, _, _ := strings.Cut(string(r.string(of.get("reference"))), "/_history/")
		if ref != "" && ref[0] != '#' && (member != "subject" || referred(ref) == "Patient" || !strings.Contains(ref, "/")) {
			r.about([]byte(ref[strings.LastIndexAny(ref, "/:")+1:]))
		}
		r.identified(of.get("identifier"))
	}
	r.each(v.get("contained"), func(of *value) {
		if string(r.string(of.get("resourceType"))) == "Patient" {
			r.patient(of, v, "Patient")
		}
	})
	if kind == "Bundle" {
		r.each(v.get("entry"), func(entry *value) {
			if of := entry.get("resource"); of != nil {
				r.patient(of, of, string(r.string(of.get("resourceType"))))
			}
		})
	}
}

// each calls do with every element of an array; none if there is no such array.
func (r *resource) each(array *value, do func(*value)) {
	if array != nil {
		for i := range array.below {
			do(&array.below[i])
		}
	}
}

// identifiers takes the ids that other systems give to a patient.
func (r *resource) identifiers(patient *value) {
	r.each(patient.get("identifier"), r.identified)
}

// identified takes the value of an identifier, which may be a number.
func (r *resource) identified(identifier *value) {
	if identifier == nil {
		return
	}
	v := identifier.get("value")
	if id := r.string(v); id != nil {
		r.about(id)
	} else if v != nil {
		r.about(r.all.text[v.start:v.end])
	}
}

// referred is the type of the resource that a reference names; "" if it does not say.
func referred(ref string) string {
	ref, _, _ = strings.Cut(ref, "/_history/")
	parts := strings.Split(ref, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2]
}

// object walks over an object that is a member in of another. usual is what its
// strings are.
func (r *resource) object(v *value, in string, usual Kind) {
	kind := string(r.string(v.get("resourceType")))
	if kind != "" {
		if usual = fhirPersons[kind]; kind == "Binary" {
			in = "attachment"
		}
	}
	if content := v.get("contentType"); content != nil && v.get("data") != nil {
		r.attachment(v.get("data"), string(r.string(content)))
	} else if data := v.get("data"); data != nil && data.kind == '"' && (in == "photo" || in == "attachment" || in == "content" ||
		in == "signature" || kind == "Binary") {
		r.refuse(pipeline.Unreadable) // nobody knows what it is
	}
	shown := r.shownBy(v, in)
	for i := range v.below {
		m := &v.below[i]
		switch key := m.key; {
		// what others refer to
		case m.kind == '"' && (key == "id" && kind != "" || (key == "reference" || key == "fullUrl") && bytes.IndexByte(r.string(m), '?') < 0):
			r.keep(r.inside(m), nil)
		case key == "data" && m.kind == '"' && v.get("contentType") != nil:
		case (key == "valueBase64Binary" || key == "query" && in == "entity") && m.kind == '"':
			r.attachment(m, "text/plain")
		case m.kind == '"' && (key == "source" && in == "meta" || key == "url" && fhirFiles[in] == set || key == "valueUrl"):
			r.text(m, likeID)
		case key == "div" && m.kind == '"':
			r.div(m)
		case key == "display" && m.kind == '"':
			r.text(m, shown)
		case key == "birthDate" || strings.HasPrefix(key, "deceasedDate") || usual != Words && strings.HasPrefix(key, "valueDate"):
			r.primitive(m, v, Date, fhirDate)
		default:
			r.member(m, v, key, in, usual)
		}
	}
}

// shownBy returns the kind of the display of an object: of a code words, of a reference a name.
func (r *resource) shownBy(v *value, in string) Kind {
	if v.get("code") != nil || v.get("system") != nil {
		return Words
	}
	if k := fhirShown[referred(string(r.string(v.get("reference"))))]; k != Words {
		return k
	}
	if k := fhirShown[string(r.string(v.get("type")))]; k != Words {
		return k
	}
	return fhirShown[in]
}

// member walks over any other member of an object; in is where that stands itself.
func (r *resource) member(m, of *value, key, in string, usual Kind) {
	switch m.kind {
	case '{':
		r.object(m, key, usual)
	case '[':
		for i := range m.below {
			r.member(&m.below[i], m, key, in, usual)
		}
	case '"':
		text := r.string(m)
		switch kind := datatype(fhirTypes[in], key, usual); {
		case fhirKeeps[key] == set && kind == usual, kind == Words && bytes.HasPrefix(text, []byte("urn:oid:")):
			r.code(m, text)
		case fhirDate.Match(text):
			r.primitive(m, of, EventDate, fhirDate)
		case kind == PatientName && fhirTypes[in] == Words && !strings.HasPrefix(key, "value"), kind == Words && named(text):
			r.text(m, likeName)
		default:
			r.text(m, kind)
		}
	default: // a number, true, false, null
		if kind := datatype(fhirTypes[in], key, usual); kind != usual && fhirNumber.Match(r.all.text[m.start:m.end]) {
			r.primitive(m, of, kind, fhirNumber)
		} else if kind == usual {
			s, _ := r.all.within(m.start, m.end, script{})
			r.keep(s, absent(m, of, fhirNumber))
		}
	}
}

// code keeps a code or a link. One that has words or asks for something is looked at.
func (r *resource) code(v *value, text []byte) {
	switch {
	case bytes.ContainsAny(text, "?@"):
		r.text(v, likeID)
	case named(text):
		r.text(v, likeName)
	case bytes.IndexByte(text, ' ') >= 0 && v.key != "contentType":
		r.text(v, Words)
	default:
		r.keep(r.inside(v), nil)
		r.kept[len(r.kept)-1].filled = true
	}
}

// datatype returns the kind of a string in an object of a datatype of persons.
func datatype(of Kind, key string, usual Kind) Kind {
	switch of {
	case PatientName: // HumanName
		switch {
		case key == "use":
		case key == "prefix" || key == "suffix": // titles, which are words of notes as well
			return Words
		case usual != StaffName && usual != RelativeName:
			return PatientName
		}
	case Address:
		if key != "use" && key != "type" && usual != institution {
			return Address
		}
	case Phone: // ContactPoint
		if key == "value" {
			return Phone
		}
	case PatientID: // Identifier
		if key == "value" {
			if usual == StaffName {
				return StaffID
			}
			return PatientID
		}
	}
	return usual
}

func (r *resource) refuse(why pipeline.Reason) {
	if r.reason == pipeline.Sound {
		r.reason = why
	}
}

// inside returns the bytes between the quotes of a string.
func (r *resource) inside(v *value) source {
	s, ok := r.all.within(v.start+1, v.end-1, inJSON)
	if !ok {
		r.refuse(pipeline.BadEncoding)
	}
	return s
}

func (r *resource) text(v *value, kind Kind) {
	r.add(r.inside(v), kind, nil)
	if n := len(r.pieces); n > 0 {
		r.pieces[n-1].filled = true // a string of FHIR is never empty
	}
	r.apart('\n')
}

// primitive adds a date or a number that is a member of another value.
func (r *resource) primitive(m, of *value, kind Kind, valid *regexp.Regexp) {
	s, _ := r.all.within(m.start, m.end, script{})
	if m.kind == '"' {
		s = r.inside(m)
	}
	r.add(s, kind, absent(m, of, valid))
	r.apart('\n')
}

// absent is how a date or a number is written. What stands in its place and is none makes
// it a value that is absent, as the standard writes it.
func absent(m, of *value, valid *regexp.Regexp) *typed {
	t := &typed{valid: valid.Match, start: m.from, end: m.end, with: `"_` + m.key + `":` + maskedHere}
	if strings.HasPrefix(m.key, "value") && m.key != "value" { // of an extension
		t.with = `"extension":` + strings.TrimSuffix(strings.TrimPrefix(maskedHere, `{"extension":`), "}")
	}
	if of.kind == '[' {
		t.with = "null"
	} else if of.get("_"+m.key) != nil { // which says already what is to be said
		t.with = ""
		t.start, t.end = alone(m, of)
	}
	return t
}

// alone is a member with the comma that goes with it.
func alone(m, of *value) (start, end int) {
	for i := range of.below {
		switch {
		case &of.below[i] != m:
		case i+1 < len(of.below):
			return m.from, of.below[i+1].from
		case i > 0:
			return of.below[i-1].end, m.end
		}
	}
	return m.from, m.end
}

func (r *resource) div(v *value) {
	r.apart('\n')
	if !r.narrative(r.inside(v), false) {
		r.refuse(pipeline.BadRow)
	}
	r.apart('\n')
}

// attachment adds what a content holds in base64, if it is text.
func (r *resource) attachment(v *value, contentType string) {
	if v.kind != '"' {
		return
	}
	s := r.inside(v)
	data, encode, ok := fromBase64(s.text)
	if !ok {
		r.refuse(pipeline.BadEncoding)
		return
	}
	r.refuse(r.content(&s, data, encode, contentType))
	r.apart('\n')
}

// content adds a layer of text of a media type: Unreadable if it is none.
func (d *Document) content(s *source, data []byte, encode func([]byte) []byte, contentType string) pipeline.Reason {
	kind, parameters, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return pipeline.Unreadable
	case kind == "text/html", kind == "application/xhtml+xml", strings.HasPrefix(kind, "text/"), kind == "application/rtf",
		kind == "application/xml", strings.HasSuffix(kind, "+xml"):
	default:
		return pipeline.Unreadable
	}
	data, back, ok := decoded(data, parameters["charset"], strings.Contains(kind, "ml"))
	if !ok {
		return pipeline.BadEncoding
	}
	inner := d.encoded(s, data, func(b []byte) []byte { return encode(back(b)) })
	if strings.Contains(kind, "ml") { // html, xml
		if !d.narrative(inner, true) {
			return pipeline.BadRow
		}
		return pipeline.Sound
	}
	d.add(inner, Words, nil)
	return pipeline.Sound
}

// decoded is text of a character set in UTF-8, and what writes it back.
func decoded(data []byte, charset string, markup bool) (text []byte, back func([]byte) []byte, ok bool) {
	var set *charmap.Charmap
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return data, func(b []byte) []byte { return b }, true
	case "iso-8859-1", "latin1", "iso8859-1", "8859/1":
		set = charmap.ISO8859_1
	case "iso-8859-15", "8859/15":
		set = charmap.ISO8859_15
	case "windows-1252", "cp1252":
		set = charmap.Windows1252
	default:
		return nil, nil, false
	}
	text, err := set.NewDecoder().Bytes(data)
	if err != nil || bytes.Contains(text, []byte("\ufffd")) {
		return nil, nil, false
	}
	return text, func(b []byte) []byte {
		e := encoding.ReplaceUnsupported(set.NewEncoder())
		if markup {
			e = encoding.HTMLEscapeUnsupported(set.NewEncoder())
		}
		b, _ = e.Bytes(b) // it replaces what the set has not
		return b
	}, true
}
