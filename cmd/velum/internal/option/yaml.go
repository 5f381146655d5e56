package option

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/syntax"
)

// set sets the option from a YAML value.
func (o *option) set(n ast.Node) (problem, hint string) {
	switch at := o.at.(type) {
	case *[]string:
		return o.setNodes(at, n)
	case *map[string]string, *map[string]float64:
		return o.setMap(n)
	}
	s, ok := scalar(n)
	if o.any && n.Type() == ast.NullType {
		ok = true // nobody has said it yet
	}
	if !ok || !o.any && !o.takes(n) {
		return o.mismatch(describe(n))
	}
	return o.setText(s)
}

// takes tells whether a scalar of this YAML type may stand for the option. A
// quoted number is text and no number; a bare number is no text.
func (o *option) takes(n ast.Node) bool {
	switch o.at.(type) {
	case *string:
		return isText(n)
	case *int:
		_, ok := n.(*ast.IntegerNode)
		return ok
	case *bool:
		_, ok := n.(*ast.BoolNode)
		return ok
	case *time.Duration:
		i, ok := n.(*ast.IntegerNode)
		return isText(n) || ok && fmt.Sprint(i.Value) == "0"
	case *size:
		_, ok := n.(*ast.IntegerNode)
		return ok || isText(n)
	}
	// 1e-4 is text to the YAML library and a number to everybody else
	return n.Type() == ast.IntegerType || n.Type() == ast.FloatType || isText(n) && n.GetToken().Type == token.StringType
}

func (o *option) setNodes(at *[]string, n ast.Node) (problem, hint string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return o.mismatch(describe(n))
	}
	list := []string{}
	for i, v := range seq.Values {
		s, ok := scalar(v)
		if !ok || !isText(v) {
			return fmt.Sprintf("item %d: want text, have %s", i+1, describe(v)), ""
		}
		list = append(list, s)
	}
	*at = list
	return o.check()
}

func (o *option) setMap(n ast.Node) (problem, hint string) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return o.mismatch(describe(n))
	}
	item := option{at: new(string)}
	if _, wanted := o.at.(*map[string]float64); wanted {
		item.at = new(float64)
	}
	texts := map[string]string{}
	for it := m.MapRange(); it.Next(); {
		key, ok := scalar(it.Key())
		if !ok {
			return "a key must be text", ""
		}
		if _, twice := texts[key]; twice {
			return fmt.Sprintf("%q stands there twice", key), ""
		}
		if texts[key], ok = scalar(it.Value()); !ok || !item.takes(it.Value()) {
			problem, hint = item.mismatch(describe(it.Value()))
			return key + ": " + problem, hint
		}
	}
	return o.setTexts(texts)
}

// scalar returns the text of a scalar other than null.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode:
		return fmt.Sprint(n.Value), true
	case *ast.FloatNode:
		return n.GetToken().Value, true
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value), true
	}
	return "", false
}

func isText(n ast.Node) bool { return n.Type() == ast.StringType || n.Type() == ast.LiteralType }

// describe names what stands where something else was wanted.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a section"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, alias or tag, which are not used here"
	case *ast.IntegerNode:
		return "the number " + n.GetToken().Value
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value + " (quote it if it is text)"
	}
	if s, ok := scalar(n); ok {
		return fmt.Sprintf("the text %q", s)
	}
	return "something else"
}

// A strictReader sets options from a YAML file and notes every mistake.
type strictReader struct {
	file     string
	options  []option
	mistakes []exit.Mistake
	places   map[string]place // of every option that the file sets
}

// place is where in a file an option was set.
type place struct{ line, column int }

// read parses the whole file. A syntax error ends it; every other mistake is
// noted and the reading goes on.
func (r *strictReader) read(text []byte) {
	r.places = map[string]place{}
	f, m := syntax.Parse(text)
	if m != nil {
		m.File = r.file
		r.mistakes = append(r.mistakes, *m)
		return
	}
	bodies := 0
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if bodies++; bodies > 1 {
			r.note(d.Body, "", "a second document; there must be one", "")
			return
		}
		if m, ok := d.Body.(ast.MapNode); ok {
			r.section("", m)
		} else if d.Body.Type() != ast.NullType && d.Body.Type() != ast.CommentType {
			what := describe(d.Body)
			if _, text := scalar(d.Body); text { // it may be any file of the machine: nothing of it is said
				what = "text"
			}
			r.note(d.Body, "", "want keys and values, have "+what, "")
		}
	}
}

