package run

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/durable"
)

// done is how a run ended: what it printed, what it logged, and its code.
type done struct {
	out, log string
	code     exit.Code
	err      error
}

// started runs one thing that a room does, with the configuration of the tests.
func started(t *testing.T, do func(ctx context.Context, c *console.Console, load loader) error, set ...string) done {
	t.Helper()
	var to, errs bytes.Buffer
	c := &console.Console{Out: &to, Errs: &errs}
	c.StartLog()
	err := do(t.Context(), c, func(plan []byte) (*option.Config, error) {
		s := option.Sources{}.With(append([]string{"read.columns.id=codigo", "read.columns.text=nota", "read.columns.patient=paciente", "write.max_quarantined=1", "tag.fast=true", "run.workers=1"}, set...))
		s.Plan = plan
		return option.Load(s)
	})
	return done{to.String(), errs.String(), exit.CodeOf(err), err}
}

func masked(t *testing.T, o Options, set ...string) done {
	t.Helper()
	return started(t, func(ctx context.Context, c *console.Console, load loader) error {
		return Mask(ctx, c, func() (*option.Config, error) { return load(nil) }, &o)
	}, set...)
}

func forgotten(t *testing.T, o Options, names ...string) done {
	t.Helper()
	return started(t, func(ctx context.Context, c *console.Console, load loader) error {
		if o.Files = names; len(names) > 0 {
			o.In = nil
		}
		return Forget(ctx, c, func() (*option.Config, error) { return load(nil) }, &o)
	})
}

