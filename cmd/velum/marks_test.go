package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// TestMarks: what verbs.txt marks is refused before anything is read or written, also where a script gives a flag an empty value.
func TestMarks(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"run": "missing: one of --in, --plan; type `velum run ", "run --in a": "missing beside the others: --out", "run --in  --out b": "missing beside the others: --in",
		"run --in a --out b --exclude ": "--exclude has no value", "run --in a --out b --spans ": "--spans has no value", "mask - - --config ": "--config has no value", "run --in a --out b --set read.keep=": "a: does not exist",
		"run --in a --out c --plan b --shard 1/2": "one at a time of --", "run --plan a": "missing beside the others: --shard", "run plan --in a": "missing: --out",
		"run forget a": "missing: --out", "mask --tagged a --in b": "missing beside the others: --out", "mask reveal --in a": "missing: --out", "night --out b": "missing: --in",
		"night --in a --out b --timer windows": `--timer takes no "windows"`, "review --in a": "missing: --out", "review --in a --out b --ask all": `--ask takes no "all"`,
		"review --in a --out b --lang de": `--lang takes no "de"`, "evidence a --sign k --verify": "one at a time of --", "start --out b": "missing: --in",
		"model promote a": "missing: --models", "model rollback": "missing: --models", "model tag": "arguments: want 2, have 0", "model tag --in a": "arguments: want 2, have 0",
		"model explain x --word a --at 3": "one at a time of --", "model explain --in a": "missing beside the others: --id",
		"model measure --out b": "missing: one of --held, --gold, --scores", "model measure --gold a --scores c --out b": "one at a time of --",
		"teach gazetteer build a": "missing: --out", "teach gazetteer build --out b": "arguments: want at least 1, have 0", "teach convert --in a": "missing: --out", "teach synth": "missing: --out",
		"teach synth --out b --split dev": `--split takes no "dev"`, "teach synth --out b --language en": `--language takes no "en"`,
		"teach learn": "missing: --out", "teach train --train a": "missing: --out", "teach train --kind magic --train a --out b": `--kind takes no "magic"`, "teach study folds --gold a": "missing: --out",
		"teach embed --in a": "missing: --out", "teach embed --in a --out b --method x": `--method takes no "x"`, "teach rules test a": "missing: --gold", "teach rules build a": "missing: --out",
		"prove evaluate": "missing: --gold", "prove sample": "missing: one of --", "prove sample --rate 0.1 --read 3": "one at a time of --",
		"prove sample --rate 0.1 --leaks 3": "one at a time of --", "prove sample a --reading b --leaks 3": "one at a time of --",
		"prove adjudicate a --line 3 --name x": "missing beside the others: --why", "prove usefulness": "missing: --in", "prove usefulness --in a --sample 3": "missing beside the others: --out",
	} {
		var said bytes.Buffer
		code := newApp(&said, &said, nil).run(strings.Split(line, " "))
		if code != exit.Config || !strings.Contains(said.String(), want) {
			t.Errorf("%s: exit code %d, want %q in: %s", line, code, want, &said)
		}
	}
}
