package flow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
)

// patients are those of the archive. The first one objects; the others are near:
// one digit more, fewer, wrong, or two exchanged.
var patients = []int64{4711230, 47112300, 471123, 4711231, 4711320, 4711229, 14711230}

// columnsOf are the types in which writers put ids of patients: whole numbers with
// nulls as pandas has them, its Int64, text, text with a dictionary, decimals.
var columnsOf = map[string]struct {
	node  parquet.Node
	value func(id int64) any
}{
	"float64":  {parquet.Optional(parquet.Leaf(parquet.DoubleType)), func(id int64) any { return float64(id) }},
	"int64":    {parquet.Optional(parquet.Int(64)), func(id int64) any { return id }},
	"string":   {parquet.Optional(parquet.String()), func(id int64) any { return fmt.Sprint(id) }},
	"category": {parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)), func(id int64) any { return fmt.Sprint(id) }},
	"decimal":  {parquet.Optional(parquet.Decimal(2, 18, parquet.Int64Type)), func(id int64) any { return 100 * id }},
}

// spellings are those of the first patient. wide ones have zeros in front, which
// count where the archive has text.
var spellings = []struct {
	id   string
	wide bool
}{
	{"4711230", false}, {" 4711230 ", false}, {"4711230.0", false}, {"4711230.00", false}, {"4711230.", false}, {"4711230,0", false}, {"+4711230", false},
	{"04711230", true}, {"0004711230", true}, {"004711230.0", true}, {"+04711230", true},
	{"'4711230'", false}, {"'4711230", false}, {"“4711230”", false}, {"«4711230»", false}, {"`4711230`", false}, {"=\"4711230\"", false}, {"(4711230)", false},
	{"\ufeff4711230", false}, {"4711230\ufeff", false}, {"\u00ef\u00bb\u00bf4711230", false}, {"47\x0011230", false}, {"4711230\x00", false},
	{"4711\u200b230", false}, {"\u200b4711230", false}, {"4711230\u200d", false}, {"47\u206011230", false}, {"47\u00ad11230", false}, {"\u202a4711230\u202c", false}, {"4711230\ufe0f", false},
	{"４７１１２３０", false}, {"４７１１２３０．０", false}, {"٤٧١١٢٣٠", false}, {"۴۷۱۱۲۳۰", false}, {"४७११२३०", false}, {"𝟒𝟕𝟏𝟏𝟐𝟑𝟎", false},
	{"4711\u00a0230", false}, {"4 711 230", false}, {"4711\u2009230", false}, {"4.71123e+06", false}, {"4.711230E6", false}, {"4711230\t", false},
}

