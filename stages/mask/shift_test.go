package mask_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

// TestDatesInPart: of a date whose rest stands beside its span nothing is moved.
func TestDatesInPart(t *testing.T) {
	m := dateMasker(t, "shift", "placeholder")
	for _, marked := range []string{
		"primero de [DATE:julio de 2015]", "el uno de [DATE:julio]", "veinticinco de [DATE:diciembre]", "vint-i-cinc de [DATE:desembre]",
		"otoño-[DATE:invierno 2012]", "[DATE:verano]-otoño 2012", "(12,13,[DATE:14/03/2012])", "12-[DATE:15 de marzo]", "12 y [DATE:13 de marzo de 2014]",
		"[DATE:1990]-95", "1990-[DATE:95]", "[DATE:12/03]/2014", "03/[DATE:2014]", "[DATE:5 de mayo] de 2014", "[DATE:5 de mayo]'14",
		"[DATE:12] de enero de 2014", "[DATE:octubre]-noviembre 2013", "octubre y [DATE:noviembre 2013]", "3 [DATE:mayo 2014]", "20[DATE:14]", "[DATE:3 de may]o",
		"mayo de [DATE:2014]", "[DATE:2014]-05-12",
	} {
		text := strings.NewReplacer("[DATE:", "", "]", "").Replace(marked)
		want := strings.Replace(text, marked[strings.Index(marked, ":")+1:strings.Index(marked, "]")], "[DATE]", 1)
		if got := masked(t, m, mask.Note{ID: []byte("1")}, marked); got != want {
			t.Errorf("%s: got %q, want %q", marked, got, want)
		}
	}
}

// TestWeekdayOutside: a weekday that stays must stay right.
func TestWeekdayOutside(t *testing.T) {
	for _, marked := range []string{"Mon [DATE:12 Mar 2012]", "lunes, [DATE:12/03/2012]", "[DATE:12/03/2012] (lunes)"} {
		if got := masked(t, dateMasker(t, "shift", "placeholder"), mask.Note{ID: []byte("2")}, marked); !strings.Contains(got, "[DATE]") {
			t.Errorf("%s: %q", marked, got)
		}
		if got := masked(t, dateMasker(t, "shift weeks=true", "placeholder"), mask.Note{ID: []byte("2")}, marked); strings.Contains(got, "[DATE]") {
			t.Errorf("%s in whole weeks: %q", marked, got)
		}
	}
}

// TestNothingGoesOn: what only stands beside a date keeps it from nothing.
func TestNothingGoesOn(t *testing.T) {
	m := dateMasker(t, "shift", "placeholder")
	for _, marked := range []string{
		"TA 120/80 el [DATE:12/03/2014], 37.5", "el [DATE:5 de mayo] de 09:01 a 10", "finales de [DATE:mayo de 2014]", "a 12 [DATE:03/04/2014]",
		"control [DATE:12/03/2014]. 20 mg", "[DATE:12/03/2014] y [DATE:15/03/2014]", "el día [DATE:12] de madrugada", "desde [DATE:2012] hasta hoy",
		"lunes y miércoles; [DATE:12/03/2014]", "en [DATE:mayo] y 3 más",
	} {
		if got := masked(t, m, mask.Note{ID: []byte("1")}, marked); strings.Contains(got, "[DATE]") {
			t.Errorf("%s: %q", marked, got)
		}
	}
}

// TestElision: a date that has no words before it of its own does not break those
// that stand there.
func TestElision(t *testing.T) {
	vowel := func(b byte) bool { return strings.IndexByte("aeiouh", b|0x20) >= 0 }
	m := dateMasker(t, "shift", "placeholder")
	placeholders := 0
	for k := range 200 {
		note := mask.Note{ID: fmt.Append(nil, k), Language: pipeline.Catalan}
		got := masked(t, m, note, "a l'[DATE:abril de 2014], a finals d'[DATE:agost], el [DATE:maig de 2014]")
		parts := strings.Split(got, ", ")
		for i, before := range []string{"a l'", "a finals d'"} {
			name := strings.TrimPrefix(parts[i], before)
			if name[0] == '[' {
				placeholders++
			} else if !vowel(name[0]) {
				t.Errorf("%q", parts[i])
			}
		}
		if name := strings.TrimPrefix(parts[2], "el "); vowel(name[0]) {
			t.Errorf("%q", parts[2])
		}
		if got := masked(t, m, note, "[DATE:l'abril de 2014]"); strings.Contains(got, "[") || strings.HasPrefix(got, "l'") != vowel(strings.TrimPrefix(strings.TrimPrefix(got, "el "), "l'")[0]) {
			t.Errorf("%q", got)
		}
	}
	if placeholders == 0 || placeholders == 400 {
		t.Errorf("%d placeholders", placeholders)
	}
}

