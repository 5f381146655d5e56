package commit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// TestReadPlan: a plan is taken up as it was saved and by nobody else than this version of velum.
func TestReadPlan(t *testing.T) {
	a, dir := newTestArchive(3), tempDir(t)
	out := Output{Dir: filepath.Join(dir, "out"), FS: unsynced{durable.OS}}
	name := filepath.Join(dir, "out.private", planName)
	read := func() (*Planned, string) {
		o := out
		p, err := ReadPlan(&o)
		plan, is := errors.AsType[*PlanError](err)
		if err == nil {
			return p, ""
		} else if !is || plan.Path != name {
			t.Errorf("%v", err)
		}
		return nil, plan.Cause
	}
	if _, cause := read(); cause != "is not there: there is no plan, or it was finished" {
		t.Error(cause)
	}
	p, err := Prepare(a.plan(), out, UnitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Save(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if p, cause := read(); cause != "" || p.Run != a.plan().Run() || p.Config != a.plan().Planned().Config || p.Key != "" {
		t.Errorf("%+v, %s", p, cause)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(body string) string { return fmt.Sprintf("%s%s\",%s\n", planSeal, digest([]byte(body)), body[1:]) }
	body := "{" + strings.TrimSuffix(string(whole[bytes.IndexByte(whole, ',')+1:]), "\n")
	if sealed(body) != string(whole) {
		t.Fatal("a plan is sealed in another way")
	}
	const other, damaged = "is no plan of this version of velum", "is damaged, or somebody has changed it"
	for what, c := range map[string][2]string{
		"nothing":         {"", other},
		"no seal":         {body, other},
		"another version": {sealed(strings.Replace(body, planSchema, "velum.plan/2", 1)), other},
		"no JSON":         {sealed(body[:len(body)-1]), other},
		"another row":     {strings.Replace(string(whole), `"rows":8`, `"rows":9`, 1), damaged},
		"another seal":    {strings.Replace(string(whole), planSeal, planSeal+"0", 1), damaged},
	} {
		write(t, name, c[0])
		if _, cause := read(); cause != c[1] {
			t.Errorf("%s: %q, want %q", what, cause, c[1])
		}
	}
	write(t, name, string(whole))
	moved := Output{Dir: filepath.Join(dir, "other"), Private: filepath.Join(dir, "out.private")}
	if _, err := ReadPlan(&moved); err == nil || !strings.Contains(err.Error(), "is the plan of another output, ") {
		t.Error(err)
	}
	named := Output{Dir: name}
	if _, err := ReadPlan(&named); err != nil || named.Dir != resolve(out.Dir) || named.Private != filepath.Join(dir, "out.private") {
		t.Errorf("%+v, %v", named, err)
	}
	if err := os.Rename(out.Dir, out.Dir+"2"); err != nil {
		t.Fatal(err)
	}
	named = Output{Dir: name}
	if _, err := ReadPlan(&named); err == nil || !strings.Contains(err.Error(), "which is not there") {
		t.Error(err)
	}
}

// TestPlannedUnit: a unit comes back out of a plan as it went in, wherever who joins stands.
func TestPlannedUnit(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	shared := Unit{Input: "in/a", Source: "a", Folder: "f", SHA256: [32]byte{1, 2}, Copy: 3, From: 4, To: 5, First: 6, Rows: 7, Without: "w", set: settled{Name: "n", Mark: "m", Public: "p", Private: "q", Again: true, Rest: &rest{Of: "x", Keep: []memberRecord{{Name: "y", Rows: 8}}}}}
	member := shared
	member.Input, member.set = "in/\xff", settled{Name: "o"}
	shared.Members = []Unit{member}
	data, err := json.Marshal(&shared)
	if err != nil {
		t.Fatal(err)
	}
	var u Unit
	if err := json.Unmarshal(data, &u); err != nil {
		t.Fatal(err)
	}
	if u.Input != filepath.Join(resolve(dir), "in/a") && u.Input != filepath.Join(dir, "in/a") || !filepath.IsAbs(u.Members[0].Input) || u.Members[0].set.Name != "o" || u.Members[0].SHA256 != shared.SHA256 {
		t.Errorf("%+v", u)
	}
	shared.Input, shared.Members[0].Input = u.Input, u.Members[0].Input
	if !reflect.DeepEqual(u, shared) {
		t.Errorf("%+v, want %+v", u, shared)
	}
}

// TestShareOut: units go to the share that has the fewest notes so far, the largest first; what was done before is nobody's.
//
//	rows     9 1 5 5 2, and 7 that are done
//	share 0  9              then 2 (of 10 and 11 notes with one more for each unit, the first)
//	share 1  5, 5           then 1
func TestShareOut(t *testing.T) {
	p := &Prepared{plan: &Plan{Units: []Unit{{Rows: 9}, {Rows: 1}, {Rows: 5}, {Rows: 7}, {Rows: 5}, {Rows: 2}}}, planned: []bool{false, false, false, true, false, false}}
	for k, want := range [][]int{{0, 5}, {1, 2, 4}} {
		if got := p.Share(k, 2); !slices.Equal(got, want) {
			t.Errorf("share %d: %v, want %v", k, got, want)
		}
	}
	if got := p.Share(0, 1); !slices.Equal(got, []int{0, 1, 2, 4, 5}) {
		t.Errorf("one share: %v", got)
	}
}

// TestTwinsAreNamed: a file of the same content as one before it is said to be a copy, unless that one goes or has no notes.
func TestTwinsAreNamed(t *testing.T) {
	m := newMonths(t)
	for name, content := range map[string]string{"01/a": "January", "02/b": "January", "03/c": "February"} {
		m.put(name, content)
	}
	changes, err := Changes(m.plan("01/a", "02/b", "03/c"), Output{Dir: filepath.Join(m.dir, "out")}, UnitOptions{Grow: true})
	if err != nil || len(changes) != 3 || changes[0].Twin != "" || changes[1].Twin != changes[0].Path || changes[2].Twin != "" {
		t.Errorf("%+v, %v", changes, err)
	}
	for _, c := range changes {
		want := map[string][2]int64{"01/a": {9, 2}, "02/b": {9, 2}, "03/c": {4, 1}}[c.Input] // January has seven letters and so two units, of four and five notes
		if c.Rows != want[0] || int64(c.Units) != want[1] {
			t.Errorf("%+v, want %v", c, want)
		}
	}
	plan := m.plan("01/a", "02/b")
	for i := range plan.Units {
		plan.Units[i].Rows = 0
	}
	if changes, err = Changes(plan, Output{Dir: filepath.Join(m.dir, "out")}, UnitOptions{Grow: true}); err != nil || changes[1].Twin != "" {
		t.Errorf("of no notes: %+v, %v", changes, err)
	}
}

// TestPlanOfBadInputs: files that could not be read stand in a plan, with where they lie, and in the manifest that is made of it.
func TestPlanOfBadInputs(t *testing.T) {
	a, dir := newTestArchive(3), tempDir(t)
	out := Output{Dir: filepath.Join(dir, "out"), FS: unsynced{durable.OS}}
	plan := a.plan()
	bad := filepath.Join(dir, "bad.parquet")
	write(t, bad, "none")
	plan.BadInputs = []BadInput{{Input: "bad.parquet", SHA256: "12", Bytes: 4, Cause: "is no Parquet", Path: bad}, {Input: "worse.parquet", Cause: "is cut"}}
	p, err := Prepare(plan, out, UnitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Save(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if p, err = joined(out, UnitOptions{Attempt: "x"}, false); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.DoShare(t.Context(), 0, 1, a.line), p.Close()); err != nil {
		t.Fatal(err)
	}
	if p, err = joined(out, UnitOptions{Finish: testFinish}, true); err != nil {
		t.Fatal(err)
	}
	if got := p.growth.now.Bad[badKey(&plan.BadInputs[0])]; string(got) != resolve(bad) || len(p.growth.now.Bad) != 1 || len(p.growth.now.Units) != 3 {
		t.Errorf("%+v", p.growth.now)
	}
	r, err := p.Commit(t.Context())
	if err := errors.Join(err, p.Close()); err != nil || len(r.Bad) != 2 || len(r.Manifest.BadInputs) != 2 || r.Manifest.BadInputs[0].Cause != "is no Parquet" {
		t.Errorf("%+v, %v", r, err)
	}
	public, err := ReadManifest(out.Dir)
	if err != nil || len(public.BadInputs) != 2 || public.BadInputs[0].Input != "" || public.BadInputs[0].SHA256 != "" || public.BadInputs[0].Bytes != 0 || public.BadInputs[1].Cause != "is cut" {
		t.Errorf("%+v, %v", public, err)
	}
}
