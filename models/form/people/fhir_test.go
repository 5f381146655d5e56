package people

import (
	"fmt"
	"strings"
	"testing"
)

func TestFromFHIR(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`{"resourceType":"Patient","id":"p1","name":[{"family":"Pou Vila","given":["Ada","Núria"]}],"birthDate":"1950-03-12","identifier":[{"value":40718265}],"telecom":[{"value":"600123456"}],"address":[{"line":["c/ Mayor 2"]}]}`,
			"role patient, birth_date 1950-03-12, patient_id P1, given Ada Núria, surname Pou Vila, telephone 600123456, address c/ Mayor 2, id 40718265"},
		{`{"resourceType":"RelatedPerson","id":"r1","patient":{"reference":"Patient/p1"},"name":[{"family":"Roca"}]}`, "role relative, patient_id P1, surname Roca"},
		{`{"resourceType":"Practitioner","id":"s1","name":[{"family":"Roca","given":["Pere"]}]}`, "role staff, given Pere, surname Roca"},
		{`{"resourceType":"Observation","id":"o1"}`, ""},
		{`{"resourceType":"Patient","id":`, ""},
	} {
		var got []string
		for _, v := range FromFHIR([]byte(c.doc), strings.ToUpper) {
			if v.Text != "" {
				got = append(got, fmt.Sprint(fieldNames[v.Field], " ", v.Text))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
