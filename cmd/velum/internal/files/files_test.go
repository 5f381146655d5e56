package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.atn")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLexicon(t *testing.T) {
	b := gazetteer.NewBuilder()
	for _, e := range []gazetteer.Entry{
		{Form: "Carmen", Class: gazetteer.GivenName}, {Form: "María Carmen", Class: gazetteer.GivenName}, {Form: "de la Cruz", Class: gazetteer.Surname}, {Form: "Vic", Class: gazetteer.Municipality},
	} {
		b.Add(e)
	}
	table, err := b.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	lists, err := gazetteer.With(table)
	if err != nil {
		t.Fatal(err)
	}
	l := lexicon{lists, gazetteer.GivenName}
	for phrase, want := range map[string]bool{
		"Carmen": true, "CARMEN": true, "María Carmen": true, "maría  carmen": true, "": false, " ": false, "Vic": false, "Xyzzq": false, "Carmen Xyzzq": false, "María Carmen Xyzzq": false,
		strings.Repeat("Carmen ", 17): false,
	} {
		if got := l.Contains([]byte(phrase)); got != want {
			t.Errorf("%q: %t, want %t", phrase, got, want)
		}
	}
	if !(lexicon{lists, gazetteer.Surname}).Contains([]byte("de la Cruz")) || (lexicon{lists, gazetteer.Surname}).Contains([]byte("María Carmen")) {
		t.Error("names of another class")
	}
}

func TestWordsOfPhrase(t *testing.T) {
	for _, c := range []struct {
		phrase, want string // words, a bar between
		ok           bool
	}{
		{"", "", true}, {"  ", "", true}, {"Ana", "Ana", true}, {"Núria i Mas", "Núria|i|Mas", true}, {"Mª Àngels", "Mª|Àngels", true}, {"A.B-2z", "A|.|B|-|2z", true}, {"@Z[`{", "@|Z|[|`|{", true}, {"/9:", "/|9|:", true},
		{strings.Repeat("a ", 16), strings.TrimSuffix(strings.Repeat("a|", 16), "|"), true},
		{strings.Repeat("a ", 17), strings.TrimSuffix(strings.Repeat("a|", 16), "|"), false},
	} {
		tokens, ok := words(nil, []byte(c.phrase))
		var got []string
		for _, k := range tokens {
			got = append(got, c.phrase[k.Start:k.End])
		}
		if strings.Join(got, "|") != c.want || ok != c.ok {
			t.Errorf("%q: %q, %t", c.phrase, got, ok)
		}
	}
}

func TestWithLines(t *testing.T) {
	list := []string{"a"}
	got, err := WithLines(list, written(t, "# names\nb\n\n  c d  \n#e\n"))
	if err != nil || !slices.Equal(got, []string{"a", "b", "c d"}) || len(list) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := WithLines(list, ""); err != nil || !slices.Equal(got, list) {
		t.Errorf("no file: %q, %v", got, err)
	}
	if _, err := WithLines(list, "/nowhere/x"); err == nil {
		t.Error("a file that is not there: no error")
	}
}

func TestKindsOfFiles(t *testing.T) {
	if !IsWords(written(t, networks.ShippedWords().Text())) || IsWords("/nowhere/x") || IsTree(t.TempDir()) {
		t.Error("words, or an output")
	}
	for _, c := range []struct {
		name string
		do   func(name string) error
	}{
		{"pack", func(name string) error {
			_, err := Packs("resolve.rules", []string{name}, gazetteer.Default())
			return err
		}},
		{"words", func(name string) error { _, err := Words(name); return err }},
		{"lists", func(name string) error { _, err := MergedLists("resolve.gazetteers", []string{name}); return err }},
		{"common words", func(name string) error { _, err := CommonWords(name); return err }},
	} {
		for _, name := range []string{"/nowhere/x", written(t, "what is this: [\n")} {
			if err := c.do(name); exit.CodeOf(err) != exit.Config {
				t.Errorf("%s of %s: %v", c.name, filepath.Base(name), err)
			}
		}
	}
	if err := func() error {
		_, err := Pack(written(t, networks.ShippedWords().Text()), gazetteer.Default())
		return err
	}(); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "it goes into resolve.words") {
		t.Errorf("words in place of networks: %v", err)
	}
	if p, err := Packs("x", []string{configs.ShippedPack, configs.CalendarPack}, gazetteer.Default()); err != nil || len(p) != 2 {
		t.Errorf("what ships: %d packs, %v", len(p), err)
	}
	if w, err := CommonWords(""); w != nil || err != nil {
		t.Error("common words of no file")
	}
	if g, err := MergedLists("x", nil); g != gazetteer.Default() || err != nil {
		t.Error("no lists beside those that ship")
	}
	shipped, err := Words()
	if err != nil || len(shipped) == 0 {
		t.Errorf("%d words ship, %v", len(shipped), err)
	}
}

