package bilstm

import (
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// Piece is a run of tokens [Lo, Hi) that the network processes at once, of which the results for [From, To) are used.
// Where runs overlap, the result of a token is taken from the run in which it is further from the border.
type Piece struct{ Lo, Hi, From, To int }

// Pieces appends the pieces of a note: the sequences of the template, or
// windows of which a quarter overlaps at either end (BOOT fig. 3.3).
func (a Architecture) Pieces(dst []Piece, t *features.Template, tokens []pipeline.Token) []Piece {
	overlap := a.Window / 4
	for lo := 0; lo < len(tokens); {
		if a.Window == 0 {
			hi := t.Next(tokens, lo)
			dst = append(dst, Piece{lo, hi, lo, hi})
			lo = hi
			continue
		}
		hi := min(lo+a.Window, len(tokens))
		p := Piece{lo, hi, lo, hi}
		if lo > 0 {
			p.From = lo + overlap/2
		}
		if hi == len(tokens) {
			return append(dst, p)
		}
		p.To = hi - (overlap - overlap/2)
		dst = append(dst, p)
		lo += a.Window - overlap
	}
	return dst
}
