package mask_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

// dateMasker masks dates and ages with the operators, everything else with
// placeholders.
func dateMasker(t testing.TB, dates, ages string) *mask.Masker {
	return newMasker(t, mask.Options{Key: testKey(t, 7), Policy: map[pipeline.Category]*mask.Chain{
		category(t, "DATE"): chain(t, dates), category(t, "AGE"): chain(t, ages),
	}})
}

func DayOf(t testing.TB, text string) int32 {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return int32(d.Unix() / 86400)
}

func TestAges(t *testing.T) {
	for _, c := range []struct{ operator, marked, want string }{
		{"age", "[AGE:42 años]", "40-44 años"},
		{"age", "[AGE:42a]", "40-44a"},
		{"age", "[AGE:42]", "40-44"},
		{"age", "[AGE:42-year-old]", "40-44-year-old"},
		{"age", "[AGE:de 5 anys]", "de 5-9 anys"},
		{"age", "[AGE:3 meses] y [AGE:12 días]", "0-4 años y 0-4 años"},
		{"age", "[AGE:90 años] y [AGE:89 años]", "[AGE > 89] y 85-89 años"},
		{"age", "[AGE:103]", "[AGE > 89]"},
		{"age over=80 class=10", "[AGE:81 años] y [AGE:79 años]", "[AGE > 80] y 70-79 años"},
		{"age class=1", "[AGE:42 años] y [AGE:95 años]", "42 años y [AGE > 89]"},
		{"age", "[AGE:cuarenta años]", "[AGE]"},
		{"age", "[AGE:40 o 45 años]", "[AGE]"},
		{"age", "[AGE:400 meses]", "[AGE]"},
		{"age", "[AGE:42 kg]", "[AGE]"},
		{"age | suppress", "[AGE:cuarenta años]", ""},
	} {
		if got := masked(t, dateMasker(t, "placeholder", c.operator), mask.Note{}, c.marked); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.operator, c.marked, got, c.want)
		}
	}
}

func TestIntervalsAndYears(t *testing.T) {
	note := mask.Note{Day: DayOf(t, "2014-03-15"), Dated: true}
	for _, c := range []struct {
		operator string
		note     mask.Note
		marked   string
		want     string
	}{
		{"interval", note, "[DATE:12/03/2014], [DATE:20/3/2014], [DATE:15.03.14]", "[DATE -3 d], [DATE +5 d], [DATE +0 d]"},
		{"interval", note, "[DATE:mayo de 2014], [DATE:2012]", "[DATE +2 m], [DATE -2 y]"},
		{"interval", note, "[DATE:3 de mayo]", "[DATE]"},
		{"interval", mask.Note{}, "[DATE:12/03/2014]", "[DATE]"},
		{"interval from=first", mask.Note{}, "[DATE:12/03/2014] y [DATE:02/03/2014]", "[DATE +10 d] y [DATE +0 d]"},
		{"interval from=first", mask.Note{}, "[DATE:mayo]", "[DATE]"},
		{"interval", note, "del [DATE:14] al [DATE:20 de marzo de 2014]", "del [DATE -1 d] al [DATE +5 d]"},
		{"interval", note, "primero de [DATE:mayo de 2014]", "primero de [DATE]"},
		{"interval", note, "[DATE:03/13/2014] y [DATE:03/04/2014]", "[DATE -2 d] y [DATE -11 d]"},
		{"year", note, "[DATE:12/03/2014], [DATE:año 1998], [DATE:mayo 13]", "2014, 1998, 2013"},
		{"year", note, "[DATE:12/03/1920]", "[DATE]"},
		{"year", note, "[DATE:12/03]", "[DATE]"},
		{"year", mask.Note{}, "[DATE:1920] y [DATE:1990]", "[DATE] y 1990"},
		{"year", mask.Note{}, "[DATE:12/03/2014]: nace en [DATE:1920]", "2014: nace en [DATE]"},
	} {
		if got := masked(t, dateMasker(t, c.operator, "placeholder"), c.note, c.marked); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.operator, c.marked, got, c.want)
		}
	}
}

