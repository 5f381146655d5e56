package recognize

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

func category(t *testing.T, name string) pipeline.Category {
	t.Helper()
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// known and given are spans as Join gets them; the scores tell them apart.
func known(start, end int32, c pipeline.Category) pipeline.Span {
	return pipeline.Span{Start: start, End: end, Score: 1, Category: c, Source: pipeline.FromKnown}
}

func given(start, end int32, c pipeline.Category) pipeline.Span {
	return pipeline.Span{Start: start, End: end, Score: 0.5, Category: c, Source: pipeline.FromModel}
}

func TestJoin(t *testing.T) {
	person, place := category(t, "PERSON"), category(t, "LOCATION")
	for _, c := range []struct {
		name                string
		given, known, wants []pipeline.Span
	}{
		{"nothing", nil, nil, nil},
		{"given alone", []pipeline.Span{given(1, 3, place), given(3, 5, person)}, nil, []pipeline.Span{given(1, 3, place), given(3, 5, person)}},
		{"known alone", nil, []pipeline.Span{known(1, 3, person)}, []pipeline.Span{known(1, 3, person)}},
		{"side by side", []pipeline.Span{given(3, 5, place)}, []pipeline.Span{known(1, 3, person), known(5, 6, person)},
			[]pipeline.Span{known(1, 3, person), given(3, 5, place), known(5, 6, person)}},
		{"given first, overlapping", []pipeline.Span{given(1, 4, place)}, []pipeline.Span{known(3, 6, person)}, []pipeline.Span{known(1, 6, person)}},
		{"known first, overlapping", []pipeline.Span{given(3, 6, place)}, []pipeline.Span{known(1, 4, person)}, []pipeline.Span{known(1, 6, person)}},
		{"known inside", []pipeline.Span{given(1, 9, place)}, []pipeline.Span{known(3, 6, person)}, []pipeline.Span{known(1, 9, person)}},
		{"given inside", []pipeline.Span{given(3, 6, place)}, []pipeline.Span{known(1, 9, person)}, []pipeline.Span{known(1, 9, person)}},
		{"the same place", []pipeline.Span{given(1, 4, place)}, []pipeline.Span{known(1, 4, person)}, []pipeline.Span{known(1, 4, person)}},
		{"two known", nil, []pipeline.Span{known(1, 4, person), known(2, 6, place)}, []pipeline.Span{known(1, 6, person)}},
		{"touching", []pipeline.Span{given(1, 3, place)}, []pipeline.Span{known(3, 6, person)}, []pipeline.Span{given(1, 3, place), known(3, 6, person)}},
		{"a bridge", []pipeline.Span{given(1, 3, place), given(5, 7, place)}, []pipeline.Span{known(2, 6, person)}, []pipeline.Span{known(1, 7, person)}},
	} {
		before := []pipeline.Span{given(0, 99, place)} // of the note before: never joined
		got := Join(slices.Clone(before), c.given, c.known)
		if !slices.Equal(got, append(before, c.wants...)) {
			t.Errorf("%s: %+v, want %+v", c.name, got[1:], c.wants)
		}
	}
}

func TestObjection(t *testing.T) {
	set := func(ids ...string) *patientid.Set {
		s := patientid.NewSet(xxh3.Hash)
		for i, id := range ids {
			s.Add([]byte(id), int64(i))
		}
		return s
	}
	for _, c := range []struct {
		excluded []*patientid.Set
		patient  string
		want     pipeline.Reason
	}{
		{nil, "A1", pipeline.Sound},
		{nil, "", pipeline.Sound},
		{[]*patientid.Set{set("A1")}, "A1", pipeline.Excluded},
		{[]*patientid.Set{set("A1")}, "A2", pipeline.Sound},
		{[]*patientid.Set{set("A1"), set("A2")}, "A2", pipeline.Excluded},
		{[]*patientid.Set{set("A1")}, "", pipeline.NoPatient},
		{[]*patientid.Set{set()}, "", pipeline.NoPatient},
	} {
		if got := Objection(c.excluded, []byte(c.patient)); got != c.want {
			t.Errorf("%q of %d sets: %v, want %v", c.patient, len(c.excluded), got, c.want)
		}
	}
}

// batch has one note a text, of the patient of the same place.
func batch(patients, texts []string) *pipeline.Batch {
	b := &pipeline.Batch{Extra: []pipeline.Column{{Name: "patient", Kind: pipeline.BytesColumn}}}
	for i, text := range texts {
		b.Text.Append([]byte(text))
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Language = append(b.Language, pipeline.Spanish)
		b.Extra[0].Valid = append(b.Extra[0].Valid, patients[i] != "")
		b.Extra[0].Bytes.Append([]byte(patients[i]))
	}
	return b
}

// found is what a note's known spans cover.
func found(b *pipeline.Batch, i int) (all []string) {
	for _, s := range b.Known.At(i) {
		all = append(all, string(b.Text.At(i)[s.Start:s.End])+" "+s.Category.String())
	}
	return all
}

func TestStep(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "people"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	builder := people.NewBuilder(file)
	for _, row := range [][]people.Value{
		{{Field: people.Patient, Text: "A1"}, {Field: people.Name, Text: "Leocadia"}},
		{{Field: people.Patient, Text: "A2"}, {Field: people.Name, Text: "Wenceslao"}},
	} {
		if err := builder.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	table, err := builder.Table(file)
	if err != nil {
		t.Fatal(err)
	}
	excluded := patientid.NewSet(xxh3.Hash)
	excluded.Add([]byte("A9"), 0)
	labels := &pipeline.LabelSet{Categories: []pipeline.Category{category(t, "PERSON"), category(t, "DATE")}}
	date := category(t, "DATE")
	b := batch([]string{"A1", "A2", "A9", "", "A1"}, []string{"Viene Leocadia sola.", "Leocadia acompaña a Wenceslao.", "Viene Leocadia.", "Leocadia", "Control de Leocadia en mayo."})
	b.Reason[2] = pipeline.BadUnit
	for i := range b.Len() {
		if i == 4 {
			b.Given.Append(pipeline.Span{Start: 23, End: 27, Category: date}, pipeline.Span{Start: 0, End: 7, Category: category(t, "LOCATION")})
		} else {
			b.Given.End()
		}
	}
	step := New(Options{People: table, Excluded: []*patientid.Set{excluded}, PatientColumn: "patient", Labels: labels, Into: func(c pipeline.Category) pipeline.Category {
		if c == date {
			return c
		}
		return pipeline.None
	}})
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		spans  []string
		reason pipeline.Reason
	}{
		{[]string{"Leocadia PERSON"}, pipeline.Sound},
		{[]string{"Wenceslao PERSON"}, pipeline.Sound}, // another patient's name is nobody's here
		{nil, pipeline.Excluded},                       // whatever else is wrong with it
		{nil, pipeline.NoPatient},
		{[]string{"Control NONE", "Leocadia PERSON", "mayo DATE"}, pipeline.BadTags}, // a given span that has no name here
	} {
		got := found(b, i)
		if i == 4 {
			got[0] = "Control NONE"
		}
		if !slices.Equal(got, want.spans) || b.Reason[i] != want.reason {
			t.Errorf("note %d: %q, %v, want %q, %v", i, found(b, i), b.Reason[i], want.spans, want.reason)
		}
		for _, s := range b.Known.At(i) {
			if s.Source != pipeline.FromKnown {
				t.Errorf("note %d: source %v", i, s.Source)
			}
		}
	}
	if got := string(b.Avoid.At(0)); got != "leocadia " {
		t.Errorf("no surrogate may be %q", got)
	}
	if b.Known.Len() != b.Len() || b.Avoid.Len() != b.Len() {
		t.Errorf("columns of %d and %d notes", b.Known.Len(), b.Avoid.Len())
	}
}

// TestCategories has the category of each kind of find in three label sets: the first name of the row that the set has.
func TestCategories(t *testing.T) {
	set := func(names ...string) *pipeline.LabelSet {
		s := new(pipeline.LabelSet)
		for _, name := range names {
			s.Categories = append(s.Categories, category(t, name))
		}
		return s
	}
	finds := []people.Found{
		{Kind: people.PersonName, Role: people.IsPatient}, {Kind: people.PersonName, Role: people.IsRelative}, {Kind: people.PersonName, Role: people.IsStaff},
		{Kind: people.BirthDate}, {Kind: people.Place}, {Kind: people.PhoneNumber}, {Kind: people.IDNumber}, {Kind: people.IDNumber, Role: people.IsStaff},
	}
	for _, c := range []struct {
		set  *pipeline.LabelSet
		want []string // "": None
	}{
		{set("LOCATION", "TELEPHONE", "DATE", "DNI", "PERSON"), []string{"PERSON", "PERSON", "PERSON", "DATE", "LOCATION", "TELEPHONE", "DNI", "DNI"}},
		{set("PERSON", "DATE"), []string{"PERSON", "PERSON", "PERSON", "DATE", "", "", "", ""}},
		{set("NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA", "NOMBRE_SUJETO_ASISTENCIA", "FECHAS", "CALLE", "NUMERO_TELEFONO", "ID_SUJETO_ASISTENCIA", "ID_TITULACION_PERSONAL_SANITARIO"),
			[]string{"NOMBRE_SUJETO_ASISTENCIA", "FAMILIARES_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FECHAS", "CALLE", "NUMERO_TELEFONO", "ID_SUJETO_ASISTENCIA", "ID_TITULACION_PERSONAL_SANITARIO"}},
	} {
		of := categoriesOf(c.set)
		for i, kind := range []document.Kind{document.PatientName, document.RelativeName, document.StaffName, document.Date, document.Address, document.Phone, document.PatientID, document.StaffID} {
			if got := of.field(kind); c.want[i] == "" && got != pipeline.None || c.want[i] != "" && got.String() != c.want[i] {
				t.Errorf("field of kind %d: %v, want %q", kind, got, c.want[i])
			}
		}
		if of.field(document.EventDate) != of.birth {
			t.Error("the date of an event has another category than that of a birth")
		}
		for i, f := range finds {
			got := of.of(f)
			if c.want[i] == "" && got != pipeline.None || c.want[i] != "" && got.String() != c.want[i] {
				t.Errorf("find %+v: %v, want %q", f, got, c.want[i])
			}
		}
	}
}

// TestFields: what the document of a note gives to persons is known wherever it stands in the text: of a column of documents, and of
// cells that are documents. A note whose document is none is held back; one without a document has nothing.
func TestFields(t *testing.T) {
	const doc = "MSH|^~\\&|L|H|E|H|20260105||ORU^R01|M1|P|2.5\rPID|1||463^^^HSP^MR||Roca^Leocadia\rOBX|1|TX|1^N||Viene Leocadia Roca sola.\r"
	d, reason := document.Open([]byte(doc), document.Options{})
	if reason != pipeline.Sound || !strings.Contains(string(d.Text), "Viene Leocadia Roca sola.") {
		t.Fatalf("%v: %q", reason, d.Text)
	}
	labels := &pipeline.LabelSet{Categories: []pipeline.Category{category(t, "PERSON"), category(t, "DNI")}}
	for _, cells := range []bool{false, true} {
		b := batch([]string{"", "", ""}, []string{string(d.Text), "Viene Leocadia.", "Viene Leocadia."})
		docs := pipeline.Column{Name: "doc", Kind: pipeline.BytesColumn}
		for _, cell := range []string{doc, "", "{"} {
			docs.Valid = append(docs.Valid, true)
			if docs.Bytes.Append([]byte(cell)); cells {
				b.Cells.Append([]byte(cell))
			}
		}
		if !cells {
			b.Extra = append(b.Extra, docs)
		}
		if err := New(Options{PatientColumn: "patient", Source: "doc", Labels: labels}).New()(b); err != nil {
			t.Fatal(err)
		}
		got := found(b, 0)
		for _, want := range []string{"Leocadia PERSON", "Roca PERSON"} {
			if !slices.ContainsFunc(got, func(s string) bool { return s == want || s == "Leocadia Roca PERSON" }) {
				t.Errorf("cells %v: %q, want %s", cells, got, want)
			}
		}
		if len(found(b, 1))+len(found(b, 2)) > 0 || b.Reason[0] != pipeline.Sound || b.Reason[1] != pipeline.Sound || b.Reason[2] != pipeline.BadRow {
			t.Errorf("cells %v: %q and %q, %v", cells, found(b, 1), found(b, 2), b.Reason)
		}
		// Who names no source is told nothing of documents.
		b = batch([]string{""}, []string{string(d.Text)})
		b.Cells.Append([]byte(doc))
		if err := New(Options{PatientColumn: "patient", Labels: labels}).New()(b); err != nil || len(found(b, 0)) > 0 {
			t.Errorf("without a source: %q, %v", found(b, 0), err)
		}
	}
}

// TestGivenAlone: a span that others have found is known where nobody else is; a batch without any stays as it is.
func TestGivenAlone(t *testing.T) {
	person := category(t, "PERSON")
	labels := &pipeline.LabelSet{Categories: []pipeline.Category{person}}
	same := func(c pipeline.Category) pipeline.Category { return c }
	b := batch([]string{"A1"}, []string{"Viene Leocadia."})
	b.Given.Append(pipeline.Span{Start: 6, End: 14, Category: person})
	if err := New(Options{PatientColumn: "patient", Labels: labels, Into: same}).New()(b); err != nil || !slices.Equal(found(b, 0), []string{"Leocadia PERSON"}) {
		t.Errorf("%q, %v", found(b, 0), err)
	}
}
