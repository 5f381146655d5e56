package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

func place(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o400); err != nil {
		t.Fatal(err)
	}
}

const testKey = "0123456789abcdef0123456789abcdeF0123456789abcdef"

// TestObjectors leaves out who objects. The list counts rows below its header from 1.
func TestObjectors(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,70011,Tos", "a2,70012,Fiebre", "a3,70011,Control")
	for name, rows := range map[string]string{"one.csv": "70011\n", "strange.csv": "70011\n70099\n88888\n", "empty.csv": "", "zeros.csv": "0070011\n70012\n", "many.csv": ""} {
		if name == "many.csv" {
			for i := range 25 {
				rows += fmt.Sprintln(60000 + 13*i)
			}
			rows += "70011\n"
		}
		place(t, name, "patient_id\n"+rows)
	}
	run := func(out, list string, set ...string) done {
		return masked(t, Options{In: []string{"in"}, Out: out}, append(set, "people.exclude="+list)...)
	}
	run("one", "one.csv").wants(t, "one", exit.Done, "left out\" people=1 notes=2", "3 notes: 1 masked, 2 in quarantine")
	has(t, "one", "a2 Fiebre")
	run("strange", "strange.csv").wants(t, "two strangers", exit.Privacy, "people.exclude: strange.csv: 2 of 3 objections are no patient's of this archive, row ", "!left out\" people=2")
	run("warned", "strange.csv", "people.unmatched=warn").wants(t, "two strangers, as is meant", exit.Done, "ids of people who object are no patient's of this archive", "rows=", "file=strange.csv")
	has(t, "warned", "a2 Fiebre")
	run("empty", "empty.csv").wants(t, "nobody", exit.Privacy, "people.exclude: empty.csv has no ids")
	run("nobody", "empty.csv", "people.unmatched=warn").wants(t, "nobody, as is meant", exit.Done, "people.exclude: empty.csv has no ids")
	has(t, "nobody", "a1 Tos", "a2 Fiebre", "a3 Control")
	run("many", "many.csv").wants(t, "25 strangers", exit.Privacy, "25 of 26 objections are no patient's", "and 5 more")
	run("zeros", "zeros.csv").wants(t, "zeros in front", exit.Privacy)
	if _, err := os.Stat("strange/manifest.json"); err == nil {
		t.Error("an output is written")
	}
	run("none", "nowhere.csv").wants(t, "no list", exit.Config)
	put(t, "in/b.csv", "b1,70012,Dolor")
	if err := os.Remove("in/a.csv"); err != nil {
		t.Fatal(err)
	}
	run("nobody", "one.csv", "people.unmatched=warn").wants(t, "notes of before", exit.Done, "notes of earlier runs stay, and nobody looked whether they are of people who object", "notes=3")
}

// TestAlike: notes stay whose patient may be who objects, and nobody goes on.
func TestAlike(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,ABC70011,Tos", "a2,70012,Fiebre", "a3,70011,Control", "a4,ABC70011,Dolor")
	place(t, "one.csv", "patient_id\n70011\n")
	o := Options{In: []string{"in"}, Out: "out"}
	masked(t, o, "people.exclude=one.csv").wants(t, "letters around", exit.Privacy, "ids of notes that would stay differ from those of who objects", "(2 notes, the first is row ")
	masked(t, o, "people.exclude=one.csv", "people.others=ABC70011").wants(t, "said to be another's", exit.Done)
	has(t, "out", "a1 Tos", "a2 Fiebre", "a4 Dolor")
}

