package clinical

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func options() *input.Options {
	o := input.Options{PatientID: "patient", HasDocuments: true}.WithDefaults()
	return &o
}

// rows reads all documents: id, patient and reason of each.
func rows(t *testing.T, d *Documents) (all []string) {
	t.Helper()
	defer d.Close()
	for {
		if _, err := d.Row(); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		id, _, _ := d.Field(0)
		patient, _, _ := d.Field(2)
		all = append(all, string(id)+" "+string(patient)+" "+d.Reason().String())
	}
}

const lines = `{"resourceType":"Composition","id":"1","subject":{"reference":"Patient/9"}}` + "\n" + `{"resourceType":"Compo` + "\r\n\n" + `{"resourceType":"Patient","id":"8"}`

func TestDocuments(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(lines)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	long := `{"resourceType":"Basic","id":"7","x":"` + strings.Repeat("palabra ", 100_000) + `"}` + "\n" + lines
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.ndjson", []byte(lines), "Composition/1 9 sound|  bad_row|Patient/8 8 sound"},
		{"a.ndjson.gz", packed.Bytes(), "Composition/1 9 sound|  bad_row|Patient/8 8 sound"},
		{"a.json", []byte("\ufeff{\n\"resourceType\":\"Basic\",\n\"id\":\"1\"}\n"), "Basic/1  sound"},
		{"long.jsonl", []byte(long), "Basic/7  sound|Composition/1 9 sound|  bad_row|Patient/8 8 sound"},
		{"a.txt", []byte("MSH|^~\\&|a|b|||||ORU^R01|5\nPID|||9^^^H\nMSH|^~\\&|half\n"), "5 9 sound|  sound"},
		{"a.xml", []byte(`<ClinicalDocument><id root="1.2"/></ClinicalDocument>`), "1.2  sound"},
	} {
		path := write(t, c.name, c.data)
		if !Is(path) {
			t.Errorf("%s is not told", c.name)
		}
		d, err := Open(path, options())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rows(t, d), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for name, data := range map[string]string{"a.csv": lines, "a.json": `{"note_id":"1","text":"a"}`, "a.xml": "<TEI/>", "a.txt": "Nota de hoy"} {
		if Is(write(t, name, []byte(data))) {
			t.Errorf("%s with %q is taken for documents", name, data)
		}
	}
}

// Every place is one to begin at.
func TestPlaces(t *testing.T) {
	path := write(t, "a.ndjson", []byte(lines))
	d, err := Open(path, options())
	if err != nil {
		t.Fatal(err)
	}
	var places []int64
	for {
		at, _ := d.Ahead()
		if at < 0 {
			t.Fatal("a plain file has no places")
		}
		places = append(places, at)
		if _, err := d.Row(); err != nil {
			break
		}
	}
	for n, want := range []int{3, 2, 1, 0} {
		if err := d.GoTo(places[n], 0); err != nil {
			t.Fatal(err)
		}
		got := 0
		for {
			if _, err := d.Row(); err != nil {
				break
			}
			got++
		}
		if got != want {
			t.Errorf("%d documents behind place %d, want %d", got, n, want)
		}
	}
	d.Close()
}

func TestRefusedOptions(t *testing.T) {
	path := write(t, "a.ndjson", []byte(lines))
	o := options()
	o.Pass = []string{"year"}
	if _, err := Open(path, o); err == nil || !strings.Contains(err.Error(), "is no column of documents") {
		t.Errorf("a kept column: %v", err)
	}
	o = options()
	o.IDs = input.DropIDs
	if _, err := Open(path, o); err == nil || !strings.Contains(err.Error(), "refer to each other") {
		t.Errorf("dropped ids: %v", err)
	}
}

// A document that fills a batch by itself leaves no room for others, however little text it has.
func TestFull(t *testing.T) {
	o := options()
	f := input.NewFiller(o)
	fields, err := NewFields("x", o)
	if err != nil {
		t.Fatal(err)
	}
	b := new(pipeline.Batch)
	f.Begin(b, 0)
	fields.Take([]byte(`{"resourceType":"Basic","id":"1","xs":[` + strings.Repeat("1,", 5<<20) + `1]}`))
	f.Row(b, &fields, true)
	if !f.Full(b) {
		t.Error("10 MiB of a document do not fill a batch")
	}
}

// FuzzDocuments: whatever a file holds, its documents are stepped over as they are read, their fields can be asked for, and
// reading goes on where it was left.
func FuzzDocuments(f *testing.F) {
	for _, s := range []string{
		`{"resourceType":"Patient","id":"1"}` + "\n\n" + `{"resourceType":"Observation","subject":{"reference":"Patient/1"}}`,
		"MSH|^~\\&|A|B|||20260101||ORU^R01|7|P|2.5\rPID|||1||Puig^Ada\rOBX|1|TX|||dolor\rMSH|^~\\&|A|B|||20260101||ORU^R01|8|P|2.5\r",
		`<ClinicalDocument xmlns="urn:hl7-org:v3"><id root="1"/></ClinicalDocument>`, "{\n}", "MSH|", "", "\xef\xbb\xbf{", "\x0bMSH|^~\\&|\x1c\r",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(1))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, as uint8) {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Format = []string{"", "fhir", "hl7", "cda"}[as%4]
		open := func() *Documents {
			d, err := Open(path, o)
			if err != nil {
				t.Skip("not opened")
			}
			return d
		}
		d, skipped := open(), open()
		defer d.Close()
		defer skipped.Close()
		for n := 0; ; n++ {
			at, line := d.Ahead()
			_, err := d.Row()
			size, err2 := skipped.Skip()
			if (err == nil) != (err2 == nil) {
				t.Fatalf("document %d: read %v, stepped over %v", n, err, err2)
			}
			if err != nil {
				return
			}
			if len(d.doc) != size {
				t.Fatalf("document %d has %d bytes, stepped over %d", n, len(d.doc), size)
			}
			for k := range len(o.ID) + 1 + len(d.columns) {
				if _, _, ok := d.Field(k); ok && k == len(o.ID) && d.Reason() != pipeline.Sound {
					t.Fatalf("document %d is not sound and has a text", n)
				}
			}
			if at < 0 {
				continue
			}
			again := open()
			doc := bytes.Clone(d.doc)
			if err := again.GoTo(at, line); err != nil {
				t.Fatal(err)
			}
			if _, err := again.Row(); err != nil || !bytes.Equal(again.doc, doc) {
				t.Fatalf("document %d is another when reading begins there: %v", n, err)
			}
			again.Close()
		}
	})
}
