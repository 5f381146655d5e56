// Package syntax parses YAML from untrusted files; the cost is bounded before the parser runs.
package syntax

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// Parse parses a YAML file; a mistake says where and why it is invalid.
func Parse(text []byte) (*ast.File, *exit.Mistake) {
	if m := bounded(text); m != nil {
		return nil, m
	}
	f, err := parse(text)
	if err == nil {
		return f, nil
	}
	m := &exit.Mistake{Message: "this is no YAML"}
	if e := yaml.Error(nil); errors.As(err, &e) {
		at := e.GetToken().Position
		m.Line, m.Column, m.Message = at.Line, at.Column, e.GetMessage()
	}
	return nil, m
}

// Bounds of a YAML file. The library's time grows with the square of the nesting depth and of the number of keys in a
// section, and its stack with the depth: a hundred thousand opening brackets took 25 s. Configurations stay far below
// these bounds; lists may have any number of entries.
const (
	maxDepth = 32
	maxKeys  = 4000
)

// bounded checks for structures that would be too expensive to parse, without parsing: it counts opening and closing
// tokens. It uses the parser's own scanner, so that both agree on quotes, text blocks and comments. It takes linear
// time and stops at the first bound.
func bounded(text []byte) (m *exit.Mistake) {
	defer func() {
		if recover() != nil {
			m = &exit.Mistake{Message: "this is no YAML"}
		}
	}()
	var s scanner.Scanner
	s.Init(string(text))
	var c counter
	for {
		tokens, err := s.Scan()
		for _, t := range tokens {
			if m := c.add(t); m != nil {
				return m
			}
		}
		if err != nil { // the end, or what the parser will name
			return nil
		}
	}
}

// counter counts what tokens open.
type counter struct {
	depth, keys int // brackets that are open, keys up to here
	nested      int // entries that begin on the line, as in "- - - x"
	line        int
}

func (c *counter) add(t *token.Token) *exit.Mistake {
	if t.Position.Line != c.line {
		c.line, c.nested = t.Position.Line, 0
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		c.depth++
	case token.SequenceEndType, token.MappingEndType:
		c.depth = max(0, c.depth-1)
	case token.SequenceEntryType:
		c.nested++
	case token.MappingKeyType:
		c.nested++
		c.keys++
	case token.MappingValueType:
		c.keys++
	}
	m := &exit.Mistake{Line: t.Position.Line, Column: t.Position.Column}
	switch {
	case max(c.depth, c.nested) > maxDepth:
		m.Message = fmt.Sprintf("nested deeper than %d", maxDepth)
	case c.keys > maxKeys:
		m.Message, m.Hint = fmt.Sprintf("more than %d keys", maxKeys), "long lists may stand in files of their own"
	default:
		return nil
	}
	return m
}

// parse parses, and turns a panic of the library on hostile input into an
// error.
func parse(text []byte) (f *ast.File, err error) {
	defer func() {
		if recover() != nil {
			f, err = nil, errors.New("not to be parsed")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}
