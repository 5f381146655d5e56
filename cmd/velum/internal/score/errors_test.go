package score

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// The errors of three invented notes, one of each kind.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, lines ...string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gold := file("gold.jsonl",
		`{"id":"vic/1","text":"Ve Rosa Puig de Vic.","spans":[{"start":3,"end":12,"label":"PERSON"},{"start":16,"end":19,"label":"LOCATION"}]}`,
		`{"id":"vic/2","text":"Truca <Pere> el 3/4.","spans":[{"start":7,"end":11,"label":"PERSON"},{"start":16,"end":19,"label":"DATE"}]}`,
		`{"id":"3","text":"Sense res.","spans":[]}`)
	system := file("system.jsonl",
		`{"id":"vic/1","text":"Ve Rosa Puig de Vic.","spans":[{"start":3,"end":7,"label":"PERSON"},{"start":16,"end":19,"label":"PERSON"}]}`,
		`{"id":"vic/2","text":"Truca <Pere> el 3/4.","spans":[{"start":16,"end":20,"label":"TELEPHONE"}]}`,
		`{"id":"3","text":"Sense res.","spans":[{"start":6,"end":9,"label":"PERSON"}]}`)
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(errors string) (string, error) {
		var out bytes.Buffer
		c := &console.Console{Out: &out, Errs: &out, Log: slog.New(slog.DiscardHandler)}
		name := filepath.Join(dir, errors)
		err := Evaluate(context.Background(), c, cfg, &Options{Gold: gold, System: system, Draws: -1, Beta: 1, Errors: name})
		written, _ := os.ReadFile(name)
		return string(written), err
	}
	lines, err := evaluate("e.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(lines) {
		var m mistake
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		said := m.ID + " " + m.Group + " " + m.Kind
		if m.Leaks {
			said += " leaks"
		}
		got = append(got, said)
	}
	want := "vic/1 vic border leaks, vic/1 vic type, vic/2 vic missing leaks, vic/2 vic border_and_type, 3  spurious"
	if strings.Join(got, ", ") != want {
		t.Errorf("errors %s; want %s", strings.Join(got, ", "), want)
	}
	page, err := evaluate("e.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{"5 errors; at 2 something", "Truca &lt;", "<b>Rosa Puig</b>", "border_and_type"} {
		if !strings.Contains(page, has) {
			t.Errorf("the page lacks %q", has)
		}
	}
	if strings.Contains(page, "<Pere>") || strings.Contains(page, "src=") {
		t.Error("the page takes text for markup, or wants something from elsewhere")
	}
	if strings.Index(page, "vic/2") > strings.Index(page, "border_and_type</td>") && strings.Contains(page, "border_and_type</td>") {
		t.Error("those that leak do not come first")
	}
	if _, err := evaluate("e.txt"); err == nil || !strings.Contains(err.Error(), "a page or lines of JSON") {
		t.Errorf("e.txt: %v", err)
	}
}

// TestFrequencies: a value that comes twice in a note and once in another stands in two
// notes, whatever its case, and three mentions say so.
func TestFrequencies(t *testing.T) {
	f := frequencies{all: map[string]*frequency{}}
	b := new(pipeline.Batch)
	for _, marked := range []string{"[PERSON:Ona] y [PERSON:ONA] en [LOCATION:Reus]", "[PERSON:Ona]", "[PERSON:Pau]"} {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatal(err)
		}
		b.Text.Append(text)
		b.Gold.Append(spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.ID.Append([]byte("x"))
	}
	f.add(b)
	got := f.boxes()
	if len(got) != 2 || got[0].Category != "PERSON" || got[0].Mentions != 4 || got[0].Values != 2 || got[0].Notes != [5]int{1, 1, 2, 2, 2} || got[0].X[4] != 100 || got[1].Notes != [5]int{1, 1, 1, 1, 1} {
		t.Errorf("%+v", got)
	}
	if said := f.class(&mistake{Gold: &side{Category: "PERSON", Text: "ona"}}, page.LanguageOf("en")); said != page.LanguageOf("en").Text("errors few") {
		t.Errorf("ona stands in %s", said)
	}
}