// TestShift: one offset a patient, ambiguous dates in the order of the others
// of the note, a placeholder for what cannot be read.
func TestShift(t *testing.T) {
	m := dateMasker(t, "shift", "placeholder")
	a := masked(t, m, mask.Note{ID: []byte("1"), Patient: []byte("p")}, "[DATE:12/03/2014]")
	if b := masked(t, m, mask.Note{ID: []byte("2"), Patient: []byte("p")}, "[DATE:12/03/2014]"); a != b {
		t.Errorf("two notes of a patient: %q, %q", a, b)
	}
	if b := masked(t, m, mask.Note{ID: []byte("1"), Patient: []byte("q")}, "[DATE:12/03/2014]"); a == b {
		t.Errorf("two patients: %q", a)
	}
	if b := masked(t, m, mask.Note{ID: []byte("1")}, "[DATE:12/03/2014]"); a == b {
		t.Errorf("without a patient: %q", a)
	}
	if got := masked(t, m, mask.Note{}, "[DATE:la semana pasada] y [DATE:31/02/2014]"); got != "[DATE] y [DATE]" {
		t.Errorf("what is no date: %q", got)
	}
	got := masked(t, m, mask.Note{ID: []byte("1")}, "[DATE:03/25/2014] [DATE:03/04/2014]")
	one, err := time.Parse("01/02/2006", got[:10])
	two, err2 := time.Parse("01/02/2006", got[11:])
	if err != nil || err2 != nil || one.Sub(two) != 21*24*time.Hour {
		t.Errorf("month first: %q", got)
	}
}

// Offsets keep their promise: intervals of a patient exactly, at least a month
// away, weeks whole, seasons near.
func TestOffsets(t *testing.T) {
	masker := map[string]*mask.Masker{}
	for _, operator := range []string{"shift", "shift days=3000", "shift weeks=true", "shift season=true", "shift season=true weeks=true"} {
		masker[operator] = dateMasker(t, operator, "placeholder")
	}
	rapid.Check(t, func(r *rapid.T) {
		for operator, m := range masker {
			patient := []byte(rapid.String().Draw(r, "patient"))
			first := time.Date(2000, 1, 1+rapid.IntRange(0, 9000).Draw(r, "first"), 0, 0, 0, 0, time.UTC)
			second := first.AddDate(0, 0, rapid.IntRange(0, 900).Draw(r, "days"))
			read := func(id string, d time.Time) time.Time {
				text := masked(t, m, mask.Note{ID: []byte(id), Patient: append([]byte("p"), patient...)}, "[DATE:"+d.Format("02/01/2006")+"]")
				got, err := time.Parse("02/01/2006", text)
				if err != nil {
					r.Fatalf("%s became %q", d, text)
				}
				return got
			}
			now := read("1", first)
			if read("2", second).Sub(now) != second.Sub(first) {
				r.Fatalf("%s: the interval changed", operator)
			}
			days := int(now.Sub(first).Hours()) / 24
			season := strings.Contains(operator, "season")
			switch {
			case strings.Contains(operator, "weeks") && days%7 != 0,
				!season && (abs(days) < 30 || abs(days) > 3000),
				season && abs(abs(days)%364) > 21 && abs(days)%364 < 364-21:
				r.Fatalf("%s: %d days", operator, days)
			}
		}
	})
}

func abs(n int) int { return max(n, -n) }

func TestEncrypt(t *testing.T) {
	key := testKey(t, 3)
	m := newMasker(t, mask.Options{Default: chain(t, "encrypt"), Key: key, Purpose: "study"})
	text, _ := parse(t, "Visto por [PERSON:Núria Solà] y [PERSON:Núria Solà] en [LOCATION:Núria Solà]")
	got := masked(t, m, mask.Note{}, "Visto por [PERSON:Núria Solà] y [PERSON:Núria Solà] en [LOCATION:Núria Solà]")
	parts := regexp.MustCompile(`\[[A-Z]+:([a-z]+)\]`).FindAllStringSubmatch(got, -1)
	if len(parts) != 3 || parts[0][1] != parts[1][1] || parts[0][1] == parts[2][1] {
		t.Fatalf("sealed: %q", got)
	}
	open := func(s *mask.Sealer, text string) (string, int, int) {
		out, opened, shut := s.Reveal(nil, []byte(text))
		return string(out), opened, shut
	}
	if out, opened, shut := open(mask.NewSealer(key, "study"), got); out != string(text) || opened != 3 || shut != 0 {
		t.Errorf("revealed %q, %d, %d", out, opened, shut)
	}
	for what, s := range map[string]*mask.Sealer{"purpose": mask.NewSealer(key, "other"), "key": mask.NewSealer(testKey(t, 4), "study")} {
		if out, opened, shut := open(s, got); out != got || opened != 0 || shut != 3 {
			t.Errorf("another %s: %d opened, %d shut, same %v", what, opened, shut, out == got)
		}
	}
	changed := []byte(got)
	changed[strings.Index(got, ":")+3] ^= 1 // still a letter of the alphabet or none
	if out, opened, _ := mask.NewSealer(key, "study").Reveal(nil, changed); opened != 2 || !bytes.Contains(out, []byte("[PERSON:")) {
		t.Errorf("a changed value: %d opened", opened)
	}
	if out, opened, shut := open(mask.NewSealer(key, "study"), "[PERSON] [PERSON:7f3a] [AGE > 89] [] [:] ["); opened+shut != 0 || out != "[PERSON] [PERSON:7f3a] [AGE > 89] [] [:] [" {
		t.Errorf("nothing sealed: %q", out)
	}
}

