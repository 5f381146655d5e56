package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// archiveOf writes files, by path, into a folder. All notes are invented.
func archiveOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rows reads every unit of an archive: id, text, reason, and the kept columns.
func rows(a *Archive) (all []string, err error) {
	for i := range a.Units {
		src, err := a.Open(&a.Units[i])
		if err != nil {
			return nil, err
		}
		at := a.Units[i].First
		var b pipeline.Batch
		for {
			b.Reset()
			if err = src.Next(&b); err != nil {
				break
			}
			if b.First != at {
				return nil, fmt.Errorf("batch begins at row %d, want %d", b.First, at)
			}
			at += int64(b.Len())
			for k := range b.Len() {
				row := fmt.Sprintf("%s: %s", b.ID.At(k), b.Text.At(k))
				if b.Reason[k] != pipeline.Sound {
					row = fmt.Sprintf("%s! %v", b.ID.At(k), b.Reason[k])
				}
				for _, c := range b.Extra {
					if c.Valid[k] && !slices.Contains(input.PlaceColumns, c.Name) {
						row += fmt.Sprintf(" %s=%s", c.Name, c.Bytes.At(k))
					}
				}
				all = append(all, row)
			}
		}
		if err := errors.Join(src.Close()); err != nil {
			return nil, err
		}
		if damage, ok := errors.AsType[*commit.DamageError](err); ok {
			return all, damage
		}
		if at != a.Units[i].First+a.Units[i].Rows {
			return nil, fmt.Errorf("unit of %d rows gave %d", a.Units[i].Rows, at-a.Units[i].First)
		}
	}
	return all, nil
}

