package summary

import (
	"encoding/binary"
	"math"
	"slices"
)

// Combinations are the values that notes of a unit have in their quasi-identifiers, in the order in which they come first.
type Combinations struct {
	number map[string]int32 // by key, see AppendValue
	all    []combination
}

type combination struct {
	key      string
	notes    int64
	patients []uint64 // hashes, as often as they come
}

// AppendValue appends a value to the key of a combination.
func AppendValue(dst, value []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(value))), value...)
}

// Add counts a note and returns the number of its values.
func (c *Combinations) Add(key, patient []byte) int32 {
	n, there := c.number[string(key)]
	if !there {
		if n = int32(len(c.all)); n == 0 {
			c.number = map[string]int32{}
		}
		c.all = append(c.all, combination{key: string(key)})
		c.number[c.all[n].key] = n
	}
	of := &c.all[n]
	of.notes++
	hash := uint64(0) // of a patient whom nobody knows
	if len(patient) > 0 {
		hash = binary.LittleEndian.Uint64(patient)
	}
	of.patients = append(of.patients, hash)
	return n
}

// AppendBinary appends the combinations in the order of their numbers:
//
//	key, notes, patients, and of each patient the hash
func (c *Combinations) AppendBinary(dst []byte) []byte {
	for k := range c.all {
		of := &c.all[k]
		slices.Sort(of.patients)
		patients := slices.Compact(of.patients)
		dst = append(binary.AppendUvarint(dst, uint64(len(of.key))), of.key...)
		dst = binary.AppendUvarint(dst, uint64(of.notes))
		dst = binary.AppendUvarint(dst, uint64(len(patients)))
		for _, p := range patients {
			dst = binary.LittleEndian.AppendUint64(dst, p)
		}
	}
	return dst
}

// Combination is a combination of values of quasi-identifiers, one per column, in the notes of a unit.
type Combination struct {
	Key      []byte // of all values
	Values   []string
	Notes    int64
	Patients []byte // hashes of eight bytes, rising; one is 0 where notes have no patient
}

// EachCombination calls do for every combination in field Quasi of a summary, in ascending order; n is the number of
// values in each (-1: any). The argument is valid during the call.
func EachCombination(field []byte, n int, do func(c *Combination)) error {
	c := new(Combination)
	for len(field) > 0 {
		key, rest, ok := cutBytes(field)
		if !ok {
			return ErrSummary
		}
		c.Key, c.Values = key, c.Values[:0]
		for len(key) > 0 {
			var value []byte
			if value, key, ok = cutBytes(key); !ok {
				return ErrSummary
			}
			c.Values = append(c.Values, string(value))
		}
		notes, at := binary.Uvarint(rest)
		patients, size := binary.Uvarint(rest[max(at, 0):])
		if at <= 0 || size <= 0 || notes > math.MaxInt32 || patients > uint64(len(rest)-at-size)/patientBytes || n >= 0 && len(c.Values) != n {
			return ErrSummary
		}
		rest = rest[at+size:]
		c.Notes, c.Patients, field = int64(notes), rest[:patients*patientBytes], rest[patients*patientBytes:]
		do(c)
	}
	return nil
}

const patientBytes = 8

// cutBytes cuts what has its length before it.
func cutBytes(data []byte) (value, rest []byte, ok bool) {
	n, at := binary.Uvarint(data)
	if at <= 0 || n > uint64(len(data)-at) {
		return nil, nil, false
	}
	return data[at : at+int(n)], data[at+int(n):], true
}
