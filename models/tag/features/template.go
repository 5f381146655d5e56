// Package features computes the features of tokens from a template.
//
//	in:  the tokens of a note, the matches of patterns, a template
//	out: numbered features (64-bit hashes), each at its window offsets
//
// A template lists groups of features, each with a window of offsets around the token:
//
//	version 1
//	sequence line
//	word      -3..3
//	suffix3   -1..1
//	gazetteer -2..2
//	pattern   -2..2
//
// There are two kinds of groups, and this distinction makes tagging fast. Groups of a form (word, suffix3, gazetteer)
// depend only on the token's own form, so their contribution to the scores, for all offsets of the window, is one block
// of numbers per form, computed once and cached. Groups of a place (pattern, bigram, position) depend on the token's
// position; they yield marks, few or single features each.
//
// A feature is the hash of its group's name and its value. Strings appear only for people and other programs, see
// [Describe].
package features

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/near"
	"github.com/velum-health/velum/pipeline"
)

// Group is a named family of features in a template, with its window.
type Group struct {
	Name   string // "word", or "cluster/k128" for a slot
	Lo, Hi int    // window: token t sees the group at tokens t+Lo to t+Hi
	kind   *kind
}

// form tells whether the group depends on the form alone.
func (g Group) form() bool { return g.kind.form != nil }

// Open reports whether the group has an unbounded number of values, most of them seen once (such as pairs of words), so
// that caching their scores does not pay.
func (g Group) Open() bool { return g.kind.open }

// Rows returns the number of window offsets.
func (g Group) Rows() int { return g.Hi - g.Lo + 1 }

// Unit is the piece of text that a tagger treats as one sequence.
type Unit uint8

const (
	Line Unit = iota
	Sentence
	Note
)

var unitNames = []string{"line", "sentence", "note"}

// String returns the name used in templates.
func (u Unit) String() string { return unitNames[u] }

// Version is the newest version of the template language.
const Version = 1

// Template is a parsed template. It is shared and never changed.
type Template struct {
	Sequence  Unit
	MaxTokens int // longer sequences are cut
	Groups    []Group
	Lo, Hi    int // the window of all groups together
}

// A SyntaxError describes an invalid line of a template.
type SyntaxError struct {
	Line int // from 1
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("template: line %d: %s", e.Line, e.Msg) }

const (
	defaultMaxTokens = 1024 // the longest line of MEDDOCAN has 700; a lattice of 45 tags then takes 0.6 MB
	maxOffset        = 8
)

// Parse reads a template. Every line is "version N", "sequence line|sentence|
// note", "max-tokens N", or a
// group's name and its window lo..hi (one number for one offset, nothing for
// 0); # begins a comment.
func Parse(text string) (*Template, error) {
	t := &Template{MaxTokens: defaultMaxTokens}
	version := 0
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := t.line(words, &version); err != nil {
			return nil, &SyntaxError{Line: n + 1, Msg: err.Error()}
		}
	}
	if version == 0 {
		return nil, &SyntaxError{Line: 1, Msg: "no version; write \"version 1\""}
	}
	if len(t.Groups) == 0 {
		return nil, &SyntaxError{Line: strings.Count(text, "\n") + 1, Msg: "no feature groups"}
	}
	return t, nil
}

func (t *Template) line(words []string, version *int) error {
	if len(words) > 2 {
		return fmt.Errorf("more than two words; write a name and its window, as in \"word -2..2\"")
	}
	value := ""
	if len(words) == 2 {
		value = words[1]
	}
	switch words[0] {
	case "version":
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > Version {
			return fmt.Errorf("version %q is not known; this program knows up to %d", value, Version)
		}
		*version = v
		return nil
	case "sequence":
		u := slices.Index(unitNames, value)
		if u < 0 {
			return fmt.Errorf("sequence %q is not known; known: %s", value, strings.Join(unitNames, ", "))
		}
		t.Sequence = Unit(u)
		return nil
	case "max-tokens":
		v, err := strconv.Atoi(value)
		if err != nil || v < 16 || v > 1<<16 {
			return fmt.Errorf("max-tokens %q is not a number from 16 to 65536", value)
		}
		t.MaxTokens = v
		return nil
	}
	return t.group(words[0], value)
}

func (t *Template) group(name, window string) error {
	k := findKind(name)
	if k == nil {
		return fmt.Errorf("unknown feature group %q; nearest: %s", name, nearest(name))
	}
	for _, g := range t.Groups {
		if g.Name == name {
			return fmt.Errorf("group %q stands twice", name)
		}
	}
	g := Group{Name: name, kind: k}
	lo, hi, ranged := strings.Cut(window, "..")
	if !ranged {
		hi = lo
	}
	var err1, err2 error
	if window != "" {
		g.Lo, err1 = strconv.Atoi(lo)
		g.Hi, err2 = strconv.Atoi(hi)
	}
	if err1 != nil || err2 != nil || g.Lo > g.Hi || g.Lo < -maxOffset || g.Hi > maxOffset {
		return fmt.Errorf("window %q is not lo..hi with %d ≤ lo ≤ hi ≤ %d", window, -maxOffset, maxOffset)
	}
	t.Groups = append(t.Groups, g)
	t.Lo, t.Hi = min(t.Lo, g.Lo), max(t.Hi, g.Hi)
	return nil
}

// String returns the template in its shortest form, which Parse reads back.
func (t *Template) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d\nsequence %v\nmax-tokens %d\n", Version, t.Sequence, t.MaxTokens)
	for _, g := range t.Groups {
		fmt.Fprintf(&b, "%s %d..%d\n", g.Name, g.Lo, g.Hi)
	}
	return b.String()
}

// Margin returns how far beyond a sequence its features reach; marks are at most one position outside.
func (t *Template) Margin() int { return max(t.Hi, -t.Lo) + 1 }

// Next returns the end of the sequence that begins at token lo. If a sequence exceeds the maximal length, it is cut
// there and not at a space; that happens in tables and dumps, not in sentences.
func (t *Template) Next(tokens []pipeline.Token, lo int) (hi int) {
	border := pipeline.TokenFlags(0)
	switch t.Sequence {
	case Line:
		border = pipeline.LineStart
	case Sentence:
		border = pipeline.SentenceStart
	}
	last := min(len(tokens), lo+t.MaxTokens)
	for hi = lo + 1; hi < last && tokens[hi].Flags&border == 0; hi++ {
	}
	return hi
}

// nearest returns the known name with the fewest edits.
func nearest(name string) string {
	best, fewest := "", 1<<30
	for i := range kinds {
		if d := near.Distance(name, kinds[i].name); d < fewest {
			best, fewest = kinds[i].name, d
		}
	}
	return best
}
