package option

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/syntax"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/stages/mask"
)

var update = flag.Bool("update", false, "write configs/schema.json anew")

func TestSchemaIsCurrent(t *testing.T) {
	const file = "../../../../configs/schema.json"
	if *update {
		if err := os.WriteFile(file, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, Schema()) {
		t.Error("configs/schema.json is not what the table of options gives; run `make schema`")
	}
}

// configFile writes a configuration file and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "velum.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// mistakes returns what is wrong, without the folder of the file.
func mistakes(t *testing.T, s Sources) []string {
	t.Helper()
	_, err := Load(s)
	if err == nil {
		return nil
	}
	if exit.CodeOf(err) != exit.Config {
		t.Errorf("exit code %d for %v", exit.CodeOf(err), err)
	}
	var c *exit.ConfigError
	if !errors.As(err, &c) {
		t.Fatalf("%T: %v", err, err)
	}
	var all []string
	for _, m := range c.Mistakes {
		all = append(all, strings.TrimPrefix(m.String(), filepath.Dir(s.File)+"/"))
	}
	return all
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"empty", "", ""},
		{"only a comment", "# nothing\n", ""},
		{"empty section", "read:\n", ""},
		{"one key", "tag:\n  recall: 0.5\n", ""},
		{"flow style", "{tag: {recall: 0.995}, read: {keep: [sex]}}\n", ""},
		{"exponent", "train: {l2: 1e-4}\n", ""},
		{"typo", "tga: {}\n", `velum.yaml:1:1: unknown key "tga"; did you mean "tag"?`},
		{"typo below", "tag:\n  recal: 1\n", `velum.yaml:2:3: unknown key "recal" in tag; did you mean "recall"?`},
		{"typo two below", "read:\n  columns:\n    pacient: x\n", `velum.yaml:3:5: unknown key "pacient" in read.columns; did you mean "patient"?`},
		{"other section", "tag:\n  row_group_rows: 5\n", `velum.yaml:2:3: unknown key "row_group_rows" in tag; it is called write.row_group_rows`},
		{"no section", "iterations: 5\n", `velum.yaml:1:1: unknown key "iterations"; it is called train.iterations`},
		{"nothing like it", "zzzzzz: 5\n", `velum.yaml:1:1: unknown key "zzzzzz"`},
		{"text for a number", "choose:\n  k: many\n", `velum.yaml:2:6: choose.k: want a whole number, have the text "many"`},
		{"quoted number", "choose:\n  k: '5'\n", `velum.yaml:2:6: choose.k: want a whole number, have the text "5"`},
		{"fraction", "choose:\n  k: 1.5\n", `velum.yaml:2:6: choose.k: want a whole number, have the number 1.5`},
		{"number for text", "read: {columns: {text: 5}}\n", `velum.yaml:1:24: read.columns.text: want text, have the number 5`},
		{"word for a truth", "write: {spans: yes}\n", `velum.yaml:1:16: write.spans: want true or false, have the text "yes"`},
		{"truth for a word", "read: {ids: true}\n", `velum.yaml:1:13: read.ids: want one of keep, keyed, drop, verbatim, have true (quote it if it is text)`},
		{"nothing", "choose: {k: }\n", `velum.yaml:1:12: choose.k: want a whole number, have nothing`},
		{"list for a number", "choose: {k: [1]}\n", `velum.yaml:1:13: choose.k: want a whole number, have a list`},
		{"section for a number", "choose:\n  k:\n    a: 1\n", `velum.yaml:3:5: choose.k: want a whole number, have a section`},
		{"number for a section", "read: 5\n", `velum.yaml:1:7: read: want a section of keys, have the number 5`},
		{"text for a list", "read: {keep: a}\n", `velum.yaml:1:14: read.keep: want a list such as [a, b], have the text "a"`},
		{"number in a list", "read: {keep: [a, 5]}\n", `velum.yaml:1:14: read.keep: item 2: want text, have the number 5`},
		{"too large", "tag: {recall: 1.5}\n", `velum.yaml:1:15: tag.recall: must lie between 0 and 1`},
		{"too small", "choose: {k: -1}\n", `velum.yaml:1:13: choose.k: must be at least 0`},
		{"bad word", "tag: {confidence: paht}\n", `velum.yaml:1:19: tag.confidence: "paht" is none of path, line; did you mean "path"?`},
		{"bad size", "run: {memory_limit: 5MX}\n", `velum.yaml:1:21: run.memory_limit: want a size such as 64MiB, have "5MX"`},
		{"bad duration", "run: {deadline: 5 hours}\n", `velum.yaml:1:17: run.deadline: want a duration such as 30s or 8h, have "5 hours"`},
		{"duration without unit", "run: {deadline: 5}\n", `velum.yaml:1:17: run.deadline: want a duration such as 30s or 8h, have the number 5`},
		{"twice", "choose:\n  k: 1\n  k: 2\n", `velum.yaml:3:3: choose.k: this key stands here twice`},
		{"two documents", "tag: {recall: 1}\n---\ntag: {recall: 0}\n", `velum.yaml:3:1: a second document; there must be one`},
		{"a list", "- a\n", `velum.yaml:1:1: want keys and values, have a list`},
		{"an anchor", "tag: &a\n  recall: 1\n", `velum.yaml:1:6: tag: want a section of keys, have an anchor, alias or tag, which are not used here`},
		{"no YAML", "tag: {recall: 1\n", `velum.yaml:1:6: could not find flow mapping end token '}'`},
		{"profile", "profile: medocan\n", `velum.yaml:1:10: profile: "medocan" is none of primary-care, meddocan, omop; did you mean "meddocan"?`},
		{"policy", "mask: {policy: idiab}\n", `velum.yaml:1:8: mask.policy: "idiab" is none of the policies ` + strings.Join(configs.Policies(), ", ") + `; did you mean "idiap"?`},
		{"operator", "mask: {operators: {PERSON: kep}}\n", `velum.yaml:1:19: mask.operators: PERSON: "kep" is none of ` + strings.Join(mask.OperatorNames(), ", ") + `; did you mean "keep"?`},
		{"category", "mask: {operators: {PERSN: keep}}\n", `velum.yaml:1:8: mask.operators: unknown category "PERSN"; did you mean "PERSON"?`},
		{"text passes through", "read: {keep: [text]}\n", `velum.yaml:1:8: read.keep: the column of the note cannot pass through; the masked text is always written`},
		{"id passes through", "read: {ids: drop, keep: [note_id]}\n", `velum.yaml:1:19: read.keep: a column of the id cannot pass through when ids are drop`},
		{"no id", "read: {columns: {id: []}}\n", `velum.yaml:1:18: read.columns.id: must name a column`},
		{"an id without a name", "read: {columns: {id: ['']}}\n", `velum.yaml:1:18: read.columns.id: must name a column`},
		{"ids are dropped", "read: {ids: drop, columns: {id: []}}\n", ""},
		{"no text", "read: {columns: {text: ''}}\n", `velum.yaml:1:18: read.columns.text: must name a column`},
		{"one column twice", "read: {columns: {patient: text}}\n", `velum.yaml:1:18: read.columns.patient: the same column as read.columns.text`},
		{"always", "resolve: {always: [Ferran]}\n", `velum.yaml:1:11: resolve.always: is not CATEGORY:words; write PERSON:Ferran, say`},
		{"shares", "choose: {classes: {PERSON: 0.5, LOCATION: 0.4}}\n", `velum.yaml:1:10: choose.classes: the shares add up to 0.9, not 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(mistakes(t, Sources{File: configFile(t, tt.yaml)}), "\n")
			if got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	s := Sources{
		File:  configFile(t, "raed: {}\ntag:\n  recall: 2\nread: {kep: []}\nwrite: {row_group_rows: a}\n"),
		Env:   []string{"VELUM_RUN_WORKRES=2", "VELUM_RUN_UNITS=x", "VELUM_PORT=80", "VELUM_RUN_DEADLINE=", "HOME=/"},
		flags: []textSetting{{"choose.k", "z", "--k"}, {"tag.modell", "x", "--set tag.modell"}},
	}
	want := []string{
		`command line: --k: want a whole number, have "z"`,
		`command line: --set tag.modell: unknown key "tag.modell"; did you mean "tag.model"?`,
		`environment: VELUM_RUN_WORKRES: unknown variable; did you mean "VELUM_RUN_WORKERS"?`,
		`environment: VELUM_RUN_UNITS: want a whole number, have "x"`,
		`velum.yaml:1:1: unknown key "raed"; did you mean "read"?`,
		`velum.yaml:3:11: tag.recall: must lie between 0 and 1`,
		`velum.yaml:4:8: unknown key "kep" in read; did you mean "keep"?`,
		`velum.yaml:5:25: write.row_group_rows: want a whole number, have the text "a"`,
	}
	got := mistakes(t, s)
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPrecedence(t *testing.T) {
	s := Sources{
		File: configFile(t, "profile: meddocan\ntag:\n  recall: 0.1\n  model: file.model\nchoose: {k: 1, review: 1}\nread: {max_note_bytes: 2KiB}\n"),
		Env:  []string{"VELUM_CHOOSE_K=2", "VELUM_CHOOSE_REVIEW=2", "VELUM_READ_KEEP=sex, [age]", "VELUM_CHOOSE_CLASSES=PERSON=0.25,DATE=0.75"},
		flags: []textSetting{
			{"choose.k", "3", "--k"},
			{"run.deadline", "90m", "--deadline"},
		},
	}
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, o := range c.options() {
		values[o.key] = fmt.Sprintf("%s # %v", o.text(), c.origins[o.key])
	}
	dir := filepath.Dir(s.File)
	for key, want := range map[string]string{
		"choose.k":            "3 # --k",
		"choose.review":       "2 # VELUM_CHOOSE_REVIEW",
		"tag.recall":          "0.1 # " + s.File + ":3",
		"tag.model":           dir + "/file.model # " + s.File + ":4", // beside the file
		"tag.confidence":      "line # profile meddocan:9",
		"read.max_note_bytes": "2KiB # " + s.File + ":6",
		"run.deadline":        "1h30m0s # --deadline",
		"choose.classes":      "{DATE: 0.75, PERSON: 0.25} # VELUM_CHOOSE_CLASSES",
		"write.spans":         "true # built-in",
		"profile":             "meddocan # " + s.File + ":1",
	} {
		if quoted := strings.Replace(values[key], `"`, "", 2); quoted != want {
			t.Errorf("%s: %s, want %s", key, quoted, want)
		}
	}
}

