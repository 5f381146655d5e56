package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A mistake is one thing wrong in a configuration.
type mistake struct {
	File    string `json:"file"` // path, "environment" or "command line"
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"` // option, as in read.columns.id; name of the variable or flag outside files
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns the mistake as editors and people know it.
func (m mistake) String() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	b.WriteString(": ")
	if m.Key != "" {
		b.WriteString(m.Key + ": ")
	}
	b.WriteString(m.Message)
	if m.Hint != "" {
		b.WriteString("; " + m.Hint)
	}
	return oneLine(b.String())
}

// configError is all the mistakes of a configuration.
type configError struct{ mistakes []mistake }

func (e *configError) Error() string {
	if len(e.mistakes) == 1 {
		return "1 mistake in the configuration"
	}
	return fmt.Sprintf("%d mistakes in the configuration", len(e.mistakes))
}

// orNil returns the error if there are mistakes, sorted by place.
func (e *configError) orNil() error {
	if len(e.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(e.mistakes, func(a, b mistake) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return exit(exitConfig, e, "`velum config schema` lists every key, `velum help` every command")
}

// size is a number of bytes, written 64MiB, 1.5GB or 1048576.
type size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

func parseSize(s string) (size, bool) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n >= 0) || n*u.bytes >= math.MaxInt64 {
			return 0, false
		}
		return size(n * u.bytes), true
	}
	return 0, false
}

// String returns the size in the largest unit that divides it.
func (s size) String() string {
	for i, u := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if unit := size(1) << (40 - 10*i); s >= unit && s%unit == 0 {
			return strconv.FormatInt(int64(s/unit), 10) + u
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// An option is one key of a YAML file and the place of its value.
type option struct {
	key     string // as in read.columns.id
	at      any    // pointer to the value, see kindOf
	why     string // what it does and the reason for its default
	reset   func() // sets the built-in value
	allowed []string
	min     float64
	max     float64
	shapes  bool // changes what is written, so it belongs in the hash
	file    bool // a path
	nameOr  bool // a built-in name or a path
}

// The kinds of values.
type value interface {
	string | int | float64 | bool | size | time.Duration | []string | map[string]string | map[string]float64
}

// opt describes one option. def is shared: nobody changes a list or map in
// place.
func opt[T value](key string, at *T, def T, why string, more ...func(*option)) option {
	o := option{key: key, at: at, why: why, reset: func() { *at = def }, min: math.Inf(-1), max: math.Inf(1)}
	for _, m := range more {
		m(&o)
	}
	return o
}

func shaping(o *option)    { o.shapes = true }
func aFile(o *option)      { o.file = true }
func nameOrFile(o *option) { o.nameOr = true }

func oneOf(values ...string) func(*option) { return func(o *option) { o.allowed = values } }

func within(low, high float64) func(*option) {
	return func(o *option) { o.min, o.max = low, high }
}

func atLeast(low float64) func(*option) { return within(low, math.Inf(1)) }

// kindOf says in words what an option wants.
func (o *option) kindOf() string {
	switch o.at.(type) {
	case *string:
		switch {
		case len(o.allowed) > 0 && len(o.allowed) <= 8:
			return "one of " + strings.Join(o.allowed, ", ")
		case o.nameOr:
			return "a name or a path"
		case o.file:
			return "a path"
		}
		return "text"
	case *int:
		return "a whole number"
	case *float64:
		return "a number"
	case *bool:
		return "true or false"
	case *size:
		return "a size such as 64MiB"
	case *time.Duration:
		return "a duration such as 30s or 8h"
	case *[]string:
		return "a list such as [a, b]"
	case *map[string]string:
		return "pairs such as {A: b}"
	}
	return "pairs of a name and a number"
}

// setText sets the option from a flag or an environment variable, and returns
// what is wrong with the text, "" if nothing.
func (o *option) setText(s string) (problem, hint string) {
	switch at := o.at.(type) {
	case *string:
		*at = s
	case *int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return o.mismatch(strconv.Quote(s))
		}
		*at = n
	case *float64:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return o.mismatch(strconv.Quote(s))
		}
		*at = f
	case *bool:
		if s != "true" && s != "false" {
			return o.mismatch(strconv.Quote(s))
		}
		*at = s == "true"
	case *size:
		n, ok := parseSize(s)
		if !ok {
			return o.mismatch(strconv.Quote(s))
		}
		*at = n
	case *time.Duration:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return o.mismatch(strconv.Quote(s))
		}
		*at = d
	case *[]string:
		*at = splitList(s)
	default:
		return o.setPairs(splitList(s))
	}
	return o.check()
}

// splitList reads "a, b" or "[a, b]".
func splitList(s string) []string {
	if in, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(in, "]")
	}
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// setPairs reads "A=b", "C=d".
func (o *option) setPairs(parts []string) (problem, hint string) {
	texts, numbers := map[string]string{}, map[string]float64{}
	for _, p := range parts {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return "want pairs such as A=b,C=d", ""
		}
		texts[k] = v
		f, err := strconv.ParseFloat(v, 64)
		if _, wanted := o.at.(*map[string]float64); wanted && err != nil {
			return "want pairs such as A=0.5,B=0.5", ""
		}
		numbers[k] = f
	}
	switch at := o.at.(type) {
	case *map[string]string:
		*at = texts
	case *map[string]float64:
		*at = numbers
	}
	return o.check()
}

func (o *option) mismatch(have string) (problem, hint string) {
	return fmt.Sprintf("want %s, have %s", o.kindOf(), have), ""
}

