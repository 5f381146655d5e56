// Package markup parses and writes notes with marked spans, "saw [PERSON:Ada] today", for tests and for the files of
// curators.
package markup

import (
	"fmt"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// Parse reads the notation of tests and reports, "saw [PERSON:Ada]
// today", into the plain text and its spans. A backslash before a bracket
// keeps the bracket as text.
func Parse(marked string) (text []byte, spans []pipeline.Span, err error) {
	for i := 0; i < len(marked); i++ {
		switch {
		case marked[i] == '\\' && i+1 < len(marked) && strings.IndexByte(`[]\`, marked[i+1]) >= 0:
			i++
			text = append(text, marked[i])
		case marked[i] == '[':
			name, rest, ok := strings.Cut(marked[i+1:], ":")
			words, _, closed := strings.Cut(rest, "]")
			if !ok || !closed {
				return nil, nil, fmt.Errorf("open bracket at byte %d", i)
			}
			c, err := pipeline.ParseCategory(name)
			if err != nil {
				return nil, nil, fmt.Errorf("bracket at byte %d: unknown category", i)
			}
			start := int32(len(text))
			text = append(text, words...)
			spans = append(spans, pipeline.Span{Start: start, End: int32(len(text)), Category: c, Score: 1, Source: pipeline.FromGold})
			i += len(name) + len(words) + 2
		default:
			text = append(text, marked[i])
		}
	}
	return text, spans, nil
}

// Write is the inverse of Parse. For tests and for the curator's own
// files only: it holds the words of the note.
func Write(text []byte, spans []pipeline.Span) string {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)
	at := int32(0)
	for _, s := range spans {
		b.WriteString(escape.Replace(string(text[at:s.Start])))
		fmt.Fprintf(&b, "[%v:%s]", s.Category, text[s.Start:s.End])
		at = s.End
	}
	b.WriteString(escape.Replace(string(text[at:])))
	return b.String()
}
