package text

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/pipeline/offset"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT", a file of a format: its notes, what is wrong with it, and what was left out.
//
//	csv, aside, utf16     CSV: as it is; with rows set aside; with offsets in UTF-16, three notes of eight bytes a batch and of at most 12 bytes
//	jsonl, doccano, list  the same of JSONL
//	plain                 a note a line
//	brat                  a text and its annotations, § between them
//	i2b2                  a file of XML
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	dir, err := os.MkdirTemp("/dev/shm", "velum-case-")
	if err != nil {
		if dir, err = os.MkdirTemp("", "velum-case-"); err != nil {
			return err.Error()
		}
	}
	defer os.RemoveAll(dir)
	put := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			panic(err)
		}
		return name
	}
	var b strings.Builder
	o := Options{Notes: 2}
	switch way {
	case "aside", "list":
		o.SetAside = func(err error) { fmt.Fprint(&b, "aside: ", err, " ") }
		o.SkipUnknown = true
	case "utf16", "doccano":
		o = Options{Notes: 3, Bytes: 8, MaxText: 12, Unit: offset.UTF16}
	}
	var src interface {
		pipeline.Source
		io.Closer
		Warnings() Warnings
	}
	switch way {
	case "csv", "aside", "utf16":
		src, err = NewCSV(put("in.csv", text), o)
	case "jsonl", "doccano", "list":
		src, err = NewJSONL(put("in.jsonl", text), o)
	case "plain":
		src, err = NewPlain(put("in.txt", text), o)
	case "brat":
		note, marks, marked := strings.Cut(text, "§")
		put("a.txt", note)
		if marked {
			put("a.ann", marks)
		}
		src, err = NewBrat(dir, o)
	case "i2b2":
		put("a.xml", text)
		src, err = NewI2B2(dir, o)
	default:
		return ""
	}
	if err == nil {
		defer src.Close()
		for batches := 0; batches < 50; batches++ {
			var batch pipeline.Batch
			if err = src.Next(&batch); err != nil {
				break
			}
			for i := range batch.Len() {
				fmt.Fprintf(&b, "%d %s %v ", batch.Row(i), batch.ID.At(i), batch.Reason[i])
				if i < batch.Gold.Len() && batch.Reason[i] == pipeline.Sound {
					b.WriteString(markup.Write(batch.Text.At(i), batch.Gold.At(i)))
					for _, s := range batch.Gold.At(i) {
						fmt.Fprintf(&b, " %v %.2f", s.Source, s.Score)
					}
				} else {
					b.Write(batch.Text.At(i))
				}
				b.WriteString("; ")
			}
			b.WriteString("/ ")
		}
		if w := src.Warnings(); w != (Warnings{}) {
			fmt.Fprintf(&b, "%+v ", w)
		}
	}
	if err != nil && err != io.EOF {
		fmt.Fprintf(&b, "%v", err)
	}
	return strings.NewReplacer("\n", "¶", "\t", "→", "\r", "←", dir+"/", "").Replace(b.String())
}
