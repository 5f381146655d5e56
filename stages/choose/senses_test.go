package choose_test

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
)

// noteOf has a token a word; words in brackets are in spans.
func noteOf(marked string) (text []byte, tokens []pipeline.Token, tags []pipeline.Tag) {
	text = []byte(strings.NewReplacer("[", " ", "]", " ").Replace(marked))
	at := 0
	for w := range strings.FieldsSeq(marked) {
		bare := strings.Trim(w, "[]")
		at += strings.Index(string(text[at:]), bare)
		tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(at + len(bare))})
		tag := pipeline.O
		if bare != w {
			tag = 1
		}
		tags = append(tags, tag)
		at += len(bare)
	}
	return text, tokens, tags
}

func TestSenses(t *testing.T) {
	s := choose.Senses{}
	for _, marked := range []string{
		"viene [Petra] por dolor", "hija de [PETRA] [Rius]", "[petra] sin dolor", "[Rius] y petra", // petra: three of four
		"[Rosa] con [rosa]", "[rosa] flor rosa", "una rosa roja", // rosa: three of five
		"[Vall] d'hebron", "la [vall]", // vall: two
		"[2019] y [2019] y [2019]", "[Mar] [mar] [mar]", // no words that count
	} {
		s.Add(noteOf(marked))
	}
	for marked, want := range map[string]bool{
		"acude Petra hoy":    true,
		"acude [Petra] hoy":  false,
		"una rosa":           false,
		"la vall":            false,
		"desde 2019 con mar": false,
		"avisa a pétra":      true,
		"nada":               false,
		"[Ada] y su pétra":   true,
	} {
		if got := s.Missed(noteOf(marked)); got != want {
			t.Errorf("%s: %v", marked, got)
		}
	}
}
