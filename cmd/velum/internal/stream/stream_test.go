package stream

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// moved sends input through a stream of the CRF, which is made in less time than the default, and
// returns what went out, what was said, and the error.
func moved(t *testing.T, in []byte, o Options, set ...string) (out, said string, err error) {
	t.Helper()
	var to, errs bytes.Buffer
	c := &console.Console{In: bytes.NewReader(in), Out: &to, Errs: &errs, JSON: true, Env: []string{"GOGC=100"}}
	c.StartLog()
	load := func() (*option.Config, error) {
		return option.Load(option.Sources{}.With(append([]string{"tag.fast=true", "run.workers=1"}, set...)))
	}
	err = Run(t.Context(), c, load, &o)
	return to.String(), errs.String(), err
}

func rowsOf(t *testing.T, out string) (rows []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestJSON(t *testing.T) {
	in := `{"note_id":"a","text":"Avisar al 600 123 456 si empeora","ward":[1,"x"]}

{"note_id":"b","text":null,"ward":2}
{"note_id":"12345678Z","text":"Control en un mes"}
no object
{"note_id":5,"text":"Control en un mes"}`
	out, said, err := moved(t, []byte(in), Options{}, "read.keep=ward")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"note_id":"a","text":"Avisar al [TELEPHONE] si empeora","status":"masked","ward":[1,"x"]}
{"note_id":"b","text":null,"status":"null_text","ward":null}
{"note_id":null,"text":null,"status":"identifying_id","ward":null}
{"note_id":null,"text":null,"status":"bad_row","ward":null}
{"note_id":"5","text":"Control en un mes","status":"masked","ward":null}
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if !strings.Contains(said, `"quarantined":3`) || strings.Contains(said, "12345678") {
		t.Error(said)
	}
}

// TestTagged: what is tagged goes out as it came, and so does its id.
func TestTagged(t *testing.T) {
	out, _, err := moved(t, []byte(`{"note_id":"12345678Z","text":"Tel 600 123 456"}`), Options{Tag: true})
	if err != nil {
		t.Fatal(err)
	}
	row := rowsOf(t, out)[0]
	if row["note_id"] != "12345678Z" || row["status"] != "tagged" || len(row["spans"].([]any)) != 1 {
		t.Errorf("%v", row)
	}
}

