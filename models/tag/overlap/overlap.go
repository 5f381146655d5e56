// Package overlap makes overlapping spans of several finders disjoint: the span of the best rank stays, and the rest of
// a span that it cuts is added to it.
package overlap

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// Candidate is a span that may overlap others. The lower rank wins.
type Candidate struct {
	pipeline.Span
	Rank uint16
}

// compare orders candidates by what they are worth: rank, then length, then
// place, then by what tells different spans apart, so that the outcome does not depend on who
// found what first.
func (c *Candidate) compare(d *Candidate) int {
	return cmp.Or(cmp.Compare(c.Rank, d.Rank), cmp.Compare(d.End-d.Start, c.End-c.Start), cmp.Compare(c.Start, d.Start),
		cmp.Compare(c.Category, d.Category), cmp.Compare(c.Source, d.Source))
}

// Merger makes candidates disjoint. It has scratch space, so each worker needs its own.
type Merger struct{ kept []kept }

// kept is a span of the outcome so far, and the place among all of the candidate that it is of.
type kept struct {
	pipeline.Span
	worth int
}

// Merge appends the candidates to dst as sorted, disjoint spans. Every character of a candidate is in a span and no
// other character is, except that white space at cuts may be left out. A candidate takes over all characters of the
// lower-ranked ones that it overlaps. Merge sorts cands.
func (m *Merger) Merge(dst []pipeline.Span, text []byte, cands []Candidate) []pipeline.Span {
	slices.SortFunc(cands, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Start, b.Start), a.compare(&b)) })
	for lo, hi := 0, 0; lo < len(cands); lo = hi {
		for end := cands[lo].End; hi < len(cands) && (hi == lo || cands[hi].Start < end); hi++ {
			end = max(end, cands[hi].End)
		}
		m.merge(cands[lo:hi])
		for _, s := range m.kept {
			if s.Start, s.End = WithoutSpaces(text, s.Start, s.End); s.Start < s.End {
				dst = append(dst, s.Span)
			}
		}
	}
	return dst
}

// merge makes candidates disjoint that hang together, the best first. What the spans before leave
// of one goes to the span beside it, and between two to the better one.
func (m *Merger) merge(cands []Candidate) {
	slices.SortFunc(cands, func(a, b Candidate) int { return a.compare(&b) })
	m.kept = m.kept[:0]
	for worth, c := range cands {
		i, _ := slices.BinarySearchFunc(m.kept, c.Start, func(k kept, at int32) int { return cmp.Compare(k.End, at+1) })
		j := i
		for j < len(m.kept) && m.kept[j].Start < c.End {
			j++
		}
		if i == j {
			m.kept = slices.Insert(m.kept, i, kept{c.Span, worth})
			continue
		}
		over := m.kept[i:j]
		over[0].Start, over[len(over)-1].End = min(over[0].Start, c.Start), max(over[len(over)-1].End, c.End)
		for k := range over[1:] {
			if left, right := &over[k], &over[k+1]; left.worth < right.worth {
				left.End = right.Start
			} else {
				right.Start = left.End
			}
		}
	}
}

// WithoutSpaces returns the range [start, end) without white space at either end.
func WithoutSpaces(text []byte, start, end int32) (int32, int32) {
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	for start < end && space(text[start]) {
		start++
	}
	for start < end && space(text[end-1]) {
		end--
	}
	return start, end
}

// Blank reports whether text has no letter and no digit.
func Blank(text []byte) bool {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return false
		}
		i += n
	}
	return true
}
