package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline"
)

// patient is a machine of a pack that throws nothing out: it tries every network
// from every token.
func patient(p *Pack) *Machine {
	slow := *p
	all := make([]startable, len(p.finders))
	for i := range all {
		all[i] = startable{{}}
	}
	slow.startable, slow.hints[0] = all, 1<<len(all)-1
	return slow.NewMachine()
}

// drawn writes a note of words, one sign or none behind each, and its tokens.
func drawn(r *rand.Rand, words []string) (text []byte, tokens []pipeline.Token) {
	flags := pipeline.LineStart | pipeline.SentenceStart
	put := func(s string) {
		start := int32(len(text))
		text = append(text, s...)
		if f := ""; r.IntN(4) != 0 {
			if f = strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"); f == "" {
				flags |= pipeline.Letters
			} else if strings.Trim(s, "0123456789") == "" {
				flags |= pipeline.Figures
			}
		}
		tokens = append(tokens, pipeline.Token{Start: start, End: int32(len(text)), Flags: flags})
		flags = 0
	}
	for range 1 + r.IntN(12) {
		w := words[r.IntN(len(words))]
		switch r.IntN(6) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			w = string(w[0]&^0x20) + w[1:]
		}
		put(strings.ToValidUTF8(w, "x"))
		switch r.IntN(8) {
		case 0:
			flags |= pipeline.Glued
			put(string(".,-'"[r.IntN(4)]))
		case 1:
			text = append(text, '\n')
			flags |= pipeline.LineStart | pipeline.SentenceStart
			continue
		case 2:
			flags |= pipeline.Glued
			continue
		}
		text = append(text, ' ')
	}
	return text, tokens
}

// TestStartable: a network that is not tried from a token would find nothing there.
func TestStartable(t *testing.T) {
	calendar, err := configs.Pack("calendar")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 11))
	found := 0
	for name, file := range map[string]string{
		"calendar":      string(calendar),
		"calls":         "version 1\nnetwork of\n a form:de|del -> b\n a skip -> b\n b form:la -> end\n b skip -> end\nnetwork n PERSON 0.9\n a call:of -> b\n b form:luz -> c\n c call:of -> d\n d form:mar -> end\n d skip -> end",
		"nothing first": "version 1\nnetwork x\n a skip -> end\n a form:luz -> end\nnetwork n PERSON 0.9\n a call:x -> b\n b call:x -> c\n c form:mar exact:MAR -> end\n c form:sol -> end",
		"peeks":         "version 1\nnetwork n PERSON 0.9\n a peek form:luz -> b\n b any -> c\n c peek !form:mar -> end\n c peek none -> end\n c form:de -> end",
		"calls itself":  "version 1\nnetwork x\n a call:x -> b\n a form:luz -> b\n b form:mar -> end\n b skip -> end\nnetwork n PERSON 0.9 limit 6\n a call:x -> end",
		"parts":         "version 1\nnetwork n PERSON 0.9\n a part:l|d -> b\n b form:uz|mar -> end\nnetwork o DATE 0.9\n a exact:LUZ|Mar -> b\n b match:/(1|2)[0-9](a|st)?/ -> end\n b form:. -> b",
	} {
		p, err := Compile(file, Resources{})
		if err != nil {
			t.Fatal(name, err)
		}
		words := []string{"luz", "mar", "MAR", "Mar", "sol", "de", "del", "la", "12", "1a", "21st", "2019", "1ª", "3rd", "dluz", "ñandú", "Pérez", "x", ".", "-", "extraordinario"}
		if name == "calendar" {
			words = slices.Concat(words, words, slices.Sorted(keys(p.words.folded)), slices.Sorted(keys(p.words.literal)))
		}
		fast, slow := p.NewMachine(), patient(p)
		for range 20000 {
			text, tokens := drawn(r, words)
			was := slow.exhausted
			want := slow.Finds(text, tokens)
			got := fast.Finds(text, tokens)
			if slow.exhausted == was && !slices.Equal(got, want) {
				t.Fatalf("%s: %q: got %v, want %v", name, text, got, want)
			}
			found += len(got)
		}
	}
	if found < 50000 {
		t.Errorf("only %d finds", found)
	}
}

func keys(m map[string]outcomes) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if k != "" && !yield(k) {
				return
			}
		}
	}
}

// TestCostly: an expression that looks at the rest of the line from every token comes to
// an end that is told; the same one on what a note may cost does not.
func TestCostly(t *testing.T) {
	p, err := Compile("version 1\nnetwork n DNI 0.9\n a text:/(a.*b|a+c|a)/ -> end\n", Resources{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMachine()
	m.limit = 1 << 20
	text, tokens := []byte(strings.Repeat("a ", 5_000)), make([]pipeline.Token, 5_000)
	for i := range tokens {
		tokens[i] = pipeline.Token{Start: int32(2 * i), End: int32(2*i + 1)}
	}
	if found := m.Finds(text, tokens); !m.Costly() || len(found) == 0 || len(found) == 5_000 {
		t.Errorf("%d places, costly: %t", len(found), m.Costly())
	}
	if found := m.Finds(text[:200], tokens[:100]); m.Costly() || len(found) != 100 {
		t.Errorf("%d places, costly: %t", len(found), m.Costly())
	}
}