func TestTextArchives(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		o     input.Options
		want  []string
		bad   string
		pass  string
	}{
		{"semicolons", map[string]string{"a.csv": "note_id;text;year\n1;Acude Ana;2024\n2;\"dos\nlíneas; y \"\"más\"\"\";2025\n"},
			input.Options{Pass: []string{"year"}}, []string{"1: Acude Ana year=2024", "2: dos\nlíneas; y \"más\" year=2025"}, "", ""},
		{"rows that break the format", map[string]string{"a.csv": "note_id,text\n1,aguja de 5\" fina\n2,a,b\n3,\"a\" b\n4\n5,bien\n"},
			input.Options{}, []string{"1: aguja de 5\" fina", "! bad_row", "! bad_row", "! bad_row", "5: bien"}, "", ""},
		{"a quote that never closes", map[string]string{"a.csv": "note_id,text\n1,\"abierta\n2,b\n", "b.csv": "note_id,text\n3,c\n"},
			input.Options{}, []string{"3: c"}, "a.csv: line 2, column 3: the file ends inside this quoted field, which swallows 1 lines that look like rows", ""},
		{"ids of several columns", map[string]string{"a.tsv": "c\tp\tn\ttext\n7\t1\t2\tnota\n"},
			input.Options{ID: []string{"c", "p", "n"}}, []string{"7|1|2: nota"}, "", ""},
		{"objects", map[string]string{"a.jsonl": "{\"note_id\":\"1\",\"text\":\"uno\",\"x\":[1,2]}\n\n{\"note_id\":2,\"text\":null}\n{\"note_id\":3}\n{broken\n{\"note_id\":\"4\",\"text\":\"a\\ud800\"}\n{\"note_id\":null,\"text\":\"x\"}\n"},
			input.Options{Pass: []string{"x"}}, []string{"1: uno x=[1,2]", "2! null_text", "3! null_text", "! bad_row", "4! bad_encoding", "! null_id"}, "", ""},
		{"id for note_id", map[string]string{"a.csv": "id,text\n1,a\n"}, input.Options{}, []string{"1: a"}, "", ""},
		{"id for note_id in objects", map[string]string{"a.jsonl": "{\"id\":7,\"text\":\"a\"}\n{\"id\":8,\"text\":\"b\"}"}, input.Options{}, []string{"7: a", "8: b"}, "", ""},
		{"an array", map[string]string{"a.json": "[{\"note_id\":\"1\",\"text\":\"uno\"},\n{\"note_id\":\"2\",\"text\":\"dos\"}]"},
			input.Options{}, []string{"1: uno", "2: dos"}, "", ""},
		{"a file a note", map[string]string{"2024/b.txt": "\ufeffsegunda", "2024/a.txt": "primera\n", "c.txt": "tercera", "d.txt": "a\xf1o"},
			input.Options{}, []string{"c: tercera", "d: año", "2024/a: primera\n", "2024/b: segunda"}, "", ""},
		{"a dump as .txt", map[string]string{"a.txt": "1|2|3|uno\n4|5|6|dos\n"}, input.Options{}, []string{"1|2|3: uno", "4|5|6: dos"}, "", ""},
		{"what lies beside", map[string]string{"a.csv": "note_id,text\n1,a\n", "LEEME.txt": "Exportado el lunes", "b.md": "x", "a.csv.sha256": "", "_SUCCESS": "", "._a.csv": "", ".a.csv.crc": ""},
			input.Options{}, []string{"1: a"}, "", "LEEME.txt a.csv.sha256 b.md"},
		{"what is hidden", map[string]string{"a.csv": "note_id,text\n1,a\n", "_b.csv": "note_id,text\n2,b\n", ".c.parquet": "x"},
			input.Options{}, []string{"1: a"}, "", ".c.parquet _b.csv"},
		{"what lies in hidden folders", map[string]string{"a.csv": "note_id,text\n1,a\n", "_b/c.csv": "note_id,text\n2,b\n", "d/.e/f/g.parquet": "x", "_log/h.txt": "x"},
			input.Options{}, []string{"1: a"}, "", "_b/c.csv d/.e/f/g.parquet"},
		{"hidden alone", map[string]string{"_b.csv": "note_id,text\n2,b\n"}, input.Options{}, nil, "", ""},
		{"what could be notes", map[string]string{"a.csv": "note_id,text\n1,a\n", "nota.txt": "una nota"},
			input.Options{}, []string{"1: a"}, "nota.txt: is of another format (txt) than the archive", ""},
		{"a broken file of Parquet", map[string]string{"a.csv": "note_id,text\n1,a\n", "b.parquet": "PAR1 and no footer"},
			input.Options{}, []string{"1: a"}, "b.parquet: is of another format (parquet) than the archive", ""},
		{"what nobody knows", map[string]string{"a.csv": "note_id,text\n1,a\n", "b.xlsx": "x"},
			input.Options{}, []string{"1: a"}, "b.xlsx: is of a format that velum does not read", ""},
		{"what somebody has decided", map[string]string{"a.csv": "note_id,text\n1,a\n", "b.xlsx": "x", "c.jsonl": "{}"},
			input.Options{Format: "csv"}, []string{"1: a"}, "", "b.xlsx c.jsonl"},
		{"format by name", map[string]string{"a.txt": "note_id|text\n1|a\n"}, input.Options{Format: "csv"}, nil, "", "a.txt"},
		{"another column", map[string]string{"a.csv": "note_id,text\n1,a\n", "b.csv": "note_id,texto\n2,b\n"}, input.Options{}, []string{"1: a"}, "b.csv: column \"text\" is missing; the file has: note_id, texto (did you mean \"texto\"?); name the column of the text with --text-column, or in read.columns.text; velum init finds it", ""},
		{"a table of columns", map[string]string{"a.json": `{"note_id":{"0":"a","1":"b"},"text":{"0":"uno","1":"dos"}}`}, input.Options{}, []string{"! bad_row"}, "", ""},
		{"a text that is a list", map[string]string{"a.jsonl": "{\"note_id\":\"1\",\"text\":\"uno\"}\n{\"note_id\":\"2\",\"text\":[\"dos\"]}\n"}, input.Options{}, []string{"1: uno", "! bad_row"}, "", ""},
		{"an index of pandas", map[string]string{"a.csv": "note_id,text\n1,a\n", "b.csv": ",note_id,texto libre\n0,2,b\n"}, input.Options{}, []string{"1: a"}, "b.csv: column \"text\" is missing; the file has: note_id, texto libre; name the column of the text with --text-column, or in read.columns.text; velum init finds it", ""},
		{"keyed and dropped ids", map[string]string{"a.csv": "note_id,text\n1,a\n,b\n"}, input.Options{}, []string{"1: a", "! null_id"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := Scan(context.Background(), []string{archiveOf(t, tt.files)}, tt.o, nil)
			if tt.want == nil {
				if err == nil || !strings.Contains(err.Error(), "no files of notes") {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := rows(a)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(tt.want))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v\n got %q\nwant %q", err, got, want)
			}
			bad, passed := "", []string(nil)
			for _, b := range a.Bad {
				bad += b.Input + ": " + b.Cause
			}
			for _, b := range a.Passed {
				passed = append(passed, b.Input)
			}
			if bad != tt.bad {
				t.Errorf("bad: %q, want %q", bad, tt.bad)
			}
			if got := strings.Join(passed, " "); got != tt.pass {
				t.Errorf("passed over: %q, want %q", got, tt.pass)
			}
		})
	}
}

