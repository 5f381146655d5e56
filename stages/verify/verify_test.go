package verify

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// batchOf makes a batch of one note from marked text and the text that left
// mask.
func batchOf(t testing.TB, marked, masked string) *pipeline.Batch {
	t.Helper()
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	b := new(pipeline.Batch)
	b.ID.Append([]byte("1"))
	b.Text.Append(text)
	b.Spans.Append(spans...)
	b.Masked.Append([]byte(masked))
	b.Reason = append(b.Reason, pipeline.Sound)
	place(b)
	return b
}

// place finds where the replacements lie in the masked texts: each gap between
// two spans is looked for behind the one before.
func place(b *pipeline.Batch) {
	for i := b.Places.Len(); i < b.Masked.Len(); i++ {
		text, masked, at, old := b.Text.At(i), b.Masked.At(i), 0, 0
		spans := b.Spans.At(i)
		for k, s := range spans {
			if int(s.End) > len(text) {
				continue
			}
			start := min(at+int(s.Start)-old, len(masked))
			next := len(text)
			if k+1 < len(spans) {
				next = int(spans[k+1].Start)
			}
			end := start + max(bytes.Index(masked[start:], text[s.End:next]), 0)
			if k+1 == len(spans) {
				end = max(start, len(masked)-(len(text)-int(s.End)))
			}
			b.Places.Items = append(b.Places.Items, pipeline.Span{Start: int32(start), End: int32(end), Category: s.Category})
			at, old = end, int(s.End)
		}
		b.Places.End()
	}
}

// maskedOf writes placeholders for the spans.
func maskedOf(text []byte, spans []pipeline.Span) string {
	var s strings.Builder
	at := int32(0)
	for _, p := range spans {
		s.Write(text[at:p.Start])
		s.WriteString("[" + p.Category.String() + "]")
		at = p.End
	}
	s.Write(text[at:])
	return s.String()
}

func verify(t testing.TB, o Options, b *pipeline.Batch) pipeline.Reason {
	t.Helper()
	place(b)
	if err := New(o).New()(b); err != nil {
		t.Fatal(err)
	}
	return b.Reason[0]
}

