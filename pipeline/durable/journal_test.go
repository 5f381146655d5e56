package durable

import "testing"

// FuzzJournal: whatever becomes of its bytes, the good part of a journal parses as it did.
func FuzzJournal(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, good, ok := parseJournal(data, "format")
		if !ok {
			return
		}
		if good > len(data) || good > 0 && data[good-1] != '\n' {
			t.Fatalf("%d good bytes of %d", good, len(data))
		}
		again, good2, ok := parseJournal(data[:good], "format")
		if !ok || good2 != good || len(again) != len(lines) {
			t.Fatal("the good part does not parse as it did")
		}
	})
}
