package summary

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

func summaryOf(fields ...string) []byte {
	data := []byte(magic)
	for _, f := range fields {
		data = append(binary.LittleEndian.AppendUint64(data, uint64(len(f))), f...)
	}
	return data
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		ok   bool
	}{
		{"two fields", summaryOf("ids", ""), true},
		{"one", summaryOf("ids"), false},
		{"three, as earlier versions have", summaryOf("ids", "", "quasi"), true},
		{"a byte fewer", summaryOf("", "abc")[:len(summaryOf("", "abc"))-1], false},
		{"half a length", summaryOf("", "")[:len(magic)+12], false},
		{"nothing", nil, false},
		{"another file", []byte("PAR1"), false},
	} {
		s, err := Parse(c.data)
		if (err == nil) != c.ok || c.ok && (string(s.IDs) != "ids" || len(s.Candidates) != 0) {
			t.Errorf("%s: %q %q, %v", c.name, s.IDs, s.Candidates, err)
		}
	}
	r, err := IDs(bytes.NewReader(summaryOf("ids", "x", "y")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "ids" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := IDs(bytes.NewReader([]byte(magic))); err == nil {
		t.Error("no length: no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(summaryOf("ids", "candidates", "more"))
	f.Add(append(summaryOf("", ""), bytes.Repeat([]byte{0xFF}, 8)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err == nil && !bytes.HasPrefix(data, summaryOf(string(s.IDs), string(s.Candidates))) {
			t.Fatal("what was read is not what stands there")
		}
	})
}
