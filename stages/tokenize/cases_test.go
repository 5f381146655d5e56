package tokenize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	cut     the tokens of a text between bars, ^ before the first of a line, . before the first of a sentence, + before one that is glued
//	note    what the stage makes of a note: its reason, language, words and view
//	strict  the same of a note that may have 24 bytes and 6 tokens; control characters are allowed
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	cut := func(text string, tokens []pipeline.Token) {
		for _, k := range tokens {
			b.WriteString("|")
			if k.Flags&pipeline.LineStart != 0 {
				b.WriteString("^")
			}
			if k.Flags&pipeline.SentenceStart != 0 {
				b.WriteString(".")
			}
			if k.Flags&pipeline.Glued != 0 {
				b.WriteString("+")
			}
			b.WriteString(text[k.Start:k.End])
		}
	}
	o := Options{}
	switch way {
	case "cut":
		cut(text, new(Tokenizer).Tokens(nil, []byte(text)))
	case "strict":
		o = Options{MaxBytes: 24, MaxTokens: 6, AllowControls: true}
		fallthrough
	case "note":
		batch := new(pipeline.Batch)
		for _, text := range []string{text, "el paciente"} {
			batch.Text.Append([]byte(text))
			batch.Reason = append(batch.Reason, pipeline.Sound)
		}
		if err := New(o).New()(batch); err != nil {
			return err.Error()
		}
		fmt.Fprint(&b, batch.Reason[0], " ", batch.Language[0], " ", batch.Words[0], " ", len(batch.ViewFrom.At(0)), " ", string(batch.View.At(0)), " ", len(batch.Tokens.At(1)))
		cut(text, batch.Tokens.At(0))
	}
	return strings.NewReplacer("\n", "¶", "\t", "→", "\r", "←").Replace(b.String())
}