// TestLengthsAreHidden: what stands for names of different lengths is of one
// length, by mask and by encrypt.
func TestLengthsAreHidden(t *testing.T) {
	for _, operator := range []string{"mask", "encrypt"} {
		m := newMasker(t, mask.Options{Default: chain(t, operator), Key: testKey(t, 3)})
		want := len(masked(t, m, mask.Note{}, "[PERSON:Bo]"))
		for _, name := range []string{"Núria", "Núria Solà Puig", "X"} {
			if got := len(masked(t, m, mask.Note{}, "[PERSON:"+name+"]")); got != want {
				t.Errorf("%s: a name of %d bytes gives %d, one of 2 %d", operator, len(name), got, want)
			}
		}
	}
	for value, want := range map[string]string{"John": "J***", "Òscar P": "Ò******", "J": "*"} { // BOOT §2.2.2
		if got := masked(t, newMasker(t, mask.Options{Default: chain(t, "mask size=1 first=1")}), mask.Note{}, "[PERSON:"+value+"]"); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if got := masked(t, newMasker(t, mask.Options{Default: chain(t, "mask size=1")}), mask.Note{}, "[PERSON:Núria]"); got != "*****" {
		t.Errorf("size=1: %q", got)
	}
}

// TestEncryptScope: equal values look equal within the scope only, and all of
// them can be revealed.
func TestEncryptScope(t *testing.T) {
	key := testKey(t, 3)
	a, b := mask.Note{ID: []byte("1"), Patient: []byte("p")}, mask.Note{ID: []byte("2"), Patient: []byte("q")}
	again := mask.Note{ID: []byte("3"), Patient: []byte("p")}
	for operator, equal := range map[string]bool{"encrypt": false, "encrypt scope=note": false, "encrypt scope=archive": true} {
		m := newMasker(t, mask.Options{Default: chain(t, operator), Key: key})
		one, two := masked(t, m, a, "[PERSON:Núria]"), masked(t, m, b, "[PERSON:Núria]")
		if (one == two) != equal {
			t.Errorf("%s: two patients are equal: %v", operator, one == two)
		}
		if three := masked(t, m, again, "[PERSON:Núria]"); (one == three) != (operator != "encrypt scope=note") {
			t.Errorf("%s: two notes of a patient are equal: %v", operator, one == three)
		}
		if out, opened, _ := mask.NewSealer(key, "").Reveal(nil, []byte(one+two)); string(out) != "NúriaNúria" || opened != 2 {
			t.Errorf("%s: %d opened", operator, opened)
		}
	}
}

// TestRevealOld: what a version before this one has sealed, without length and
// scope hidden, is still opened.
func TestRevealOld(t *testing.T) {
	key := testKey(t, 3)
	if out, opened, _ := mask.NewSealer(key, "study").Reveal(nil, []byte("[PERSON:scppjdknsjtnrnrgcqlnbjkksqphtmsmskbrcscgbhmqhcsgqnndslft]")); string(out) != "Núria Solà" || opened != 1 {
		t.Errorf("%d opened", opened)
	}
}

// FuzzReveal: nothing panics, and what is not sealed stays as it is.
func FuzzReveal(f *testing.F) {
	f.Add([]byte("[PERSON:bcdfbcdfbcdfbcdfbcdfbcdfbcdfbcdf]"))
	f.Add([]byte("[PERSON] [AGE > 89] [X:"))
	key := testKey(f, 3)
	f.Fuzz(func(t *testing.T, text []byte) {
		out, opened, _ := mask.NewSealer(key, "").Reveal(nil, text)
		if opened == 0 && !bytes.Equal(out, text) {
			t.Fatal("changed")
		}
	})
}

// TestSurrogates: who is the same, by strategy and scope; none is a value of
// its own note.
func TestSurrogates(t *testing.T) {
	masker := func(operator string) *mask.Masker {
		return newMasker(t, mask.Options{Default: chain(t, operator), Key: testKey(t, 9)})
	}
	note := func(id, patient string) mask.Note {
		return mask.Note{ID: []byte(id), Patient: []byte(patient)}
	}
	const named = "[PERSON:Marta Quiroga]"
	for _, c := range []struct {
		operator string
		a, b     mask.Note
		same     bool
	}{
		{"surrogate scope=note", note("1", "p"), note("1", "p"), true},
		{"surrogate scope=note", note("1", "p"), note("2", "p"), false},
		{"surrogate", note("1", "p"), note("2", "p"), true},
		{"surrogate", note("1", "p"), note("1", "q"), false},
		{"surrogate", note("1", ""), note("2", ""), false},
		{"surrogate scope=archive", note("1", "p"), note("2", "q"), true},
	} {
		m := masker(c.operator)
		if got := masked(t, m, c.a, named) == masked(t, m, c.b, named); got != c.same {
			t.Errorf("%s, notes %s of %q and %s of %q: same %v", c.operator, c.a.ID, c.a.Patient, c.b.ID, c.b.Patient, got)
		}
	}
	count := func(operator string) (different int) {
		seen := map[string]bool{}
		for _, name := range strings.Split(masked(t, masker(operator), note("1", "p"), strings.Repeat(named+";", 40)), ";") {
			seen[name] = true
		}
		return len(seen) - 1 // what is behind the last is empty
	}
	if n := count("surrogate"); n != 1 {
		t.Errorf("consistent: %d names of 40 mentions", n)
	}
	if n := count("surrogate strategy=random"); n < 39 {
		t.Errorf("random: %d names of 40 mentions", n)
	}
	if n := count("surrogate strategy=markov"); n < 7 || n > 32 {
		t.Errorf("markov: %d names of 40 mentions", n)
	}
	for _, c := range [][2]string{{"[AGE:40 años]", "[AGE]"}, {"[DATE:1/2/2014]", "[DATE]"}, {"[SEXO_SUJETO_ASISTENCIA:varón]", "[SEXO_SUJETO_ASISTENCIA]"}} {
		if got := masked(t, masker("surrogate"), note("1", "p"), c[0]); got != c[1] {
			t.Errorf("%s: got %q", c[0], got)
		}
	}
	m := masker("surrogate scope=archive")
	text := masked(t, m, note("1", "p"), "[EMAIL:ada@x.es] [URL:www.x.es] [DNI:12345678Z] [PROFESION:camarera] [LOCATION:Olot]")
	if !regexp.MustCompile(`^[a-z]+@example\.\w+ www\.example\.\w+ \d{8}[A-Z] \pL+a \pL.+$`).MatchString(text) {
		t.Errorf("other kinds: %q", text)
	}
}

func TestAggregate(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "aggregate")})
	for marked, want := range map[string]string{
		"[LOCATION:Olot]": "Cataluña", "[LOCATION:GERONA]": "Cataluña", "[LOCATION:Abades]": "Castilla y León", "[LOCATION:catalunya]": "España",
		"[LOCATION:Cuenca]": "Castilla-La Mancha", "[LOCATION:Hospital de Olot]": "[LOCATION]", "[LOCATION:España]": "[LOCATION]",
		"[POSTAL_CODE:08001]": "080**", "[POSTAL_CODE:08201]": "08***", "[POSTAL_CODE:99001]": "99***", "[ZIP:06301]": "000**", "[ZIP:90210]": "902**", "[ZIP:03601]": "000**", "[POSTAL_CODE:0800]": "[POSTAL_CODE]",
	} {
		if got := masked(t, m, mask.Note{}, marked); got != want {
			t.Errorf("%s: got %q, want %q", marked, got, want)
		}
	}
}

