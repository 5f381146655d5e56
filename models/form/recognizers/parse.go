package recognizers

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/velum-health/velum/models/form/control"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// file is a file of recognizers as YAML.
type file struct {
	Version     int     `yaml:"version"`
	Recognizers []entry `yaml:"recognizers"`
}

type entry struct {
	Name     string `yaml:"name"`
	Category string `yaml:"category"`
	Patterns []struct {
		Name  string  `yaml:"name"`
		Regex string  `yaml:"regex"`
		Score float64 `yaml:"score"`
	} `yaml:"patterns"`
	Context       []string `yaml:"context"`
	Check         string   `yaml:"check"`
	MinScore      *float64 `yaml:"min_score"`
	DenyList      []string `yaml:"deny_list"`
	DenyListScore *float64 `yaml:"deny_list_score"`
}

// A FileError names the line of a mistake in a file of recognizers. Such files
// are written by people of the house and hold no text of notes, so that it may
// quote what is wrong.
type FileError struct {
	Line    int // from 1; 0: the file as a whole
	Message string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// FileErrors are the mistakes of a file, recognizer by recognizer.
type FileErrors []*FileError

func (e FileErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "; ")
}

// Unwrap makes errors.As find a FileError, the first.
func (e FileErrors) Unwrap() (all []error) {
	for _, one := range e {
		all = append(all, one)
	}
	return all
}

// Bounds of what the YAML library is given: it takes time with the square of
// nesting and of keys. Brackets of expressions, which stand in quotes, count for
// the wider bound alone.
const (
	maxDepth    = 64
	maxBrackets = 1000
	maxKeys     = 8000
)

// Compile reads a file of recognizers. Its errors are *FileError, or FileErrors, one of each recognizer that is wrong.
func Compile(text string) (*Set, error) {
	if len(text) > maxBytes {
		return nil, &FileError{Message: fmt.Sprintf("the file has %d bytes; %d may be", len(text), maxBytes)}
	}
	if !utf8.ValidString(text) {
		return nil, &FileError{Message: "bytes that are no UTF-8"}
	}
	if err := bounded(text); err != nil {
		return nil, err
	}
	f, tree, err := decode([]byte(text))
	if err != nil {
		return nil, yamlError(err)
	}
	c := &compiler{set: &Set{text: text, work: maxWork, phrases: map[string]int{}}, tree: tree}
	if f.Version != version {
		return nil, c.errorf("$.version", "expected \"version: %d\"", version)
	}
	if len(f.Recognizers) == 0 || len(f.Recognizers) > maxRecognizers {
		return nil, c.errorf("$.recognizers", "expected 1 to %d recognizers, found %d", maxRecognizers, len(f.Recognizers))
	}
	var wrong FileErrors
	for i := range f.Recognizers {
		if one, ok := errors.AsType[*FileError](c.recognizer(i, &f.Recognizers[i])); ok {
			wrong = append(wrong, one)
		}
	}
	switch len(wrong) {
	case 0:
		return c.set, nil
	case 1:
		return nil, wrong[0]
	}
	return nil, wrong
}

// decode parses a file, and turns a panic of the library on hostile input into
// an error.
func decode(text []byte) (f file, tree *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("not to be parsed")
		}
	}()
	if tree, err = parser.ParseBytes(text, 0); err != nil {
		return f, nil, err
	}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		var a anchors
		if ast.Walk(&a, doc.Body); a.line > 0 {
			return f, nil, &FileError{a.line, "anchors and aliases are not taken"}
		}
	}
	return f, tree, yaml.UnmarshalWithOptions(text, &f, yaml.Strict())
}

// anchors finds the first of them: what they stand for can be of any size.
type anchors struct{ line int }

// Visit implements ast.Visitor.
func (a *anchors) Visit(n ast.Node) ast.Visitor {
	if t := n.Type(); (t == ast.AnchorType || t == ast.AliasType) && a.line == 0 {
		a.line = n.GetToken().Position.Line
	}
	return a
}

