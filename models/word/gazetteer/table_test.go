package gazetteer

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/velum-health/velum/models/number/modelfile"
	"pgregory.net/rapid"
)

// tableOf makes a table of "Class form count" lines and loads it from its
// file; a line "---" begins a new group, "word form count" is a common word.
func tableOf(t interface{ Fatal(...any) }, lines ...string) *Table {
	b := NewBuilder()
	for _, line := range lines {
		if line == "---" {
			b.Group()
			continue
		}
		first, last := strings.IndexByte(line, ' '), strings.LastIndexByte(line, ' ')
		var n int
		if _, err := fmt.Sscan(line[last+1:], &n); err != nil {
			t.Fatal(err)
		}
		if line[:first] == "word" {
			b.Word(line[first+1:last], n)
			continue
		}
		c, err := ParseClass(line[:first])
		if err != nil {
			t.Fatal(err)
		}
		b.Add(Entry{Form: line[first+1 : last], Class: c, Frequency: n})
	}
	return loaded(t, written(t, b))
}

func written(t interface{ Fatal(...any) }, b *Builder) []byte {
	table, err := b.Table("test")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := table.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func loaded(t interface{ Fatal(...any) }, data []byte) *Table {
	f, err := modelfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	table, err := LoadTable(f)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTable(t *testing.T) {
	table := tableOf(t,
		"GivenName ROSA 60", "GivenName Rosa 20", "GivenName MARIA CARMEN 20", "Surname ROSA 10", "---", // men and women of one census
		"GivenName Rosa 70", "Surname D'Ors 30", "Surname Rosa 5", // another edition
		"word rosa 5", "word de 15",
	)
	for _, c := range []struct {
		form          string
		class         Class
		given, family int
		word          int
		ratio         float64 // of given name to common word
	}{
		{"Rosa", GivenName | Surname, 80, 10, 5, (80.0 / 100) / (5.0 / 20)},
		{"ROSA", GivenName | Surname, 80, 10, 5, 3.2},
		{"maría  carmen", GivenName, 20, 0, 0, 0},
		{"d'ors", Surname, 0, 30, 0, 0},
		{"dors", Surname, 0, 30, 0, 0}, // as one token
		{"maria", 0, 0, 0, 0, 0},       // a mere beginning
		{"de", 0, 0, 0, 0, 0},          // a mere word
		{"rosa maria", 0, 0, 0, 0, 0},
		{"", 0, 0, 0, 0, 0},
	} {
		f, ok := table.Find(c.form)
		if ok != (c.class != 0) || f.Class != c.class || f.Count(GivenName) != c.given || f.Count(Surname) != c.family || f.Word != c.word {
			t.Errorf("Find(%q) = %+v", c.form, f)
		}
		if f.Count(GivenName|Surname) != c.given+c.family {
			t.Errorf("%q: counts of both classes are not added", c.form)
		}
		name, word := table.Relative(f, GivenName)
		if word > 0 && name/word != c.ratio {
			t.Errorf("%q: ratio %g, want %g", c.form, name/word, c.ratio)
		}
	}
	h := table.Header()
	if want := map[string]Sum{"GivenName": {2, 100}, "Surname": {3, 70}}; !cmp.Equal(h.Classes, want) || *h.Words != (Sum{2, 20}) {
		t.Errorf("classes %v, words %v", h.Classes, h.Words)
	}
}

// TestTableBruteForce compares look-ups and the lists made of a table with a
// plain map.
func TestTableBruteForce(t *testing.T) {
	words := []string{"a", "b", "é", "C", "d-e", "l'f", "gg"}
	classes := []Class{GivenName, Surname, Drug, InstitutionHead}
	rapid.Check(t, func(t *rapid.T) {
		b, want := NewBuilder(), map[string]map[Class]int{}
		for range rapid.IntRange(0, 30).Draw(t, "entries") {
			form := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(t, "form"), " ")
			e := Entry{Form: form, Class: rapid.SampledFrom(classes).Draw(t, "class"), Frequency: rapid.IntRange(0, 5).Draw(t, "n")}
			b.Add(e)
			for _, way := range slices.Compact([]string{joined(fineWords(form)), joined(foldedWords(strings.Fields(form)))}) {
				if want[way] == nil {
					want[way] = map[Class]int{}
				}
				want[way][e.Class] += e.Frequency
			}
		}
		data := written(t, b)
		if !bytes.Equal(data, written(t, b)) {
			t.Fatal("the same entries gave other bytes")
		}
		table := loaded(t, data)
		merged, err := compile(fstest.MapFS{"a.txt": {Data: []byte("# class: Kinship\na\ngg\n")}})
		if err != nil {
			t.Fatal(err)
		}
		before := map[string]Class{"a": Kinship, "gg": Kinship}
		merged.join([]*Table{table})
		n := 0
		for f := range table.All() {
			n++
			for c, count := range want[f.Form] {
				if f.Class&c == 0 || f.Count(c) != count {
					t.Fatalf("%q as %v: %d, want %d", f.Form, c, f.Count(c), count)
				}
			}
			if found, ok := table.Find(f.Form); !ok || !cmp.Equal(found, f, cmp.AllowUnexported(Found{})) {
				t.Fatalf("%q: %+v and %+v", f.Form, f, found)
			}
			if !strings.Contains(f.Form, " ") {
				if table.Classes([]byte(f.Form)) != f.Class || merged.Classes([]byte(f.Form)) != f.Class|before[f.Form] {
					t.Fatalf("%q: classes differ", f.Form)
				}
			}
			text, tokens := tokensOf(f.Form)
			if p := entryAt(merged, text, tokens, 0); p.Class&f.Class != f.Class || int(p.Last) != len(tokens) {
				t.Fatalf("%q is no phrase of the merged lists", f.Form)
			}
		}
		if n != len(want) {
			t.Fatalf("%d entries, want %d", n, len(want))
		}
		for _, form := range []string{"zz", "a zz", "zz a", "a b a b"} {
			if _, ok := table.Find(form); ok != (want[form] != nil) {
				t.Fatalf("Find(%q) = %v", form, ok)
			}
		}
	})
}

// TestOrder wants the same bytes whatever order the rows come in.
func TestOrder(t *testing.T) {
	lines := []string{"GivenName Rosa 3", "Surname Rosa 4", "GivenName Pau 5", "GivenName Rosa 6", "word pau 3"}
	a := tableOf(t, lines...)
	slices.Reverse(lines)
	b := tableOf(t, lines...)
	var x, y bytes.Buffer
	if a.Write(&x) != nil || b.Write(&y) != nil || !bytes.Equal(x.Bytes(), y.Bytes()) {
		t.Error("the order of rows changes the file")
	}
}

func TestWith(t *testing.T) {
	same, err := With()
	if err != nil || same != Default() {
		t.Errorf("no tables: not the shipped lists (%v)", err)
	}
	staff := tableOf(t, "GivenName Xqztla 0", "Surname van der Xqzt 0")
	g, err := With(staff)
	if err != nil {
		t.Fatal(err)
	}
	if g.Classes([]byte("XQZTLA")) != GivenName || g.Classes([]byte("Montserrat")) != Default().Classes([]byte("Montserrat")) {
		t.Error("the merged lists lack a word")
	}
	other, err := With(tableOf(t, "GivenName Xqztla 0"))
	if err != nil || g.Fingerprint() == Default().Fingerprint() || g.Fingerprint() == other.Fingerprint() {
		t.Error("other lists, same fingerprint")
	}
	if Default().Classes([]byte("XQZTLA")) != 0 {
		t.Error("merging changed the shipped lists")
	}
}

func TestLoadTableRefuses(t *testing.T) {
	var crf bytes.Buffer
	if err := modelfile.Write(&crf, map[string]string{"kind": "crf"}); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(crf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTable(f); err == nil || !strings.Contains(err.Error(), `is of kind "crf", not "gazetteer"`) {
		t.Errorf("a CRF was taken for lists: %v", err)
	}
}

// FuzzTable changes the sections of a sound file, mends the checksums, and
// wants an error or look-ups that stay inside.
func FuzzTable(f *testing.F) {
	f.Add(uint8(0), uint16(0), uint64(0), uint16(0))
	for s := range uint8(6) {
		f.Add(s, uint16(1), uint64(1)<<40, uint16(0))
		f.Add(s, uint16(2), uint64(0xFFFFFFFF), uint16(4))
	}
	f.Fuzz(func(t *testing.T, section uint8, at uint16, value uint64, cut uint16) {
		table := tableOf(t, "GivenName Rosa 3", "Surname Rosa 4", "GivenName Maria Rosa 5", "word rosa 2", "Drug l'aas 1")
		var file bytes.Buffer
		if err := table.Write(&file); err != nil {
			t.Fatal(err)
		}
		sound, err := modelfile.Parse(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sections := slices.Clone(sound.Sections())
		s := &sections[int(section)%len(sections)]
		s.Data = slices.Clone(s.Data)
		for i := range 8 {
			if k := int(at) + i; k < len(s.Data) {
				s.Data[k] = byte(value >> (8 * i))
			}
		}
		s.Data = s.Data[:len(s.Data)-min(int(cut), len(s.Data))]
		var spoiled bytes.Buffer
		if err := modelfile.Write(&spoiled, table.Header(), sections...); err != nil {
			t.Fatal(err)
		}
		m, err := modelfile.Parse(spoiled.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if table, err = LoadTable(m); err != nil {
			return
		}
		for range table.All() {
		}
		for _, form := range []string{"rosa", "maria rosa", "maria", "x"} {
			table.Classes([]byte(form))
			found, _ := table.Find(form)
			table.Relative(found, GivenName)
		}
	})
}

// BenchmarkTable looks words of notes up, as they follow each other there:
// most are in no list of names.
func BenchmarkTable(b *testing.B) {
	builder := NewBuilder()
	for e, err := range Entries(Shipped()) {
		if err != nil {
			b.Fatal(err)
		}
		builder.Add(e)
	}
	for i := range 200_000 { // as large as all of INE's
		builder.Add(Entry{Form: fmt.Sprintf("nombre%d", i), Class: Surname, Frequency: i})
	}
	table := loaded(b, written(b, builder))
	text := strings.Fields(`Paciente de 45 años que acude a Urgencias del Hospital Clínic por dolor abdominal de dos días de evolución
		Nombre Montserrat Apellidos Puig Ferrer Domicilio Calle Balmes Localidad Sabadell tto con paracetamol 1 g cada 8 horas
		Exploración abdomen blando depresible doloroso en fosa ilíaca derecha Blumberg positivo analítica leucocitos 14500`)
	for _, c := range []struct {
		name string
		keep func(string) bool
	}{
		{"note", func(string) bool { return true }},
		{"hits", func(w string) bool { return table.Classes([]byte(w)) != 0 }},
		{"misses", func(w string) bool { return table.Classes([]byte(w)) == 0 }},
	} {
		var forms [][]byte
		for _, w := range text {
			if c.keep(w) {
				forms = append(forms, []byte(w))
			}
		}
		if c.name == "hits" { // names as people bear them: few are frequent, most of the table is rare
			zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 1, 199_999)
			for range 50_000 {
				forms = append(forms, fmt.Appendf(nil, "NOMBRE%d", zipf.Uint64()))
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				table.Classes(forms[i])
				if i++; i == len(forms) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlookups/s")
		})
	}
}

// TestEnterPhrase: the beginning of a phrase is no entry unless it was entered, before or after.
func TestEnterPhrase(t *testing.T) {
	one, two, three := chain(0, hash([]byte("de"))), uint64(0), uint64(0)
	two = chain(one, hash([]byte("la")))
	three = chain(two, hash([]byte("rosa")))
	for _, tt := range []struct {
		forms []string // each with the number of its place, from 7
		want  map[uint64]uint64
	}{
		{[]string{"de"}, map[uint64]uint64{one: 7}},
		{[]string{"de la rosa"}, map[uint64]uint64{one: moreBit | entryMask, two: moreBit | entryMask, three: 7}},
		{[]string{"de la", "de la rosa"}, map[uint64]uint64{one: moreBit | entryMask, two: moreBit | 7, three: 8}},
		{[]string{"de la rosa", "de la"}, map[uint64]uint64{one: moreBit | entryMask, two: moreBit | 8, three: 7}},
	} {
		keys := map[uint64]uint64{}
		for i, form := range tt.forms {
			enterPhrase(keys, form, uint64(7+i))
		}
		if !maps.Equal(keys, tt.want) {
			t.Errorf("%q: %x, want %x", tt.forms, keys, tt.want)
		}
	}
}
