package shuffle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// memory is a File.
type memory struct{ data []byte }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if end := int(at) + len(p); end > len(m.data) {
		m.data = append(m.data, make([]byte, end-len(m.data))...)
	}
	return copy(m.data[at:], p), nil
}

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.data).ReadAt(p, at)
}

func drawn(seed uint64) Draw {
	return func(c pipeline.Category, kind uint8, stretch int) *rand.Rand {
		return rand.New(rand.NewPCG(seed, binary.LittleEndian.Uint64([]byte{byte(c), byte(stretch), kind, 0, 0, 0, 0, 0})))
	}
}

const person, age = pipeline.Category(1), pipeline.Category(2)

// dealt deals the values of some notes out, "1:ada bosch" a name, "2:40" none, "3:x" of
// the category of 2 and another kind.
func dealt(t interface{ Fatal(...any) }, notes [][]string, seed uint64, most int) (got [][]string, alone int64) {
	d := NewDealer(Files{new(memory), new(memory), new(memory)}, drawn(seed))
	d.most = most
	for _, n := range notes {
		var values []Value
		for _, v := range n {
			text := []byte(v[2:])
			category, kind := pipeline.Category(v[0]-'0'), uint8(0)
			if v[0] == '3' {
				category, kind = age, 1
			}
			values = append(values, Value{category, kind, append(bytes.Clone(text), ' '), v[0] == '1', text})
		}
		if err := d.Add(values); err != nil {
			t.Fatal(err)
		}
	}
	table, err := d.Deal()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range notes {
		var of []string
		for k := range n {
			out, ok, err := table.Other(nil, int64(i), k)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				out = []byte("-")
			}
			of = append(of, n[k][:2]+string(out))
		}
		got = append(got, of)
	}
	return got, d.Alone
}

// TestDeal: whatever the values and however long a stretch is, each is had once at
// most, by another note, of its category and kind, and tells nothing of that note's own.
func TestDeal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := []string{"ada", "bosch", "puig", "ona", "pau", "roca"}
		var notes [][]string
		had := map[string]int{}
		for range rapid.IntRange(0, 40).Draw(r, "notes") {
			var n []string
			seen := map[string]bool{}
			for range rapid.IntRange(0, 3).Draw(r, "values") {
				v := "1:" + rapid.SampledFrom(words).Draw(r, "given") + " " + rapid.SampledFrom(words).Draw(r, "surname")
				if rapid.Bool().Draw(r, "age") {
					v = fmt.Sprintf("%d:%d", rapid.IntRange(2, 3).Draw(r, "kind"), rapid.IntRange(40, 46).Draw(r, "years"))
				}
				if !seen[v] {
					n, seen[v] = append(n, v), true
					had[v]++
				}
			}
			notes = append(notes, n)
		}
		seed, most := rapid.Uint64().Draw(r, "seed"), rapid.IntRange(1, 30).Draw(r, "most")
		got, alone := dealt(r, notes, seed, most)
		none := int64(0)
		for i, n := range got {
			for k, v := range n {
				if v[2:] == "-" {
					none++
					continue
				}
				if had[v]--; had[v] < 0 {
					r.Fatalf("%s is had more often than it came", v)
				}
				for _, own := range notes[i] {
					if own == v || own[0] == '1' && v[0] == '1' && sharesWord([]byte(" "+own[2:]+" "), []byte(" "+v[2:]+" ")) {
						r.Fatalf("note %d, card %d: %s of %v", i, k, v, notes[i])
					}
				}
			}
		}
		if none != alone {
			r.Fatalf("%d got nothing, %d are told", none, alone)
		}
		again, _ := dealt(r, notes, seed, most)
		if fmt.Sprint(again) != fmt.Sprint(got) {
			r.Fatal("dealt otherwise the second time")
		}
	})
}

// TestEverybodyGetsOne: where there is somebody to change with, nobody is left, not
// even who is rare and comes in other stretches; and the order is the key's.
func TestEverybodyGetsOne(t *testing.T) {
	var notes [][]string
	for i := range 2000 {
		n := []string{fmt.Sprintf("1:name%d", i)}
		if i%500 == 7 {
			n = append(n, fmt.Sprintf("2:%d", 40+i/500))
		}
		notes = append(notes, n)
	}
	got, alone := dealt(t, notes, 1, 100)
	if alone != 0 {
		t.Errorf("%d got nothing", alone)
	}
	other, _ := dealt(t, notes, 2, 100)
	same := 0
	for i := range got {
		if got[i][0] == other[i][0] {
			same++
		}
	}
	if same > 100 {
		t.Errorf("under two keys %d of 2,000 got the same", same)
	}
}

// TestNobodyToChangeWith: one value for all, or one note alone, gets nothing.
func TestNobodyToChangeWith(t *testing.T) {
	for _, notes := range [][][]string{
		{{"2:40"}, {"2:40"}, {"2:40"}},
		{{"1:ada bosch"}},
		{{"1:ada bosch"}, {"1:bosch puig"}},
		{{"2:40"}, {"3:50"}},
		{{"1:ada bosch", "1:ona roca"}, {}},
	} {
		got, _ := dealt(t, notes, 1, 100)
		if s := strings.Trim(fmt.Sprint(got), "[] "); strings.ContainsAny(s, "abcdefg456") {
			t.Errorf("%v: %v", notes, got)
		}
	}
}

// TestTableOfOthers: what cannot be read is told, and is no value.
func TestTableOfOthers(t *testing.T) {
	files := Files{new(memory), new(memory), new(memory)}
	d := NewDealer(files, drawn(1))
	for _, name := range []string{"ada", "ona"} {
		if err := d.Add([]Value{{person, 0, []byte(name + " "), true, []byte(name)}}); err != nil {
			t.Fatal(err)
		}
	}
	table, err := d.Deal()
	if err != nil {
		t.Fatal(err)
	}
	if out, ok, err := table.Other([]byte("es "), 0, 0); string(out) != "es ona" || !ok || err != nil {
		t.Errorf("%s, %v, %v", out, ok, err)
	}
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {1, 1}} {
		if out, ok, err := table.Other(nil, int64(at[0]), at[1]); ok || err == nil || len(out) > 0 {
			t.Errorf("%v: %s, %v, %v", at, out, ok, err)
		}
	}
	files.Values.(*memory).data = nil
	if _, ok, err := table.Other(nil, 0, 0); ok || err == nil {
		t.Errorf("a file that was cut: %v, %v", ok, err)
	}
}
