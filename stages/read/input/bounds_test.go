package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
)

// TestPlainBounds: parts of 255 bytes and paths of 2048 stay; what is longer ends in a hash, of 12 digits, and is cut between characters.
func TestPlainBounds(t *testing.T) {
	for _, c := range []struct{ part, begins string }{
		{strings.Repeat("a", 255), ""},
		{strings.Repeat("a", 256), strings.Repeat("a", 200) + "~"},
		{strings.Repeat("a", 199) + strings.Repeat("é", 40), strings.Repeat("a", 199) + "~"},
		{strings.Repeat("a", 198) + strings.Repeat("é", 40), strings.Repeat("a", 198) + "é~"},
	} {
		got := PlainPart(c.part)
		if c.begins == "" && got != c.part || c.begins != "" && (!strings.HasPrefix(got, c.begins) || len(got) != len(c.begins)+12) {
			t.Errorf("%d bytes: %q", len(c.part), got)
		}
	}
	for part, want := range map[string]string{"a\xffb": "a%FFb", "a\nb": "a%0Ab", "a\u202eb": "a%E2%80%AEb", "añ%\ufffd": "añ%\ufffd", "": ""} {
		if got := PlainPart(part); got != want {
			t.Errorf("%q: %q, want %q", part, got, want)
		}
	}
	whole := strings.Repeat(strings.Repeat("a", 127)+"/", 15) + strings.Repeat("a", 128) // 15·128 + 128
	if got := PlainPath(whole); got != whole {
		t.Errorf("a path of %d bytes changes", len(whole))
	}
	if got := PlainPath(whole + "a"); len(got) != 127+len("/deep~")+12 || !strings.HasPrefix(got, whole[:128]+"deep~") {
		t.Errorf("a path of %d bytes: %q", len(whole)+1, got)
	}
	for _, c := range []struct {
		s    string
		most int
		want bool
	}{{"abc", 3, true}, {"abcd", 3, false}, {"a\xff", 3, false}, {"a\tb", 3, false}, {"", 0, true}} {
		if got := PlainName(c.s, c.most); got != c.want {
			t.Errorf("%q of at most %d: %v", c.s, c.most, got)
		}
	}
	if got := PlainColumn("a\x1bñ"); got != `a\x1b\u00f1` {
		t.Errorf("%q", got)
	}
	if got := PlainColumn(strings.Repeat("a", MaxColumnName+1)); len(got) != MaxColumnName {
		t.Errorf("a name of %d bytes", len(got))
	}
}

// TestMissingRemedy: the nearest column is proposed if half of the name's letters are right; of many columns twenty are listed.
func TestMissingRemedy(t *testing.T) {
	var many []string
	for k := range 22 {
		many = append(many, fmt.Sprint("c", k))
	}
	for _, c := range []struct {
		name string
		have []string
		want string
	}{
		{"note_id", []string{"text", "NOTE_IDS"}, `the file has: text, NOTE_IDS (did you mean "NOTE_IDS"?); do it`},
		{"abcd", []string{"abxy"}, `the file has: abxy (did you mean "abxy"?); do it`},
		{"abcd", []string{"axyz"}, "the file has: axyz; do it"},
		{"abcd", []string{"abcx", "abcd "}, `the file has: abcx, abcd  (did you mean "abcx"?); do it`},
		{"zzzzzz", many[:20], "the file has: " + strings.Join(many[:20], ", ") + "; do it"},
		{"zzzzzz", many, "the file has: " + strings.Join(many[:20], ", ") + " and 2 more; do it"},
	} {
		if got := MissingRemedy(c.name, "do it", c.have); got != c.want {
			t.Errorf("%s among %v: %q, want %q", c.name, c.have, got, c.want)
		}
	}
}

