package text

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/velum-health/velum/stages/read/input"
)

// object holds the members of a JSON object in their order; the last one counts if several have the same name.
type object struct {
	members []member
	data    bytes.Buffer
	decoder jsontext.Decoder // of data
}

// member has the name of a member and its value as the JSON that it is.
type member struct {
	name  string
	value []byte
}

// get returns the value of a member as JSON; nil: there is none.
func (o *object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o.members) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// names returns the names of the members, sorted, as they may stand in a log line.
func (o *object) names() (all []string) {
	for _, m := range o.members {
		all = append(all, input.PlainColumn(m.name))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parse cuts an object into its members, which are pieces of data. Of what is no JSON encoding/json says where.
func (o *object) parse(data []byte) error {
	if o.cut(data) {
		return nil
	}
	o.members = o.members[:0]
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	for name, value := range fields {
		o.members = append(o.members, member{name, value})
	}
	return err
}

// cut does it in one pass; false: it is no object.
func (o *object) cut(data []byte) bool {
	o.members, o.data = o.members[:0], *bytes.NewBuffer(data)
	d := &o.decoder
	d.Reset(&o.data, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '{' {
		return false
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		end := int(d.InputOffset())
		m.value = data[end-len(value) : end]
		o.members = append(o.members, m)
	}
	_, err := d.ReadToken()
	if err == nil {
		_, err = d.ReadToken()
	}
	return err == io.EOF
}

// appendUnquoted appends the characters of a JSON string, which is sound. What is no text, a
// byte that is no UTF-8 or half a pair of UTF-16, stays no text, so that the
// note goes to quarantine: the libraries would put U+FFFD in its place.
func appendUnquoted(dst []byte, raw json.RawMessage) []byte {
	all, err := jsontext.AppendUnquote(dst, raw)
	if err != nil {
		return append(dst, 0xff)
	}
	return all
}