// In a marked text the spans are masked and the rest is what is left: a value
// that stands twice but is marked once survives.
var survivalTests = []struct {
	name, marked string
	want         pipeline.Reason
}{
	{"nothing masked", "tos y fiebre de 3 días", pipeline.Sound},
	{"clean", "visto por [PERSON:Ada Gil] en [LOCATION:Olot]", pipeline.Sound},
	{"same value", "[PERSON:Ada Gil] acude. Ada Gil refiere", pipeline.SurvivingValue},
	{"case", "[PERSON:Ada Gil] acude. ADA GIL refiere", pipeline.SurvivingValue},
	{"accents", "[PERSON:José Pérez] acude con JOSE PEREZ", pipeline.SurvivingValue},
	{"accents the other way", "[PERSON:JOSE PEREZ] acude con José Pérez", pipeline.SurvivingValue},
	{"combining accent", "[LOCATION:Lleida], Lle\u0301ida", pipeline.SurvivingValue},
	{"combining accent at the end", "[LOCATION:Alcalá] de Alcala\u0301.", pipeline.SurvivingValue},
	{"spacing", "[LOCATION:San  Roque] y San\nRoque", pipeline.SurvivingValue},
	{"hyphen", "[PERSON:Pérez-Gil] y Perez Gil", pipeline.SurvivingValue},
	{"joined", "[PERSON:Pérez Gil] y PérezGil", pipeline.SurvivingValue},
	{"soft hyphen", "[LOCATION:Manresa] y Man\u00adresa", pipeline.SurvivingValue},
	{"no width", "[LOCATION:Manresa] y Man\u200bresa", pipeline.SurvivingValue},
	{"middle dot", "[LOCATION:Sant Marcel·lí] i SANT MARCELLI", pipeline.SurvivingValue},
	{"l with dot", "[LOCATION:Avinyó d'Alŀla] i Avinyó d'Allla", pipeline.SurvivingValue},
	{"Polish", "[PERSON:Łukasz Żak] y LUKASZ ZAK", pipeline.SurvivingValue},
	{"surname alone", "[PERSON:Ada Quiroga] acude. La Sra. Quiroga refiere", pipeline.SurvivingValue},
	{"given name alone", "[PERSON:Ada Quiroga] acude. ADA refiere", pipeline.SurvivingValue},
	{"surname glued by a capital", "[PERSON:Ada Quiroga] acude. PacQuiroga refiere", pipeline.SurvivingValue},
	{"surname before a capital", "[PERSON:Ada Quiroga] acude. QuirogaNºCol", pipeline.SurvivingValue},
	{"surname behind an apostrophe", "[PERSON:Anna Quiroga] i l'Anna", pipeline.SurvivingValue},
	{"surname before a digit", "[PERSON:Ada Quiroga] y Quiroga2", pipeline.SurvivingValue},
	{"surname within a word", "[PERSON:Ada Rocas] y rocastro", pipeline.Sound},
	{"particles of a name", "[PERSON:Ada de la Fonta] de la sala", pipeline.Sound},
	{"initial", "[PERSON:A. Quiroga] a las 10", pipeline.Sound},
	{"two letters", "[PERSON:Li] li", pipeline.Sound},
	{"three letters", "[PERSON:Lin] lin", pipeline.SurvivingValue},
	{"name that is a word", "[PERSON:Dolores Blanco] con dolores y fondo blanco", pipeline.Sound},
	{"name that is a word, as a name", "[PERSON:Dolores Blanco] con Dolores", pipeline.SurvivingValue},
	{"word name whole", "[PERSON:Dolores Blanco] y dolores blanco", pipeline.SurvivingValue},
	{"name that is a word, alone", "[PERSON:Rosa] y rosa", pipeline.SurvivingValue},
	{"place", "[LOCATION:Olot] y la comarca de Olot", pipeline.SurvivingValue},
	{"words of a place", "[LOCATION:Hospital de Olot] ingreso en el hospital de día", pipeline.Sound},
	{"place of heads only", "[LOCATION:Hospital] y hospital", pipeline.Sound},
	{"street", "[LOCATION:calle Mina 4] y Calle Mina, 4", pipeline.SurvivingValue},
	{"telephone", "[TELEPHONE:600 123 123] o 600123123", pipeline.SurvivingValue},
	{"telephone the other way", "[TELEPHONE:600123123] o 600.12.31.23", pipeline.SurvivingValue},
	{"digits within a number", "[RECORD_ID:12345] y 9123456", pipeline.Sound},
	{"digits before a letter", "[RECORD_ID:12345] y 12345Z", pipeline.SurvivingValue},
	{"number in a value", "[LOCATION:Rec 3, 17469 Fortià] CP 17469", pipeline.SurvivingValue},
	{"short record", "[RECORD_ID:4579] y 4579", pipeline.SurvivingValue},
	{"short number in a value", "[LOCATION:Rec 345] y 345 mg", pipeline.Sound},
	{"age", "[AGE:5 años], dolor desde hace 5 años", pipeline.Sound},
	{"bare age", "[AGE:70] y 70 mg", pipeline.Sound},
	{"year", "[DATE:2014] y 2014 ml", pipeline.Sound},
	{"year with its word", "[DATE:año 2014] y año 2014", pipeline.Sound},
	{"date", "[DATE:12/03/2014] y 12/03/2014", pipeline.SurvivingValue},
	{"date with other signs", "[DATE:12/03/2014] y 12-03-2014", pipeline.SurvivingValue},
	{"date in words", "[DATE:3 de mayo] y el 3 de Mayo", pipeline.SurvivingValue},
	{"sex", "[SEXO_SUJETO_ASISTENCIA:varón] varón", pipeline.Sound},
	{"kin", "[FAMILIARES_SUJETO_ASISTENCIA:hija] y la hija", pipeline.Sound},
	{"placeholder is no value", "[EMAIL:email] y [DATE:date] de [PERSON:Person]", pipeline.Sound},
	{"like a placeholder", "[PERSON:Quiroga] y \\[QUIROGA\\]", pipeline.SurvivingValue},
	{"bracket", "[PERSON:Quiroga] y \\[ Quiroga", pipeline.SurvivingValue},
	{"first word", "Quiroga acude con [PERSON:Quiroga]", pipeline.SurvivingValue},
	{"last word", "[PERSON:Quiroga] acude con Quiroga", pipeline.SurvivingValue},
	{"mail address", "[EMAIL:ada@x.es] y ADA@X.ES", pipeline.SurvivingValue},
	{"Greek", "[PERSON:Σοφία] και ΣΟΦΊΑ", pipeline.SurvivingValue},
	{"many values", "[PERSON:Uno Dosel], [PERSON:Tres Cuart], [LOCATION:Olot], [TELEPHONE:600111222], [PERSON:Nil Mas] y Cuart", pipeline.SurvivingValue},
}

