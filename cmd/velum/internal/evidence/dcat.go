package evidence

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/velum-health/velum/pipeline/tally"
)

//go:embed healthdcat.ttl
var catalogueText string

var catalogueTemplate = template.Must(template.New("healthdcat.ttl").Parse(catalogueText))

// authorities are the codes of languages in the authority table of the European Union.
var authorities = map[string]string{"es": "SPA", "ca": "CAT", "en": "ENG"}

// catalogue is the record of a release for a catalogue of health data, HealthDCAT-AP in Turtle.
func (s *source) catalogue(r *Record) ([]byte, error) {
	in := struct {
		Output, Made, Velum, Policy, Language string
		Notes                                 int64
		Open, Languages                       []string
		Said                                  map[string]string // literals of Turtle
	}{r.Output.Masked, r.Made, r.Velum, "", r.Language, s.manifest.Counts.Masked, nil, nil, map[string]string{}}
	for _, section := range r.Sections {
		for _, f := range section.Facts {
			var all []string
			for _, v := range f.Values {
				if v.Count != nil {
					v.Text = strconv.FormatInt(*v.Count, 10)
				}
				all = append(all, v.Text)
			}
			said := strings.Join(all, "; ")
			switch {
			case f.Name == "policy":
				in.Policy = said
			case !slices.Contains([]string{"patients", "data_subjects", "controller", "contact", "purpose", "legal_basis"}, f.Name):
			case f.Missing != "":
				in.Open = append(in.Open, f.Name)
			default:
				literal, err := json.Marshal(said) // escapes of JSON are some of Turtle's
				if err != nil {
					return nil, err
				}
				in.Said[f.Name] = string(literal)
			}
		}
	}
	for name := range s.manifest.Counts.Tally.By(tally.Language) {
		if code := authorities[name]; code != "" {
			in.Languages = append(in.Languages, code)
		}
	}
	slices.Sort(in.Languages)
	var out bytes.Buffer
	err := catalogueTemplate.Execute(&out, in)
	return out.Bytes(), err
}
