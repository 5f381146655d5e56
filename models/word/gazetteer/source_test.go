package gazetteer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// readAll returns the entries as "Class form count", one a line.
func readAll(s Source, text string) (lines []string, in Intake, err error) {
	in, err = s.Read(strings.NewReader(text), func(e Entry) {
		lines = append(lines, fmt.Sprintf("%v %s %d", e.Class, e.Form, e.Frequency))
	})
	return lines, in, err
}

func TestSources(t *testing.T) {
	for _, c := range []struct {
		name   string
		source Source
		text   string
		want   string // entries, joined by "; "
		bad    int
	}{
		{"INE given names", Source{}, "nombre,frec,edad_media\nANTONIO,765138,52.7\nMARIA CARMEN,681108,51.1\n", "GivenName ANTONIO 765138; GivenName MARIA CARMEN 681108", 0},
		{"INE surnames: two counts", Source{}, "apellido,frec_pri,frec_seg,freq_rep\nGARCIA,1484607,1498937,82190\n", "Surname GARCIA 2983544", 0},
		{"INE as published", Source{}, "Orden;Apellido;1er apellido;2º apellido\n1;GARCIA;1.484.607;1.498.937\n2;XU;..;12\n", "Surname GARCIA 2983544; Surname XU 12", 0},
		{"Barcelona", Source{}, "cognom\tvalor\tordre_cognom\nGARCIA\t31505\t2\nGARCIA\t30727\t1\n", "Surname GARCIA 31505; Surname GARCIA 30727", 0},
		{"municipalities", Source{}, "municipio_id,provincia_id,cmun,dc,nombre\n43110,43,110,1,\"Pobla de Massaluca, La\"\n01051,01,051,3,Agurain/Salvatierra\n08101,08,101,7,\"Hospitalet de Llobregat, L'\"\n",
			"Municipality Pobla de Massaluca 0; Municipality La Pobla de Massaluca 0; Municipality Agurain 0; Municipality Salvatierra 0; Municipality Hospitalet de Llobregat 0; Municipality L'Hospitalet de Llobregat 0", 0},
		{"provinces", Source{}, "provincia_id,nombre\n03,Alicante/Alacant\n", "Province Alicante 0; Province Alacant 0", 0},
		{"postal codes", Source{}, "codigo_postal,municipio_id,municipio_nombre\n00085,49064,Fariza\n", "Municipality Fariza 0", 0},
		{"counts with a decimal zero", Source{}, "codi ABS,descripcio ABS,codi SS,descripcio SS,població oficial\n1,Agramunt,6156,Lleida,6486.0\n", "Municipality Agramunt 6486", 0},
		{"wordfreq", Source{Class: CommonWord}, "de 14459520\nque 14421005\n", "CommonWord de 14459520; CommonWord que 14421005", 0},
		{"form, count", Source{Class: CommonWord}, "de, 6010951\nla, 4994785\n", "CommonWord de 6010951; CommonWord la 4994785", 0},
		{"plain lines", Source{Class: Drug}, "ácido acetilsalicílico\n\n1,2-benzantraceno\r\nSintrom\n", "Drug ácido acetilsalicílico 0; Drug 1,2-benzantraceno 0; Drug Sintrom 0", 0},
		{"own list", Source{}, "# class: Surname\n# source: x\nPuig\t12\nvan Dyck\n", "Surname Puig 12; Surname van Dyck 0", 0},
		{"classes by column", Source{}, "name,class,count\nPuig,Surname,12\nRosa,GivenName,\nx,Nothing,1\n", "Surname Puig 12; GivenName Rosa 0", 1},
		{"columns by name", Source{Class: GivenName, Form: "pila", Counts: []string{"a", "b"}}, "id|pila|a|b\n1|Rosa|2|3\n", "", -1},
		{"columns by name and separator", Source{Class: GivenName, Form: "Pila", Counts: []string{"a", "b"}, Separator: '|'}, "id|pila|a|b\n1|Rosa|2|3\n", "GivenName Rosa 5", 0},
		{"columns by number, no header", Source{Class: GivenName, Form: "2", Counts: []string{"3"}, NoHeader: true}, "1;Rosa;2\n2;Pau;x\n3;Ot\n", "GivenName Rosa 2", 2},
		{"class of the argument wins", Source{Class: Surname}, "nombre,frec\nROSA,3\n", "Surname ROSA 3", 0},
		{"quotes", Source{}, "nombre,frec\n\"JOSE \"\"PEPE\"\"\",3\n", "GivenName JOSE \"PEPE\" 3", 0},
		{"bad rows", Source{}, "nombre,frec\nROSA,3\nPAU,many\n,4\n77,5\n" + strings.Repeat("A", 70) + ",1\nOT,1\n", "GivenName ROSA 3; GivenName OT 1", 4},
		{"byte order mark", Source{}, "\uFEFFnombre,frec\nROSA,3\n", "GivenName ROSA 3", 0},
		{"Latin-1", Source{}, "nombre,frec\nBEGO\xD1A,3\n", "GivenName BEGOÑA 3", 0},
		{"not told: columns", Source{Class: Drug}, "a,b,c\nd,e,f\n", "", -1},
		{"not told: class", Source{}, "Puig 12\nRos 3\n", "", -1},
		{"no such column", Source{Class: Drug, Form: "9"}, "a,b,c\nd,e,f\n", "", -1},
		{"unknown class", Source{}, "# class: Nothing\na\n", "", -1},
		{"empty", Source{Class: Drug}, "\n \n", "", -1},
	} {
		got, in, err := readAll(c.source, c.text)
		if (c.bad < 0) != (err != nil) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		if s := strings.Join(got, "; "); s != c.want || err == nil && in.Bad != c.bad {
			t.Errorf("%s: %q with %d bad rows, want %q with %d", c.name, s, in.Bad, c.want, c.bad)
		}
	}
}

