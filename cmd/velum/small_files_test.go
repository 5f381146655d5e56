package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// smallArchive is an archive of small files, which share units, and its output.
type smallArchive struct {
	t                     *testing.T
	form, dir, model, out string
}

func newSmallArchive(t *testing.T, form string) *smallArchive {
	a := &smallArchive{t: t, form: form, dir: t.TempDir()}
	a.model, a.out = filepath.Join(a.dir, "tiny.velum"), filepath.Join(a.dir, "out")
	tiny.Do(func() {
		train := filepath.Join(a.dir, "train.jsonl")
		a.velum(0, "teach", "synth", "--notes", "100", "--seed", "3", "--split", "train", "--density", "5", "--out", train)
		a.velum(0, "teach", "train", "--kind", "crf", "--train", train, "--out", a.model, "--set", "train.iterations=3")
		tinyModel, _ = os.ReadFile(a.model)
	})
	if err := os.WriteFile(a.model, tinyModel, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// tinyModel is a model file, made once.
var (
	tiny      sync.Once
	tinyModel []byte
)

func (a *smallArchive) velum(want exit.Code, args ...string) string {
	a.t.Helper()
	var out, log bytes.Buffer
	if code := start(append(args, "--quiet"), &out, &log, nil); code != want {
		a.t.Fatalf("velum %v: exit code %d, want %d: %s", args, code, want, log.String())
	}
	return log.String()
}

func (a *smallArchive) path(k int) string {
	return filepath.Join(a.dir, "in", fmt.Sprintf("f%02d.%s", k, a.form))
}

// put makes file k: two notes, or one where a file is a note.
func (a *smallArchive) put(k int, says string) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(a.path(k)), 0o700); err != nil {
		a.t.Fatal(err)
	}
	text := fmt.Sprintf("%s, NHC 1234%02d, acude a revisión.", says, k)
	var b bytes.Buffer
	switch a.form {
	case "csv":
		fmt.Fprintf(&b, "note_id,text,pid\n%d-a,%q,p%d\n%d-b,Sin cambios.,p%d\n", k, text, k, k, k)
	case "jsonl":
		fmt.Fprintf(&b, "{\"note_id\":\"%d-a\",\"text\":%q,\"pid\":\"p%d\"}\n{\"note_id\":\"%d-b\",\"text\":\"Sin cambios.\",\"pid\":\"p%d\"}\n", k, text, k, k, k)
	case "txt":
		b.WriteString(text)
	case "parquet":
		rows := []row{{fmt.Sprintf("%d-a", k), &text}, {fmt.Sprintf("%d-b", k), &text}}
		if err := writeGroups(a.path(k), rows, len(rows)); err != nil {
			a.t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(a.path(k), b.Bytes(), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// ids are those of file k.
func (a *smallArchive) ids(k int) []string {
	if a.form == "txt" {
		return []string{fmt.Sprintf("f%02d", k)}
	}
	return []string{fmt.Sprintf("%d-a", k), fmt.Sprintf("%d-b", k)}
}

func (a *smallArchive) run(out string, flags ...string) string {
	a.t.Helper()
	return a.velum(0, append([]string{"run", "--in", filepath.Join(a.dir, "in"), "--out", out, "--model", a.model}, flags...)...)
}

type keyedRow struct {
	ID   string `parquet:"note_id"`
	Row  int64  `parquet:"row"`
	Part string `parquet:"part"`
}

// wants checks that the output has the notes of these files, each once, that public
// and private rows have the same keys, and that the trees are what they say.
func (a *smallArchive) wants(what, out string, files ...int) {
	a.t.Helper()
	a.velum(0, "check", out)
	m, err := commit.ReadManifest(out + ".private")
	if err != nil {
		a.t.Fatal(err)
	}
	keys := map[string][]string{}
	var ids []string
	for kind, dir := range map[string]string{"masked": out, "notes": out + ".private"} {
		err := tagged.Rows(m, dir, kind, func(r keyedRow) error {
			keys[kind] = append(keys[kind], fmt.Sprint(r))
			if kind == "masked" {
				ids = append(ids, r.ID)
			}
			return nil
		})
		if err != nil {
			a.t.Fatal(err)
		}
		slices.Sort(keys[kind])
	}
	if !slices.Equal(keys["masked"], keys["notes"]) || len(slices.Compact(keys["masked"])) < len(ids) {
		a.t.Errorf("%s: the rows of masked and notes have other keys, or one twice", what)
	}
	var want []string
	for _, k := range files {
		want = append(want, a.ids(k)...)
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		a.t.Errorf("%s: the output has the notes %q, want %q", what, ids, want)
	}
	named := 0
	for _, u := range m.Inputs() {
		named += int(u.Rows)
	}
	if named != len(want) {
		a.t.Errorf("%s: the inputs of the manifest have %d notes, want %d", what, named, len(want))
	}
}

// units are the files of each unit of an output.
func (a *smallArchive) units(out string) (n []int) {
	a.t.Helper()
	m, err := commit.ReadManifest(out + ".private")
	if err != nil {
		a.t.Fatal(err)
	}
	for i := range m.Units {
		n = append(n, len(m.Units[i].Files()))
	}
	return n
}

// upTo are the numbers of files.
func upTo(n int, but ...int) (all []int) {
	for k := range n {
		if !slices.Contains(but, k) {
			all = append(all, k)
		}
	}
	return all
}

// TestSmallFiles: small files of every format share a unit and are still files: one is
// added, replaced, copied, moved, gone or forgotten by itself, whatever has become of
// the others.
func TestSmallFiles(t *testing.T) {
	for _, form := range []string{"csv", "jsonl", "txt", "parquet"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			a := newSmallArchive(t, form)
			for k := range 20 {
				a.put(k, "Ana Puig")
			}
			a.run(a.out)
			a.wants("twenty files", a.out, upTo(20)...)
			if n := a.units(a.out); !slices.Equal(n, []int{20}) {
				t.Fatalf("units of %d files", n)
			}
			many := filepath.Join(a.dir, "many")
			a.run(many, "--workers", "4", "--units", "3")
			if treeBytes(t, a.out) != treeBytes(t, many) || treeBytes(t, a.out+".private") != treeBytes(t, many+".private") {
				t.Error("other numbers of workers and units make other trees")
			}
			a.velum(exit.Nothing, "run", "--in", filepath.Join(a.dir, "in"), "--out", a.out, "--model", a.model)

			a.put(20, "Marc Soler")
			a.run(a.out)
			a.wants("one is added", a.out, upTo(21)...)
			if n := a.units(a.out); !slices.Equal(n, []int{20, 1}) {
				t.Errorf("units of %d files after one was added", n)
			}
			a.put(3, "Ana Puig Marqués")
			if log := a.run(a.out, "--set", "run.changed=replace"); !strings.Contains(log, "new version") || !strings.Contains(log, "f03") {
				t.Errorf("a file is another, and the log says %q", log)
			}
			a.wants("one is another", a.out, upTo(21)...)
			a.copyFile(5, 21)
			a.run(a.out)
			if form == "txt" {
				a.wants("one is there twice", a.out, upTo(22)...)
			} else {
				a.wants("one is there twice", a.out, append(upTo(21), 5)...)
			}
			a.remove(21)
			a.run(a.out, "--set", "run.vanished=remove")
			a.wants("one of the two is gone", a.out, upTo(21)...)
			a.remove(6)
			a.velum(exit.Nothing, "run", "--in", filepath.Join(a.dir, "in"), "--out", a.out, "--model", a.model)
			a.wants("one is gone and stays", a.out, upTo(21)...)
			a.velum(0, "mask", "--in", filepath.Join(a.dir, "in"), "--tagged", a.out, "--out", filepath.Join(a.dir, "extract"), "--model", a.model)
			a.wants("extract", filepath.Join(a.dir, "extract"), upTo(21, 6)...)
			if form != "txt" { // where the others lie is gone: what stays is made of the parts
				for k := range 21 {
					if k != 6 {
						a.remove(k)
					}
				}
			}
			a.velum(0, "run", "forget", "--out", a.out, "--model", a.model, a.path(7))
			a.wants("one is forgotten", a.out, upTo(21, 7)...)
			a.velum(0, "run", "forget", "--out", a.out, "--model", a.model, a.mark(8))
			a.wants("another is forgotten by a row of it", a.out, upTo(21, 7, 8)...)
			a.velum(exit.Nothing, "run", "forget", "--out", a.out, "--model", a.model, strings.Split(a.mark(9), ":")[0])
			a.wants("a part alone names no file", a.out, upTo(21, 7, 8)...)
		})
	}
}

func (a *smallArchive) copyFile(from, to int) {
	a.t.Helper()
	data, err := os.ReadFile(a.path(from))
	if err == nil {
		err = os.WriteFile(a.path(to), data, 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *smallArchive) remove(k int) {
	a.t.Helper()
	if err := os.Remove(a.path(k)); err != nil {
		a.t.Fatal(err)
	}
}

// mark names file k by the column part and the last of its rows.
func (a *smallArchive) mark(k int) string {
	a.t.Helper()
	m, err := commit.ReadManifest(a.out + ".private")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, u := range m.Inputs() {
		if u.Input == filepath.Base(a.path(k)) {
			part, _, _ := strings.Cut(u.Mark, ":")
			return fmt.Sprintf("%s:%d", part, u.First+u.Rows-1)
		}
	}
	a.t.Fatalf("file %d is not in the manifest", k)
	return ""
}

// TestSmallFilesCounts: what was counted of the notes of a file is taken off with it, so
// that the counts are those of an archive without it.
func TestSmallFilesCounts(t *testing.T) {
	t.Parallel()
	a := newSmallArchive(t, "jsonl")
	for k := range 20 {
		a.put(k, strings.Repeat("Ana Puig y ", k%3)+"su madre")
	}
	a.run(a.out)
	a.velum(0, "run", "forget", "--out", a.out, "--model", a.model, a.path(4), a.path(5), a.path(19))
	for _, k := range []int{4, 5, 19} {
		a.remove(k)
	}
	without := filepath.Join(a.dir, "without")
	a.run(without)
	counts := func(out string) string {
		m, err := commit.ReadManifest(out + ".private")
		if err != nil {
			t.Fatal(err)
		}
		for name := range m.Tally {
			of, _, _ := strings.Cut(name, "/")
			if slices.Contains([]string{"words", "unknown_words", "foreign", "rule", "operator", "low_score", "never_list"}, of) {
				delete(m.Tally, name)
			}
		}
		all, err := json.Marshal(m.Counts)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	if got, want := counts(a.out), counts(without); got != want {
		t.Errorf("counts after three files were forgotten\n got %s\nwant %s", got, want)
	}
}

// TestSmallFilesDamaged: a small file that cannot be decoded is in quarantine alone, and
// when it comes again and is sound it takes the place of what it was.
func TestSmallFilesDamaged(t *testing.T) {
	t.Parallel()
	a := newSmallArchive(t, "parquet")
	for k := range 20 {
		a.put(k, "Ana Puig")
	}
	sound, err := os.ReadFile(a.path(4))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	for i := 8; i < 40; i++ {
		damaged[i] ^= 0x5a
	}
	if err := os.WriteFile(a.path(4), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	flag := "write.max_quarantined=0.5"
	if log := a.run(a.out, "--set", flag); !strings.Contains(log, "f04.parquet") {
		t.Errorf("the log does not name the file: %s", log)
	}
	m, err := commit.ReadManifest(a.out + ".private")
	if err != nil {
		t.Fatal(err)
	}
	if m.Quarantined != 2 || m.Reasons["bad_unit"] != 2 {
		t.Errorf("%+v", m.Counts)
	}
	report, err := os.ReadFile(filepath.Join(a.out+".private", "report.json"))
	if err != nil || !strings.Contains(string(report), "f04.parquet") {
		t.Errorf("the report does not name the file: %v", err)
	}
	if err := os.WriteFile(a.path(4), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	a.run(a.out, "--set", flag)
	a.wants("the file came again", a.out, upTo(20)...)
}
