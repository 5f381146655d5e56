package recognize

import "github.com/zeebo/xxh3"

// PatientHash is what Options.Excluded knows of a patient's id: 64 bits, so that
// among a million ids and a hundred million patients one is left out in vain with
// a probability of one in 200,000. A note too few is the error to make here.
func PatientHash(id []byte) uint64 { return xxh3.Hash(id) }