func TestSurvivingValues(t *testing.T) {
	for _, tt := range survivalTests {
		text, spans, err := markup.Parse(tt.marked)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := verify(t, Options{}, batchOf(t, tt.marked, maskedOf(text, spans))); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// strictTests: the text as it left mask, in which nothing was found.
var strictTests = []struct {
	text string
	want bool
}{
	{"DNI 12345678Z", true},
	{"12345678z", true},
	{"12345678-Z", true},
	{"12.345.678-Z", true},
	{"12 345 678 Z", true},
	{"12345678 Z", true},
	{"12345678 z", true},
	{"12345678A", false},
	{"12345678ZA", true},
	{"12345678", false},
	{"A12345678Z", true},
	{"912345678Z", false},
	{"X1234567L", true},
	{"x-1234567-l", true},
	{"Y1234567X", true},
	{"Z 1234567 R", true},
	{"X1234567A", false},
	{"XX1234567L", true},
	{"NASS 08 12345678 69", true},
	{"08/12345678/69", true},
	{"081234567869", true},
	{"28 01234567 42", true},
	{"08 12345678 68", false},
	{"081234567868", false},
	{"0812 3456 7869", true},
	{"ES91 2100 0418 4502 0005 1332", true},
	{"es9121000418450200051332", true},
	{"DE44500105175407324931", true},
	{"GB82 WEST 1234 5698 7654 32", true},
	{"ES91 2100 0418 4502 0005 1333", false},
	{"GAPE0800115123", true},
	{"gape0800115123", true},
	{"GAPE 0800115123", true},
	{"PUVI 1 920704 011", true},
	{"GAPE0801315123", false},
	{"GAPES0800115123", false},
	{"B12345674", true},
	{"B12345675", false},
	{"4012 8888 8888 1881", true},
	{"4012 8888 8888 1882", false},
	{"490154203237518", true},
	{"490154203237519", false},
	{"2100 0418 45 0200051332", true},
	{"12345678Zdolor", true},
	{"NIEX1234567L", true},
	{"IBANES9121000418450200051332", true},
	{"E S9121000418450200051332", true},
	{"E.S.91 2100 0418 4502 0005 1332", true},
	{"e-s 91 2100 0418 4502 0005 1332", true},
	{"E.S.91 2100 0418 4502 0005 1333", false},
	{"TISGAPE0800115123", true},
	{"12\n345\n678 Z", true},
	{"12345\u00ad678\u200bZ", true},
	{"１２３４５６７８Ｚ", true},
	{"\u04251234567L", true},
	{"ada@ejemplo.es", true},
	{"a.b+c@sub.ejemplo.org", true},
	{"10 mg@ 8h", false},
	{"ada@ejemplo", false},
	{"https://ejemplo.es/a", true},
	{"www.ejemplo.es", true},
	{"WWW.EJEMPLO.ES", true},
	{"www ejemplo", false},
	{"TA://", false},
	{"+34 600 123 123", true},
	{"+34600123123", true},
	{"0034 934 567 890", true},
	{"tel. 600123123", true},
	{"Tel: 93 456 78 90", true},
	{"teléfono de la hija 600 12 31 23", true},
	{"Móvil:600123123", true},
	{"MÒBIL 600123123", true},
	{"Fax 934567890", true},
	{"llamar al 600123123", true},
	{"hotel 600123123", false},
	{"600123123", false},
	{"600 123 123", false},
	{"+33 600 123 123", false},
	{"tel. no consta\n600123123", false},
	{"Plaquetas 234.000, leucocitos 7.500, Hb 13.4", false},
	{"TA 120/80, FC 72, 36.5", false},
	{"12/03/2014 10:30", false},
	{"NHC [RECORD_ID], DNI [DNI], tel [TELEPHONE], [EMAIL]", false},
	{"[PERSON] de [AGE] acude el [DATE]", false},
	{"610 720 830 940", false},
	{"heparina 5000 UI 12 h", false},
}

func TestStrictForms(t *testing.T) {
	for _, tt := range strictTests {
		want := pipeline.Sound
		if tt.want {
			want = pipeline.StrictFinding
		}
		for _, text := range []string{tt.text, "Dolor. " + tt.text + ", alta", "(" + tt.text + ")"} {
			b := batchOf(t, "", text)
			b.Text = b.Masked
			if got := verify(t, Options{}, b); got != want {
				t.Errorf("%q: got %v, want %v", text, got, want)
			}
		}
	}
}

func TestKept(t *testing.T) {
	c, err := pipeline.ParseCategory("EMAIL")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Kept: []pipeline.Category{c}}
	if got := verify(t, o, batchOf(t, "[EMAIL:ada@ejemplo.es]", "ada@ejemplo.es")); got != pipeline.Sound {
		t.Errorf("a kept address: %v", got)
	}
	if got := verify(t, o, batchOf(t, "[EMAIL:ada@ejemplo.es] 12345678Z", "ada@ejemplo.es 12345678Z")); got != pipeline.StrictFinding {
		t.Errorf("another identifier beside it: %v", got)
	}
}

// TestSoft holds a value of a soft category against the number of letters and digits from which it is looked for.
func TestSoft(t *testing.T) {
	for note, want := range map[string]pipeline.Reason{"5 años": pipeline.Sound, "10 años": pipeline.SurvivingValue, "2014": pipeline.Sound, "3/14": pipeline.Sound, "3/2014": pipeline.SurvivingValue} {
		if got := verify(t, Options{}, batchOf(t, "[AGE:"+note+"] "+note, "[AGE] "+note)); got != want {
			t.Errorf("%s: %v, want %v", note, got, want)
		}
	}
}

// A note that has a reason keeps it, and the notes behind one that panics are
// looked at.
func TestReasons(t *testing.T) {
	b := batchOf(t, "[PERSON:Quiroga] Quiroga", "[PERSON] Quiroga")
	b.Text.Append([]byte("corto"))
	b.Spans.Append(pipeline.Span{Start: 2, End: 50, Category: 1})
	b.Masked.Append([]byte("corto"))
	b.Text.Append([]byte("Quiroga"))
	b.Spans.Append()
	b.Masked.Append([]byte("Quiroga"))
	b.Text.Append(nil)
	b.Spans.Append()
	b.Masked.Append([]byte("12345678Z"))
	b.Reason = append(b.Reason, pipeline.Sound, pipeline.Sound, pipeline.Sound)
	b.Text.Append(nil)
	b.Spans.Append()
	b.Masked.Append([]byte("12345678Z"))
	b.Reason = append(b.Reason, pipeline.TooLong)
	place(b)
	if err := New(Options{}).New()(b); err != nil {
		t.Fatal(err)
	}
	want := []pipeline.Reason{pipeline.SurvivingValue, pipeline.Panicked, pipeline.Sound, pipeline.StrictFinding, pipeline.TooLong}
	for i, r := range want {
		if b.Reason[i] != r {
			t.Errorf("note %d: got %v, want %v", i, b.Reason[i], r)
		}
		if b.Sealed(i) != (r == pipeline.Sound) {
			t.Errorf("note %d: sealed %v with reason %v", i, b.Sealed(i), r)
		}
	}
}

// TestIntact: text that was not found has to be there as it was, and a seal
// holds for the text that was verified only.
func TestIntact(t *testing.T) {
	for _, tt := range []struct {
		marked, masked string
		want           pipeline.Reason
	}{
		{"tos y fiebre", "tos y fiebre", pipeline.Sound},
		{"tos y fiebre", "", pipeline.ChangedText},
		{"tos y fiebre", "tos y", pipeline.ChangedText},
		{"tos y fiebre", "tos y fiebre alta", pipeline.ChangedText},
		{"ve [PERSON:Ada] hoy", "ve [PERSON] hoy", pipeline.Sound},
		{"ve [PERSON:Ada] hoy", "ve  hoy", pipeline.Sound},
		{"ve [PERSON:Ada] hoy", "ve hoy", pipeline.ChangedText},
		{"ve [PERSON:Ada] hoy", "[PERSON] hoy", pipeline.ChangedText},
		{"ve [PERSON:Ada] hoy", "ve [PERSON]", pipeline.ChangedText},
		{"[PERSON:Ada] y [PERSON:Ona], tos", "[PERSON] y [PERSON], tos", pipeline.Sound},
		{"[PERSON:Ada] y [PERSON:Ona], tos", "[PERSON][PERSON], tos", pipeline.ChangedText},
	} {
		b := batchOf(t, tt.marked, tt.masked)
		if got := verify(t, Options{}, b); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.masked, got, tt.want)
		}
		if b.Sealed(0) != (tt.want == pipeline.Sound) {
			t.Errorf("%q: sealed %v", tt.masked, b.Sealed(0))
		}
		b.Masked.Data = append(b.Masked.Data[:0:0], b.Masked.Data...)
		if len(b.Masked.Data) > 0 {
			b.Masked.Data[0] ^= 1
		}
		if tt.masked != "" && b.Sealed(0) {
			t.Errorf("%q: still sealed after a change", tt.masked)
		}
	}
}

