package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Juan Núñez, 12.345.678-Z, 2º 5 µg ¿sí?", ""},
		{"l·l «col·legi» ½ 10² º", ""},
		{"tel 612\u00a0345\u00a0678", "tel 612 345 678"},
		{"612\u202f345\u2009678", "612 345 678"},
		{"612\u2013345\u2013678", "612-345-678"},
		{"612\u2212345", "612-345"},
		{"6\u00ad1\u200b2\u200d3\u2060\ufeff45678", "612345678"},
		{"\u202e612345678\u202c", "612345678"},
		{"\ufeffAna", "Ana"},
		{"６１２３４５６７８", "612345678"},
		{"Ｘ１２３４５６７Ｌ", "X1234567L"},
		{"\u0666\u0661\u0662", "612"},
		{"\U0001D7D4\U0001D7D9\U0001D7DA \U0001D400na", "612 Ana"},
		{"①②③", "123"},
		{"\u0425\u0031234567L", "X1234567L"},
		{"12345678 \u0422", "12345678 T"},
		{"\u0425-1234567-\u0422", "X-1234567-T"},
		{"\u0430n\u0430@g\u043cail.com", "ana@gмail.com"},
		{"M\u0430rt\u0456n", "Martin"},
		{"Олена Ковальчук", "Олена Ковальчук"},
		{"Jose\u0301 Nu\u0301n\u0303ez", "José Núñez"},
		{"6\u03361\u03362", "612"},
		{"l\u2019Hospitalet", "l'Hospitalet"},
		{"o\ufb01cina \ufb03", "oficina ffi"},
		{"TNF-α β-HCG 5 μg", "TNF-a β-HCG 5 μg"},
		{"a\x80b\u200b", "a\x80b"},
		{"\u200b\u200b", "∅"},
		{"10⁹/L", "10⁹/L"},
		{"王伟", "王伟"},
		{"e\ufe0fna", "ena"},
		{"PCR <0.5 y TA <b 120, a&b, a & b; 10^9/L, 2*3, H_2, ______, 98%40, c:\\", ""}, // prose of a clinician
		{"<Ana> &rara; &#0; &#xD800; <p class=Ana> <!-- Ana -->", ""},
		{"6<b>12</b>34", "61234"},
		{"TA &lt;120 <br/>Ana<P>", "TA <120 \nAna\n"},
		{"Mar&iacute;a&nbsp;N&#250;&#xF1;ez&shy;", "María Núñez"},
		{"SOLER^ANA 10^9", "SOLER ANA 10^9"},
		{"**Ana Soler** y __Pau__", "Ana Soler y Pau"},
		{`Dr Soler.\nLuc\u00eda \"no\"`, "Dr Soler.\nLucía \"no\""},
		{"ana.soler%40mail.com", "ana.soler@mail.com"},
		{`{"nombre":"Ana","n": "Pau"}`, "{nombre: Ana, n: Pau}"},
		{`{\rtf1\ansi {\b Mar\'eda} N\u250?ez\par \{612\}\tab 345\fs-24}`, "María Núez\n{612}\t345"},
		{`{\rtf1\`, "\\"},
		{`{\rtf1 Mar\u237\'eda N\u250 ?\~So\-ler}`, "María Nú Soler"},
		{`{\rtf1 \AnaSoler \anasoler \fs612345678 \fs24 x}`, `\AnaSoler \anasoler \fs612345678 x`},
		{"dni MTIzNDU2Nzha fin", "dni 12345678Z fin"},
		{"tel:NjEyMzQ1Njc4; DNI=WDEyMzQ1NjdM", "tel:612345678; DNI=X1234567L"},
		{"TWFyw61hIFNvbGVyIGRlIFJldXM=", "María Soler de Reus"},
		{"Electrocardiograma CatSalut2020abc Hemoglobina123 ABCDEFGHIJKLMNOP", ""}, // bytes that no note has
		{"=?UTF-8?B?TWFyw61hIDYxMg==?= =?iso-8859-1?Q?Mar=EDa_S=6fler?=", "María 612 María Soler"},
		{"DNI =31=32=33=34 Mar=C3=ADa; PCR=12 K=4=12", "DNI 1234 María; PCR=12 K=4=12"},
		{"tel %36%31%32 Mar%C3%ADa 612%20345%20678; 98%20 y 40%", "tel 612 María 612 345 678; 98%20 y 40%"},
		{"hiper-\ntenso 1234-\n567 TA-\nFC dolor -\nhoy 12345678-\nZ 612-\nDolor", "hipertenso 1234567 TA-\nFC dolor -\nhoy 12345678Z 612-\nDolor"},
		{"tel ⁶¹²³⁴⁵, 10⁹/L; CO₂, ₁₂₃", "tel 612345, 10⁹/L; CO₂, 123"},
		{"6\U0001F6001\u26002\ufe0f\u20e33 \U0001F600 ok", "6123 \U0001F600 ok"},
		{`DNI {\b 123}{\i 45}6 Mar\'eda`, "DNI 123456 María"},
		{`Mar\'eda \x36\x31`, "María 61"},
		{"{\\rtf1 \\\x00 \\é \\u225é", "\\\x00 \\é áé"}, // nothing hides a NUL, or cuts a letter
	} {
		if Plain([]byte(c.text)) {
			if c.want != "" {
				t.Errorf("%q is no plain text", c.text)
			}
			continue
		}
		got, from := Append(nil, nil, []byte(c.text))
		if want := strings.ReplaceAll(c.want, "∅", ""); string(got) != want {
			t.Errorf("%+q: %+q, want %+q", c.text, got, want)
		}
		if len(from) != len(got)+1 || len(got) > 0 && from[0] != 0 || from[len(got)] != int32(len(c.text)) || !slices.IsSorted(from) {
			t.Errorf("%+q: offsets %v", c.text, from)
		}
	}
}

