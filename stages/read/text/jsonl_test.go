package text_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/text"
)

// putFile writes one file and returns its path.
func putFile(t testing.TB, name, data string) string {
	t.Helper()
	return filepath.Join(putFiles(t, map[string]string{name: data}), name)
}

var jsonlTests = []struct {
	name, in string
	want     []string
}{
	{"ours", `{"id":"a","text":"la Ada","spans":[{"start":3,"end":6,"label":"PERSON","source":"model","score":0.5}]}`, []string{"a|la [PERSON:Ada]"}},
	{"byte order mark, CRLF, empty lines", "\ufeff\n{\"id\":\"a\",\"text\":\"x\"}\r\n\r\n{\"id\":\"b\",\"text\":\"\"}", []string{"a|x", "b|"}},
	{"numbers and no ids", "{\"id\":7,\"text\":\"x\"}\n{\"text\":\"y\"}\n{\"id\":null,\"text\":\"z\"}\n{\"id\":\"\",\"text\":\"z\"}", []string{"7|x", "2|y", "!null_id", "!null_id"}},
	{"escapes", `{"id":"a","text":"\ud83d\ude00 Ada\r\n","spans":[{"start":2,"end":5,"label":"PERSON"}]}`, []string{"a|😀 [PERSON:Ada]\r\n"}},
	{"null text", `{"id":"a","text":null}`, []string{"a!null_text"}},
	{"half a pair", `{"id":"a","text":"\ud83d Ada"}` + "\n" + `{"id":"b","text":"\ude00"}` + "\n" + `{"id":"c","text":"\ud83d\ud83d\ude00"}`, []string{"a!bad_encoding", "b!bad_encoding", "c!bad_encoding"}},
	{"an escaped backslash is no pair", `{"id":"a","text":"\\ud83d"}`, []string{`a|\\ud83d`}},
	{"not UTF-8", "{\"id\":\"a\",\"text\":\"A\xffa\",\"spans\":[[0,1,\"PERSON\"]]}", []string{"a!bad_encoding"}},
	{"NUL", `{"id":"a","text":"A\u0000a"}`, []string{"a!control_text"}},
	{"Doccano", `{"id":1,"text":"la Ada","label":[[3,6,"PERSON"]],"Comments":[]}`, []string{"1|la [PERSON:Ada]"}},
	{"Doccano with relations", `{"id":1,"text":"la Ada","entities":[{"id":4,"label":"PERSON","start_offset":3,"end_offset":6}],"relations":[]}`, []string{"1|la [PERSON:Ada]"}},
	{
		"an array",
		`[{"id":5,"text":"la Ada]","spans":[{"start":3,"end":6,"label":"PERSON"},` + "\n" + `[0,2,"DATE"]]},` + "\n" + `{"id":6,"text":"\"[{,","meta":{"a":[]}}]` + "\n",
		[]string{`5|[DATE:la] [PERSON:Ada]\]`, `6|"\[{,`},
	},
	{"empty array", "[ ]", nil},
	{"empty", "", nil},
	{"null spans", `{"id":"a","text":"x","spans":null}`, []string{"a|x"}},
}

