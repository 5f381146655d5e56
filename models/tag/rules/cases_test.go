package rules

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

var morphOfCases = sync.OnceValue(func() *morph.Model {
	m, err := morph.Open(embedded.Morph())
	if err != nil {
		panic(err)
	}
	return m
})

// caseOf answers "run FILE|TEXT", the spans that the networks of a file find in a text, and what is wrong with the file; and "words FILE",
// two lists as the file changes them.
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	switch way {
	case "run":
		at := strings.LastIndexByte(text, '|')
		p, err := Compile("version 1\n"+text[:max(at, 0)], Resources{Morph: morphOfCases()})
		if err != nil {
			b.WriteString(err.Error())
			break
		}
		note := text[at+1:]
		m := p.NewMachine()
		for _, s := range m.Spans(nil, []byte(note), tokensOfCase(note)) {
			fmt.Fprintf(&b, "[%s] %d %v %.2f, ", note[s.Start:s.End], s.Start, s.Category, s.Score)
		}
		for _, t := range m.Trace([]byte(note), tokensOfCase(note)) {
			fmt.Fprint(&b, t, " ")
		}
		fmt.Fprint(&b, m.Costly(), p.Networks(), p.Categories())
	case "words":
		w, err := Words{"title": {"dr", "don", "señora"}, "kin": {"hija"}}.Change(text)
		if err != nil {
			b.WriteString(err.Error())
			break
		}
		b.WriteString(w.Text())
	}
	return strings.ReplaceAll(b.String(), "\n", "|")
}

// tokensOfCase are words, numbers and single signs.
func tokensOfCase(text string) (tokens []pipeline.Token) {
	flags := pipeline.LineStart | pipeline.SentenceStart
	inWord := func(c byte) bool { return c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			flags = pipeline.LineStart | pipeline.SentenceStart
		}
		if text[i] == ' ' || text[i] == '\n' {
			i++
			continue
		}
		j := i + 1
		for inWord(text[i]) && j < len(text) && inWord(text[j]) {
			j++
		}
		if n := len(tokens); n > 0 && int(tokens[n-1].End) == i {
			flags |= pipeline.Glued
		}
		tokens = append(tokens, pipeline.Token{Start: int32(i), End: int32(j), Flags: flags})
		i, flags = j, 0
	}
	return tokens
}
