package night

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

// night is one night, and what it printed on stdout and to the log.
func night(t *testing.T, o Options, set ...string) (out, said string, err error) {
	t.Helper()
	var to, errs bytes.Buffer
	c := &console.Console{Out: &to, Errs: &errs}
	c.StartLog()
	load := func() (*option.Config, error) {
		return option.Load(option.Sources{}.With(append([]string{"read.columns.id=codigo", "read.columns.text=nota", "key.file=velum.key", "write.max_quarantined=0.1", "tag.fast=true", "run.workers=1"}, set...)))
	}
	err = Run(t.Context(), c, load, &o)
	return to.String(), errs.String(), err
}

func archive(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("in", 0o700); err != nil {
		t.Fatal(err)
	}
	text := "codigo,nota\n"
	for i := range 19 {
		text += fmt.Sprintf("%d,\"Acude con su hermana Rosa Puig. Control %d.\"\n", i, i)
	}
	for name, text := range map[string]string{"in/a.csv": text + "19,sin comillas, y con otra coma\n", "night.yaml": "write: {max_quarantined: 0.1}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRun is silent when all is well and when nothing is new, and says what to do when not.
func TestRun(t *testing.T) {
	archive(t)
	o := Options{Options: run.Options{In: []string{"in"}, Out: "out"}}
	out, said, err := night(t, o)
	if err != nil || out != "" || !strings.Contains(said, "a key was made") {
		t.Fatalf("%q, %q, %v", out, said, err)
	}
	if key, err := os.ReadFile("velum.key"); err != nil || len(key) != 32 || bytes.Equal(key, make([]byte, 32)) {
		t.Errorf("a key of %d bytes, %v", len(key), err)
	}
	if out, said, err = night(t, o); err != nil || out != "" || said != "" {
		t.Errorf("nothing new: %q, %q, %v", out, said, err)
	}
	out, _, err = night(t, Options{Options: run.Options{In: []string{"in"}, Out: "other"}}, "write.max_quarantined=0.01")
	if exit.CodeOf(err) != exit.Quarantined {
		t.Fatal(err)
	}
	for _, line := range []string{`^velum: the night of in needs somebody \(quarantined, exit code 3\)$`, `^What to do: look at the reasons`, `^  red: `, `^Machine .*\. Output other, private tree other.private: report.html has`} {
		if !regexp.MustCompile("(?m)" + line).MatchString(out) {
			t.Errorf("no line %s in\n%s", line, out)
		}
	}
	if strings.Contains(out, "The next night") || strings.Contains(out, "Rosa") {
		t.Error(out)
	}
	if err := os.Remove("velum.key"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := night(t, o); exit.CodeOf(err) != exit.Key {
		t.Errorf("a key that went: %v", err)
	}
	if _, err := os.Stat("velum.key"); err == nil {
		t.Error("a second key is made")
	}
}

// TestMail has what a mail says by the way in which a night ended.
func TestMail(t *testing.T) {
	o := Options{Options: run.Options{In: []string{"in", "more"}, Out: "out", Private: "private"}}
	said := "time=1 level=WARN msg=look\ntime=1 level=INFO msg=no\ntime=1 level=WARN msg=\"page checksums\"\n"
	for _, c := range []struct {
		code     exit.Code
		name     string
		finds    bool // the sentence of the report and its findings stand in it
		goesOn   bool
		remedies bool
	}{
		{exit.Quarantined, "quarantined", true, false, true}, {exit.Privacy, "privacy", true, false, true}, {exit.Failed, "failed", false, true, true}, {exit.DiskFull, "disk full", false, true, false}, {exit.Integrity, "integrity", false, false, true},
	} {
		var to bytes.Buffer
		remedy := ""
		if c.remedies {
			remedy = "do this"
		}
		if err := o.mail(&console.Console{Out: &to}, exit.Errorf(c.code, remedy, "it is\nwrong"), []string{"A sentence.", "A finding."}, bytes.NewBufferString(said)); err != nil {
			t.Fatal(err)
		}
		text := to.String()
		if !strings.HasPrefix(text, fmt.Sprintf("velum: the night of in, more needs somebody (%s, exit code %d)\n\n", c.name, c.code)) ||
			strings.Contains(text, "What to do: do this.\n") != c.remedies || strings.Contains(text, "\nA sentence.\n  red: A finding.\n") != c.finds ||
			strings.Contains(text, "The next night goes on where this one stopped.\n") != c.goesOn ||
			!strings.Contains(text, "level=WARN msg=look\n") || strings.Contains(text, "INFO") || strings.Contains(text, "checksums") {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}

func TestTimers(t *testing.T) {
	archive(t)
	o := func(timer string) Options {
		return Options{Options: run.Options{In: []string{"in"}, Out: "out"}, Timer: timer, Config: "night.yaml"}
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	command := `night --config ` + dir + `/night.yaml --in ` + dir + `/in --out ` + dir + `/out --private ` + dir + `/out.private`
	for _, c := range []struct {
		timer string
		files map[string]string // and what stands in them
		says  string
	}{
		{"systemd", map[string]string{"velum.service": " " + command + "\n", "velum.timer": "OnCalendar=", "velum-alert@.service": "ExecStart="}, "systemctl enable --now velum.timer"},
		{"cron", nil, "30 1 * * *  cd " + dir + " && "},
		{"kubernetes", map[string]string{"kubernetes.yaml": "    write: {max_quarantined: 0.1}\n"}, "kubectl apply --namespace velum"},
	} {
		out, _, err := night(t, o(c.timer))
		if err != nil || !strings.Contains(out, c.says) || c.timer == "cron" && !strings.Contains(out, command) {
			t.Errorf("%s: %s, %v", c.timer, out, err)
		}
		for name, want := range c.files {
			text, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "/srv/velum") || !strings.Contains(out, name+" is written\n") {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
		if _, err := os.Stat("out"); err == nil {
			t.Errorf("%s: something is done", c.timer)
		}
	}
	many, bare := o("cron"), o("cron")
	many.In, bare.Config = []string{"in", "in"}, ""
	for _, o := range []Options{many, bare} {
		if _, _, err := night(t, o); exit.CodeOf(err) != exit.Config {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
