package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/pipeline/secret"
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

// TestDetect has what decides about an encoding: zero bytes in every other place; what is no UTF-8, one byte in twenty against it.
func TestDetect(t *testing.T) {
	bad := func(n int, c string) string { return strings.Repeat(c+" ", n) }
	for _, c := range []struct {
		text string
		want Encoding
	}{
		{"", UTF8}, {"abc", UTF8}, {"\xef\xbb\xbfa", UTF8}, {"\xff\xfea\x00", UTF16LE}, {"\xfe\xff\x00a", UTF16BE},
		{"a\x00b\x00", UTF16LE}, {"\x00a\x00b", UTF16BE},
		{"a\x00", UTF8},                 // too short to say
		{"a\x00\x00b", UTF8},            // in both places
		{"\x00\x00a\x00b\x00", UTF8},    // in both places, most in one
		{"\x00\x00\x00a\x00b", UTF8},    // the same of the other order
		{"a\x00b\x00cd", UTF8},          // in a third of all
		{"\x00a\x00bcd", UTF8},          // the same of the other order
		{"a\x00b\x00c\x00", UTF16LE},    // in more
		{"caf\xe9 a", Latin1},           // é
		{"caf\xe9 \xa0a", Latin1},       // a blank that no line breaks at, the first that is no control of Latin-1
		{"\x80 caf\xe9 a", Windows1252}, // €
		{"a \x9f \xe9", UTF8},           // Ÿ is in no text of ours: half of what is broken
		{"ñ " + bad(20, "\xe9"), Latin1}, {"ñ " + bad(19, "\xe9"), UTF8}, {"\ufffd " + bad(19, "\xe9"), UTF8},
		{"a \xfe " + bad(19, "\xe9"), Latin1}, {"a \xfe " + bad(18, "\xe9"), UTF8}, // þ: one of twenty, one of nineteen
		{"año " + strings.Repeat("x", 1<<16), UTF8}, {strings.Repeat("x", 1<<16-1) + "ñ", UTF8}, {strings.Repeat("x", 1<<17) + "\xe9 ", Latin1},
	} {
		if got, err := Detect(strings.NewReader(c.text)); err != nil || got != c.want {
			t.Errorf("%.20q of %d bytes: %v, %v, want %v", c.text, len(c.text), got, err, c.want)
		}
	}
	if _, err := Detect(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF))); err != io.ErrUnexpectedEOF {
		t.Errorf("a file that is cut: %v", err)
	}
}

// TestKeyedIDs: with a key an id is 32 hexadecimal digits, the same for the same id, or a whole number for a whole number.
func TestKeyedIDs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte("krT0Vd8sQz3mYw5BfHn2pLxJc7gR9aEu"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	named := func(o Options) (all []string) {
		b := new(pipeline.Batch)
		columns := make([]pipeline.Bytes, 1)
		for _, id := range []string{"A1", "A2", "A1", "17"} {
			b.Text.Append(nil)
			b.Reason = append(b.Reason, pipeline.Sound)
			columns[0].Append([]byte(id))
		}
		n := NewNaming(&o)
		n.Name(b, columns)
		for i := range b.Len() {
			all = append(all, string(b.ID.At(i)))
		}
		return all
	}
	digits := regexp.MustCompile("^[0-9a-f]{32}$")
	ids := named(Options{IDs: KeyIDs, Key: key})
	for _, id := range ids {
		if !digits.MatchString(id) {
			t.Errorf("an id is %q", id)
		}
	}
	if ids[0] != ids[2] || ids[0] == ids[1] || ids[0] == ids[3] {
		t.Errorf("A1, A2, A1 and 17 are %q", ids)
	}
	whole := named(Options{IDs: KeyIDs, Key: key, Numbers: true})
	if whole[0] != ids[0] || !regexp.MustCompile("^[0-9]{1,10}$").MatchString(whole[3]) || whole[3] == "17" {
		t.Errorf("with whole numbers A1 and 17 are %q and %q", whole[0], whole[3])
	}
	if plain := named(Options{Key: key}); !slices.Equal(plain, []string{"A1", "A2", "A1", "17"}) {
		t.Errorf("ids that are kept: %q", plain)
	}
}

// TestMissingField: what to do about a column depends on what it is wanted for.
func TestMissingField(t *testing.T) {
	o := &Options{ID: []string{"nota"}, Text: "texto", Pass: []string{"sexo"}, Date: "dia"}
	for name, order := range map[string]string{"nota": NameID, "texto": NameText, "sexo": NotKept, "dia": NameWork} {
		if err := MissingField("f.csv", name, o, nil); !strings.HasPrefix(err.Error(), `f.csv: column "`+name+`" is missing; `) || !strings.HasSuffix(err.Error(), "; "+order) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadyColumns: columns of another name, kind, type or number are made anew; the same keep their values.
func TestReadyColumns(t *testing.T) {
	is := []pipeline.Column{{Name: "a", Kind: pipeline.BytesColumn}, {Name: "b", Kind: pipeline.Int64Column}}
	for _, c := range []struct {
		name string
		want []pipeline.Column
		same bool
	}{
		{"the same", is, true},
		{"first name", []pipeline.Column{{Name: "x", Kind: pipeline.BytesColumn}, is[1]}, false},
		{"last name", []pipeline.Column{is[0], {Name: "x", Kind: pipeline.Int64Column}}, false},
		{"kind", []pipeline.Column{is[0], {Name: "b", Kind: pipeline.Int32Column}}, false},
		{"type", []pipeline.Column{is[0], {Name: "b", Kind: pipeline.Int64Column, Type: "time"}}, false},
		{"fewer", is[:1], false},
	} {
		b := new(pipeline.Batch)
		ReadyColumns(b, is)
		b.Extra[0].Valid = []bool{true}
		ReadyColumns(b, c.want)
		kept := len(b.Extra) > 0 && len(b.Extra[0].Valid) == 1
		if kept != c.same || len(b.Extra) != len(c.want) || b.Extra[len(b.Extra)-1].Name != c.want[len(c.want)-1].Name {
			t.Errorf("%s: values are kept: %v, %+v", c.name, kept, b.Extra)
		}
	}
}
