package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/promote"
)

const (
	modelName    = turns.ModelName
	baseName     = "base.velum"
	selectedName = "selected.parquet"
)

// notShaping lists the options of learning that change no turn, only their number and the places of files. Inputs count
// by content.
var notShaping = []string{
	"learn.in", "learn.gold", "learn.dev", "learn.turns",
}

// digest returns the digest of everything that determines a turn besides the turn before.
func (l *learning) digest() (string, error) {
	h := sha256.New()
	base, err := l.cfg.Hash()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%s%s\n%s %s\n", run.OutputVersion, base, l.gold.Digest, l.dev.Digest)
	for i := range l.archive.Files {
		fmt.Fprintf(h, "%x\n", l.archive.Files[i].SHA256)
	}
	sections := []string{"learn", "choose", "network", "ensemble"}
	l.cfg.Each(func(key, text string, _ bool) {
		section, _, _ := strings.Cut(key, ".")
		if slices.Contains(sections, section) && !slices.Contains(notShaping, key) {
			fmt.Fprintf(h, "%s=%s\n", key, text)
		}
	})
	return hex.EncodeToString(h.Sum(nil)[:10]), nil
}

// resume reads the turns that are there, and forgets those after turn backTo
// if that is not negative.
func (l *learning) resume(backTo int) error {
	for n, folder := range turns.Folders(l.out, "turn", 0) {
		if backTo >= 0 && n > backTo {
			break
		}
		t, err := turns.Read(folder, l.turns)
		if err != nil {
			return err
		}
		l.turns = append(l.turns, t)
	}
	if backTo >= len(l.turns) {
		return exit.Misconfiguredf("look at --back-to", "there is no turn %d", backTo)
	}
	if backTo >= 0 {
		if err := l.forget(backTo); err != nil {
			return err
		}
		for _, fold := range turns.Folders(l.out, "fold", 1) {
			if err := (&learning{out: fold}).forget(backTo); err != nil {
				return err
			}
		}
	}
	if err := l.loadAnswers(); err != nil {
		return err
	}
	if len(l.turns) == 0 {
		return nil
	}
	if last := l.last(); last.Options != l.options && backTo < 0 {
		return exit.Misconfiguredf(fmt.Sprintf("give --back-to %d to go on with the new ones, or another --out", last.Number),
			"options or input are not those of turn %d", last.Number)
	}
	if err := l.loadModel(l.last()); err != nil {
		return err
	}
	return l.settle()
}

// forget removes the turns after turn n, the last one first.
func (l *learning) forget(n int) error {
	for _, folder := range slices.Backward(turns.Folders(l.out, "turn", n+1)) {
		if err := durable.RemoveFolder(nil, folder); err != nil {
			return err
		}
	}
	return nil
}

// loadModel opens the model of a turn.
func (l *learning) loadModel(t *turns.Turn) (err error) {
	l.model, err = l.opened(t, modelName)
	return err
}

// opened opens a model of a turn.
func (l *learning) opened(t *turns.Turn, name string) (*flow.Model, error) {
	path := filepath.Join(l.place(t), name)
	data, err := flow.ModelData(path)
	if err != nil {
		return nil, err
	}
	return l.parsed(path, data)
}

// parsed decodes a model file. All models of learning pass through it, even just-trained ones, because sums in a
// trained model have another order than in its file, and a restarted command would get other digits.
func (l *learning) parsed(name string, data []byte) (*flow.Model, error) {
	m, err := flow.ParseModel(name, data, l.cfg)
	if err == nil {
		m.Label = flow.LabelOptions(l.cfg)
	}
	return m, err
}

// seal writes turn.json, with the digests of the files of the turn.
func seal(draft *durable.Draft, t *turns.Turn) error {
	entries, err := os.ReadDir(filepath.Dir(draft.Path("x")))
	if err != nil {
		return err
	}
	for _, e := range entries {
		f, err := turns.FileOf(draft.Path(e.Name()))
		if err != nil {
			return err
		}
		t.Files = append(t.Files, f)
	}
	data, err := t.Encoded()
	if err == nil {
		err = draft.Write(turns.FileName, data)
	}
	return err
}

// settle updates what follows from the turns: the promoted model and the report.
func (l *learning) settle() error {
	if in := l.inUse(); in.InUse() {
		if err := l.promoteTurn(in); err != nil {
			return err
		}
	}
	return l.report()
}

// promoteTurn puts the model of a turn into use, unless it is. It records no time, so that the folder is the same whenever it is
// done.
func (l *learning) promoteTurn(t *turns.Turn) error {
	data, err := os.ReadFile(filepath.Join(l.out, t.Name(), t.Ships().File))
	if err != nil {
		return err
	}
	folder := promote.Folder{Dir: l.models()}
	_, err = folder.Promote(data, time.Time{}) // of the one in use too: a start that was killed may have left the lock
	return err
}

// models is the folder of models that has the one in use.
func (l *learning) models() string { return filepath.Join(l.out, "models") }