// TestPeople knows who the patients are: their names are found that no list has.
func TestPeople(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Viene Zyxwvut por tos", "a2,8,Viene Zyxwvut por tos")
	place(t, "people.csv", "patient_id,given,shoes\n7,Zyxwvut,43\n9,,41\n")
	place(t, "others.csv", "patient_id,given\n77,Zyxwvut\n")
	place(t, "staff.csv", "patient_id,given,surname\n,Imma,Zyxwvut\n")
	place(t, "nothing.csv", "patient_id,given\n7,\n")
	run := func(out, table string, set ...string) done {
		return masked(t, Options{In: []string{"in"}, Out: out}, append(set, "people.table="+table)...)
	}
	run("out", "people.csv").wants(t, "a patient", exit.Done, "of_patients=1 staff=0", "columns of the table of people are passed over", "shoes", "have nothing that could be found in a note\" rows=1")
	has(t, "out", "a1 Viene [PERSON] por tos", "a2 Viene Zyxwvut por tos")
	run("staff", "staff.csv").wants(t, "staff", exit.Done, "of_patients=0 staff=1", "!passed over", "!have nothing")
	run("others", "others.csv").wants(t, "patients of another house", exit.Privacy, "people.table: others.csv: none of the patients of its 1 rows has a note in this archive")
	run("warned", "others.csv", "people.unmatched=warn").wants(t, "as is meant", exit.Done, "none of the patients of its 1 rows")
	run("nothing", "nothing.csv").wants(t, "nobody to find", exit.Privacy, "has no row of anybody who could be found")
	run("column", "people.csv", "read.columns.patient=").wants(t, "no column of patients", exit.Config)
}

// TestForgetRefuses: what cannot be meant, and outputs that another configuration made.
func TestForgetRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Tos", "a2,8,Fiebre")
	put(t, "more/b.csv", "b1,7,Dolor", "b2,9,Cefalea")
	o := Options{In: []string{"in"}, Out: "out"}
	masked(t, o).wants(t, "first", exit.Done)
	forget := func(o Options, set ...string) done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			return Forget(ctx, c, func() (*option.Config, error) { return load(nil) }, &o)
		}, set...)
	}
	forget(Options{Out: "out"}).wants(t, "nothing", exit.Config, "name the files to forget, or --patient, and not both")
	forget(Options{Out: "out", Files: []string{"a.csv"}, Patients: []string{"7"}}).wants(t, "both", exit.Config, "and not both")
	forget(Options{Out: "out", Files: []string{"a.csv"}, TakeBack: true}).wants(t, "files back", exit.Config, "and not both")
	forget(Options{Out: "out", Files: []string{"a.csv"}, In: []string{"in"}}).wants(t, "files of an archive", exit.Config, "--in and --plan go with --patient")
	forget(Options{Out: "out", Files: []string{"a.csv"}, Save: true}).wants(t, "a plan of files", exit.Config, "--in and --plan go with --patient")
	forget(Options{Out: "nowhere", Patients: []string{"7"}}).wants(t, "no output", exit.Config, "nowhere is no output of velum")
	forget(Options{Out: "out", Patients: []string{"7"}}, "read.columns.patient=").wants(t, "no column", exit.Config, "nothing says whose the notes are")
	forget(Options{Out: "out", Patients: []string{"7"}}, "mask.operators=TELEPHONE=keep").wants(t, "other options", exit.Config, "made with other options, another model or another key")
	forget(Options{Out: "out", Patients: []string{"7"}, Dry: true}).wants(t, "dry", exit.Done)
	has(t, "out", "a1 Tos", "a2 Fiebre")
	masked(t, Options{In: []string{"more"}, Out: "out"}).wants(t, "one more", exit.Done)
	forget(Options{Out: "out", In: []string{"in"}, Patients: []string{"7"}}).wants(t, "half of the archive", exit.Config, "is in the output and was not given, so nobody knows which of its notes are the patient's")
	forget(Options{Out: "out", Patients: []string{"7"}}).wants(t, "where it lay", exit.Done, "notes of the patient are taken out")
	has(t, "out", "a2 Fiebre", "b2 Cefalea")
	if err := os.Rename("more", "moved"); err != nil {
		t.Fatal(err)
	}
	forget(Options{Out: "out", Patients: []string{"9"}}).wants(t, "it lies elsewhere", exit.Config, "1 of 2 files are not where they lay (b.csv), and no output says whose its notes are")
	forget(Options{Out: "out", In: []string{"in", "moved"}, Patients: []string{"9"}}).wants(t, "said where", exit.Done)
	has(t, "out", "a2 Fiebre")
}