// TestRowErrors wants the place, the cause and a remedy of every bad row, and
// none of its words.
func TestRowErrors(t *testing.T) {
	_, in, err := readAll(Source{Name: "names.csv"}, "nombre,frec\nROSA,3\n\nPAU,secret1\nOT,1,secret2\nsecret3 77 \n"+strings.Repeat("a ", 20)+",2\n"+strings.Repeat("OT,1\n", 9))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, why := range in.Why {
		if why.Remedy == "" {
			t.Errorf("%v: no remedy", why)
		}
		got = append(got, why.Error())
	}
	want := []string{
		"names.csv:4, column frec: is not a count",
		"names.csv:6, column frec: the row ends before it",
		"names.csv:7, column nombre: has more than 12 words, or one of more than 64 bytes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for range 20 {
		in.Bad++
	}
	_, in, _ = readAll(Source{}, "nombre,frec\n"+strings.Repeat("A,x\n", 50))
	if in.Bad != 50 || len(in.Why) != maxWhy {
		t.Errorf("%d bad rows, %d named; want 50 and %d", in.Bad, len(in.Why), maxWhy)
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("nombre,frec\nROSA,3\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, err := readAll(Source{}, b.String())
	if err != nil || !slices.Equal(got, []string{"GivenName ROSA 3"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, _, err := readAll(Source{}, b.String()[:12]); err == nil {
		t.Error("a cut file was read")
	}
}

func TestParseCount(t *testing.T) {
	for _, c := range []struct {
		text string
		want int // -1: refused
	}{
		{"12", 12}, {" 12 ", 12}, {"1.484.607", 1484607}, {"1,484,607", 1484607}, {"6486.0", 6486}, {"6.486", 6486}, {"", 0}, {"..", 0}, {"-", 0},
		{"99999999999", maxCount}, {"1.5", -1}, {"1.48.607", -1}, {"x", -1}, {"-3", -1}, {"1234.567", -1}, {"52.7", -1}, {"99999999999999999999", -1},
	} {
		got, ok := parseCount(c.text)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("parseCount(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

// FuzzSource wants entries that can be looked up, whatever the list is, and
// the same ones when it is read again.
func FuzzSource(f *testing.F) {
	for _, text := range []string{
		"nombre,frec,edad_media\nANTONIO,765138,52.7\n", "apellido;frec_pri;frec_seg\nGARCIA;1;2\n", "de 3\nla 2\n", "de, 3\n",
		"# class: Drug\naas\t3\n", "term\ttype\tcount\na\tDrug\t3\n", "\x1f\x8b\x08", "a\"b,\"c\nd", "\xff,1\n",
	} {
		f.Add(text, "", "", byte(0))
		f.Add(text, "1", "2", byte(1))
	}
	f.Fuzz(func(t *testing.T, text, form, count string, class byte) {
		s := Source{Name: "f", Class: Class(class) & (GivenName | Municipality), Form: form, NoHeader: class&4 != 0}
		if count != "" {
			s.Counts = []string{count}
		}
		got, in, err := readAll(s, text)
		again, _, _ := readAll(s, text)
		if !slices.Equal(got, again) {
			t.Fatal("another reading, other entries")
		}
		if err != nil {
			return
		}
		if in.Rows > len(got) || in.Bad < len(in.Why) {
			t.Fatalf("%d rows, %d entries, %d bad, %d named", in.Rows, len(got), in.Bad, len(in.Why))
		}
		b := NewBuilder()
		var forms []string
		if _, err := s.Read(strings.NewReader(text), func(e Entry) { b.Add(e); forms = append(forms, e.Form) }); err != nil {
			t.Fatal(err)
		}
		table, err := b.Table("f")
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			if _, ok := table.Find(form); !ok {
				t.Fatal("an entry is not found")
			}
		}
	})
}