// texts are the masked notes of an output by their ids.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	type row struct {
		ID   string `parquet:"note_id"`
		Text string `parquet:"text"`
	}
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "masked"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rows, err := parquet.ReadFile[row](name)
		for _, r := range rows {
			if all[r.ID] != "" {
				t.Errorf("note %s stands twice in %s", r.ID, dir)
			}
			all[r.ID] = r.Text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// has wants the notes of these ids, each with its text, "id text", and no others.
func has(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	all := texts(t, dir)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		got = append(got, id+" "+all[id])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", dir, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func put(t *testing.T, name string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("codigo,paciente,nota\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d done) wants(t *testing.T, what string, code exit.Code, says ...string) {
	t.Helper()
	if d.code != code {
		t.Errorf("%s: ended with %v: %v", what, d.code, d.err)
	}
	all := d.out + d.log
	if d.err != nil {
		all += d.err.Error()
	}
	for _, s := range says {
		if not, is := strings.CutPrefix(s, "!"); is == strings.Contains(all, not) {
			t.Errorf("%s: %q is not as wanted in\n%s", what, s, all)
		}
	}
}

// TestLife leads an output through what becomes of the files of its archive.
func TestLife(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 456", "a2,8,Tos y fiebre", "a3,,Control en un mes")
	put(t, "in/b.csv", "b1,7,Correo a b@ejemplo.es", "b2,8,", "b3,9,una,columna de mas")
	const a1, a2, a3, b1, b2 = "a1 Avisar al [TELEPHONE]", "a2 Tos y fiebre", "a3 Control en un mes", "b1 Correo a [EMAIL]", "b2 "
	o := Options{In: []string{"in"}, Out: "out"}
	dry := o
	dry.Dry = true
	masked(t, dry).wants(t, "dry", exit.Done, "in/a.csv: 3 notes, 0.0 MB\nin/b.csv: 3 notes, 0.0 MB\nadded: 2 files, 6 notes\n2 files, 2 units, 6 notes with 1 workers: about 0s; nothing was written\n")
	if _, err := os.Stat("out"); err == nil {
		t.Fatal("a dry run writes")
	}
	masked(t, Options{In: []string{"out"}, Out: "out"}).wants(t, "an output in its archive", exit.Config)
	masked(t, o).wants(t, "first", exit.Done, "6 notes: 5 masked (1 of them empty), 1 in quarantine; 2 units (0 done before), ")
	has(t, "out", a1, a2, a3, b1, b2)
	rows, err := os.ReadFile("out.private/rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	if len(lines) != 4 || lines[0] != "file,outcome,reason,rows,line,row,part" || lines[1] != "a.csv,masked,,3,0,0," || !strings.HasPrefix(lines[2], "b.csv,quarantined,bad_row,1,4,2,quarantine/part-") || lines[3] != "b.csv,masked,,2,0,0," {
		t.Errorf("%s", rows)
	}
	masked(t, o).wants(t, "again", exit.Nothing)

	// A file that comes, one that changes, one that is a copy.
	put(t, "in/c.csv", "c1,9,Dolor lumbar")
	masked(t, dry).wants(t, "dry, one more", exit.Done, "done: 2 files, 6 notes\nadded: 1 files, 1 notes\n", "3 files, ")
	masked(t, o).wants(t, "one more", exit.Done)
	has(t, "out", a1, a2, a3, b1, b2, "c1 Dolor lumbar")
	put(t, "in/c.csv", "c1,9,Dolor lumbar que cede")
	masked(t, dry).wants(t, "dry, changed", exit.Done, "replaced: 1 files, 1 notes\n  ", "/in/c.csv: 1 notes\n")
	masked(t, o).wants(t, "changed", exit.Done, "file is a new version of the one in the output, or made with other options: its notes are replaced")
	has(t, "out", a1, a2, a3, b1, b2, "c1 Dolor lumbar que cede")
	again := o
	again.Again = true
	put(t, "in/c.csv", "c1,9,Dolor lumbar que no cede")
	masked(t, again).wants(t, "changed as it is meant", exit.Done)

	// A file that moves, one that goes, and one that goes with its notes.
	if err := os.Rename("in/c.csv", "in/d.csv"); err != nil {
		t.Fatal(err)
	}
	masked(t, o).wants(t, "moved", exit.Done, "it was moved, and its notes are in the output once")
	has(t, "out", a1, a2, a3, b1, b2, "c1 Dolor lumbar que no cede")
	if err := os.Remove("in/d.csv"); err != nil {
		t.Fatal(err)
	}
	put(t, "in/e.csv", "e1,9,Cefalea")
	masked(t, o).wants(t, "gone", exit.Done, "file has gone from the archive: its notes stay in the output")
	has(t, "out", a1, a2, a3, b1, b2, "c1 Dolor lumbar que no cede", "e1 Cefalea")
	replace := o
	replace.Replace = true
	masked(t, replace).wants(t, "replaced", exit.Done, "notes are removed from the output")
	has(t, "out", a1, a2, a3, b1, b2, "e1 Cefalea")

	// Files that are forgotten, by name and by pattern.
	forgotten(t, o, "nothere.csv").wants(t, "forget what is not there", exit.Nothing, "nothing in the output was made of these files")
	forgotten(t, Options{Out: "nowhere"}, "e.csv").wants(t, "forget in what is no output", exit.Config)
	forgotten(t, dry, "e*.csv").wants(t, "dry", exit.Done, "removed: 1 files, 1 notes\n")
	has(t, "out", a1, a2, a3, b1, b2, "e1 Cefalea")
	forgotten(t, o, "e*.csv").wants(t, "forget", exit.Done)
	has(t, "out", a1, a2, a3, b1, b2)
	log, err := os.ReadFile("out.private/_audit/audit.jsonl")
	if err != nil || strings.Count(string(log), `"event":"forget"`) != 1 {
		t.Errorf("lines of what was forgotten: %v", err)
	}
}

// TestPatient takes a patient out of an output, and takes that back.
func TestPatient(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Tos", "a2,8,Fiebre", "a3,7,Control")
	o := Options{In: []string{"in"}, Out: "out"}
	masked(t, o).wants(t, "first", exit.Done)
	of := func(ids ...string) Options { return Options{In: []string{"in"}, Out: "out", Patients: ids} }
	forgotten(t, of("70")).wants(t, "nobody", exit.Nothing, "no note of that patient is in the files of the output")
	forgotten(t, of("7", "70")).wants(t, "somebody and nobody", exit.Nothing, "--patient number 2")
	forgotten(t, of("-")).wants(t, "no id", exit.Config, "this is no id")
	has(t, "out", "a1 Tos", "a2 Fiebre", "a3 Control")
	forgotten(t, of("7")).wants(t, "one", exit.Done, "notes of the patient are taken out", "file is masked again without the notes of the patient")
	has(t, "out", "a2 Fiebre")
	forgotten(t, of("7")).wants(t, "once more", exit.Nothing, "the patient was forgotten before")
	put(t, "in/b.csv", "b1,7,Dolor", "b2,9,Cefalea")
	masked(t, o).wants(t, "later", exit.Done)
	has(t, "out", "a2 Fiebre", "b2 Cefalea")
	masked(t, Options{In: []string{"in"}, Out: "out"}, "read.columns.patient=").wants(t, "without the column", exit.Config, "patients were forgotten there, or objected")
	back := of("8")
	back.TakeBack = true
	forgotten(t, back).wants(t, "somebody else back", exit.Nothing, "--patient number 1 was neither forgotten here")
	back = of("7")
	back.TakeBack = true
	was, err := os.ReadFile("out.private/_forgotten")
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{"out", "out.private"} { // a run has it
		lock, err := durable.OS.Lock(filepath.Join(tree, ".lock"), durable.NewHolder("run"))
		if err != nil {
			t.Fatal(err)
		}
		forgotten(t, back).wants(t, "back while a run has "+tree, exit.Locked, "is locked by run run")
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile("out.private/_forgotten"); err != nil || !bytes.Equal(now, was) {
			t.Errorf("it is written all the same, %v", err)
		}
	}
	forgotten(t, back).wants(t, "back", exit.Done, "the next run takes their notes up again")
	masked(t, o).wants(t, "taken up", exit.Done)
	has(t, "out", "a1 Tos", "a2 Fiebre", "a3 Control", "b1 Dolor", "b2 Cefalea")
}

// TestShards makes the same output in one piece and in two.
func TestShards(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 456", "a2,8,Tos y fiebre")
	put(t, "in/b.csv", "b1,7,Correo a b@ejemplo.es")
	set := []string{"read.unit_notes=1"}
	in := []string{"in"}
	masked(t, Options{In: in, Out: "whole"}, set...).wants(t, "in one piece", exit.Done)
	masked(t, Options{In: in, Out: "out", Save: true}, set...).wants(t, "plan", exit.Done, "units with 3 notes are to be done: velum run --plan out --shard 1/N ... N/N, then velum run finish out\n")
	events := func(want ...string) {
		t.Helper()
		var got []string
		if err := audit.Each("out.private/_audit/audit.jsonl", func(l *audit.Line) { got = append(got, l.Event) }); err != nil || !slices.Equal(got, want) {
			t.Errorf("the log has %q, want %q, %v", got, want, err)
		}
	}
	events("plan")
	shard := func(share string) done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			return Shard(ctx, c, load, &Options{Plan: "out", Shard: share})
		})
	}
	finish := func() done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			return Finish(ctx, c, load, &Options{Plan: "out"})
		})
	}
	for _, share := range []string{"", "3", "-1/2", "3/2", "1/0", "0/0", "1/100001", "1/2x", "a/b"} {
		shard(share).wants(t, "shard "+share, exit.Config, "want I/N")
	}
	shard("0/2").wants(t, "shard 0", exit.Done, "shard 2/2: ") // whoever counts from 0
	if d := finish(); d.code == exit.Done {
		t.Error("finished without a shard")
	}
	shard("1/2").wants(t, "shard 1", exit.Done, "shard 1/2: ")
	finish().wants(t, "finish", exit.Done, "3 notes: 3 masked, 0 in quarantine; ")
	events("plan", "start", "shard", "end", "start", "shard", "end")
	finish().wants(t, "finish again", exit.Nothing, "the plan was finished")
	has(t, "out", "a1 Avisar al [TELEPHONE]", "a2 Tos y fiebre", "b1 Correo a [EMAIL]")
	has(t, "whole", "a1 Avisar al [TELEPHONE]", "a2 Tos y fiebre", "b1 Correo a [EMAIL]")
}

