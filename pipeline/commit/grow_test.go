package commit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline/durable"
)

// months is an archive of files that are there. A file's version says what is
// in it, and its number how many units it has.
type months struct {
	t      testing.TB
	dir    string
	config byte
}

func newMonths(t testing.TB) *months { return &months{t: t, dir: tempDir(t)} }

func (m *months) path(name string) string { return filepath.Join(m.dir, "in", name) }

// put makes a file. Its folder in the output is its folder in the archive.
func (m *months) put(name, content string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o700); err != nil {
		m.t.Fatal(err)
	}
	write(m.t, m.path(name), content)
}

// plan is what a scan of some files would make.
func (m *months) plan(names ...string) *Plan {
	p := &Plan{Config: sha256.Sum256([]byte{m.config}), Roots: []string{m.path("")}}
	slices.Sort(names)
	copies := map[string]int{}
	for _, name := range names {
		data, err := os.ReadFile(m.path(name))
		if err != nil {
			m.t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		key := filepath.Dir(name) + string(data)
		for k := range int64(1 + len(data)%2) {
			p.Units = append(p.Units, Unit{
				Input: m.path(name), Source: name, Folder: filepath.Dir(name), SHA256: sum, Copy: copies[key],
				From: k, To: k + 1, First: 10 * k, Rows: 4 + k,
			})
		}
		copies[key]++
	}
	return p
}

func (m *months) run(o UnitOptions, names ...string) (*Result, error) {
	a := &testArchive{config: m.config, loses: -1}
	o.Finish = testFinish
	return RunUnits(context.Background(), m.plan(names...), Output{Dir: filepath.Join(m.dir, "out"), FS: unsynced{durable.OS}}, a.line, o)
}

func (m *months) grow(names ...string) *Result {
	m.t.Helper()
	r, err := m.run(UnitOptions{Grow: true, AtOnce: 2}, names...)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

// wants checks the inputs that the output holds.
func (m *months) wants(what string, names ...string) {
	m.t.Helper()
	if len(names) > 0 { // an output of nothing is no success
		mustCheck(m.t, m.dir)
	}
	manifest, err := ReadManifest(filepath.Join(m.dir, "out.private"))
	if err != nil {
		m.t.Fatal(err)
	}
	var have []string
	for _, u := range manifest.Units {
		have = append(have, u.Input)
	}
	if have = slices.Compact(have); !slices.Equal(have, names) {
		m.t.Fatalf("%s: the output holds %q, want %q", what, have, names)
	}
}

// sameAsOne compares the trees with those of one run.
func (m *months) sameAsOne(what string, names ...string) {
	m.t.Helper()
	one := &months{t: m.t, dir: tempDir(m.t), config: m.config}
	if err := os.CopyFS(filepath.Join(one.dir, "in"), os.DirFS(filepath.Join(m.dir, "in"))); err != nil {
		m.t.Fatal(err)
	}
	if _, err := one.run(UnitOptions{}, names...); err != nil {
		m.t.Fatal(err)
	}
	for _, tree := range []string{"out", "out.private"} {
		if got, want := treeOf(m.t, filepath.Join(m.dir, tree)), treeOf(m.t, filepath.Join(one.dir, tree)); got != want {
			m.t.Fatalf("%s: the trees are not those of one run over %q:\n%s\nwant\n%s", what, names, got, want)
		}
	}
}

func TestGrow(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	for _, name := range []string{"01/notes", "02/notes", "03/notes"} {
		m.put(name, "notes of "+name)
	}
	m.grow("02/notes")
	if r := m.grow("01/notes"); r.Done != 2 || r.Reused != 0 {
		t.Errorf("%d done, %d reused", r.Done, r.Reused)
	}
	m.wants("the second month", "01/notes", "02/notes")
	m.sameAsOne("the second month", "01/notes", "02/notes")
	if r := m.grow("01/notes"); !r.Nothing {
		t.Error("the same month again is something")
	}
	m.put("01/notes", "corrected notes of the first month")
	m.grow("01/notes", "03/notes")
	m.sameAsOne("a month that changed", "01/notes", "02/notes", "03/notes")
	if _, err := m.run(UnitOptions{}, "03/notes"); err != nil {
		t.Fatal(err)
	}
	m.wants("replaced", "03/notes")
}

// TestGrowFates goes through what can become of a month that is not given.
func TestGrowFates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(m *months)
		o      UnitOptions
		given  string
		fates  string // of Changes
		holds  string
	}{
		{"another month", nil, UnitOptions{Grow: true}, "02/b", "02/b added, 01/a kept", "01/a 02/b"},
		{"no growth", nil, UnitOptions{}, "02/b", "02/b added, 01/a removed", "02/b"},
		{"the same again", nil, UnitOptions{Grow: true}, "01/a", "01/a done", "01/a"},
		{"all again", nil, UnitOptions{Grow: true, Fresh: true}, "01/a", "01/a replaced", "01/a"},
		{"another content", func(m *months) { m.put("01/a", "corrected") }, UnitOptions{Grow: true}, "01/a", "01/a replaced", "01/a"},
		{"other options", func(m *months) { m.config = 7 }, UnitOptions{Grow: true}, "01/a", "01/a replaced", "01/a"},
		{"other options for another month", func(m *months) { m.config = 7 }, UnitOptions{Grow: true}, "02/b", "02/b added, 01/a kept", "01/a 02/b"},
		{"moved", func(m *months) { m.move("01/a", "03/c") }, UnitOptions{Grow: true}, "03/c", "03/c moved", "03/c"},
		{"copied elsewhere", func(m *months) { m.put("03/c", "January") }, UnitOptions{Grow: true}, "03/c", "03/c moved", "03/c"},
		{"copied beside", func(m *months) { m.put("01/c", "January") }, UnitOptions{Grow: true}, "01/c", "01/c done", "01/c"},
		{"copied beside, both given", func(m *months) { m.put("01/c", "January") }, UnitOptions{Grow: true}, "01/a 01/c", "01/a done, 01/c added", "01/a 01/c"},
		{"same name elsewhere", func(m *months) { m.put("02/a", "February") }, UnitOptions{Grow: true}, "02/a", "02/a added, 01/a kept", "01/a 02/a"},
		{"gone", func(m *months) { m.remove("01/a") }, UnitOptions{Grow: true}, "02/b", "02/b added, 01/a vanished", "01/a 02/b"},
		{"gone, keep", func(m *months) { m.remove("01/a") }, UnitOptions{Grow: true, Vanished: "keep"}, "02/b", "02/b added, 01/a vanished", "01/a 02/b"},
		{"gone, remove", func(m *months) { m.remove("01/a") }, UnitOptions{Grow: true, Vanished: "remove"}, "02/b", "02/b added, 01/a removed", "02/b"},
		{"there, remove", nil, UnitOptions{Grow: true, Vanished: "remove"}, "02/b", "02/b added, 01/a kept", "01/a 02/b"},
		{"forgotten", nil, UnitOptions{Grow: true, Forget: func(u *UnitRecord, _ string) bool { return u.Input == "01/a" }}, "", "01/a removed", ""},
		{"another is forgotten", nil, UnitOptions{Grow: true, Forget: func(u *UnitRecord, _ string) bool { return u.Input == "02/a" }}, "", "01/a kept", "01/a"},
	} {
		m := newMonths(t)
		m.put("01/a", "January")
		m.put("02/b", "February")
		m.grow("01/a")
		if tt.change != nil {
			tt.change(m)
		}
		given := strings.Fields(tt.given)
		changes, err := Changes(m.plan(given...), Output{Dir: filepath.Join(m.dir, "out")}, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		var fates []string
		for _, c := range changes {
			fates = append(fates, c.Input+" "+c.Fate)
		}
		if got := strings.Join(fates, ", "); got != tt.fates {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.fates)
		}
		if _, err := m.run(tt.o, given...); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		m.wants(tt.name, strings.Fields(tt.holds)...)
	}
}

