package option

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestToyOption: an option is a field and a line of the table. The field stands
// here, the line is toyPart; flag, variable, file, check, print, schema and hash
// know it.
func TestToyOption(t *testing.T) {
	toy := 0
	toyPart := func(*Config) []option {
		return []option{opt("toy.letters", &toy, 3, "How many letters the toy has. Three are enough for a toy.", within(1, 9), shaping)}
	}
	parts = append(slices.Clip(parts), toyPart)
	defer func() { parts = parts[:len(parts)-1] }()
	load := func(s Sources) *Config {
		t.Helper()
		c, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	hash := func(c *Config) string {
		t.Helper()
		h, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	file := Sources{File: configFile(t, "toy: {letters: 4}\n")}
	env := Sources{File: file.File, Env: []string{"VELUM_TOY_LETTERS=5"}}
	flag := env
	flags := pflag.NewFlagSet("toy", pflag.ContinueOnError)
	flag.AddFlag(flags, "letters", "toy.letters")
	if err := flags.Parse([]string{"--letters", "6"}); err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for want, s := range map[int]Sources{3: {}, 4: file, 5: env, 6: flag} {
		c := load(s)
		if toy != want {
			t.Errorf("%d letters, want %d", toy, want)
		}
		hashes[hash(c)] = true
	}
	if len(hashes) != 4 {
		t.Errorf("%d hashes of 4 values", len(hashes))
	}
	bad := mistakes(t, Sources{File: configFile(t, "toy: {leters: 4, letters: 10}\n")})
	if len(bad) != 2 || !strings.Contains(strings.Join(bad, " "), "toy.letters") {
		t.Errorf("mistakes %q", bad)
	}
	var printed bytes.Buffer
	if err := load(flag).Print(&printed, true); err != nil || !strings.Contains(printed.String(), "letters: 6") || !strings.Contains(printed.String(), "enough for a toy") {
		t.Errorf("printed %v:\n%s", err, printed.String())
	}
	if !bytes.Contains(Schema(), []byte(`"letters"`)) {
		t.Error("not in the schema")
	}
}