// What is masked in a note with markup leaves the markup around it.
func TestMarkupAround(t *testing.T) {
	for _, c := range []struct{ text, in, want string }{
		{"Dra <b>Ana Soler</b> vino", "Ana Soler", "Ana Soler"},
		{"Dra <b>Ana</b> <i>Soler</i>, vino", "Ana Soler", "Ana</b> <i>Soler"},
		{"<td>Ana</td><td>612</td>", "Ana", "Ana"},
		{"tel 6<b>12</b>34.", "61234", "6<b>12</b>34"},
		{"de **Ana**, ayer", "Ana", "Ana"},
		{`{"nombre":"Ana","dni":"1Z"}`, "Ana", "Ana"},
		{"Mar&iacute;a vino", "María", "Mar&iacute;a"},
		{"de <b>o\ufb01</b>, ayer", "ofi", "o\ufb01"},
	} {
		text := []byte(c.text)
		got, from := Append(nil, nil, text)
		at := bytes.Index(got, []byte(c.in))
		if at < 0 {
			t.Errorf("%q: view %q", c.text, got)
			continue
		}
		if a, b := back(from, int32(at), int32(at+len(c.in))); string(text[a:b]) != c.want {
			t.Errorf("%q comes from %q, want %q", c.in, text[a:b], c.want)
		}
	}
}

func TestBack(t *testing.T) {
	text := []byte("tel\u00a0６１２\u00ad345 o\ufb01cina")
	got, from := Append(nil, nil, text)
	for _, c := range []struct{ in, want string }{
		{"612345", "６１２\u00ad345"},
		{"oficina", "o\ufb01cina"},
		{"of", "o\ufb01"},
		{"tel", "tel"},
	} {
		at := bytes.Index(got, []byte(c.in))
		a, b := back(from, int32(at), int32(at+len(c.in)))
		if string(text[a:b]) != c.want {
			t.Errorf("%q comes from %q, want %q", c.in, text[a:b], c.want)
		}
		if p := place(from, a); p != int32(at) {
			t.Errorf("%q: place %d, want %d", c.in, p, at)
		}
	}
}

