package stream

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/pipeline/paced"
)

// column makes a column of a type from what JSON says of its values.
func column(t *testing.T, typ arrow.DataType, values string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dictionary makes a column of codes for values.
func dictionary(t *testing.T, codes, values string) arrow.Array {
	t.Helper()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, column(t, arrow.PrimitiveTypes.Int32, codes), column(t, arrow.BinaryTypes.String, values))
}

// streamOf writes batches of columns of these names.
func streamOf(t *testing.T, names []string, batches ...[]arrow.Array) []byte {
	t.Helper()
	var fields []arrow.Field
	for i, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: batches[0][i].DataType(), Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for _, columns := range batches {
		if err := w.Write(array.NewRecord(schema, columns, int64(columns[0].Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rowsOfArrow are the rows of a stream, each with its values as text, a bar between.
func rowsOfArrow(t *testing.T, out string) (rows []string, batches int) {
	t.Helper()
	r, err := ipc.NewReader(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		batches++
		for i := range int(r.Record().NumRows()) {
			var values []string
			for _, c := range r.Record().Columns() {
				values = append(values, c.ValueStr(i))
			}
			rows = append(rows, strings.Join(values, "|"))
		}
	}
	return rows, batches
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		column arrow.Array
		kind   byte
		want   string // a value a row, "-" for none
		number bool
	}{
		{column(t, arrow.BinaryTypes.String, `["a",null,"á"]`), 't', "a - á", false},
		{column(t, arrow.BinaryTypes.LargeString, `["a",null]`), 't', "a -", false},
		{column(t, arrow.PrimitiveTypes.Int64, `[7,null,-3]`), 'n', "7 - -3", true},
		{column(t, arrow.PrimitiveTypes.Uint8, `[255]`), 'n', "255", true},
		{column(t, arrow.PrimitiveTypes.Float64, `[1.5,3,null]`), 'f', "1.5 3 -", true},
		{column(t, arrow.PrimitiveTypes.Float32, `[0.1]`), 'f', "0.1", true},
		{column(t, arrow.FixedWidthTypes.Date32, `["2026-11-28",null]`), 'd', "2026-11-28 -", false},
		{array.NewNull(2), 't', "- -", false},
		{dictionary(t, `[1,null,0]`, `["a","b"]`), 't', "b - a", false},
	} {
		var got []string
		of := cellOf(c.column)
		for i := range c.column.Len() {
			value, number, ok := of(i)
			if !ok {
				value = []byte("-")
			} else if number != c.number {
				t.Errorf("%v: a number: %t", c.column.DataType(), number)
			}
			got = append(got, string(value))
		}
		if kind := cellType(valueType(c.column.DataType())); strings.Join(got, " ") != c.want || kind != c.kind || isText(valueType(c.column.DataType())) != (c.kind == 't') {
			t.Errorf("%v: %q of kind %c, want %s of %c", c.column.DataType(), got, kind, c.want, c.kind)
		}
	}
	if k := cellType(arrow.FixedWidthTypes.Boolean); k != 0 {
		t.Errorf("of truth: %c", k)
	}
}

// TestKeptType has the types that pass, "" for those that cannot.
func TestKeptType(t *testing.T) {
	text := arrow.BinaryTypes.String
	codes := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}
	for _, c := range []struct {
		of   arrow.DataType
		want string
		time bool
	}{
		{text, "utf8", false},
		{arrow.BinaryTypes.StringView, "large_utf8", false},
		{arrow.BinaryTypes.BinaryView, "large_binary", false},
		{codes, "dictionary<values=utf8, indices=int32, ordered=false>", false},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: codes}, "", false},
		{arrow.FixedWidthTypes.Date32, "date32", true},
		{arrow.FixedWidthTypes.Date64, "date64", true},
		{arrow.FixedWidthTypes.Timestamp_ms, "timestamp[ms, tz=UTC]", true},
		{arrow.ListOf(arrow.FixedWidthTypes.Date32), "list<item: date32, nullable>", true},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), "list<item: int8, nullable>", false},
		{arrow.ListOf(codes), "", false},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.FixedWidthTypes.Date32}, "dictionary<values=date32, indices=int32, ordered=false>", true},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, text), "", false},
	} {
		got := ""
		if k := keptType(c.of); k != nil {
			got = k.String()
		}
		if got != c.want || hasTime(c.of) != c.time {
			t.Errorf("%v: %s, with times: %t; want %s, %t", c.of, got, hasTime(c.of), c.want, c.time)
		}
	}
}

