package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/page"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/archive"
)

var updateReport = flag.Bool("update-report", false, "write the golden files anew")

// hostile is put wherever a name comes from outside.
const hostile = `</script><b onclick="x()">&amp;'`

// reportSample is a report of a run in which everything happened.
func reportSample(t *testing.T) *Report {
	t.Helper()
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tag.Recall, cfg.Mask.Policy, cfg.Gate.Missed, cfg.Gate.MaxLeak = 0.99, "research", map[string]string{"PERSON": "3/1000", "DATE": "0/900"}, 0.01
	tally := func(k int64) map[string]int64 {
		return map[string]int64{
			"category/PERSON": 40 * k, "category/DATE": 11 * k, "source/model": 45 * k, "source/pattern": 5 * k, "source/rule": k,
			"span/PERSON/model": 39 * k, "span/PERSON/rule": k, "span/DATE/model": 6 * k, "span/DATE/pattern": 5 * k,
			"language/es": 70 * k, "language/ca": 25 * k, "language/unknown": k,
			"confidence/0.00": k, "confidence/0.45": 2 * k, "confidence/0.85": 13 * k, "confidence/0.95": 80 * k,
			"doubt/0": 40 * k, "doubt/9": 30 * k, "doubt/14": 20 * k, "doubt/17": 6 * k, "words": 900 * k,
			"doubt_by/language/es/0": 40 * k, "doubt_by/language/ca/9": 30 * k, "doubt_by/language/es/14": 20 * k, "doubt_by/language/es/17": 6 * k,
			"doubt_by/center/7/A/0": 40 * k, "doubt_by/center/7/A/9": 30 * k, "doubt_by/center//14": 20 * k, "doubt_by/center//17": 6 * k,
			"unknown_words": 270 * k, "foreign": 2 * k,
			"notes_with_spans": 44 * k, "empty": k, "chosen/candidate": 30 * k, "chosen/review": 3 * k,
			"rule/phone-fax": 2 * k, "always/2": k, "never_list/eponyms": 3 * k, "low_score": k,
		}
	}
	counts := func(k int64) commit.Counts {
		return commit.Counts{Rows: 98 * k, Masked: 96 * k, Quarantined: 2 * k, Reasons: map[string]int64{"strict_finding": k, "bad_encoding": k}, Tally: tally(k)}
	}
	m := &commit.Manifest{
		Config: strings.Repeat("c0", 32), Model: strings.Repeat("d1", 32), Key: "k-1",
		Units: []commit.UnitRecord{
			{Name: "a", Counts: counts(10), Parts: []commit.PartRecord{{Kind: "masked", Path: "masked/month=2026-01/part-a.parquet"}}},
			{Name: "b", Counts: counts(200), Parts: []commit.PartRecord{{Kind: "masked", Path: "masked/month=2026-02/part-b.parquet"}}},
			{Name: "c", Input: "month=2026-03/notes.parquet", SHA256: strings.Repeat("f3", 32), Counts: commit.Counts{Rows: 7, Quarantined: 7, Reasons: map[string]int64{"bad_unit": 7}}, Damage: "row group 0: a page cannot be decoded"},
		},
		BadInputs: []commit.BadInput{{Input: "month=2026-02/bad\x1b.parquet", SHA256: strings.Repeat("e2", 32), Bytes: 12345, Cause: "is truncated"}},
	}
	for _, u := range m.Units {
		m.Counts.Add(u.Counts)
	}
	half, quarter, duplicates := 0.5, 0.25, int64(3)
	return New(m, &Input{
		Version: "dev",
		Config:  cfg,
		Files:   []archive.File{{Path: "/archive/2026-02.parquet", SHA256: [32]byte{0xab, 0xcd}}},
		Drift:   []archive.Drift{{Path: "/archive/2026-02.parquet", Column: hostile, Change: "is new: INT64"}},
		Model: tagger.Header{Name: hostile, Kind: "crf", Training: tagger.Training{Sequences: 1000, Tokens: 20000},
			Scores: map[string]float64{"strict_f1": 0.96666, "strict_recall": 0.95}, Measured: measured(), Risk: calibrated()},
		Dial:   &tagger.DialPoint{Recall: 0.9912, Precision: 0.9, Bias: 1.5, Interval: [2]float64{0.98, 0.996}},
		Always: 2, Never: 1, Duplicates: &duplicates,
		Rows: []FileRows{{File: "month=2026-01/a.parquet", Rows: 980, Masked: 980, Aside: map[string]int64{}},
			{File: "month=2026-02/b.parquet", Rows: 19_600, Masked: 19_360, Excluded: 40, Aside: map[string]int64{"bad_row": 150, "too_long": 50}}},
		Anonymity: &Anonymity{K: 5, Share: 0.0123, Columns: []GeneralizedColumn{{Name: hostile, Level: 1, Levels: 5}},
			Sizes: &anonymity.Sizes{Groups: 12, Smallest: 5, Suppressed: 240, Notes: 20160, Under: [7]int64{3, 4, 9, 10, 12, 20, 22}, UnderNotes: [7]int64{3, 5, 24, 33, 60, 350, 480}}},
		Attacks: &Attacks{
			Tried: []Attack{
				{Name: "repetition", Verdict: "failed", Results: []AttackResult{
					{Kind: "planted", Misses: 0.01, Verdict: "failed", Left: 842, Recall: 0.8895, Precision: 0.8895, Guess: 0.0096, Named: 178.2, Patients: 300, Needed: 817},
					{Kind: "natural", Verdict: "no power", Left: 9, Recall: 0.1, Precision: 0.1, Guess: 0.0096, Patients: 300, Needed: 817}}},
				{Name: "linkage", Verdict: "failed"}, {Name: "oracle", Verdict: "not tried"},
			},
			Linkage: &Linkage{People: 12345, Matched: 1200, Alone: 3, Few: 20, AtLeast: 5},
		},
		Selection: &Selection{
			MinConfidence: 0.85, Wanted: 5000, Notes: 4000, Candidates: 6300, Lowest: 0.9123, Met: true, Tolerance: 0.02, Short: "DATE",
			Classes: []SelectionClass{
				{Category: "PERSON", Share: WantedGot{&half, 0.51}, Length: &WantedGot{&half, 0.6}},
				{Category: "DATE", Share: WantedGot{&quarter, 0.24}},
				{Category: "AGE", Share: WantedGot{nil, 0.25}},
			},
			ReviewBelow: 0.5, ReviewWanted: 250, ReviewNotes: 250,
		},
	})
}