// TestPlaces: what was put in a place on purpose is no finding; what was masked
// is, wherever it is read.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		what, marked, masked string
		want                 pipeline.Reason
	}{
		{"surrogate telephone", "tel. [TELEPHONE:600123123]", "tel. 655000111", pipeline.Sound},
		{"surrogate number with its letter", "DNI [DNI:00000000T]", "DNI 12345678Z", pipeline.Sound},
		{"surrogate address", "a [EMAIL:ada@x.es]", "a eva@example.org", pipeline.Sound},
		{"another's telephone beside it", "tel. [TELEPHONE:600123123], tel. 600123124", "tel. 655000111, tel. 600123124", pipeline.StrictFinding},
		{"date shifted to another date of the note", "[DATE:01/03/2014] y [DATE:08/03/2014]", "08/03/2014 y 15/03/2014", pipeline.Sound},
		{"date left where it was", "[DATE:01/03/2014] y [DATE:08/03/2014]", "01/03/2014 y 15/03/2014", pipeline.SurvivingValue},
		{"age in its class", "[AGE:64 años]", "60-64 años", pipeline.Sound},
		{"range shifted into itself", "[DATE:12/03/2014 - 15/03/2014]", "15/03/2014 - 18/03/2014", pipeline.Sound},
		{"date beside a place", "[DATE:01/03/2014] y 08/03/2014, [DATE:08/03/2014]", "08/03/2014 y 08/03/2014, 15/03/2014", pipeline.SurvivingValue},
		{"name of another", "[PERSON:Ada Gil] y [PERSON:Eva Quiroga]", "Ona Quiroga y Mar Costa", pipeline.SurvivingValue},
		{"name in another case", "[PERSON:Ada Gil]", "ADA Costa", pipeline.SurvivingValue},
		{"telephone of another", "[TELEPHONE:600123123] y [TELEPHONE:600123124]", "600 12 31 24 y 655000111", pipeline.SurvivingValue},
	} {
		if got := verify(t, Options{}, batchOf(t, tt.marked, tt.masked)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.what, got, tt.want)
		}
	}
	b := batchOf(t, "tos [PERSON:Ada] y fiebre", "tos [PERSON] y 12345678Z")
	b.Places.Items[0].End = int32(len(b.Masked.Data)) // a place that hides too much
	if got := verify(t, Options{}, b); got != pipeline.ChangedText {
		t.Errorf("a place that hides a gap: %v", got)
	}
}

