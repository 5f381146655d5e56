package patterns

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// check tests what holds for every text.
func check(t *testing.T, text []byte, matches []pipeline.Match) {
	t.Helper()
	reach := int32(-1)
	valid := utf8.Valid(text)
	for i, m := range matches {
		if m.Start < 0 || m.End <= m.Start || int(m.End) > len(text) {
			t.Fatalf("match %d: %d-%d is not in a text of %d bytes", i, m.Start, m.End, len(text))
		}
		if m.Score <= 0 || m.Score > 1 {
			t.Errorf("match %d: score %v", i, m.Score)
		}
		if i > 0 && order(m, matches[i-1]) < 0 {
			t.Errorf("match %d is out of order", i)
		}
		if i > 0 && m.End <= reach && !m.Checked && (m.Start != matches[i-1].Start || m.End != matches[i-1].End) {
			t.Errorf("match %d lies in a longer one", i)
		}
		reach = max(reach, m.End)
		if valid && (!utf8.RuneStart(text[m.Start]) || int(m.End) < len(text) && !utf8.RuneStart(text[m.End])) {
			t.Errorf("match %d: %d-%d is not on character borders", i, m.Start, m.End)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, c := range allCategories {
		for _, r := range readTable(f, tableOf(c)) {
			f.Add(r.text)
		}
	}
	f.Add([]byte("ñ12/03/2014\xff\xc2 12 años\xe2\x80"))
	m := New(Options{})
	f.Fuzz(func(t *testing.T, text []byte) {
		check(t, text, m.Find(nil, text))
	})
}

// TestLinear runs lines of a million characters that make backtracking blow
// up. A line of sixteen times the length may take sixteen times as long, and as
// much again for a busy machine, caches and the race detector; with quadratic
// work it would take 256 times as long.
func TestLinear(t *testing.T) {
	m := New(Options{})
	var dst []pipeline.Match
	runtime.LockOSThread() // clock is the thread's
	defer runtime.UnlockOSThread()
	run := func(text []byte) time.Duration {
		begin := clock()
		dst = m.Find(dst[:0], text)
		return clock() - begin
	}
	for _, unit := range []string{
		"1", "1.", "1-", "1/", "1 ", "12/", "12-03-", "a", "a@", "a.", "a@a.", "@", ":", "::", "1:", "http://a", "www.a.",
		"(", "(93)", "dos ", "treinta y ", "y ", "de ", "de la ", "n. ", "A.", "12 de ", "12 y ", "de 12 ", "enero ", "años ", "12 años y ",
		"tel ", "tel: 9", "+", "+3", "BBBB", "ES12", "12a", "lunes ", "\u00a0", "é", "\u0301", "·", "ñ@", "nhc ", "n1/", "calle 08036 ", "A1234-",
	} {
		text := []byte(strings.Repeat(unit, longLine/len(unit)))
		part := text[:len(text)/16/len(unit)*len(unit)]
		short := min(run(part), run(part), run(part)) + 100*time.Microsecond
		long := run(text)
		for tries := 0; long > 80*short && tries < 10; tries++ { // a busy machine is slow now and then, quadratic work always
			long = min(long, run(text))
		}
		if long > 80*short {
			t.Errorf("%q: %d bytes took %v, %d bytes %v", unit, len(part), short, len(text), long)
		}
		check(t, text, dst)
	}
}

// TestFindAppends keeps what is in dst, and finds the same on every call.
func TestFindAppends(t *testing.T) {
	m := New(Options{})
	dst := []pipeline.Match{{Start: 5, End: 9}}
	dst = m.Find(dst, []byte("el 12/03/2014"))
	if len(dst) != 2 || dst[0] != (pipeline.Match{Start: 5, End: 9}) {
		t.Errorf("got %v", dst)
	}
}

func TestOptions(t *testing.T) {
	text := []byte("Tel. 600 123 123, el 12/03/2014, TA 12/08")
	if got := New(Options{Categories: []pipeline.Category{date}}).Find(nil, text); len(got) != 1 || got[0].Category != date {
		t.Errorf("dates only: %v", got)
	}
}

func TestNoAllocations(t *testing.T) {
	m := New(Options{})
	text := typical(4096)
	dst := m.Find(nil, text)
	if n := testing.AllocsPerRun(20, func() { dst = m.Find(dst[:0], text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// typical makes a text of invented notes: words, values and now and then an
// identifier.
func typical(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	sentences := []string{
		"Paciente de 70 años que acude por dolor torácico de 3 horas de evolución. ",
		"TA 130/80 mmHg, FC 72 lpm, Tª 36,5 ºC, SatO2 97%. ",
		"Ecografia abdominal sense troballes patològiques. ",
		"Se pauta amoxicilina 875/125 mg cada 8 horas durante 7 días y paracetamol si fiebre. ",
		"Glucosa 98 mg/dl, creatinina 0,8 mg/dl, Hb 13.4 g/dl, leucos 7.500. ",
		"Control en 3 mesos amb analítica i ECG; derivo a cardiologia per valoració. ",
		"No alergias medicamentosas conocidas. Niega hábitos tóxicos. ",
		"Buen estado general, consciente y orientado, normohidratado y normocoloreado. ",
		"Abdomen blando y depresible, no doloroso a la palpación, sin masas ni megalias. ",
		"Refereix tos seca i febrícula des de fa dos dies, sense dispnea. ",
		"Auscultación cardiopulmonar normal, sin soplos ni ruidos sobreañadidos. ",
		"IQ el 12/03/2014 sin incidencias. ",
	}
	var text []byte
	for len(text) < size {
		text = append(text, sentences[rng.IntN(len(sentences))]...)
	}
	return text[:size]
}

// prose is text without a digit or an identifier.
func prose(size int) []byte {
	words := "paciente que acude por dolor abdominal difuso desde ayer sin fiebre ni vomitos refiere tos seca y mocos " +
		"auscultacion normal se pauta reposo y control evolutivo no alergias conocidas abdomen blando depresible\n"
	return []byte(strings.Repeat(words, size/len(words)+1)[:size])
}

func benchmark(b *testing.B, text []byte) {
	m := New(Options{})
	var dst []pipeline.Match
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = m.Find(dst[:0], text)
	}
}

func BenchmarkFind(b *testing.B) {
	b.Run("typical", func(b *testing.B) { benchmark(b, typical(1<<16)) })
	b.Run("prose", func(b *testing.B) { benchmark(b, prose(1<<16)) })
	b.Run("short", func(b *testing.B) { benchmark(b, typical(120)) })
}
