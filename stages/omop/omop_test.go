package omop

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
)

const microsecondsADay = 24 * 60 * 60 * 1_000_000

// batch is one masked note with columns of every type that tables have.
func batch() *pipeline.Batch {
	fixed := func(name string, kind pipeline.ColumnKind, bits uint64) pipeline.Column {
		return pipeline.Column{Name: name, Kind: kind, Type: "parquet", Valid: []bool{true}, Fixed: []uint64{bits}}
	}
	b := &pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}}
	b.ID.Append([]byte("11"))
	b.Masked.Append([]byte("Señora [P], tel [T]."))
	b.Places.Append(pipeline.Span{Start: 8, End: 11}, pipeline.Span{Start: 17, End: 20})
	days := int32(-1)
	moment := int64(-microsecondsADay + 3_600_000_000) // 01:00 of the day before 1970
	b.Extra = []pipeline.Column{
		fixed("person_id", pipeline.Int32Column, 4637),
		fixed("provider_id", pipeline.DoubleColumn, math.Float64bits(9)),
		fixed(Day, pipeline.Int32Column, uint64(uint32(days))),
		fixed("note_datetime", pipeline.Int64Column, uint64(moment)),
		{Name: "visit_occurrence_id", Kind: pipeline.Int64Column, Valid: []bool{false}, Fixed: []uint64{7}},
	}
	return b
}

