package mask_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
)

// dated is a batch of notes of patients and days.
func dated(patients []string, days []int32) *pipeline.Batch {
	b := new(pipeline.Batch)
	whose := pipeline.Column{Name: input.PatientColumn, Kind: pipeline.BytesColumn}
	when := pipeline.Column{Name: input.DateColumn, Kind: pipeline.DateColumn}
	for i, p := range patients {
		b.ID.Append([]byte(fmt.Sprint(i)))
		b.Text.Append([]byte("Control."))
		b.Spans.Append()
		b.Reason = append(b.Reason, pipeline.Sound)
		whose.Bytes.Append([]byte(p))
		whose.Valid = append(whose.Valid, p != "")
		when.Fixed = append(when.Fixed, uint64(uint32(days[i])))
		when.Valid = append(when.Valid, true)
	}
	b.Extra = []pipeline.Column{whose, when}
	return b
}

// TestRange: of 400 patients with a note every ten days of a year, each has a window of the year less the edge left, every
// place of which is about as frequent; who has notes in spring alone loses none, nor does a note without a patient or one
// that came when the range was settled.
func TestRange(t *testing.T) {
	const edge, days = 72, 360
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte("0123456789abcdef0123456789abcdef"), 0o400); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := mask.ParseChain(fmt.Sprintf("shift scope=patient days=3650 edge=%d", edge))
	if err != nil {
		t.Fatal(err)
	}
	if chain.Edge() != edge {
		t.Fatalf("the chain trims %d days", chain.Edge())
	}
	o := mask.Options{Key: key, Default: chain, PatientColumn: input.PatientColumn, DateColumn: input.DateColumn}
	var patients []string
	var at []int32
	note := func(p string, day int32) { patients, at = append(patients, p), append(at, day) }
	for p := range 400 {
		for day := int32(0); day < days; day++ {
			if day%10 == int32(p)%10 || day == 0 || day == days-1 {
				note(fmt.Sprint("long ", p), day)
			}
		}
	}
	note("", 0)
	note("spring", 0)
	note("spring", days-edge-1)
	found, err := mask.NewDays(&o)
	if err != nil {
		t.Fatal(err)
	}
	b := dated(patients, at)
	if err := found.Put(b); err != nil {
		t.Fatal(err)
	}
	r, long := found.Range(edge)
	if !long || r.From != 0 || r.To != days-1 || len(r.Patients) != 400 {
		t.Fatalf("range %d to %d, %d patients, long enough: %v", r.From, r.To, len(r.Patients), long)
	}
	if _, long := found.Range(days/3 + 1); long {
		t.Error("a range of less than three edges is trimmed")
	}
	if r.Stretches {
		t.Error("all days of one patient after the other are a stretch")
	}
	for _, mixed := range []bool{true, false} { // months one behind the other, in one unit
		sorted, err := mask.NewDays(&o)
		if err != nil {
			t.Fatal(err)
		}
		sorted.Mixed = mixed
		for month := range int32(12) {
			var whose []string
			var when []int32
			for day := range int32(30) {
				whose, when = append(whose, fmt.Sprint(day)), append(when, 30*month+day)
			}
			if err := sorted.Put(dated(whose, when)); err != nil {
				t.Fatal(err)
			}
		}
		sorted.EndPiece()
		if r, _ := sorted.Range(edge); r.Stretches == mixed {
			t.Errorf("months in a row, mixed %t: stretches %t", mixed, r.Stretches)
		}
	}
	o.Range = r
	step, err := mask.New(o)
	if err != nil {
		t.Fatal(err)
	}
	do := step.New()
	if err := do(b); err != nil {
		t.Fatal(err)
	}
	first, last := map[string]int32{}, map[string]int32{}
	held := 0
	for i, p := range patients {
		switch b.Reason[i] {
		case pipeline.RangeEdge:
			held++
		case pipeline.Sound:
			if _, ok := first[p]; !ok {
				first[p] = at[i]
			}
			last[p] = at[i]
		}
	}
	if first[""] != 0 || first["spring"] != 0 || last["spring"] != days-edge-1 {
		t.Error("notes of a patient who spans nothing are held back")
	}
	var thirds [3]int
	for p, from := range first {
		if p == "" || p == "spring" {
			continue
		}
		if left := days - (last[p] - from); left < edge {
			t.Errorf("%s: %d offsets left", p, left)
		}
		thirds[min(from/(edge/3), 2)]++
	}
	for _, n := range thirds {
		if n < 90 {
			t.Errorf("windows by third of the edge: %v", thirds)
		}
	}
	if share := float64(held) / float64(len(patients)); share < 0.18 || share > 0.24 {
		t.Errorf("%.3f of the notes are held back", share)
	}
	b = dated([]string{"long 1", "long 1"}, []int32{days, -1})
	if err := do(b); err != nil || b.Reason[0] != pipeline.Sound || b.Reason[1] != pipeline.Sound {
		t.Errorf("what was added later is held back: %v, %v", b.Reason, err)
	}
}