// TestReportGolden holds report.json against testdata. After a change on
// purpose, run the test with -update-report and read the difference.
func TestReportGolden(t *testing.T) {
	got, err := json.MarshalIndent(reportSample(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "report.json")
	if *updateReport {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)+"\n"); d != "" {
		t.Error(d)
	}
}

// TestReportPage wants a page that parses, holds the same data, and neither
// leads elsewhere nor runs anything.
func TestReportPage(t *testing.T) {
	r := reportSample(t)
	page, err := r.html()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reportSample(t).html(); err != nil || !bytes.Equal(page, again) {
		t.Error("two pages of one report differ", err)
	}
	var data []byte
	inScript := false
	for x := xml.NewDecoder(bytes.NewReader(page)); ; { // the page is XML too
		token, err := x.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inScript = token.Name.Local == "script"
			checkAttributes(t, token)
		case xml.EndElement:
			inScript = false
		case xml.CharData:
			if inScript {
				data = append(data, token...)
			}
		}
	}
	if bytes.Contains(page, []byte("onclick=\"")) || regexp.MustCompile(`(?i)https?:|//[a-z]|@import|url\(`).Match(page) {
		t.Error("the page leads elsewhere, or something got through unescaped")
	}
	want, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(data, &a); err != nil {
		t.Fatal("the data in the page does not parse")
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Error(d)
	}
}