// TestKept passes columns of which the second and the fourth row stay behind.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		column arrow.Array
		rows   []int
		want   string
	}{
		{column(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5]`), nil, "[1 2 3 4 5]"},
		{column(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5]`), []int{1, 3}, "[1 (null) 3 (null) 5]"},
		{column(t, arrow.PrimitiveTypes.Int64, `[1,2,3]`), []int{0, 1, 2}, "[(null) (null) (null)]"},
		{column(t, arrow.PrimitiveTypes.Int64, `[1,2,3]`), []int{2}, "[1 2 (null)]"},
		{column(t, arrow.BinaryTypes.String, `["a","b",null]`), []int{0}, "[(null) b (null)]"},
		{dictionary(t, `[2,0,null,2,1]`, `["a","b","c"]`), []int{1, 4}, "[c (null) (null) c (null)]"},
		{dictionary(t, `[2,0]`, `["a","b","c"]`), nil, "[c a]"},
		{dictionary(t, `[0]`, `["a"]`), []int{0}, "[(null)]"},
	} {
		to := keptType(c.column.DataType())
		got, err := passed(c.column, to, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for i := range got.Len() {
			values = append(values, got.ValueStr(i))
		}
		if s := "[" + strings.Join(values, " ") + "]"; s != c.want || !arrow.TypeEqual(got.DataType(), to) {
			t.Errorf("%v without %v: %s of %v, want %s", c.column.DataType(), c.rows, s, got.DataType(), c.want)
		}
		if d, ok := got.(*array.Dictionary); ok && d.Dictionary().Len() > 2 { // a value that no row has is a value that leaves
			t.Errorf("%d values", d.Dictionary().Len())
		}
	}
}

