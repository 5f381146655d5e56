package document

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// example returns an invented document of testdata.
func example(t testing.TB, name string) []byte {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var examples = map[string]Format{"reference.json": FHIR, "composition.json": FHIR, "patient.json": FHIR, "bundle.json": FHIR, "oru.hl7": HL7, "mdm.hl7": HL7, "cda.xml": CDA}

// masked puts {kind} in place of every field, and *** in place of words of the text.
func masked(d *Document, words ...string) ([]byte, []Edit) {
	var edits []Edit
	hidden := [Kinds]string{PatientName: "PATIENT", RelativeName: "RELATIVE", StaffName: "STAFF", Address: "ADDRESS", Phone: "PHONE", PatientID: "ID", StaffID: "STAFFID", Date: "DATE", EventDate: "EVENT"}
	at := 0
	rest := func(end int) {
		for at < end {
			next, size := end, 0
			for _, w := range words {
				if n := strings.Index(string(d.Text[at:end]), w); n >= 0 && at+n < next {
					next, size = at+n, len(w)
				}
			}
			if size > 0 {
				edits = append(edits, Edit{next, next + size, []byte("***")})
			}
			at = next + size
		}
	}
	for _, f := range d.Fields {
		rest(f.Start)
		edits = append(edits, Edit{f.Start, f.End, []byte("{" + hidden[f.Kind] + "}")})
		at = f.End
	}
	rest(len(d.Text))
	return d.Restore(edits), edits
}

func TestExamples(t *testing.T) {
	for name, format := range examples {
		doc := example(t, name)
		if got := FormatOf(doc); got != format {
			t.Errorf("%s begins as %v", name, got)
		}
		d, reason := Open(doc, Options{})
		if reason != pipeline.Sound {
			t.Errorf("%s: %v", name, reason)
			continue
		}
		if len(d.ID) == 0 || string(d.Patient) != "463" && name != "bundle.json" {
			t.Errorf("%s: id %q, patient %q", name, d.ID, d.Patient)
		}
		if back := d.Restore(nil); !bytes.Equal(back, doc) {
			t.Errorf("%s is another without an edit", name)
		}
		d, _ = Open(doc, Options{})
		out, edits := masked(d, "Lucía Roca", "600 123 456", "Vidal")
		golden := filepath.Join("testdata", name+".masked")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, out, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(out, want) {
			t.Errorf("%s is not as %s has it (UPDATE=1 writes it): %v", name, golden, err)
		}
		again, reason := Open(out, Options{})
		if reason != pipeline.Sound {
			t.Errorf("%s: the masked document is broken: %v", name, reason)
		}
		if reason := d.Check(out, edits); reason != pipeline.Sound {
			t.Errorf("%s has other words than were put into it: %v", name, reason)
		}
		if strings.Contains(string(again.Text), "Roca") || strings.Contains(string(again.Text), "Vidal") {
			t.Errorf("%s still shows a name", name)
		}
	}
}

// An attachment is text of its own, whatever it is written in.
func TestAttachment(t *testing.T) {
	for _, c := range []struct{ kind, data, want string }{
		{"text/plain", "Visita a Lucía Roca.", "Visita a ***."},
		{"text/plain; charset=iso-8859-1", "Visita a Luc\xeda Roca, ma\xf1ana.", "Visita a ***, ma\xf1ana."},
		{"text/html", "<p class=x>Visita a <b>Luc&iacute;a</b> Roca<br>1 < 2", "<p class=x>Visita a <b>***</b><br>1 < 2"},
		{"text/html;charset=windows-1252", "<i>Luc\xeda Roca</i> &amp; \x80", "<i>***</i> &amp; \x80"},
	} {
		doc := `{"resourceType":"DocumentReference","id":"1","content":[{"attachment":{"contentType":"` + c.kind + `","data":"` +
			base64.StdEncoding.EncodeToString([]byte(c.data)) + `"}}]}`
		d, reason := Open([]byte(doc), Options{})
		if reason != pipeline.Sound {
			t.Errorf("%s: %v", c.kind, reason)
			continue
		}
		var out struct {
			Content []struct{ Attachment struct{ Data []byte } }
		}
		got, _ := masked(d, "Lucía Roca")
		if err := json.Unmarshal(got, &out); err != nil || string(out.Content[0].Attachment.Data) != c.want {
			t.Errorf("%s: got %q, want %q (%v)", c.kind, out.Content[0].Attachment.Data, c.want, err)
		}
	}
}

func TestRefused(t *testing.T) {
	attached := func(kind, data string) string {
		return `{"resourceType":"DocumentReference","id":"1","content":[{"attachment":{"contentType":"` + kind + `","data":"` + data + `"}}]}`
	}
	for _, c := range []struct {
		name, doc string
		want      pipeline.Reason
	}{
		{"half a resource", `{"resourceType":"DocumentReference","id":"1"`, pipeline.BadRow},
		{"no resource", `{"id":"1"}`, pipeline.BadRow},
		{"an array", `[1]`, pipeline.BadRow},
		{"too deep", `{"resourceType":"List","x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, pipeline.BadRow},
		{"half a pair of UTF-16", `{"resourceType":"Basic","id":"1","x":"a \ud800 b"}`, pipeline.BadEncoding},
		{"no UTF-8", "{\"resourceType\":\"Basic\",\"id\":\"1\",\"x\":\"a \xff b\"}", pipeline.BadRow},
		{"no base64", attached("text/plain", "%%%"), pipeline.BadEncoding},
		{"an unknown charset", attached("text/plain;charset=koi8-r", "QQ=="), pipeline.BadEncoding},
		{"bytes that are not of the charset", attached("text/plain", "/w=="), pipeline.BadEncoding},
		{"a PDF", attached("application/pdf", "JVBERg=="), pipeline.Unreadable},
		{"data of no type", `{"resourceType":"Patient","id":"1","photo":[{"data":"QQ=="}]}`, pipeline.Unreadable},
		{"a narrative that is not closed", `{"resourceType":"Basic","id":"1","text":{"div":"<div>a<p></div>"}}`, pipeline.BadRow},
		{"no header", "PID|1||463\r", pipeline.BadRow},
		{"line ends that are written out", "MSH|^~\\&|a|b|||||ADT^A01|1\\rPID|1||463\r", pipeline.BadRow},
		{"a segment without a separator", "MSH|^~\\&|a|b\rcontinued text\r", pipeline.BadRow},
		{"a PDF in a message", "MSH|^~\\&|a|b|||||ORU^R01|1\rOBX|1|ED|x||^AP^PDF^Base64^JVBERg==\r", pipeline.Unreadable},
		{"half of encapsulated data", "MSH|^~\\&|a|b|||||ORU^R01|1\rOBX|1|ED|x||^TEXT^PLAIN\r", pipeline.BadRow},
		{"an unknown character set", "MSH|^~\\&|a|b|||||ORU^R01|1|P|2.5||||||GB 18030-2000\rOBX|1|TX|x||a\r", pipeline.BadEncoding},
		{"Latin-1 that does not say so", "MSH|^~\\&|a|b|||||ORU^R01|1\rOBX|1|TX|x||Luc\xeda\r", pipeline.BadEncoding},
		{"an entity of its own", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><ClinicalDocument><title>&e;</title></ClinicalDocument>`, pipeline.BadRow},
		{"half a document", `<ClinicalDocument><id root="1"/><title>a</title>`, pipeline.BadRow},
		{"crossed elements", `<ClinicalDocument><id root="1"/><a><b></a></b></ClinicalDocument>`, pipeline.BadRow},
		{"too deep an element", `<ClinicalDocument>` + strings.Repeat("<a>", 500) + strings.Repeat("</a>", 500) + `</ClinicalDocument>`, pipeline.BadRow},
		{"another document", `<html><body>a</body></html>`, pipeline.BadRow},
		{"a scan", `<ClinicalDocument><id root="1"/><component><nonXMLBody><text mediaType="application/pdf" representation="B64">JVBERg==</text></nonXMLBody></component></ClinicalDocument>`, pipeline.Unreadable},
	} {
		if _, reason := Open([]byte(c.doc), Options{}); reason != c.want {
			t.Errorf("%s: %v, want %v", c.name, reason, c.want)
		}
	}
}

// Next cuts streams, and a broken document takes no other with it.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		format Format
		in     string
		want   []string
	}{
		{FHIR, "{\"a\":1}\n\n{\"b\"\r\n{\"c\":3}", []string{`{"a":1}`, "{\"b\"\r", `{"c":3}`}},
		{FHIR, "{\n \"a\": 1\n}\n", []string{"{\n \"a\": 1\n}\n"}},
		{HL7, "MSH|^~\\&|1\rPID|1\rMSH|^~\\&|2\r", []string{"MSH|^~\\&|1\rPID|1\r", "MSH|^~\\&|2\r"}},
		{HL7, "\x0bMSH|^~\\&|1\rPID|1\r\x1c\r\x0bMSH|^~\\&|2\r\x1c\r", []string{"MSH|^~\\&|1\rPID|1\r", "MSH|^~\\&|2\r"}},
		{HL7, "FHS|^~\\&\rBHS|^~\\&\rMSH|^~\\&|1\r\nPID|1\r\nBTS|1\rFTS|1\r", []string{"MSH|^~\\&|1\r\nPID|1\r\n"}},
		{HL7, "NOTHING|1\r", nil},
		{CDA, "<a/>", []string{"<a/>"}},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			var got []string
			var data []byte
			in := c.in
			for {
				from, end := c.format.Next(data, in == "")
				switch {
				case end > 0:
					if end > from {
						got = append(got, string(data[from:end]))
					}
					data = data[end:]
					continue
				case in != "":
					n := min(step, len(in))
					data, in = append(data, in[:n]...), in[n:]
					continue
				}
				break
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%v in steps of %d: %q, want %q", c.format, step, got, c.want)
			}
		}
	}
}

