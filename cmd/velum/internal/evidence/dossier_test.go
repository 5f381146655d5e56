package evidence

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func configured() (*option.Config, error) {
	return option.Load(option.Sources{}.With([]string{"tag.fast=true", "run.workers=1", "write.max_quarantined=1", "read.columns.patient=patient"}))
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys writes a pair of keys: NAME.pem and NAME.public.
func keys(t *testing.T, name string, seed byte) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	private, err1 := x509.MarshalPKCS8PrivateKey(key)
	public, err2 := x509.MarshalPKIXPublicKey(key.Public())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	put(t, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	put(t, name+".public", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

// did is how a call ended, and what it printed.
func did(t *testing.T, json bool, o Options) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs, JSON: json}
	c.StartLog()
	if !o.Template && o.Dir == "" {
		o.Dir = "out"
	}
	o.Build, o.Config = look.Build{Version: "1"}, configured
	err := Run(t.Context(), c, &o)
	return out.String(), err
}

func wants(t *testing.T, what, got string, err error, code exit.Code, lines ...string) {
	t.Helper()
	if exit.CodeOf(err) != code {
		t.Errorf("%s: ended with %v: %v", what, exit.CodeOf(err), err)
	}
	if err != nil {
		got += err.Error()
	}
	for _, line := range lines {
		not, is := strings.CutPrefix(line, "!")
		if regexp.MustCompile("(?m)"+not).MatchString(got) == is {
			t.Errorf("%s: %s in\n%s", what, line, got)
		}
	}
}

func masks(t *testing.T, in string) {
	t.Helper()
	c := &console.Console{Out: new(bytes.Buffer), Errs: new(bytes.Buffer), Quiet: true}
	c.StartLog()
	if err := run.Mask(t.Context(), c, configured, &run.Options{In: []string{in}, Out: "out"}); err != nil {
		t.Fatal(err)
	}
}

// TestDossier makes a dossier, signs it, and finds what was changed since.
func TestDossier(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("in", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, "in/a.csv", []byte("note_id,patient,text\na,1,Avisar al 600 123 456\nb,2,Tos\n"))
	keys(t, "key", 1)
	keys(t, "other", 2)
	got, err := did(t, false, Options{Template: true})
	wants(t, "template", got, err, exit.Done, `^controller:$`)
	got, err = did(t, false, Options{Dir: "in"})
	wants(t, "no output", got, err, exit.Config, "has no output of a run that was committed")
	masks(t, "in")
	for name, o := range map[string]Options{
		"no dossier": {Verify: true}, "no dossier to sign": {Sign: "key.pem", Name: "Ada"}, "facts": {Facts: "nowhere.yaml"}, "bill": {SBOM: "nowhere.json"},
	} {
		got, err = did(t, false, o)
		wants(t, name, got, err, exit.Config)
	}
	got, err = did(t, false, Options{})
	wants(t, "made", got, err, exit.Done, `out.private/_evidence/[0-9a-f]{16}\.html`, `^\d+ of \d+ facts answered, \d+ of \d+ clauses`)
	records, _ := filepath.Glob("out.private/_evidence/*.json")
	if len(records) != 1 {
		t.Fatalf("%q", records)
	}
	data, err := os.ReadFile(records[0])
	var r Record
	if err != nil || json.Unmarshal(data, &r) != nil || r.Schema != schema || r.Language != "en" || len(r.Sections) == 0 || len(r.Clauses) == 0 || len(r.Output.Public) != 64 || len(r.Output.Head) != 64 {
		t.Fatalf("%+v, %v", r.Output, err)
	}
	wants(t, "record", string(data), nil, exit.Done, `"not_answered": "--facts: controller"`, `"word": "no key"`)
	got, err = did(t, false, Options{Verify: true})
	wants(t, "unsigned", got, err, exit.Privacy, "signature: none", "nobody has signed")

	// What the house says, and who signs.
	put(t, "wrong.yaml", []byte("controler: Hospital\npatients: many\n"))
	got, err = did(t, false, Options{Facts: "wrong.yaml"})
	wants(t, "wrong facts", got, err, exit.Config)
	put(t, "said.yaml", []byte("controller: Hospital of nowhere\n"))
	got, err = did(t, false, Options{Facts: "said.yaml", Language: "ca"})
	wants(t, "facts", got, err, exit.Done, "answers of the institution: said.yaml")
	got, err = did(t, false, Options{Sign: "key.pem"})
	wants(t, "nobody signs", got, err, exit.Config, "who signs")
	got, err = did(t, false, Options{Sign: "said.yaml", Name: "Ada"})
	wants(t, "no key", got, err, exit.Key, "no private Ed25519 key")
	got, err = did(t, false, Options{Sign: "key.pem", Name: "A. Soler, DPO", Limits: "one year"})
	wants(t, "signed", got, err, exit.Done)
	got, err = did(t, false, Options{Verify: true, PublicKey: "key.public"})
	wants(t, "verified", got, err, exit.Done, `A. Soler, DPO, 20..-..-..T.*, by the key in key.public`)
	got, err = did(t, true, Options{Verify: true})
	wants(t, "verified, as JSON", got, err, exit.Done, `"what":"signature","sound":true`)
	got, err = did(t, false, Options{Verify: true, PublicKey: "other.public"})
	wants(t, "another key", got, err, exit.Integrity, "it is not by the key in other.public")
	got, err = did(t, false, Options{Sign: "key.pem", Name: "Eva"})
	wants(t, "signed twice", got, err, exit.Config, "is signed already, by A. Soler, DPO")
	pages, _ := filepath.Glob("out.private/_evidence/*.html")
	signed := false
	for _, name := range pages {
		text, _ := os.ReadFile(name)
		signed = signed || bytes.Contains(text, []byte("A. Soler, DPO")) && bytes.Contains(text, []byte(`<html lang="ca">`)) && bytes.Contains(text, []byte("Hospital of nowhere"))
	}
	if !signed {
		t.Errorf("none of %q is signed", pages)
	}

	// A byte that was changed is found, and an output that has changed makes a dossier stale.
	log, err := os.ReadFile("out.private/_audit/audit.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "out.private/_audit/audit.jsonl", append(bytes.Clone(log), 'x'))
	got, err = did(t, false, Options{Verify: true})
	wants(t, "a changed log", got, err, exit.Integrity)
	put(t, "out.private/_audit/audit.jsonl", log)
	got, err = did(t, false, Options{Verify: true})
	wants(t, "put back", got, err, exit.Done)
	for _, name := range pages {
		text, _ := os.ReadFile(name)
		put(t, name, append(bytes.Clone(text), ' '))
		_, err = did(t, false, Options{Verify: true})
		put(t, name, text)
		if exit.CodeOf(err) != exit.Integrity && strings.Contains(string(text), "A. Soler, DPO") {
			t.Errorf("a changed page: %v", err)
		}
	}
	put(t, "in/b.csv", []byte("note_id,patient,text\nc,3,Fiebre\n"))
	masks(t, "in")
	got, err = did(t, false, Options{Verify: true})
	wants(t, "stale", got, err, exit.Privacy, "is stale: the output has changed since it was made")
	got, err = did(t, false, Options{Sign: "key.pem", Name: "Ada"})
	wants(t, "stale, to be signed", got, err, exit.Config)
}

// TestFigures: shares of the table of months are shares, all others are numbers.
func TestFigures(t *testing.T) {
	figure := answering["figure"].(func(string, float64) Value)
	for what, isShare := range map[string]bool{"quarantine": true, "language": true, "words": true, "confidence": false, "length": false, "PERSON": false} {
		if v := figure(what, .5); (v.Share != nil) != isShare || (v.Number != nil) == isShare {
			t.Errorf("%s: %+v", what, v)
		}
	}
}
