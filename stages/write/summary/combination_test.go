package summary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCombinations counts notes and patients of each combination as a map would.
func TestCombinations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type key struct{ a, b string }
		notes, patients := map[key]int64{}, map[key]map[uint64]bool{}
		var all Combinations
		for range rapid.IntRange(0, 80).Draw(t, "notes") {
			k := key{rapid.SampledFrom([]string{"", "1", "12", "Reus"}).Draw(t, "a"), rapid.SampledFrom([]string{"", "2", "Reus"}).Draw(t, "b")}
			p := rapid.Uint64Range(0, 5).Draw(t, "patient")
			var values, patient []byte
			for _, v := range []string{k.a, k.b} {
				values = append(binary.AppendUvarint(values, uint64(len(v))), v...)
			}
			if p > 0 {
				patient = binary.LittleEndian.AppendUint64(nil, p)
			}
			if n := all.Add(values, patient); all.all[n].key != string(values) {
				t.Error("the number is another's")
			}
			notes[k]++
			if patients[k] == nil {
				patients[k] = map[uint64]bool{}
			}
			patients[k][p] = true
		}
		field := all.AppendBinary(nil)
		err := EachCombination(field, 2, func(c *Combination) {
			k := key{c.Values[0], c.Values[1]}
			if c.Notes != notes[k] || len(c.Patients) != 8*len(patients[k]) {
				t.Errorf("%q: %d notes of %d patients", k, c.Notes, len(c.Patients)/8)
			}
			for p := range slices.Chunk(c.Patients, 8) {
				if !patients[k][binary.LittleEndian.Uint64(p)] {
					t.Errorf("%q: another patient", k)
				}
			}
			delete(notes, k)
		})
		if err != nil || len(notes) > 0 {
			t.Errorf("%d combinations are missing, %v", len(notes), err)
		}
	})
}

func FuzzEachCombination(f *testing.F) {
	var all Combinations
	for i := range 5 {
		all.Add([]byte{1, 'a' + byte(i%3), 0}, binary.LittleEndian.AppendUint64(nil, uint64(i)))
	}
	f.Add(all.AppendBinary(nil), 2)
	f.Add(all.AppendBinary(nil), 1)
	f.Add([]byte{0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 0)
	f.Fuzz(func(t *testing.T, field []byte, n int) {
		err := EachCombination(field, min(max(n, 0), 8), func(c *Combination) {})
		if err != nil && !errors.Is(err, ErrSummary) {
			t.Error(fmt.Sprint(err))
		}
	})
}