func (m *months) move(from, to string) {
	m.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(m.path(to)), 0o700), os.Rename(m.path(from), m.path(to))); err != nil {
		m.t.Fatal(err)
	}
}

func (m *months) remove(name string) {
	m.t.Helper()
	if err := os.Remove(m.path(name)); err != nil {
		m.t.Fatal(err)
	}
}

// TestGrowRefuses: what cannot grow says so, and stays as it is.
func TestGrowRefuses(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	m.put("01/a", "January")
	m.put("02/b", "February")
	m.grow("01/a")
	was := treeOf(t, filepath.Join(m.dir, "out"))
	refused := func(what string, o UnitOptions, as func(error) bool, change, back func()) {
		t.Helper()
		change()
		_, err := m.run(o, "02/b")
		if !as(err) {
			t.Errorf("%s: %v", what, err)
		}
		back()
		if now := treeOf(t, filepath.Join(m.dir, "out")); now != was {
			t.Errorf("%s: the tree is another", what)
		}
	}
	integrity := func(err error) bool { _, ok := errors.AsType[*durable.IntegrityError](err); return ok }
	remove := func() { m.remove("01/a") }
	refused("vanished", UnitOptions{Grow: true, Vanished: "refuse"}, integrity, remove, func() { m.put("01/a", "January") })
	flipped := somePart(t, m.dir)
	flipPart := func() { flip(t, flipped, 3) }
	refused("a damaged part of another month", UnitOptions{Grow: true}, integrity, flipPart, flipPart)
	private := filepath.Join(m.dir, "out.private", "manifest.json")
	hide := func() { _ = os.Rename(private, private+".hidden") }
	show := func() { _ = os.Rename(private+".hidden", private) }
	refused("no private manifest", UnitOptions{Grow: true}, integrity, hide, show)
	refused("no private manifest, fresh", UnitOptions{Grow: true, Fresh: true}, integrity, hide, show)
	public := filepath.Join(m.dir, "out", "manifest.json")
	hide = func() { _ = os.Rename(public, public+".hidden") }
	refused("no manifest", UnitOptions{Grow: true}, integrity, hide, func() { _ = os.Rename(public+".hidden", public) })
	m.grow("02/b")
	m.sameAsOne("in the end", "01/a", "02/b")
}