// bounded refuses what would cost the library too much, without parsing.
func bounded(text string) error {
	plain, all, keys := 0, 0, 0
	for i, line := range strings.Split(text, "\n") {
		quote := byte(0)
		nested := len(line) - len(strings.TrimLeft(line, " -\t?"))
		for k := range len(line) {
			step := 0
			switch b := line[k]; {
			case b == quote:
				quote = 0
			case quote == 0 && (b == '\'' || b == '"'):
				quote = b
			case b == '[' || b == '{':
				step = 1
			case b == ']' || b == '}':
				step = -1
			case (b == ':' || b == '?') && (k+1 == len(line) || line[k+1] <= ' '):
				keys++
			}
			if all = max(0, all+step); quote == 0 {
				plain = max(0, plain+step)
			}
		}
		if max(plain, nested) > maxDepth || all > maxBrackets {
			return &FileError{i + 1, "nested too deeply"}
		}
		if keys > maxKeys {
			return &FileError{i + 1, fmt.Sprintf("more than %d keys", maxKeys)}
		}
	}
	return nil
}

// yamlError takes line and cause out of an error of the parser.
func yamlError(err error) error {
	if e, ok := errors.AsType[*FileError](err); ok {
		return e
	}
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return &FileError{e.GetToken().Position.Line, e.GetMessage()}
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	return &FileError{Message: message}
}

type compiler struct {
	set          *Set
	tree         *ast.File
	instructions int
	phrases      int
}

// line returns the line of what a path of the file names; that of what holds it
// if it is not there.
func (c *compiler) line(path string) int {
	for {
		if p, err := yaml.PathString(path); err == nil {
			if node, err := p.FilterFile(c.tree); err == nil && node != nil && node.GetToken() != nil {
				return node.GetToken().Position.Line
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut <= 0 {
			return 1
		}
		path = path[:cut]
	}
}

func (c *compiler) errorf(path, format string, args ...any) error {
	return &FileError{c.line(path), fmt.Sprintf(format, args...)}
}

// name matches the names that recognizers may have.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_. -]{0,60}$`)

func (c *compiler) recognizer(i int, e *entry) error {
	at := fmt.Sprintf("$.recognizers[%d]", i)
	if !name.MatchString(e.Name) {
		return c.errorf(at+".name", "a recognizer wants a name of letters, digits, blanks, . _ and -")
	}
	if slices.Contains(c.set.Names(), e.Name) {
		return c.errorf(at+".name", "a second recognizer %q", e.Name)
	}
	r := recognizer{name: e.Name, minScore: defaultMinScore, denyScore: defaultDenyList, context: map[string]bool{}}
	var err error
	if r.category, err = pipeline.ParseCategory(e.Category); err != nil || r.category == pipeline.None {
		return c.errorf(at+".category", "%s: no category %q; LOCATION and SANITARY_CARD_ID are two", e.Name, e.Category)
	}
	if len(e.Patterns)+len(e.DenyList) == 0 {
		return c.errorf(at, "%s: expected patterns or a deny_list", e.Name)
	}
	if r.check = control.Named(e.Check); r.check == nil && e.Check != "" {
		return c.errorf(at+".check", "%s: no check digit %q; there are %s", e.Name, e.Check, strings.Join(control.Names(), ", "))
	}
	for _, s := range []struct {
		key   string
		given *float64
		to    *float32
	}{{"min_score", e.MinScore, &r.minScore}, {"deny_list_score", e.DenyListScore, &r.denyScore}} {
		if s.given == nil {
			continue
		}
		if !(*s.given > 0 && *s.given <= 1) {
			return c.errorf(at+"."+s.key, "%s: %s: expected a score over 0, at most 1", e.Name, s.key)
		}
		*s.to = float32(*s.given)
	}
	if err := c.context(at, e, &r); err != nil {
		return err
	}
	if err := c.expressions(at, e, &r); err != nil {
		return err
	}
	c.set.recognizers = append(c.set.recognizers, r)
	return c.denyList(at, e, len(c.set.recognizers)-1)
}

// context: words by themselves.
func (c *compiler) context(at string, e *entry, r *recognizer) error {
	if len(e.Context) > maxContext {
		return c.errorf(at+".context", "%s: more than %d words of context", e.Name, maxContext)
	}
	for k, w := range e.Context {
		words := foldedWords(w)
		if len(words) != 1 {
			return c.errorf(fmt.Sprintf("%s.context[%d]", at, k), "%s: expected one word of context, found %q", e.Name, w)
		}
		r.context[words[0]] = true
	}
	return nil
}

func (c *compiler) expressions(at string, e *entry, r *recognizer) error {
	for k, p := range e.Patterns {
		where := fmt.Sprintf("%s.patterns[%d]", at, k)
		if !(p.Score > 0 && p.Score <= 1) {
			return c.errorf(where+".score", "%s: expected a score over 0, at most 1", e.Name)
		}
		if p.Regex == "" || len(p.Regex) > maxExpression {
			return c.errorf(where+".regex", "%s: expected an expression of 1 to %d bytes", e.Name, maxExpression)
		}
		tree, err := syntax.Parse(p.Regex, syntax.Perl)
		if err != nil {
			return c.errorf(where+".regex", "%s: no regular expression of RE2: %v", e.Name, err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return c.errorf(where+".regex", "%s: no regular expression of RE2: %v", e.Name, err)
		}
		if c.instructions += len(prog.Inst); c.instructions > maxInstructions {
			return c.errorf(where+".regex", "%s: the expressions of the file have more than %d instructions; shorten repetitions such as {1,500}", e.Name, maxInstructions)
		}
		re, err := regexp.Compile(p.Regex)
		if err != nil {
			return c.errorf(where+".regex", "%s: no regular expression of RE2: %v", e.Name, err)
		}
		if re.MatchString("") {
			return c.errorf(where+".regex", "%s: an expression that matches nothing at all", e.Name)
		}
		r.expressions = append(r.expressions, expression{re, float32(p.Score), needsDigit(tree), c.line(where + ".regex"), int64(len(prog.Inst))})
	}
	return nil
}

// needsDigit tells whether whatever an expression matches has an ASCII digit.
func needsDigit(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, func(r rune) bool { return r >= '0' && r <= '9' })
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] < '0' || re.Rune[i+1] > '9' {
				return false
			}
		}
		return len(re.Rune) > 0
	case syntax.OpCapture, syntax.OpPlus:
		return needsDigit(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsDigit(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, needsDigit)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(x *syntax.Regexp) bool { return !needsDigit(x) })
	}
	return false
}