// TestLanguage: notes in a language that the model does not know say so, and once there are
// many one warning does.
func TestLanguage(t *testing.T) {
	french := `{"note_id":"1","text":"Le patient se plaint de douleurs thoraciques depuis trois jours, examen sans particularité"}` + "\n"
	spanish := `{"note_id":"1","text":"Acude por dolor de garganta desde hace tres días, sin fiebre"}` + "\n"
	for _, tt := range []struct {
		in                string
		doubted, warnings int
	}{
		{strings.Repeat(spanish, 120), 0, 0},
		{spanish + french, 1, 0}, // too few to judge
		{strings.Repeat(french, 120), 120, 1},
		{strings.Repeat(spanish+french, 60), 60, 1},
	} {
		out, said, err := moved(t, []byte(tt.in), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if doubted, warnings := strings.Count(out, `"status":"masked","doubt":"language"`), strings.Count(said, "a language that the model does not know"); doubted != tt.doubted || warnings != tt.warnings {
			t.Errorf("%d rows are doubted, want %d; %d warnings, want %d", doubted, tt.doubted, warnings, tt.warnings)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		in   string
		set  string
		want string
	}{
		{`[{"text":"a"}]`, "", "is a JSON array"},
		{"note_id,text\n1,a\n", "", "neither JSON"},
		{`{"note_id":"1","text":"a"}`, "read.keep=status", "is a column of every row"},
		{`{"note_id":"1","text":"a"}`, "read.encoding=latin-1", "UTF-8"},
		{`{"codigo":"1","text":"a"}`, "", `column "note_id" is missing`},
	} {
		var set []string
		if tt.set != "" {
			set = append(set, tt.set)
		}
		out, _, err := moved(t, []byte(tt.in), Options{}, set...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || exit.CodeOf(err) != exit.Config || out != "" {
			t.Errorf("%s: %v (%d), out %q", tt.in, err, exit.CodeOf(err), out)
		}
	}
}

// TestCutShort: rows before the place where the input ends go out, with an error.
func TestCutShort(t *testing.T) {
	out, _, err := moved(t, []byte(`{"note_id":"1","text":"a"}`+"\n"+`{"note_id":"2","te`), Options{})
	if rows := rowsOf(t, out); err == nil || len(rows) != 2 || rows[0]["status"] != "masked" || rows[1]["status"] != "bad_row" {
		t.Errorf("%v %v", rows, err)
	}
}

// recordOf is a stream of Arrow with one batch.
func recordOf(t *testing.T, ids, texts []string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "note_id", Type: arrow.BinaryTypes.String}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range ids {
		b.Field(0).(*array.StringBuilder).Append(ids[i])
		if texts[i] == "" {
			b.Field(1).AppendNull()
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(texts[i])
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArrow(t *testing.T) {
	in := recordOf(t, []string{"1", "12345678Z", "3"}, []string{"Avisar al 600 123 456", "Control", ""})
	out, _, err := moved(t, in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(strings.NewReader(out))
	if err != nil || !r.Next() {
		t.Fatal(err)
	}
	want := [][3]string{{"1", "Avisar al [TELEPHONE]", "masked"}, {"(null)", "(null)", "identifying_id"}, {"3", "(null)", "null_text"}}
	for i := range want {
		for k := range want[i] {
			if got := r.Record().Column(k).ValueStr(i); got != want[i][k] {
				t.Errorf("row %d: %q, want %q", i, got, want[i][k])
			}
		}
	}
	for cut := 1; cut < len(in); cut += 97 { // whatever is missing is an error, and no row of the batch goes out
		if out, _, err := moved(t, in[:cut], Options{}); err == nil && strings.Contains(out, "TELEPHONE") {
			t.Errorf("cut at %d: no error", cut)
		}
	}
}

func TestDocuments(t *testing.T) {
	in := "MSH|^~\\&|A|B|C|D|20260101||ORU^R01|7|P|2.5\rPID|1||9||ROVIRA^ANNA\rOBX|1|TX|1||Avisar al 600 123 456\r"
	out, _, err := moved(t, []byte(in), Options{})
	if err != nil || strings.Contains(out, "ROVIRA") || strings.Contains(out, "600") || !strings.Contains(out, "[TELEPHONE]") {
		t.Errorf("%v %q", err, out)
	}
	if _, _, err := moved(t, []byte(in), Options{Tag: true}); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
}

// A pipe has no list of what singles people out: it says so, where a list is wanted, and does the rest as a run.
func TestRare(t *testing.T) {
	in := `{"note_id":"1","text":"madre de trillizos y única superviviente del pueblo"}`
	for do, want := range map[string]struct {
		text, status string
		says         int
	}{
		"off":        {"madre de trillizos y única superviviente del pueblo", "masked", 0},
		"review":     {"madre de trillizos y única superviviente del pueblo", "masked", 1},
		"generalize": {"madre de [FAMILY] y [FIRST]", "masked", 0},
		"hold":       {"", "stands_alone", 0},
	} {
		out, said, err := moved(t, []byte(in), Options{}, "mask.rare="+do)
		if err != nil {
			t.Fatal(err)
		}
		row := rowsOf(t, out)[0]
		if text, _ := row["text"].(string); text != want.text || row["status"] != want.status {
			t.Errorf("%s: %v", do, row)
		}
		if n := strings.Count(said, `"doubt":"rare"`); n != want.says {
			t.Errorf("%s: said %d times", do, n)
		}
	}
}
