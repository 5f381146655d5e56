package people

import (
	"encoding/json"
	"strings"
)

// resource is a person of FHIR R4, as far as a note could hold what they say.
type resource struct {
	ResourceType, ID, BirthDate string
	Patient                     struct{ Reference string }
	Name                        []struct {
		Family string
		Given  []string
	}
	Telecom []struct{ Value string }
	Address []struct {
		Text string
		Line []string
	}
	Identifier []struct{ Value json.RawMessage } // some write a number
}

// roles of the resources that are about one person.
var roles = map[string]string{"Patient": "patient", "RelatedPerson": "relative", "Practitioner": "staff"}

// FromFHIR converts a FHIR resource about a patient, a relative or a member of staff to a row of a table of people; nil
// for other resources. form normalizes a patient id.
func FromFHIR(doc []byte, form func(id string) string) (row []Value) {
	var r resource
	if json.Unmarshal(doc, &r) != nil || roles[r.ResourceType] == "" {
		return nil
	}
	row = append(row, Value{RoleField, roles[r.ResourceType]}, Value{Birth, r.BirthDate})
	if r.ResourceType != "Practitioner" {
		of := r.Patient.Reference
		if r.ResourceType == "Patient" {
			of = r.ID
		}
		row = append(row, Value{Patient, form(of[strings.LastIndexByte(of, '/')+1:])})
	}
	for _, n := range r.Name {
		row = append(row, Value{Given, strings.Join(n.Given, " ")}, Value{Surname, n.Family})
	}
	for _, t := range r.Telecom {
		row = append(row, Value{Telephone, t.Value})
	}
	for _, a := range r.Address {
		row = append(row, Value{Address, a.Text}, Value{Address, strings.Join(a.Line, " ")})
	}
	for _, i := range r.Identifier {
		row = append(row, Value{Identifier, strings.Trim(string(i.Value), `"`)})
	}
	return row
}
