package commit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
)

// What Prepare has settled stands in plan.json of the private tree until the commit, so
// that other processes, on any machine that sees the trees, do shares of it:
//
//	Prepare, Save         one process, which has the lock
//	Join, DoShare         any number of them, without a lock; each share once or more often
//	Join, Commit          one process, which has the lock
//
// Nothing is decided again: which units there are, what they are called and what stays of
// earlier runs is the plan's. A share that is done twice, side by side too, makes the
// same parts under the same names out of temporary files of its own.

const (
	planName   = "plan.json"
	planSchema = "velum.plan/3"
	planSeal   = `{"sha256":"` // then the digest of what follows, as it would be without
)

// Planned identifies a plan: its run, configuration, model and key.
type Planned struct {
	Run    string          `json:"run"`
	Config string          `json:"config_sha256"`
	Model  string          `json:"model_sha256"`
	Key    string          `json:"key_id,omitempty"`
	With   json.RawMessage `json:"with,omitempty"` // Plan.With
}

type planFile struct {
	Schema string `json:"schema"`
	Planned
	Fresh   bool           `json:"fresh,omitempty"`
	Changed bool           `json:"changed,omitempty"` // the trees are not as the last commit left them
	Units   []plannedUnit  `json:"units"`
	Kept    []string       `json:"units_kept,omitempty"` // names of units of the last commit that stay
	Bad     []BadInput     `json:"bad_inputs,omitempty"`
	KeptBad []BadInput     `json:"bad_inputs_kept,omitempty"`
	Output  location       `json:"output"`
	Places  []plannedPlace `json:"places,omitempty"`
}

type plannedUnit struct {
	label
	Input  location `json:"input"`
	SHA256 string   `json:"input_sha256"`
	Unit
	Members []plannedUnit `json:"members,omitempty"`
	Done    bool          `json:"done,omitempty"` // before the plan was made
	Again   bool          `json:"again,omitempty"`
	Rest    *rest         `json:"rest,omitempty"`
}

// plannedPlace says in plan.json where an input lies: a file with its unit, or a file that could not be read.
type plannedPlace struct {
	At     location `json:"at"`
	Unit   string   `json:"unit,omitempty"`
	Former bool     `json:"former,omitempty"`
	Bad    string   `json:"bad,omitempty"`
}

// A PlanError says why a saved plan cannot be continued.
type PlanError struct{ Path, Cause, Remedy string }

func (e *PlanError) Error() string { return e.Path + ": " + e.Cause + "; " + e.Remedy }

// Save writes plan.json.
func (p *Prepared) Save() (err error) {
	defer func() { err = p.lost(err) }()
	if len(p.Todo()) > 0 {
		if err := p.touch(); err != nil {
			return err
		}
	}
	if err := p.folders(runDir, tmpDir); err != nil {
		return err
	}
	data, err := json.Marshal(p.file())
	if err != nil {
		return err
	}
	return p.replace(true, planName, p.out.plan(), fmt.Appendf(nil, "%s%s\",%s\n", planSeal, digest(data), data[1:]))
}

func (p *Prepared) file() *planFile {
	f := &planFile{
		Schema:  planSchema,
		Planned: Planned{p.id, hex.EncodeToString(p.plan.Config[:]), hex.EncodeToString(p.plan.Model[:]), p.plan.Key, p.plan.With},
		Fresh:   p.o.Fresh, Changed: p.touched, Bad: p.plan.BadInputs, KeptBad: p.keptBad, Output: location(p.growth.now.output),
	}
	for i := range p.plan.Units {
		u := newPlannedUnit(&p.plan.Units[i])
		u.Done = p.records[i] != nil
		f.Units = append(f.Units, u)
	}
	for i := range p.kept {
		f.Kept = append(f.Kept, p.kept[i].Name)
	}
	now := p.growth.now
	for _, name := range sortedKeys(now.unit) {
		f.Places = append(f.Places, plannedPlace{At: location(now.unit[name]), Unit: name, Former: now.former[name]})
	}
	for _, key := range sortedKeys(now.bad) {
		f.Places = append(f.Places, plannedPlace{At: location(now.bad[key]), Bad: key})
	}
	return f
}

