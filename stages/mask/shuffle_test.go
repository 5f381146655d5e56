package mask_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/models/release/shuffle"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/mask"
)

// TestShuffle: the values of a category change notes; what the same value has is the
// same throughout a note, in whatever case; numbers of people and who is alone go to
// the next operator; a note that was not sound neither gives nor takes.
func TestShuffle(t *testing.T) {
	o := mask.Options{Key: testKey(t, 7), Policy: map[pipeline.Category]*mask.Chain{
		category(t, "PERSON"): chain(t, "shuffle"), category(t, "DNI"): chain(t, "shuffle | suppress"), category(t, "AGE"): chain(t, "shuffle | suppress"),
	}}
	b := new(pipeline.Batch)
	for i, marked := range []string{
		"visto por [PERSON:Ada Bosch] y [PERSON:ADA BOSCH] con [LOCATION:Reus], [DNI:12345678Z].",
		"no [PERSON:Pau Roca]",
		"sale con [PERSON:Ona Puig], [AGE:40 años], y la Sra. [PERSON:Puig]",
	} {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append([]byte{byte('0' + i)})
		b.Text.Append(text)
		b.Spans.Append(spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	b.Reason[1] = pipeline.NullText
	b.First = 10
	var files [3]*os.File
	for i := range files {
		var err error
		if files[i], err = os.Create(filepath.Join(t.TempDir(), "f")); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	d := shuffle.NewDealer(shuffle.Files{Values: files[0], Cards: files[1], Notes: files[2]}, mask.ShuffleDraw(o.Key, ""))
	if err := mask.NewCollector(&o, d).Put(b); err != nil {
		t.Fatal(err)
	}
	table, err := d.Deal()
	if err != nil {
		t.Fatal(err)
	}
	o.Dealt = fromRow{table, 10}
	step, err := mask.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
	first, third := b.Masked.At(0), b.Masked.At(2)
	if want := []string{"visto por Ona Puig y Ona Puig con [LOCATION], .", "visto por Puig y Puig con [LOCATION], ."}; string(first) != want[0] && string(first) != want[1] {
		t.Errorf("first %q", first)
	}
	if !bytes.HasPrefix(third, []byte("sale con ")) || bytes.Count(third, []byte("Ada Bosch")) != 1 || bytes.Contains(third, []byte("40")) || bytes.Contains(third, []byte("Puig")) {
		t.Errorf("third %q", third)
	}
	if len(b.Masked.At(1)) > 0 {
		t.Errorf("a note in quarantine: %q", b.Masked.At(1))
	}
}

// fromRow is a table whose first note is a row.
type fromRow struct {
	*shuffle.Table
	first int64
}

func (f fromRow) Other(dst []byte, row int64, card int) ([]byte, bool, error) {
	return f.Table.Other(dst, row-f.first, card)
}

// TestCollectorFails: values that could not be kept are an error, and no extract with fewer values.
func TestCollectorFails(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	b := new(pipeline.Batch)
	for range 1 << 16 { // more than is written at once
		b.ID.Append(nil)
		b.Text.Append(nil)
		b.Spans.Append()
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	o := mask.Options{Key: testKey(t, 7), Policy: map[pipeline.Category]*mask.Chain{category(t, "PERSON"): chain(t, "shuffle")}}
	d := shuffle.NewDealer(shuffle.Files{Values: closed, Cards: closed, Notes: closed}, mask.ShuffleDraw(o.Key, ""))
	if err := mask.NewCollector(&o, d).Put(b); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