// TestTagged masks what an earlier run has tagged, in another way.
func TestTagged(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 456", "a2,8,Tos y fiebre", "a3,9,una,columna de mas")
	masked(t, Options{In: []string{"in"}, Out: "out"}).wants(t, "first", exit.Done)
	masked(t, Options{In: []string{"in"}, Out: "other", Tagged: "out"}, "mask.operators=TELEPHONE=keep").wants(t, "as it was tagged", exit.Done, "3 notes: 2 masked, 1 in quarantine")
	has(t, "other", "a1 Avisar al 600 123 456", "a2 Tos y fiebre")
	masked(t, Options{In: []string{"in"}, Out: "strict"}, "write.max_quarantined=0.1").wants(t, "more in quarantine than allowed", exit.Quarantined)
	put(t, "in/a.csv", "a1,7,Avisar al 600 123 457")
	masked(t, Options{In: []string{"in"}, Out: "third", Tagged: "out"}).wants(t, "changed", exit.Config, "no spans were found for these notes")
	masked(t, Options{In: []string{"in"}, Out: "third", Tagged: "nowhere"}).wants(t, "no output", exit.Config, "nowhere.private has no manifest.json")
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		names     []string
		input, at string
		want      bool
	}{
		{[]string{"a.csv"}, "a.csv", "", true},
		{[]string{"./a.csv"}, "a.csv", "", true},
		{[]string{"2026/"}, "2026/a.csv", "", true},
		{[]string{"2026"}, "2026-01/a.csv", "", false},
		{[]string{"x", "*.csv"}, "a.csv", "", true},
		{[]string{"*.csv"}, "2026/a.csv", "", false},
		{[]string{"[", "b.csv"}, "a.csv", "", false},
		{[]string{dir}, "a.csv", filepath.Join(dir, "a.csv"), true},
		{[]string{dir + "x"}, "a.csv", filepath.Join(dir, "a.csv"), false},
		{nil, "a.csv", "", false},
	} {
		if got := matches(c.names, c.input, c.at); got != c.want {
			t.Errorf("%q of %q at %q: %t", c.input, c.names, c.at, got)
		}
	}
}