func TestJSONL(t *testing.T) {
	for _, tt := range jsonlTests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewJSONL(putFile(t, "in.jsonl", tt.in), text.Options{Notes: 1})
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

// TestOwnNames: what velum writes of a file with other names is read under these
// options too, since questions come back as answers; other objects are not.
func TestOwnNames(t *testing.T) {
	o := text.Options{IDColumn: "codigo", TextColumn: "nota"}
	r, err := text.NewJSONL(putFile(t, "in.jsonl", `{"codigo":"a","nota":"x"}`+"\n"+`{"id":"b","text":"la Ada","spans":[{"start":3,"end":6,"label":"PERSON"}]}`), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := readAll(r)
	if d := cmp.Diff([]string{"a|x", "b|la [PERSON:Ada]"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	bare, err := text.NewJSONL(putFile(t, "in.jsonl", `{"id":"b","text":"x"}`), o)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if _, err := readAll(bare); err == nil {
		t.Error("another column was taken for the text")
	}
}

// TestSetAside: a row that breaks its format is a note without text, and is
// named; what a user has to decide (labels, columns) still ends the reading.
func TestSetAside(t *testing.T) {
	for _, tt := range []struct {
		name, in    string
		want, named []string
	}{
		{"in.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":NaN}\n{\"id\":\"c\",\"text\":5}\n\"Ada\"\n{\"id\":[1],\"text\":\"\"}\n{\"text\":\"y\"}",
			[]string{"a|x", "!bad_row", "!bad_row", "!bad_row", "!bad_row", "6|y"},
			[]string{"in.jsonl:2:18: not JSON", "in.jsonl:3: text is not a string", "in.jsonl:4:1: not a JSON object", "in.jsonl:5: id is neither a string nor a number"}},
		{"in.csv", "id,text\na,x\nb,y,z\nc,\"y\"z\nd,1\" x\n",
			[]string{"a|x", "!bad_row", "!bad_row", `d|1" x`},
			[]string{"in.csv:3:1: row of 3 fields, the header has 2", "in.csv:4:6: text behind a closing quote"}},
	} {
		var named []string
		o := text.Options{SetAside: func(e error) { named = append(named, e.Error()) }}
		var src pipeline.Source
		var err error
		if path := putFile(t, tt.name, tt.in); tt.name == "in.csv" {
			src, err = text.NewCSV(path, o)
		} else {
			src, err = text.NewJSONL(path, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(src)
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Error(d, err)
		}
		if len(named) != len(tt.named) {
			t.Fatalf("%s: %q", tt.name, named)
		}
		for i, want := range tt.named {
			if !strings.Contains(named[i], want+"; ") {
				t.Errorf("%s, want %s", named[i], want)
			}
		}
	}
	r, err := text.NewJSONL(putFile(t, "in.jsonl", `{"text":"Ada","label":[[0,1,"MEDICO"]]}`), text.Options{SetAside: func(error) { t.Error("set aside") }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := readAll(r); err == nil {
		t.Error("an unknown label is passed over")
	}
}

var jsonlErrors = []struct{ name, in, want string }{
	{"not JSON", "{\"text\":\"x\"}\n{\"text\":\"Ada\",}", "in.jsonl:2:15: not JSON"},
	{"cut off", `{"text":"Ada`, "in.jsonl:1:12: not JSON"},
	{"not an object", `"Ada"`, "in.jsonl:1:1: not a JSON object"},
	{"no text", `{"id":"Ada"}`, "in.jsonl:1: object without text"},
	{"text is a number", `{"id":"a","text":5}`, "in.jsonl:1: text is not a string"},
	{"id is a list", `{"id":["Ada"],"text":""}`, "in.jsonl:1: id is neither a string nor a number"},
	{"spans are words", `{"text":"Ada","spans":"Ada"}`, "in.jsonl:1: spans are not a list"},
	{"half offsets", `{"text":"Ada","spans":[{"start":0.5,"end":1,"label":"PERSON"}]}`, "in.jsonl:1: span is not an object with whole numbers"},
	{"no end", `{"text":"Ada","spans":[{"start":0,"label":"PERSON"}]}`, "in.jsonl:1: span without start or end"},
	{"no label", `{"text":"Ada","spans":[{"start":0,"end":1}]}`, "in.jsonl:1: span without label"},
	{"negative", `{"text":"Ada","spans":[[-1,2,"PERSON"]]}`, "in.jsonl:1: span outside the text of 3 units"},
	{"two of three", `{"text":"Ada","label":[[1,"PERSON"]]}`, "in.jsonl:1: span is not a list of start, end and label"},
	{"unknown label", `{"text":"Ada","label":[[0,1,"SecretName"]]}`, "in.jsonl:1: unknown label"},
	{"unknown label that looks like one", `{"text":"Ada","label":[[0,1,"MEDICO_2"]]}`, "in.jsonl:1: unknown label MEDICO_2; map it with --map"},
	{"unknown source", `{"text":"Ada","spans":[{"start":0,"end":1,"label":"DATE","source":"Lima"}]}`, "in.jsonl:1: span of an unknown source"},
	{"open array", "[\n{\"text\":\"Ada\"}", "in.jsonl:2: the file ends inside a JSON array"},
	{"broken element", "[\n{\"text\":\"x\"},\n\n{\"text\" \"Ada\"}]", "in.jsonl:4:9: not JSON"},
	{"behind the array", "[]\nAda", "in.jsonl:2: text behind the end of the JSON array"},
	{"Label Studio", `{"data":{"text":"Ada"},"annotations":[]}`, "in.jsonl:1: a task of Label Studio"},
	{"Label Studio beside a text", `{"text":"Ada","annotations":[]}`, "in.jsonl:1: a task of Label Studio"},
	{"one offset alone", `{"text":"Ada","spans":[{"start":1,"end_offset":2,"label":"PERSON"},{"start":1,"label":"PERSON"}]}`, "in.jsonl:1: span without start or end"},
}

func TestJSONLErrors(t *testing.T) {
	for _, tt := range jsonlErrors {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewJSONL(putFile(t, "in.jsonl", tt.in), text.Options{})
			if err == nil {
				defer r.Close()
				_, err = readAll(r)
			}
			checkInputError(t, err, tt.want)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	open := map[string]func(path string) error{
		"jsonl": func(p string) error { _, err := text.NewJSONL(p, text.Options{}); return err },
		"csv":   func(p string) error { _, err := text.NewCSV(p, text.Options{}); return err },
	}
	for name, do := range open {
		if err := do(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: missing file: %v", name, err)
		}
		checkInputError(t, do(t.TempDir()), "a folder, not a file")
	}
	_, err := text.NewI2B2(putFile(t, "a.xml", ""), text.Options{})
	checkInputError(t, err, "not a folder")
}

// TestStreaming reads more than a batch holds and wants batches of bounded
// size, each with the row of its first note.
func TestStreaming(t *testing.T) {
	line := `{"id":"a","text":"0123456789"}` + "\n"
	data := ""
	for range 25 {
		data += line
	}
	r, err := text.NewJSONL(putFile(t, "in.jsonl", data), text.Options{Bytes: 40})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := int64(0)
	for {
		var b pipeline.Batch
		if err := r.Next(&b); err != nil {
			break
		}
		if b.Len() > 4 || b.First != rows {
			t.Fatalf("batch of %d notes at row %d, want at most 4 at %d", b.Len(), b.First, rows)
		}
		rows += int64(b.Len())
	}
	if rows != 25 {
		t.Errorf("%d notes", rows)
	}
}

func FuzzJSONL(f *testing.F) {
	for _, tt := range jsonlTests {
		f.Add(tt.in)
	}
	for _, tt := range jsonlErrors {
		f.Add(tt.in)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in string) {
		r, err := text.NewJSONL(rewrite(t, dir, in), text.Options{SkipUnknown: true})
		if err != nil {
			return
		}
		defer r.Close()
		checkSource(t, r)
	})
}
