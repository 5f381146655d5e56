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
		"run": "at least one of the flags in the group [in plan] is required", "run --in a": "missing [out]", "run --in  --out b": "missing [in]",
		"run --in a --out c --plan b --shard 1/2": "none of the others can be", "run --plan a": "missing [shard]", "run plan --in a": `required flag(s) "out" not set`,
		"run forget a": `required flag(s) "out"`, "mask --tagged a --in b": "missing [out]", "mask reveal --in a": `"out"`, "night --out b": `"in"`,
		"night --in a --out b --timer windows": `--timer takes no "windows"`, "review --in a": `"out"`, "review --in a --out b --ask all": `--ask takes no "all"`,
		"review --in a --out b --lang de": `--lang takes no "de"`, "evidence a --sign k --verify": "none of the others can be", "start --out b": `"in"`,
		"model promote a": `"models"`, "model rollback": `"models"`, "model tag": "arguments: want 2, have 0", "model tag --in a": "arguments: want 2, have 0",
		"model explain x --word a --at 3": "none of the others can be", "model explain --in a": "missing [id]",
		"model measure --out b": "at least one of the flags in the group [held gold scores]", "model measure --gold a --scores c --out b": "none of the others can be",
		"teach gazetteer build a": `"out"`, "teach gazetteer build --out b": "arguments: want at least 1, have 0", "teach convert --in a": `"out"`, "teach synth": `"out"`,
		"teach synth --out b --split dev": `--split takes no "dev"`, "teach synth --out b --language en": `--language takes no "en"`,
		"teach learn": `"out"`, "teach train --train a": `"out"`, "teach train --kind magic --train a --out b": `--kind takes no "magic"`, "teach study folds --gold a": `"out"`,
		"teach embed --in a": `"out"`, "teach embed --in a --out b --method x": `--method takes no "x"`, "teach rules test a": `"gold"`, "teach rules build a": `"out"`,
		"prove evaluate": `"gold"`, "prove sample": "at least one of the flags", "prove sample --rate 0.1 --read 3": "none of the others can be",
		"prove sample --rate 0.1 --leaks 3": "none of the others can be", "prove sample a --reading b --leaks 3": "none of the others can be",
		"prove adjudicate a --line 3 --name x": "missing [why]", "prove usefulness": `"in"`, "prove usefulness --in a --sample 3": "missing [out]",
	} {
		var said bytes.Buffer
		code := newApp(&said, &said, nil).run(strings.Split(line, " "))
		if code != exit.Config || !strings.Contains(said.String(), want) {
			t.Errorf("%s: exit code %d, want %q in: %s", line, code, want, &said)
		}
	}
}