func TestNote(t *testing.T) {
	times := map[string]int64{Day: 1, "note_datetime": microsecondsADay}
	for _, c := range []struct {
		name, want string
		o          Options
	}{
		{"as they are", "11,4637,1969-12-31,1969-12-31 01:00:00,,,,Señora [P], tel [T].,,,9,,,,,", Options{Times: times}},
		{"years", "11,4637,1969-01-01,,,,,Señora [P], tel [T].,,,9,,,,,", Options{Times: times, Years: true}},
		{"dates that could not be moved", "11,4637,,,,,,Señora [P], tel [T].,,,9,,,,,", Options{Moved: true}},
		{"times in a form that nobody reckons with", "11,4637,,,,,,Señora [P], tel [T].,,,9,,,,,", Options{Times: map[string]int64{Day: 0, "note_datetime": 0}}},
	} {
		var values []string
		note, err := NewTables(c.o).Note(batch(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range note {
			values = append(values, string(v))
		}
		if got := strings.Join(values, ","); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	tables, b := NewTables(Options{System: "velum"}), batch()
	var rows [][]string
	each := func(row []string) error {
		rows = append(rows, row)
		return nil
	}
	note, err := tables.Note(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := tables.EachSpan(b, 0, note, each); err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	offset, variant := slices.Index(NLPColumns, "offset"), slices.Index(NLPColumns, "lexical_variant")
	for k, want := range [][2]string{{"7", "[P]"}, {"16", "[T]"}} { // characters, not bytes
		if got := [2]string{rows[k][offset], rows[k][variant]}; got != want || len(rows[k]) != len(NLPColumns) || rows[k][1] != "11" {
			t.Errorf("row %d: %v of %d columns, want %v", k, got, len(rows[k]), want)
		}
	}
	if rows[0][0] != "1" || rows[1][0] != "2" {
		t.Errorf("the rows have the ids %s and %s", rows[0][0], rows[1][0])
	}
	rows, tables = nil, NewTables(Options{Imitated: []pipeline.Category{0}})
	if err := tables.EachSpan(b, 0, note, each); err != nil || len(rows) > 0 {
		t.Errorf("%d rows say where surrogates stand, %v", len(rows), err)
	}
}

// TestIDs: with a key an id becomes another number that a column of integer takes, and what is no number is refused by row and
// column.
func TestIDs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte("krT0Vd8sQz3mYw5BfHn2pLxJc7gR9aEu"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	o := Options{Key: key, Refuse: func(row int64, column string) error {
		refused = append(refused, fmt.Sprint(row, " ", column))
		return errors.New("refused")
	}}
	note, err := NewTables(o).Note(batch(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{Patient, "provider_id"} {
		id := string(note[slices.Index(order, column)])
		if n, err := strconv.ParseInt(id, 10, 32); err != nil || n < 0 || id == "4637" || id == "9" {
			t.Errorf("%s becomes %s", column, id)
		}
	}
	for _, key := range []*secret.Key{nil, key} {
		o.Key = key
		b := batch()
		b.First = 7
		b.Extra[0] = pipeline.Column{Name: Patient, Kind: pipeline.BytesColumn, Valid: []bool{true}}
		b.Extra[0].Bytes.Append([]byte("A-12"))
		if _, err := NewTables(o).Note(b, 0); err == nil {
			t.Error("an id that is no number is taken")
		}
		b = batch()
		b.ID.Reset()
		b.ID.Append([]byte("3f0c"))
		if _, err := NewTables(o).Note(b, 0); err == nil {
			t.Error("the id of a note that is no number is taken")
		}
	}
	if want := []string{"7 person_id", "0 note_id", "7 person_id", "0 note_id"}; !slices.Equal(refused, want) {
		t.Errorf("%v, want %v", refused, want)
	}
}

// The columns are those of the specification, each once.
func TestColumns(t *testing.T) {
	if len(order) != 16 || len(NLPColumns) != 14 || len(Kept()) != 12 {
		t.Errorf("%d columns of NOTE, %d of NOTE_NLP, %d go along", len(order), len(NLPColumns), len(Kept()))
	}
	if s := Spellings(); s["NOTE_TEXT"] != Text || s["Note_Text"] != Text || s["note_text"] != Text || s["text"] != "" {
		t.Error("a spelling is missing, or one too many")
	}
}

// TestValues: what stands in a column goes along as CSV has it, by the kind of column.
func TestValues(t *testing.T) {
	text := func(s string) pipeline.Column {
		c := pipeline.Column{Kind: pipeline.BytesColumn, Valid: []bool{true}}
		c.Bytes.Append([]byte(s))
		return c
	}
	wide := text("ab")
	wide.Width = 1
	number := func(kind pipeline.ColumnKind, bits uint64) pipeline.Column {
		return pipeline.Column{Kind: kind, Valid: []bool{true}, Fixed: []uint64{bits}}
	}
	minus := int64(-7)
	for _, c := range []struct {
		name string
		c    pipeline.Column
		want string
	}{
		{"text", text("ab"), "12ab"},
		{"bytes of a fixed width", wide, "12"},
		{"a whole number", number(pipeline.Int64Column, uint64(minus)), "12-7"},
		{"days", number(pipeline.DateColumn, 31), "1231"},
		{"microseconds", number(pipeline.TimestampColumn, 5_000_000), "125000000"},
		{"a whole float", number(pipeline.DoubleColumn, math.Float64bits(9)), "129"},
		{"a float", number(pipeline.DoubleColumn, math.Float64bits(-.5)), "12-0.5"},
		{"a short float", number(pipeline.FloatColumn, uint64(math.Float32bits(2.25))), "122.25"},
		{"no number", number(pipeline.DoubleColumn, math.Float64bits(math.NaN())), "12"},
		{"a truth", number(pipeline.BoolColumn, 1), "12"},
	} {
		if got := string(appendValue([]byte("12"), &c.c, 0)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTimes: dates and times in days, seconds, milliseconds and microseconds, as text, and of years alone. 2021-03-04 is day 18,690.
func TestTimes(t *testing.T) {
	text := func(s string) pipeline.Column {
		c := pipeline.Column{Kind: pipeline.BytesColumn, Valid: []bool{true}}
		c.Bytes.Append([]byte(s))
		return c
	}
	number := func(n int64) pipeline.Column {
		return pipeline.Column{Kind: pipeline.Int64Column, Valid: []bool{true}, Fixed: []uint64{uint64(n)}}
	}
	const day, second = 18_690, 3*3600 + 2*60 + 1 // 03:02:01
	for _, c := range []struct {
		name, column string
		o            Options
		c            pipeline.Column
		want         string
	}{
		{"days", Day, Options{Times: map[string]int64{Day: 1}}, number(day), "2021-03-04"},
		{"seconds", moment, Options{Times: map[string]int64{moment: 86_400}}, number(day*86_400 + second), "2021-03-04 03:02:01"},
		{"milliseconds", moment, Options{Times: map[string]int64{moment: 86_400_000}}, number((day*86_400+second)*1000 + 999), "2021-03-04 03:02:01"},
		{"microseconds", moment, Options{Times: map[string]int64{moment: microsecondsADay}}, number((day*86_400 + second) * 1_000_000), "2021-03-04 03:02:01"},
		{"seconds of a date", Day, Options{Times: map[string]int64{Day: 86_400}}, number(day*86_400 + second), "2021-03-04"},
		{"the year of days", Day, Options{Years: true, Times: map[string]int64{Day: 1}}, number(day), "2021-01-01"},
		{"no time with the year", moment, Options{Years: true, Times: map[string]int64{moment: 86_400}}, number(day * 86_400), ""},
		{"text", Day, Options{}, text("2021-03-04"), "2021-03-04"},
		{"the year of text", Day, Options{Years: true}, text("2021-03-04"), "2021-01-01"},
		{"a year as text", Day, Options{Years: true}, text("2021"), "2021-01-01"},
		{"text that has no year", Day, Options{Years: true}, text("202"), ""},
		{"text that was not moved", Day, Options{Moved: true}, text("2021-03-04"), ""},
		{"days that were moved", Day, Options{Moved: true, Times: map[string]int64{Day: 1}}, number(day), "2021-03-04"},
	} {
		if got := string(NewTables(c.o).time(nil, c.column, &c.c, 0)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSnippet: sixty characters on either side, not bytes, in one line; fewer at the ends of a note.
func TestSnippet(t *testing.T) {
	side := func(n int, c string) string { return strings.Repeat(c, n) }
	for _, c := range []struct{ before, after, want string }{
		{side(61, "á"), side(61, "é"), side(60, "á") + "[P]" + side(60, "é")},
		{side(60, "á"), side(60, "é"), side(60, "á") + "[P]" + side(60, "é")},
		{side(59, "á"), "", side(59, "á") + "[P]"},
		{"Sra.\n ", "\t,\r\nayer", "Sra. [P] , ayer"},
	} {
		text := c.before + "[P]" + c.after
		if got := string(snippet([]byte(text), len(c.before), len(c.before)+3)); got != c.want {
			t.Errorf("%q: %q, want %q", text, got, c.want)
		}
	}
}

// TestMissing: a column that is not there, has no value, or ends before the note is empty.
func TestMissing(t *testing.T) {
	b := batch()
	for _, c := range []struct {
		column string
		note   int
		want   string
	}{{Patient, 0, "4637"}, {Patient, 1, ""}, {"visit_occurrence_id", 0, ""}, {"visit_detail_id", 0, ""}} {
		if got := string(NewTables(Options{}).column(nil, c.column, b, c.note)); got != c.want {
			t.Errorf("%s of note %d: %q, want %q", c.column, c.note, got, c.want)
		}
	}
	tables := NewTables(Options{})
	for id, want := range map[string]string{"12": "12", "12.0": "12", "-3": "-3", "12.5": "", "": "", "1e3": "", "9223372036854775807": "9223372036854775807", "9223372036854775808": ""} {
		if got, ok := tables.id([]byte(id), Patient); ok != (want != "") || ok && string(got) != want {
			t.Errorf("id %q: %q, %v, want %q", id, got, ok, want)
		}
	}
}
