package score

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// mistake is an error as --errors writes it, a line of JSON. It holds words of a note.
type mistake struct {
	ID     string `json:"id"`
	Group  string `json:"group,omitempty"` // the column center, else the folder of the id
	Kind   string `json:"kind"`            // type, border, border_and_type, missing, spurious
	Leaks  bool   `json:"leaks"`           // something of the gold span can still be read
	Gold   *side  `json:"gold,omitempty"`
	System *side  `json:"system,omitempty"`
	Source string `json:"source,omitempty"` // who found the system's span
	Seen   *bool  `json:"seen,omitempty"`   // whether the model knows all words of the span; none: it cannot say
	Before string `json:"before"`
	After  string `json:"after"`
}

type side struct {
	Start    int32  `json:"start"` // in bytes
	End      int32  `json:"end"`
	Category string `json:"category"`
	Text     string `json:"text"`
}

// around is how many bytes of the note stand on either side of an error.
const around = 60

// mistakes collects the errors.
type mistakes struct {
	all   []mistake
	knows func(form []byte) bool // nil: nobody can say
}

// add takes an error of note i.
func (m *mistakes) add(b *pipeline.Batch, i int, e score.Error) {
	text := b.Text.At(i)
	n := mistake{ID: string(b.ID.At(i)), Kind: e.Kind.String(), Leaks: e.Leaks, Group: path.Dir(string(b.ID.At(i)))}
	if n.Group == "." {
		n.Group = ""
	}
	if c := b.ExtraNamed("center").AppendText(nil, i); len(c) > 0 {
		n.Group = string(c)
	}
	lo, hi := int32(len(text)), int32(0)
	sideOf := func(s pipeline.Span) *side {
		if s.Start >= s.End || int(s.End) > len(text) {
			return nil
		}
		lo, hi = min(lo, s.Start), max(hi, s.End)
		return &side{s.Start, s.End, s.Category.String(), string(text[s.Start:s.End])}
	}
	n.Gold, n.System = sideOf(e.Gold), sideOf(e.System)
	if n.System != nil {
		for _, s := range b.Spans.At(i) {
			if s.Start == e.System.Start && s.End == e.System.End {
				n.Source = s.Source.String()
			}
		}
	}
	if about := cmp.Or(n.Gold, n.System); about != nil && m.knows != nil {
		seen := true
		for _, t := range b.Tokens.At(i) {
			if t.Start < about.End && about.Start < t.End && !m.knows(text[t.Start:t.End]) {
				seen = false
			}
		}
		n.Seen = &seen
	}
	n.Before, n.After = string(clip(text[max(0, lo-around):lo], true)), string(clip(text[hi:min(int32(len(text)), hi+around)], false))
	m.all = append(m.all, n)
}

// clip takes half a character off the end at which a text was cut.
func clip(text []byte, front bool) []byte {
	for len(text) > 0 && front && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for n := 0; n < utf8.UTFMax && len(text) > 0 && !front && !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]); n++ {
		text = text[:len(text)-1]
	}
	return text
}

// knownForms reports whether a form has weights of its own in the model, that is, occurred in training; nil for kinds
// of models that cannot tell.
func knownForms(m tagger.Model) func(form []byte) bool {
	if e, ok := m.(*ensemble.Model); ok {
		m = e.Members()[0]
	}
	why, ok := m.(tagger.Explainer)
	if !ok {
		return nil
	}
	return func(form []byte) bool {
		for _, sequence := range why.Describe(form, []pipeline.Token{{End: int32(len(form)), Flags: pipeline.LineStart}}, nil) {
			for _, a := range sequence[0] {
				if strings.HasPrefix(a.Name, "word[0]=") || strings.HasPrefix(a.Name, "folded[0]=") {
					if len(why.Reasons(a)) > 0 {
						return true
					}
				}
			}
		}
		return false
	}
}

// write writes the errors to a file, a line of JSON each.
func (m *mistakes) write(file string) error {
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	to.SetEscapeHTML(false)
	for i := range m.all {
		if err := to.Encode(&m.all[i]); err != nil {
			return err
		}
	}
	return durable.WriteFile(nil, file, lines.Bytes())
}
