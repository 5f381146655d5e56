package bilstmtrain

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
)

// checkpoint is what the header of a kept training says. All randomness comes
// from the seed, the epoch and the step, so there is no generator to keep.
type checkpoint struct {
	Kind                      string  `json:"kind"`
	Of                        string  `json:"of"` // fingerprint of corpus, network and recipe
	Epoch, Step, Tokens       int     `json:",omitempty"`
	Last, Least, Dev, BestDev float64 `json:",omitempty"`
	Flat, Worse               int     `json:",omitempty"`
	Best                      bool    `json:",omitempty"` // it holds the best network so far
}

const checkpointKind = "bilstm-training"

// ErrOtherTraining says that a checkpoint is of another corpus, network, seed
// or recipe.
var ErrOtherTraining = errors.New("the state to go on from is of another training")

// fingerprint tells one training from another.
func (t *training) fingerprint() string {
	h := xxh3.New()
	fmt.Fprintln(h, t.c.arch, t.o.Recipe, t.o.Seed, t.c.set, t.c.template, len(t.v.Words), t.v.Features.Len(), len(t.v.Chars))
	h.Write(modelfile.Bytes(t.c.form))
	for _, y := range t.c.tag {
		h.Write([]byte{byte(y)})
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// state returns a checkpoint: after an epoch.
func (t *training) state() ([]byte, error) {
	var sections []modelfile.Section
	add := func(what string, i int, x []float32) {
		sections = append(sections, modelfile.Section{Name: what + strconv.Itoa(i), Data: modelfile.Bytes(x)})
	}
	for i, p := range t.network {
		add("p", i, p.Data)
		if t.solver.m != nil {
			add("m", i, t.solver.m[i])
			add("v", i, t.solver.v[i])
		}
		if t.best != nil {
			add("best", i, t.best[i])
		}
	}
	c := checkpoint{
		Kind: checkpointKind, Of: t.fingerprint(), Epoch: t.epoch + 1, Step: t.solver.step, Tokens: t.tokens,
		Last: t.last, Least: t.least, Dev: t.dev, BestDev: t.bestDev, Flat: t.flat, Worse: t.worse, Best: t.best != nil,
	}
	var b bytes.Buffer
	err := modelfile.Write(&b, c, sections...)
	return b.Bytes(), err
}

// resume reads a checkpoint.
func (t *training) resume(state []byte) error {
	f, err := modelfile.Parse(state)
	if err != nil {
		return err
	}
	var c checkpoint
	if err := f.Header(&c); err != nil {
		return err
	}
	if c.Kind != checkpointKind || c.Of != t.fingerprint() {
		return ErrOtherTraining
	}
	for i, p := range t.network {
		err = errors.Join(err, restore(f, "p", i, p.Data))
		if t.solver.m != nil {
			err = errors.Join(err, restore(f, "m", i, t.solver.m[i]), restore(f, "v", i, t.solver.v[i]))
		}
		if c.Best {
			t.best = append(t.best, make([]float32, len(p.Data)))
			err = errors.Join(err, restore(f, "best", i, t.best[i]))
		}
	}
	t.epoch, t.solver.step, t.tokens, t.before = c.Epoch, c.Step, c.Tokens, c.Tokens
	t.last, t.least, t.dev, t.bestDev, t.flat, t.worse = c.Last, c.Least, c.Dev, c.BestDev, c.Flat, c.Worse
	return err
}

// restore reads the numbers of a section into x.
func restore(f *modelfile.File, what string, i int, x []float32) error {
	data, err := f.Section(what + strconv.Itoa(i))
	if err != nil {
		return err
	}
	v, err := modelfile.View[float32](data)
	if err != nil || len(v) != len(x) || !modelfile.Finite(v) {
		return fmt.Errorf("%w: state of a training", modelfile.ErrDamaged)
	}
	copy(x, v)
	return nil
}
