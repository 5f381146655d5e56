package evidence

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/syntax"
)

const maxFact = 4000 // characters

// Template is an empty file of facts.
func Template() string {
	var b strings.Builder
	b.WriteString("# What `velum evidence --facts FILE` cannot know. What stays empty is \"not answered\" in the dossier.\n# No names of patients, and nothing of a note.\n")
	for _, q := range asked().questions {
		if q.asks != "" {
			fmt.Fprintf(&b, "\n# %s\n%s:\n", q.asks, q.fact)
		}
	}
	return b.String()
}

// houseFile is the name of the file of the house where nobody names one: it lies beside its outputs.
const houseFile = "house.yaml"

// wrongFact says why a text is no answer; "": it is one.
func wrongFact(fact, said string) string {
	if n := len([]rune(said)); n > maxFact {
		return fmt.Sprintf("%d characters, at most %d", n, maxFact)
	}
	if n, err := strconv.ParseInt(said, 10, 64); fact == "patients" && said != "" && (err != nil || n < 1) {
		return "want a number of people"
	}
	return ""
}

// readHouse reads a file of facts: the facts of dossier.txt that the house is asked for, each a text.
func readHouse(file string) (map[string]string, error) {
	if problem := option.NotPlain(file, option.MaxNamed); problem != "" {
		return nil, exit.Misconfiguredf("name a file of YAML: `velum evidence --facts-template`", "%s %s", file, problem)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.Misconfigured(err, "name a file of YAML: `velum evidence --facts-template`")
	}
	h := house{file: file, said: map[string]string{}}
	f, m := syntax.Parse(data)
	if m != nil {
		m.File = file
		return nil, (&exit.ConfigError{Mistakes: []exit.Mistake{*m}}).OrNil()
	}
	bodies := 0
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		all, ok := d.Body.(ast.MapNode)
		if bodies++; !ok || bodies > 1 {
			h.note(d.Body, "", "want keys and texts, once", "see `velum evidence --facts-template`")
			break
		}
		for it := all.MapRange(); it.Next(); {
			h.take(it)
		}
	}
	return h.said, h.wrong.OrNil()
}

type house struct {
	file  string
	said  map[string]string
	wrong exit.ConfigError
}

func (h *house) note(n ast.Node, key, message, hint string) {
	m := exit.Mistake{File: h.file, Key: key, Message: message, Hint: hint}
	if t := n.GetToken(); t != nil && t.Position != nil {
		m.Line, m.Column = t.Position.Line, t.Position.Column
	}
	h.wrong.Mistakes = append(h.wrong.Mistakes, m)
}

func (h *house) take(it *ast.MapNodeIter) {
	var names []string
	key := strings.TrimSpace(it.Key().GetToken().Value)
	for _, q := range asked().questions {
		if q.asks == "" {
			continue
		}
		if names = append(names, q.fact); q.fact != key {
			continue
		}
		said := ""
		switch v := it.Value().(type) {
		case *ast.NullNode:
		case *ast.LiteralNode:
			said = v.Value.Value
		case ast.ScalarNode:
			said = fmt.Sprint(v.GetValue())
		default:
			h.note(v, key, "want a text", "put it in quotes, or behind | on lines of its own")
			return
		}
		said = strings.TrimSpace(said)
		if _, twice := h.said[key]; twice {
			h.note(it.Key(), key, "this key stands here twice", "")
		}
		if problem := wrongFact(key, said); problem != "" {
			h.note(it.Value(), key, problem, "name the document that says the rest")
		}
		h.said[key] = said
		return
	}
	hint := exit.DidYouMean(key, names)
	if hint == "" {
		hint = "see `velum evidence --facts-template`"
	}
	h.note(it.Key(), "", fmt.Sprintf("unknown key %q", key), hint)
}
