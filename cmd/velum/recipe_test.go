package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRecipeFlags: the recipes of configs/deploy use flags that there are.
func TestRecipeFlags(t *testing.T) {
	root := newRootCommand(newApp(io.Discard, io.Discard, nil))
	run, _, err := root.Find([]string{"run"})
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
