package pack_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/pack"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// TestSays has what the verbs of rules print for files of rules, lists and labelled notes, for people and as JSON.
func TestSays(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"own.rules":  "version 1\nwords kin hija hijo\nnetwork own RECORD_ID 0.95\n a text:/ZX-\\d+/ -> end\nnetwork child PERSON 0.9\n a words:kin -> b\n b cap / open close -> end\n",
		"old.rules":  "version 1\nnetwork own RECORD_ID 0.95\n a text:/ZX-5\\d/ -> end\n",
		"bad.rules":  "version 1\nnetwork own RECORD 0.95\n a text:/ZX-(/ -> end\n",
		"own.words":  "version 1\nwords +title hna\nwords -title don\n",
		"bad.words":  "version 1\nwords nobody hna\n",
		"gold.jsonl": `{"id":"1","text":"Nº ZX-55 y su hija Ana","spans":[{"start":3,"end":8,"label":"RECORD_ID"},{"start":19,"end":22,"label":"PERSON"}]}` + "\n" + `{"id":"2","text":"Nº ZX-77, su hijo Pau y Rosa","spans":[{"start":3,"end":8,"label":"RECORD_ID"},{"start":24,"end":28,"label":"PERSON"}]}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, json := range []bool{false, true} {
		c := &console.Console{Out: &b, Errs: &b, JSON: json}
		c.StartLog()
		say := func(what string, err error) {
			fmt.Fprintf(&b, "\n== %s %t\n", what, json)
			exit.Print(&b, err, false)
		}
		say("check", pack.Check(t.Context(), c, cfg, &pack.Options{Files: []string{"own.rules", "own.words"}}))
		say("check mistakes", pack.Check(t.Context(), c, cfg, &pack.Options{Files: []string{"bad.rules", "own.rules", "bad.words"}}))
		say("check nowhere", pack.Check(t.Context(), c, cfg, &pack.Options{Files: []string{"nowhere"}}))
		say("words", pack.Words(t.Context(), c, cfg, &pack.Options{Words: []string{"until"}}))
		say("words unknown", pack.Words(t.Context(), c, cfg, &pack.Options{Words: []string{"kind"}}))
		say("trace", pack.Trace(t.Context(), c, cfg, &pack.Options{File: "own.rules", Words: strings.Fields("Su hija Ana, nº ZX-55.")}))
		say("trace a note", pack.Trace(t.Context(), c, cfg, &pack.Options{File: "own.rules", In: "gold.jsonl", ID: "2"}))
		say("trace no note", pack.Trace(t.Context(), c, cfg, &pack.Options{File: "own.rules", In: "gold.jsonl", ID: "3"}))
		say("test", pack.Test(t.Context(), c, cfg, &pack.Options{File: "own.rules", Gold: "gold.jsonl"}))
		say("test with", pack.Test(t.Context(), c, cfg, &pack.Options{File: "own.rules", Gold: "gold.jsonl", With: "old.rules"}))
		say("build", pack.Build(t.Context(), c, cfg, &pack.Options{File: "own.rules", Out: "own.velum"}))
		say("build mistakes", pack.Build(t.Context(), c, cfg, &pack.Options{File: "bad.rules", Out: "bad.velum"}))
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
