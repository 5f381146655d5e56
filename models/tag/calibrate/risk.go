// Package calibrate turns the confidences of a tagger into an estimate of how many notes of an archive still hold an identifier.
package calibrate

import (
	"math"
	"strconv"

	"github.com/velum-health/velum/pipeline"
)

// Risk estimates from the confidences of a whole archive how many of its notes still hold an identifier after masking,
// with an interval. It is stored in the header of a model, and is fitted on notes that the model, or one made in the
// same way, has not been trained on.
//
// With z the log odds of a note's doubt, 1 - confidence, and m the mean of z over
// the archive, or source, s that the note comes from,
//
//	logit P(the note leaks) = Mean[0] + Mean[1]·z + Mean[2]·m + u(s),  u(s) ~ N(0, Spread²)
//
// This is a logistic regression with a random intercept by source and a contextual
// effect (Raudenbush and Bryk 2002, section 5): of two notes with the same
// confidence the one among surer notes leaks less often. Without m the sources of
// real notes lay 0.95 apart (one standard deviation), with it 0.44; the slope was
// .57 to .68 whatever else was looked at (words, spans, capitals: nothing gained).
type Risk struct {
	Confidence string     `json:"confidence"` // kind of confidence that it is valid for, tag.confidence
	Notes      int64      `json:"notes"`      // number of notes that it was fitted to
	Leaks      int64      `json:"leaks"`      // of these, number with something unmasked
	Sources    int        `json:"sources"`
	Mean       [3]float64 `json:"mean"`
	Cov        [6]float64 `json:"cov"` // covariance of Mean: elements 00 10 11 20 21 22
	Spread     float64    `json:"spread"`

	// The range of these shares among the sources, lowest and highest.
	Foreign Range `json:"foreign"` // share of notes in another language
	Unknown Range `json:"unknown"` // share of words that are unknown
	Spans   Range `json:"spans"`   // spans a note
	Doubt   Range `json:"doubt"`   // m
}

// Effects of one unit of the recall dial's bias on log odds: that a note leaks, how much archives differ in that, and
// the doubt of a note. On twelve writers and kinds of document left out, the number predicted with them is 1.1, 1.1 and
// 1.0 times the true one (geometric mean) at biases of .5, 1 and 2, and without them 2.1, 3.5 and 10.5 times; for a CRF
// it is 1.2 and 1.5 times at .5 and 1.
const dialTakes, dialApart, dialDoubts = 1.3, 0.3, 1.1

// Dialled returns the calibration for a recall dial set to bias, given one that was fitted at bias 0.
func (r *Risk) Dialled(bias float64) *Risk {
	if r == nil {
		return nil
	}
	d := *r
	d.Mean[0] -= dialTakes * bias
	d.Cov[0] += dialApart * dialApart * bias * bias
	d.Doubt = Range{r.Doubt[0] + dialDoubts*bias, r.Doubt[1] + dialDoubts*bias}
	return &d
}

// Range holds the lowest and the highest value.
type Range [2]float64

// Source holds the counts of the notes of one source (a writer, a ward, a corpus), or of an archive.
type Source struct {
	Notes, Leaks         [DoubtBins]int64
	Words, Unknown       int64 // words that were looked at, and those that are unknown
	Foreign, Spans, Told int64 // notes in another language, spans; notes of which both were told
}

// DoubtBins is the number of bins for the doubt of a note (1 - confidence): one for each halving, down to 2^-17.
const DoubtBins = 18

// DoubtBin returns the bin of a confidence.
func DoubtBin(confidence float32) int {
	exponent := int(math.Float32bits(max(1-confidence, 0))>>23) - 127 // of 2^-1 to 1: -1
	return min(max(exponent+DoubtBins, 0), DoubtBins-1)
}

// BinName returns the name of a bin in counts.
func BinName(bin int) string { return strconv.Itoa(bin) }

// DoubtOdds holds z, the log odds of doubt, at the geometric middle of each bin.
var DoubtOdds = func() (z [DoubtBins]float64) {
	for k := range z {
		p := math.Ldexp(math.Sqrt2, k-DoubtBins)
		z[k] = math.Log(p / (1 - p))
	}
	return z
}()