func TestAggregateToProvince(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "aggregate to=province")})
	for marked, want := range map[string]string{
		"[LOCATION:gerona]": "Cataluña", "[LOCATION:Sevilla]": "Andalucía", "[LOCATION:Madrid]": "España", "[LOCATION:Alcorcón]": "Comunidad de Madrid",
		"[LOCATION:Gijón] en [LOCATION:Asturias]": "España en España", "[LOCATION:Olot] y [LOCATION:Cataluña]": "Girona y España",
		"[LOCATION:Mallorca], [LOCATION:España]": "Illes Balears, [LOCATION]", "[LOCATION:Getafe] de [LOCATION:Madrid]": "España de España", "[LOCATION:Olot]": "Girona", "[LOCATION:BADALONA]": "Barcelona",
		"[LOCATION:Dos Hermanas]": "Sevilla", "[LOCATION:Getafe]": "Comunidad de Madrid", "[LOCATION:san sebastian]": "Guipúzcoa", "[LOCATION:l'Hospitalet de Llobregat]": "Barcelona",
		"[LOCATION:Dos Hermanas], [LOCATION:Sevilla]": "Andalucía, Andalucía", "[LOCATION:Narnia]": "[LOCATION]",
	} {
		if got := masked(t, m, mask.Note{}, marked); got != want {
			t.Errorf("%s: got %q, want %q", marked, got, want)
		}
	}
}

