package teach

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
)

func TestWords(t *testing.T) {
	var b pipeline.Batch
	texts := []string{"uno", "dos", "tres", "cuatro"}
	patients := pipeline.Column{Name: "patient_id", Kind: pipeline.BytesColumn, Valid: []bool{true, true, false, true}}
	numbers := pipeline.Column{Name: "patient_id", Kind: pipeline.Int64Column, Valid: []bool{true, true, false, true}, Fixed: []uint64{0, 0, 0, 9}}
	for i, text := range texts {
		b.Text.Append([]byte(text))
		b.Tokens.Append(pipeline.Token{Start: 0, End: int32(len(text))})
		b.Reason = append(b.Reason, pipeline.Sound)
		patients.Bytes.Append([]byte{"aabc"[i]})
	}
	b.Reason[3] = pipeline.BadEncoding
	for _, extra := range []pipeline.Column{patients, numbers} {
		b.Extra = []pipeline.Column{extra}
		var got []string
		var ids []uint64
		w := Words{Note: func(text []byte, tokens []pipeline.Token, patient uint64) error {
			got = append(got, string(text[tokens[0].Start:tokens[0].End]))
			ids = append(ids, patient)
			return nil
		}}
		if err := w.Put(&b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(texts[:3], got); diff != "" || w.Notes != 3 || w.Skipped != 1 {
			t.Error(diff, w.Notes, w.Skipped)
		}
		if ids[0] == 0 || ids[0] != ids[1] || ids[2] != 0 {
			t.Errorf("patients %v", ids)
		}
	}
}