func TestMergedLists(t *testing.T) {
	b := gazetteer.NewBuilder()
	b.Add(gazetteer.Entry{Form: "Xyzzq", Class: gazetteer.Surname})
	table, err := b.Table("house")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "house.velum")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(table.Write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	g, err := MergedLists("x", []string{name})
	if err != nil || g.Classes([]byte("Xyzzq"))&gazetteer.Surname == 0 || gazetteer.Default().Classes([]byte("Xyzzq")) != 0 {
		t.Fatalf("%v", err)
	}
	if again, err := MergedLists("x", []string{name}); again != g || err != nil {
		t.Error("merged twice")
	}
	_, prints, err := OpenTables([]string{name, name})
	if err != nil || len(prints) != 2 || prints[0] != prints[1] || prints[0] != fmt.Sprintf("%x", table.Fingerprint()) {
		t.Errorf("%q, %v", prints, err)
	}
	if remedy := ClassRemedy("Surnam"); !strings.Contains(remedy, `"Surname"`) {
		t.Error(remedy)
	}
	if remedy := ClassRemedy("qqqqqqq"); !strings.HasPrefix(remedy, "classes: ") {
		t.Error(remedy)
	}
}

// TestMistakes tells all mistakes of a file one by one, and none of other errors.
func TestMistakes(t *testing.T) {
	rules := written(t, "what is this: [\nand this ]\n")
	_, err := Pack(rules, gazetteer.Default())
	if all := Mistakes(rules, err); len(all) == 0 || all[0].File != rules || all[0].Message == "" {
		t.Errorf("%v: %+v", err, all)
	}
	if all := Mistakes("x", errors.New("no mistake of a file")); all != nil {
		t.Errorf("%+v", all)
	}
}

// TestPart reads parts that are as they were written, and no others.
func TestPart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // SHA-256 of abc (FIPS 180)
	if data, err := Part(dir, &commit.PartRecord{Path: "p", SHA256: sum}); err != nil || string(data) != "abc" {
		t.Errorf("%q, %v", data, err)
	}
	_, err := Part(dir, &commit.PartRecord{Path: "p", SHA256: strings.Repeat("0", 64)})
	if _, changed := errors.AsType[*durable.IntegrityError](err); !changed {
		t.Errorf("a changed part: %v", err)
	}
	if _, err := Part(dir, &commit.PartRecord{Path: "q", SHA256: sum}); err == nil {
		t.Error("a part that is not there: no error")
	}
	tagged := &Tagged{dir: dir}
	for _, c := range []struct {
		kind    string
		private bool
		read    bool
	}{{"original", true, true}, {"notes", true, true}, {"quarantine", true, true}, {"masked", true, false}, {"original", false, false}, {"rows", true, false}} {
		data, err := tagged.part(&commit.PartRecord{Path: "p", SHA256: sum, Kind: c.kind, Private: c.private})
		if err != nil || (data != nil) != c.read {
			t.Errorf("%+v: %q, %v", c, data, err)
		}
	}
}

