package text_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/readtest"
	"github.com/velum-health/velum/stages/read/text"
)

// rewrite writes data to one file of dir, over what was there.
func rewrite(t interface{ Fatal(...any) }, dir, data string) string {
	return rewriteAs(t, dir, "in", data)
}

func rewriteAs(t interface{ Fatal(...any) }, dir, name, data string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var conllTests = []struct {
	name, in string
	want     []string
}{
	{"BIO", "la\tO\nAda\tB-PERSON\nMas\tI-PERSON\nva\tO\n", []string{"1|la [PERSON:Ada Mas] va"}},
	{"BIOESU", "Ada\tB-PERSON\ni\tI-PERSON\nMas\tE-PERSON\nPep\tS-PERSON\nRiu\tS-PERSON", []string{"1|[PERSON:Ada i Mas] [PERSON:Pep] [PERSON:Riu]"}},
	{"BILOU", "Ada\tB-PERSON\nMas\tL-PERSON\nPep\tU-PERSON", []string{"1|[PERSON:Ada Mas] [PERSON:Pep]"}},
	{"IOB1", "Ada\tI-PERSON\nMas\tI-PERSON\nPep\tB-PERSON\nReus\tI-LOCATION", []string{"1|[PERSON:Ada Mas] [PERSON:Pep] [LOCATION:Reus]"}},
	{"a dash in a label", "Reus\tB-LOCATION-OTHER", []string{"1|[LOCATION-OTHER:Reus]"}},
	{"sequences are notes", "\n\nAda\tB-PERSON\r\n\r\nPep\tI-PERSON\r\n\n", []string{"1|[PERSON:Ada]", "2|[PERSON:Pep]"}},
	{"CoNLL-2003", "-DOCSTART- -X- O O\n\nAda NNP I-NP B-PERSON\n\nva VB O O\nara RB O O\n-DOCSTART- -X- O O\n\nno RB O O\n", []string{"1|[PERSON:Ada]\nva ara", "2|no"}},
	{"ids", "# id = 7|1|2\nAda\tB-PERSON\n\n-DOCSTART-\tO\n# id = b c\n# lang = ca\n\n# id_json = \"d\\n\"\nx\tO\n", []string{"7|1|2|[PERSON:Ada]\n-DOCSTART-", "b c|", "d\n|x"}},
	{"a span never crosses sequences", "# id = a\nAda\tB-PERSON\n\nMas\tI-PERSON\n", []string{"a|[PERSON:Ada]\n[PERSON:Mas]"}},
	{"text and offsets", "# id = a\n# text_json = \"😀  Ada\\r\\nMas\"\n😀\t0\t1\tO\nAda\t3\t6\tB-PERSON\nMas\t8\t11\tI-PERSON\n", []string{"a|😀  [PERSON:Ada\r\nMas]"}},
	{"no label goes on behind O", "Ada\tB-PERSON\ni\tO\nMas\tI-PERSON", []string{"1|[PERSON:Ada] i [PERSON:Mas]"}},
	{"# is a token", "#\tO\n3\tO", []string{"1|# 3"}},
	{"not UTF-8", "A\xff\tB-PERSON", []string{"1!bad_encoding"}},
	{"empty", "", nil},
}

func TestCoNLL(t *testing.T) {
	for _, tt := range conllTests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewCoNLL(putFile(t, "in.conll", tt.in), text.Options{Notes: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := readtest.All(r)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

var conllErrors = []struct{ name, in, want string }{
	{"one column", "la\tO\nAda\n", "in.conll:2:1: line of one column"},
	{"no tag", "Ada\tPERSON\n", "in.conll:1:5: tag is neither O nor"},
	{"unknown role", "Ada\tX-PERSON\n", "in.conll:1:5: tag is neither O nor"},
	{"empty tag", "Ada\t\n", "in.conll:1:5: tag is neither O nor"},
	{"unknown label", "Ada\tB-SecretName\n", "in.conll:1:5: unknown label"},
	{"no offsets", "# text_json = \"Ada\"\nAda\tB-PERSON\n", "in.conll:2:5: token without offsets"},
	{"words for offsets", "# text_json = \"Ada\"\nAda\tzero\t3\tB-PERSON\n", "in.conll:2:12: token without offsets"},
	{"outside", "# text_json = \"Ada\"\nAda\t0\t4\tB-PERSON\n", "in.conll:2:9: span outside the text of 3 units"},
	{"text is no string", "# text_json = Ada\n", "in.conll:1:15: text_json is no JSON string"},
	{"two texts", "# text_json = \"\"\n# text_json = \"Ada\"\n", "in.conll:2:1: text_json behind tokens or a second one"},
	{"id is no string", "# id_json = Ada\n", "in.conll:1:13: id_json is no JSON string"},
}

func TestCoNLLErrors(t *testing.T) {
	for _, tt := range conllErrors {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewCoNLL(putFile(t, "in.conll", tt.in), text.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			_, err = readtest.All(r)
			checkInputError(t, err, tt.want)
		})
	}
}

func TestCategoryMap(t *testing.T) {
	person, err := pipeline.ParseCategory("PERSON")
	if err != nil {
		t.Fatal(err)
	}
	o := text.Options{Category: func(label string) (pipeline.Category, error) {
		if label == "PER" {
			return person, nil
		}
		return pipeline.None, nil
	}}
	r, err := text.NewCoNLL(putFile(t, "in.conll", "Ada\tB-PER\nReus\tB-CIUTAT\nMas\tI-PER\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := readtest.All(r)
	if d := cmp.Diff([]string{"1|[PERSON:Ada] Reus [PERSON:Mas]"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func FuzzCoNLL(f *testing.F) {
	for _, tt := range conllTests {
		f.Add(tt.in)
	}
	for _, tt := range conllErrors {
		f.Add(tt.in)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in string) {
		r, err := text.NewCoNLL(rewrite(t, dir, in), text.Options{SkipUnknown: true})
		if err != nil {
			return
		}
		defer r.Close()
		checkSource(t, r)
	})
}
