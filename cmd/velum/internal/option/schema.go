package option

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// object is a JSON object whose keys keep their order.
type object []field

type field struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		b.Write(append(key, ':'))
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema returns the JSON Schema of the configuration, made from the
// table of options.
func Schema() []byte {
	c := new(Config)
	options := c.options()
	for _, o := range options {
		o.reset()
	}
	schema := append(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "velum configuration"},
	}, sectionSchema(options, "")...)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(schema) // cannot fail: strings and numbers, into memory
	return b.Bytes()
}

func sectionSchema(options []option, prefix string) object {
	var properties object
	last := ""
	for _, o := range options {
		rest, ok := strings.CutPrefix(o.key, prefix)
		if !ok {
			continue
		}
		name, _, nested := strings.Cut(rest, ".")
		switch {
		case nested && name != last:
			properties = append(properties, field{name, sectionSchema(options, prefix+name+".")})
		case !nested:
			properties = append(properties, field{name, o.schema()})
		}
		last = name
	}
	return object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
}

func (o *option) schema() object {
	s := object{{"description", o.why}}
	add := func(key string, value any) { s = append(s, field{key, value}) }
	words := object{{"type", "string"}}
	if len(o.allowed) > 0 {
		words = append(words, field{"enum", o.allowed})
	}
	switch o.at.(type) {
	case *string:
		s = append(s, words...)
	case *int:
		add("type", "integer")
		s = append(s, o.bounds()...)
	case *float64:
		add("type", "number")
		s = append(s, o.bounds()...)
	case *bool:
		add("type", "boolean")
	case *size:
		add("type", []string{"string", "integer"})
		add("pattern", `^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kKMGT]B|B)?$`)
	case *time.Duration:
		add("type", []string{"string", "integer"})
		add("pattern", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`)
	case *[]string:
		add("type", "array")
		add("items", words)
	case *map[string]string:
		add("type", "object")
		add("additionalProperties", words)
	case *map[string]float64:
		add("type", "object")
		add("additionalProperties", append(object{{"type", "number"}}, o.bounds()...))
	}
	add("default", o.plain())
	return s
}

func (o *option) bounds() (b object) {
	if !math.IsInf(o.min, -1) {
		b = append(b, field{"minimum", o.min})
	}
	if !math.IsInf(o.max, 1) {
		b = append(b, field{"maximum", o.max})
	}
	return b
}