// Note counts a note: the confidence of its tags, whether its language is unknown to the model, its words and the
// number of its spans.
func (s *Source) Note(confidence float32, foreign bool, words pipeline.Words, spans int) {
	s.Notes[DoubtBin(confidence)]++
	s.Words += int64(words.Seen)
	s.Unknown += int64(words.Unknown)
	s.Spans += int64(spans)
	s.Told++
	if foreign {
		s.Foreign++
	}
}

// Parts counts notes by their doubt and by a part of the archive, such as a language or a centre.
type Parts map[part]*[DoubtBins]int64

// part is the beginning of a part's name, and the rest.
type part struct{ kind, name string }

// mostParts is the largest number of parts in a unit, so that a column of patients cannot be taken for one of centres.
const mostParts = 256

// Note counts a note. Notes of a new part are not counted once there are too many parts.
func (p Parts) Note(kind string, name []byte, confidence float32) {
	bins := p[part{kind, string(name)}]
	if bins == nil {
		if len(p) == mostParts {
			return
		}
		bins = new([DoubtBins]int64)
		p[part{kind, string(name)}] = bins
	}
	bins[DoubtBin(confidence)]++
}

// Each calls do with each count that is not 0.
func (p Parts) Each(do func(name, bin string, n int64)) {
	for of, bins := range p {
		for k, n := range bins {
			if n > 0 {
				do(of.kind+of.name, BinName(k), n)
			}
		}
	}
}

// All returns the number of notes, and of those that leak.
func (s *Source) All() (notes, leaks int64) {
	for k := range s.Notes {
		notes, leaks = notes+s.Notes[k], leaks+s.Leaks[k]
	}
	return notes, leaks
}

// MeanDoubt returns the mean of z, the log odds of doubt.
func (s *Source) MeanDoubt() float64 {
	notes, sum := int64(0), 0.0
	for k, n := range s.Notes {
		notes, sum = notes+n, sum+float64(n)*DoubtOdds[k]
	}
	return sum / float64(max(notes, 1))
}

// UnknownShare returns the share of unknown words. Sources are compared by it, by ForeignShare and by SpansPerNote.
func (s *Source) UnknownShare() float64 { return float64(s.Unknown) / float64(max(s.Words, 1)) }
func (s *Source) ForeignShare() float64 { return float64(s.Foreign) / float64(max(s.Told, 1)) }
func (s *Source) SpansPerNote() float64 { return float64(s.Spans) / float64(max(s.Told, 1)) }

// Add adds the counts of another source.
func (s *Source) Add(o *Source) {
	for k := range s.Notes {
		s.Notes[k], s.Leaks[k] = s.Notes[k]+o.Notes[k], s.Leaks[k]+o.Leaks[k]
	}
	s.Words, s.Unknown, s.Foreign, s.Spans, s.Told = s.Words+o.Words, s.Unknown+o.Unknown, s.Foreign+o.Foreign, s.Spans+o.Spans, s.Told+o.Told
}

// Sigmoid returns 1/(1+e^-z), the inverse of the log odds.
func Sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	e := math.Exp(z)
	return e / (1 + e)
}

// Symmetric is the lower triangle of a positive definite 3×3 matrix.
type Symmetric [6]float64

// Cholesky returns the lower triangular L for which L·Lᵀ is the matrix.
func (s Symmetric) Cholesky() (l Symmetric) {
	l[0] = math.Sqrt(max(s[0], 0))
	under := func(x float64, by float64) float64 {
		if by == 0 {
			return 0
		}
		return x / by
	}
	l[1] = under(s[1], l[0])
	l[2] = math.Sqrt(max(s[2]-l[1]*l[1], 0))
	l[3] = under(s[3], l[0])
	l[4] = under(s[4]-l[3]*l[1], l[2])
	l[5] = math.Sqrt(max(s[5]-l[3]*l[3]-l[4]*l[4], 0))
	return l
}
