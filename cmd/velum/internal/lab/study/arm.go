package study

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// arm is one of the compared systems: a kind of tagger with its options, or an existing model, which is not trained.
type arm struct {
	name     string
	kind     string
	settings []string // KEY=VALUE
	learns   bool
	cfg      *option.Config
	digest   string // of kind and options
}

// parseArm reads [NAME=]KIND[:KEY=VALUE]..., as lean=bilstm:train.template=network-lean. A value may hold colons itself, as that
// of train.clusters does.
func (s *study) parseArm(text string) (*arm, error) {
	parts := strings.Split(text, ":")
	for k := len(parts) - 1; k > 1; k-- {
		if !strings.Contains(parts[k], "=") {
			parts[k-1] += ":" + parts[k]
			parts = slices.Delete(parts, k, k+1)
		}
	}
	a := &arm{name: text, kind: parts[0], settings: parts[1:]}
	if name, kind, named := strings.Cut(parts[0], "="); named {
		a.name, a.kind = name, kind
	}
	return a, s.load(a)
}

// with is the arm with more settings.
func (s *study) with(a *arm, settings []string) (*arm, error) {
	n := &arm{name: a.name, kind: a.kind, settings: append(slices.Clone(a.settings), settings...)}
	if err := s.load(n); err != nil {
		return nil, err
	}
	return n, s.trainable(n)
}

// trainable returns an error for an arm that cannot be trained, before hours of trials.
func (s *study) trainable(a *arm) error {
	if !a.learns {
		return nil
	}
	if _, err := s.training(a, nil); err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	return nil
}

// load reads the options of an arm and names all that shapes its trials.
func (s *study) load(a *arm) (err error) {
	for _, x := range a.settings {
		if !strings.Contains(x, "=") {
			return exit.Misconfiguredf("write KIND:KEY=VALUE, as in crf:train.l1=0.5", "--kinds: %q sets nothing", x)
		}
	}
	if a.cfg, err = option.Load(s.options.With(a.settings)); err != nil {
		return err
	}
	kind, known := flow.KindNamed(a.kind)
	if a.learns = known && kind.Learns; known && !a.learns {
		return exit.Misconfiguredf("make a model with `velum teach train --kind "+a.kind+"` and name its file",
			"--kinds: %s does not learn from labelled notes", a.kind)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", a.kind, s.labels)
	if !a.learns {
		_, sum, err := flow.ModelFile(a.kind)
		if err != nil {
			return exit.Misconfigured(fmt.Errorf("--kinds: %w", err),
				"kinds that learn: "+flow.KindsThat(func(k *flow.Kind) bool { return k.Learns })+"; others are names or files of models")
		}
		fmt.Fprintf(h, "%x\n", sum)
	}
	a.cfg.Each(func(key, text string, _ bool) {
		if section, _, _ := strings.Cut(key, "."); !slices.Contains(notShaping, section) {
			fmt.Fprintf(h, "%s=%s\n", key, text)
			for _, path := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`[]," `, r) }) {
				if data, err := os.ReadFile(path); err == nil {
					fmt.Fprintf(h, "%x\n", sha256.Sum256(data))
				}
			}
		}
	})
	base, err := a.cfg.Hash() // of files that options name, whatever they are
	a.digest = fmt.Sprintf("%x %s", h.Sum(nil), base)
	return err
}

// notShaping are sections of options that change no model and no span.
var notShaping = []string{"anonymity", "choose", "gate", "key", "learn", "mask", "people", "report", "run", "verify", "write"}