// TestOffsetsAreNoYears: no offset leaves day and month of a date as they were.
func TestOffsetsAreNoYears(t *testing.T) {
	for _, operator := range []string{"shift", "shift days=3000", "shift season=true", "shift weeks=true days=20000"} {
		m := dateMasker(t, operator, "placeholder")
		for k := range 5000 {
			got := masked(t, m, mask.Note{ID: fmt.Append(nil, k)}, "[DATE:12/03/2014]")
			if strings.HasPrefix(got, "12/03/") {
				t.Fatalf("%s: note %d has %s", operator, k, got)
			}
		}
	}
}

// TestLongYears: a range of years that stays as it was is a placeholder, for verify
// sees a value in it.
func TestLongYears(t *testing.T) {
	m := dateMasker(t, "shift days=40", "placeholder")
	for k := range 50 {
		if got := masked(t, m, mask.Note{ID: fmt.Append(nil, k)}, "entre [DATE:1990-95]"); got == "entre 1990-95" {
			t.Fatalf("note %d keeps its years", k)
		}
	}
}

// names of months as a note has them.
var monthNames = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"}

// forms of two dates of one month, each a span, and how the first and the second
// are written.
var ranges = []func(a, b time.Time) string{
	func(a, b time.Time) string {
		return fmt.Sprintf("del [DATE:%d] al [DATE:%s]", a.Day(), b.Format("2/1/2006"))
	},
	func(a, b time.Time) string {
		return fmt.Sprintf("del [DATE:%d] al [DATE:%d de %s de %d]", a.Day(), b.Day(), monthNames[b.Month()-1], b.Year())
	},
	func(a, b time.Time) string {
		return fmt.Sprintf("[DATE:%s]-[DATE:%s]", a.Format("02/01"), b.Format("02/01/2006"))
	},
	func(a, b time.Time) string {
		return fmt.Sprintf("[DATE:%s] y [DATE:%s]", a.Format("02.01.2006"), b.Format("02.01.2006"))
	},
}

// TestSharedMonths: what two spans share moves for both, so that the time between
// them stays; or both are placeholders.
func TestSharedMonths(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := dateMasker(t, "shift", "placeholder")
		b := time.Date(2000, 1, 1+rapid.IntRange(0, 9000).Draw(r, "day"), 0, 0, 0, 0, time.UTC)
		a := b.AddDate(0, 0, -rapid.IntRange(1, 27).Draw(r, "days"))
		if a.Month() != b.Month() {
			return
		}
		note := mask.Note{ID: fmt.Append(nil, rapid.IntRange(0, 1000).Draw(r, "note"))}
		form := rapid.SampledFrom(ranges).Draw(r, "form")
		moved, err := time.Parse("2006-01-02", masked(t, m, note, "[DATE:2005-06-07]"))
		if err != nil {
			r.Fatal("the offset cannot be told")
		}
		offset := int(moved.Sub(time.Date(2005, 6, 7, 0, 0, 0, 0, time.UTC)).Hours() / 24)
		got := masked(t, m, note, form(a, b))
		var p dates.Parser
		if !strings.Contains(got, "[DATE]") {
			if !p.Parse([]byte(got), pipeline.Spanish) {
				r.Fatalf("%q cannot be read again", got)
			}
			first, _, _ := p.First(dates.Context{})
			if want := int32(a.AddDate(0, 0, offset).Unix() / 86400); first != want {
				r.Fatalf("%q became %q: the first is %d days off", form(a, b), got, first-want)
			}
		}
		_, last, _ := strings.Cut(strings.NewReplacer(" al ", "|", "-", "|", " y ", "|").Replace(got), "|")
		if !p.Parse([]byte(last), pipeline.Spanish) {
			r.Fatalf("%q cannot be read again", last)
		}
		if second, _, _ := p.First(dates.Context{}); second != int32(b.AddDate(0, 0, offset).Unix()/86400) {
			r.Fatalf("%q became %q", form(a, b), got)
		}
	})
}

// TestNumerals: days in words move in words.
func TestNumerals(t *testing.T) {
	var p dates.Parser
	for _, c := range []struct {
		text, want string
		language   pipeline.Language
		days       int
	}{
		{"veinticinco de diciembre de 2014", "treinta de diciembre de 2014", pipeline.Spanish, 5},
		{"treinta de diciembre", "treinta y uno de diciembre", pipeline.Spanish, 1},
		{"Treinta y uno de enero", "Dos de febrero", pipeline.Spanish, 2},
		{"vint-i-cinc de maig", "vint-i-sis de maig", pipeline.Catalan, 1},
		{"primero de julio de 2015", "2 de julio de 2015", pipeline.Spanish, 1},
		{"otoño-invierno 2012", "invierno-primavera 2012", pipeline.Spanish, 80},
		{"12,13,14/03/2012", "13,14,15/03/2012", pipeline.Spanish, 1},
		{"Mon 12 Mar 2012", "Tue 13 Mar 2012", pipeline.English, 1},
		{"1990-95", "1991-96", pipeline.Spanish, 365},
		{"'12", "'13", pipeline.Spanish, 366},
	} {
		got, ok := "", p.Parse([]byte(c.text), c.language)
		if ok {
			out, _ := p.AppendShifted(nil, dates.Context{}, c.days)
			got = string(out)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}
