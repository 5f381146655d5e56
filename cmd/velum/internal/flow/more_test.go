package flow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// others are archives and files beside the given ones.
var others = map[string]string{
	"ids/a.csv":                   "codigo,nota\n12345678Z,Tos\n87654321X,Fiebre\n11111111H,Dolor\n",
	"txt/Ana Puig Roca.txt":       "Acude por tos\n",
	"folders/Ana Puig Roca/b.csv": "codigo,nota\nb1,Tos\n",
	"dni/12345678Z/c.csv":         "codigo,nota\nc1,Tos\n",
	"fhir/a.csv":                  "codigo,nhc,nota\na1,7,Viene Zyxwvut por tos\n",
	"fhir/Patient.ndjson":         `{"resourceType":"Patient","id":"7","name":[{"family":"Zyxwvut","given":["Ada"]}]}` + "\n" + "no json\n",
	"dates/a.csv":                 "codigo,nhc,fecha,otra,nota\na1,7,2014-03-20,2014-03-21,Desde el 12/03/2014\n",
	"twice.jsonl":                 `{"id":"a3","text":"x","spans":[]}` + "\n" + `{"id":"a3","text":"x","spans":[]}` + "\n",
	"changed.jsonl":               `{"id":"a3","text":"otra","spans":[]}` + "\n",
	"table.csv":                   "nhc,nom,sabata\n7,Zyxwvut,43\n",
	"nobody.csv":                  "nom,sabata\nZyxwvut,43\n",
	"shoes.csv":                   "patient_id,shoes\n7,43\n",
}

// TestMoreRuns has what becomes of some archives by configuration, or what is wrong with it. The first word of each is the archive.
func TestMoreRuns(t *testing.T) {
	const patient, key = "read.columns.patient=nhc", "key.file=key"
	var b bytes.Buffer
	for _, set := range [][]string{
		{"ids"}, {"ids", "read.ids=verbatim"}, {"ids", "read.ids=keyed", key}, {"ids", "read.ids=drop"}, {"ids", "read.ids=keyed"},
		{"txt"}, {"txt", "read.ids=verbatim"}, {"txt", "read.ids=drop"}, {"folders"}, {"dni"}, {"dni", "read.opaque=true", key}, {".", "read.opaque=true"}, {"in", "read.opaque=true"}, {"in", "read.opaque=true", key},
		{"fhir", patient}, {"fhir", patient, "people.table=table.csv", "people.columns=nhc=patient_id,nom=surname"}, {"fhir", patient, "people.table=table.csv", "people.columns=nhc=patient_id,cognom=surname"},
		{"fhir", patient, "people.table=nobody.csv"}, {"fhir", patient, "people.table=shoes.csv"}, {"fhir", "people.table=table.csv"},
		{"in", "resolve.spans=twice.jsonl"}, {"in", "resolve.spans=changed.jsonl"}, {"in", "resolve.rules=false"}, {"in", "resolve.skip_rules=nobody"}, {"in", "resolve.always=Tos"}, {"in", "resolve.always=PLACE:Tos"}, {"in", "resolve.always=PERSON:Tos"},
		{"dates", "mask.operators=DATE=interval"}, {"dates", "mask.operators=DATE=interval", "read.columns.date=fecha"}, {"dates", "mask.operators=DATE=shift", key}, {"dates", "mask.operators=DATE=shift", patient},
		{"dates", "mask.operators=DATE=shift", patient, key, "read.columns.date=fecha", "read.keep=otra", "mask.purpose=test"}, {"dates", "mask.operators=PERSON=shuffle", key},
		{"in", "read.delimiter=;;"}, {"in", `read.delimiter=,`}, {"in", "read.encoding=klingon"}, {"nowhere"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(set, " "))
		put(t)
		for name, text := range others {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		c := &console.Console{Out: io.Discard, Errs: &log}
		c.StartLog()
		o := run.Options{In: set[:1], Out: filepath.Join(t.TempDir(), "out")}
		err := run.Mask(context.Background(), c, func() (*option.Config, error) { return load(set[1:]...) }, &o)
		exit.Print(&b, err, false)
		names, _ := filepath.Glob(o.Out + "/masked/*.parquet")
		inner, _ := filepath.Glob(o.Out + "/masked/*/*.parquet")
		var lines []string
		for _, name := range append(names, inner...) {
			rows, err := parquet.ReadFile[any](name)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				r := row.(map[string]any)
				id := r["note_id"]
				if slices.Contains(set, "read.ids=keyed") {
					id = "keyed"
				}
				lines = append(lines, fmt.Sprint(id, " ", r["text"], "\n"))
			}
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	golden(t, "more", b.Bytes())
}

// TestMoreChecks has mistakes in configurations before anything is read.
func TestMoreChecks(t *testing.T) {
	put(t)
	for name, text := range map[string]string{"always2.txt": "# of the house\n\nPERSON Ferran\nPERSON: \nPLACE:x\nPERSON:Ferran\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	for _, set := range [][]string{
		{"resolve.always_file=always2.txt"}, {"mask.operators=DATE=interval"}, {"mask.operators=DATE=shift"}, {"mask.operators=PERSON=hash", "mask.without_patient=true"}, {"read.opaque=true"}, {"learn.start=nowhere.velum"},
		{"train.template=own.yaml"}, {"resolve.skip_rules=titels"}, {"network.variant=none"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(set, " "))
		c, err := load(set...)
		exit.Print(&b, flow.Check(c, err), false)
	}
	golden(t, "morechecks", b.Bytes())
	if err := flow.Check(nil, io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("another error: %v", err)
	}
}