// TestBrokenRows: of every row it is known where it stands, and of one that breaks its
// format why. Rows that an open quote swallows are rows, all of them broken.
func TestBrokenRows(t *testing.T) {
	for _, tt := range []struct {
		name, file, content string
		want                []string
	}{
		{"an open quote swallows five rows", "a.csv", "note_id,text,day\n1,tos,lunes\n2,\"abierta,martes\n3,c,jueves\n4,d,jueves\n5,fiebre, y tos,sábado\n6,f,domingo\n7,dice \"no\",lunes\n8,bien,martes\n", []string{
			"2:17 ", "3:29 line 8, column 9: text behind a closing quote; an open quote in line 3 swallows 5 lines that look like rows",
			"4:47 swallowed by an open quote in line 3", "5:58 swallowed by an open quote in line 3", "6:69 swallowed by an open quote in line 3",
			"7:93 swallowed by an open quote in line 3", "8:105 swallowed by an open quote in line 3", "9:123 "}},
		{"a note of several lines swallows none", "a.csv", "note_id,text\n1,\"uno, y dos\n\ntres, cuatro\" x\n2,b\n", []string{
			"2:13 line 4, column 14: text behind a closing quote", "5:44 "}},
		{"fields", "a.csv", "note_id;text\r\n1;a;b\r\n\r\n2;b\r\n", []string{"2:14 line 2, column 1: row of 3 fields, the header has 2", "4:23 "}},
		{"Latin-1", "a.csv", "note_id,text\n1,a\xf1o\n2\n", []string{"2:-1 ", "3:-1 line 3, column 1: row of 1 fields, the header has 2"}},
		{"objects", "a.jsonl", "\ufeff\n{\"note_id\":\"1\",\"text\":\"a\"}\n\n{\"note_id\":\"2\",\"text\":NaN}\n{\"note_id\":\"3\",\"text\":[]}\n", []string{
			"2:4 ", "4:32 line 4, column 23: not JSON", "5:59 its id or its text is an object or an array"}},
		{"an array", "a.json", "[\n{\"note_id\":\"1\",\"text\":\"a\"},\n{\"note_id\":\"2\",\n\"text\":b}]", []string{"2:-1 ", "3:-1 line 4, column 8: not JSON"}},
	} {
		for _, unit := range []int64{1, 2, 100} {
			a, err := Scan(t.Context(), []string{archiveOf(t, map[string]string{tt.file: tt.content})}, input.Options{UnitNotes: unit}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range a.Units {
				src, err := a.Open(&a.Units[i])
				if err != nil {
					t.Fatal(err)
				}
				var b pipeline.Batch
				for err == nil {
					for k := range b.Len() {
						line, at, cause := b.Extra[0].Fixed[k], b.Extra[1].Fixed[k], b.Extra[2].Bytes.At(k)
						if (len(cause) > 0) != (b.Reason[k] == pipeline.BadRow) {
							t.Errorf("%s: row %d is %v: %s", tt.name, len(got), b.Reason[k], cause)
						}
						got = append(got, fmt.Sprintf("%d:%d %s", line, int64(at), cause))
					}
					b.Reset()
					err = src.Next(&b)
				}
				if err := errors.Join(src.Close()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s, units of %d:\n got %q\nwant %q", tt.name, unit, got, tt.want)
			}
		}
	}
}

// What was given by name counts, whatever it is called.
func TestGivenFile(t *testing.T) {
	dir := archiveOf(t, map[string]string{"export": "note_id,text\n1,a\n", "nota.txt": "una nota"})
	a, err := Scan(context.Background(), []string{filepath.Join(dir, "export")}, input.Options{Format: "csv"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rows(a); err != nil || !slices.Equal(got, []string{"1: a"}) {
		t.Errorf("%q %v", got, err)
	}
	if a, err = Scan(context.Background(), []string{filepath.Join(dir, "nota.txt")}, input.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := rows(a); err != nil || !slices.Equal(got, []string{"nota: una nota"}) {
		t.Errorf("%q %v", got, err)
	}
}

// However a table is cut into units, its notes are the same.
func TestUnitsOfTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringOfN(rapid.RuneFrom([]rune("añ,;\"\n\r ")), 0, 8, -1)
		texts := rapid.SliceOfN(field, 1, 20).Draw(t, "texts")
		var csv, json strings.Builder
		csv.WriteString("note_id,text\n")
		for i, text := range texts {
			fmt.Fprintf(&csv, "%d,\"%s\"\n", i, strings.ReplaceAll(text, `"`, `""`))
			fmt.Fprintf(&json, "{\"note_id\":\"%d\",\"text\":%q}\n", i, text)
		}
		dir, err := os.MkdirTemp("", "units")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		for name, content := range map[string]string{"a.csv": csv.String(), "a.jsonl": json.String()} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			o := input.Options{UnitNotes: int64(rapid.IntRange(1, 5).Draw(t, "unit")), BatchNotes: rapid.IntRange(1, 3).Draw(t, "batch")}
			a, err := Scan(context.Background(), []string{path}, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rows(a)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				if want := fmt.Sprintf("%d: %s", i, text); got[i] != want {
					t.Fatalf("%s, row %d: %q, want %q", name, i, got[i], want)
				}
			}
			if len(got) != len(texts) || len(a.Units) != (len(texts)+int(o.UnitNotes)-1)/int(o.UnitNotes) {
				t.Fatalf("%s: %d notes in %d units", name, len(got), len(a.Units))
			}
		}
	})
}

// A file that changes between planning and reading fails its unit as unread:
// no row of the new content goes out under the name of the old.
func TestTextThatChanges(t *testing.T) {
	for name, content := range map[string]string{
		"a.csv": "note_id,text\n1,aaa\n2,bbb\n", "a.jsonl": "{\"note_id\":\"1\",\"text\":\"aaa\"}\n", "a.txt": "aaa",
	} {
		dir := archiveOf(t, map[string]string{name: content})
		a, err := Scan(context.Background(), []string{dir}, input.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".new", []byte(strings.ReplaceAll(content, "aaa", "zzz")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		got, err := rows(a)
		damage, ok := errors.AsType[*commit.DamageError](err)
		if !ok || !damage.Unread || len(got) > 0 {
			t.Errorf("%s: %d notes, %v", name, len(got), err)
		}
	}
}

func FuzzTextArchive(f *testing.F) {
	f.Add("note_id,text\n1,a\n", ".csv")
	f.Add("[{\"note_id\":1,\"text\":\"a\"},{}]", ".json")
	f.Add("{\"note_id\":1,\"text\":\"a\"}\n[", ".jsonl")
	f.Add("\xff\xfea\x00", ".txt")
	f.Fuzz(func(t *testing.T, content, ext string) {
		if formOfExt[ext] == noForm || formOfExt[ext] == parquetForm {
			return
		}
		a, err := Scan(context.Background(), []string{archiveOf(t, map[string]string{"a" + ext: content})}, input.Options{UnitNotes: 2}, nil)
		if err != nil {
			return
		}
		if _, err := rows(a); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTextUnits: eight shards of one table of 300,000 notes have at most .16 of them each, no note is in two units, and
// none in none.
func TestTextUnits(t *testing.T) {
	const notes = 300_000
	for name, row := range map[string]string{"a.jsonl": `{"note_id":"%d","text":"%s"}` + "\n", "a.csv": "%d,\"%s\"\n", "a.dump": "%d|1|1|%s\n"} {
		var content strings.Builder
		if name == "a.csv" {
			content.WriteString("note_id,text\n")
		}
		for i := range notes {
			fmt.Fprintf(&content, row, i, strings.Repeat("tos y fiebre ", 6+i%5))
		}
		a, err := Scan(t.Context(), []string{archiveOf(t, map[string]string{name: content.String()})}, input.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, at, load := int64(0), a.Units[0].From, make([]int64, 8)
		for _, u := range a.Units {
			if u.First != next || u.From != at {
				t.Fatalf("%s: a unit begins at note %d, byte %d, the last one ended at %d, %d", name, u.First, u.From, next, at)
			}
			next, at = next+u.Rows, u.To
			load[slices.Index(load, slices.Min(load))] += u.Rows
		}
		if most := float64(slices.Max(load)) / notes; next != notes || most > .16 {
			t.Errorf("%s: %d notes in %d units, the largest of eight shards has %.3f", name, next, len(a.Units), most)
		}
		last := len(a.Units) - 1
		src, err := a.Open(&a.Units[last])
		if err != nil {
			t.Fatal(err)
		}
		var b pipeline.Batch
		if err := errors.Join(src.Next(&b), src.Close()); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(a.Units[last].First); name != "a.dump" && string(b.ID.At(0)) != want {
			t.Errorf("%s: the last unit begins with note %s, want %s", name, b.ID.At(0), want)
		}
	}
}

// TestEncodingIsPlanned: how a table is encoded is found by the scan and holds for all units, also in a process that only has the plan.
func TestEncodingIsPlanned(t *testing.T) {
	for name, file := range map[string]struct {
		content string
		want    input.Encoding
		units   int
	}{
		"latin.csv":   {"note_id,text\n1,se\xf1or\n2,raz\xf3n de a\xf1os\n3,t\xeda\n", input.Latin1, 1}, // nobody can begin in its middle
		"utf8.csv":    {"note_id,text\n1,señor\n2,razón de años\n3,tía\n", input.UTF8, 3},
		"latin.jsonl": {"{\"note_id\":\"1\",\"text\":\"se\xf1or\"}\n{\"note_id\":\"2\",\"text\":\"raz\xf3n de a\xf1os\"}\n{\"note_id\":\"3\",\"text\":\"t\xeda\"}\n", input.Latin1, 1},
	} {
		o := input.Options{UnitNotes: 1}
		a, err := Scan(context.Background(), []string{filepath.Join(archiveOf(t, map[string]string{name: file.content}), name)}, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := Planned(data, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		planned.Units = a.Units
		for _, a := range []*Archive{a, planned} {
			got, err := rows(a)
			if want := "1: señor, 2: razón de años, 3: tía"; err != nil || strings.Join(got, ", ") != want || a.Files[0].Encoding != file.want || len(a.Units) != file.units {
				t.Errorf("%s: %v, %v, %s in %d units", name, got, err, a.Files[0].Encoding, len(a.Units))
			}
		}
	}
}
