package people

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	7, 8, 9, none   what is found in a note of that patient: «VALUE» and what it is of whom
//	field           the field of a column
//	role            the role of a word, for a person who has a patient and one who has none
//	fhir            the row of a document
//	name, address   what is found of a person of that name or address in a note of the words behind |
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	find := func(table *Table, patient, text string) {
		all, err := NewFinder(table).Find(nil, []byte(patient), []byte(text), pipeline.Spanish)
		if err != nil {
			b.WriteString(err.Error())
		}
		for _, f := range all {
			fmt.Fprintf(&b, "«%s» %d %d %d, ", text[f.Start:f.End], f.Start, f.Kind, f.Role)
		}
	}
	switch way {
	case "7", "8", "9", "none":
		find(tableOfCases(
			[]Value{{Patient, "7"}, {Given, "Núria"}, {Surname, "Hernández"}, {Surname, "de la Fuente"}, {Birth, "1950-03-12"},
				{Telephone, "+34 600 12 34 56"}, {Identifier, "12345678Z"}, {Address, "Carrer de la Lluna, 12, 3r 2a, 08001 Barcelona"}},
			[]Value{{Patient, "7"}, {RoleField, "relative"}, {Name, "Rosa García Soto"}},
			[]Value{{Patient, "8"}, {Name, "Prats Vidal, Joan Miquel"}},
			[]Value{{RoleField, "staff"}, {Given, "Imma"}, {Surname, "Puigdevall"}, {Surname, "Torra"}},
		), strings.TrimPrefix(way, "none"), text)
	case "field":
		fmt.Fprint(&b, FieldOf(text))
	case "role":
		fmt.Fprint(&b, roleOf(text, true), roleOf(text, false))
	case "fhir":
		for _, v := range FromFHIR([]byte(text), strings.ToUpper) {
			fmt.Fprintf(&b, "%s %s, ", fieldNames[v.Field], v.Text)
		}
	case "name", "address":
		value, note, _ := strings.Cut(text, "|")
		field := map[string]Field{"name": Name, "address": Address}[way]
		find(tableOfCases([]Value{{Patient, "1"}, {field, value}}), "1", note)
	}
	return strings.ReplaceAll(b.String(), "\n", "|")
}

func tableOfCases(rows ...[]Value) *Table {
	var file bytes.Buffer
	b := NewBuilder(&file)
	for _, row := range rows {
		b.Add(row)
	}
	b.w.Flush()
	table, err := b.Table(bytes.NewReader(file.Bytes()))
	if err != nil {
		panic(err)
	}
	return table
}
