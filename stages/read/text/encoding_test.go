package text

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

// Invented, as every note here.
const accents = "id;text\n1;Acude el señor Núñez por lumbalgia\n2;«Niña» de 3 años, sin más\n"

func TestEncodingOfText(t *testing.T) {
	latin1, err := charmap.ISO8859_1.NewEncoder().String(accents)
	if err != nil {
		t.Fatal(err)
	}
	// The euro sign and the long dash are where Latin-1 has controls.
	ansi, err := charmap.Windows1252.NewEncoder().String(accents + "3;80 € – año\n")
	if err != nil {
		t.Fatal(err)
	}
	wide := func(e unicode.Endianness, mark unicode.BOMPolicy) string {
		s, err := unicode.UTF16(e, mark).NewEncoder().String(accents)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct {
		name, content string
		want          input.Encoding
	}{
		{"plain ASCII", "id,text\n1,sin acentos\n", input.UTF8},
		{"UTF-8", accents, input.UTF8},
		{"UTF-8 with mark", "\ufeff" + accents, input.UTF8},
		{"one damaged note among many", strings.Repeat(accents, 10) + "3;a\xf1o\n", input.UTF8},
		{"Latin-1", latin1, input.Latin1},
		{"Windows-1252", ansi, input.Windows1252},
		{"UTF-16 little", wide(unicode.LittleEndian, unicode.UseBOM), input.UTF16LE},
		{"UTF-16 big", wide(unicode.BigEndian, unicode.UseBOM), input.UTF16BE},
		{"UTF-16 little, no mark", wide(unicode.LittleEndian, unicode.IgnoreBOM), input.UTF16LE},
		{"UTF-16 big, no mark", wide(unicode.BigEndian, unicode.IgnoreBOM), input.UTF16BE},
		{"empty", "", input.UTF8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := input.Detect(strings.NewReader(tt.content))
			if err != nil || got != tt.want {
				t.Fatalf("%v (%v), want %v", got, err, tt.want)
			}
			if !strings.Contains(tt.name, "no mark") && strings.HasPrefix(tt.content, "id,") {
				return
			}
			if tt.content == "" || strings.Contains(tt.name, "damaged") {
				return
			}
			notes := readCSV(t, tt.content, Options{})
			if len(notes) < 2 || notes[0].Text != "Acude el señor Núñez por lumbalgia" || notes[0].Reason != pipeline.Sound {
				t.Errorf("%d notes, or the first is not what was written", len(notes))
			}
		})
	}
}

func readCSV(t testing.TB, content string, o Options) []readtest.Note {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewCSV(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	notes, err := readtest.NotesOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// A Latin-1 file that is read as what it is not has its notes in quarantine,
// and no character is guessed.
func TestNamedEncoding(t *testing.T) {
	notes := readCSV(t, "id,text\n1,a\xf1o\n", Options{Encoding: input.UTF8})
	if len(notes) != 1 || notes[0].Reason != pipeline.BadEncoding {
		t.Errorf("a Latin-1 note read as UTF-8: %v", notes[0].Reason)
	}
	notes = readCSV(t, "id,text\n1,a\xf1o\n", Options{Encoding: input.Latin1})
	if len(notes) != 1 || notes[0].Text != "año" {
		t.Error("a Latin-1 note read as Latin-1 is not what was written")
	}
}

// Half a pair of UTF-16 is no character: the note is in quarantine.
func TestHalfPair(t *testing.T) {
	text, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("id,text\n1,ab\n2,cd\n")
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Replace([]byte(text), []byte("b\x00"), []byte("\x00\xd8"), 1)
	notes := readCSV(t, string(data), Options{})
	if len(notes) != 2 || notes[0].Reason != pipeline.BadEncoding || notes[1].Reason != pipeline.Sound {
		t.Errorf("%+v", notes)
	}
}

// Offsets that count the bytes of a Latin-1 file count its characters.
func TestOneByteOffsets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	line := "{\"id\":\"1\",\"text\":\"a\xf1o de Ana\",\"spans\":[[7,10,\"PERSON\"]]}\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewJSONL(path, Options{Unit: offset.Bytes})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b pipeline.Batch
	if err := r.Next(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.Gold.At(0)[0]; string(b.Text.At(0)[s.Start:s.End]) != "Ana" {
		t.Errorf("span [%d,%d)", s.Start, s.End)
	}
	if r.Warnings().Encoding != "latin-1" {
		t.Errorf("encoding %q is not said", r.Warnings().Encoding)
	}
}

func TestPacked(t *testing.T) {
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(accents))
	w.Close()
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	z.Write([]byte(accents))
	z.Close()
	for name, data := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes()} {
		if notes := readCSV(t, string(data), Options{}); len(notes) != 2 || notes[1].ID != "2" {
			t.Errorf("%s: %d notes", name, len(notes))
		}
		path := filepath.Join(t.TempDir(), "cut.csv")
		if err := os.WriteFile(path, data[:len(data)-5], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewCSV(path, Options{}); err == nil || !strings.Contains(err.Error(), "unpacked") {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
}

func TestDelimiters(t *testing.T) {
	for _, content := range []string{
		"id,text\n1,a;b\n", "id;text\n1;a,b\n", "id\ttext\n1\ta;b,c\n", "id|text\n1|a;b\n",
		"\"id;x\",text,id\n0,a;b,1\n",
	} {
		if notes := readCSV(t, content, Options{}); len(notes) != 1 || notes[0].ID != "1" || notes[0].Text[0] != 'a' {
			t.Errorf("%q: %+v", content, notes)
		}
	}
}