// TestPlans: who joins a plan must have what it was made with.
func TestPlans(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 456", "a2,8,Tos y fiebre")
	place(t, "key", testKey)
	place(t, "other", strings.Replace(testKey, "0", "1", 1))
	set := []string{"read.ids=keyed", "key.file=key"}
	plan := func(json, quiet bool, out string, set ...string) string {
		var said string
		d := started(t, func(ctx context.Context, c *console.Console, load loader) error {
			c.JSON, c.Quiet = json, quiet
			return Mask(ctx, c, func() (*option.Config, error) { return load(nil) }, &Options{In: []string{"in"}, Out: out, Save: true})
		}, set...)
		d.wants(t, "plan", exit.Done)
		said = d.out
		return said
	}
	var p struct {
		Kind  string `json:"message_type"`
		Units int
		Notes int64
		Bad   int `json:"unreadable_files"`
	}
	if got := plan(true, false, "j", set...); json.Unmarshal([]byte(got), &p) != nil || p.Kind != "plan" || p.Units != 1 || p.Notes != 2 || p.Bad != 0 {
		t.Errorf("%s: %+v", got, p)
	}
	if got := plan(false, true, "q", set...); got != "" {
		t.Errorf("quiet: %q", got)
	}
	plan(false, false, "out", set...)
	shard := func(set ...string) done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			return Shard(ctx, c, load, &Options{Plan: "out", Shard: "1/1"})
		}, set...)
	}
	shard("key.file=other").wants(t, "another key", exit.Key, "key.file: another key than the plan was made with")
	shard("key.file=key", "mask.operators=TELEPHONE=keep").wants(t, "other options", exit.Config, "others than the plan was made with: mask.operators")
	shard("key.file=key", "tag.model=meddocan", "tag.fast=false").wants(t, "another model", exit.Config)
	shard("key.file=key").wants(t, "as it was made", exit.Done)
	text, err := os.ReadFile("out.private/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("out.private/plan.json", []byte(strings.Replace(string(text), `"rows":2`, `"rows":3`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	shard("key.file=key").wants(t, "a plan that somebody changed", exit.Integrity, "is damaged, or somebody has changed it")
}

// TestDry says what a run would do, for people and for machines.
func TestDry(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Tos", "a2,8,Fiebre")
	put(t, "in/copy.csv", "a1,7,Tos", "a2,8,Fiebre")
	o := Options{In: []string{"in"}, Out: "out"}
	dry := func(json bool) done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			c.JSON = json
			x := o
			x.Dry = true
			return Mask(ctx, c, func() (*option.Config, error) { return load(nil) }, &x)
		})
	}
	var said struct {
		Files, Units, Notes, Workers int
		Bad                          int     `json:"unreadable_files"`
		Seconds                      float64 `json:"estimated_seconds"`
		Changes                      []struct{ Fate string }
	}
	d := dry(true)
	if json.Unmarshal([]byte(d.out), &said) != nil || d.code != exit.Done || said.Files != 2 || said.Notes != 4 || said.Workers != 1 || said.Bad != 0 || said.Seconds != 4./notesPerSecondAndCore || len(said.Changes) != 2 || said.Changes[0].Fate != "added" {
		t.Errorf("%s: %+v, %v", d.out, said, d.err)
	}
	masked(t, o).wants(t, "the same ids twice", exit.Done, "file is a copy of another: its notes are in the output twice")
	if err := os.Rename("in", "moved"); err != nil {
		t.Fatal(err)
	}
	o.In = []string{"moved"}
	dry(false).wants(t, "moved", exit.Done, "done: 2 files, 4 notes\n", "/moved/a.csv: 2 notes, was /", "/in/a.csv\n", "about 0s; nothing was written")
	if err := os.WriteFile("moved/bad.csv", []byte("codigo,paciente,nota\n1,2,\"open\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := dry(true); d.code == exit.Done || !strings.Contains(d.out, `"unreadable_files":1`) {
		t.Errorf("a file that cannot be read: %v %s", d.code, d.out)
	}
	masked(t, Options{In: []string{"nowhere"}, Out: "none"}).wants(t, "no archive", exit.Config)
	if err := os.Mkdir("hollow", 0o700); err != nil {
		t.Fatal(err)
	}
	if d := masked(t, Options{In: []string{"hollow"}, Out: "none"}); d.code != exit.Nothing && d.code != exit.Config {
		t.Errorf("an empty folder: %v, %v", d.code, d.err)
	}
}

