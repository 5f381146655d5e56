package terms

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// tokenize cuts at blanks; ~ stands for no blank between two tokens, and a token
// that begins with / starts a line.
func tokenize(marked string) (text []byte, tokens []pipeline.Token) {
	for i, field := range strings.Fields(marked) {
		for k, form := range strings.Split(field, "~") {
			if len(text) > 0 && k == 0 {
				text = append(text, ' ')
			}
			t := pipeline.Token{Start: int32(len(text))}
			if k > 0 {
				t.Flags |= pipeline.Glued
			}
			if i == 0 && k == 0 || k == 0 && len(form) > 1 && form[0] == '|' {
				t.Flags |= pipeline.LineStart | pipeline.SentenceStart
				form = strings.TrimPrefix(form, "|")
			}
			text = append(text, form...)
			t.End = int32(len(text))
			tokens = append(tokens, t)
		}
	}
	return text, tokens
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"paracetamol 500 mg cada 8 horas", "drug:paracetamol dose:500 mg dose:cada 8 horas"},
		{"paracetamol 1~g c~/~8~h", "drug:paracetamol dose:1g dose:c/8h"},
		{"enalapril 20 1~-~0~-~1", "drug:enalapril dose:1-0-1"},
		{"empieza con gemcitaplatino", "drug:gemcitaplatino"},
		{"en abril vino", ""},
		{"TA 120~/~80", "lab:TA 120/80"},
		{"Hb : 12,3 g~/~dl", "lab:Hb : 12,3 g/dl"},
		{"FC a 80 lpm", "lab:FC a 80 lpm"},
		{"IMC 31 kg~/~m~2", "lab:IMC 31 kg/m2"},
		{"peso 3 kg , talla 50 cm", "lab:peso 3 kg lab:talla 50 cm"},
		{"fiebre de 39 desde hace 3 días", "lab:fiebre de 39 duration:3 días"},
		{"disnea y neumonía en pulmón derecho ; TAC", "symptom:disnea diagnosis:neumonía anatomy:pulmón anatomy:derecho procedure:TAC"},
		// What looks like a value and is none.
		{"PCR 12~/~03~/~2020", "procedure:"},
		{"Cr 612345678", ""},
		{"niño de 3 años", ""},
		{"Hb |12 de mayo", ""},
		{"vive en el 3", ""},
		{"12~-~10~-~11", ""},
	} {
		text, tokens := tokenize(tt.text)
		var got []string
		f := Finder{Lists: gazetteer.Default()}
		for _, term := range f.Find(nil, text, tokens) {
			got = append(got, term.Kind.String()+":"+string(text[tokens[term.First].Start:tokens[term.Last-1].End]))
		}
		want := tt.want
		if want == "procedure:" {
			want = ""
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", tt.text, got, want)
		}
	}
}

// TestTermsAreDisjoint: whatever the words, terms are in order, disjoint, not
// empty and of a kind.
func TestTermsAreDisjoint(t *testing.T) {
	forms := []string{"Hb", "12", "3", "mg", "/", "-", "c", "cada", "horas", "de", "g", "dl", "1", "0", ",", "disnea", "|TA", ":", "kg", "m", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text, tokens := tokenize(strings.Join(rapid.SliceOfN(rapid.SampledFrom(forms), 1, 20).Draw(t, "forms"), rapid.SampledFrom([]string{" ", "~"}).Draw(t, "gap")))
		f := Finder{}
		at := int32(0)
		for _, term := range f.Find(nil, text, tokens) {
			if term.First < at || term.Last <= term.First || int(term.Last) > len(tokens) || term.Kind == None {
				t.Fatalf("terms %+v", term)
			}
			at = term.Last
		}
	})
}

func TestLists(t *testing.T) {
	if len(words) < 1000 || len(stems) < 30 {
		t.Errorf("%d words, %d stems", len(words), len(stems))
	}
}

func BenchmarkFind(b *testing.B) {
	text, tokens := tokenize("paciente con disnea de 3 días , TA 120~/~80 , tratamiento con paracetamol 500 mg cada 8 horas y control en una semana")
	f := Finder{Lists: gazetteer.Default()}
	var found []Term
	b.ReportAllocs()
	for b.Loop() {
		found = f.Find(found[:0], text, tokens)
	}
}
