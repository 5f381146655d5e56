package flow

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

func TestBadInputs(t *testing.T) {
	for _, c := range []struct {
		bad          []commit.BadInput
		want, remedy string
	}{
		{[]commit.BadInput{{Input: "a.csv", Cause: "is cut"}}, "a.csv: is cut", "ask for it again"},
		{[]commit.BadInput{{Input: "a.csv", Path: "in/a.csv", Cause: "is cut"}, {Input: "b"}}, "in/a.csv: is cut; 1 other files were not read", "ask for it again; the private manifest has all causes"},
		{[]commit.BadInput{{Input: "a.csv", Cause: "is another", Other: true}, {}, {}}, "a.csv: is another; 2 other files were not read", "give it as an archive of its own"},
	} {
		err := BadInputs(c.bad)
		if _, remedy := exit.Explain(err); err.Error() != c.want || exit.CodeOf(err) != exit.Quarantined || !strings.HasPrefix(remedy, c.remedy) {
			t.Errorf("%v; %s", err, remedy)
		}
	}
	if err := InputError(&input.Error{Path: "a"}); exit.CodeOf(err) != exit.Config {
		t.Errorf("what a user gave: %v", err)
	}
	other := errors.New("x")
	if InputError(other) != other || InputError(nil) != nil {
		t.Error("other errors stay")
	}
}

func TestByHash(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f", "a", "c"}
	one, two := ByHash(slices.Clone(ids), 1), ByHash(slices.Clone(ids), 2)
	if len(one) != 6 || len(two) != 6 || slices.Equal(one, two) || !slices.Equal(one, ByHash([]string{"f", "e", "d", "c", "b", "a"}, 1)) {
		t.Errorf("%q, %q", one, two)
	}
}

func TestIntoLabels(t *testing.T) {
	into, err := IntoLabels("hipaa")
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"PERSON": "NAME", "NOMBRE_SUJETO_ASISTENCIA": "NAME", "DATE": "DATE", "NAME": "NAME"} {
		c, err := pipeline.ParseCategory(from)
		if err != nil || into(c).String() != want {
			t.Errorf("%s becomes %v, want %s", from, into(c), want)
		}
	}
	if into(pipeline.None) != pipeline.None {
		t.Error("none becomes something")
	}
	if _, err := IntoLabels("nobody's"); err == nil {
		t.Error("an unknown set: no error")
	}
}

func TestFormatOf(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"brat/x", "empty", "own.csv"} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"brat/x/a.ann", "brat/readme", "own.csv/a.jsonl"} {
		if err := os.WriteFile(filepath.FromSlash(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, path, want string }{
		{"brat", "x.csv", "brat"}, {"", "x.csv", "csv"}, {"", "x.TSV.gz", "csv"}, {"", "x.jsonl.zst", "jsonl"}, {"", "x.json", "jsonl"}, {"", "x.parquet", "parquet"}, {"", "x.xml", "i2b2"},
		{"", "-", "jsonl"}, {"", "brat", "brat"}, {"", "own.csv", "jsonl"}, {"", "empty", ""}, {"", "x.doc", ""}, {"doc", "x.csv", ""}, {"", "x.zip", ""},
	} {
		got, err := FormatOf("from", c.name, c.path)
		if got != c.want || (err == nil) == (c.want == "") || err != nil && exit.CodeOf(err) != exit.Config {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}

func TestCutClusters(t *testing.T) {
	for text, want := range map[string]struct {
		name, file string
		k          int
	}{
		"c=v.velum:40": {"c", "v.velum", 40}, "c=a:b:4": {"c", "a:b", 4}, "c=:4": {"c", "", -1}, "c=v": {"c", "", -1}, "c": {"c", "", -1}, "c=v:x": {"c", "", -1}, "c=v:": {"c", "", -1},
	} {
		if name, file, k := CutClusters(text); name != want.name || file != want.file || k != want.k {
			t.Errorf("%s: %q %q %d", text, name, file, k)
		}
	}
	if _, err := TemplateText("boot"); err != nil {
		t.Errorf("a template that ships: %v", err)
	}
	if _, err := TemplateText("nobody's"); err == nil {
		t.Error("no template: no error")
	}
}

// TestFolds: groups go whole, the largest first; notes that are groups of their own are dealt out in turn, by their hash.
func TestFolds(t *testing.T) {
	groups := []string{"a", "b", "b", "c", "c", "c", "d", "d", "d", "d"}
	fold := Folds(groups, 2, 7)
	if fold["d"] != 0 || fold["c"] != 1 || fold["b"] != 1 || fold["a"] != 0 || len(fold) != 4 {
		t.Errorf("4 and 3 notes, then 2 to the 3, then 1 to the 4: %v", fold)
	}
	if groups[0] != "a" || groups[9] != "d" {
		t.Error("the notes are in another order")
	}
	ids := []string{"1", "2", "3", "4", "5", "6", "7"}
	fold = Folds(ids, 3, 7)
	for i, id := range ByHash(ids, 7) {
		if fold[id] != i%3 {
			t.Errorf("%s, the note %d by hash, is in fold %d of 3", id, i, fold[id])
		}
	}
}