// TestSample finds the sample among the files of a private tree, and what it was drawn from.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "e"), []byte(`{"output":"c0ffee"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	extent := commit.PartRecord{Kind: "extent", Path: "e", Private: true, SHA256: "bb5c0e1bfdd0ec7b1e9c5d9f4f3c2b6a"}
	sample := commit.PartRecord{Kind: "audit", Path: "s", Private: true}
	if _, _, err := Sample(dir, &commit.Manifest{Files: []commit.PartRecord{sample, extent}}); err == nil {
		t.Error("a changed extent: no error")
	}
	sums := map[string]string{}
	for name, text := range map[string]string{"e": `{"output":"c0ffee"}`, "none": "no JSON"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	extent.SHA256 = sums["e"]
	if got, of, err := Sample(dir, &commit.Manifest{Files: []commit.PartRecord{extent, sample}}); err != nil || got.Path != "s" || of.Output != "c0ffee" {
		t.Errorf("%+v of %+v, %v", got, of, err)
	}
	if _, _, err := Sample(dir, &commit.Manifest{Files: []commit.PartRecord{sample, {Kind: "extent", Path: "none", Private: true, SHA256: sums["none"]}}}); exit.CodeOf(err) != exit.Integrity {
		t.Errorf("an extent that is none: %v", err)
	}
	for name, files := range map[string][]commit.PartRecord{"none": nil, "a public one": {{Kind: "audit"}, {Kind: "extent", Path: "e"}}, "no extent": {sample}} {
		if _, _, err := Sample(dir, &commit.Manifest{Files: files}); exit.CodeOf(err) != exit.Config {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMoved has three runs of rows of an earlier unit: rows 10 to 14 are notes 0 to 4 now, and notes 7 to 11 as well, for the file
// was copied; rows 20 and 21 are notes 5 and 6.
func TestMoved(t *testing.T) {
	g := &TaggedUnit{moves: []move{{10, 5, 0}, {10, 5, 7}, {20, 2, 5}}}
	for row, want := range map[int64][]int{9: nil, 10: {0, 7}, 12: {2, 9}, 14: {4, 11}, 15: nil, 19: nil, 20: {5}, 21: {6}, 22: nil} {
		for _, alone := range []bool{false, true} {
			var got []int
			g.alone = alone
			err := g.moved(row, func(i int) { got = append(got, i) })
			if !slices.Equal(got, want) || (err != nil) != (alone && want == nil) {
				t.Errorf("row %d, alone %t: notes %v, %v", row, alone, got, err)
			}
		}
	}
}

// TestSettle sorts spans by note, in the order in which those of one note came.
func TestSettle(t *testing.T) {
	span := func(start int32) pipeline.Span { return pipeline.Span{Start: start, End: start + 1} }
	for _, notes := range [][]int32{{0, 0, 2, 3}, {3, 0, 2, 0}} {
		g := &TaggedUnit{offsets: make([]int32, 5), notes: notes}
		for k := range notes {
			g.spans = append(g.spans, span(int32(10*int(notes[k])+k)))
		}
		if err := g.settle(); err != nil || !slices.Equal(g.offsets, []int32{0, 2, 2, 3, 4}) {
			t.Errorf("%v: offsets %v", notes, g.offsets)
		}
		for i := range 4 {
			for _, s := range g.spans[g.offsets[i]:g.offsets[i+1]] {
				if int(s.Start)/10 != i {
					t.Errorf("%v: a span of note %d in note %d", notes, s.Start/10, i)
				}
			}
		}
		if g.spans[0].Start > g.spans[1].Start {
			t.Errorf("%v: spans of a note change places", notes)
		}
	}
}

// TestGive fills a batch of rows 101 to 104 of a unit whose rows 100 to 103 were tagged.
func TestGive(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	found := pipeline.Span{Start: 2, End: 4, Category: person}
	known := pipeline.Span{Start: 3, End: 6, Category: person, Source: pipeline.FromKnown}
	g := &TaggedUnit{first: 100, offsets: []int32{0, 0, 1, 2, 3}, spans: []pipeline.Span{found, found, found},
		reasons: []pipeline.Reason{pipeline.Sound, pipeline.Sound, pipeline.Sound, pipeline.Panicked}, conf: []float32{0.1, 0.2, 0.3, 0.4},
		lang: []pipeline.Language{pipeline.Spanish, pipeline.Catalan, pipeline.Spanish, pipeline.English}}
	b := &pipeline.Batch{First: 101, Reason: make([]pipeline.Reason, 4)}
	b.Reason[1] = pipeline.Excluded
	for i := range 4 {
		b.Text.Append([]byte("text"))
		if i == 0 {
			b.Known.Append(known)
		} else {
			b.Known.End()
		}
	}
	g.Languages(b)
	if err := g.Give(b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Language, []pipeline.Language{pipeline.Catalan, pipeline.Spanish, pipeline.English, pipeline.UnknownLanguage}) || !slices.Equal(b.Conf, []float32{0.2, 0.3, 0.4, 0}) ||
		!slices.Equal(b.Reason, []pipeline.Reason{pipeline.Sound, pipeline.Excluded, pipeline.Panicked, pipeline.BadUnit}) {
		t.Errorf("%v %v %v", b.Language, b.Conf, b.Reason)
	}
	if s := b.Spans.At(0); len(s) != 1 || s[0].Start != 2 || s[0].End != 6 || s[0].Source != pipeline.FromKnown || len(b.Spans.At(1))+len(b.Spans.At(2))+len(b.Spans.At(3)) != 0 || b.Spans.Len() != 4 {
		t.Errorf("%+v", b.Spans)
	}
	alone := &pipeline.Batch{First: 101, Reason: make([]pipeline.Reason, 1)} // nobody is known
	alone.Text.Append([]byte("text"))
	if err := g.Give(alone); err != nil || !slices.Equal(alone.Spans.At(0), []pipeline.Span{found}) {
		t.Errorf("%+v", alone.Spans)
	}
	for row, ok := range map[int64]bool{99: false, 100: true, 103: true, 104: false} {
		if err := g.at(row, func(int) {}); (err == nil) != ok {
			t.Errorf("row %d: %v", row, err)
		}
	}
}

func TestReasonOf(t *testing.T) {
	for r := range pipeline.Reasons() {
		if got := reasonOf(pipeline.Reason(r).String()); got != pipeline.Reason(r) {
			t.Errorf("%v is read as %v", pipeline.Reason(r), got)
		}
	}
	if got := reasonOf("of a newer version"); got != pipeline.BadUnit {
		t.Errorf("an unknown reason is read as %v", got)
	}
	old := []int{1, 2, 3}
	if got := cleared(old, 2); len(got) != 2 || got[0]+got[1] != 0 || &got[0] != &old[0] {
		t.Errorf("%v", got)
	}
	if got := cleared(old, 5); len(got) != 5 || slices.Max(got) != 0 {
		t.Errorf("%v", got)
	}
}
