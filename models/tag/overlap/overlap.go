// Package overlap makes spans disjoint that several finders propose for one text:
// the best on top, and what a cut leaves joins its neighbour.
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

// before orders candidates by what they are worth: rank, then length, then
// place. It is a total order on different spans, so that the outcome does not
// depend on who found what first.
func (c *Candidate) before(d *Candidate) bool {
	switch {
	case c.Rank != d.Rank:
		return c.Rank < d.Rank
	case c.End-c.Start != d.End-d.Start:
		return c.End-c.Start > d.End-d.Start
	case c.Start != d.Start:
		return c.Start < d.Start
	}
	return c.Category < d.Category
}

// piece is a part of the text and the best candidate that covers it.
type piece struct {
	start, end int32
	owner      int32 // index of the candidate
	toLeft     bool  // joins the piece before it
	toRight    bool  // joins the piece behind it
}

// Merger makes candidates disjoint. It is one worker's scratch.
type Merger struct {
	Hull   bool // a winner takes all characters of what it beats; else the loser keeps what is left of it
	heap   []int32
	pieces []piece
}

// Merge appends the candidates to dst as sorted, disjoint spans. Every
// character of a candidate is in a span, and no other character is; only white
// space where candidates were cut may be left out. It sorts cands.
//
// Candidates are painted over the text, the best on top: a sweep over their
// starts with a heap of the open ones, O(n log n) however they nest. A piece
// that lost its other part to a neighbour joins that neighbour when the
// option says so, when both have one category, or when nothing but
// separators is left of it.
func (m *Merger) Merge(dst []pipeline.Span, text []byte, cands []Candidate) []pipeline.Span {
	slices.SortFunc(cands, func(a, b Candidate) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		if a.before(&b) {
			return -1
		}
		if b.before(&a) {
			return 1
		}
		return int(a.Source) - int(b.Source)
	})
	if disjoint(cands) {
		for i := range cands {
			dst = append(dst, cands[i].Span)
		}
		return dst
	}
	m.paint(cands)
	m.direct(text, cands)
	return m.collect(dst, text, cands)
}

func disjoint(cands []Candidate) bool {
	for i := 1; i < len(cands); i++ {
		if cands[i].Start < cands[i-1].End {
			return false
		}
	}
	return true
}

// paint cuts the covered text into pieces of one owner.
func (m *Merger) paint(cands []Candidate) {
	m.pieces, m.heap = m.pieces[:0], m.heap[:0]
	at := int32(0)
	for next := 0; next < len(cands) || len(m.heap) > 0; {
		if len(m.heap) == 0 {
			at = max(at, cands[next].Start)
		}
		for next < len(cands) && cands[next].Start <= at {
			m.push(cands, int32(next))
			next++
		}
		best := m.heap[0]
		if cands[best].End <= at {
			m.pop(cands)
			continue
		}
		end := cands[best].End
		if next < len(cands) {
			end = min(end, cands[next].Start)
		}
		m.addPiece(piece{start: at, end: end, owner: best})
		at = end
	}
}

// addPiece appends p, or lengthens the last piece if it goes on.
func (m *Merger) addPiece(p piece) {
	if n := len(m.pieces); n > 0 && m.pieces[n-1].owner == p.owner && m.pieces[n-1].end == p.start {
		m.pieces[n-1].end = p.end
		return
	}
	m.pieces = append(m.pieces, p)
}

// direct decides which pieces join the neighbour that cut them. If both did,
// the better one has it. Directions lead from worse to better, so that every
// run of joined pieces has one piece that joins none.
func (m *Merger) direct(text []byte, cands []Candidate) {
	for i := range m.pieces {
		left, right := m.cutters(cands, i)
		own := cands[m.pieces[i].owner].Category
		if !m.Hull && left != nil && left.Category != own {
			left = nil
		}
		if !m.Hull && right != nil && right.Category != own {
			right = nil
		}
		m.pieces[i].join(left, right)
	}
	if m.Hull {
		return
	}
	for i := range m.pieces {
		p := &m.pieces[i]
		joined := p.toLeft || p.toRight || i > 0 && m.pieces[i-1].toRight || i+1 < len(m.pieces) && m.pieces[i+1].toLeft
		if !joined && Blank(text[p.start:p.end]) {
			p.join(m.cutters(cands, i))
		}
	}
}

// cutters returns the candidates that cut piece i on either side; nil where it
// ends as its own candidate does.
func (m *Merger) cutters(cands []Candidate, i int) (left, right *Candidate) {
	p := &m.pieces[i]
	if p.start > cands[p.owner].Start {
		left = &cands[m.pieces[i-1].owner]
	}
	if p.end < cands[p.owner].End {
		right = &cands[m.pieces[i+1].owner]
	}
	return left, right
}

func (p *piece) join(left, right *Candidate) {
	p.toLeft = left != nil && (right == nil || left.before(right))
	p.toRight = right != nil && !p.toLeft
}

// collect appends the runs of joined pieces as spans of the best of them. The
// white space that a cut left at their borders is not theirs.
func (m *Merger) collect(dst []pipeline.Span, text []byte, cands []Candidate) []pipeline.Span {
	for i := 0; i < len(m.pieces); {
		root, j := i, i+1
		for j < len(m.pieces) && (m.pieces[j-1].toRight || m.pieces[j].toLeft) {
			if m.pieces[j-1].toRight {
				root = j
			}
			j++
		}
		s := cands[m.pieces[root].owner].Span
		s.Start, s.End = m.pieces[i].start, m.pieces[j-1].end
		if s.Start, s.End = WithoutSpaces(text, s.Start, s.End); s.Start < s.End {
			dst = append(dst, s)
		}
		i = j
	}
	return dst
}

// WithoutSpaces takes the white space off both ends of a place in a text.
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

// Blank tells whether a text holds neither letter nor digit.
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

func (m *Merger) push(cands []Candidate, x int32) {
	m.heap = append(m.heap, x)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !cands[m.heap[i]].before(&cands[m.heap[up]]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *Merger) pop(cands []Candidate) {
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	for i := 0; ; {
		best := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && cands[m.heap[down]].before(&cands[m.heap[best]]) {
				best = down
			}
		}
		if best == i {
			return
		}
		m.heap[i], m.heap[best] = m.heap[best], m.heap[i]
		i = best
	}
}