func TestColumnsMissing(t *testing.T) {
	b := batchOf(t, "tos", "tos")
	b.Masked.Reset()
	if err := New(Options{}).New()(b); err == nil {
		t.Error("no error for a batch that mask has not seen")
	}
}

// TestPlanted plants a masked value in the masked text, in another case,
// without accents, with other signs between its words: it is always found.
func TestPlanted(t *testing.T) {
	var person, location pipeline.Category
	person, _ = pipeline.ParseCategory("PERSON")
	location, _ = pipeline.ParseCategory("LOCATION")
	step := New(Options{}).New()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SliceOfN(rapid.StringMatching(`[A-ZÁÉÑ][a-záéíóúüñç]{2,9}`), 1, 3).Draw(t, "words")
		value := strings.Join(name, " ")
		planted := strings.Join(name, rapid.SampledFrom([]string{" ", "-", "  ", "\n", ", ", ""}).Draw(t, "sign"))
		switch rapid.IntRange(0, 3).Draw(t, "case") {
		case 0:
			planted = strings.ToUpper(planted)
		case 1:
			planted = unaccented.Replace(planted)
		case 2:
			planted = strings.ToUpper(unaccented.Replace(planted))
		}
		filler := rapid.SliceOf(rapid.SampledFrom([]string{"tos", "fiebre", "de", "3", "[PERSON]", "TA", "120/80", "ñu", "·", "36.5", "\n"}))
		left := strings.Join(filler.Draw(t, "left"), " ") + rapid.SampledFrom([]string{" ", "(", "\n", "", "\u00a0", "12"}).Draw(t, "border")
		if left != "" && utf8.ValidString(left) && isLetter(left[len(left)-1]) {
			left += " "
		}
		right := rapid.SampledFrom([]string{"", " ", ".", ")", ",", "\u00a0", "2"}).Draw(t, "end") + " " + strings.Join(filler.Draw(t, "right"), " ")
		b := new(pipeline.Batch)
		b.Text.Append([]byte(value))
		c := rapid.SampledFrom([]pipeline.Category{person, location}).Draw(t, "category")
		b.Spans.Append(pipeline.Span{End: int32(len(value)), Category: c})
		b.Masked.Append([]byte(left + planted + right))
		b.Reason = append(b.Reason, pipeline.Sound)
		if ignoredValue(name) {
			t.Skip("a value of ignored words")
		}
		b.Places.Append(pipeline.Span{})
		if err := step(b); err != nil || b.Reason[0] != pipeline.SurvivingValue {
			t.Fatalf("value of %d words is not found: %v %v", len(name), b.Reason[0], err)
		}
	})
}

