package study

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// FuzzParseArm: any text names an arm or is refused as a configuration that cannot be meant; what is read has all of the text.
func FuzzParseArm(f *testing.F) {
	for _, seed := range []string{"crf", "enet=crf:train.l1=0.5", "good=crf:train.clusters=wc=words.velum:8:train.l2=0.5", "", ":", "=", "crf:", "crf:x", "a=b=c", "crf::train.l2=1", "=crf:=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := new(study).parseArm(text)
		if err != nil && exit.CodeOf(err) != exit.Config {
			t.Errorf("%q: %v", text, err)
		}
		whole := strings.Join(append([]string{a.kind}, a.settings...), ":")
		if a.name != text {
			whole = a.name + "=" + whole
		}
		if whole != text {
			t.Errorf("%q is read as %q", text, whole)
		}
	})
}
