package report

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// Plan holds how many notes people would have to read to show, at 95 % confidence, that at most a share Wanted of the
// notes still holds an identifier. `velum run --audit` draws them.
type Plan struct {
	Wanted   float64         `json:"wanted"`
	Clean    int64           `json:"plain_if_none_leaks"` // notes to read if drawn from all notes alike and nothing is found
	Expected float64         `json:"expected_share"`      // expected share of notes with something unmasked, by the confidences
	Plain    int64           `json:"plain,omitempty"`     // the same if as much is found as expected; 0: no number suffices
	Strata   []audit.Stratum `json:"strata,omitempty"`    // what is drawn, the least sure first; none: of all notes alike; Read is how many
}

// Notes returns the number of notes to read.
func (p *Plan) Notes() (sum int64) {
	for _, s := range p.Strata {
		sum += s.Read
	}
	return max(sum, p.Clean)
}

// First is the number of notes with the lowest confidence at the front of each sample. A tenth of the notes holds half
// of all leaks, so reading the least sure ones improves the estimate most.
const First = 100

// begin divides the strata into bins of doubt that are read whole, the bin with the last of the First notes, and the
// others: what is left in
// notes that were read is known and need not be foretold (TestPromise; 12 writers and kinds of document left out).
func (p *Plan) begin(archive *calibrate.Source, strata []audit.Stratum) {
	left := int64(First)
	for _, rest := range strata {
		rest.Leaks = 0
		whole, edge := rest, rest
		whole.From, whole.Notes = rest.To, 0
		for left > 0 && whole.From > rest.From && whole.Notes+archive.Notes[whole.From-1] <= left {
			whole.From--
			whole.Notes += archive.Notes[whole.From]
		}
		whole.Read, edge.To, edge.From, edge.Notes = whole.Notes, whole.From, whole.From, 0
		if left > whole.Notes && edge.To > rest.From {
			edge.From--
			edge.Notes = archive.Notes[edge.From]
		}
		part := rest.Read * edge.Notes / max(rest.Notes, 1)
		edge.Read = min(max(part, left-whole.Notes), edge.Notes)
		rest.To, rest.Read = edge.From, rest.Read-rest.Read*whole.Notes/max(rest.Notes, 1)-part
		rest.Notes -= whole.Notes + edge.Notes
		left = max(left-whole.Read-edge.Read, 0)
		for _, s := range []audit.Stratum{whole, edge, rest} {
			if s.Notes > 0 {
				p.Strata = append(p.Strata, s)
			}
		}
	}
}

const confidence = 0.95

// Doubtful counts the masked notes of an extent whose doubt is in the bins [from, to). For the full range it counts all
// masked notes, since some models count no bins.
func Doubtful(m *commit.Manifest, extent *audit.Extent, from, to int) (notes int64) {
	for i := range m.Units {
		u := &m.Units[i]
		if !slices.ContainsFunc(u.Parts, func(p commit.PartRecord) bool { return p.Kind == "masked" && extent.Has(p.SHA256) }) {
			continue
		}
		if from == 0 && to == calibrate.DoubtBins {
			notes += u.Masked
			continue
		}
		for _, n := range archiveOf(&u.Counts).Notes[from:to] {
			notes += n
		}
	}
	return notes
}

// PlanOf computes the sample size for the masked notes of a run. It divides the notes into strata by confidence and
// allocates the reading so that the estimate has the least variance if the confidences are right (Neyman 1934; border
// of the strata by Dalenius and Hodges 1959). If they are wrong, more notes have to be read, and the bound still holds.
// The sample is never smaller than what proves the bound if none leaks.
func PlanOf(m *commit.Manifest, risk *calibrate.Risk, wanted float64) *Plan {
	notes := m.Counts.Masked
	p := &Plan{Wanted: wanted, Clean: min(audit.NotesToRead(wanted, confidence), notes)}
	archive := archiveOf(&m.Counts)
	if known, _ := archive.All(); risk == nil || notes == 0 || known != notes {
		return p
	}
	shares := risk.Outlook(archive).Shares()
	all := strata(archive, &shares, 0, calibrate.DoubtBins)
	p.Expected = rounded6(all.leaks / float64(notes))
	if p.Expected < wanted {
		p.Plain = least(p.Clean, notes, func(n int64) bool {
			return audit.UpperShare(n, int64(math.Round(float64(n)*p.Expected)), confidence) <= wanted
		})
	}
	unsure, sure, best := stratum{}, all, math.Inf(1)
	for cut := 1; cut < calibrate.DoubtBins; cut++ {
		a, b := strata(archive, &shares, cut, calibrate.DoubtBins), strata(archive, &shares, 0, cut)
		if sum := a.spread() + b.spread(); a.notes > 0 && b.notes > 0 && sum < best {
			unsure, sure, best = a, b, sum
		}
	}
	alike := []audit.Stratum{all.of(float64(max(p.Clean, p.Plain)))}
	if unsure.notes == 0 || p.Plain == 0 {
		p.begin(archive, alike)
		return p
	}
	drawn := func(n int64) []audit.Stratum {
		clean := float64(p.Clean) * float64(sure.notes) / float64(notes)
		return []audit.Stratum{unsure.of(float64(n) * unsure.spread() / best), sure.of(max(float64(n)*sure.spread()/best, clean))}
	}
	size := least(1, notes, func(n int64) bool {
		return float64(audit.UpperStrata(drawn(n), confidence)) <= wanted*float64(notes)
	})
	some := drawn(size)
	if some[0].Read+some[1].Read >= p.Plain {
		some = alike
	}
	p.begin(archive, some)
	return p
}

// least is the smallest number that does, to a hundredth, found by halving; most if
// none does.
func least(from, most int64, does func(int64) bool) int64 {
	low, high := from-1, most
	for high-low > max(1, low/100) {
		middle := int64(math.Sqrt(float64(max(low, 1)) * float64(high)))
		if middle = min(max(middle, low+1), high-1); does(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// stratum holds the estimate for the notes of some bins of doubt.
type stratum struct {
	from, to int
	notes    int64
	leaks    float64
}

func strata(archive *calibrate.Source, shares *[calibrate.DoubtBins]float64, from, to int) stratum {
	s := stratum{from: from, to: to}
	for k := from; k < to; k++ {
		s.notes += archive.Notes[k]
		s.leaks += float64(archive.Notes[k]) * shares[k]
	}
	return s
}

// spread is how much the stratum adds to what is uncertain: its notes times the
// standard deviation of one.
func (s stratum) spread() float64 {
	p := s.leaks / float64(max(s.notes, 1))
	return float64(s.notes) * math.Sqrt(p*(1-p))
}

// of is the stratum with so many notes read, and as many leaks as expected.
func (s stratum) of(n float64) audit.Stratum {
	read := min(int64(math.Ceil(n)), s.notes)
	return audit.Stratum{From: s.from, To: s.to, Notes: s.notes, Read: read,
		Leaks: int64(math.Round(float64(read) * s.leaks / float64(s.notes)))}
}
