package look

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline/promote"
)

// run calls do with a console, and returns what it printed.
func run(t *testing.T, json bool, do func(c *console.Console) error) (out string, err error) {
	t.Helper()
	var to, errs bytes.Buffer
	c := &console.Console{Out: &to, Errs: &errs, JSON: json, Quiet: true}
	c.StartLog()
	err = do(c)
	return to.String() + errs.String(), err
}

// put writes files into a folder, and makes it the working folder.
func put(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildString(t *testing.T) {
	for _, c := range []struct {
		of   Build
		want string
	}{
		{Build{Version: "0.1.0", Go: "go1.26", Platform: "linux/amd64"}, "velum 0.1.0 go1.26 linux/amd64"},
		{Build{Version: "0.1.0", Commit: "0123456789abcdef", Go: "go1.26", Platform: "linux/amd64"}, "velum 0.1.0 (0123456789ab) go1.26 linux/amd64"},
		{Build{Version: "0.1.0", Commit: "01234", Go: "go1.26", Platform: "linux/amd64"}, "velum 0.1.0 (01234) go1.26 linux/amd64"},
	} {
		if got := c.of.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if b := NewBuild("1", "c0ffee"); b.Version != "1" || b.Commit != "c0ffee" || b.Go != runtime.Version() || b.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", b)
	}
}

func TestListArgument(t *testing.T) {
	for _, c := range []struct {
		arg   string
		files string
		want  gazetteer.Source
		wrong string
	}{
		{"a.csv", "a.csv", gazetteer.Source{}, ""},
		{"Surname=a.csv,b.csv?form=name&count=n+m&separator=tab&header=no", "a.csv b.csv", gazetteer.Source{Class: gazetteer.Surname, Form: "name", Separator: '\t', NoHeader: true}, ""},
		{"a.csv?separator=;&header=yes", "a.csv", gazetteer.Source{Separator: ';'}, ""},
		{"a.csv?separator=|&", "a.csv", gazetteer.Source{Separator: '|'}, ""},
		{"a.csv?separator=;;", "", gazetteer.Source{}, `no option "separator"`},
		{"a.csv?separator=x", "", gazetteer.Source{}, `no option "separator"`},
		{"a.csv?separator=", "", gazetteer.Source{}, `no option "separator"`},
		{"a.csv?form=", "", gazetteer.Source{}, `no option "form"`},
		{"a.csv?count=", "", gazetteer.Source{}, `no option "count"`},
		{"a.csv?header=maybe", "", gazetteer.Source{}, `no option "header"`},
		{"a.csv?sep=,", "", gazetteer.Source{}, `no option "sep"`},
		{"a.csv,", "", gazetteer.Source{}, "names no list"},
		{"", "", gazetteer.Source{}, "names no list"},
		{"Surnames=a.csv", "", gazetteer.Source{}, "Surnames"},
	} {
		l, err := parseListArgument(c.arg)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) || exit.CodeOf(err) != exit.Config {
				t.Errorf("%s: %v, want %q", c.arg, err, c.wrong)
			}
			continue
		}
		counts := strings.Join(l.source.Counts, " ")
		if want := map[bool]string{true: "n m"}[strings.Contains(c.arg, "count")]; counts != want {
			t.Errorf("%s: counts %q, want %q", c.arg, counts, want)
		}
		s := l.source
		if err != nil || strings.Join(l.files, " ") != c.files || s.Class != c.want.Class || s.Form != c.want.Form || s.Separator != c.want.Separator || s.NoHeader != c.want.NoHeader {
			t.Errorf("%s: %+v, %v", c.arg, l, err)
		}
	}
}

var lists = map[string]string{
	"hombres.csv":   "nombre,frec,edad_media\nANTONIO,500,52.7\nROSA,1,40.0\n",
	"mujeres.csv":   "nombre,frec,edad_media\nROSA,299,58.0\nMARIA CARMEN,150,51.1\nCARMEN,100,51.1\n",
	"apellidos.csv": "apellido,frec_pri,frec_seg,freq_rep\nGARCIA,100,200,10\n",
	"words.txt":     "rosa 5\nde 995\n",
	"staff.txt":     "id|first\n1|Guifré\n",
	"bad.csv":       "nombre,frec\nROSA,3\nPAU,secreta\nOT,1\n",
	"header.csv":    "nombre,frec\n",
}