func TestEnvNamesAreUnique(t *testing.T) {
	seen := map[string]string{"VELUM_CONFIG": "--config"}
	for _, o := range new(Config).options() {
		if other := seen[envName(o.key)]; other != "" {
			t.Errorf("%s and %s share %s", o.key, other, envName(o.key))
		}
		seen[envName(o.key)] = o.key
	}
}

// Every option has a reason that says more than its name, and its built-in
// value is one that it allows.
func TestOptionsAreSound(t *testing.T) {
	c := new(Config)
	for _, o := range c.options() {
		o.reset()
		if len(o.why) < 20 || !strings.HasSuffix(o.why, ".") {
			t.Errorf("%s: no reason", o.key)
		}
		if p, _ := o.check(); p != "" {
			t.Errorf("%s: its default: %s", o.key, p)
		}
	}
}

func TestBuiltInsLoad(t *testing.T) {
	for _, profile := range configs.Profiles() {
		for _, policy := range configs.Policies() {
			given := Sources{flags: []textSetting{{"profile", profile, "--profile"}, {"mask.policy", policy, "--policy"}, {"key.file", "house.key", "--set"}}}
			if _, err := Load(given); err != nil {
				t.Errorf("%s, %s: %v", profile, policy, mistakes(t, given))
			}
		}
	}
}

