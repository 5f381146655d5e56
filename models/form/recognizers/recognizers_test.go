package recognizers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const ours = `version: 1
recognizers:
  - name: record
    category: SANITARY_CARD_ID
    patterns:
      - {regex: '\bHC-?\d{6,8}\b', score: 0.6}
      - {regex: '\b\d{8}\b', score: 0.2}
    context: [historia, NHC]
  - name: worker
    category: DNI
    check: luhn
    patterns:
      - {name: badge, regex: '\bW\d{6}\b', score: 0.3}
  - name: wards
    category: LOCATION
    deny_list: [Sala Roble, Sala, Planta 3 Nord, Núria]
    deny_list_score: 0.8
`

func compile(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFind: what is found stands in brackets, with the recognizer behind it.
func TestFind(t *testing.T) {
	s := compile(t, ours)
	for _, want := range []string{
		"Con [HC-123456|record 0.60].",
		"Historia: [12345678|record 0.55] y [12345678|record 0.55]", // both have it within five words
		"NHC n.º [HC123456|record 0.95]",                            // context lifts a good expression, too
		"historia de la que se da fe en 12345678",                   // seven words before: too far
		"historia\n12345678",                                        // another line
		"Sr. [W123455|worker 1.00] y W123456, XW123455",             // a right check digit counts, a wrong one takes nothing away
		"En [SALA ROBLE|wards 0.80], [sala|wards 0.80] Olmo, [planta 3, nord|wards 0.80], planta 3 Sur, [Nuria|wards 0.80], Nurias",
		"[Sala|wards 0.80]\n\n\n\nRoble es [sala|wards 0.80]",
	} {
		text := ""
		for part := range strings.SplitSeq(want, "[") {
			value, rest, ok := strings.Cut(part, "]")
			value, _, _ = strings.Cut(value, "|")
			if !ok {
				rest = ""
			}
			text += value + rest
		}
		if got := marked(s, text); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func marked(s *Set, text string) string {
	var b strings.Builder
	at := 0
	found, _ := s.Find(nil, []byte(text))
	for _, f := range found {
		if int(f.Start) < at {
			continue
		}
		fmt.Fprintf(&b, "%s[%s|%s %.2f]", text[at:f.Start], text[f.Start:f.End], s.Names()[f.Recognizer], f.Score)
		at = int(f.End)
	}
	return b.String() + text[at:]
}

// TestWindows: a long line is looked at in windows, and nothing is lost or found
// twice at their borders.
func TestWindows(t *testing.T) {
	s := compile(t, ours)
	for lead := range 64 {
		for _, at := range []int{window - 40, 2*window - 40, 5*window - 40} {
			text := strings.Repeat("a ", (at+lead)/2) + "HC-123456 " + strings.Repeat("b ", 2000)
			found, ok := s.Find(nil, []byte(text))
			if !ok || len(found) != 1 || text[found[0].Start:found[0].End] != "HC-123456" {
				t.Fatalf("at %d: %d places", at+lead, len(found))
			}
		}
	}
}

// TestErrors: line and cause.
func TestErrors(t *testing.T) {
	head := "version: 1\nrecognizers:\n  - name: a\n    category: DNI\n"
	for text, want := range map[string]string{
		"":                         "line 1: expected \"version: 1\"",
		"version: 2\n":             "line 1: expected \"version: 1\"",
		"version: 1\n":             "expected 1 to 256 recognizers, found 0",
		"version: 1\nnothing: 1\n": "line 2: unknown field \"nothing\"",
		head:                       "line 3: a: expected patterns or a deny_list",
		head + "    patterns:\n      - {regex: '\\d+'}\n":              "line 6: a: expected a score over 0",
		head + "    patterns:\n      - {regex: '(\\d+', score: 0.5}\n": "line 6: a: no regular expression of RE2: error parsing regexp: missing closing )",
		head + "    patterns:\n      - {regex: '(?=x)', score: 0.5}\n": "line 6: a: no regular expression of RE2",
		head + "    patterns:\n      - {regex: '\\d*', score: 0.5}\n":  "line 6: a: an expression that matches nothing at all",
		head + "    patterns:\n      - {regex: '(\\d{900}x){1,}', score: 0.5}\n      - {regex: '(\\pL{900}x)', score: 0.5}\n      - {regex: '(\\pL{900}y)', score: 0.5}\n      - {regex: '(\\pL{900}x)', score: 0.5}\n      - {regex: '(\\pL{999}x)', score: 0.5}\n": "line 10: a: the expressions of the file have more than 4096 instructions",
		head + "    check: lunh\n    deny_list: [x]\n":                                    "line 5: a: no check digit \"lunh\"; there are cif, cip, dni, iban, luhn, nass",
		head + "    deny_list: [x]\n    min_score: 2\n":                                   "line 6: a: min_score: expected a score",
		head + "    deny_list:\n      - x\n      - '...'\n":                               "line 7: a: expected 1 to 16 words",
		head + "    deny_list: [x]\n    context: [dos palabras]\n":                        "line 6: a: expected one word of context",
		head + "    deny_list: [x]\n  - name: a\n    category: DNI\n    deny_list: [x]\n": "line 6: a second recognizer \"a\"",
		strings.Replace(head, "DNI", "NADA", 1) + "    deny_list: [x]\n":                  "line 4: a: no category \"NADA\"",
		head + "    deny_list: &x [a]\n    context: *x\n":                                 "line 5: anchors and aliases are not taken",
		"a: " + strings.Repeat("[", 100_000):                                              "line 1: nested too deeply",
		"version: 1\nrecognizers: x\n":                                                    "line 2:",
		"a: \xff":                                                                         "no UTF-8",
	} {
		_, err := Compile(text)
		if _, ok := errors.AsType[*FileError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
	}
}

// TestWork: an expression that looks at the rest of the window behind every byte
// comes to an end that is told; the same one on what a note may cost does not.
func TestWork(t *testing.T) {
	s := compile(t, "version: 1\nrecognizers:\n  - {name: a, category: DNI, patterns: [{regex: '(a.*b|a+c|a)', score: 0.5}, {regex: '(x+x+)+y', score: 0.5}]}\n")
	text := []byte(strings.Repeat("ax", 5_000))
	s.work = 1 << 24
	if found, ok := s.Find(nil, text); ok || len(found) == 0 || len(found) == 5_000 {
		t.Errorf("%d places, all: %t", len(found), ok)
	}
	if found, ok := s.Find(nil, text[:500]); !ok || len(found) != 250 {
		t.Errorf("%d places, all: %t", len(found), ok)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(ours, "Sala Roble, NHC 12345678")
	f.Add("version: 1\nrecognizers:\n  - {name: a, category: DNI, check: dni, patterns: [{regex: '[XYZ]?\\d+\\w', score: 1}]}\n", "X1234567L 12345678Z")
	f.Fuzz(func(t *testing.T, file, text string) {
		if len(file) > 1<<14 || len(text) > 1<<12 {
			return
		}
		s, err := Compile(file)
		if err != nil {
			if _, ok := errors.AsType[*FileError](err); !ok {
				t.Fatalf("an error of another type: %T", err)
			}
			return
		}
		s.work = 1 << 24
		all, _ := s.Find(nil, []byte(text))
		for _, found := range all {
			if found.Start < 0 || found.Start >= found.End || int(found.End) > len(text) {
				t.Fatal("a place outside of the text")
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	s := compile(b, ours)
	note := []byte("Acude con su hermana a control de HTA, TA 130/80, refiere mejoría desde 2019. Historia 12345678, sala Olmo.")
	b.SetBytes(int64(len(note)))
	b.ReportAllocs()
	var found []Find
	for b.Loop() {
		found, _ = s.Find(found[:0], note)
	}
}