// section reads the keys under prefix, "" or one that ends in a dot.
func (r *strictReader) section(prefix string, m ast.MapNode) {
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		name, ok := scalar(it.Key())
		if !ok {
			r.note(it.Key(), strings.TrimSuffix(prefix, "."), "want a key, have "+describe(it.Key()), "")
			continue
		}
		key := prefix + name
		if seen[name] {
			r.note(it.Key(), key, "this key stands here twice", "")
			continue
		}
		seen[name] = true
		r.value(key, name, prefix, it)
	}
}

func (r *strictReader) value(key, name, prefix string, it *ast.MapNodeIter) {
	if o := find(r.options, key); o != nil {
		r.places[key] = placeOf(it.Key())
		if p, h := o.set(it.Value()); p != "" {
			r.note(it.Value(), key, p, h)
		}
		return
	}
	if !isSection(r.options, key) {
		r.note(it.Key(), "", r.unknown(name, prefix), r.suggest(name, prefix))
		return
	}
	switch v := it.Value().(type) {
	case ast.MapNode:
		r.section(key+".", v)
	case *ast.NullNode: // a section with nothing in it
	default:
		r.note(it.Value(), key, "want a section of keys, have "+describe(v), "")
	}
}

func (r *strictReader) unknown(name, prefix string) string {
	if prefix == "" {
		return fmt.Sprintf("unknown key %q", name)
	}
	return fmt.Sprintf("unknown key %q in %s", name, strings.TrimSuffix(prefix, "."))
}

// suggest finds the key that was meant: a similar one in this section, or the
// same one in another section.
func (r *strictReader) suggest(name, prefix string) string {
	var here, elsewhere []string
	whole := strings.Contains(name, ".") // as --set has it
	for _, o := range r.options {
		if rest, ok := strings.CutPrefix(o.key, prefix); ok {
			first, _, _ := strings.Cut(rest, ".")
			here = append(here, first)
		}
		if o.key[strings.LastIndexByte(o.key, '.')+1:] == name {
			elsewhere = append(elsewhere, o.key)
		}
	}
	if h := exit.DidYouMean(name, here); h != "" && !whole {
		return h
	}
	if len(elsewhere) > 0 {
		return "it is called " + strings.Join(elsewhere, " or ")
	}
	all := make([]string, len(r.options))
	for i, o := range r.options {
		all[i] = o.key
	}
	return exit.DidYouMean(prefix+name, all)
}

func (r *strictReader) note(n ast.Node, key, message, hint string) {
	at := placeOf(n)
	r.mistakes = append(r.mistakes, exit.Mistake{File: r.file, Line: at.line, Column: at.column, Key: key, Message: message, Hint: hint})
}

// placeOf returns where a value begins. A block of keys has its colon as its
// token, so its place is that of its first key.
func placeOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return placeOf(m.Values[0].Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

func isSection(options []option, key string) bool {
	return slices.ContainsFunc(options, func(o option) bool { return strings.HasPrefix(o.key, key+".") })
}

// ReadTexts reads a YAML file of keys with text values; values may be empty. wrong checks a value and returns the
// problem, "" if there is none. Every mistake is reported with its place.
func ReadTexts(file string, keys []string, wrong func(key, text string) string) (map[string]string, error) {
	data, err := readBounded(file)
	if err != nil {
		return nil, exit.Misconfigured(err, "name a file of YAML")
	}
	r, texts := strictReader{file: file}, make([]string, len(keys))
	for i, key := range keys {
		valid := func(text string) (problem, hint string) { return wrong(key, strings.TrimSpace(text)), "" }
		r.options = append(r.options, option{key: key, at: &texts[i], any: true, valid: valid})
	}
	r.read(data)
	all := map[string]string{}
	for i, key := range keys {
		all[key] = strings.TrimSpace(texts[i])
	}
	return all, (&exit.ConfigError{Mistakes: r.mistakes}).OrNil()
}
