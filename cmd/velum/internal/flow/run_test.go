package flow_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// given are the files of the tests. All notes are invented.
var given = map[string]string{
	"in/a.csv": "nota,codigo,nhc,fecha,centro\n" +
		"\"Acude Nuria Hdez. de Olot, tel 600 123 456, desde el 12/03/2014\",a1,7,2014-03-20,C1\n" +
		"\"La Sra. Puigdevall y el Dr. Soler ven a Ada, de 93 años, DNI 12345678Z\",a2,8,2014-03-21,C1\n" +
		"\"Tos y fiebre. Nº interno ZX-55\",a3,,2014-03-22,C2\n" +
		"\"Mas del Pi, signo de Pere Roca; ana@ejemplo.es\",a4,9,2014-03-23,C2\n",
	"people.csv":    "patient_id,given,surname,telephone,birth_date\n7,Núria,Hernández,600123456,1950-03-12\n,Imma,Puigdevall,,\n8,,,,\n",
	"export.ndjson": `{"resourceType":"Patient","id":"7","name":[{"family":"Soler","given":["Ada"]}]}` + "\n",
	"objects.csv":   "patient_id\n8\n", "strangers.csv": "patient_id\n8\n77\n07\n", "empty.csv": "patient_id\n",
	"names.csv": "kind,name,people\nsurname,SERRALLONGA,1000\nwoman,ANA,900\nman,JOAN,800\nsurname,ROCA,700\n", "badnames.csv": "kind,name,people\nsurname,ROCA,many\n", "nonames.csv": "kind,name\nsurname,ROCA\n", "kindnames.csv": "kind,name,people\nsir,ROCA,3\n",
	"spans.jsonl": `{"id":"a3","text":"Tos y fiebre. Nº interno ZX-55","spans":[{"start":25,"end":30,"label":"RECORD_ID"}]}` + "\n",
	"key":         strings.Repeat("0123456789abcdef", 4), "short.key": "abc",
	"own.rules": "version 1\nnetwork own RECORD_ID 0.95\n a text:/ZX-\\d+/ -> end\n", "bad.rules": "version 1\nnetwork own RECORD 0.95\n a text:/ZX-(/ -> end\n",
	"own.words": "version 1\nwords +title hna\n", "bad.words": "version 1\nwords nobody hna\n",
	"always.txt": "LOCATION:Mas del Pi\n", "never.txt": "signo de Pere Roca\n", "bad.txt": "PLACE:Mas del Pi\n",
	"list.txt": "# class: Surname\nPuigdevall\n", "bad.list": "a,b,c\nd,e,f\n",
	"own.yaml": "default: suppress\ncategories:\n  PERSON: placeholder\n", "bad.yaml": "default: supress\n",
	"bad.velum": "no model", "labels.yaml": "ZX: RECORD_ID\n",
}