var unaccented = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n", "ç", "c", "Á", "A", "É", "E", "Ñ", "N")

func ignoredValue(words []string) bool {
	for _, w := range words {
		if !ignoredWords.has(foldWords(nil, []byte(w))) {
			return false
		}
	}
	return true
}

// TestPlantedNumber does the same with numbers.
func TestPlantedNumber(t *testing.T) {
	step := New(Options{}).New()
	c, _ := pipeline.ParseCategory("RECORD_ID")
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{5,14}`).Draw(t, "digits")
		write := func(label string) string {
			var s strings.Builder
			for i := range digits {
				if i > 0 {
					s.WriteString(rapid.SampledFrom([]string{"", "", "", " ", ".", "-", "/"}).Draw(t, label))
				}
				s.WriteByte(digits[i])
			}
			return s.String()
		}
		value := write("value")
		b := new(pipeline.Batch)
		b.Text.Append([]byte(value))
		b.Spans.Append(pipeline.Span{End: int32(len(value)), Category: c})
		b.Masked.Append([]byte("nota " + write("planted") + ", fin"))
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Places.Append(pipeline.Span{})
		if err := step(b); err != nil || b.Reason[0] != pipeline.SurvivingValue {
			t.Fatalf("number is not found: %v %v", b.Reason[0], err)
		}
	})
}

// FuzzVerify: nothing panics, and what was masked and stands alone at the end
// of the text is found.
func FuzzVerify(f *testing.F) {
	for _, tt := range survivalTests {
		f.Add([]byte(tt.marked), uint16(1), uint16(8))
	}
	for _, tt := range strictTests {
		f.Add([]byte(tt.text), uint16(0), uint16(5))
	}
	step := New(Options{}).New()
	c, _ := pipeline.ParseCategory("LOCATION")
	f.Fuzz(func(t *testing.T, text []byte, start, end uint16) {
		b := new(pipeline.Batch)
		b.Text.Append(text)
		b.Masked.Append(text)
		b.Reason = append(b.Reason, pipeline.Sound)
		if int(start) < int(end) && int(end) <= len(text) {
			b.Spans.Append(pipeline.Span{Start: int32(start), End: int32(end), Category: c})
		} else {
			b.Spans.Append()
		}
		place(b)
		if err := step(b); err != nil {
			t.Fatal(err)
		}
		if b.Reason[0] == pipeline.Panicked {
			t.Fatal("panic")
		}
	})
}

func noteBatch(t testing.TB, notes int) *pipeline.Batch {
	b := new(pipeline.Batch)
	for i := range notes {
		marked := "Pac. [PERSON:Ada Quiroga] de 70 a, refiere dolor en FII de 3 d de evolución, no fiebre. TA 130/80. Control en 1 mes con analítica."
		if i%2 == 1 {
			marked = "Se deriva a [LOCATION:Hospital de Olot] el [DATE:12/03/2014] por tos y disnea. Amoxicilina 875 mg cada 8 h, paracetamol si fiebre."
		}
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatal(err)
		}
		b.Text.Append(text)
		b.Spans.Append(spans...)
		b.Masked.Append([]byte(maskedOf(text, spans)))
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	place(b)
	return b
}

func TestNoAllocations(t *testing.T) {
	b := noteBatch(t, 100)
	step := New(Options{}).New()
	if err := step(b); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { _ = step(b) }); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

func BenchmarkVerify(b *testing.B) {
	batch := noteBatch(b, 1000)
	step := New(Options{}).New()
	b.SetBytes(int64(len(batch.Masked.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := step(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/note")
}

// TestShuffled: a shuffled value that came back to its own note is a survivor,
// however short it is, and in whatever case; another note's is none, nor is a value
// of a category that is not shuffled.
func TestShuffled(t *testing.T) {
	age, err := pipeline.ParseCategory("AGE")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		marked, masked string
		shuffled, want pipeline.Category
	}{
		{"hoy [AGE:53] y [AGE:61]", "hoy 61 y 48", age, age},
		{"hoy [AGE:53 a]", "hoy 53  A", age, age},
		{"hoy [AGE:53] y [AGE:61]", "hoy 48 y 47", age, 0},
		{"hoy [AGE:53] y [AGE:61]", "hoy 61 y 48", 0, 0},
		{"hoy [AGE:53]", "hoy ", age, 0},
	} {
		b := batchOf(t, c.marked, c.masked)
		if err := New(Options{Shuffled: []pipeline.Category{c.shuffled}}).New()(b); err != nil {
			t.Fatal(err)
		}
		if got := b.Reason[0] != pipeline.Sound; got != (c.want != 0) {
			t.Errorf("%s, %s: %v", c.marked, c.masked, b.Reason[0])
		}
	}
}

// TestLookPlain: a note in which nothing was masked is looked at by a shorter way,
// and says what the long one says.
func TestLookPlain(t *testing.T) {
	words := []string{"tos", "12345678Z", "ada@hospital.cat", "www.hospital.cat", "https://a.cat", "[PERSON]", "120/80", "600 123 456", "tel. 93", "ES91 2100 0418", "año", ".", ":", "@", "\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between")))
		v := &verifier{rules: newRules(Options{})}
		short := v.look(text)
		v.needles = append(v.needles, needle{number: true, start: 0, end: 1}) // a value that is in no note
		v.folded = append(v.folded, 'x')
		if long := v.look(text); long != short {
			t.Fatalf("the short way says %v, the long one %v", short, long)
		}
	})
}

// TestPair: María and José may come again where they are half of a name, inside what
// was put there, and nowhere else.
func TestPair(t *testing.T) {
	for _, c := range []struct {
		marked, masked string
		want           pipeline.Reason
	}{
		{"viene [PERSON:María Carmen Quiroga] hoy", "viene [PERSON:María Pilar Zubiri] hoy", pipeline.Sound},
		{"viene [PERSON:José Quiroga] con [PERSON:Ada Gil]", "viene [PERSON:Luis Zubiri] con [PERSON:José Luis]", pipeline.Sound},
		{"viene [PERSON:María] con [PERSON:Ada Gil]", "viene [PERSON:Nuria] con [PERSON:María Luz]", pipeline.SurvivingValue},
		{"viene [PERSON:María Carmen] hoy, María", "viene [PERSON:María Pilar] hoy, María", pipeline.SurvivingValue},
		{"viene [PERSON:María Quiroga] hoy", "viene [PERSON:María Quiroga] hoy", pipeline.SurvivingValue},
	} {
		b := batchOf(t, c.marked, c.masked)
		if err := New(Options{}).New()(b); err != nil {
			t.Fatal(err)
		}
		if b.Reason[0] != c.want {
			t.Errorf("%s as %s: %v", c.marked, c.masked, b.Reason[0])
		}
	}
}

// TestIMEI: fifteen digits that Luhn's check fits are a telephone's where they stand together, as 2-6-6-1, or over one line end.
// Fifteen digits in other groups pass the check once in ten.
func TestIMEI(t *testing.T) {
	for text, want := range map[string]pipeline.Reason{
		"352099001761481":    pipeline.StrictFinding,
		"352099001761482":    pipeline.Sound,
		"35 209900 176148 1": pipeline.StrictFinding,
		"3520990\n01761481":  pipeline.StrictFinding,
		"35 209900 1761481":  pipeline.Sound,
		"35 20990017 6148 1": pipeline.Sound,
		"352099 001761481":   pipeline.Sound,
		"3520990 01761481":   pipeline.Sound,
	} {
		if got := verify(t, Options{}, batchOf(t, text, text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