// No input panics, nothing changes without an edit, and a masked document opens again.
func FuzzOpen(f *testing.F) {
	for name := range examples {
		f.Add(uint8(1), example(f, name))
	}
	f.Add(uint8(0), []byte("MSH|^~\\&|\rOBX|1|ED|||^TEXT^HTML^Base64^PGI+YQ==\rNTE|1||\\X41\\\\.br\\\\H\\a~b\\F\\"))
	f.Fuzz(func(t *testing.T, options uint8, doc []byte) {
		o := Options{Dates: options&1 > 0}
		d, reason := Open(doc, o)
		if reason != pipeline.Sound {
			return
		}
		if back := d.Restore(nil); !bytes.Equal(back, doc) {
			t.Fatal("it is another without an edit")
		}
		d, _ = Open(doc, o)
		if len(d.Text) == 0 {
			return
		}
		before := string(d.Text)
		edits := []Edit{{0, len(d.Text), []byte("X")}}
		out := d.Restore(edits)
		if again, reason := Open(out, Options{}); reason != pipeline.Sound {
			t.Fatalf("the masked document is broken: %v %q", reason, out)
		} else if reason := d.Check(out, edits); reason != pipeline.Sound && reason != pipeline.SurvivingValue {
			t.Fatalf("it has other words than were put into it: %v", reason)
		} else if o.Dates && len(before) > 20 && strings.Contains(string(again.Text), before) {
			t.Fatal("the text is still there")
		}
	})
}

// FuzzNext: every byte is read once, in order, however the input comes.
func FuzzNext(f *testing.F) {
	f.Add(uint8(0), []byte("{\"a\":1}\n{}"))
	f.Add(uint8(1), []byte("\x0bMSH|^~\\&|1\r\x1c\r\x0bMSH|^~\\&|2\r\x1c\r"))
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		is := Format(format%3) + FHIR
		for len(data) > 0 {
			from, end := is.Next(data, true)
			if from < 0 || end <= 0 || from > end || end > len(data) {
				t.Fatalf("%d to %d of %d", from, end, len(data))
			}
			data = data[end:]
		}
	})
}