func newPlannedUnit(u *Unit) plannedUnit {
	input := u.Input
	if full, err := filepath.Abs(input); err == nil { // whoever joins stands elsewhere
		input = full
	}
	p := plannedUnit{label: u.names, Input: location(input), SHA256: hex.EncodeToString(u.SHA256[:]), Unit: *u, Again: u.again != nil, Rest: u.rest}
	for i := range u.Members {
		p.Members = append(p.Members, newPlannedUnit(&u.Members[i]))
	}
	return p
}

// ReadPlan reads which configuration, model and key the saved plan of an output has. out.Dir may be the path of the
// plan itself; it is then replaced by that of its output. The error is a *PlanError if there is no usable plan, and an
// *OutputError if others can access its folder.
func ReadPlan(out *Output) (*Planned, error) {
	named := filepath.Base(out.Dir) == planName
	if named {
		out.Private = filepath.Dir(out.Dir)
	}
	d := out.withDefaults()
	if err := d.closed(); err != nil {
		return nil, err
	}
	f, err := d.readPlan()
	if err != nil {
		return nil, err
	}
	of := string(f.Output)
	if _, err := d.FS.Stat(of); err == nil && !named && of != resolve(d.Dir) {
		return nil, &PlanError{d.plan(), "is the plan of another output, " + of, "name that one, or plan anew"}
	} else if err != nil && named {
		return nil, &PlanError{d.plan(), "is the plan of " + of + ", which is not there", "if it was moved, name the output instead of its plan"}
	}
	if named {
		out.Dir = of
	}
	out.Private = d.Private
	return &f.Planned, nil
}

// plan is where the plan of an output stands.
func (o *Output) plan() string { return filepath.Join(o.Private, planName) }

