package audit

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSketch: sets that fit meet if they have a hash in common and only then; larger
// ones that share one note in a hundred meet, and strangers never do.
func TestSketch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64Range(0, 300), 0, 80)
		a, b := hashes.Draw(t, "a"), hashes.Draw(t, "b")
		for i := range a {
			a[i] <<= 11
		}
		for i := range b {
			b[i] <<= 11
		}
		common := slices.ContainsFunc(a, func(h uint64) bool { return slices.Contains(b, h) })
		if NewSketch(a[:len(a)/2], a[len(a)/2:]).Meets(NewSketch(b)) != common {
			t.Fatalf("%v and %v: want %v", a, b, common)
		}
	})
	mix := func(i uint64) uint64 { return (i + 1) * 0x9E3779B97F4A7C15 }
	var a, b, c []uint64
	for i := range uint64(200_000) {
		a, c = append(a, mix(i)), append(c, mix(i+1<<32))
		if i < 198_000 {
			b = append(b, mix(i+1<<33))
		} else {
			b = append(b, mix(i))
		}
	}
	if len(NewSketch(a)) != SketchSize || !NewSketch(a).Meets(NewSketch(b)) || NewSketch(a).Meets(NewSketch(c)) {
		t.Error("sketches of large sets")
	}
}

// TestReleases: what is written is read, in order, also when a kill has torn the line
// of one of them; a line that was changed is found.
func TestReleases(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ledger.jsonl")
	first := Release{Purpose: "a study", Notes: 3, Output: "0f", Policy: "01", Spans: "02", K: 5, Plan: "age 1/5", IDs: Sketch{1, 2, 3}}
	if _, err := Append(name, Entry{Event: "release", Key: "k1", Model: "m", Release: &first}, Entry{Event: "end"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"n":3,"prev":"5e`)
	f.Close()
	second := first
	second.Purpose = "another"
	if _, err := Append(name, Entry{Event: "release", Key: "k2", Model: "m", Release: &second}); err != nil {
		t.Fatal(err)
	}
	all, err := Releases(name)
	if err != nil || len(all) != 2 || all[0].Key != "k1" || all[1].Purpose != "another" || !all[0].IDs.Meets(Sketch{3}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := all[0].Differs(&all[1]); !slices.Equal(got, []string{"key", "purpose"}) {
		t.Errorf("differ in %v", got)
	}
	if ok, err := sound(name); !ok || err != nil {
		t.Errorf("the chain: %v, %v", ok, err)
	}
	data, _ := os.ReadFile(name)
	os.WriteFile(name, []byte(string(data[:60])+"x"+string(data[61:])), 0o600)
	if ok, _ := sound(name); ok {
		t.Error("a change is not found")
	}
}
