package stream

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// FuzzDoors: whatever comes through the pipe is rows, or is refused; nothing panics or goes round for ever.
func FuzzDoors(f *testing.F) {
	f.Add([]byte(`{"note_id":"a","text":"Tos","spans":[{"start":0,"end":3,"label":"PERSON"}]}` + "\n{"))
	f.Add([]byte("MSH|^~\\&|A|B|C|D|20260101||ORU^R01|7|P|2.5\rPID|1||9||ROVIRA^ANNA\r"))
	f.Add([]byte("\xff\xff\xff\xff\x10\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		c := &console.Console{Errs: io.Discard}
		c.StartLog()
		o := input.Options{ID: []string{"note_id"}, Text: "text"}.WithDefaults()
		s := &shape{o: &o, log: &console.Aside{Log: c.Log}, fill: input.NewFiller(&o)}
		d, err := open(t.Context(), s, bytes.NewReader(data), new(bytes.Buffer))
		if err != nil {
			return
		}
		b := new(pipeline.Batch)
		for range len(data) + 2 {
			b.Reset()
			if err := d.Next(b); err != nil {
				return // the end, or what is wrong
			}
			if b.Len() == 0 || len(b.Reason) != b.Len() || slices.Contains(b.Reason, 255) {
				t.Fatalf("%d notes, %d reasons", b.Len(), len(b.Reason))
			}
		}
		t.Fatal("more batches than bytes")
	})
}
