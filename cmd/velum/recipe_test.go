package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestRecipeFlags: the recipes of configs/deploy use flags that there are.
func TestRecipeFlags(t *testing.T) {
	root := newRootCommand(newApp(io.Discard, io.Discard, nil))
	run, _, err := root.Find([]string{"night"})
	if err != nil {
		t.Fatal(err)
	}
	for name, pattern := range map[string]string{
		"velum.service":   `(?s)ExecStart=(.*?)\n\n`,
		"kubernetes.yaml": `(?s)args:(.*?)securityContext:`,
		"airflow_dag.py":  `(?s)\{VELUM\} run(.*?)\n        \)`,
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "configs", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		command := regexp.MustCompile(pattern).FindSubmatch(text)
		if command == nil {
			t.Errorf("%s: no command", name)
			continue
		}
		flags := regexp.MustCompile(`--([a-z-]+)`).FindAllSubmatch(command[1], -1)
		if len(flags) < 5 {
			t.Errorf("%s: flags %q", name, flags)
		}
		for _, f := range flags {
			if run.Flags().Lookup(string(f[1])) == nil && root.PersistentFlags().Lookup(string(f[1])) == nil {
				t.Errorf("%s: velum run has no flag --%s", name, f[1])
			}
		}
	}
}

// TestRecipeDefaults: the configurations of configs/deploy mask with the options that velum run has by itself, so that a night
// misses no more than a run by hand.
func TestRecipeDefaults(t *testing.T) {
	deploy := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "..", "configs", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	configurations := map[string][]byte{"night.yaml": deploy("night.yaml")}
	for _, document := range bytes.Split(deploy("kubernetes.yaml"), []byte("\n---\n")) {
		var object struct {
			Kind string
			Data map[string]string
		}
		if err := yaml.Unmarshal(document, &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "ConfigMap" {
			configurations["kubernetes.yaml"] = []byte(object.Data["night.yaml"])
		}
	}
	if len(configurations) != 2 {
		t.Fatal("kubernetes.yaml has no configuration")
	}
	values := func(arguments ...string) []string {
		var out bytes.Buffer
		if code := newApp(&out, &out, nil).run(append([]string{"run", "options"}, arguments...)); code != 0 {
			t.Fatalf("run options %v: exit code %d", arguments, code)
		}
		var lines []string
		for line := range strings.Lines(out.String()) {
			value, _, _ := strings.Cut(line, " # ")
			lines = append(lines, strings.TrimSpace(value))
		}
		return lines
	}
	differing := func(text []byte) (found []string) {
		path := filepath.Join(t.TempDir(), "night.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		usual := values()
		for i, line := range values("--config", path) {
			if line != usual[i] {
				found = append(found, line)
			}
		}
		return found
	}
	for name, text := range configurations {
		if found := differing(text); len(found) > 0 {
			t.Errorf("%s differs from the defaults: %q", name, found)
		}
	}
	if found := differing([]byte("tag:\n  model: primary-care\n")); len(found) != 1 {
		t.Errorf("a planted model: %q", found)
	}
	for _, script := range []string{"velum.service", "kubernetes.yaml", "kubernetes-shards.yaml", "airflow_dag.py", "airflow_shards.py", "slurm.sh", "xargs.sh"} {
		if flag := regexp.MustCompile(`--(fast|model|profile|recall)\b`).Find(deploy(script)); flag != nil {
			t.Errorf("%s sets %s", script, flag)
		}
	}
}

// TestRecipeOfJobs: a second month makes new jobs of Kubernetes. To apply a finished job changes nothing and succeeds.
func TestRecipeOfJobs(t *testing.T) {
	text, err := os.ReadFile("../../configs/deploy/kubernetes-shards.yaml")
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var job struct {
			Kind     string
			Metadata struct {
				Name   string
				Labels map[string]string
			}
		}
		if err := yaml.Unmarshal(document, &job); err != nil {
			t.Fatal(err)
		}
		jobs++
		line := "# " + "  kubectl delete job " + job.Metadata.Name + " --ignore-not-found && kubectl create -l step=" + job.Metadata.Labels["step"] + " -f kubernetes-shards.yaml && "
		if job.Kind != "Job" || !bytes.Contains(text, []byte(line)) || !bytes.Contains(text, []byte("job/"+job.Metadata.Name+"\n")) {
			t.Errorf("%s %s: no line makes it anew and waits for it", job.Kind, job.Metadata.Name)
		}
	}
	if jobs != 3 || bytes.Contains(text, []byte("kubectl apply")) {
		t.Errorf("%d jobs, or one that is applied", jobs)
	}
}