// TestSpellings: who objects is found in every spelling and type of column, nobody
// else is, and what does not match is named. The same holds for known people, keys
// and counts of patients, and for who was forgotten.
func TestSpellings(t *testing.T) {
	if len(spellings) < 40 {
		t.Fatal("fewer than 40 spellings")
	}
	dir := t.TempDir()
	for name, column := range columnsOf {
		archive := scanned(t, filepath.Join(dir, name+".parquet"), column.node, column.value)
		for n, s := range spellings {
			want := !s.wide || !strings.HasPrefix(name, "string") && name != "category"
			list := filepath.Join(dir, fmt.Sprintf("%s-%d.csv", name, n))
			if err := os.WriteFile(list, []byte("patient_id,surname\n\""+strings.ReplaceAll(s.id, `"`, `""`)+"\",Serrallonga\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := listConfig(t, list)
			o, err := ReadObjections(c)
			if err != nil {
				t.Fatalf("%s, %q: %v", name, s.id, err)
			}
			forgotten, err := audit.ReadForgotten(durable.OS, dir)
			if err != nil {
				t.Fatal(err)
			}
			forgotten.Set.Add(patientid.AppendText(nil, []byte(s.id)), 0)
			table, err := OpenPeople(listed(c), filepath.Join(dir, "out"))
			if err != nil {
				t.Fatal(err)
			}
			if err := o.LeaveOut(t.Context(), archive); err != nil {
				t.Fatal(err)
			}
			if got := o.Rows[0].Notes == 1 && len(o.Unmatched()) == 0; got != want || !want && len(o.Unmatched()) != 1 {
				t.Errorf("%s, %q: %d notes left out, %d objections unmatched", name, s.id, o.Rows[0].Notes, len(o.Unmatched()))
			}
			finder := people.NewFinder(table.Table)
			row := 0
			err = archive.EachPatient(t.Context(), &archive.Units[0], func(_ int64, patient []byte) {
				mine := want && row == 0
				found, err := finder.Find(nil, patient, []byte("acude Serrallonga"), pipeline.Spanish)
				if err != nil {
					t.Fatal(err)
				}
				same := patientid.Same(patient, patientid.AppendText(nil, []byte(s.id)))
				if o.listed.Has(patient) != mine || forgotten.Set.Has(patient) != mine || same != mine || (len(found) > 0) != mine {
					t.Errorf("%s, %q, row %d: left out %v, forgotten %v, the same %v, known %v", name, s.id, row,
						o.listed.Has(patient), forgotten.Set.Has(patient), same, len(found) > 0)
				}
				// Keys and counts: the form of the archive is one, whatever its type.
				if row < len(patients) && string(patientid.Key(patient)) != fmt.Sprint(patients[row]) {
					t.Errorf("%s, row %d: key %q", name, row, patientid.Key(patient))
				}
				row++
			})
			if err != nil || row != len(patients)+1 {
				t.Fatal(row, err)
			}
			if err := table.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestListTypes: lists of every type are of the same patients.
func TestListTypes(t *testing.T) {
	dir := t.TempDir()
	text := columnsOf["string"]
	archive := scanned(t, filepath.Join(dir, "a.parquet"), text.node, func(id int64) any { return fmt.Sprintf("%010d", id) })
	for name, column := range columnsOf {
		list := filepath.Join(dir, "list-"+name+".parquet")
		writeColumns(t, list, column.node, column.value, patients[:1])
		o, err := ReadObjections(listConfig(t, list))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.LeaveOut(t.Context(), archive); err != nil {
			t.Fatal(err)
		}
		number := name != "string" && name != "category" // a number has no width
		if (o.Rows[0].Notes == 1) != number || (len(o.Unmatched()) > 0) == number {
			t.Errorf("%s: %d notes, %d unmatched", name, o.Rows[0].Notes, len(o.Unmatched()))
		}
	}
}

// TestListHeader: a list without a header keeps its first patient, and of a first
// line that may be one nobody is told that it matches nobody.
func TestListHeader(t *testing.T) {
	dir := t.TempDir()
	text := columnsOf["string"]
	archive := scanned(t, filepath.Join(dir, "a.parquet"), text.node, text.value)
	for _, c := range []struct {
		list      string
		rows      []int64
		unmatched int
	}{
		{"4711230\n471123\n", []int64{1, 2}, 0}, {"patient_id\n4711230\n", []int64{2}, 0}, {"NHC\n4711230\n", []int64{2}, 0}, {"historia\n4711230\n", []int64{1, 2}, 0},
		{"\ufeffpatient_id\r\n4711230\r\n\r\n", []int64{2}, 0}, {"9999\n4711230\n", []int64{1, 2}, 1}, {"patient_id,why\n4711230,\n,moved\n", []int64{2, 3}, 1},
	} {
		list := filepath.Join(dir, "list.csv")
		if err := os.WriteFile(list, []byte(c.list), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := ReadObjections(listConfig(t, list))
		if err != nil {
			t.Fatalf("%q: %v", c.list, err)
		}
		var rows []int64
		for _, x := range o.Rows {
			rows = append(rows, x.Row)
		}
		if err := o.LeaveOut(t.Context(), archive); err != nil || !slices.Equal(rows, c.rows) || len(o.Unmatched()) != c.unmatched {
			t.Errorf("%q: rows %d, %d unmatched, %v", c.list, rows, len(o.Unmatched()), err)
		}
	}
	list := filepath.Join(dir, "two.csv")
	if err := os.WriteFile(list, []byte("4711230,Serrallonga\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadObjections(listConfig(t, list)); err == nil || strings.Contains(err.Error(), "Serrallonga") || strings.Contains(err.Error(), "4711230") {
		t.Errorf("two columns without a header: %v", err)
	}
}

// TestObjectionsNameUnits: a unit is another one without its notes, and only then.
func TestObjectionsNameUnits(t *testing.T) {
	dir := t.TempDir()
	number := columnsOf["int64"]
	archive := scanned(t, filepath.Join(dir, "a.parquet"), number.node, number.value)
	without := func(ids string) string {
		list := filepath.Join(dir, "list.csv")
		if err := os.WriteFile(list, []byte("patient_id\n"+ids), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := ReadObjections(listConfig(t, list))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.LeaveOut(context.Background(), archive); err != nil {
			t.Fatal(err)
		}
		return archive.Units[0].Without
	}
	nobody, other := without(""), without("8888888\n")
	first, twice, second := without("4711230\n"), without("4711230\n4711230.0\n"), without("471123\n")
	if nobody != "" || first == "" || first != twice || first == second || first == other || other == "" {
		t.Errorf("nobody %q, nobody here but the note of nobody %q, %q, %q, %q", nobody, other, first, twice, second)
	}
}

func listConfig(t *testing.T, list string) *option.Config {
	t.Helper()
	c, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	c.Read.Columns.Patient, c.People.Exclude = "nhc", list
	return c
}

// listed is the configuration with the list as a table of people.
func listed(c *option.Config) *option.Config {
	other := *c
	other.People.Table, other.People.Exclude = c.People.Exclude, ""
	return &other
}

// scanned is an archive of a note of each patient and one of nobody.
func scanned(t *testing.T, path string, node parquet.Node, value func(int64) any) *archive.Archive {
	t.Helper()
	writeColumns(t, path, node, value, patients)
	archive, err := archive.Scan(t.Context(), []string{path}, input.Options{PatientID: "nhc"}, nil)
	if err != nil || len(archive.Units) != 1 {
		t.Fatal(err)
	}
	return archive
}

func writeColumns(t *testing.T, path string, node parquet.Node, value func(int64) any, ids []int64) {
	t.Helper()
	schema := parquet.NewSchema("notes", parquet.Group{"nhc": node, "note_id": parquet.String(), "text": parquet.String()})
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(f, schema)
	put := func(id any, n int) {
		cell := parquet.ValueOf(id).Level(0, 1, 0)
		if id == nil {
			cell = parquet.NullValue().Level(0, 0, 0)
		}
		row := parquet.Row{cell, parquet.ValueOf(fmt.Sprint(n)).Level(0, 0, 1), parquet.ValueOf("refiere tos").Level(0, 0, 2)}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	for n, id := range ids {
		put(value(id), n)
	}
	if len(ids) > 1 {
		put(nil, len(ids))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
