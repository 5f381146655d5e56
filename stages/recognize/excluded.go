package recognize

import (
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

// Objection returns the reason to leave out the notes of a patient, by the patient's normalized id and the sets of
// objectors; Sound if there is none. If anybody objects, notes without a patient id are left out, too, because they may
// be an objector's.
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
