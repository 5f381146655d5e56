package commit

import (
	"bytes"
	"cmp"
	"context"
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

// The decisions of Prepare are kept in plan.json of the private tree until the commit, so that other processes, on any
// machine that sees the trees, can process shares of the run:
//
//	Prepare, Save         one process, which holds the lock
//	Join, DoShare         any number of processes, without a lock; each share once or more often
//	Join, Commit          one process, which holds the lock
//
// These processes decide nothing again: the plan says which units there are, what their names are, and which units of
// earlier runs stay. A share may be processed twice, even at the same time. Each process writes temporary files of its
// own, and renames them to the same parts with the same bytes.

const (
	planName   = "plan.json"
	planSchema = "velum.plan/4"
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
	Fresh   bool       `json:"fresh,omitempty"`
	Changed bool       `json:"changed,omitempty"` // the trees are not as the last commit left them
	Units   []Unit     `json:"units"`
	Done    []bool     `json:"done"`                 // units that were done before the plan was made
	Kept    []string   `json:"units_kept,omitempty"` // names of units of the last commit that stay
	Bad     []BadInput `json:"bad_inputs,omitempty"`
	KeptBad []BadInput `json:"bad_inputs_kept,omitempty"`
	Places  *places    `json:"places"`
}

// plainUnit is a Unit as plan.json has it.
type plainUnit Unit

type plannedUnit struct {
	Input  []byte `json:"input"`
	SHA256 []byte `json:"input_sha256"`
	*settled
	*plainUnit
}

// MarshalJSON implements json.Marshaler, for plan.json.
func (u Unit) MarshalJSON() ([]byte, error) {
	full, err := filepath.Abs(u.Input) // whoever joins stands elsewhere
	if err != nil {
		return nil, err
	}
	return json.Marshal(plannedUnit{[]byte(full), u.SHA256[:], &u.set, (*plainUnit)(&u)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *Unit) UnmarshalJSON(data []byte) error {
	p := plannedUnit{settled: &u.set, plainUnit: (*plainUnit)(u)}
	err := json.Unmarshal(data, &p)
	u.Input = string(p.Input)
	copy(u.SHA256[:], p.SHA256)
	return err
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
	if err := p.folders(p.of.Run); err != nil {
		return err
	}
	data, err := json.Marshal(p.file())
	if err != nil {
		return err
	}
	return p.replace(true, p.out.plan(), fmt.Appendf(nil, "%s%s\",%s\n", planSeal, digest(data), data[1:]))
}

func (p *Prepared) file() *planFile {
	f := &planFile{
		Schema: planSchema, Planned: *p.of, Fresh: p.o.Fresh, Changed: p.touched, Units: p.plan.Units, Done: p.planned,
		Bad: p.plan.BadInputs, KeptBad: p.keptBad, Places: p.growth.now,
	}
	for i := range p.kept {
		f.Kept = append(f.Kept, p.kept[i].Name)
	}
	return f
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
	of := string(f.Places.Output)
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
	f := planFile{Places: noPlaces()}
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
	r := &Prepared{of: plan, out: &out, fs: out.FS, o: o, joined: true}
	var err error
	if lock {
		err = r.open()
	}
	if err == nil {
		err = r.join()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (p *Prepared) join() error {
	f, err := p.out.readPlan()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(&f.Planned, p.of) {
		return &PlanError{p.out.plan(), "has just taken the place of another plan", "start again"}
	}
	p.o.Fresh, p.touched = f.Fresh, f.Changed
	p.plan = &Plan{Units: f.Units, BadInputs: f.Bad}
	p.planned, p.keptBad, p.records = f.Done, f.KeptBad, make([]*UnitRecord, len(f.Units))
	missing := &PlanError{p.out.plan(), "counts on units of the output that are not there any more", "make it anew with `velum run plan`"}
	if err := p.readCommitted(); err != nil {
		return err
	}
	old, _, err := readPlaces(p.fs, p.out.Private)
	if err != nil {
		return err
	}
	p.growth = &growth{old: old, now: f.Places, o: &p.o}
	p.growth.now.Output = []byte(resolve(p.out.Dir)) // the trees may have been moved
	for _, name := range f.Kept {
		u := p.committed[name]
		if u == nil {
			return missing
		}
		p.kept = append(p.kept, *p.elsewhere(u))
	}
	for i := range f.Units {
		of := &f.Units[i].set
		if of.Rest != nil && p.committed[of.Rest.Of] == nil && p.committed[of.Name] == nil {
			return missing
		}
	}
	return nil
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
	todo := p.Share(k, n)
	if err := p.take(todo, false); err != nil {
		return p.lost(err)
	}
	todo = slices.DeleteFunc(todo, func(i int) bool { return p.records[i] != nil })
	return p.Do(ctx, fmt.Sprintf("-%dof%d-%s", k+1, n, p.o.Attempt), todo, line)
}

// missing returns an error that names the shares with unfinished units. How many shares there are it takes from the
// names of the journals.
func (p *Prepared) missing(todo []int) error {
	entries, err := p.fs.ReadDir(p.out.journals())
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
	return &PlanError{name, fmt.Sprintf("%d of %d units are not done", len(todo), len(p.records)),
		"do shards " + strings.Join(shares, ", ") + ", then finish again"}
}