// Any text has a view whose offsets go forward, lie on characters of the text
// where it is UTF-8, and a view is its own view.
func TestViewProperties(t *testing.T) {
	piece := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{
		"612", "\u00ad", "\u200b", "\ufeff", "６", "\u0425", "\u0301", "a", "\ufb01", " ", "\n", "\u2013", "\xff", "о", "ж", "α",
		"<b>", "</b>", "<br>", "<", "&aacute;", "&#769;", "&#x6A;", "^", "**", `\n`, `\u00e1`, `{"`, `":`, `{\rtf1 `, `\'e1`, "}", "%40", "=C3=A1", "-\n", "MTIzNDU2Nzha", "=?utf-8?q?", "⁶", "\U0001F600", `\`, `\u225`, "?",
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""))
		dst, from := Append([]byte("before"), []int32{7, 8}, text)
		got, from := dst[6:], from[2:]
		if len(from) != len(got)+1 || len(got) > 0 && from[0] != 0 || int(from[len(got)]) != len(text) || !slices.IsSorted(from) {
			t.Fatalf("offsets %v of %d bytes from %d", from, len(got), len(text))
		}
		if utf8.Valid(text) != utf8.Valid(got) {
			t.Fatal("the view is UTF-8 where the text is not, or the other way round")
		}
		if Plain(text) && !bytes.Equal(got, text) {
			t.Fatal("the view of plain text is another text")
		}
		for k := range got {
			if utf8.Valid(text) && utf8.RuneStart(got[k]) && !utf8.RuneStart(append(text, 0)[from[k]]) {
				t.Fatalf("byte %d of the view comes from inside a character", k)
			}
		}
		for end := range len(got) + 1 {
			a, b := back(from, 0, int32(end))
			if a > b || place(from, b) < int32(end) {
				t.Fatalf("back from %d: %d-%d, place %d", end, a, b, place(from, b))
			}
		}
	})
}

func TestNoAllocation(t *testing.T) {
	text := []byte(strings.Repeat("tel ６１２\u00a0345\u00ad678 de \u0430na Jose\u0301. <b>Mar&iacute;a</b> **x** a^b ", 20))
	dst, from := Append(nil, nil, text)
	if n := testing.AllocsPerRun(100, func() { dst, from = Append(dst[:0], from[:0], text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPlain(b *testing.B) {
	text := []byte("Pac que finaliza tto amb Dra Rovira al CAP Sant Pere, acude con su hermana Lucía. Ninguna alergia, ¿está?")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !Plain(text) {
			b.Fatal("not plain")
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	text := []byte("Pac que finaliza tto amb Dra Rovira al CAP Sant Pere – acude con su hermana Lucía. Tel ６１２\u00a0345\u00ad678")
	b.SetBytes(int64(len(text)))
	dst, from := Append(nil, nil, text)
	for b.Loop() {
		dst, from = Append(dst[:0], from[:0], text)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("６１２\u00ad345 o\ufb01cina \u0425\u0031234567L e\u0301 \xff"))
	f.Add([]byte(`{\rtf1 \'e1\u225?\par}`))
	f.Add([]byte(`{"a":"<b>&aacute;&#225;</b> **b** a^b %40 \u00e1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, from := Append(nil, nil, text)
		if len(from) != len(got)+1 || len(got) > 0 && from[0] != 0 || int(from[len(got)]) != len(text) || !slices.IsSorted(from) {
			t.Fatal("offsets")
		}
	})
}

func TestOverridden(t *testing.T) {
	for text, want := range map[string]bool{
		"DNI \u202e12345678": true, "DNI &#8238;123": true, "DNI &#x202E;1": true, `DNI \u202e12`: true, "\u202d1": true,
		"DNI \u200e12 &#8206; y 10 % - ": false, "": false,
	} {
		if got := Overridden([]byte(text)); got != want {
			t.Errorf("%+q: %v", text, got)
		}
	}
}

// What is found in a piece of base64 masks all of it.
func TestPackedIsOne(t *testing.T) {
	text := []byte("dni MTIzNDU2NzhaIGhvbGE= fin")
	got, from := Append(nil, nil, text)
	at := bytes.Index(got, []byte("345"))
	if a, b := back(from, int32(at), int32(at+3)); string(text[a:b]) != "MTIzNDU2NzhaIGhvbGE=" {
		t.Errorf("%d-%d", a, b)
	}
}

// The words of a piece that is one unit are one token.
func TestBackTokens(t *testing.T) {
	text := []byte("x TWFyw61hIFNvbGVyIGRlIFJldXM= y")
	got, from := Append(nil, nil, text)
	at := func(word string) pipeline.Token {
		k := int32(bytes.Index(got, []byte(word)))
		return pipeline.Token{Start: k, End: k + int32(len(word))}
	}
	tokens := BackTokens(from, []pipeline.Token{at("x"), at("María"), at("Soler"), at("Reus"), at("y")})
	if len(tokens) != 3 || tokens[1] != (pipeline.Token{Start: 2, End: 30}) || tokens[2].Start != 31 {
		t.Errorf("%v", tokens)
	}
}

// A long piece of base64 is read as far as its limit, and no further.
func TestPackedLimit(t *testing.T) {
	for _, size := range []int{mostPacked - 4, mostPacked, mostPacked + 4} {
		text := bytes.Repeat([]byte("TWFyw61h"), size/8+1)[:size] // María
		says, n := packed(text, 0)
		if want := min(size, mostPacked); n != want || !strings.HasPrefix(says, "MaríaMaría") || len(says) != want/4*3 {
			t.Errorf("%d bytes: %d are read, which say %d", size, n, len(says))
		}
	}
}
