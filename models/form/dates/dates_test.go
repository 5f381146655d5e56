package dates_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/pipeline"
)

// form is a line of testdata/forms.txt.
type form struct {
	language     pipeline.Language
	text, answer string
}

func forms(t testing.TB) (all []form) {
	t.Helper()
	data, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	var l pipeline.Language
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if code, ok := strings.CutPrefix(line, "# "); ok {
			l, _ = pipeline.ParseLanguage(code)
			continue
		}
		text, answer, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("a line without an answer: %q", line)
		}
		all = append(all, form{l, text, answer})
	}
	if len(all) < 300 {
		t.Fatalf("%d forms", len(all))
	}
	return all
}

func shifted(p *dates.Parser, text string, l pipeline.Language, c dates.Context, days int) string {
	if !p.Parse([]byte(text), l) {
		return "-"
	}
	out, ok := p.AppendShifted(nil, c, days)
	if !ok {
		return "-"
	}
	return string(out)
}

func TestForms(t *testing.T) {
	var p dates.Parser
	for _, f := range forms(t) {
		if got := shifted(&p, f.text, f.language, dates.Context{}, 40); got != f.answer {
			t.Errorf("%q: got %q, want %q", f.text, got, f.answer)
		}
	}
}

// TestAppend: what stands before a date stays as it is.
func TestAppend(t *testing.T) {
	var p dates.Parser
	if !p.Parse([]byte("maig"), pipeline.Catalan) {
		t.Fatal("no date")
	}
	if got, _ := p.AppendShifted([]byte("el "), dates.Context{}, -30); string(got) != "el abril" {
		t.Errorf("got %q", got)
	}
}

// TestBack: what was moved there and back is what it was, in days.
func TestBack(t *testing.T) {
	var p, q dates.Parser
	for _, f := range forms(t) {
		if !p.Parse([]byte(f.text), f.language) {
			continue
		}
		day, r, full := p.First(dates.Context{})
		if r != dates.Day || !full {
			continue
		}
		there := shifted(&p, f.text, f.language, dates.Context{}, 70)
		o, _ := p.Orders().Only()
		if !q.Parse([]byte(there), f.language) {
			t.Errorf("%q: %q cannot be read", f.text, there)
			continue
		}
		if now, _, _ := q.First(dates.Context{Order: o}); now != day+70 {
			t.Errorf("%q: %q is %d days later", f.text, there, now-day)
		}
	}
}

// TestOrder: ambiguous dates are read in the order that is wanted, others in
// the one that they have.
func TestOrder(t *testing.T) {
	var p dates.Parser
	for _, c := range []struct {
		text  string
		order dates.Order
		want  string
	}{
		{"03/04/2014", dates.DMY, "04/04/2014"},
		{"03/04/2014", dates.MDY, "03/05/2014"},
		{"13/04/2014", dates.MDY, "14/04/2014"},
		{"04/13/2014", dates.DMY, "04/14/2014"},
		{"3/4", dates.MDY, "3/5"},
		{"13/4", dates.MDY, "14/4"},
		{"2014-04-03", dates.MDY, "2014-04-04"},
		{"03/04/2014-05/04/2014", dates.MDY, "03/05/2014-05/05/2014"},
		{"03/04/2014-13/04/2014", dates.MDY, "04/04/2014-14/04/2014"},
	} {
		if got := shifted(&p, c.text, pipeline.Spanish, dates.Context{Order: c.order}, 1); got != c.want {
			t.Errorf("%q in order %d: got %q, want %q", c.text, c.order, got, c.want)
		}
	}
	for text, want := range map[string]int{"03/04/2014": 2, "13/04/2014": 1, "2014-04-13": 1, "3 de mayo": 3, "03/04/2014 y 04/13/2014": 1} {
		if !p.Parse([]byte(text), 0) {
			t.Fatal(text)
		}
		n := 0
		for o := range dates.Order(3) {
			if p.Orders().Has(o) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d orders, want %d", text, n, want)
		}
	}
}

// TestContext: what a date lacks is taken from the note.
func TestContext(t *testing.T) {
	var p dates.Parser
	day := func(text string) int32 {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return int32(d.Unix() / 86400)
	}
	for _, c := range []struct{ text, near, want string }{
		{"27 de febrero", "2016-05-01", "29 de febrero"},
		{"27 de febrero", "2014-05-01", "1 de marzo"},
		{"29", "2014-04-03", "1"},
		{"29", "2014-05-03", "31"},
		{"29/2", "2015-05-03", "2/3"},
	} {
		if got := shifted(&p, c.text, pipeline.Spanish, dates.Context{Day: day(c.near)}, 2); got != c.want {
			t.Errorf("%q near %s: got %q, want %q", c.text, c.near, got, c.want)
		}
	}
}

// layouts of full dates and how Go writes them.
var layouts = []string{"02/01/2006", "2/1/2006", "02-01-2006", "02.01.06", "2006-01-02", "20060102"}

// Intervals between two full dates stay as they are, for every offset.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p dates.Parser
		days := rapid.IntRange(-3650, 3650).Draw(t, "offset")
		var now [2]time.Time
		var was [2]time.Time
		for i := range was {
			was[i] = time.Date(1960, 1, 1+rapid.IntRange(0, 30_000).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
			layout := rapid.SampledFrom(layouts).Draw(t, "layout")
			if layout == "02.01.06" && (was[i].Year() < 1980 || was[i].Year() > 2015) {
				layout = layouts[0] // two digits are read as 1969 to 2068, ten years of offset included
			}
			got := shifted(&p, was[i].Format(layout), 0, dates.Context{}, days)
			var err error
			if now[i], err = time.Parse(layout, got); err != nil {
				t.Fatalf("%s became %q", was[i].Format(layout), got)
			}
		}
		if now[1].Sub(now[0]) != was[1].Sub(was[0]) || now[0].Sub(was[0]) != time.Duration(days)*24*time.Hour {
			t.Fatalf("%v, %v became %v, %v", was[0], was[1], now[0], now[1])
		}
	})
}