// What print writes is read back as the same values.
func TestPrintRoundTrip(t *testing.T) {
	dir := t.TempDir()
	text := rapid.OneOf(
		rapid.SampledFrom([]string{"true", "5", "1e3", "null", "~", "-", "a: b", "#x", "'", `"`, "\\", "&a", "*a", "ñ·ŀ", "\t", "0x1", "a\nb", " lead", "@", "%", "?", "<<", "=", "2026-01-01", "."}),
		rapid.StringMatching(`[a-z]{1,8}`), rapid.StringN(1, 12, -1))
	rapid.Check(t, func(t *rapid.T) {
		file := filepath.Join(dir, "printed.yaml")
		a := &Config{origins: map[string]origin{}}
		for _, o := range a.options() {
			o.reset()
		}
		a.Read.Columns.Text = text.Draw(t, "column")
		a.Read.Keep = rapid.SliceOfN(text.Filter(func(s string) bool { return s != a.Read.Columns.Text }), 0, 4).Draw(t, "keep")
		a.Tag.Recall = rapid.Float64Range(0, 1).Draw(t, "recall")
		a.Run.MemoryLimit = size(rapid.Int64Range(0, 1<<40).Draw(t, "limit"))
		a.Choose.Review = rapid.IntRange(0, 1<<50).Draw(t, "review")
		a.Mask.Operators = map[string]string{"PERSON": rapid.SampledFrom(mask.OperatorNames()).Draw(t, "operator")}
		a.Choose.Classes = map[string]float64{"DATE": rapid.Float64Range(0, 1).Draw(t, "share")}
		var printed bytes.Buffer
		if err := a.Print(&printed, rapid.Bool().Draw(t, "reasons")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, printed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &Config{}
		r := strictReader{file: file, options: b.options()}
		r.read(printed.Bytes())
		if len(r.mistakes) > 0 {
			t.Fatalf("%v in\n%s", r.mistakes, printed.String())
		}
		had, got := a.options(), b.options()
		for i := range had {
			if had[i].text() != got[i].text() {
				t.Errorf("%s: %s became %s", had[i].key, had[i].text(), got[i].text())
			}
		}
	})
}

func TestHash(t *testing.T) {
	list := configFile(t, "Ferran\n")
	hash := func(key, value string) string {
		t.Helper()
		c, err := Load(Sources{flags: []textSetting{{key, value, "--set"}}})
		if err != nil {
			t.Fatal(err)
		}
		h, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	plain := hash("run.workers", "0")
	for key, value := range map[string]string{"run.workers": "8", "run.memory_limit": "1GiB", "run.deadline": "1h", "tag.model": "other"} {
		if hash(key, value) != plain {
			t.Errorf("%s changes the hash and not the output", key)
		}
	}
	for key, value := range map[string]string{"tag.recall": "0.99", "read.keep": "sex", "mask.policy": "idiap", "mask.operators": "DATE=keep", "resolve.never": "Parkinson", "write.row_group_rows": "2", "profile": "meddocan"} {
		if hash(key, value) == plain {
			t.Errorf("%s changes the output and not the hash", key)
		}
	}
	before := hash("resolve.never_file", list)
	if err := os.WriteFile(list, []byte("Jordi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if hash("resolve.never_file", list) == before {
		t.Error("the content of a file does not count")
	}
}

func TestOperators(t *testing.T) {
	policy := configFile(t, "default: suppress\ncategories: {PERSON: placeholder, DATE: keep}\n")
	c, err := Load(Sources{flags: []textSetting{{"mask.policy", policy, ""}, {"mask.operators", "DATE=mask", ""}}})
	if err != nil {
		t.Fatal(err)
	}
	operators, err := c.Operators()
	if err != nil {
		t.Fatal(err)
	}
	for category, want := range map[string]string{"PERSON": "placeholder", "DATE": "mask", "LOCATION": "suppress"} {
		for i, name := range append([]string{""}, allCategories()...) {
			if name == category && operators[i].String() != want {
				t.Errorf("%s: %s, want %s", category, operators[i], want)
			}
		}
	}
	bad := configFile(t, "defualt: keep\ncategories: {PERSN: keep, DATE: kep}\n")
	_, err = Load(Sources{flags: []textSetting{{"mask.policy", bad, ""}}})
	var e *exit.ConfigError
	if !errors.As(err, &e) || len(e.Mistakes) != 3 {
		t.Errorf("a policy with mistakes gives %v", err)
	}
}

func TestInterval(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 30 * 24 * time.Hour, "0d": 0, "0": 0, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute, "never": -1} {
		if got, ok := interval(text); !ok || got != want {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "d", "-1d", "30", "1.5d", "99999d", "-2h", "Never", "30 d", "monthly"} {
		if problem, _ := notAnInterval(text); problem == "" {
			t.Errorf("%q is an interval", text)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", "1024": "1KiB", "1.5GiB": "1536MiB", "64 MiB": "64MiB", "1kB": "1000", "10B": "10", "3TiB": "3TiB",
		"": "-", "-1": "-", "x": "-", "1XB": "-", "1e30": "-", "NaN": "-", "MiB": "-", "inf": "-",
	} {
		got := "-"
		if s, ok := parseSize(text); ok {
			got = s.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Whatever a file holds, reading it ends with mistakes or without, and every
// mistake is one line with a place.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"tag: {recall: 1}\n", "read:\n  keep: [a, b]\n", "a: &x [*x]\n", "? a\n: b\n", "\x00", "- - -\n", "<<: {}\n", "tag: |\n  x\n", "\t", "{{", "!!map {a: !!str 5}", "k: !!", "a: 'b", "%YAML 1.2\n---\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := new(Config)
		r := strictReader{file: "f", options: c.options()}
		r.read(text)
		for _, m := range r.mistakes {
			if m.Message == "" || strings.Contains(m.String(), "\n") {
				t.Errorf("a mistake that nobody can read: %q", m.String())
			}
		}
	})
}

// TestBombs: what the parser would take half a minute for is refused unseen, and
// none of it is anything that somebody writes.
func TestBombs(t *testing.T) {
	many := func(s string) []byte { return []byte(strings.Repeat(s, 100_000)) }
	for name, text := range map[string][]byte{
		"lists": many("["), "maps": many("{"), "pairs": many("{a: "), "dashes": many("- "), "questions": many("? "),
		"closed in texts": many(`["]", `), "closed in comments": many("[ # ]\n"), "closed by words": many("[a\n{b'}', "),
		"keys": many("a: 1\n"), "flow keys": many("a: b, "), "tabs": many("-\t"), "bars": many("a: |\n"),
	} {
		r := strictReader{file: "x.yaml"}
		r.read(text)
		if len(r.mistakes) != 1 || r.mistakes[0].Line == 0 {
			t.Errorf("%s: %v", name, r.mistakes)
		}
	}
	for name, text := range map[string]string{
		"long lists":        "a: [" + strings.Repeat("b, ", 100_000) + "]\nb:\n" + strings.Repeat("- [c, d]\n", 10_000),
		"double quotes":     `a: "` + strings.Repeat(`[{\"a: ? `, 10_000) + `"`,
		"quotes over lines": "a: \"" + strings.Repeat("[{ a:\n  ", 10_000) + `"`,
		"single quotes":     "a: '" + strings.Repeat("[''{ - a: ", 10_000) + "'",
		"literal block":     "a: |\n" + strings.Repeat("  - - [{ a: b\n", 10_000),
		"folded block":      "a:\n- >-\n" + strings.Repeat("  ? [{ a:\n", 10_000),
		"comments":          strings.Repeat("# [{ - a: b\n", 10_000) + "a: b",
		"plain text":        "a: b" + strings.Repeat("[{:b", 10_000),
		"a text of dashes":  `a: "` + strings.Repeat("- ", 10_000) + `"`,
	} {
		if _, m := syntax.Parse([]byte(text)); m != nil && m.Message != "this is no YAML" {
			t.Errorf("%s: %v", name, m)
		}
	}
	if _, err := readBounded("/dev/zero"); err == nil {
		t.Error("a device was read")
	}
}

// TestNamedFiles: no option takes a device, a pipe or a file of a size that such a
// file never has, and no error says what stands in a file that is no configuration.
func TestNamedFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, huge, other := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge"), filepath.Join(dir, "passwd")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 100<<30), os.WriteFile(other, []byte("canary:x:0:0:/canary\ncanary word\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, o := range new(Config).options() {
		if !o.file && !o.nameOr {
			continue
		}
		named++
		for _, path := range []string{"/dev/zero", pipe, huge} {
			c, list := new(Config), []string{path}
			for _, mine := range c.options() {
				if mine.key != o.key {
					continue
				}
				if text, ok := mine.at.(*string); ok {
					*text = path
				} else if texts, ok := mine.at.(*[]string); ok {
					*texts = list
				}
			}
			if wrong := c.files(); (len(wrong) != 1 || wrong[0].Key != o.key) && (!strings.Contains(path, huge) || !o.large) {
				t.Errorf("%s: %s: %v", o.key, path, wrong)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d options name files", named)
	}
	for _, path := range []string{"/dev/zero", pipe, huge, other} {
		if _, err := Load(Sources{File: path}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("--config %s: %v", path, err)
		}
	}
}

// TestParseAudited: nothing missed is a result, all missed is none.
func TestParseAudited(t *testing.T) {
	for text, want := range map[string][2]int{"0/10": {0, 10}, " 3 / 1000 ": {3, 1000}, "9/10": {9, 10}, "10/10": {}, "11/10": {}, "-1/10": {}, "0/0": {}, "3": {}, "a/3": {}, "3/b": {}} {
		missed, of, ok := ParseAudited(text)
		if ok != (want[1] > 0) || ok && [2]int{missed, of} != want {
			t.Errorf("%q: %d of %d, %v", text, missed, of, ok)
		}
		if problem, _ := auditedShare(text); (problem == "") != ok {
			t.Errorf("%q: %s", text, problem)
		}
	}
}

// TestAnonymityColumns: k wants 1 to so many columns and categories together, and l or t a sensitive column.
func TestAnonymityColumns(t *testing.T) {
	columns := func(n int, of string) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprint("c", i)] = of
		}
		return all
	}
	for _, c := range []struct {
		name string
		a    Anonymity
		keep int // of the columns
		want string
	}{
		{"off", Anonymity{T: 1}, 0, ""},
		{"none", Anonymity{K: 5, T: 1}, 0, "anonymity.k: 0 columns"},
		{"one", Anonymity{K: 5, T: 1, Columns: columns(1, "number")}, 1, ""},
		{"a category alone", Anonymity{K: 5, T: 1, Text: map[string]string{"AGE": "number"}}, 0, ""},
		{"as many as there may be", Anonymity{K: 5, T: 1, Columns: columns(anonymity.MaxColumns, "number")}, anonymity.MaxColumns, ""},
		{"one more, a category", Anonymity{K: 5, T: 1, Columns: columns(anonymity.MaxColumns, "number"), Text: map[string]string{"AGE": "number"}},
			anonymity.MaxColumns, fmt.Sprintf("anonymity.k: %d columns", anonymity.MaxColumns+1)},
		{"not kept", Anonymity{K: 5, T: 1, Columns: columns(1, "number")}, 0, "anonymity.columns: column \"c0\" is not kept"},
		{"l without k", Anonymity{L: 2, T: 1}, 0, "anonymity.l: "},
		{"t without a sensitive column", Anonymity{K: 5, T: .5, Columns: columns(1, "number")}, 1, "anonymity.l: "},
		{"t with one", Anonymity{K: 5, T: .5, Columns: columns(1, "sensitive")}, 1, ""},
		{"an unknown category", Anonymity{K: 5, T: 1, Text: map[string]string{"AGEE": "number"}}, 0, "anonymity.text: unknown category"},
	} {
		k := checker{Config: &Config{Anonymity: c.a}}
		for i := range c.keep {
			k.Read.Keep = append(k.Read.Keep, fmt.Sprint("c", i))
		}
		k.anonymity()
		got := ""
		for _, m := range k.mistakes {
			got += m.Key + ": " + m.Message + "\n"
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPairFlags: what flags and --set say of several categories adds up, each flag for itself.
func TestPairFlags(t *testing.T) {
	var s Sources
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.AddFlag(flags, "k", "choose.k")
	s.AddFlag(flags, "operators", "mask.operators")
	s.AddFlag(flags, "other", "mask.operators")
	if err := flags.Parse([]string{"--operators=PERSON=keep", "--k=3", "--other=AGE=keep", "--k=4", "--operators=DATE=suppress"}); err != nil {
		t.Fatal(err)
	}
	want := []textSetting{{"mask.operators", "PERSON=keep,DATE=suppress", "--operators"}, {"choose.k", "3", "--k"}, {"mask.operators", "AGE=keep", "--other"}, {"choose.k", "4", "--k"}}
	if !slices.Equal(s.flags, want) {
		t.Errorf("%v, want %v", s.flags, want)
	}
}
