package option

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"time"
)

// object is a JSON object.
type object map[string]any

// Schema returns the JSON Schema of the configuration, made from the
// table of options.
func Schema() []byte {
	c, schema := new(Config), section()
	for _, o := range c.options() {
		o.reset()
		o.put(schema, o.schema())
	}
	schema["$schema"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", "velum configuration"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(schema) // cannot fail: strings and numbers, into memory
	return b.Bytes()
}

func section() object {
	return object{"type": "object", "additionalProperties": false, "properties": object{}}
}

// put puts the schema of the option into the section that it stands in.
func (o *option) put(at, schema object) {
	path := strings.Split(o.key, ".")
	for i, name := range path {
		properties := at["properties"].(object)
		switch {
		case i == len(path)-1:
			properties[name] = schema
			return
		case properties[name] == nil:
			properties[name] = section()
		}
		at = properties[name].(object)
	}
}

func (o *option) schema() object {
	s := object{"description": o.why, "default": o.plain()}
	words, numbers := object{"type": "string"}, object{"type": "number"}
	if len(o.allowed) > 0 {
		words["enum"] = o.allowed
	}
	if !math.IsInf(o.min, -1) {
		numbers["minimum"] = o.min
	}
	if !math.IsInf(o.max, 1) {
		numbers["maximum"] = o.max
	}
	switch o.at.(type) {
	case *string:
		maps.Copy(s, words)
	case *int:
		maps.Copy(s, numbers)
		s["type"] = "integer"
	case *float64:
		maps.Copy(s, numbers)
	case *bool:
		s["type"] = "boolean"
	case *size:
		s["type"], s["pattern"] = []string{"string", "integer"}, `^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kKMGT]B|B)?$`
	case *time.Duration:
		s["type"], s["pattern"] = []string{"string", "integer"}, `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	case *[]string:
		s["type"], s["items"] = "array", words
	case *map[string]string:
		s["type"], s["additionalProperties"] = "object", words
	case *map[string]float64:
		s["type"], s["additionalProperties"] = "object", numbers
	}
	return s
}
