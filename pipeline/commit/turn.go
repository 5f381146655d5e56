package commit

import (
	"path/filepath"

	"github.com/velum-health/velum/pipeline/durable"
)

// takeTurns takes the right to write (durable.TakeTurn) in both trees. When two processes begin at once, each may get
// one tree: a process that does not hold both any more stops before it begins.
func (p *Prepared) takeTurns() error {
	for _, root := range p.roots() {
		t, err := durable.TakeTurn(p.fs, root, "turn-"+p.o.Attempt)
		if t != nil {
			p.turns = append(p.turns, t)
		}
		if err != nil {
			return err
		}
		_, err = p.fs.Stat(filepath.Join(root, runsName))
		if err != nil && !durable.Gone(err) { // whether a run left something, nobody knows
			return err
		}
		p.died, p.unended = p.died || t.Died, p.unended || t.Died || err == nil
	}
	return p.turns[0].Lost()
}

// scratch returns the folder for temporary files of this process. A shard has no turn; it uses the folder of the plan,
// which is removed when the plan is finished.
func (p *Prepared) scratch(private bool) string {
	if p.turns == nil {
		return filepath.Join(p.out.root(private), runsName, p.of.Run)
	}
	return p.turns[tree(private)].Path("")
}

// lost explains err if it says that a file is gone because another process took over the trees or the plan was
// finished: it returns an error that says so. Other errors are returned unchanged.
func (p *Prepared) lost(err error) error {
	if !durable.Gone(err) {
		return err
	}
	for _, t := range p.turns {
		if lost := t.Lost(); lost != nil {
			return lost
		}
	}
	if _, stat := p.fs.Stat(p.scratch(false)); p.turns == nil && durable.Gone(stat) {
		return &PlanError{p.out.plan(), "was finished, or another plan was made, while this share of it was done", "nothing is to be done"}
	}
	return err
}

// folders creates, in both trees, the folder that marks a run that has not ended, and the given folders in it.
func (p *Prepared) folders(in ...string) error {
	for i, root := range p.roots() {
		for _, name := range append([]string{""}, in...) {
			if err := p.turns[i].Mkdir(filepath.Join(root, runsName, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
