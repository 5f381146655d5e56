package recognize

import (
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

// Objection tells why the notes of a patient are left out, by the form of the id
// and those of who objects; Sound if they are not. Where anybody objects, a note
// that is nobody's may be theirs.
func Objection(excluded []*patientid.Set, patient []byte) pipeline.Reason {
	for _, set := range excluded {
		if set.Has(patient) {
			return pipeline.Excluded
		}
	}
	if len(patient) == 0 && len(excluded) > 0 {
		return pipeline.NoPatient
	}
	return pipeline.Sound
}