func (c *compiler) denyList(at string, e *entry, i int) error {
	if c.phrases += len(e.DenyList); c.phrases > maxPhrases {
		return c.errorf(at+".deny_list", "%s: the deny lists of the file have more than %d entries", e.Name, maxPhrases)
	}
	for k, text := range e.DenyList {
		words := foldedWords(text)
		if len(words) == 0 || len(words) > maxWordsOfAPhrase {
			return c.errorf(fmt.Sprintf("%s.deny_list[%d]", at, k), "%s: expected 1 to %d words, found %q", e.Name, maxWordsOfAPhrase, text)
		}
		for n := 1; n < len(words); n++ {
			begun := strings.Join(words[:n], " ")
			if _, ok := c.set.phrases[begun]; !ok {
				c.set.phrases[begun] = beginning
			}
		}
		whole := strings.Join(words, " ")
		if of, ok := c.set.phrases[whole]; !ok || of == beginning { // of two recognizers the first has it
			c.set.phrases[whole] = i
		}
		c.set.recognizers[i].denied++
	}
	return nil
}

// foldedWords returns the words of a text without case and accents; none if one
// is too long to be found.
func foldedWords(text string) (words []string) {
	for at := 0; at < len(text); {
		start, end := word([]byte(text), at)
		if at = end; start == end {
			break
		}
		if end-start > maxFoldedWord/2 {
			return nil
		}
		words = append(words, string(gazetteer.Fold(nil, []byte(text[start:end]))))
	}
	return words
}