func put(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range given {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func load(set ...string) (*option.Config, error) {
	return option.Load(option.Sources{}.With(append([]string{"read.columns.id=codigo", "read.columns.text=nota", "write.max_quarantined=1", "run.workers=1", "tag.fast=true", "choose.use=false"}, set...)))
}

var volatile = regexp.MustCompile(`[a-z2-7]{26}|/tmp/[^ "<:;,]*/|[0-9a-f]{16,}`)

// TestRuns has what becomes of four notes by configuration, or what is wrong with it.
func TestRuns(t *testing.T) {
	const patient, key = "read.columns.patient=nhc", "key.file=key"
	var b bytes.Buffer
	for _, set := range [][]string{
		{}, {"patterns.use=false", "resolve.packs=own.rules", "read.columns.center=centro"}, {"mask.policy=own.yaml"}, {patient, "people.table=people.csv"}, {patient, "people.exclude=objects.csv"},
		{patient, "people.exclude=strangers.csv"}, {patient, "people.exclude=strangers.csv", "people.unmatched=warn", "people.others=7"}, {patient, "people.exclude=empty.csv"},
		{"resolve.spans=spans.jsonl"}, {"resolve.spans=nowhere.jsonl"}, {"resolve.words=own.words"}, {"resolve.always_file=always.txt", "resolve.never_file=never.txt"}, {"resolve.skip_rules=titles"},
		{patient, key, "mask.purpose=test", "read.columns.date=fecha", "mask.operators=PERSON=surrogate,DATE=shift scope=patient", "mask.names=names.csv", "read.ids=keep"}, {key, "mask.without_patient=true", "mask.operators=PERSON=surrogate", "mask.names=badnames.csv"},
		{key, "mask.without_patient=true", "mask.operators=PERSON=surrogate", "mask.names=nonames.csv"}, {key, "mask.without_patient=true", "mask.operators=PERSON=surrogate", "mask.names=kindnames.csv"}, {"key.file=short.key", "read.ids=keyed"}, {key, "read.ids=keyed"},
		{"read.columns.id=nhc"}, {"anonymity.k=2", "read.keep=centro", "anonymity.columns=centro=value"}, {"read.format=omop"}, {"read.delimiter=;"}, {"mask.rare=hold"}, {"run.units=3", "read.max_note_bytes=30"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(set, " "))
		put(t)
		c := &console.Console{Out: io.Discard, Errs: io.Discard}
		c.StartLog()
		o := run.Options{In: []string{"in"}, Out: "out"}
		err := run.Mask(context.Background(), c, func() (*option.Config, error) { return load(set...) }, &o)
		exit.Print(&b, err, false)
		names, _ := filepath.Glob("out/masked/*.parquet")
		for _, name := range names {
			rows, err := parquet.ReadFile[any](name)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, row := range rows {
				r := row.(map[string]any)
				lines = append(lines, fmt.Sprint(r["note_id"], " ", r["text"], "\n"))
			}
			if slices.Contains(set, "read.ids=keyed") {
				slices.Sort(lines) // they stand in the order of their new ids
			}
			b.WriteString(strings.Join(lines, ""))
		}
	}
	golden(t, "runs", b.Bytes())
}

// TestChecks has every mistake that is found in configurations before anything is read.
func TestChecks(t *testing.T) {
	put(t)
	var b bytes.Buffer
	for _, set := range [][]string{
		{}, {"tag.model=bad.velum", "tag.fast=false"}, {"tag.model=nowhere", "tag.fast=false", "tag.recall=0.99"}, {"resolve.packs=bad.rules", "resolve.words=bad.words", "mask.policy=bad.yaml", "mask.names=badnames.csv"},
		{"people.table=people.csv", "people.exclude=nowhere.csv"}, {"key.file=nokey", "read.ids=keyed"}, {"read.ids=keyed", "mask.operators=PERSON=shift,DATE=stars"}, {"read.labels=nowhere.yaml", "resolve.always_file=bad.txt", "resolve.never_file=nowhere.txt"}, {"train.template=nowhere", "train.clusters=nowhere", "network.vectors=nowhere"},
		{"learn.in=in", "learn.gold=nowhere.jsonl", "learn.kind=[crf, nothing]", "ensemble.members=bad.velum"}, {"inverse.words=nowhere", "inverse.never=nowhere"}, {"mask.calendar=nowhere", "mask.rare_rules=nowhere", "mask.rare=hold"}, {"gate.missed=nowhere"}, {"anonymity.k=2", "anonymity.columns=centro=value"}, {"anonymity.k=2"},
		{"learn.labels=meddocan", "ensemble.mode=vote", "svm.cost=0"}, {"resolve.gazetteers=bad.list", "tag.gazetteers=list.txt", "resolve.skip_rules=title", "resolve.always=Mas del Pi:LOCATION"}, {"mask.policy=nowhere.yaml"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(set, " "))
		c, err := load(set...)
		exit.Print(&b, flow.Check(c, err), false)
	}
	golden(t, "checks", b.Bytes())
}

// golden holds what was written against testdata/NAME.golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = volatile.ReplaceAll(got, []byte("*"))
	path := filepath.Join(home, "testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			t.Fatalf("%s, line %d:\n got %s\nwant %s\nrun with -update and read the difference", path, i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%s: %d lines, want %d", path, len(a), len(b))
	}
}

var home, _ = os.Getwd()
