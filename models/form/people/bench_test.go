package people

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// tableOf makes a table in memory.
func tableOf(t testing.TB, rows ...[]Value) *Table {
	t.Helper()
	var file bytes.Buffer
	b := NewBuilder(&file)
	for _, row := range rows {
		if err := b.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.w.Flush(); err != nil {
		t.Fatal(err)
	}
	table, err := b.Table(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var benchNote = []byte("Pac que finaliza tto amb Dra Rovira al CAP Sant Pere, acude con su hermana Lucía. Tel 600 123 456, vive en c/ Mayor 12 de Reus. Parkinson en tto con levodopa 100/25 desde el 12/03/2019. 74 años")

func BenchmarkFind(b *testing.B) {
	var rows [][]Value
	for i := range 500 {
		rows = append(rows, []Value{{RoleField, "staff"}, {Given, fmt.Sprintf("Xena%c%c", 'a'+i%26, 'a'+i/26%26)}, {Surname, fmt.Sprintf("Serra%c%c", 'a'+i%26, 'a'+i/26%26)}})
	}
	for range 2 {
		rows = append(rows, []Value{{Patient, "7"}, {Given, "Lucía"}, {Surname, "Rovira"}, {Surname, "Puigdomènech"}, {Birth, "1950-03-12"}, {Telephone, "600123456"}, {Identifier, "12345678Z"}, {Address, "Calle Mayor 12"}})
	}
	f := NewFinder(tableOf(b, rows...))
	b.ReportAllocs()
	b.SetBytes(int64(len(benchNote)))
	var found []Found
	for b.Loop() {
		found, _ = f.Find(found[:0], []byte("7"), benchNote, pipeline.Spanish)
	}
}