// A weekday moves with its date.
func TestWeekdays(t *testing.T) {
	names := [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}
	rapid.Check(t, func(t *rapid.T) {
		var p dates.Parser
		day := time.Date(2014, 1, 1+rapid.IntRange(0, 3000).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		offset := rapid.IntRange(-900, 900).Draw(t, "offset")
		write := func(d time.Time) string { return fmt.Sprintf("%s %s", names[d.Weekday()], d.Format("02/01/2006")) }
		if got, want := shifted(&p, write(day), pipeline.Spanish, dates.Context{}, offset), write(day.AddDate(0, 0, offset)); got != want {
			t.Fatalf("%s became %q, want %q", write(day), got, want)
		}
	})
}

func TestAllocations(t *testing.T) {
	var p dates.Parser
	var dst []byte
	all := forms(t)
	texts := make([][]byte, len(all))
	for i, f := range all {
		texts[i] = []byte(f.text)
	}
	if n := testing.AllocsPerRun(10, func() {
		for i, text := range texts {
			if p.Parse(text, all[i].language) {
				dst, _ = p.AppendShifted(dst[:0], dates.Context{}, 40)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations in %d dates", n, len(all))
	}
}

// FuzzParse: nothing panics; what is written is UTF-8, and the digits and names
// that are not parts of a date stay out of it: it can be read again.
func FuzzParse(f *testing.F) {
	for _, form := range forms(f) {
		f.Add([]byte(form.text), 40)
	}
	f.Fuzz(func(t *testing.T, text []byte, days int) {
		if !utf8.Valid(text) || days > 20_000 || days < -20_000 {
			return
		}
		var p dates.Parser
		was := bytes.Clone(text)
		for l := range pipeline.MixedLanguage {
			if !p.Parse(text, l) {
				continue
			}
			out, ok := p.AppendShifted([]byte("x"), dates.Context{}, days)
			if !utf8.Valid(out) || out[0] != 'x' || !ok && len(out) != 1 || !bytes.Equal(was, text) {
				t.Fatalf("%d bytes, %v", len(out), ok)
			}
			if same, ok := p.AppendShifted(nil, dates.Context{}, 0); ok && days == 0 && len(same) == 0 {
				t.Fatal("nothing is written")
			}
		}
	})
}

// FuzzFind: nothing panics, dates lie in the text in order, and the borders of a
// span stay within it.
func FuzzFind(f *testing.F) {
	for _, form := range forms(f) {
		f.Add([]byte("visto el "+form.text+", lunes 3 y 4"), 3, 9)
	}
	f.Fuzz(func(t *testing.T, text []byte, from, to int) {
		var finder dates.Finder
		var edges dates.Edges
		for _, d := range finder.Find(nil, text) {
			if d.Start < 0 || d.Start >= d.End || d.End > len(text) || d.Score <= 0 || d.Score > 1 {
				t.Fatalf("%+v in %d bytes", d, len(text))
			}
			edges.GoesOn(text, d.Start, d.End, 0, len(text), true)
		}
		if from < 0 || to > len(text) || from >= to {
			return
		}
		edges.GoesOn(text, from, to, 0, len(text), true)
		for _, d := range finder.Borders(nil, text, from, to) {
			if d.Start < from || d.End > to {
				t.Fatalf("%+v is not in %d-%d", d, from, to)
			}
		}
	})
}

func BenchmarkShift(b *testing.B) {
	var p dates.Parser
	var dst []byte
	texts := [][]byte{[]byte("12/03/2014"), []byte("3 de mayo de 2014"), []byte("mayo 2014"), []byte("lunes 12/3")}
	for b.Loop() {
		for _, text := range texts {
			if p.Parse(text, pipeline.Spanish) {
				dst, _ = p.AppendShifted(dst[:0], dates.Context{}, 40)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4, "ns/date")
}

// TestSharing shifts lists and ranges by thirty days, worked out on a calendar: a date takes the month or year that it lacks from the
// next one, and from no other. Numbers that are no dates are none at any place of a list.
func TestSharing(t *testing.T) {
	for text, want := range map[string]string{
		"2007 al 13-mar-2013":             "2007 al 12-abr-2013",
		"14 al 27 de abril de 2014":       "14 al 27 de mayo de 2014",
		"30 y 31 de mayo":                 "29 y 30 de junio",
		"31 de mayo y 1 de junio de 2014": "30 de junio y 1 de julio de 2014",
		"diciembre-enero 2014":            "enero-febrero 2014",
		"octubre y noviembre de 2013":     "noviembre y diciembre de 2013",
		"2002 y enero":                    "2002 y febrero",
		"1990-95":                         "1990-95",
		"1.020":                           "none",
		"400":                             "none",
		"1,09-2,53":                       "none",
		"15.1/46":                         "none",
		"22-4-10, 33":                     "none",
		"28.03.014":                       "none",
	} {
		p, got := dates.Parser{}, "none"
		if p.Parse([]byte(text), pipeline.Spanish) {
			out, ok := p.AppendShifted(nil, dates.Context{}, 30)
			if got = string(out); !ok {
				got = "not to be written"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