func TestArrowKeeps(t *testing.T) {
	text := func(values string) arrow.Array { return column(t, arrow.BinaryTypes.LargeString, values) }
	in := streamOf(t, []string{"ward", "note_id", "text", "floor"},
		[]arrow.Array{dictionary(t, `[0,1]`, `["UCI","URG"]`), column(t, arrow.PrimitiveTypes.Int64, `[1,2]`), text(`["Avisar al 600 123 456",null]`), column(t, arrow.PrimitiveTypes.Int8, `[3,4]`)},
		[]arrow.Array{dictionary(t, `[1]`, `["UCI","URG"]`), column(t, arrow.PrimitiveTypes.Int64, `[3]`), text(`["Control en un mes"]`), column(t, arrow.PrimitiveTypes.Int8, `[5]`)})
	out, _, err := moved(t, in, Options{}, "read.keep=ward,floor")
	if err != nil {
		t.Fatal(err)
	}
	rows, batches := rowsOfArrow(t, out)
	if want := []string{"1|Avisar al [TELEPHONE]|masked|UCI|3", "2|(null)|null_text|(null)|(null)", "3|Control en un mes|masked|URG|5"}; !slices.Equal(rows, want) || batches != 2 {
		t.Errorf("%q in %d batches, want %q", rows, batches, want)
	}
	out, _, err = moved(t, in, Options{Tag: true, Unit: offset.Bytes})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ = rowsOfArrow(t, out)
	if want := `1|Avisar al 600 123 456|[{"end":21,"label":"TELEPHONE","score":`; !strings.HasPrefix(rows[0], want) || !strings.HasSuffix(rows[0], `"start":10}]|tagged`) || !strings.HasPrefix(rows[2], "3|Control en un mes|[]|tagged") {
		t.Errorf("%q", rows)
	}
	for _, c := range []struct {
		name string
		in   []byte
		set  string
		want string
	}{
		{"a column that is not there", in, "read.keep=bed", `has no column "bed"`},
		{"a text that is a number", streamOf(t, []string{"note_id", "text"}, []arrow.Array{text(`["1"]`), column(t, arrow.PrimitiveTypes.Int8, `[3]`)}), "", `column "text" has the type int8`},
		{"an id that is none", streamOf(t, []string{"note_id", "text"}, []arrow.Array{column(t, arrow.FixedWidthTypes.Boolean, `[true]`), text(`["a"]`)}), "", `column "note_id" has the type bool`},
		{"no text", streamOf(t, []string{"note_id"}, []arrow.Array{text(`["1"]`)}), "", `"text" is missing`},
		{"a type that cannot be kept", streamOf(t, []string{"note_id", "text", "x"}, []arrow.Array{text(`["1"]`), text(`["a"]`), array.NewRunEndEncodedArray(column(t, arrow.PrimitiveTypes.Int32, `[1]`), text(`["a"]`), 1, 0)}), "read.keep=x", "cannot be kept"},
	} {
		var set []string
		if c.set != "" {
			set = append(set, c.set)
		}
		if out, _, err := moved(t, c.in, Options{}, set...); err == nil || !strings.Contains(err.Error(), c.want) || exit.CodeOf(err) != exit.Config || out != "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestIntake: an end is one only where a message ends.
func TestIntake(t *testing.T) {
	in := &intake{Reader: iotest.DataErrReader(strings.NewReader("ab"))}
	b := make([]byte, 1)
	if n, err := in.Read(b); n != 1 || err != nil || !in.within {
		t.Fatal(n, err, in.within)
	}
	if n, err := in.Read(b); n != 1 || err != io.ErrUnexpectedEOF {
		t.Fatal(n, err)
	}
	in = &intake{Reader: strings.NewReader("")}
	if n, err := in.Read(b); n != 0 || err != io.EOF || in.within {
		t.Fatal(n, err)
	}
}

// TestBounded: what is taken counts, and what is left over is taken by nobody.
func TestBounded(t *testing.T) {
	b := &bounded{memory.NewGoAllocator(), 100}
	if got := b.Allocate(60); len(got) != 60 || b.left != 40 {
		t.Fatalf("%d bytes, %d left", len(got), b.left)
	}
	old := b.Allocate(0)
	if got := b.Reallocate(10, append(old, 1, 2)); len(got) != 10 || got[0] != 1 || got[1] != 2 {
		t.Errorf("%v", got)
	}
	if got := b.Reallocate(1, make([]byte, 3, 8)); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for _, n := range []int{-1, 41} {
		c := &bounded{memory.NewGoAllocator(), 40}
		if pipeline.Try(func() error { c.Allocate(n); return nil }) == nil || c.left != -1 {
			t.Errorf("%d of 40 bytes are taken", n)
		}
	}
	exact := &bounded{memory.NewGoAllocator(), 40}
	if pipeline.Try(func() error { exact.Allocate(40); return nil }) != nil || exact.left != 0 {
		t.Error("40 of 40 bytes are not taken")
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		within bool
		left   int
		want   string
		code   exit.Code
	}{
		{true, 5, "ends within the record batch behind row 7", exit.Failed},
		{true, -1, "ends within the record batch behind row 7", exit.Failed},
		{false, -1, "the record batch behind row 7 has more than 512 MiB, or 16777216 rows", exit.Config},
		{false, 0, "the record batch behind row 7 cannot be read", exit.Config},
	} {
		a := &arrows{mem: &bounded{left: c.left}, before: 7}
		if a.cut(c.within); !strings.Contains(a.broken().Error(), c.want) || exit.CodeOf(a.err) != c.code {
			t.Errorf("%+v: %v", c, a.err)
		}
	}
}

// TestGiven: spans that others have found are masked with those of velum, and a note with spans that cannot be is held back.
func TestGiven(t *testing.T) {
	out, said, err := moved(t, []byte(`{"note_id":"1","text":"Refiere que el cojo empeora","spans":[{"start":15,"end":19,"label":"PERSON"}]}
{"note_id":"2","text":"Tos","spans":null}
{"note_id":"3","text":"Tos","spans":[]}
{"note_id":"4","text":"Tos","spans":[{"start":1,"end":9,"label":"PERSON"}]}
`), Options{})
	if want := `{"note_id":"1","text":"Refiere que el [PERSON] empeora","status":"masked"}
{"note_id":"2","text":"Tos","status":"masked"}
{"note_id":"3","text":"Tos","status":"masked"}
{"note_id":"4","text":null,"status":"bad_tags"}
`; err != nil || out != want || !strings.Contains(said, "its spans cannot be those of its text") || !strings.Contains(said, ":4") {
		t.Errorf("%s%s%v", out, said, err)
	}
}

// TestBegins has a byte order mark, empty lines and rows of which the last has no end.
func TestBegins(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "\n \n": 0, "\ufeff{\"note_id\":\"1\",\"text\":\"Tos\"}\n": 1, "\n\n{\"note_id\":\"1\",\"text\":\"Tos\"}": 1, "{\"note_id\":\"1\",\"text\":\"Tos\"}\r\n\r\n{\"note_id\":\"2\",\"text\":\"Tos\"}\r\n": 2,
	} {
		out, _, err := moved(t, []byte(in), Options{})
		if n := strings.Count(out, `"status":"masked"`); err != nil || n != want || strings.Count(out, "\n") != want {
			t.Errorf("%q: %q, %v", in, out, err)
		}
	}
}

func TestAudit(t *testing.T) {
	log := t.TempDir() + "/audit.jsonl"
	if _, _, err := moved(t, []byte(`{"note_id":"1","text":"Tos"}`+"\nno object\n"), Options{Audit: log}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"event":"start"`) || !strings.Contains(lines[1], `"event":"end"`) || !strings.Contains(lines[1], `"exit":0`) || !strings.Contains(lines[1], `"rows":2`) || !strings.Contains(lines[0], `"model_sha256":"`) {
		t.Errorf("%s", text)
	}
	var first, last struct{ Run string }
	if json.Unmarshal([]byte(lines[0]), &first) != nil || json.Unmarshal([]byte(lines[1]), &last) != nil || first.Run != last.Run || !strings.HasPrefix(first.Run, "stream 2") {
		t.Errorf("%+v, %+v", first, last)
	}
}

// TestRefusedDocuments has what goes out in place of a document that is held back.
func TestRefusedDocuments(t *testing.T) {
	for _, c := range []struct {
		format document.Format
		id     string
		reason pipeline.Reason
		want   string
	}{
		{document.FHIR, "a\"b", pipeline.BadRow, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"suppressed","diagnostics":"bad_row","details":{"text":"a\"b"}}]}`},
		{document.FHIR, "", pipeline.BadRow, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"suppressed","diagnostics":"bad_row"}]}`},
		{document.FHIR, "a", pipeline.SurvivingValue, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"suppressed","diagnostics":"surviving_value"}]}`},
		{document.HL7, "M1|^~\\&x", pipeline.BadRow, "MSH|^~\\&|||||||ACK|M1_____x|P|2.5\rMSA|AR|M1_____x|bad_row\r"},
	} {
		d := &documents{format: c.format}
		if got := string(d.refused(nil, []byte(c.id), c.reason)); got != c.want || d.err != nil {
			t.Errorf("%v %s: %s, %v", c.format, c.id, got, d.err)
		}
	}
	d := &documents{format: document.CDA}
	if got := d.refused(nil, []byte("a"), pipeline.BadRow); len(got) != 0 || exit.CodeOf(d.broken()) != exit.Quarantined {
		t.Errorf("CDA: %q, %v", got, d.err)
	}
}

// TestFramed: messages between the signs of MLLP go out between them, one for one.
func TestFramed(t *testing.T) {
	message := func(n, text string) string {
		return "MSH|^~\\&|A|B|C|D|20260101||ORU^R01|" + n + "|P|2.5\rPID|1||9||ROVIRA^ANNA\rOBX|1|TX|1||" + text + "\r"
	}
	for _, c := range []struct{ before, after string }{{"", ""}, {"\x0b", "\x1c\r"}} {
		in := c.before + message("7", "Avisar al 600 123 456") + c.after + c.before + message("8", "Control en un mes") + c.after
		out, _, err := moved(t, []byte(in), Options{})
		if err != nil || strings.Count(out, "MSH|") != 2 || strings.Count(out, "\x0b") != 2*len(c.before) || strings.Count(out, "\x1c\r") != len(c.after) || strings.Contains(out, "ROVIRA") || !strings.Contains(out, "[TELEPHONE]") || !strings.Contains(out, "Control en un mes") {
			t.Errorf("%q: %q, %v", c.before, out, err)
		}
	}
}

func TestAppendValue(t *testing.T) {
	for _, c := range []struct {
		value string
		text  bool
		want  string
	}{
		{"12", false, "12"}, {"12", true, `"12"`}, {"0", false, "0"}, {"012", false, `"012"`}, {"", false, `""`}, {"1a", false, `"1a"`}, {"-1", false, `"-1"`}, {"9", false, "9"},
		{strings.Repeat("1", 19), false, strings.Repeat("1", 19)}, {strings.Repeat("1", 20), false, `"` + strings.Repeat("1", 20) + `"`},
	} {
		if got := string(appendValue([]byte("x"), []byte(c.value), c.text)); got != "x"+c.want {
			t.Errorf("%q: %s, want x%s", c.value, got, c.want)
		}
	}
}

// TestOMOP has rows of NOTE with the numbers that `velum run` gives the same ids (testdata/script/omop.txtar).
func TestOMOP(t *testing.T) {
	key := t.TempDir() + "/key"
	if err := os.WriteFile(key, []byte("krT0Vd8sQz3mYw5BfHn2pLxJc7gR9aEu\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	in := `{"note_id":11,"person_id":4637,"note_date":"2026-01-05","note_text":"Avisa a la Dra. Rovira, tel 600 123 456."}
{"note_id":12,"person_id":4637,"note_date":"2026-01-06","note_text":null}
`
	out, _, err := moved(t, []byte(in), Options{}, "profile=omop", "key.file="+key)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(out, "\n")
	for _, want := range []string{
		`{"note_id":1298744366,"person_id":663614603,"note_date":"2026-01-05",`, `"note_title":null,"note_text":"Avisa a la Dra. [PERSON], tel [TELEPHONE].",`,
		`"note_nlp":[{"note_nlp_id":`, `"note_id":1298744366,"section_concept_id":0,`, `"offset":"16","lexical_variant":"[PERSON]"`, `},{"note_nlp_id":`, `"offset":"30","lexical_variant":"[TELEPHONE]"`, `],"status":"masked"}`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in %s", want, first)
		}
	}
	if !strings.HasPrefix(second, `{"note_id":1059715188,"person_id":null,`) || !strings.HasSuffix(second, `,"note_nlp":[],"status":"null_text"}`+"\n") {
		t.Error(second)
	}
	if _, _, err := moved(t, []byte(in), Options{Tag: true}, "profile=omop", "key.file="+key); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
}

func TestFeed(t *testing.T) {
	f := newFeed(nil, paced.NewReader(t.Context(), strings.NewReader("three")), []byte("onetwo"), nil)
	f.from = 3
	if ok, err := f.more(time.Time{}, 1); !ok || err != nil || string(f.buf) != "twothree" || f.from != 0 {
		t.Errorf("%q from %d, %v", f.buf, f.from, err)
	}
	if ok, err := f.more(time.Time{}, 1); !ok || err != nil || !f.ended {
		t.Errorf("at the end: %t, %v", ok, err)
	}
	block := newFeed(nil, paced.NewReader(t.Context(), forever{}), nil, nil)
	if ok, err := block.more(time.Now().Add(-time.Second), 1); ok || err != nil { // it is late already
		t.Errorf("late: %t, %v", ok, err)
	}
	long := newFeed(nil, paced.NewReader(t.Context(), strings.NewReader("")), make([]byte, maxLine+5), nil)
	long.from = 5
	if ok, err := long.more(time.Time{}, 7); !ok || err != nil || long.broken() != nil {
		t.Errorf("as many bytes as may be: %t, %v, %v", ok, err, long.broken())
	}
	long.buf, long.ended = append(long.buf, 'x'), false
	if ok, err := long.more(time.Time{}, 7); ok || err != nil || !long.ended || long.broken() == nil || !strings.Contains(long.broken().Error(), "row 7 has more") {
		t.Errorf("a byte more: %t, %v, %v", ok, err, long.broken())
	}
}

// forever never has a byte.
type forever struct{}

func (forever) Read([]byte) (int, error) { select {} }

func TestStreamSummary(t *testing.T) {
	_, said, err := moved(t, []byte(`{"note_id":"1","text":"Tos"}`+"\nno object\n"), Options{})
	var last map[string]any
	for line := range strings.Lines(said) {
		var one map[string]any
		if json.Unmarshal([]byte(line), &one) == nil && one["message_type"] == "summary" {
			last = one
		}
	}
	if err != nil || last["rows"] != 2.0 || last["masked"] != 1.0 || last["quarantined"] != 1.0 || last["foreign"] != 0.0 {
		t.Errorf("%v, %v", last, err)
	}
}
