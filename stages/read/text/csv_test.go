package text_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/text"
)

var csvTests = []struct {
	name, in string
	want     []string
}{
	{"plain", "id,text\na,la Ada\nb,\n", []string{"a|la Ada", "b|"}},
	{"spans", "id,text,spans\r\na,la Ada,\"[{\"\"start\"\":3,\"\"end\"\":6,\"\"label\"\":\"\"PERSON\"\"}]\"\r\nb,x,\r\n", []string{"a|la [PERSON:Ada]", "b|x"}},
	{"byte order mark, other order, other columns", "\ufefftext,age,id\nx,5,a", []string{"a|x"}},
	{"quotes keep line ends, delimiters and quotes", "id,text\na,\"x\r\ny\rz\n,\"\"w\"\"\"\n", []string{"a|x\r\ny\rz\n,\"w\""}},
	{"empty lines between records", "\n\nid,text\n\r\n\na,x\n\n", []string{"a|x"}},
	{"no id", "id,text\n,x\n", []string{"!null_id"}},
	{"NUL and not UTF-8", "id,text\na,x\x00\nb,\xff", []string{"a!control_text", "b!bad_encoding"}},
	{"last field empty at the end", "id,text\na,", []string{"a|"}},
	{"header only", "id,text", nil},
	{"CR at the end of the file", "id,text\na,x\r", []string{"a|x"}},
}

func TestCSV(t *testing.T) {
	for _, tt := range csvTests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewCSV(putFile(t, "in.csv", tt.in), text.Options{Notes: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := readAll(r)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

func TestCSVOptions(t *testing.T) {
	o := text.Options{Comma: '\t', IDColumn: "nota", TextColumn: "curs", SpansColumn: "phi", Unit: offset.UTF16}
	r, err := text.NewCSV(putFile(t, "in.tsv", "curs\tphi\tnota\n😀 Ada, x\t\"[[3,6,\"\"PERSON\"\"]]\"\t7|1|2\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := readAll(r)
	if d := cmp.Diff([]string{"7|1|2|😀 [PERSON:Ada], x"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	_, err = text.NewCSV(putFile(t, "in.csv", ""), text.Options{Comma: '"'})
	checkInputError(t, err, "the delimiter is no ASCII character")
}

var csvErrors = []struct{ name, in, want string }{
	{"empty", "", "in.csv: empty file"},
	{"no id column", "name,text\nAda,x", "in.csv: column \"id\" is missing"},
	{"no text column: the header is a note", "id,12 Ada\n", "in.csv: column \"text\" is missing; its first line may hold no names"},
	{"no text column: which there are", "codigo,nota,año\n1,Ada,2\n", "in.csv: column \"id\" is missing; the file has: codigo, nota, año; name the column of ids with --id-column"},
	{"twice", "id,text,text\n", "in.csv: column \"text\" stands twice in the header"},
	{"too few fields", "id,text\nAda\n", "in.csv:2:1: row of 1 fields, the header has 2"},
	{"too many fields", "id,text\n\na,x,Ada\n", "in.csv:3:1: row of 3 fields, the header has 2"},
	{"bare quote", "id,text\na,Ad\"a\n", "in.csv:2:5: quote inside a field without quotes"},
	{"behind a quote", "id,text\na,\"x\ny\"Ada\n", "in.csv:3:3: text behind a closing quote"},
	{"open quote", "id,text\na,\"Ada\n\n", "in.csv:2:3: the file ends inside this quoted field"},
	{"bare CR", "id,text\na,Ada\rb,x\n", "in.csv:2:6: carriage return without line feed"},
	{"bad spans", "id,text,spans\na,Ada,Ada\n", "in.csv:2:7: spans are not a list"},
	{"span outside", "id,text,spans\na,Ada,\"[[2,9,\"\"PERSON\"\"]]\"\n", "in.csv:2:7: span outside the text of 3 units"},
}

func TestCSVErrors(t *testing.T) {
	for _, tt := range csvErrors {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewCSV(putFile(t, "in.csv", tt.in), text.Options{})
			if err == nil {
				defer r.Close()
				_, err = readAll(r)
			}
			checkInputError(t, err, tt.want)
		})
	}
}

// TestCSVAgreesWithLibrary holds the parser against encoding/csv on texts
// without carriage returns, which that package changes.
func TestCSVAgreesWithLibrary(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("a,\"\n é")), 0, 8, -1), 0, 5).Draw(t, "texts")
		var data strings.Builder
		w := csv.NewWriter(&data)
		w.Write([]string{"id", "text"})
		for _, text := range rows {
			w.Write([]string{"a", text})
		}
		w.Flush()
		path := rewrite(t, dir, data.String())
		r, err := text.NewCSV(path, text.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i] = "a|" + rows[i]
		}
		if !slices.Equal(rows, got) {
			t.Fatalf("%q, want %q", got, rows)
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, tt := range csvTests {
		f.Add(tt.in)
	}
	for _, tt := range csvErrors {
		f.Add(tt.in)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in string) {
		r, err := text.NewCSV(rewrite(t, dir, in), text.Options{SkipUnknown: true})
		if err != nil {
			return
		}
		defer r.Close()
		checkSource(t, r)
	})
}
