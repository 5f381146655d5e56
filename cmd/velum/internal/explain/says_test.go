package explain_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/explain"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// TestSays has whole explanations of invented notes, for people and as JSON, and what cannot be explained.
func TestSays(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("notes.jsonl", []byte(`{"id":"1","text":"Acude con Rosa Puig; tel 612345678"}`+"\n"+`{"id":"2","text":"Signo de Pere Roca. Tos"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, set := range [][]string{{"tag.fast=true"}, {"tag.fast=true", "resolve.never=[signo de Pere Roca]", "mask.operators=PERSON=keep"}} {
		cfg, err := option.Load(option.Sources{}.With(set))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []explain.Options{
			{Text: "La Sra. Rosa Puig, de 93 años, vive en c/ Aragó 12; tel 612345678 y NHC 5637110. Signo de Pere Roca", At: -1},
			{Text: "Rosa vino; rosa y Rosa", Word: "Rosa", At: -1}, {Text: "Rosa vino", Word: "Ana", At: -1}, {Text: "Rosa vino", At: 2}, {Text: "Rosa vino", At: 99}, {Text: "", At: -1},
			{In: "notes.jsonl", From: "jsonl", ID: "2", At: -1}, {In: "notes.jsonl", From: "jsonl", ID: "3", At: -1}, {In: "nowhere.jsonl", ID: "3", At: -1},
		} {
			for _, json := range []bool{false, true} {
				if json && (len(set) != 3 || o.Word == "" && o.At < 0) {
					continue // as long as the note has words
				}
				fmt.Fprintf(&b, "\n== %v %+v %t\n", set, o, json)
				c := &console.Console{Out: &b, Errs: &b, JSON: json}
				c.StartLog()
				exit.Print(&b, explain.Run(t.Context(), c, cfg, &o), false)
			}
		}
	}
	golden(t, "says", b.Bytes())
}

var (
	update  = flag.Bool("update", false, "write the golden file anew; read the difference before you commit it")
	home, _ = os.Getwd()
	// changing is what is not the same in every run, or hangs on a model.
	changing = regexp.MustCompile(`[0-9a-f]{12,}|part-[-0-9a-f]+|\d+-\d\d-\d\dT[0-9:.]+Z|\d+(\.\d+)? ?(s|ms|MB|µs)\b|/tmp/[^ "<:;,]*/|\d\.\d+`)
)

// golden holds what was written against testdata/NAME.golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = changing.ReplaceAll(got, []byte("*"))
	path := filepath.Join(home, "testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !bytes.Equal(a[i], b[i]) {
			t.Fatalf("%s, line %d:\n got %s\nwant %s\nrun with -update and read the difference", path, i+1, a[min(i, len(a)-1)], b[min(i, len(b)-1)])
		}
	}
}
