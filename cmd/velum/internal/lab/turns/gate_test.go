package turns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// scorerOf scores notes of one person each: of those that a system finds, f is strictly right, m only masked, . left.
func scorerOf(t *testing.T, category pipeline.Category, found string) *score.Scorer {
	t.Helper()
	s := score.New(score.Options{})
	gold := []pipeline.Span{{Start: 0, End: 3, Category: category}}
	for _, c := range found {
		system := map[rune][]pipeline.Span{'f': gold, 'm': {{Start: 0, End: 5, Category: category}}}[c]
		s.Add([]byte("Ada B"), nil, gold, system)
	}
	return s
}

// A model stays out of use for what it loses net of what it gains, beyond chance; not for a few identifiers.
func TestDecide(t *testing.T) {
	all, person := strings.Repeat("f", 40), pipeline.Category(1)
	worse, many := strings.Repeat("m", 400), strings.Repeat("f", 400)
	for _, c := range []struct {
		what, was, now string
		want           string
	}{
		{"the same", all, all, "[]"},
		{"more", all[:30] + "..........", all, "[]"},
		{"one border of forty", all, all[:39] + "m", "[]"},
		{"ten borders of forty", all, all[:30] + "mmmmmmmmmm", "[PERSON recall -10 +0]"},
		{"others left", all[:38] + "..", ".." + all[:38], "[]"},
		{"ten left", all, all[:30] + "..........", "[ALL masked_recall -10 +0 PERSON recall -10 +0 PERSON masked_recall -10 +0]"},
		// what kept better models out of use: one to three of many are lost
		{"one left of 400", worse, many[:399] + ".", "[]"},
		{"three left of 400", worse, many[:397] + "...", "[]"},
		{"four left of 400", worse, many[:396] + "....", "[ALL masked_recall -4 +0 PERSON masked_recall -4 +0]"},
		{"six left and three gained", "..." + worse[3:], many[:394] + "......", "[]"},
		{"twelve left and two gained", ".." + worse[2:], many[:388] + "............", "[ALL masked_recall -12 +2 PERSON masked_recall -12 +2]"},
	} {
		lines, err := Compare(scorerOf(t, person, c.was), scorerOf(t, person, c.now))
		if err != nil {
			t.Fatal(err)
		}
		j := Judgment{Compared: lines, Better: &[2]float64{0.1, 0.2}}
		j.Decide()
		got := []string{}
		for _, l := range j.Gated {
			got = append(got, fmt.Sprintf("%s %s -%d +%d", strings.Replace(l.Category, person.String(), "PERSON", 1), l.Measure, l.Lost, l.Gained))
		}
		if fmt.Sprint(got) != c.want || j.Promoted != (c.want == "[]") {
			t.Errorf("%s: in use %v, %v, want %s", c.what, j.Promoted, got, c.want)
		}
	}
}

// A model that is not better beyond chance stays out of use, though it loses nothing.
func TestDecideBetter(t *testing.T) {
	for _, c := range []struct {
		better *[2]float64
		want   bool
	}{{nil, true}, {&[2]float64{0.001, 0.2}, true}, {&[2]float64{0, 0.2}, false}, {&[2]float64{-0.3, -0.1}, false}} {
		j := Judgment{Better: c.better}
		if j.Decide(); j.Promoted != c.want {
			t.Errorf("%v: in use %v", c.better, j.Promoted)
		}
	}
}

// A turn is what its folder holds: one that does not follow those before, whose record or files were changed, is none.
func TestRead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), Folder(0))
	write := func(name string, data []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, name), data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(ModelName, []byte("model"))
	file, err := FileOf(filepath.Join(folder, ModelName))
	if err != nil || file != (File{ModelName, 5, "9372c470eeadd5ecd9c3c74c2b3cb633f8e2f2fad799250a0f70d652b6b825e4"}) {
		t.Fatal(file, err)
	}
	turn := Turn{Schema: TurnSchema, Files: []File{file}}
	data, err := turn.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	write(FileName, data)
	got, err := Read(folder, nil)
	if err != nil || got.Sum != turn.Sum || len(got.Sum) != 64 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := Read(folder, []*Turn{got}); err == nil {
		t.Error("turn 0 follows turn 0")
	}
	next := Turn{Schema: TurnSchema, Number: 1, Parent: "another"}
	if data, err = next.Encoded(); err != nil {
		t.Fatal(err)
	}
	write(FileName, data)
	if _, err := Read(folder, []*Turn{got}); err == nil {
		t.Error("a turn follows another than the one before")
	}
	next.Parent = got.Sum
	if data, err = next.Encoded(); err != nil {
		t.Fatal(err)
	}
	write(FileName, data)
	if _, err := Read(folder, []*Turn{got}); err != nil {
		t.Error(err)
	}
	next.Files = []File{{ModelName, 5, "00"}}
	if data, err = next.Encoded(); err != nil {
		t.Fatal(err)
	}
	write(FileName, data)
	if _, err := Read(folder, []*Turn{got}); err == nil {
		t.Error("a file is not what the turn wrote")
	}
	write(FileName, []byte(`{"schema": "velum.turn/1"}`))
	if _, err := Read(folder, nil); err == nil {
		t.Error("a record of another velum is read")
	}
}