// states are the pages that there can be, by name.
func states(t *testing.T, lang string) map[string][]byte {
	t.Helper()
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Report.Lang = lang
	whole := reportSample(t)
	whole.Language, whole.language, whole.Findings = lang, page.LanguageOf(lang), []reportFinding{}
	whole.judge()
	few := &commit.Manifest{Counts: commit.Counts{Rows: 200, Masked: 200}, Units: []commit.UnitRecord{{Counts: commit.Counts{Rows: 200, Masked: 200}}}}
	data, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	about := &About{Date: "2026-11-22 02:10:00 +00:00", Run: "0123456789abcdef", Inputs: []string{"archive/january", "archive/february"}, Output: "masked", Head: strings.Repeat("ab", 32)}
	stopped := *about
	stopped.Exit, stopped.Stop = 15, "stages failed on 40 of 200 notes, more than 10 in 10,000: nothing was committed"
	pages := map[string][]byte{}
	for name, make := range map[string]func() ([]byte, error){
		"whole":      whole.html,
		"public":     whole.Public().html,
		"empty":      New(&commit.Manifest{}, &Input{Config: cfg}).html,
		"nothing":    New(few, &Input{Config: cfg, Model: tagger.Header{Kind: "crf", Name: "m", Risk: calibrated()}, Reading: readOf(few, 598, 0)}).html,
		"unmeasured": New(few, &Input{Config: cfg, Model: tagger.Header{Kind: "crf", Name: "m"}}).html,
		"about":      func() ([]byte, error) { return AboutPage(data, lang, about) },
		"stopped":    func() ([]byte, error) { return AboutPage(nil, lang, &stopped) },
		"before":     func() ([]byte, error) { return AboutPage(data, lang, &stopped) },
	} {
		page, err := make()
		if err != nil {
			t.Fatal(name, err)
		}
		pages[name] = page
	}
	return pages
}

