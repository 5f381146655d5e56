package start

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// What masks the month is named as learning has it in use: a turn's own model, or what was in use, trained again.
func TestInUse(t *testing.T) {
	for _, c := range []struct {
		what, report, want string
	}{
		{"no turn", `{"schema":"velum.learn/3","promoted_turn":0,"turns":[{"promoted":true}]}`, "the first model"},
		{"a turn", `{"schema":"velum.learn/3","promoted_turn":1,"turns":[{"promoted":true},{"promoted":true}]}`, "the model of turn 1 of 1"},
		{"answers", `{"schema":"velum.learn/3","promoted_turn":1,"turns":[{"promoted":true},{"promoted":false,"base":{"file":"base.velum"}}]}`, "what was in use before, trained again with all answers"},
	} {
		m := &month{Options: &Options{Out: t.TempDir()}}
		for _, dir := range []string{"turn-00", "turn-01"} {
			if err := os.MkdirAll(m.at(learnedName, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(m.Options.Out, learnedName, "report.json"), []byte(c.report), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.judged(); err != nil || m.inUse() != c.want {
			t.Errorf("%s: %q, want %q; %v", c.what, m.inUse(), c.want, err)
		}
	}
}

// A report of learning that something else wrote is refused, and breaks nothing.
func TestJudgedDamage(t *testing.T) {
	for _, report := range []string{`{`, `{"schema":"velum.learn/3","promoted_turn":1,"turns":[{"promoted":true}]}`, `{"schema":"velum.learn/3","promoted_turn":1,"turns":[null,null]}`, `{"schema":"velum.learn/3","promoted_turn":-1,"turns":[]}`} {
		m := &month{Options: &Options{Out: t.TempDir()}}
		if err := os.MkdirAll(m.at(learnedName), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.at(learnedName, "report.json"), []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.judged(); !errors.As(err, new(*durable.IntegrityError)) {
			t.Errorf("%s: %v", report, err)
		}
	}
}