// TestIsHeader: what may be the name of a column.
func TestIsHeader(t *testing.T) {
	for cell, want := range map[string]bool{
		"a": true, "_id": true, "1a": false, "": false, "a b c d e": true, "a b c d e f": false, "h1234": true, "h12345": false,
		"x" + strings.Repeat("y", 39): true, "x" + strings.Repeat("y", 40): false, "a, b": false, "ñ": true,
	} {
		if got := IsHeader(cell); got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
	if OrderOf(true) != NotKept || OrderOf(false) != NameWork {
		t.Error("the order of a column that is kept is not that of another")
	}
}

// TestErrorsSay has each form of an error: with a line, a column, or the whole file.
func TestErrorsSay(t *testing.T) {
	for _, c := range []struct {
		e           Error
		says, where string
	}{
		{Error{Path: "f", Cause: "is odd", Remedy: "mend it"}, "f: is odd; mend it", "is odd"},
		{Error{Path: "f", Line: 1, Cause: "is odd", Remedy: "mend it"}, "f:1: is odd; mend it", "line 1: is odd"},
		{Error{Path: "f", Line: 2, Column: 1, Cause: "is odd", Remedy: "mend it"}, "f:2:1: is odd; mend it", "line 2, column 1: is odd"},
	} {
		if c.e.Error() != c.says || c.e.Where() != c.where {
			t.Errorf("%q, %q, want %q, %q", c.e.Error(), c.e.Where(), c.says, c.where)
		}
	}
	for want, err := range map[string]error{"does not exist": fs.ErrNotExist, "may not be read": &fs.PathError{Err: fs.ErrPermission}, "cannot be read": io.ErrUnexpectedEOF, errChanged.Error(): errChanged} {
		if got := Cause(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestFull: a batch is full at its bound and not before.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		notes, bytes int
		want         bool
	}{{0, 0, false}, {limit.BatchNotes - 1, 0, false}, {limit.BatchNotes, 0, true}, {1, limit.BatchBytes - 1, false}, {1, limit.BatchBytes, true}} {
		b := new(pipeline.Batch)
		for range c.notes {
			b.Text.End()
		}
		b.Reason = make([]pipeline.Reason, c.notes)
		b.Text.Data = make([]byte, c.bytes)
		o := Options{}.WithDefaults()
		f := NewFiller(&o)
		if Full(b) != c.want || f.Full(b) != c.want {
			t.Errorf("%d notes of %d bytes: %v, of a filler %v, want %v", c.notes, c.bytes, Full(b), f.Full(b), c.want)
		}
	}
	some := new(pipeline.Batch)
	some.Text.End()
	some.Reason = make([]pipeline.Reason, 1)
	other := errors.New("other")
	for _, c := range []struct {
		b         *pipeline.Batch
		err, want error
	}{{some, io.EOF, nil}, {new(pipeline.Batch), io.EOF, io.EOF}, {some, other, other}} {
		if got := Ended(c.b, c.err); got != c.want {
			t.Errorf("%d notes and then %v: %v", c.b.Len(), c.err, got)
		}
	}
}

// TestOptionsAsked: what options need a key, and which columns they name.
func TestOptionsAsked(t *testing.T) {
	for _, c := range []struct {
		o    Options
		good bool
	}{{Options{}, true}, {Options{IDs: KeyIDs}, false}, {Options{IDs: DropIDs}, true}, {Options{Opaque: true}, false}} {
		if err := c.o.Check(); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	o := Options{PatientID: "nhc", Date: "day", Pass: []string{"sex"}}.WithDefaults()
	if got := o.Fields(); !slices.Equal(got, []string{"note_id", "text", "nhc", "day", "sex"}) {
		t.Errorf("fields %v", got)
	}
	var keys []string
	for _, x := range o.Extras() {
		keys = append(keys, x.Key()+"/"+x.As)
	}
	if !slices.Equal(keys, []string{"used nhc/patient_id", "used day/date", "kept sex/sex"}) {
		t.Errorf("columns %v", keys)
	}
	if o = (Options{IDs: DropIDs, MaxText: 3}).WithDefaults(); len(o.ID) != 0 || o.MaxText != 3 || o.UnitNotes != UnitNotes {
		t.Errorf("%+v", o)
	}
}
