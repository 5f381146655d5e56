package commit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// unseen is a disk of which one file cannot be looked at.
type unseen struct {
	durable.FS
	name string
}

func (u unseen) Stat(name string) (fs.FileInfo, error) {
	if name == u.name {
		return nil, syscall.EIO
	}
	return u.FS.Stat(name)
}

// TestUnseen: what cannot be looked at does not count as not there: the run ends before it begins.
func TestUnseen(t *testing.T) {
	for _, name := range []string{"out/_runs", "out.private/_runs", "out.private/plan.json"} {
		dir, a := tempDir(t), newTestArchive(2)
		a.begin(t, dir)
		was := filesBelow(t, filepath.Join(dir, "out"))
		_, err := a.run(t, dir, unseen{unsynced{durable.OS}, filepath.Join(dir, name)}, UnitOptions{})
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
		if now := filesBelow(t, filepath.Join(dir, "out")); len(now) < len(was) {
			t.Errorf("%s: of %d files %d are left", name, len(was), len(now))
		}
	}
}

// TestPlanGoes: a run takes away a plan that nobody finished, with what its shards left.
func TestPlanGoes(t *testing.T) {
	dir, a := tempDir(t), newTestArchive(3)
	out := Output{Dir: filepath.Join(dir, "out"), FS: unsynced{durable.OS}}
	p, err := Prepare(a.plan(), out, UnitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Save(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if p, err = joined(out, UnitOptions{Attempt: "x"}, false); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.DoShare(t.Context(), 0, 2, a.line), p.Close()); err != nil {
		t.Fatal(err)
	}
	done := len(p.Share(0, 2))
	var left []string
	for _, name := range []string{filepath.Join("out", runsName, p.of.Run, "half"), filepath.Join("out", "masked", "part-half"), filepath.Join("out.private", runsName, p.of.Run, "half")} {
		name = filepath.Join(dir, name)
		write(t, name, "half")
		left = append(left, name)
	}
	left = append(left, filepath.Join(dir, "out.private", planName))
	a.units = 4
	a.begin(t, dir)
	for _, name := range left {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	r, err := a.run(t, dir, nil, UnitOptions{})
	if err != nil || done == 0 || r.Reused != 4 {
		t.Errorf("of the share %d units were done, %d are taken over, %v", done, r.Reused, err)
	}
}

// TestTriedByAnotherPlan: a unit that could not be read when another plan was done is not done for this one.
func TestTriedByAnotherPlan(t *testing.T) {
	for _, tt := range []struct {
		run    string // of the record; "": that of the plan
		unread bool
		taken  bool
	}{{"", true, true}, {"another", true, false}, {"another", false, true}} {
		a := newTestArchive(2)
		p := newPrepared(a.plan(), Output{Dir: filepath.Join(tempDir(t), "out"), FS: unsynced{durable.OS}}, UnitOptions{})
		name := p.plan.Name(&p.plan.Units[0])
		if tt.run == "" {
			tt.run = p.of.Run
		}
		p.records = make([]*UnitRecord, 2)
		known := map[string]*UnitRecord{name: {Name: name, Run: tt.run, Unread: tt.unread, Damage: "gone"}}
		if err := p.adopt(0, known, true); err != nil || (p.records[0] != nil) != tt.taken {
			t.Errorf("%+v: %+v, %v", tt, p.records[0], err)
		}
		if p.records[0] != nil && p.records[0].Run != "" {
			t.Errorf("%+v: the record says which plan it was made for", tt)
		}
	}
}

// TestNotesOfAFile: the public manifest has no line for a unit without public parts, since it would tell how many notes a file
// has, unless nothing of it could be read.
func TestNotesOfAFile(t *testing.T) {
	public := PartRecord{Kind: "masked", Path: "masked/part-1"}
	private := PartRecord{Kind: "staged", Path: "staged/part-1", Private: true}
	m := &Manifest{Public: "12", Units: []UnitRecord{
		{Name: "a", Counts: Counts{Rows: 1}, Parts: []PartRecord{private}},
		{Name: "b", Counts: Counts{Rows: 2}, Parts: []PartRecord{private, public}},
		{Name: "c", Counts: Counts{Rows: 3}, Damage: "is cut", Unread: true},
	}}
	got := m.public()
	if len(got.Units) != 2 || got.Units[0].Rows != 2 || len(got.Units[0].Parts) != 1 || got.Units[1].Damage != "is cut" || !got.Units[1].Unread || got.Units[0].Name != "" || got.Public != "" {
		t.Errorf("%+v", got)
	}
}

// TestOutputBehindFiles: an output below another is found, whatever stands before it.
func TestOutputBehindFiles(t *testing.T) {
	dir := tempDir(t)
	o := Output{}.withDefaults()
	write(t, filepath.Join(dir, "a.txt"), "of somebody")
	for _, name := range []string{".hidden", "_own", "b", "c/d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if below, err := o.outputBelow(dir); below != "" || err != nil {
		t.Errorf("no output: %q, %v", below, err)
	}
	inner := filepath.Join(dir, "c", "d")
	write(t, filepath.Join(inner, manifestName), `{"schema":"velum.manifest/3"}`)
	if below, err := o.outputBelow(dir); below != inner || err != nil {
		t.Errorf("%q, %v; want %q", below, err, inner)
	}
}
