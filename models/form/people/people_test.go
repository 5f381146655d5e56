package people

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// The people of the tests: all are invented.
func known(t testing.TB) *Table {
	return tableOf(t,
		[]Value{{Patient, "7"}, {Given, "Núria"}, {Surname, "Hernández"}, {Surname, "de la Fuente"}, {Birth, "1950-03-12"},
			{Telephone, "+34 600 12 34 56"}, {Identifier, "12345678Z"}, {Address, "Carrer de la Lluna, 12, 3r 2a, 08001 Barcelona"}},
		[]Value{{Patient, "7"}, {RoleField, "relative"}, {Name, "Rosa García Soto"}},
		[]Value{{Patient, "8"}, {Name, "Prats Vidal, Joan Miquel"}},
		[]Value{{RoleField, "staff"}, {Given, "Imma"}, {Surname, "Puigdevall"}, {Surname, "Torra"}},
	)
}

// found marks what was found in a text: «...».
func found(t testing.TB, table *Table, patient, text string) string {
	t.Helper()
	all, err := NewFinder(table).Find(nil, []byte(patient), []byte(text), pipeline.Spanish)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	at := int32(0)
	for _, f := range all {
		if f.Start < at { // overlaps: the longer one stands first
			continue
		}
		b.WriteString(text[at:f.Start] + "«" + text[f.Start:f.End] + "»")
		at = f.End
	}
	return b.String() + text[at:]
}

func TestFind(t *testing.T) {
	table := known(t)
	for _, c := range []struct{ patient, want string }{
		{"7", "Acude «Núria Hernández de la Fuente» con fiebre"},
		{"7", "«HERNANDEZ DE LA FUENTE, NURIA» acude"},
		{"7", "«nuria hernandez» refiere tos"},
		{"7", "«Nuria Hdez». refiere tos"},
		{"7", "la «N. Hernández» refiere; «Hernández, N». tambien"},
		{"7", "refiere «Nuira» tos"},
		{"7", "«Núria Hernandes» con «NúriaHernández»"},
		{"7", "«N.H.F». refiere; pasa la «NHF», no la NHD"},
		{"7", "ve a la fuente de agua"},
		{"7", "DR«Hernández»; «Drahernández»"},
		{"7", "su hija «Rosa» dice; le salen manchas rosa; «rosa garcia» viene"},
		{"7", "nacida el «12/03/1950», «12-3-50», «12 de marzo de 1950», «1950-03-12»; visita 12/03/2019"},
		{"7", "tel «600123456», «600 12 34 56», +34 «600-123-456»; no 1600123456 ni 6001234567"},
		{"7", "DNI «12345678Z», «12.345.678-z», «12345678»; cuenta 912345678"},
		{"7", "vive «c/ Lluna 12», «carrer de la Lluna, 12», CP «08001»; luna llena 21"},
		{"8", "ve «Joan Miquel Prats»; «J. M. Prats» o «Prats»; Núria Hernández no"},
		{"", "Dra «Puigdevall»; «Imma Puigdevall Torra»; «I. Puigdevall»; «Puigdevall, I»."},
		{"9", "Dra «Puigdeval» con «Imma Puigdevalla»; la torra"},
		{"8", "Imma viene sola"},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(c.want)
		if got := found(t, table, c.patient, text); got != c.want {
			t.Errorf("patient %q:\n got %s\nwant %s", c.patient, got, c.want)
		}
	}
}

func TestOneEdit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"garcia", "garcia", false}, {"garcia", "gracia", true}, {"garcia", "garci", true}, {"garcia", "agarcia", true}, {"garcia", "garsia", true},
		{"garcia", "garsai", false}, {"garcia", "grcai", false}, {"a", "", true}, {"ab", "ba", true}, {"abc", "cba", false},
	} {
		if oneEdit([]byte(c.a), []byte(c.b)) != c.want || oneEdit([]byte(c.b), []byte(c.a)) != c.want {
			t.Errorf("oneEdit(%q, %q) is not %v", c.a, c.b, c.want)
		}
	}
}

// TestEditsAreFound: whatever one edit is made in a surname beside a given name.
func TestEditsAreFound(t *testing.T) {
	table := known(t)
	rapid.Check(t, func(r *rapid.T) {
		name := []byte("hernandez")
		at := rapid.IntRange(0, len(name)-2).Draw(r, "at")
		letter := byte(rapid.IntRange('a', 'z').Draw(r, "letter"))
		switch rapid.IntRange(0, 3).Draw(r, "edit") {
		case 0:
			name = slices.Delete(name, at, at+1)
		case 1:
			name = slices.Insert(name, at, letter)
		case 2:
			name[at] = letter
		default:
			name[at], name[at+1] = name[at+1], name[at]
		}
		want := "«Nuria " + string(name) + "» ve"
		if got := found(t, table, "7", "Nuria "+string(name)+" ve"); got != want {
			r.Fatalf("got %s", got)
		}
	})
}

// FuzzFind: places lie in the text, are in order, and cut no character.
func FuzzFind(f *testing.F) {
	f.Add("Núria Hernández, 12/03/1950, c/ Lluna 12, 600123456, N.H.F. DRAlfaro")
	f.Add("\u0301\u0301 Ä. ª º 1º2ª ·l·l· 12.345.678-Ž")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		all, err := NewFinder(known(t)).Find(nil, []byte("7"), []byte(text), pipeline.Catalan)
		if err != nil {
			t.Fatal(err)
		}
		last := int32(0)
		for _, at := range all {
			if at.Start < last || at.End <= at.Start || int(at.End) > len(text) || !strings.HasPrefix(strings.ToValidUTF8(text[at.Start:], "\x00"), text[at.Start:at.End]) {
				t.Fatalf("place %d-%d in a text of %d bytes", at.Start, at.End, len(text))
			}
			last = at.Start
		}
	})
}

// TestRecords: patients with many people, long records, and ids that share a
// hash with none.
func TestRecords(t *testing.T) {
	var rows [][]Value
	for range 300 {
		rows = append(rows, []Value{{Patient, "many"}, {Surname, "Serrallonga"}, {Address, strings.Repeat("Carrer Gran ", 200)}})
	}
	table := tableOf(t, append(rows, []Value{{Patient, "one"}, {Surname, "Casademont"}})...)
	if got := found(t, table, "many", "ve Serrallonga i Casademont"); got != "ve «Serrallonga» i Casademont" {
		t.Error(got)
	}
	if got := found(t, table, "one", "ve Serrallonga i Casademont"); got != "ve Serrallonga i «Casademont»" {
		t.Error(got)
	}
	if table.Rows() != 301 || table.Staff() != 0 {
		t.Errorf("%d rows, %d of staff", table.Rows(), table.Staff())
	}
	if err := NewBuilder(nil).Add([]Value{{Patient, "x"}, {Telephone, "12"}}); err != ErrNothing {
		t.Errorf("a row with nothing: %v", err)
	}
}

// TestParticles: the particles in the name of somebody who works there tell nothing by themselves.
func TestParticles(t *testing.T) {
	table := tableOf(t, []Value{{RoleField, "staff"}, {Given, "Rosa"}, {Surname, "de la Fuente"}})
	for text, want := range map[string]string{
		"sale de la consulta, Rosa de la Fuente": "sale de la consulta, «Rosa de la Fuente»",
		"Rosa de la planta, de la Rosa":          "Rosa de la planta, de la Rosa",
		"la Dra. Fuente; la fuente de la plaza":  "la Dra. «Fuente»; la fuente de la plaza",
	} {
		if got := found(t, table, "", text); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
