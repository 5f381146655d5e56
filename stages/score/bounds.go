package score

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// bounds is a span without a category.
type bounds struct{ start, end int32 }

func compareBounds(a, b bounds) int {
	if a.start != b.start {
		return int(a.start - b.start)
	}
	return int(a.end - b.end)
}

// countBounds computes the measures that compare the bounds of spans and ignore their categories. G and S are the sets of
// gold and system bounds; J joins the spans of a set that have no letter or digit between them.
//
//	span    right: G ∩ S
//	joined  right: J(G) ∩ J(S)
//	merged  right: H = (G ∩ S) ∪ (J(G) ∩ J(S)); a span of S \ G is false, and one of G \ S is missing, if it lies in no
//	        span of H
//
// The measure merged is that of the MEDDOCAN track.
func (s *Scorer) countBounds(r *row, text []byte) {
	s.goldBounds = boundsOf(s.goldBounds[:0], s.gold)
	s.sysBounds = boundsOf(s.sysBounds[:0], s.system)
	s.common = common(s.common[:0], s.goldBounds, s.sysBounds)
	r[Span] = agreed(s.goldBounds, s.sysBounds, s.common)

	s.goldJoined = join(s.goldJoined[:0], s.goldBounds, text)
	s.sysJoined = join(s.sysJoined[:0], s.sysBounds, text)
	s.joinHits = common(s.joinHits[:0], s.goldJoined, s.sysJoined)
	r[Joined] = agreed(s.goldJoined, s.sysJoined, s.joinHits)

	s.hits = append(append(s.hits[:0], s.common...), s.joinHits...)
	slices.SortFunc(s.hits, compareBounds)
	s.hits = slices.Compact(s.hits)
	hit := int32(len(s.hits))
	r[Merged] = count{
		gold: hit + outside(s.goldBounds, s.hits), found: hit,
		system: hit + outside(s.sysBounds, s.hits), right: hit,
	}
}

func agreed(gold, system, both []bounds) count {
	n := int32(len(both))
	return count{gold: int32(len(gold)), found: n, system: int32(len(system)), right: n}
}

// boundsOf returns the bounds of sorted spans, each once.
func boundsOf(dst []bounds, spans []pipeline.Span) []bounds {
	for _, x := range spans {
		dst = append(dst, bounds{x.Start, x.End})
	}
	return slices.Compact(dst)
}

// common returns the spans that two sorted sets have in common.
func common(dst, a, b []bounds) []bounds {
	for _, x := range a {
		if _, both := slices.BinarySearchFunc(b, x, compareBounds); both {
			dst = append(dst, x)
		}
	}
	return dst
}

// join joins spans that overlap or have no letter or digit between them.
func join(dst, spans []bounds, text []byte) []bounds {
	for _, x := range spans {
		k := len(dst) - 1
		if k >= 0 && alphanumerics(text, dst[k].end, x.start) == 0 {
			dst[k].end = max(dst[k].end, x.end)
			continue
		}
		dst = append(dst, x)
	}
	return dst
}

// outside counts the spans that lie in none of hits. Both lists are sorted by start: a span lies in a hit if some hit
// that starts no later ends no earlier.
func outside(spans, hits []bounds) int32 {
	n, j, end := int32(0), 0, int32(-1)
	for _, x := range spans {
		for ; j < len(hits) && hits[j].start <= x.start; j++ {
			end = max(end, hits[j].end)
		}
		if end < x.end {
			n++
		}
	}
	return n
}

// alphanumerics counts the letters and digits of text from start to end: the
// characters for which Python's str.isalnum holds, as in the track's scorer.
func alphanumerics(text []byte, start, end int32) int32 {
	n := int32(0)
	for piece := cut(text, start, end); len(piece) > 0; {
		r, size := utf8.DecodeRune(piece)
		piece = piece[size:]
		if alphanumeric(r) {
			n++
		}
	}
	return n
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// cut returns text[start:end], or as much of it as there is.
func cut(text []byte, start, end int32) []byte {
	end = min(end, int32(len(text)))
	if start >= end {
		return nil
	}
	return text[start:end]
}

// near tells whether two ends are at most two characters apart.
func near(text []byte, a, b int32) bool {
	if a > b {
		a, b = b, a
	}
	return b-a <= 2*utf8.UTFMax && utf8.RuneCount(cut(text, a, b)) <= 2
}

const inGold, inSystem = 1, 2

// countMasked fills the measures of masking: which gold letters and digits
// some system span covers.
func (s *Scorer) countMasked(r *row, text []byte) {
	if len(s.gold) == 0 && len(s.system) == 0 {
		return
	}
	s.cover = append(s.cover[:0], make([]uint8, len(text))...)
	s.mark(s.gold, inGold)
	s.mark(s.system, inSystem)
	chars, entities, clean := &r[MaskedCharacters], &r[MaskedEntities], &r[CleanNotes]
	entities.gold, entities.system = int32(len(s.gold)), int32(len(s.system))
	of := s.entities[len(s.entities)-len(s.gold):]
	for i, g := range s.gold {
		all, masked := s.letters(text, g, inSystem)
		chars.gold += all
		chars.found += masked
		if masked == all {
			entities.found++
			s.categories[g.Category].masked++
			of[i].masked = true
		}
		if s.o.Direct != nil && s.o.Direct(g.Category) {
			s.countDirect(&r[DirectNotes], masked == all)
		}
	}
	for _, x := range s.system {
		all, right := s.letters(text, x, inGold)
		chars.system += all
		chars.right += right
		if right > 0 {
			entities.right++
		}
	}
	if len(s.gold) > 0 {
		clean.gold = 1
		if chars.found == chars.gold {
			clean.found = 1
		}
	}
}

// countDirect counts one direct identifier of a note: the note is found as long
// as all of them are masked.
func (s *Scorer) countDirect(c *count, masked bool) {
	if c.gold == 0 {
		c.gold, c.found = 1, 1
	}
	if !masked {
		c.found = 0
	}
}

func (s *Scorer) mark(spans []pipeline.Span, bit uint8) {
	for _, x := range spans {
		for i := x.Start; i < min(x.End, int32(len(s.cover))); i++ {
			s.cover[i] |= bit
		}
	}
}

// letters counts the letters and digits of span x, and those of them that
// spans of the side bit cover.
func (s *Scorer) letters(text []byte, x pipeline.Span, bit uint8) (all, covered int32) {
	end := min(x.End, int32(len(text)))
	for i := x.Start; i < end; {
		r, size := utf8.DecodeRune(text[i:end])
		if alphanumeric(r) {
			all++
			if s.cover[i]&bit != 0 {
				covered++
			}
		}
		i += int32(size)
	}
	return all, covered
}