// TestSamePath: another month at the path of the last one is added beside it, and a folder has many files that go.
func TestSamePath(t *testing.T) {
	t.Chdir(t.TempDir())
	month := func(name string) {
		var lines []string
		for i := range 12 {
			lines = append(lines, fmt.Sprintf("%s%d,%d,Nota %d de %s sin cambios", name, i, i, i, name))
		}
		put(t, "in/notas.csv", lines...)
	}
	o := Options{In: []string{"in"}, Out: "out"}
	month("enero")
	masked(t, o).wants(t, "January", exit.Done, "12 notes: 12 masked")
	month("febrero")
	masked(t, o).wants(t, "February", exit.Done, "file has other notes than the one that lay at its path before: they are added, and those stay", "24 notes: 24 masked")
	put(t, "in/notas.csv", "febrero0,1,Otra", "febrero1,1,Otra", "marzo,1,Otra")
	masked(t, o).wants(t, "neither nor", exit.Integrity, "another file lay there when it was masked")
	masked(t, o, "run.changed=replace").wants(t, "replaced", exit.Done, "15 notes: 15 masked")
	drop := Options{In: []string{"in"}, Out: "dropped"}
	masked(t, drop, "read.ids=drop").wants(t, "without ids", exit.Done)
	put(t, "in/notas.csv", "abril,1,Otra")
	masked(t, drop, "read.ids=drop").wants(t, "without ids nobody can tell", exit.Integrity, "without ids nobody can tell whether it is a new version of that one")
}

// TestShuffled deals values of a category among the notes of an archive: no note keeps its own, and nobody else's is invented.
func TestShuffled(t *testing.T) {
	t.Chdir(t.TempDir())
	towns := []string{"Reus", "Olot", "Tremp", "Valls"}
	var lines []string
	for i, town := range towns {
		lines = append(lines, fmt.Sprintf("a%d,%d,Vive en %s desde siempre", i, i, town))
	}
	put(t, "in/a.csv", lines...)
	put(t, "in/b.csv", "b1,9,Sin cambios")
	place(t, "key", testKey)
	place(t, "always.txt", "LOCATION:Reus\nLOCATION:Olot\nLOCATION:Tremp\nLOCATION:Valls\n")
	o := Options{In: []string{"in"}, Out: "out"}
	const always, deal = "resolve.always_file=always.txt", "mask.operators=LOCATION=shuffle"
	masked(t, o, always).wants(t, "tagged", exit.Done)
	x := Options{In: []string{"in"}, Out: "dealt", Tagged: "out"}
	masked(t, Options{In: []string{"in"}, Out: "dealt"}, always, deal, "key.file=key").wants(t, "not tagged", exit.Config)
	masked(t, x, always, deal).wants(t, "no key", exit.Key)
	saved := x
	saved.Save = true
	masked(t, saved, always, deal, "key.file=key").wants(t, "shares", exit.Config, "which shards cannot do")
	masked(t, x, always, deal, "key.file=key").wants(t, "dealt", exit.Done, "5 notes: 5 masked")
	seen := map[string]int{}
	all := texts(t, "dealt")
	for i, own := range towns {
		text := all[fmt.Sprint("a", i)]
		dealt := regexp.MustCompile(strings.Join(towns, "|")).FindString(text)
		if text != "Vive en "+dealt+" desde siempre" || dealt == own {
			t.Errorf("%s has %q", own, text)
		}
		seen[dealt]++
	}
	if len(seen) != len(towns) {
		t.Errorf("dealt: %v", seen)
	}
	put(t, "in/a.csv", lines[0])
	masked(t, o, always, "run.changed=replace").wants(t, "one note alone", exit.Done)
	again := Options{In: []string{"in"}, Out: "alone", Tagged: "out"}
	masked(t, again, always, deal, "key.file=key").wants(t, "nobody to deal with", exit.Done, "values that no other note can have become placeholders, or what the policy says next", "values=1")
	has(t, "alone", "a0 Vive en [LOCATION] desde siempre", "b1 Sin cambios")
}