// TestRandomize: a value of the list, never the one that stood there.
func TestRandomize(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "randomize values=Ana,Pere_Mas"), Key: testKey(t, 7)})
	for i := range 20 {
		n := mask.Note{ID: []byte{byte(i)}}
		if got := masked(t, m, n, "[PERSON:ANA]"); got != "Pere Mas" {
			t.Errorf("note %d: %q", i, got)
		}
		if got := masked(t, m, n, "[PERSON:Quim]"); got != "Ana" && got != "Pere Mas" {
			t.Errorf("note %d: %q", i, got)
		}
	}
	if _, err := mask.ParseChain("randomize values=Ana"); err == nil {
		t.Error("a list of one value is taken")
	}
}

// TestColumnsMove: dates beside a note move as those within, also beside notes
// without any.
func TestColumnsMove(t *testing.T) {
	step, err := mask.New(mask.Options{
		Default: chain(t, "shift"), Key: testKey(t, 7), PatientColumn: "patient",
		Times: []mask.TimeColumn{{Name: "day", Day: 1}, {Name: "time", Day: 86400e3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	day := DayOf(t, "2014-03-12")
	var b pipeline.Batch
	for _, marked := range []string{"el [DATE:12/03/2014]", "sin fecha"} {
		text, spans := parse(t, marked)
		b.ID.Append([]byte("1"))
		b.Text.Append(text)
		b.Spans.Append(spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	valid := []bool{true, true}
	b.Extra = []pipeline.Column{
		{Name: "patient", Kind: pipeline.Int64Column, Valid: valid, Fixed: []uint64{5, 5}},
		{Name: "day", Type: "t", Kind: pipeline.Int32Column, Valid: valid, Fixed: []uint64{uint64(day), uint64(day)}},
		{Name: "day", Kind: pipeline.DateColumn, Valid: valid, Fixed: []uint64{uint64(day), uint64(day)}}, // for the stages
		{Name: "time", Type: "t", Kind: pipeline.Int64Column, Valid: []bool{true, false}, Fixed: []uint64{uint64(day) * 86400e3, 0}},
	}
	if err := step.New()(&b); err != nil {
		t.Fatal(err)
	}
	got, err := time.Parse("02/01/2006", strings.TrimPrefix(string(b.Masked.At(0)), "el "))
	if err != nil {
		t.Fatal("no date")
	}
	now := uint64(got.Unix() / 86400)
	if e := b.Extra; e[1].Fixed[0] != now || e[1].Fixed[1] != now || e[2].Fixed[0] != uint64(day) || e[3].Fixed[0] != now*86400e3 || e[3].Fixed[1] != 0 {
		t.Errorf("moved to %d: %v %v %v", now, e[1].Fixed, e[2].Fixed, e[3].Fixed)
	}
}