// TestPages holds every state of the page in every language to its structure,
// and two of them against testdata, letter by letter.
func TestPages(t *testing.T) {
	for _, lang := range []string{"en", "es", "ca"} {
		for name, page := range states(t, lang) {
			checkStructure(t, lang+" "+name, page)
			if dir := os.Getenv("VELUM_REPORT_DIR"); dir != "" { // to look at it
				if err := os.WriteFile(filepath.Join(dir, name+"."+lang+".html"), page, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if name != "about" && name != "public" {
				continue
			}
			golden := filepath.Join("testdata", name+"."+lang+".html")
			if *updateReport {
				if err := os.WriteFile(golden, page, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(page), "\n")); d != "" {
				t.Errorf("%s: %s", golden, d)
			}
		}
	}
}

// checkStructure: a table stands in what scrolls and says so, letters in a
// drawing are of one size on every screen, no heading is followed by nothing.
func checkStructure(t *testing.T, name string, page []byte) {
	t.Helper()
	var open []string
	heading := ""
	for x := xml.NewDecoder(bytes.NewReader(page)); ; {
		token, err := x.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			tag := token.Name.Local
			for _, a := range token.Attr {
				tag += " " + a.Name.Local + "=" + a.Value
			}
			within := strings.Join(open, " > ")
			switch token.Name.Local {
			case "table":
				if !strings.Contains(within, "div class=scroll role=region tabindex=0 aria-label=") {
					t.Errorf("%s: a table that does not scroll", name)
				}
			case "text":
				if strings.Contains(within, "viewBox") {
					t.Errorf("%s: letters that shrink with the screen", name)
				}
			case "h2":
				if heading != "" {
					t.Errorf("%s: a heading with nothing below it: %s", name, heading)
				}
				heading = "?"
			case "p", "dl", "figure", "div", "details":
				if heading != "?" || token.Name.Local != "div" || !strings.Contains(tag, "class=two") {
					heading = ""
				}
			}
			open = append(open, tag)
		case xml.CharData:
			if heading == "?" && len(bytes.TrimSpace(token)) > 0 {
				heading = string(token)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if heading != "" {
		t.Errorf("%s: a heading with nothing below it: %s", name, heading)
	}
	if bytes.Contains(page, []byte("%!")) {
		t.Errorf("%s: a text has other arguments than places", name)
	}
}

func checkAttributes(t *testing.T, e xml.StartElement) {
	t.Helper()
	for _, a := range e.Attr {
		name := a.Name.Local
		if strings.HasPrefix(name, "on") || name == "src" || name == "href" || name == "action" {
			t.Errorf("<%s> has %s", e.Name.Local, name)
		}
		if e.Name.Local == "script" && name == "type" && a.Value != "application/json" {
			t.Error("a script that is no data")
		}
	}
}

func TestReportLights(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Write.MaxQuarantined = 0.01
	research := new(*cfg)
	research.Mask.Policy = "research"
	tally := func(m *commit.Manifest, name string, n int64) { m.Counts.Tally[name] = n }
	for _, tt := range []struct {
		name    string
		change  func(*commit.Manifest, *Input)
		want    light
		finding string
	}{
		{"all well", func(*commit.Manifest, *Input) {}, green, ""},
		{"nobody has read", func(_ *commit.Manifest, in *Input) { in.Reading = nil }, amber, "velum run --audit N"},
		{"read before it changed", func(m *commit.Manifest, _ *Input) { m.Units[0].Parts[0].SHA256 = "another" }, amber, "has changed since"},
		{"too few read", func(_ *commit.Manifest, in *Input) { in.Reading.Read = 597 }, amber, "Too few notes"},
		{"a leak among many", func(_ *commit.Manifest, in *Input) { in.Reading.Leaks, in.Reading.Read = 1, 946 }, amber, "Too few notes"},
		{"a leak among more", func(_ *commit.Manifest, in *Input) { in.Reading.Leaks, in.Reading.Read = 1, 947 }, green, ""},
		{"leaks were found", func(_ *commit.Manifest, in *Input) { in.Reading.Leaks = 4 }, red, "4 notes of the sample still contained an identifier"},
		{"an attack passed", func(_ *commit.Manifest, in *Input) { in.Attacks = attacked("passed") }, green, ""},
		{"an attack failed", func(_ *commit.Manifest, in *Input) { in.Attacks = attacked("failed") }, red, "attack parrot found out"},
		{"an attack without power", func(_ *commit.Manifest, in *Input) { in.Attacks = attacked("no power") }, amber, "attack parrot had no power"},
		{"an attack on another output", func(_ *commit.Manifest, in *Input) {
			in.Attacks = attacked("passed")
			in.Attacks.Tried[0].Output = "another"
		}, amber, "made on another output"},
		{"not calibrated", func(_ *commit.Manifest, in *Input) { in.Model.Risk = nil }, amber, "It was never measured"},
		{"calibrated for another confidence", func(_ *commit.Manifest, in *Input) { in.Model.Risk.Confidence = "line" }, amber, "It was never measured"},
		{"scores of other notes", func(_ *commit.Manifest, in *Input) { in.Model.Measured, in.Reading = measured(), nil }, amber, "velum run --audit N"},
		{"many expected", func(m *commit.Manifest, in *Input) {
			in.Reading = nil
			tally(m, "doubt/8", 0)
			tally(m, "doubt/16", 1000)
		}, red, "More than 5"},
		{"another language", func(m *commit.Manifest, in *Input) { in.Reading = nil; tally(m, "foreign", 111) }, red, "11.1\u202f% of the notes are in a language"},
		{"another language, and people have read", func(m *commit.Manifest, _ *Input) { tally(m, "foreign", 111) }, amber, "11.1\u202f% of the notes are in a language"},
		{"many expected, and people have read", func(m *commit.Manifest, _ *Input) { tally(m, "doubt/8", 0); tally(m, "doubt/16", 1000) }, amber, "More than 5"},
		{"hardly another language", func(m *commit.Manifest, _ *Input) { tally(m, "foreign", 110) }, green, ""},
		{"unknown words", func(m *commit.Manifest, in *Input) { in.Reading = nil; tally(m, "unknown_words", 3101) }, red, "31\u202f% of the words"},
		{"many spans", func(m *commit.Manifest, in *Input) { in.Reading = nil; tally(m, "category/PERSON", 10_001) }, red, "masked places"},
		{"few spans", func(m *commit.Manifest, in *Input) { in.Reading = nil; tally(m, "category/PERSON", 7) }, red, "masked places"},
		{"surer than ever", func(m *commit.Manifest, in *Input) {
			in.Reading = nil
			tally(m, "doubt/8", 0)
			tally(m, "doubt/0", 1000)
		}, red, "more or less sure of these notes than of all"},
		{"few notes of another language", func(m *commit.Manifest, in *Input) {
			m.Masked, m.Rows = 49, 49
			tally(m, "foreign", 40)
			tally(m, "category/PERSON", 20)
			tally(m, "doubt/8", 49)
			in.Model.Risk.Foreign[1] = 0
		}, green, ""},
		{"another language, no calibration", func(m *commit.Manifest, in *Input) { in.Reading = nil; tally(m, "foreign", 81); in.Model.Risk = nil }, red, "in a language"},
		{"no notes", func(m *commit.Manifest, _ *Input) { m.Counts = commit.Counts{} }, amber, "No note was read"},
		{"just allowed", func(m *commit.Manifest, _ *Input) { m.Quarantined, m.Masked = 10, 990 }, green, ""},
		{"too many", func(m *commit.Manifest, _ *Input) { m.Quarantined, m.Masked = 11, 989 }, red, "in quarantine; 1"},
		{"bad input", func(m *commit.Manifest, _ *Input) { m.BadInputs = make([]commit.BadInput, 2) }, red, "2 files"},
		{"damage", func(m *commit.Manifest, _ *Input) { m.Units[0].Damage = "x" }, amber, "1 unit could"},
		{"other options", func(m *commit.Manifest, _ *Input) { m.Units[0].Config, m.Units[0].Rows = "x", 3 }, amber, "3 notes were masked by earlier runs"},
		{"panic", func(m *commit.Manifest, _ *Input) { m.Reasons = map[string]int64{"panicked": 1} }, amber, "(panicked)"},
		{"drift", func(_ *commit.Manifest, in *Input) { in.Drift = make([]archive.Drift, 1) }, amber, "differ in 1 place"},
		{"duplicates", func(_ *commit.Manifest, in *Input) { in.Duplicates = new(int64); *in.Duplicates = 1 }, amber, "1 note with the id"},
		{"stretches", func(_ *commit.Manifest, in *Input) { in.Stretches = true }, red, "a part of the output is of a stretch of time"},
		{"shares of a selection are no matter of privacy", func(_ *commit.Manifest, in *Input) { in.Selection = &Selection{Notes: 3} }, green, ""},
	} {
		m := wellDone()
		in := &Input{Config: cfg, Model: tagger.Header{Risk: calibrated()}, Reading: readOf(m, 598, 0)}
		tt.change(m, in)
		r := New(m, in)
		want := r.Light // of the public page
		if r.Stretches || r.Risk.Many || slices.ContainsFunc(r.Risk.Unlike, func(s Shift) bool { return s.Beyond }) {
			want = amber // unread
			if in.Reading != nil {
				want = green
			}
		}
		if p := r.Public(); len(r.Reasons) == 0 && p.Light != want {
			t.Errorf("%s: the public light is %s, the private one %s", tt.name, p.Light, r.Light)
		} else if len(p.Risk.Unlike) > 0 || p.Risk.Many || p.Risk.Left != nil {
			t.Errorf("%s: the public report says in what: %v", tt.name, p.Risk.Unlike)
		}
		if r.Light != tt.want || tt.finding == "" != (len(r.Findings) == 0) || len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Text, tt.finding) {
			t.Errorf("%s: %s %v", tt.name, r.Light, r.Findings)
		}
		if _, err := r.html(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// measured is what a model says that is good enough.
func measured() *tagger.Measured {
	return &tagger.Measured{On: "a ward", Date: "2026-11-22", Notes: 500, Entities: 400,
		DialPoint: tagger.DialPoint{Recall: 0.94, Precision: 0.98, Interval: [2]float64{0.91, 0.96}}}
}

// wellDone is a run of which nothing bad can be said.
func wellDone() *commit.Manifest {
	return &commit.Manifest{
		Counts: commit.Counts{Rows: 1000, Masked: 1000, Tally: map[string]int64{
			"category/PERSON": 500, "doubt/8": 1000, "words": 10_000, "unknown_words": 1500, "foreign": 10}},
		Units: []commit.UnitRecord{{Parts: []commit.PartRecord{{Kind: "masked", SHA256: "one"}, {Kind: "notes", SHA256: "private"}}}},
	}
}

// calibrated is what is known of a model's confidences.
func calibrated() *calibrate.Risk {
	return &calibrate.Risk{Confidence: "path", Notes: 24_000, Leaks: 900, Sources: 40, Mean: [3]float64{0.4, 0.6, 0.5}, Cov: [6]float64{0.04, 0, 0.005, 0.01, 0, 0.006},
		Spread: 0.4, Foreign: calibrate.Range{0, 0.06}, Unknown: calibrate.Range{0.05, 0.21}, Spans: calibrate.Range{0.04, 2}, Doubt: calibrate.Range{-7, -1.7}}
}

// readOf is a reading of just that output.
func attacked(verdict string) *Attacks {
	return &Attacks{Tried: []Attack{{Name: "parrot", Verdict: verdict}}}
}

func readOf(m *commit.Manifest, read, leaks int64) *audit.Reading {
	return &audit.Reading{Read: read, Leaks: leaks, By: "Ada", Extent: audit.ExtentOf(m, nil), Sample: "s", Readers: []audit.Reader{{By: "Ada", Notes: read, Seconds: 9}}}
}

// TestSentence: the first sentence says whether people have read of the output, and
// the last one how many notes are expected to keep something, or that nobody knows.
func TestSentence(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	m := wellDone()
	plain := func(in *Input) string {
		return strings.NewReplacer("\u202f", " ", "\u2212", "-").Replace(New(m, in).Sentence)
	}
	in := &Input{Config: cfg, Model: tagger.Header{Risk: calibrated(), Measured: measured()}}
	if got, want := plain(in), "Nobody has read a random sample of this output, so the light can be amber at best. 1 000 notes read: 1 000 masked, 0 in quarantine (0 %, up to 1 % allowed). "+
		"According to the model's confidences, about 1 [0–12] of 1 000 notes still contain an identifier (95 % interval; calibrated on 24 000 notes of 40 sources that the model was not trained on). "+
		"The notes are like short notes of primary care, with about one identifier each. For such notes the estimate was up to 7 times too high or too low in our tests. "+
		"Reading the first 100 notes of a sample, of which the model is least sure, makes it more exact. "+
		"To prove that at most 0.50 % of the notes do, people have to read 598 notes if they find no identifier, and 1 000 if they find as many as estimated (velum run --audit 0.5%)."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	in.Reading = readOf(m, 598, 0)
	if got, want := plain(in), "598 notes of a random sample of this output were read, and 0 still contained an identifier. With 95 % confidence, at most 0.50 % of all notes do."; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	in.Model.Risk, in.Reading = nil, nil
	if got := plain(in); !strings.HasPrefix(got, "Nobody") || !strings.HasSuffix(got, "It is not known how many notes still contain an identifier: this model has no calibration.") {
		t.Errorf("not calibrated: %s", got)
	}
	for lang, want := range map[string]string{"es": "Nadie ha leído", "ca": "Ningú no ha llegit"} {
		cfg.Report.Lang = lang
		if got := plain(in); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", lang, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", -1234567: "-1 234 567"} {
		if got := strings.ReplaceAll(page.Thousands(n), "\u202f", " "); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for share, want := range map[float64]string{0: "0 %", 1: "100 %", 0.1234: "12.3 %", 0.01: "1 %", 0.0123: "1.23 %", 0.00003: "0.003 %", 0.00021: "0.021 %"} {
		if got := strings.ReplaceAll(page.Language(0).Percent(share), "\u202f", " "); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestPublicReport: the public report is the same whatever the private counts
// are: who found a span, how sure the model was, why a note is in quarantine.
func TestPublicReport(t *testing.T) {
	r := reportSample(t)
	other := reportSample(t)
	other.Reasons = []named{{"panicked", 9}, {"too_long", 1}}
	other.Languages, other.Confidence = []named{{"ca", 1}}, []Bin{{0, 0.05, 7}}
	other.Spans.Sources, other.Spans.BySource = []string{"list"}, []named{{"list", 51}}
	for i := range other.Spans.Categories {
		other.Spans.Categories[i].BySource = []int64{other.Spans.Categories[i].Count}
	}
	other.Selection, other.Uses = nil, &reportUses{LowScore: 5}
	other.BadInputs[0].File, other.BadInputs[0].Name, other.BadInputs[0].Bytes, other.Drift[0].File = "ff", "another.parquet", 1, "ff"
	other.Damaged = nil
	other.Risk.Left.Notes, other.Risk.Left.High = 7, 900
	for i := range other.Risk.Unlike {
		other.Risk.Unlike[i].Here /= 1.1
	}
	other.judge()
	var pages [2][]byte
	for i, one := range []*Report{r, other} {
		page, err := one.Public().html()
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = page
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("the public page depends on private counts")
	}
	if !bytes.Contains(pages[0], []byte("PERSON")) || bytes.Contains(pages[0], []byte("by_source")) {
		t.Error("the public page has no categories, or sources")
	}
	if whole, err := r.html(); err != nil || bytes.Equal(whole, pages[0]) {
		t.Error("the private page is the public one", err)
	}
}

// The table of the quarantine adds up to the number in the tile: notes of people who object stand in neither.
func TestQuarantineIsOneNumber(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	counts := commit.Counts{Rows: 100, Masked: 90, Quarantined: 10, Reasons: map[string]int64{"excluded": 4, "too_long": 5, "bad_encoding": 1}}
	r := New(&commit.Manifest{Counts: counts, Units: []commit.UnitRecord{{Counts: counts}}}, &Input{Config: cfg})
	inTable := int64(0)
	for _, x := range r.Reasons {
		inTable += x.Count
	}
	if inTable != 6 || r.Notes.Quarantined != 6 || r.Notes.Excluded != 4 {
		t.Errorf("table %d, tile %d, left out %d; want 6, 6 and 4", inTable, r.Notes.Quarantined, r.Notes.Excluded)
	}
}

// Another language writes the findings of a report again and judges nothing: a light and a finding
// that somebody else's figures gave it stay.
func TestReadInAnotherLanguage(t *testing.T) {
	r := reportSample(t)
	r.find(red, "find attack failed", name("repetition"))
	r.Light = red
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "es", "ca"} {
		l := page.LanguageOf(lang)
		got, err := Read(data, l)
		if err != nil || got.Light != r.Light || len(got.Findings) != len(r.Findings) {
			t.Fatalf("%s: %v, light %s, %d findings, want %s and %d", lang, err, got.Light, len(got.Findings), r.Light, len(r.Findings))
		}
		for i, f := range got.Findings {
			if f.Light != r.Findings[i].Light || f.Text == "" || lang != "en" && f.Text == r.Findings[i].Text {
				t.Errorf("%s: finding %s is %s %q", lang, f.Code, f.Light, f.Text)
			}
		}
		if last := got.Findings[len(got.Findings)-1].Text; last != l.Text("find attack failed", "repetition") {
			t.Errorf("%s: %q", lang, last)
		}
	}
}

// TestSaid has reports that are none.
func TestSaid(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := Said(durable.OS, dir); err == nil {
		t.Error("no report: no error")
	}
	for text, code := range map[string]exit.Code{"": exit.Integrity, "[]": exit.Integrity, `{"light":"red","findings":[{"light":"red","text":"a"},{"light":"amber","text":"b"}]}`: exit.Done} {
		if err := os.WriteFile(filepath.Join(dir, "report.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		light, _, reasons, err := Said(durable.OS, dir)
		if exit.CodeOf(err) != code || err == nil && (light != "red" || !slices.Equal(reasons, []string{"a"})) {
			t.Errorf("%q: %s, %q, %v", text, light, reasons, err)
		}
	}
}
