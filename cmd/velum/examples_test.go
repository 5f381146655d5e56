package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// small makes every example take a second or less. It changes no word of them.
var small = []string{
	"VELUM_MASK_AGAIN=allow", // extracts of the world were released before
	"VELUM_TRAIN_ITERATIONS=4", "VELUM_NETWORK_EPOCHS=1", "VELUM_NETWORK_UNITS=8", "VELUM_LEARN_SLICE=100", "VELUM_LEARN_TURNS=1",
}

// documents are README.md and all topics of help.
func documents(t *testing.T) string {
	t.Helper()
	text := readme(t)
	for _, name := range topicNames() {
		page, err := topics.ReadFile("topics/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		text += "\n" + string(page)
	}
	return text
}

// readme is README.md.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fenced returns the blocks of Markdown in the given language ("" is none).
func fenced(markdown, language string) (blocks []string) {
	parts := strings.Split("\n"+markdown, "\n```")
	for i := 1; i < len(parts); i += 2 {
		if name, text, _ := strings.Cut(parts[i], "\n"); name == language {
			blocks = append(blocks, text)
		}
	}
	return blocks
}

// commands returns the commands of an example, a line each.
func commands(text string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// goesOn are examples that need what is in --out already.
var goesOn = regexp.MustCompile(`forget|--ask|--answers|--back-to|joins`)

// shares are examples that need a plan.
var shares = regexp.MustCompile(`^velum run finish|--shard`)

// readings are examples that need a sample that somebody has read.
var readings = regexp.MustCompile(`--reading read\.jsonl|--line`)

// prepared are commands that go before an example in which the words stand.
var prepared = []struct{ words, command string }{
	{"--public-key", "velum evidence -q study/ --sign key.pem --name Ada"}, // somebody has signed
	{"--take-back", "velum run forget -q --out january/ --patient 463 --set read.columns.patient=patient_id"},
	{"--line", "velum prove sample masked/ --reading read.jsonl"},
	{"--ask rare", "velum run -q --in archive/ --out masked/ --set mask.rare=review"},
	{"--of masked/ --in export.csv", "rm -r masked masked.private && velum run -q --in export.csv --out masked/ --config velum.yaml --audit 20"},
	{"evidence masked/ --sign", "velum evidence -q masked/"},
	{"evidence masked/ --verify", "velum evidence -q masked/ && velum evidence -q masked/ --sign key.pem --name Ada"},
}

// page are examples that serve a page until they are interrupted.
var page = regexp.MustCompile(`^velum review (.*)$`)

var (
	outOf       = regexp.MustCompile(`--out (\S+)`)
	lineOf      = regexp.MustCompile(`--line \d+`)
	firstNumber = regexp.MustCompile(`\d+`)
)

// world is the folder that examples run in.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	w := &world{t, filepath.Join(t.TempDir(), "world")} // manifests know paths: it stays where it is
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/examples/world.sh")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.sh("sh " + script); err != nil {
		t.Fatalf("the world cannot be made: %v\n%s", err, out)
	}
	if out, err := w.sh("cp -R . ../pristine"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return w
}

func (w *world) sh(command string) (string, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	out, err := w.command(ctx, command).CombinedOutput()
	return string(out), err
}

func (w *world) command(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	sample, err := filepath.Abs("testdata/sample")
	if err != nil {
		w.t.Fatal(err)
	}
	c.Dir = w.dir
	c.Env = append(os.Environ(), append(small, "HOME="+w.dir, "VELUM_CONFIG=", "SAMPLE="+sample)...)
	return c
}

// try runs an example as it stands in the world as it was. What it makes is taken
// away first.
func (w *world) try(t *testing.T, example string) {
	here := &world{t, w.dir}
	if out, err := here.sh(`rm -rf ./* && cp -R ../pristine/. .`); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out := outOf.FindStringSubmatch(example); out != nil && !goesOn.MatchString(example) {
		path := strings.TrimRight(out[1], "/")
		if out, err := here.sh("rm -r " + path + " " + path + ".private 2> /dev/null || true"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if shares.MatchString(example) {
		plan := "rm -rf masked masked.private && velum run plan -q --in archive/ --out masked/"
		if strings.Contains(example, "finish") {
			plan += " && velum run -q --plan masked/ --shard 1/1"
		}
		if out, err := here.sh(plan); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if readings.MatchString(example) {
		if err := readOnPage(here.command(t.Context(), "exec velum review --ask audit --of masked/ --in archive/ --out read.jsonl"), 5); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range prepared {
		if !strings.Contains(example, b.words) {
			continue
		}
		if out, err := here.sh(b.command); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if strings.Contains(example, "--line") {
		listed, err := here.sh("velum prove adjudicate masked/")
		if err != nil {
			t.Fatalf("%v: %s", err, listed)
		}
		example = lineOf.ReplaceAllString(example, "--line "+firstNumber.FindString(listed))
	}
	example = strings.Replace(example, "velum init ", "velum init --yes --force ", 1) // nobody is there to be asked
	example = strings.Replace(example, " --interview", "", 1)                         // nor here
	if page.MatchString(example) {
		here.serve(t, example)
		return
	}
	out, err := here.sh(example)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 15 && strings.HasPrefix(example, "velum prove attack") {
		return // of so few notes no attack can tell
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// serve runs an example that serves a page, and interrupts it when the page is
// there, as a person would.
func (w *world) serve(t *testing.T, example string) {
	said, err := os.Create(filepath.Join(w.dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c := w.command(t.Context(), "exec "+example)
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		out, _ := os.ReadFile(said.Name())
		if bytes.Contains(out, []byte("http://")) {
			break
		}
		select {
		case err := <-ended:
			if err != nil { // --export serves no page
				t.Errorf("%v\n%s", err, out)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		out, _ := os.ReadFile(said.Name())
		t.Errorf("%v\n%s", err, out)
	}
}

// Every example of every help text and every command of README.md and of the
// topics runs as it stands.
func TestExamples(t *testing.T) {
	t.Parallel()
	worlds := make(chan *world, 2) // of a core each
	for range cap(worlds) {
		worlds <- newWorld(t)
	}
	within := func(name string, do func(*testing.T, *world)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := <-worlds
			defer func() { worlds <- w }()
			do(t, w)
		})
	}
	var examples []string
	for _, block := range fenced(documents(t), "") {
		if strings.Contains(block, "velum ") && !strings.Contains(block, "-> ") && !strings.Contains(block, "─>") {
			examples = append(examples, commands(block)...)
		}
	}
	fromReadme := len(examples)
	var out bytes.Buffer
	eachCommand(newRootCommand(newApp(&out, &out, nil)), func(c *cobra.Command) {
		if c.Name() != "completion" && (c.Parent() == nil || c.Parent().Name() != "completion") { // cobra's own
			examples = append(examples, commands(c.Example)...)
		}
	})
	if fromReadme < 20 || len(examples)-fromReadme < 40 {
		t.Fatalf("%d examples of README.md, %d of help", fromReadme, len(examples)-fromReadme)
	}
	done := map[string]bool{}
	for _, e := range examples {
		command, _, _ := strings.Cut(e, " #")
		command = strings.Join(strings.Fields(command), " ")
		if done[command] || strings.HasPrefix(command, "git ") || strings.HasPrefix(command, "make ") {
			continue // a network, or this test itself
		}
		done[command] = true
		within(command, func(t *testing.T, w *world) { w.try(t, e) })
	}
	for i, block := range fenced(documents(t), "yaml") {
		within(fmt.Sprintf("YAML %d", i+1), func(t *testing.T, w *world) { w.check(t, block) })
	}
}

// check checks a block of YAML: a configuration, or a policy, which has a name
// in its first line.
func (w *world) check(t *testing.T, block string) {
	here := &world{t, w.dir}
	config, policy := block, regexp.MustCompile(`(?m)^(default|categories):`).MatchString(block)
	if policy {
		name := regexp.MustCompile(`^# (\S+\.yaml):`).FindStringSubmatch(block)
		if name == nil {
			t.Fatal("a policy without a name")
		}
		config = "read: {columns: {patient: patient_id}}\nmask: {policy: ./" + name[1] + "}\nkey: {file: study.key}\n"
		if err := os.WriteFile(filepath.Join(w.dir, name[1]), []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "block.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := here.sh("velum check block.yaml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