// TestEdges holds notes back at the begin and the end of an archive, where its range would tell by how much dates were moved.
func TestEdges(t *testing.T) {
	t.Chdir(t.TempDir())
	table := func(days int) {
		var b strings.Builder
		b.WriteString("codigo,paciente,fecha,nota\n")
		for day := 0; day < days; day += 5 {
			for p := range 2 {
				fmt.Fprintf(&b, "n%d-%d,%d,%s,Visita del %s\n", day, p, p, date(day), date(day))
			}
		}
		if err := os.MkdirAll("in", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("in/a.csv", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	place(t, "key", testKey)
	set := []string{"key.file=key", "mask.operators=DATE=shift edge=30", "read.columns.date=fecha", "write.max_quarantined=1", "mask.purpose=test"}
	table(400)
	d := masked(t, Options{In: []string{"in"}, Out: "out"}, set...)
	d.wants(t, "a year", exit.Done, "160 notes: ")
	if n := len(texts(t, "out")); n >= 160 || n < 100 {
		t.Errorf("%d notes are not held back: %s", n, d.out)
	}
	masked(t, Options{In: []string{"in"}, Out: "out"}, set...).wants(t, "again", exit.Nothing)
	table(60)
	masked(t, Options{In: []string{"in"}, Out: "short"}, set...).wants(t, "two months", exit.Done, "no notes are held back at the edges of the archive, since it is too short", "at_least_days=90", "24 notes: 24 masked")
	masked(t, Options{In: []string{"in"}, Out: "undated"}, append(set, "read.columns.date=")...).wants(t, "undated", exit.Done, "no notes are held back at the edges of the archive, since no column says whose they are")
}

func date(day int) string {
	return fmt.Sprintf("20%02d-%02d-%02d", 14+day/336, 1+day/28%12, 1+day%28)
}

// TestGates: an extract that a gate refuses is not committed.
func TestGates(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 456", "a2,8,Tos y fiebre", "a3,9,Ve a Ana Puig de Olot")
	o := Options{In: []string{"in"}}
	for name, c := range map[string]struct {
		set  []string
		code exit.Code
		says string
	}{
		"too much left":  {[]string{"gate.missed=TELEPHONE=40/100", "gate.max_leak=0.0001"}, exit.Privacy, "nothing was committed"},
		"little left":    {[]string{"gate.missed=TELEPHONE=0/100000", "gate.max_leak=0.5"}, exit.Done, "3 notes"},
		"a deadline":     {[]string{"run.deadline=1ns"}, exit.CodeOf(exit.ErrDeadline), ""},
		"one file alone": {[]string{"run.units=2"}, exit.Done, "3 notes"},
		"an extract":     {[]string{"anonymity.k=2", "anonymity.columns=paciente=value", "read.keep=paciente"}, exit.Done, ""},
	} {
		o.Out = strings.ReplaceAll(name, " ", "-")
		d := masked(t, o, c.set...)
		if name == "an extract" && d.code == exit.Config {
			continue // the patient's id is no column of an extract
		}
		d.wants(t, name, c.code, c.says)
		if _, err := os.Stat(o.Out + "/manifest.json"); (err == nil) != (c.code == exit.Done) {
			t.Errorf("%s: committed %t", name, err == nil)
		}
	}
}