// TestGrowKey: ids of two keys are never in one output.
func TestGrowKey(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	m.put("01/a", "January")
	m.put("02/b", "February")
	m.grow("01/a")
	plan := m.plan("02/b")
	plan.Key = "another"
	_, err := Prepare(plan, Output{Dir: filepath.Join(m.dir, "out")}, UnitOptions{Grow: true})
	if _, ok := errors.AsType[*OutputError](err); !ok {
		t.Errorf("another key: %v", err)
	}
}

// TestGrowOtherOptions: the manifest says which options and model a unit was
// done with, and only if they are others than its own.
func TestGrowOtherOptions(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	m.put("01/a", "January")
	m.put("02/b", "February")
	first := m.grow("01/a").Manifest.Config
	m.config = 1
	r := m.grow("02/b")
	for _, u := range r.Manifest.Units {
		if want := map[string]string{"01/a": first, "02/b": ""}[u.Input]; u.Config != want || u.Model != "" {
			t.Errorf("%s: options %q, model %q; want %q", u.Input, u.Config, u.Model, want)
		}
	}
	m.config = 0
	r = m.grow("01/a")
	for _, u := range r.Manifest.Units {
		if (u.Config != "") != (u.Input == "02/b") {
			t.Errorf("%s after going back: options %q", u.Input, u.Config)
		}
	}
}

