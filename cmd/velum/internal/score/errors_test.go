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
}
