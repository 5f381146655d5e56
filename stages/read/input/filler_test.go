package input

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
)

// row is a row of a table of text: values by field, "-" for null; numbers begin with #.
type row []string

func (r row) Field(k int) ([]byte, bool, bool) {
	text, number := strings.CutPrefix(r[k], "#")
	return []byte(text), number, text != "-"
}

func (row) Place() Place { return Place{Line: 7, Byte: 70, Cause: "a quote"} }

func TestFiller(t *testing.T) {
	o := Options{ID: []string{"a", "b"}, PatientID: "p", Date: "d", Pass: []string{"ward"}, MaxText: 9, BatchNotes: 5, BatchBytes: 12, Places: true}.WithDefaults()
	if got := o.Fields(); !slices.Equal(got, []string{"a", "b", "text", "p", "d", "ward"}) {
		t.Fatalf("%q", got)
	}
	f := NewFiller(&o)
	b := new(pipeline.Batch)
	f.Begin(b, 100)
	rows := []row{
		{"1", "x|y", "Tos", "ab-1", "2026", "UCI"},
		{"2", `\`, "-", "#12.0", "-", "-"},
		{"-", "z", "Fiebre alta", "-", "2026", "UCI"}, // too long
		{"4", "z", "a\x00b", "nan", "2026", "UCI"},
		{"5", "z", "a\xff", "#007", "2026", "UCI"},
	}
	for i, r := range rows {
		if full := f.Full(b); full {
			t.Fatalf("full behind %d rows", i)
		}
		f.Row(b, r, i != 9)
	}
	if !f.Full(b) {
		t.Error("five notes do not fill a batch")
	}
	f.Row(b, rows[0], false)
	f.End(b)
	for i, want := range []struct {
		id, text, patient string
		reason            pipeline.Reason
	}{
		{`1|x\|y`, "Tos", "AB-1", pipeline.Sound}, {`2|\\`, "", "=12", pipeline.NullText}, {"", "", "", pipeline.TooLong}, {"4|z", "a\x00b", "", pipeline.ControlText}, {"5|z", "a\xff", "=7", pipeline.BadEncoding}, {"", "", "", pipeline.BadRow},
	} {
		patients := b.ExtraNamed(PatientColumn)
		if string(b.ID.At(i)) != want.id && want.id != "" || string(b.Text.At(i)) != want.text || b.Reason[i] != want.reason || patients.Valid[i] != (want.patient != "") {
			t.Errorf("row %d: id %q, text %q, patient %q, %v, want %+v", i, b.ID.At(i), b.Text.At(i), patients.Bytes.At(i), b.Reason[i], want)
		}
	}
	ward, date := b.ExtraNamed("ward"), b.ExtraNamed(DateColumn)
	if !slices.Equal(ward.Valid, []bool{true, false, true, true, true, false}) || string(ward.Bytes.At(0)) != "UCI" || !slices.Equal(date.Valid, []bool{true, false, true, true, true, false}) || b.First != 100 {
		t.Errorf("ward %v, date %v", ward.Valid, date.Valid)
	}
	line, place, cause := b.ExtraNamed(PlaceColumns[0]), b.ExtraNamed(PlaceColumns[1]), b.ExtraNamed(PlaceColumns[2])
	if line.Fixed[3] != 7 || place.Fixed[3] != 70 || string(cause.Bytes.At(3)) != "a quote" || len(line.Fixed) != 6 {
		t.Errorf("%v %v", line.Fixed, place.Fixed)
	}
	bytesFull := new(pipeline.Batch)
	f.Begin(bytesFull, 0)
	for range 3 {
		f.Row(bytesFull, row{"1", "2", "Tos y", "-", "-", "-"}, true)
	}
	if !f.Full(bytesFull) {
		t.Error("15 bytes of 12 do not fill a batch")
	}
}

func TestSettle(t *testing.T) {
	o := Options{}.WithDefaults()
	for columns, want := range map[string]string{"text note_id": "1 0", "id text": "0 1", "note_id id text": "0 2"} {
		at, err := o.Settle("x", strings.Fields(columns))
		if err != nil || strings.Trim(strings.Join(strings.Fields(strings.Trim(sprint(at), "[]")), " "), " ") != want {
			t.Errorf("%s: %v, %v", columns, at, err)
		}
	}
	for columns, want := range map[string]string{"texto id": `x: column "text" is missing; the file has: texto, id (did you mean "texto"?)`, "text": `x: column "note_id" is missing; the file has: text`, "tex\x1bt note_id": `\x1b`} {
		if _, err := o.Settle("x", strings.Fields(columns)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", columns, err, want)
		}
	}
	if o.MaxText != limit.NoteBytes || o.BatchBytes != limit.BatchBytes || o.BatchNotes != limit.BatchNotes || o.UnitNotes != UnitNotes || (Options{IDs: DropIDs}).WithDefaults().ID != nil {
		t.Errorf("%+v", o)
	}
	if err := (&Options{IDs: KeyIDs}).Check(); err == nil {
		t.Error("keyed ids without a key")
	}
	if err := (&Options{Opaque: true}).Check(); err == nil {
		t.Error("opaque folders without a key")
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	many := make([]string, 25)
	for i := range many {
		many[i] = "column" + string(rune('a'+i))
	}
	if got := MissingRemedy("zzzzzzzzzzzz", NameWork, many); !strings.Contains(got, "columnt and 5 more; ") || strings.Contains(got, "did you mean") {
		t.Error(got)
	}
	if OrderOf(true) != NotKept || OrderOf(false) != NameWork || PlainColumn("a b") != "a b" || PlainColumn("a\x1b") != `a\x1b` || len(PlainColumn(strings.Repeat("\x01", 300))) != MaxColumnName {
		t.Error("what is said of columns")
	}
	kept, used := Wanted{Name: "a", Kept: true}, Wanted{Name: "a"}
	if kept.Key() == used.Key() {
		t.Error("a column that is kept is one that is used")
	}
}

func sprint(at []int) string {
	var all []string
	for _, i := range at {
		all = append(all, string(rune('0'+i)))
	}
	return strings.Join(all, " ")
}

func TestPatientIDs(t *testing.T) {
	for _, c := range []struct {
		raw    bool
		id     string
		number bool
		want   string
	}{
		{false, "ab-1", false, "AB-1"}, {false, "12", true, "=12"}, {false, "a\x1fb", false, "A\x1fB"}, {false, "a\x1fnan\x1fb", false, "A\x1fB"}, {false, "nan", false, ""}, {true, "ab-1", false, "ab-1"}, {true, "12", true, "\x0012"},
	} {
		if got := string((&Options{RawPatients: c.raw}).Patient([]byte("x"), []byte(c.id), c.number)); got != "x"+c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestSoundness(t *testing.T) {
	for text, want := range map[string]pipeline.Reason{"": pipeline.Sound, "Tos": pipeline.Sound, "12345678901": pipeline.TooLong, "1234567890": pipeline.Sound, "ñandú ñ": pipeline.Sound, "abcdefgh\xff": pipeline.BadEncoding, "\xc3": pipeline.BadEncoding, "a\x00": pipeline.ControlText, "\ufffd": pipeline.Sound} {
		if got := Soundness([]byte(text), 10); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for id, want := range map[string]bool{"": false, "a": true, "a b": true, "ñ": true, "\xff": false, "a\n": false, "a\x7f": false, strings.Repeat("a", MaxID): true, strings.Repeat("a", MaxID+1): false} {
		if CleanID([]byte(id)) != want {
			t.Errorf("%.9q is a clean id: %t", id, !want)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, name := range Encodings() {
		if e, err := ParseEncoding(strings.ToUpper(name)); err != nil || e.String() != name {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	for name, want := range map[string]Encoding{"": DetectEncoding, "utf8": UTF8, "ISO-8859-1": Latin1, "ansi": Windows1252, "utf-16": UTF16LE} {
		if e, err := ParseEncoding(name); err != nil || e != want {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	if _, err := ParseEncoding("ebcdic"); err == nil {
		t.Error("an unknown encoding: no error")
	}
	for e, want := range map[Encoding][2]bool{UTF8: {false, false}, Latin1: {true, false}, Windows1252: {true, false}, UTF16LE: {false, true}, UTF16BE: {false, true}} {
		if e.OneByte() != want[0] || e.Wide() != want[1] {
			t.Errorf("%v", e)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		of          Error
		want, where string
	}{
		{Error{Path: "a", Cause: "is cut", Remedy: "mend it"}, "a: is cut; mend it", "is cut"}, {Error{Path: "a", Line: 2, Cause: "is cut", Remedy: "mend it"}, "a:2: is cut; mend it", "line 2: is cut"}, {Error{Path: "a", Line: 2, Column: 3, Cause: "is cut", Remedy: "mend it"}, "a:2:3: is cut; mend it", "line 2, column 3: is cut"},
	} {
		if c.of.Error() != c.want || c.of.Where() != c.where {
			t.Errorf("%s, %s", &c.of, c.of.Where())
		}
	}
	for err, want := range map[error]string{fs.ErrNotExist: "does not exist", fs.ErrPermission: "may not be read", fs.ErrClosed: "cannot be read", errChanged: "was written while it was read", errSpecial: "is no file"} {
		if got := Cause(err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
	for mode, want := range map[fs.FileMode]string{fs.ModeDir: "is a folder, not a file", fs.ModeNamedPipe: "is a pipe, not a file", fs.ModeSocket: "is a socket, not a file", fs.ModeDevice: "is a device, not a file", fs.ModeIrregular: "is no file"} {
		if got := Special(mode); got != want {
			t.Errorf("%v: %s", mode, got)
		}
	}
}

func TestHashFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	var copied bytes.Buffer
	sum, id, err := HashFile(name, &copied, func() error { return nil })
	if err != nil || copied.String() != "abc" || sum[0] != 0xba || sum[31] != 0xad || id.Size != 3 || id.Inode == 0 || id.Modified == 0 { // FIPS 180
		t.Errorf("%x, %+v, %v", sum, id, err)
	}
	if _, _, err := HashFile(t.TempDir(), &copied, func() error { return nil }); err == nil {
		t.Error("a folder: no error")
	}
	if _, _, err := HashFile(name+"x", &copied, func() error { return nil }); err == nil {
		t.Error("no file: no error")
	}
}

// TestFullOfDocuments: documents fill a batch before their notes do.
func TestFullOfDocuments(t *testing.T) {
	o := Options{HasDocuments: true}.WithDefaults()
	f := NewFiller(&o)
	for _, tt := range []struct {
		extra []pipeline.Column
		want  bool
	}{
		{nil, false},
		{[]pipeline.Column{{Name: SourceColumn, Bytes: pipeline.Bytes{Data: make([]byte, maxBatchSource-1)}}}, false},
		{[]pipeline.Column{{Name: SourceColumn, Bytes: pipeline.Bytes{Data: make([]byte, maxBatchSource)}}}, true},
		{[]pipeline.Column{{Name: "ward", Bytes: pipeline.Bytes{Data: make([]byte, maxBatchSource)}}}, false},
	} {
		if got := f.Full(&pipeline.Batch{Extra: tt.extra}); got != tt.want {
			t.Errorf("%d columns: full %t", len(tt.extra), got)
		}
	}
}