// TestGrowProperty: months that come one by one or together, in any order, some
// of them more than once and corrected, with starts that die in between, make
// the trees of one run over the archive.
func TestGrowProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMonths(t)
		all := []string{"01/a", "01/b", "02/a", "03/a", "x"}
		for i, name := range all {
			m.put(name, fmt.Sprintf("%s version %d", name, i))
		}
		given := map[string]bool{}
		for turn := range rapid.IntRange(1, 6).Draw(rt, "turns") {
			names := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 3, rapid.ID[string]).Draw(rt, "months")
			if rapid.Bool().Draw(rt, "corrected") {
				m.put(names[0], fmt.Sprintf("%s corrected in turn %d", names[0], turn))
			}
			killed := false
			if at := rapid.IntRange(0, 250).Draw(rt, "dies at"); at > 0 {
				d := &faults{FS: unsynced{durable.OS}, at: at, lasting: true, err: errors.New("killed")}
				a := &testArchive{loses: -1}
				_, err := RunUnits(context.Background(), m.plan(names...), Output{Dir: filepath.Join(m.dir, "out"), FS: d}, a.line, UnitOptions{Grow: true, Finish: testFinish})
				killed = err != nil
			}
			if !killed || rapid.Bool().Draw(rt, "started again") {
				m.grow(names...)
				killed = false
			}
			for _, name := range names {
				given[name] = !killed
			}
		}
		for _, name := range all {
			if !given[name] {
				m.grow(name)
			}
		}
		m.sameAsOne("in the end", all...)
	})
}

// TestTwins: files of one content in one folder, given one after the other in
// their order, are what they are when given at once.
func TestTwins(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	for _, name := range []string{"a", "b", "c"} {
		m.put(name, "the same")
	}
	m.grow("a")
	m.grow("a", "b")
	m.grow("a", "b", "c")
	m.sameAsOne("one by one", "a", "b", "c")
	if r := m.grow("b"); !r.Nothing {
		t.Error("the second twin again is something")
	}
	if r := m.grow("a", "b", "c"); r.Done > 0 {
		t.Errorf("all again: %d done", r.Done)
	}
}

// TestMoved: an archive that is given in another place, and is still where it was, is in
// the output once: with all its files, those that are twins among them, back and forth.
// A note whose id says where it lies is another one in another place.
func TestMoved(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	for name, content := range map[string]string{"01/a": "January", "02/b": "February", "02/c": "February"} {
		m.put("mnt1/"+name, content)
		m.put("mnt2/"+name, content)
	}
	give := func(placed bool, names ...string) *Result {
		t.Helper()
		p := m.plan(names...)
		for i := range p.Units {
			u := &p.Units[i]
			u.Source, u.Placed = strings.TrimPrefix(strings.TrimPrefix(u.Source, "mnt1/"), "mnt2/"), placed
			u.Folder = filepath.Dir(u.Source)
		}
		a := &testArchive{loses: -1}
		r, err := RunUnits(t.Context(), p, Output{Dir: filepath.Join(m.dir, "out")}, a.line, UnitOptions{Grow: true, Finish: testFinish})
		if err != nil {
			t.Fatal(err)
		}
		mustCheck(t, m.dir)
		return r
	}
	rows := give(false, "mnt1/01/a", "mnt1/02/b", "mnt1/02/c").Manifest.Rows
	for range 2 {
		for _, mount := range []string{"mnt2", "mnt1"} {
			r := give(false, mount+"/01/a", mount+"/02/b", mount+"/02/c")
			if r.Manifest.Rows != rows || r.Done > 0 {
				t.Errorf("%s: %d rows, want %d; %d units done again", mount, r.Manifest.Rows, rows, r.Done)
			}
		}
	}
	if r := give(true, "mnt2/01/a"); r.Manifest.Rows != rows || r.Done > 0 {
		t.Errorf("a note of the same path below the archive: %d rows, want %d", r.Manifest.Rows, rows)
	}
	m.put("mnt2/03/a", "January")
	if r := give(true, "mnt2/03/a"); r.Manifest.Rows <= rows {
		t.Errorf("the same words in another place: %d rows, want more than %d", r.Manifest.Rows, rows)
	}
}

