package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/readtest"
)

// TestLakehouse: an output that follows the versions of a table is at each of them, byte
// for byte, what one of that version alone is, and says in the private tree which it is.
func TestLakehouse(t *testing.T) {
	dir := t.TempDir()
	velum := func(want exit.Code, args ...string) string {
		t.Helper()
		var out, log bytes.Buffer
		if code := start(append(args, "--quiet"), &out, &log, nil); code != want {
			t.Fatalf("velum %v: exit code %d, want %d: %s", args, code, want, log.String())
		}
		return out.String() + log.String()
	}
	train, model := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "tiny.velum")
	velum(0, "teach", "synth", "--notes", "100", "--seed", "3", "--split", "train", "--density", "5", "--out", train)
	velum(0, "teach", "train", "--kind", "crf", "--train", train, "--out", model, "--set", "train.iterations=3")

	l := readtest.NewLake(t)
	file := func(name string, ids ...string) int {
		var all, who, texts []any
		for _, id := range ids {
			all, who, texts = append(all, id), append(who, "p"+id[1:]), append(texts, "Control sin fiebre de "+id)
		}
		return l.Columns(name, readtest.Column{"note_id", parquet.String(), all}, readtest.Column{"text", parquet.String(), texts}, readtest.Column{"nhc", parquet.String(), who})
	}
	fields := []readtest.J{readtest.DeltaField("note_id", "string", "", 0), readtest.DeltaField("text", "string", "", 0), readtest.DeltaField("nhc", "string", "", 0)}
	a, b, c := file("a.parquet", "a1", "a2", "a3"), file("b.parquet", "b1", "b2"), file("c.parquet", "a1", "a3", "b2")
	vector := l.Vectored(1, 1, func([]byte) {})
	l.Commit(0, readtest.Protocol(3, "deletionVectors"), readtest.MetaData(nil, nil, fields...), readtest.Add("a.parquet", a, nil))
	l.Commit(1, readtest.Add("b.parquet", b, nil))
	l.Commit(2, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", a, readtest.J{"deletionVector": vector}))
	l.Commit(3)
	l.Commit(4, readtest.Remove("a.parquet", vector), readtest.Remove("b.parquet", nil), readtest.Add("c.parquet", c, nil))
	l.Commit(5, readtest.Remove("c.parquet", nil))
	rows := []string{"3 notes", "5 notes", "4 notes", "4 notes", "3 notes", "0 notes"}

	grown := filepath.Join(dir, "grown")
	run := func(out string, version int, more ...string) string {
		return velum(0, append([]string{"run", "--in", l.Dir, "--out", out, "--model", model, "--set", "read.columns.patient=nhc", "--set", fmt.Sprintf("read.version=%d", version)}, more...)...)
	}
	for _, version := range []int{0, 1, 2, 3, 4, 3, 1, 4} {
		said := run(grown, version, "--dry-run")
		if want := fmt.Sprintf("Delta Lake, version %d of", version); !strings.Contains(said, want) || !strings.Contains(said, rows[version]) {
			t.Errorf("version %d: --dry-run says %q", version, said)
		}
		run(grown, version)
		alone := filepath.Join(t.TempDir(), "alone")
		run(alone, version)
		if version == 2 { // and the shards of a plan know what is deleted
			shards := filepath.Join(t.TempDir(), "shards")
			velum(0, "run", "plan", "--in", l.Dir, "--out", shards, "--model", model, "--set", "read.columns.patient=nhc", "--set", "read.version=2")
			velum(0, "run", "--plan", shards, "--shard", "2/2")
			velum(0, "run", "--plan", shards, "--shard", "1/2")
			velum(0, "run", "finish", shards)
			for _, side := range []string{"", ".private"} {
				if treeBytes(t, shards+side) != treeBytes(t, alone+side) {
					t.Errorf("the trees %s of shards differ", side)
				}
			}
		}
		for _, side := range []string{"", ".private"} {
			if treeBytes(t, grown+side) != treeBytes(t, alone+side) {
				t.Errorf("version %d: the trees %s differ", version, side)
			}
		}
		m, err := commit.ReadManifest(commit.PrivateDir(grown))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Tables) != 1 || m.Tables["notes"] != fmt.Sprint(version) {
			t.Errorf("version %d: the manifest says %v", version, m.Tables)
		}
		if public, err := commit.ReadManifest(grown); err != nil || len(public.Tables) > 0 {
			t.Errorf("version %d: the public manifest says %v, %v", version, public.Tables, err)
		}
	}
	// A patient is forgotten in the version that the output has, though the table went on.
	velum(0, "run", "forget", "--out", grown, "--patient", "p3", "--model", model, "--set", "read.columns.patient=nhc")
	if m, err := commit.ReadManifest(commit.PrivateDir(grown)); err != nil || m.Masked != 2 || len(m.Tables) != 1 || m.Tables["notes"] != "4" {
		t.Errorf("after forget --patient: %+v, %v", m, err)
	}
	velum(0, "check", grown)
}
