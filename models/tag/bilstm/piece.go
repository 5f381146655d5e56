package bilstm

import (
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// piece is a run of tokens that the network reads at once, lo to hi, and those
// of them that are taken from it, from to to: where runs overlap, each token
// comes from the one in which it stands further from the border.
type piece struct{ lo, hi, from, to int }

// pieces appends the pieces of a note: the sequences of the template, or
// windows of which a quarter overlaps at either end (BOOT fig. 3.3).
func (a Architecture) pieces(dst []piece, t *features.Template, tokens []pipeline.Token) []piece {
	for lo := 0; lo < len(tokens); {
		p := a.pieceAt(t, tokens, lo)
		dst = append(dst, p)
		lo = p.hi
		if a.Window > 0 && p.hi < len(tokens) {
			lo = p.lo + a.Window - a.Window/4
		}
	}
	return dst
}

// pieceAt returns the piece that begins at lo.
func (a Architecture) pieceAt(t *features.Template, tokens []pipeline.Token, lo int) piece {
	if a.Window == 0 {
		hi := t.Next(tokens, lo)
		return piece{lo, hi, lo, hi}
	}
	overlap := a.Window / 4
	hi := min(lo+a.Window, len(tokens))
	p := piece{lo, hi, lo, hi}
	if lo > 0 {
		p.from = lo + overlap/2
	}
	if hi < len(tokens) {
		p.to = hi - (overlap - overlap/2)
	}
	return p
}