// FuzzPlaces: places come back out of their file as they went in, and what is not such a file holds none.
func FuzzPlaces(f *testing.F) {
	at := noPlaces()
	at.Output, at.Units["u"], at.Units["v"], at.Units["x"] = []byte("/out"), place{At: []byte("/in/\xff")}, place{At: []byte("/in/b"), Former: true}, place{At: []byte("/in/c")}
	bad := BadInput{Input: "bad", SHA256: "12"}
	at.Bad[badKey(&bad)], at.Bad["z"] = []byte("/in/bad"), []byte("/in/d")
	sound, err := durable.Line(at.listed(nil, &Manifest{Units: []UnitRecord{{Name: "u"}, {Name: "v"}, {Name: "w"}}, BadInputs: []BadInput{bad}}))
	if err != nil {
		f.Fatal(err)
	}
	parse := func(t testing.TB, data []byte) (*places, bool) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, placesName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		at, sound, err := readPlaces(durable.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		return at, sound
	}
	delete(at.Units, "x")
	delete(at.Bad, "z")
	if back, ok := parse(f, sound); !ok || !reflect.DeepEqual(back, at) {
		f.Fatalf("%+v, %v", back, ok)
	}
	if back, ok, err := readPlaces(durable.OS, f.TempDir()); !ok || err != nil || !reflect.DeepEqual(back, noPlaces()) {
		f.Errorf("no file: %+v, %v, %v", back, ok, err)
	}
	older, err := durable.Line(map[string]any{"Format": "velum.inputs/1", "Units": at.Units})
	if err != nil {
		f.Fatal(err)
	}
	if back, ok := parse(f, older); !ok || !reflect.DeepEqual(back, noPlaces()) {
		f.Errorf("of another version: %+v, %v", back, ok)
	}
	f.Add(sound)
	f.Add(sound[:len(sound)-4])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		back, ok := parse(t, data)
		if (!ok || len(data) == 0) && (ok || !reflect.DeepEqual(back, noPlaces())) {
			t.Errorf("places out of nothing: %+v, %v", back, ok)
		}
		if string(data) != string(sound) {
			return
		}
		for bit := range 8 * len(sound) {
			changed := append([]byte{}, data...)
			changed[bit/8] ^= 1 << (bit % 8)
			if _, ok := parse(t, changed); ok {
				t.Fatalf("bit %d changed unseen", bit)
			}
		}
	})
}

