package text_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
)

func TestBrat(t *testing.T) {
	dir := putFiles(t, map[string]string{
		"b.txt":        "Vista la Núria 😀 a l'Hospital.\r\nFi",
		"b.ann":        "T2\tHOSPITAL 19 29\tl'Hospital\r\nT1\tPERSON 9 14\tNúria\r\n#1\tAnnotatorNotes T1\tx\r\n\r\nR1\tOf Arg1:T1 Arg2:T2\r\n",
		"a/x.txt":      "\ufeffPep Mas i Pou",
		"a/x.ann":      "T1\tPERSON 1 4;11 14\tPep Pou\n",
		"c.txt":        "",
		"d.txt":        "Ada i Pep",
		"d.ann":        "T1\tPERSON 0 9\tAda i Pep\nT2\tPERSON 0 3\tAda\nT3\tDATE 9 9\t\n",
		"e.txt":        "A\xffb",
		"e.ann":        "T1\tPERSON 0 1\tA\n",
		"f.ann":        "",
		".hidden.txt":  "x",
		"g.txt":        "Ada\nMas va venir",
		"g.ann":        "T1\tPERSON 0 7\tAda Mas\nT2\tDATE 8 10\tno",
		"annotation.x": "",
	})
	r, err := text.NewBrat(dir, text.Options{Notes: 2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a/x|\ufeff[PERSON:Pep Mas i Pou]",
		"b|Vista la [PERSON:Núria] 😀 a [HOSPITAL:l'Hospital].\r\nFi",
		"c|",
		"d|[PERSON:Ada i Pep]",
		"e!bad_encoding",
		"g|[PERSON:Ada\nMas] [DATE:va] venir",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantWarnings := text.Warnings{Discontinuous: 1, Overlapping: 1, Empty: 1, Ignored: 2, Mismatched: 1, NoAnnotation: 1, NoText: 1}
	if d := cmp.Diff(wantWarnings, r.Warnings()); d != "" {
		t.Error(d)
	}
}

func TestBratTextDir(t *testing.T) {
	texts := putFiles(t, map[string]string{"a.txt": "la Ada", "a.ann": "T1\tDATE 0 2\tla\n"})
	anns := putFiles(t, map[string]string{"a.ann": "T1\tPERSON 3 6\tAda\n"})
	r, err := text.NewBrat(anns, text.Options{TextDir: texts})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if err != nil || len(got) != 1 || got[0] != "a|la [PERSON:Ada]" {
		t.Error(got, err)
	}
}

var bratErrors = []struct{ name, ann, want string }{
	{"no tab", "T1 PERSON 0 3", "a.ann:1:14: no tab behind the number of the span"},
	{"no offsets", "\nT1\tPERSON\tAda", "a.ann:2:10: no offsets behind the label"},
	{"words for offsets", "T1\tPERSON zero three\tAda", "a.ann:1:11: offsets are not two whole numbers"},
	{"one offset", "T1\tPERSON 3\tAda", "a.ann:1:11: offsets are not two whole numbers"},
	{"negative", "T1\tPERSON -1 3\tAda", "a.ann:1:11: offsets are not two whole numbers"},
	{"huge", "T1\tPERSON 0 99999999999999999999\tAda", "a.ann:1:11: offsets are not two whole numbers"},
	{"outside", "T1\tPERSON 0 40\tAda", "a.ann:1:11: span outside the text of 9 units"},
	{"backwards", "T1\tPERSON 3 0\tAda", "a.ann:1:11: span ends before it starts"},
	{"unknown label", "T1\tSecretName 0 3\tAda", "a.ann:1:4: unknown label"},
}

func TestBratErrors(t *testing.T) {
	for _, tt := range bratErrors {
		t.Run(tt.name, func(t *testing.T) {
			dir := putFiles(t, map[string]string{"a.txt": "Ada  Lima", "a.ann": tt.ann})
			r, err := text.NewBrat(dir, text.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(r)
			checkInputError(t, err, tt.want)
		})
	}
}

// checkInputError wants an input.Error with that message at its end's begin,
// a remedy, and no word of the note.
func checkInputError(t *testing.T, err error, want string) {
	t.Helper()
	in, ok := errors.AsType[*input.Error](err)
	if schema, is := errors.AsType[*input.SchemaError](err); is {
		in, ok = &input.Error{Remedy: schema.Remedy}, true
	}
	if !ok {
		t.Fatalf("error is %T: %v", err, err)
	}
	if !strings.Contains(err.Error(), want) || in.Remedy == "" {
		t.Errorf("error %q, want %q", err, want)
	}
	for _, word := range []string{"Ada", "Lima", "SecretName", "zero"} {
		if strings.Contains(err.Error(), word) {
			t.Errorf("error quotes its input")
		}
	}
}

func TestBratFolderErrors(t *testing.T) {
	if _, err := text.NewBrat(filepath.Join(t.TempDir(), "none"), text.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	file := filepath.Join(putFiles(t, map[string]string{"a.txt": ""}), "a.txt")
	_, err := text.NewBrat(file, text.Options{})
	checkInputError(t, err, "not a folder")
}

func TestSkipUnknownAndTooLong(t *testing.T) {
	dir := putFiles(t, map[string]string{"a.txt": "Ada", "a.ann": "T1\tSecretName 0 3\tAda", "b.txt": strings.Repeat("x", 11)})
	r, err := text.NewBrat(dir, text.Options{SkipUnknown: true, MaxText: 10})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if d := cmp.Diff([]string{"a|Ada", "b!too_long"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if r.Warnings().Unknown != 1 {
		t.Error("unknown labels are not counted")
	}
}

// rewrite writes data to one file of dir, over what was there.
func rewrite(t interface{ Fatal(...any) }, dir, data string) string {
	return rewriteAs(t, dir, "in", data)
}

func rewriteAs(t interface{ Fatal(...any) }, dir, name, data string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func FuzzBrat(f *testing.F) {
	f.Add("T1\tPERSON 0 3\tAda\n", "Ada Lima")
	f.Add("T1\tPERSON 0 1;2 3\tAd\r\n#1\tx", "ŀ😀é\r\n")
	for _, tt := range bratErrors {
		f.Add(tt.ann, "Ada")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, ann, note string) {
		rewriteAs(t, dir, "a.txt", note)
		rewriteAs(t, dir, "a.ann", ann)
		r, err := text.NewBrat(dir, text.Options{SkipUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		checkSource(t, r)
	})
}

// checkSource reads src: it must end in EOF or an input.Error, and all spans
// must be sorted, disjoint, non-empty, inside their text and on characters.
func checkSource(t *testing.T, src pipeline.Source) {
	t.Helper()
	for {
		var b pipeline.Batch
		err := src.Next(&b)
		var in *input.Error
		if err == io.EOF || errors.As(err, &in) {
			return
		}
		if err != nil {
			t.Fatalf("error is %T", err)
		}
		if b.Len() == 0 || b.ID.Len() != b.Len() || b.Gold.Len() != b.Len() || len(b.Reason) != b.Len() {
			t.Fatal("columns of different lengths")
		}
		for i := range b.Len() {
			var x offset.Index
			x.Reset(b.Text.At(i), offset.CodePoints)
			end := int32(0)
			for _, s := range b.Gold.At(i) {
				_, ok1 := x.FromByte(int(s.Start))
				_, ok2 := x.FromByte(int(s.End))
				if s.Start < end || s.End <= s.Start || !ok1 || !ok2 || s.Category == pipeline.None {
					t.Fatalf("bad span %d-%d", s.Start, s.End)
				}
				end = s.End
			}
		}
	}
}
