package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// research is a flow of policy research with other options, as an environment has
// them, and everything it needs.
func research(t *testing.T, env ...string) *Flow {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("a key of thirty-two bytes, no more"), 0o400); err != nil {
		t.Fatal(err)
	}
	c, err := option.Load(option.Sources{Env: append([]string{"VELUM_MASK_POLICY=research", "VELUM_TAG_RECALL=0", "VELUM_KEY_FILE=" + key,
		"VELUM_TAG_MODEL=primary-care", "VELUM_READ_COLUMNS_PATIENT=patient"}, env...)})
	f, err := Open(c, err)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// maskedBy sends notes of one patient through the row of `velum mask - -`. A note
// that is kept back comes out empty.
func maskedBy(t *testing.T, f *Flow, notes []string) (out []string) {
	t.Helper()
	steps, err := f.StreamSteps(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	b := new(pipeline.Batch)
	patient := pipeline.Column{Name: input.PatientColumn, Kind: pipeline.BytesColumn}
	for i, note := range notes {
		b.ID.Append(fmt.Appendf(nil, "n%d", i))
		b.Text.Append([]byte(note))
		b.Reason = append(b.Reason, pipeline.Sound)
		patient.Bytes.Append([]byte("p1"))
		patient.Valid = append(patient.Valid, true)
	}
	b.Extra = []pipeline.Column{patient}
	for _, s := range steps {
		if err := s.New()(b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range notes {
		out = append(out, string(b.Masked.At(i)))
	}
	return out
}

// event is a sentence of testdata/calendar.txt.
type event struct {
	line  int
	note  string
	tells []string // words that must go
}

func events(t *testing.T) (all []event) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "calendar.txt"))
	if err != nil {
		t.Fatal(err)
	}
	braces := regexp.MustCompile(`\{([^}]*)\}`)
	for n, line := range strings.Split(string(text), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			continue
		}
		for _, sentence := range fields[1:] {
			e := event{line: n + 1, note: strings.NewReplacer("{", "", "}", "").Replace(sentence)}
			for _, m := range braces.FindAllStringSubmatch(sentence, -1) {
				e.tells = append(e.tells, telling(m[1])...)
			}
			all = append(all, e)
		}
	}
	return all
}

// telling are the words of a phrase that tell something.
func telling(phrase string) (words []string) {
	for _, w := range strings.Fields(string(gazetteer.Fold(nil, []byte(phrase)))) {
		w = strings.Trim(w, "',.()")
		if !slices.Contains([]string{"dia", "de", "la", "el", "del", "los", "the", "of", "day", "vacuna", "per", "l'", "dels", "dies", ""}, w) {
			words = append(words, w)
		}
	}
	return words
}

var numeric = regexp.MustCompile(`\b\d\d/\d\d/\d{4}\b`)

// TestCalendar: seventy-four events in three languages, and a reader who knows the calendar
// finds no word in the masked notes that would tell him the day; the dates beside them
// are moved, all by the same.
func TestCalendar(t *testing.T) {
	all := events(t)
	if len(all) != 222 {
		t.Fatalf("%d sentences, want 222", len(all))
	}
	var notes []string
	for _, e := range all {
		notes = append(notes, e.note)
	}
	kept, dates, moved, offset := 0, 0, 0, time.Duration(0)
	for i, masked := range maskedBy(t, research(t), notes) {
		e := all[i]
		if masked == "" {
			kept++
			continue
		}
		words := " " + strings.NewReplacer(",", " ", ".", " ", "(", " ", ")", " ", "'", " ", "[", " ", "]", " ").Replace(string(gazetteer.Fold(nil, []byte(masked)))) + " "
		for _, w := range e.tells {
			if strings.Contains(words, " "+w+" ") {
				t.Errorf("line %d: %q is left: %s", e.line, w, masked)
			}
		}
		dates++
		was, err1 := time.Parse("02/01/2006", numeric.FindString(e.note))
		now, err2 := time.Parse("02/01/2006", numeric.FindString(masked))
		if err1 != nil || err2 != nil {
			continue
		}
		moved++
		if by := now.Sub(was); offset == 0 {
			offset = by
		} else if by != offset {
			t.Errorf("line %d: moved by %v, others by %v", e.line, by, offset)
		}
	}
	if kept > 2 || float64(moved) < 0.98*float64(dates) {
		t.Errorf("%d of %d dates are moved, %d notes are kept back", moved, dates, kept)
	}
}

// The ids of a stream are vetted where masked notes are written, and nothing is returned of a stream that has an error.
func TestVettedStream(t *testing.T) {
	f := research(t, "VELUM_READ_IDS=keep")
	for _, vetted := range []bool{false, true} {
		steps, err := f.StreamSteps(nil, vetted)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(steps, func(s pipeline.Step) bool { return s.Name == "vet" }); got != vetted {
			t.Errorf("want vetted %t, have %t", vetted, got)
		}
	}
	f.Mask.Operators = map[string]string{"PERSON": "unheard of"}
	for _, vetted := range []bool{false, true} {
		if _, err := f.StreamSteps(nil, vetted); err == nil {
			t.Errorf("vetted %t: no error for an unknown operator", vetted)
		}
	}
}

// Rare facts that only a list would show are looked for where there is a list: in a run, not in a pipe.
func TestRareSteps(t *testing.T) {
	looks := func(steps []pipeline.Step, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(steps, func(s pipeline.Step) bool { return s.Name == "rare" })
	}
	for do, pipe := range map[string]bool{"review": false, "generalize": true, "hold": true} {
		f := research(t, "VELUM_MASK_RARE="+do)
		if got := looks(f.StreamSteps(nil, true)); got != pipe {
			t.Errorf("%s in a pipe: %t", do, got)
		}
		if !looks(f.RunSteps(nil, new(Found))) {
			t.Errorf("%s in a run: nobody looks", do)
		}
	}
}