// TestOverlap: what lay at a path is replaced, stays beside the file that is given,
// or nobody knows.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Overlap
		want string
	}{
		{"other notes", Overlap{Was: 100, Given: 90}, "added"},
		{"a few transferred", Overlap{Was: 100, Given: 100, Shared: 25, Seen: 25, Alike: 25}, "added"},
		{"corrected", Overlap{Was: 100, Given: 102, Shared: 98, Seen: 90, Alike: 80}, "replaced"},
		{"grown", Overlap{Was: 100, Given: 1000, Shared: 100, Seen: 100, Alike: 100}, "replaced"},
		{"cut", Overlap{Was: 100, Given: 10, Shared: 10, Seen: 10, Alike: 10}, ""},
		{"half and half", Overlap{Was: 100, Given: 100, Shared: 50, Seen: 50, Alike: 50}, ""},
		{"ids begin anew", Overlap{Was: 100, Given: 100, Shared: 100, Seen: 100, Alike: 5}, ""},
		{"two notes, both corrected", Overlap{Was: 2, Given: 2, Shared: 2, Seen: 2}, "replaced"},
		{"empty now", Overlap{Was: 100}, "added"},
		{"none was read", Overlap{Given: 100}, "replaced"},
		{"no ids", Overlap{Was: 100, Given: 100, Unknown: true}, ""},
	} {
		if got := tt.o.fate(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestGrowOnePath: files that lie at one path one after the other stay beside each
// other when Compare says so, with starts that die in between.
func TestGrowOnePath(t *testing.T) {
	t.Parallel()
	compare := func(given []Unit, was []*UnitRecord) (Overlap, error) { // the first letter says which month it is
		data, err := os.ReadFile(given[0].Input)
		if err != nil {
			return Overlap{}, err
		}
		o := Overlap{Was: 10, Given: 10}
		for _, month := range []string{"January 1", "January 2", "February", "March"} {
			sum := sha256.Sum256([]byte(month))
			if was[0].SHA256 == fmt.Sprintf("%x", sum) && month[0] == data[0] {
				o.Shared = 10
			}
		}
		return o, nil
	}
	contents := []string{"January 1", "February", "January 2", "March", "February"}
	for at := 0; at < 400; at += 7 {
		m := newMonths(t)
		for _, content := range contents {
			m.put("in/notes", content)
			o := UnitOptions{Grow: true, Compare: compare, Finish: testFinish}
			if at > 0 {
				d := &faults{FS: unsynced{durable.OS}, at: at, lasting: true, err: errors.New("killed")}
				a := &testArchive{loses: -1}
				_, _ = RunUnits(context.Background(), m.plan("in/notes"), Output{Dir: filepath.Join(m.dir, "out"), FS: d}, a.line, o)
			}
			if _, err := m.run(o, "in/notes"); err != nil {
				t.Fatal(err)
			}
		}
		mustCheck(t, m.dir)
		manifest, err := ReadManifest(filepath.Join(m.dir, "out.private"))
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, u := range manifest.Units {
			have = append(have, fmt.Sprintf("%s %d", u.SHA256[:6], u.Copy))
		}
		var want []string
		for k, content := range []string{"January 2", "February", "March"} {
			sum := sha256.Sum256([]byte(content))
			for range 1 + len(content)%2 {
				want = append(want, fmt.Sprintf("%x %d", sum[:3], k))
			}
		}
		if !slices.Equal(have, want) {
			t.Fatalf("killed at %d: the output holds %q, want %q", at, have, want)
		}
	}
	m := newMonths(t)
	m.put("in/notes", "January 1")
	m.grow("in/notes")
	m.put("in/notes", "February")
	older, err := durable.Line(map[string]any{"format": "velum.inputs/1", "output": "out", "inputs": 1})
	if err != nil {
		t.Fatal(err)
	}
	inputs := filepath.Join(m.dir, "out.private", placesName)
	for _, known := range []func() error{ // where the earlier file lay
		func() error { return nil },
		func() error { return os.WriteFile(inputs, older, 0o600) },
		func() error { return os.Remove(inputs) },
	} {
		if err := known(); err != nil {
			t.Fatal(err)
		}
		for changed, want := range map[string]string{"add": "added", "replace": "replaced", "refuse": ""} {
			changes, err := Changes(m.plan("in/notes"), Output{Dir: filepath.Join(m.dir, "out")}, UnitOptions{Grow: true, Changed: changed})
			if _, refused := errors.AsType[*ChangedError](err); refused != (want == "") || !refused && changes[0].Fate != want {
				t.Errorf("run.changed=%s: %+v, %v", changed, changes, err)
			}
		}
	}
}

// TestManyCopies: thousands of copies of one file have names of their own, and those
// that they had when they are given again.
func TestManyCopies(t *testing.T) {
	t.Parallel()
	m := newMonths(t)
	p := &Plan{Roots: []string{m.path("")}}
	for i := range 3000 {
		p.Units = append(p.Units, Unit{Input: m.path(fmt.Sprintf("%04d", i)), Source: fmt.Sprintf("%04d", i%1000), To: 1, Rows: 1})
	}
	if _, err := newGrowth(p, &Output{Dir: m.dir}, nil, noPlaces(), &UnitOptions{Grow: true}); err != nil {
		t.Fatal(err)
	}
	copies := map[int]bool{}
	for _, u := range p.Units {
		copies[u.Copy] = true
	}
	if len(copies) != 3000 {
		t.Errorf("%d numbers of 3000 copies", len(copies))
	}
}
