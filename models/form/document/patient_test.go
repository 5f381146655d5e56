package document

import (
	"bytes"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// Every id by which a document names its patient is one of them: who objects may be known by any.
func TestPatientIDs(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"repetitions of PID-3, PID-2 and PID-4", "MSH|^~\\&|L|H|E|H|20260105||ORU^R01|M1|P|2.5\rPID|1|12^^^X|463^^^HSP^MR~12345678Z^^^ESP|99~98||Roca^Ana\r", "463 12345678Z 12 99 98"},
		{"PID-2 alone", "MSH|^~\\&|L|H|E|H|20260105||ORU^R01|M1|P|2.5\rPID|1|12|||Roca^Ana\r", "12"},
		{"reference and identifier of a subject", `{"resourceType":"DocumentReference","id":"d","subject":{"reference":"Patient/463","identifier":{"value":"NHC-9"}}}`, "463 NHC-9"},
		{"identifier alone", `{"resourceType":"Observation","id":"o","subject":{"identifier":{"system":"x","value":"463"}}}`, "463"},
		{"identifier that is a number", `{"resourceType":"Observation","id":"o","subject":{"identifier":{"value":463}}}`, "463"},
		{"contained patient", `{"resourceType":"Observation","id":"o","contained":[{"resourceType":"Patient","id":"p1","identifier":[{"value":"463"},{"value":"NHC-9"}]}],"subject":{"reference":"#p1"}}`, "463 NHC-9"},
		{"identifiers of a patient", `{"resourceType":"Patient","id":"463","identifier":[{"value":"NHC-9"},{"system":"y"}]}`, "463 NHC-9"},
		{"all of a bundle", `{"resourceType":"Bundle","id":"b","entry":[{"resource":{"resourceType":"Patient","id":"463"}},{},{"resource":{"resourceType":"Observation","id":"o","subject":{"reference":"Patient/464"}}}]}`, "463 464"},
		{"ids of patientRole", `<ClinicalDocument xmlns="urn:hl7-org:v3"><id root="1.2" extension="D1"/><recordTarget><patientRole><id root="1.3" extension="463"/><id root="1.4" extension="NHC-9"/></patientRole></recordTarget></ClinicalDocument>`, "463 NHC-9"},
	} {
		d, reason := Open([]byte(c.doc), Options{})
		if got := bytes.Join(append([][]byte{d.Patient}, d.Others...), []byte(" ")); reason != pipeline.Sound || string(got) != c.want {
			t.Errorf("%s: %v, ids %q, want %q", c.name, reason, got, c.want)
		}
	}
}
