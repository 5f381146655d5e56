package input_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/read/input"
)

// marked is a source of notes in the notation of markup.Parse, two a
// batch.
type marked struct {
	notes []string
	at    int
}

func (m *marked) Next(b *pipeline.Batch) error {
	if m.at == len(m.notes) {
		return io.EOF
	}
	for ; m.at < len(m.notes) && b.Len() < 2; m.at++ {
		text, spans, err := markup.Parse(m.notes[m.at])
		if err != nil {
			return err
		}
		b.ID.Append(fmt.Append(nil, m.at))
		b.Text.Append(text)
		b.Gold.Append(spans...)
		reason := pipeline.Sound
		if strings.HasPrefix(m.notes[m.at], "!") {
			reason = pipeline.BadEncoding
		}
		b.Reason = append(b.Reason, reason)
	}
	return nil
}

// notesOf returns the notes of a source as id, text and spans, and checks First.
func notesOf(t *testing.T, src pipeline.Source) (got []string) {
	t.Helper()
	b := new(pipeline.Batch)
	n := int64(0)
	for {
		b.Reset()
		err := src.Next(b)
		if err == io.EOF {
			if b.Len() != 0 {
				t.Error("notes in the batch that ends a source")
			}
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First != n {
			t.Errorf("First is %d, want %d", b.First, n)
		}
		n += int64(b.Len())
		for i := range b.Len() {
			line := fmt.Sprintf("%s %q", b.ID.At(i), b.Text.At(i))
			for _, s := range b.Gold.At(i) {
				line += fmt.Sprintf(" %q", b.Text.At(i)[s.Start:s.End])
			}
			got = append(got, line)
		}
	}
}

func TestKeep(t *testing.T) {
	src := &marked{notes: []string{"a", "b [PERSON:Ada]", "c", "d", "[PERSON:Eva] e"}}
	got := notesOf(t, input.NewKeep(src, func(id []byte) bool { return string(id) != "0" && string(id) != "3" }))
	if diff := cmp.Diff([]string{`1 "b Ada" "Ada"`, `2 "c"`, `4 "Eva e" "Eva"`}, got); diff != "" {
		t.Error(diff)
	}
	if got := notesOf(t, input.NewKeep(&marked{notes: []string{"a"}}, func([]byte) bool { return false })); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
