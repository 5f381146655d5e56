package dates

import (
	"bufio"
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// TestFind has the table of dates in notes that the patterns have, without what only they know.
func TestFind(t *testing.T) {
	file, err := os.Open("../patterns/testdata/date.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	date, _ := pipeline.ParseCategory("DATE")
	var f Finder
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		text, want, err := markup.Parse(strings.ReplaceAll(line, `\n`, "\n"))
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		if bytes.HasPrefix(text, []byte("NHC ")) || bytes.HasPrefix(text, []byte("episodio ")) {
			continue // the cue of another pattern
		}
		var got []pipeline.Span
		for _, x := range f.Find(nil, text) {
			if x.Score != pipeline.HintScore {
				got = append(got, pipeline.Span{Start: int32(x.Start), End: int32(x.End), Category: date, Score: 1, Source: pipeline.FromGold})
			}
		}
		if got, want := markup.Write(text, got), markup.Write(text, want); got != want {
			t.Errorf("line %d:\n got %s\nwant %s", n, got, want)
		}
	}
}

// TestScores has what dates are worth by judge.txt, and which of them are full.
func TestScores(t *testing.T) {
	type find struct {
		text  string
		score float32
		full  bool
	}
	const hint = pipeline.HintScore
	for text, want := range map[string][]find{
		"12/03/2014":                {{"12/03/2014", 0.95, true}}, // a year of four digits
		"el 12/03/14":               {{"12/03/14", 0.99, false}},
		"12/03/14":                  {{"12/03/14", 0.8, false}},
		"5/9/98":                    {{"5/9/98", 0.65, false}},
		"3/10":                      {{"3/10", hint, false}},
		"el día 3/10":               {{"3/10", 0.7, false}},
		"dl 12/3":                   {{"12/3", hint, false}},
		"TA 12/8":                   nil,
		"12.03":                     nil,
		"12/2014":                   {{"12/2014", 0.85, false}},
		"03-2014":                   {{"03-2014", 0.6, false}},
		"12 de enero de 2014":       {{"12 de enero de 2014", 0.95, true}},
		"12 de enero":               {{"12 de enero", 0.85, false}},
		"enero de 2014":             {{"enero de 2014", 0.9, false}},
		"en enero":                  {{"enero", 0.5, false}},
		"enero":                     {{"enero", hint, false}},
		"marca 2011":                {{"2011", hint, false}},
		"en 2014":                   {{"2014", 0.7, false}},
		"verano de 2012":            {{"verano de 2012", 0.7, false}},
		"años 80":                   {{"80", 0.6, false}},
		"lunes 12":                  {{"lunes 12", 0.55, false}},
		"día 12":                    {{"12", 0.5, false}},
		"el 7":                      {{"7", hint, false}},
		"veinte de mayo":            {{"veinte de mayo", 0.85, false}},
		"treinta y uno de mayo":     {{"treinta y uno de mayo", 0.85, false}},
		"del 12 al 15/03/2014":      {{"12", 0.6, false}, {"15/03/2014", 0.99, true}},
		"entre el 3 y el 7 de mayo": {{"3", 0.6, false}, {"7 de mayo", 0.85, false}},
		"3, 5 y 7 de mayo de 2014":  {{"3, 5 y 7 de mayo de 2014", 0.95, true}},
		"20140312":                  {{"20140312", 0.45, false}},
		"120346":                    nil,
		"Nacimiento: 120346":        {{"120346", 0.7, false}},
		"nacido el 12.03.46":        {{"12.03.46", 0.99, false}},
		"99/99/2014":                {{"99/99/2014", 0.5, true}}, // no day and no month
		"12/03/2014 y 15/04/2015":   {{"12/03/2014", 0.95, true}, {"15/04/2015", 0.95, true}},
		"hace 3 meses":              nil,
	} {
		var got []find
		for _, x := range new(Finder).Find(nil, []byte(text)) {
			got = append(got, find{text[x.Start:x.End], x.Score, x.Full})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestCalendar has digits without signs that are a day, and those that are none. A year of two digits may be a leap year.
func TestCalendar(t *testing.T) {
	for _, tt := range []struct {
		digits string
		want   bool
	}{
		{"120314", true}, {"010101", true}, {"310114", true}, {"300114", true}, {"311214", true}, {"290214", true},
		{"300214", false}, {"310414", false}, {"320314", false}, {"000314", false}, {"120014", false}, {"121314", false}, {"421214", false},
		{"12032014", true}, {"20140312", true}, {"29022012", true}, {"20120229", true}, {"31122014", true},
		{"29022014", false}, {"20140229", false}, {"20141301", false}, {"31042014", false}, {"12039914", false},
	} {
		for _, before := range []string{"", "el "} {
			var f Finder
			f.Text = []byte(before + tt.digits + " 99")
			f.items = []item{{start: len(before), end: len(before) + len(tt.digits)}}
			if got := f.calendar(0); got != tt.want {
				t.Errorf("%q: %t", tt.digits, got)
			}
		}
	}
}

// TestAppendLike: a name is written as the one before it was, with its accents unless that one lacked its own.
func TestAppendLike(t *testing.T) {
	for _, tt := range []struct{ was, name, want string }{
		{"sábado", "miércoles", "miércoles"}, {"sabado", "miércoles", "miercoles"}, {"Sábado", "miércoles", "Miércoles"}, {"SÁBADO", "miércoles", "MIÉRCOLES"},
		{"SABADO", "miércoles", "MIERCOLES"}, {"lunes", "miércoles", "miércoles"}, {"LUNES", "sábado", "SÁBADO"}, {"març", "abril", "abril"},
	} {
		if got := appendLike([]byte("el "), []byte(tt.was), tt.name); string(got) != "el "+tt.want {
			t.Errorf("%q in place of %q: %q, want %q", tt.name, tt.was, got, "el "+tt.want)
		}
	}
}