// check tells whether the value is one that the option allows.
func (o *option) check() (problem, hint string) {
	switch at := o.at.(type) {
	case *string:
		return o.checkWord(*at)
	case *[]string:
		for _, s := range *at {
			if p, h := o.checkWord(s); p != "" {
				return p, h
			}
		}
	case *map[string]string:
		for _, k := range sortedKeys(*at) {
			if p, h := o.checkWord((*at)[k]); p != "" {
				return k + ": " + p, h
			}
		}
	case *map[string]float64:
		for _, k := range sortedKeys(*at) {
			if p := o.checkNumber((*at)[k]); p != "" {
				return k + ": " + p, ""
			}
		}
	case *int:
		return o.checkNumber(float64(*at)), ""
	case *float64:
		return o.checkNumber(*at), ""
	case *size:
		return o.checkNumber(float64(*at)), ""
	}
	return "", ""
}

func (o *option) checkWord(s string) (problem, hint string) {
	if len(o.allowed) == 0 || slices.Contains(o.allowed, s) {
		return "", ""
	}
	return fmt.Sprintf("%q is none of %s", s, strings.Join(o.allowed, ", ")), didYouMean(s, o.allowed)
}

func (o *option) checkNumber(f float64) string {
	switch {
	case f >= o.min && f <= o.max:
		return ""
	case math.IsInf(o.max, 1):
		return fmt.Sprintf("must be at least %v", o.number(o.min))
	}
	return fmt.Sprintf("must lie between %v and %v", o.number(o.min), o.number(o.max))
}

func (o *option) number(f float64) any {
	if _, bytes := o.at.(*size); bytes {
		return size(f)
	}
	return f
}

// set sets the option from a YAML value.
func (o *option) set(n ast.Node) (problem, hint string) {
	switch at := o.at.(type) {
	case *[]string:
		return o.setNodes(at, n)
	case *map[string]string, *map[string]float64:
		return o.setMap(n)
	}
	s, ok := scalar(n)
	if !ok || !o.takes(n) {
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
	texts, numbers := map[string]string{}, map[string]float64{}
	for it := m.MapRange(); it.Next(); {
		key, ok := scalar(it.Key())
		if !ok {
			return "a key must be text", ""
		}
		if _, twice := texts[key]; twice {
			return fmt.Sprintf("%q stands there twice", key), ""
		}
		var f float64
		item := option{at: new(string)}
		if _, wanted := o.at.(*map[string]float64); wanted {
			item = option{at: &f, min: math.Inf(-1), max: math.Inf(1)}
		}
		if p, h := item.set(it.Value()); p != "" {
			return key + ": " + p, h
		}
		if s, ok := item.at.(*string); ok {
			texts[key] = *s
		} else {
			texts[key], numbers[key] = "", f
		}
	}
	switch at := o.at.(type) {
	case *map[string]string:
		*at = texts
	case *map[string]float64:
		*at = numbers
	}
	return o.check()
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
	mistakes []mistake
	places   map[string]place // of every option that the file sets
}

// place is where in a file an option was set.
type place struct{ line, column int }

// read parses the whole file. A syntax error ends it; every other mistake is
// noted and the reading goes on.
func (r *strictReader) read(text []byte) {
	r.places = map[string]place{}
	f, err := parseYAML(text)
	if err != nil {
		m := mistake{File: r.file, Message: "this is no YAML"}
		if e := yaml.Error(nil); errors.As(err, &e) {
			at := e.GetToken().Position
			m.Line, m.Column, m.Message = at.Line, at.Column, e.GetMessage()
		}
		r.mistakes = append(r.mistakes, m)
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
			r.note(d.Body, "", "want keys and values, have "+describe(d.Body), "")
		}
	}
}

// parseYAML parses, and turns a panic of the library on hostile input into an
// error.
func parseYAML(text []byte) (f *ast.File, err error) {
	defer func() {
		if recover() != nil {
			f, err = nil, errors.New("not to be parsed")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
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
	for _, o := range r.options {
		if rest, ok := strings.CutPrefix(o.key, prefix); ok {
			first, _, _ := strings.Cut(rest, ".")
			here = append(here, first)
		}
		if o.key[strings.LastIndexByte(o.key, '.')+1:] == name {
			elsewhere = append(elsewhere, o.key)
		}
	}
	if h := didYouMean(name, here); h != "" {
		return h
	}
	if len(elsewhere) > 0 {
		return "it is called " + strings.Join(elsewhere, " or ")
	}
	all := make([]string, len(r.options))
	for i, o := range r.options {
		all[i] = o.key
	}
	return didYouMean(prefix+name, all)
}

func (r *strictReader) note(n ast.Node, key, message, hint string) {
	at := placeOf(n)
	r.mistakes = append(r.mistakes, mistake{r.file, at.line, at.column, key, message, hint})
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

func find(options []option, key string) *option {
	for i := range options {
		if options[i].key == key {
			return &options[i]
		}
	}
	return nil
}

func isSection(options []option, key string) bool {
	return slices.ContainsFunc(options, func(o option) bool { return strings.HasPrefix(o.key, key+".") })
}

// didYouMean returns a hint with the nearest of the known names, or "" when
// none is near: at most one letter in three may differ.
func didYouMean(name string, known []string) string {
	best, nearest := len(name)/3+1, ""
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, k
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", nearest)
}

// distance counts the letters inserted, left out, changed or swapped with
// their neighbour between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