func (o *Output) readPlan() (*planFile, error) {
	bad := &PlanError{o.plan(), "is not there: there is no plan, or it was finished", "`velum run plan` makes one"}
	data, err := durable.ReadFile(o.FS, bad.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	var f planFile
	seal, data, sealed := bytes.Cut(bytes.TrimPrefix(data, []byte(planSeal)), []byte(`",`))
	data = append([]byte{'{'}, bytes.TrimSuffix(data, []byte("\n"))...)
	bad.Cause, bad.Remedy = "is no plan of this version of velum", "make it anew with `velum run plan`"
	if !sealed || json.Unmarshal(data, &f) != nil || f.Schema != planSchema {
		return nil, bad
	}
	if string(seal) != digest(data) {
		bad.Cause = "is damaged, or somebody has changed it"
		return nil, bad
	}
	return &f, nil
}

// Join opens the plan that Save has written. With lock it takes the lock of the output, which the committing process
// needs. Errors are *PlanError, *durable.LockedError, *durable.IntegrityError, or those of the file system.
func Join(out Output, o UnitOptions, plan *Planned, lock bool) (*Prepared, error) {
	out = out.withDefaults()
	r := &Prepared{plan: &Plan{}, out: &out, fs: out.FS, o: o, joined: true}
	if lock {
		if err := r.lock(); err != nil {
			return nil, err
		}
		if err := r.takeTurns(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if err := r.rollForward(); err != nil {
			return nil, errors.Join(r.lost(err), r.Close())
		}
	}
	f, err := out.readPlan()
	if err == nil && !reflect.DeepEqual(&f.Planned, plan) {
		err = &PlanError{out.plan(), "has just taken the place of another plan", "start again"}
	}
	if err == nil {
		err = r.join(f)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (p *Prepared) join(f *planFile) error {
	p.plan.Key, p.plan.BadInputs = f.Key, f.Bad
	p.id, p.o.Fresh, p.touched = f.Run, f.Fresh, f.Changed
	bad := &PlanError{p.out.plan(), "is damaged", "make it anew with `velum run plan`"}
	missing := &PlanError{bad.Path, "counts on units of the output that are not there any more", bad.Remedy}
	if !unhex(p.plan.Config[:], f.Config) || !unhex(p.plan.Model[:], f.Model) {
		return bad
	}
	if err := p.readCommitted(); err != nil {
		return err
	}
	old, err := readPlaces(p.fs, p.out.Private)
	if err != nil {
		return err
	}
	p.growth = &growth{old: old, now: noPlaces(), o: &p.o}
	p.growth.now.output = resolve(p.out.Dir) // the trees may have been moved
	for _, at := range f.Places {
		if at.Bad != "" {
			p.growth.now.bad[at.Bad] = string(at.At)
			continue
		}
		p.growth.now.unit[at.Unit] = string(at.At)
		p.growth.now.former[at.Unit] = at.Former
	}
	for _, name := range f.Kept {
		u := p.committed[name]
		if u == nil {
			return missing
		}
		p.kept = append(p.kept, *p.elsewhere(u))
	}
	for i := range f.Units {
		u, ok := f.Units[i].unit()
		if !ok {
			return bad
		}
		if u.rest != nil && p.committed[u.rest.Of] == nil && p.committed[u.names.Name] == nil {
			return missing
		}
		p.plan.Units, p.planned = append(p.plan.Units, u), append(p.planned, f.Units[i].Done)
	}
	p.keptBad, p.records = f.KeptBad, make([]*UnitRecord, len(f.Units))
	return nil
}

// unit is the inverse of newPlannedUnit.
func (p *plannedUnit) unit() (Unit, bool) {
	u := p.Unit
	u.names, u.Input, u.rest = p.label, string(p.Input), p.Rest
	if !unhex(u.SHA256[:], p.SHA256) || p.Name == "" {
		return u, false
	}
	if p.Again {
		u.again = &UnitRecord{Name: p.Name}
	}
	for i := range p.Members {
		m, ok := p.Members[i].unit()
		if !ok {
			return u, false
		}
		u.Members = append(u.Members, m)
	}
	return u, true
}

// unhex decodes hexadecimal digits into to, and reports whether they fill it exactly.
func unhex(to []byte, digits string) bool {
	data, err := hex.DecodeString(digits)
	return err == nil && copy(to, data) == len(to) && len(data) == len(to)
}

// Unit returns the unit of the plan with that index.
func (p *Prepared) Unit(i int) *Unit { return &p.plan.Units[i] }

// Share returns the units of share k of n, from 0. Shares have about the same number of notes. The result depends only
// on the plan, not on what has been done since.
func (p *Prepared) Share(k, n int) (units []int) {
	var order []int
	for i, done := range p.planned {
		if !done {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.plan.Units[b].Rows, p.plan.Units[a].Rows) })
	load := make([]int64, n)
	for _, i := range order {
		least := slices.Index(load, slices.Min(load))
		load[least] += p.plan.Units[i].Rows + 1
		if least == k {
			units = append(units, i)
		}
	}
	slices.Sort(units)
	return units
}

// DoShare processes the remaining units of share k of n, from 0, with a journal for this attempt. Errors are those of
// Do; a *PlanError says that the plan has been committed.
func (p *Prepared) DoShare(ctx context.Context, k, n int, line makeLine) error {
	known, err := p.known()
	if err != nil {
		return p.lost(err)
	}
	var todo []int
	for _, i := range p.Share(k, n) {
		if err := p.adopt(i, known, false); err != nil {
			return err
		}
		if p.records[i] == nil {
			todo = append(todo, i)
		}
	}
	return p.Do(ctx, fmt.Sprintf("-%dof%d-%s", k+1, n, p.o.Attempt), todo, line)
}

// missing returns an error that names the shares with unfinished units. How many shares there are it takes from the
// names of the journals.
func (p *Prepared) missing(todo []int) error {
	entries, err := p.fs.ReadDir(runDir(p.out.Private, p.id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n := 0
	for _, e := range entries {
		var k int
		_, _ = fmt.Sscanf(e.Name(), journalName+"-%dof%d-", &k, &n)
	}
	var shares []string
	for k := range n {
		if slices.ContainsFunc(p.Share(k, n), func(i int) bool { return slices.Contains(todo, i) }) {
			shares = append(shares, fmt.Sprintf("%d/%d", k+1, n))
		}
	}
	name := p.out.plan()
	if n == 0 {
		return &PlanError{name, "no unit is done", "do its shards, then finish"}
	}
	return &PlanError{name, fmt.Sprintf("%d of %d units are not done", len(todo), len(p.records)), "do shards " + strings.Join(shares, ", ") + ", then finish again"}
}