// TestRows: rows.csv says of every file what became of its rows, of small files that share a unit too, and of notes that are left out.
func TestRows(t *testing.T) {
	t.Chdir(t.TempDir())
	want := []string{"file,outcome,reason,rows,line,row,part"}
	for k := range 17 {
		name := fmt.Sprintf("%02d.csv", k)
		lines := []string{fmt.Sprintf("a%d,7%d,Tos", k, k), fmt.Sprintf("b%d,8%d,Fiebre", k, k)}
		if k == 5 {
			lines = append(lines, "c,9,una,columna de mas")
		}
		put(t, "in/"+name, lines...)
		masked := 2
		switch k {
		case 3: // row 3·2 of the unit
			want = append(want, name+",excluded,excluded,1,2,6,quarantine/part-")
			masked = 1
		case 5: // row 5·2 + 2 of the unit, line 4 of the file; where somebody objects, a row that cannot be read is nobody's
			want = append(want, name+",quarantined,no_patient,1,4,12,quarantine/part-")
		}
		want = append(want, fmt.Sprintf("%s,masked,,%d,0,0,", name, masked))
	}
	put(t, "list.csv", "x,73,y")
	if err := os.WriteFile("list.csv", []byte("patient_id\n73\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{In: []string{"in"}, Out: "out"}
	check := func(what string) {
		t.Helper()
		text, err := os.ReadFile("out.private/rows.csv")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(got) != len(want) {
			t.Fatalf("%s: %s", what, text)
		}
		for k := range want {
			if !strings.HasPrefix(got[k], want[k]) {
				t.Errorf("%s: %s, want %s", what, got[k], want[k])
			}
		}
	}
	masked(t, o, "people.exclude=list.csv").wants(t, "first", exit.Done, "35 notes: 33 masked, 2 in quarantine; 1 units")
	check("first")
	put(t, "in/zz.csv", "z,99,Dolor")
	want = append(want, "zz.csv,masked,,1,0,0,")
	masked(t, o, "people.exclude=list.csv").wants(t, "one more", exit.Done, "36 notes: ")
	check("one more")
}
