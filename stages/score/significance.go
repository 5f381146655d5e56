package score

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Shuffles is how often [Scorer.Compare] exchanges results unless told
// otherwise (NGRID §6.4, as in the i2b2 tracks).
const Shuffles = 9999

// Significance is the result of an approximate randomization test between
// two systems on the same notes. Alpha is the probability that a difference
// at least as large arises by chance, for precision, recall and F1.
type Significance struct {
	Measure    string `json:"measure"`
	Shuffles   int    `json:"shuffles"`
	A          Ratios `json:"a"`
	B          Ratios `json:"b"`
	Difference Ratios `json:"difference"` // A - B
	Alpha      Ratios `json:"alpha"`      // (m+1)/(M+1)
}

// Compare tests whether s and other differ in measure m. Both must have seen
// the same notes in the same order. 0 shuffles means [Shuffles].
//
// Each shuffle exchanges the counts of every note with probability 1/2 and
// takes the ratios anew; m counts the shuffles whose difference is at least
// that of the two systems. (NGRID writes "larger", which would call a system
// significantly different from itself; this is Noreen's rule, which the
// tracks' scorers use.)
func (s *Scorer) Compare(other *Scorer, m Measure, shuffles int, seed uint64) (Significance, error) {
	if shuffles == 0 {
		shuffles = Shuffles
	}
	if err := s.comparable(other); err != nil {
		return Significance{}, err
	}
	var a, b total
	var differ [][2]count // notes in which exchanging changes something
	for i := range s.rows {
		x, y := s.rows[i][m], other.rows[i][m]
		a.add(x, 1)
		b.add(y, 1)
		if x != y {
			differ = append(differ, [2]count{x, y})
		}
	}
	out := Significance{Measure: m.String(), Shuffles: shuffles, A: a.ratios(s.o.Beta), B: b.ratios(s.o.Beta)}
	out.Difference = minus(out.A, out.B)
	var reached Ratios
	random := rand.New(rand.NewPCG(seed, 0xa11ce))
	for range shuffles {
		x, y := a, b
		for _, d := range differ {
			if random.Uint64()&1 == 1 {
				x.add(d[0], -1)
				x.add(d[1], 1)
				y.add(d[1], -1)
				y.add(d[0], 1)
			}
		}
		d := minus(x.ratios(s.o.Beta), y.ratios(s.o.Beta))
		reached.Precision += atLeast(d.Precision, out.Difference.Precision)
		reached.Recall += atLeast(d.Recall, out.Difference.Recall)
		reached.F1 += atLeast(d.F1, out.Difference.F1)
		reached.FBeta += atLeast(d.FBeta, out.Difference.FBeta)
	}
	n := float64(shuffles + 1)
	out.Alpha = Ratios{(reached.Precision + 1) / n, (reached.Recall + 1) / n, (reached.F1 + 1) / n, (reached.FBeta + 1) / n}
	return out, nil
}

// comparable tells why two systems were not scored on the same notes, as far as
// counts tell.
func (s *Scorer) comparable(other *Scorer) error {
	if len(s.rows) != len(other.rows) {
		return errors.New("the two systems were scored on different numbers of notes")
	}
	for i := range s.rows {
		if s.rows[i][Strict].gold != other.rows[i][Strict].gold {
			return errors.New("the two systems were scored on different notes or gold spans")
		}
	}
	return nil
}

func minus(a, b Ratios) Ratios {
	return Ratios{a.Precision - b.Precision, a.Recall - b.Recall, a.F1 - b.F1, a.FBeta - b.FBeta}
}

func atLeast(a, b float64) float64 {
	if math.Abs(a) >= math.Abs(b) {
		return 1
	}
	return 0
}
