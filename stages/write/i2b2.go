package write

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// I2B2 writes a folder of the XML of the i2b2 2014 and 2016 tracks: the text
// as CDATA, one element a span with offsets in code points. The name of the
// element is the group of the category; the category of any label set stands
// in TYPE. A carriage return is written as &#13; between two CDATA sections,
// since XML parsers turn a plain one into a line feed. Notes that are not
// UTF-8 or have no text or id are left out and counted; a character that XML
// cannot hold is an error.
type I2B2 struct {
	o TextOptions
	folder
	index offset.Index
	out   bytes.Buffer
}

// NewI2B2 makes the folder if it is not there.
func NewI2B2(dir string, o TextOptions) (*I2B2, error) {
	o = o.withDefaults()
	f, err := newFolder(dir, o.Mode)
	if err != nil {
		return nil, err
	}
	return &I2B2{o: o, folder: f}, nil
}

// Put implements pipeline.Sink.
func (w *I2B2) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if unwritable(b, i) {
			w.skipped++
			continue
		}
		if err := w.note(b.ID.At(i), b.Text.At(i), w.o.spans(b, i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *I2B2) note(id, text []byte, spans []pipeline.Span) error {
	if err := w.folder.claim(id); err != nil {
		return err
	}
	if at := notXML(text); at >= 0 {
		return &noteError{ID: string(id), Cause: fmt.Sprintf("XML cannot hold the character at byte %d", at), Remedy: "write JSONL, CSV or Parquet"}
	}
	w.out.Reset()
	w.out.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<deIdi2b2>\n<TEXT>")
	writeCDATA(&w.out, text)
	w.out.WriteString("</TEXT>\n<TAGS>\n")
	if len(spans) > 0 {
		w.index.Reset(text, offset.CodePoints)
	}
	for k, s := range spans {
		start, end, err := offsets(&w.index, id, s)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w.out, `<%s id="P%d" start="%s" end="%s" text="`, element(s.Category), k, strconv.Itoa(start), strconv.Itoa(end))
		xml.EscapeText(&w.out, text[s.Start:s.End])
		fmt.Fprintf(&w.out, "\" TYPE=\"%v\" comment=\"\" />\n", s.Category)
	}
	w.out.WriteString("</TAGS>\n</deIdi2b2>\n")
	return w.folder.put(id, ".xml", w.out.Bytes())
}

// writeCDATA writes text so that a parser gives it back byte for byte.
func writeCDATA(out *bytes.Buffer, text []byte) {
	out.WriteString("<![CDATA[")
	for len(text) > 0 {
		end, carriage := bytes.Index(text, []byte("]]>")), bytes.IndexByte(text, '\r')
		switch {
		case carriage >= 0 && (end < 0 || carriage < end):
			out.Write(text[:carriage])
			out.WriteString("]]>&#13;<![CDATA[")
			text = text[carriage+1:]
		case end >= 0:
			out.Write(text[:end+2])
			out.WriteString("]]><![CDATA[")
			text = text[end+2:]
		default:
			out.Write(text)
			text = nil
		}
	}
	out.WriteString("]]>")
}

// notXML returns where a character stands that XML 1.0 cannot hold, or -1.
func notXML(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return i
		}
		i += size
	}
	return -1
}

// element returns the name of the element for a category: that of its kind;
// OTHER if the guidelines group it nowhere else (SEXO_SUJETO_ASISTENCIA, for
// one).
func element(c pipeline.Category) string { return c.Kind().String() }
