package text

import (
	"bytes"
	"encoding/xml"
	"io"
	"path/filepath"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/filename"
	"github.com/velum-health/velum/pipeline/offset"
)

// I2B2 reads a folder of the XML of the i2b2 2014 and 2016 tracks, which
// MEDDOCAN and MAE share: a TEXT element with the note, usually CDATA, and a
// TAGS element with one empty element a span:
//
//	<NAME id="P0" start="14" end="17" text="Ada" TYPE="PATIENT" comment=""/>
//
// Offsets count code points of the text as an XML parser hands it over: CRLF
// as LF, unless it is written as &#13;. The category is the TYPE, or the name
// of the element where there is none. Folders may be nested; the id of a note
// is its path below the folder without the extension.
type I2B2 struct {
	folderNotes
	root   string
	text   []byte
	labels []label
}

// NewI2B2 lists the .xml files below dir, in lexical order.
func NewI2B2(dir string, o Options) (*I2B2, error) {
	r := &I2B2{folderNotes: folderNotes{intake: newIntake(dir, o)}, root: dir}
	r.note = r.readNote
	var err error
	r.ids, err = r.list(dir, ".xml")
	return r, err
}

func (i *I2B2) readNote(b *pipeline.Batch, id string) error {
	i.path = filepath.Join(i.root, id+".xml")
	data, err := readWhole(i.path)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) {
		return i.addAs(b, pipeline.BadEncoding, []byte(filename.ID(id)), data, nil, offset.CodePoints)
	}
	if err := i.parse(data); err != nil {
		return err
	}
	return i.add(b, []byte(filename.ID(id)), i.text, i.labels, offset.CodePoints)
}

// parse fills text and labels. Texts of the decoder's errors are not used:
// some quote the file.
func (i *I2B2) parse(data []byte) error {
	i.text, i.labels = i.text[:0], i.labels[:0]
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	var open []string // names of the elements around
	texts := 0
	for {
		line, column := d.InputPos()
		at := place{line, column}
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			line, column = d.InputPos()
			return i.wrong(place{line, column}, "not well-formed XML in UTF-8", "correct the file with an XML editor")
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) == 2 && open[1] == "TAGS" {
				if err := i.tag(t, at); err != nil {
					return err
				}
			}
			if len(open) == 1 && t.Name.Local == "TEXT" {
				texts++
			}
			open = append(open, t.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 2 && open[1] == "TEXT" {
				i.text = append(i.text, t...)
			}
		}
	}
	if texts != 1 {
		return i.wrong(place{}, "not one TEXT element below the root", "give i2b2 XML: <deIdi2b2><TEXT>...</TEXT><TAGS>...</TAGS></deIdi2b2>")
	}
	return nil
}

func (i *I2B2) tag(e xml.StartElement, at place) error {
	const remedy = `a span is written <NAME id="P0" start="0" end="3" text="..." TYPE="PATIENT" comment=""/>`
	l := label{start: -1, end: -1, score: 1, source: pipeline.FromGold, at: at}
	name := e.Name.Local
	for _, a := range e.Attr {
		n, ok := 0, true
		switch a.Name.Local {
		case "start":
			n, ok = number([]byte(a.Value))
			l.start = n
		case "end":
			n, ok = number([]byte(a.Value))
			l.end = n
		case "text":
			l.words = []byte(a.Value)
		case "TYPE":
			if a.Value != "" {
				name = a.Value
			}
		}
		if !ok {
			return i.wrong(at, "start or end is not a whole number", remedy)
		}
	}
	if l.start < 0 || l.end < 0 {
		return i.wrong(at, "span without start or end", remedy)
	}
	if name == "OTHER" && e.Name.Local == "LOCATION" {
		name = "LOCATION-OTHER"
	}
	var err error
	if l.category, err = i.category([]byte(name), at); err != nil {
		return err
	}
	i.labels = append(i.labels, l)
	return nil
}
