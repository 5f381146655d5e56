package evidence

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"text/template"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"
)

//go:embed healthdcat.ttl
var catalogueText string

// authorities are the codes of languages in the authority table of the European Union.
var authorities = map[string]string{"es": "SPA", "ca": "CAT", "en": "ENG"}

// catalogue writes the record of a release for a catalogue of health data, HealthDCAT-AP in Turtle.
func (s *source) catalogue(r *Record, file string) error {
	v, facts := &view{Record: r}, map[string]string{}
	for _, f := range r.Facts() {
		for i, x := range f.Values {
			if i > 0 {
				facts[f.Name] += "; "
			}
			facts[f.Name] += v.Shown(x)
		}
	}
	t, err := template.New("healthdcat.ttl").Funcs(template.FuncMap{
		"fields": strings.Fields,
		"literal": func(text string) (string, error) {
			data, err := json.Marshal(text) // escapes of JSON are some of Turtle's
			return string(data), err
		},
	}).Parse(catalogueText)
	var out bytes.Buffer
	if err == nil {
		c := &s.manifest.Counts
		err = t.Execute(&out, map[string]any{"Record": r, "Said": facts, "Notes": c.Masked, "Languages": c.Tally.By(tally.Language),
			"Authorities": authorities})
	}
	if err != nil {
		return err
	}
	return durable.WriteFile(nil, file, out.Bytes())
}