func TestLists(t *testing.T) {
	put(t, lists)
	build := func(o ListOptions, args ...string) (string, error) {
		return run(t, false, func(c *console.Console) error { o.Lists = args; return BuildList(t.Context(), c, &o) })
	}
	got, err := build(ListOptions{Out: "names.velum", Words: []string{"words.txt"}}, "hombres.csv,mujeres.csv", "apellidos.csv")
	if err != nil || got != "names.velum: 0.0 MB, 5 entries from 8 rows, 0 rows left out\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := build(ListOptions{Out: "staff.velum"}, "GivenName=staff.txt?form=first&separator=|"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		word string
		want string
	}{
		{"names.velum", "rosa", "rosa: GivenName, 300 (0.286 of all), 57.1 times as frequent as the common word\n"}, // 300 of 1050, 5 of 1000
		{"names.velum", "María CARMEN", "María CARMEN: GivenName, 150 (0.143 of all), no common word\n"},
		{"names.velum", "Garcia", "Garcia: Surname, 300 (1 of all), no common word\n"},
		{"names.velum", "xyz", "xyz: in no list\n"},
		{"staff.velum", "Guifré", "Guifré: GivenName, 0 (0 of all), count not known\n"},
	} {
		got, err := run(t, false, func(console *console.Console) error {
			return List(t.Context(), console, &ListOptions{File: c.file, Words: []string{c.word}})
		})
		if err != nil || got != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
	got, err = run(t, true, func(c *console.Console) error {
		return List(t.Context(), c, &ListOptions{File: "names.velum", Words: []string{"ROSA"}})
	})
	if want := `{"classes":[{"class":"GivenName","count":300,"relative":0.2857142857142857,"ratio":57.14285714285714}],"common_word_count":5,"form":"rosa","word":"ROSA"}` + "\n"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	got, err = run(t, false, func(c *console.Console) error { return List(t.Context(), c, &ListOptions{File: "names.velum"}) })
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`^names.velum: 5 entries, fingerprint [0-9a-f]+$`, `^  GivenName +4 forms, counts add up to 1050$`, `^  Surname +1 forms, counts add up to 300$`,
		`^  common words +2 forms, counts add up to 1000$`, `^  from hombres.csv: 2 rows, 0 left out, sha256 [0-9a-f]{12}$`, `^  from words.txt: 2 rows, 0 left out, sha256 [0-9a-f]{12}$`,
	} {
		if !regexp.MustCompile("(?m)" + line).MatchString(got) {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	for _, c := range []struct {
		name string
		o    ListOptions
		args []string
		want string
	}{
		{"one of three", ListOptions{Out: "x.velum", MaxBad: 0.3}, []string{"bad.csv"}, "bad.csv: 1 of 3 rows cannot be used"},
		{"no rows", ListOptions{Out: "x.velum", MaxBad: 0.5}, []string{"header.csv"}, "header.csv: a header and no rows"},
		{"no class", ListOptions{Out: "x.velum"}, []string{"words.txt"}, "cannot tell what kind of word its entries are"},
		{"no file", ListOptions{Out: "x.velum"}, []string{"missing.csv"}, "no such file"},
		{"no words", ListOptions{Out: "x.velum", Words: []string{"missing.txt"}}, []string{"hombres.csv"}, "no such file"},
	} {
		if _, err := build(c.o, c.args...); err == nil || !strings.Contains(err.Error(), c.want) || exit.CodeOf(err) != exit.Config {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if _, err := os.Stat("x.velum"); err == nil {
			t.Errorf("%s: a file is written", c.name)
		}
	}
	got, err = build(ListOptions{Out: "bad.velum", MaxBad: 0.34}, "bad.csv")
	if err != nil || !strings.Contains(got, "2 entries from 2 rows, 1 rows left out\n") || strings.Contains(got, "secreta") || strings.Contains(got, "PAU") {
		t.Errorf("%q, %v", got, err)
	}
	got, err = run(t, true, func(c *console.Console) error {
		return BuildList(t.Context(), c, &ListOptions{Out: "json.velum", Name: "house", MaxBad: 0.34, Lists: []string{"bad.csv"}})
	})
	if err != nil || !strings.Contains(got, `"bad":1`) || !strings.Contains(got, `"rows":2`) || !strings.Contains(got, `"name":"house"`) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestMachine(t *testing.T) {
	got, _ := run(t, false, func(c *console.Console) error { return Machine(t.Context(), c, &MachineOptions{t.TempDir()}) }) // memory may be dumped here
	for _, what := range []string{"cpu", "memory", "disk", "fsync", "privacy"} {
		if n := len(regexp.MustCompile(`(?m)^(ok|warning|failed) +`+what+` `).FindAllString(got, -1)); n != 1 {
			t.Errorf("%d lines of %s in\n%s", n, what, got)
		}
	}
	for _, line := range []string{`(?m)^(ok|warning) +fsync +median \d+\.\d\d ms`, `(?m)^(ok|warning) +memory +\d+\.\d GiB in the machine`, `(?m)^(ok|warning) +disk +\d+\.\d GiB free`} {
		if !regexp.MustCompile(line).MatchString(got) {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	var all []finding
	got, err := run(t, true, func(c *console.Console) error {
		return Machine(t.Context(), c, &MachineOptions{filepath.Join(t.TempDir(), "missing")})
	})
	if exit.CodeOf(err) != exit.Failed || json.Unmarshal([]byte(got), &all) != nil || len(all) != len(checkups) || all[2].State != failed || all[3].State != failed || all[2].Remedy == "" || all[3].Remedy == "" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestSyncs(t *testing.T) {
	dir := t.TempDir()
	times, err := timeSyncs(dir, 3)
	left, _ := os.ReadDir(dir)
	if err != nil || len(times) != 3 || times[0] <= 0 || len(left) != 0 {
		t.Errorf("%v, %v, %d files left", times, err, len(left))
	}
	if g := gigabytes(3 << 29); g != "1.5 GiB" {
		t.Error(g)
	}
}

// model makes a model of one word, with scores in its header.
func model(t *testing.T, word string, scores map[string]float64) []byte {
	t.Helper()
	m, err := dictionary.New(dictionary.Header{Categories: []string{"PERSON"}, Params: dictionary.Defaults(dictionary.Binary)}, map[uint64]dictionary.Word{gazetteer.Hash([]byte(word)): {Positive: 0.1, Archive: 1}})
	if err != nil {
		t.Fatal(err)
	}
	h := m.Header()
	h.Scores = scores
	var b bytes.Buffer
	if err := m.WithHeader(h).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPromote(t *testing.T) {
	measured := func(recall float64) map[string]float64 { return map[string]float64{gateScore: recall, "span_f1": 0.5} }
	put(t, map[string]string{
		"low.velum": string(model(t, "ana", measured(0.9))), "high.velum": string(model(t, "pau", measured(0.95))), "bare.velum": string(model(t, "ot", nil)), "no.velum": "no model",
	})
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		dir   string
		force bool
		want  exit.Code
	}{
		{"no.velum", "models", false, exit.Config},
		{"low.velum", "models", false, exit.Done}, // the first
		{"low.velum", "models", false, exit.Nothing},
		{"high.velum", "models", false, exit.Done},
		{"low.velum", "models", false, exit.Privacy},  // masks less
		{"bare.velum", "models", false, exit.Privacy}, // nobody measured it
		{"bare.velum", "models", true, exit.Done},
		{"low.velum", "models", false, exit.Done}, // the one in use was not measured
	} {
		got, err := run(t, false, func(console *console.Console) error {
			return Promote(t.Context(), console, cfg, &ModelsOptions{File: c.name, Models: c.dir, Force: c.force})
		})
		if exit.CodeOf(err) != c.want || c.want == exit.Done && !regexp.MustCompile(`^models: model [0-9a-f]{12} is in use\n$`).MatchString(got) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	got, err := run(t, false, func(c *console.Console) error { return Models(t.Context(), c, &ModelsOptions{Models: "models"}) })
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`(?m)^MODEL +KIND +MB +SPAN F1 +MASKING RECALL +SHA-256 +STATE +LABELS$`, `(?m)^models/[0-9a-f]+.velum +dictionary +0\.0 +0\.500 +0\.900 +[0-9a-f]{12} +in use +PERSON$`,
		`(?m)^models/[0-9a-f]+.velum +dictionary +0\.0 +0\.500 +0\.950 +[0-9a-f]{12} +before +PERSON$`, `(?m)^models/[0-9a-f]+.velum +dictionary +0\.0 +- +- +[0-9a-f]{12} +before +PERSON$`,
		`(?m)^primary-care +crf .* embedded +PERSON LOCATION TELEPHONE and \d more$`,
	} {
		if len(regexp.MustCompile(line).FindAllString(got, -1)) != 1 {
			t.Errorf("not one line %s in\n%s", line, got)
		}
	}
	back, err := run(t, true, func(c *console.Console) error { return Rollback(t.Context(), c, &ModelsOptions{Models: "models"}) })
	if err != nil || !strings.Contains(back, `"message_type":"rollback"`) {
		t.Errorf("%s, %v", back, err)
	}
	log, err := os.ReadFile("models/_audit/audit.jsonl")
	if n := strings.Count(string(log), `"event":"promote"`); err != nil || n != 4 || strings.Count(string(log), `"event":"rollback"`) != 1 {
		t.Errorf("%d lines of promotions: %v", n, err)
	}
	if _, err := run(t, false, func(c *console.Console) error { return Models(t.Context(), c, &ModelsOptions{Models: "nowhere"}) }); exit.CodeOf(err) != exit.Config {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestSetState(t *testing.T) {
	at := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	history := []promote.Promotion{{File: "aa.velum", Time: at}, {File: "bb.velum"}, {File: "cc.velum", Time: at.AddDate(0, 0, 1)}}
	for _, c := range []struct {
		name, sum, state, damage string
		since                    time.Time
	}{
		{"aa.velum", "aa00", "before", "", at},
		{"bb.velum", "bb00", "before", "", time.Time{}},
		{"cc.velum", "cc00", "in use", "", at.AddDate(0, 0, 1)},
		{"dd.velum", "dd00", "", "", time.Time{}},
		{"cc.velum", "dd00", "in use", "is not the model that was promoted", at.AddDate(0, 0, 1)},
	} {
		m := modelInfo{SHA256: c.sum}
		m.setState(c.name, history)
		if m.State != c.state || m.Damage != c.damage || (m.Since == nil) != c.since.IsZero() || m.Since != nil && !m.Since.Equal(c.since) {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

// TestModelsText has the labels of a line: four, or three and how many more.
func TestModelsText(t *testing.T) {
	var b bytes.Buffer
	err := (&console.Console{Out: &b}).Tell(map[string]any{"models": []modelInfo{
		{Name: "a", Kind: "crf", Bytes: 1_500_000, SHA256: "0123456789abcdef", Embedded: true, Categories: []string{"A", "B", "C", "D"}},
		{Name: "bb", Kind: "crf", State: "in use", Categories: []string{"A", "B", "C", "D", "E"}, Scores: map[string]float64{"span_f1": 0.5}},
		{Name: "c", Damage: "x", Embedded: true},
		{Name: "d"},
	}}, modelsText)
	if want := `MODEL  KIND  MB   SPAN F1  MASKING RECALL  SHA-256       STATE     LABELS
a      crf   1.5  -        -               0123456789ab  embedded  A B C D
bb     crf   0.0  0.500    -                             in use    A B C and 2 more
c      ?     0.0  -        -                             damaged   
d      ?     0.0  -        -                             -         
`; err != nil || b.String() != want {
		t.Errorf("%s%v, want\n%s", &b, err, want)
	}
	if m := describeModel([]byte("no model")); m.Damage == "" || m.Bytes != 8 {
		t.Errorf("%+v", m)
	}
}

func TestModel(t *testing.T) {
	put(t, map[string]string{"m.velum": string(model(t, "ana", nil))})
	cfg, err := option.Load(option.Sources{}.With([]string{"tag.model=m.velum"}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(t, false, func(c *console.Console) error { return Model(t.Context(), c, cfg, &ModelOptions{}) })
	first, header, _ := strings.Cut(got, "\n")
	if err != nil || !regexp.MustCompile(`^m.velum: label set primary-care, 3 tags, sha256 [0-9a-f]{64}$`).MatchString(first) || !json.Valid([]byte(header)) || !strings.Contains(header, `"dictionary"`) {
		t.Errorf("%s, %v", got, err)
	}
	got, err = run(t, true, func(c *console.Console) error { return Model(t.Context(), c, cfg, &ModelOptions{}) })
	if err != nil || !strings.HasPrefix(got, "{") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := run(t, false, func(c *console.Console) error { return Model(t.Context(), c, cfg, &ModelOptions{Neighbours: "rosa"}) }); exit.CodeOf(err) != exit.Config {
		t.Errorf("neighbours of a dictionary: %v", err)
	}
}
