package choose

import "iter"

// Floors holds the minimal confidence C_min by class. A single C_min selects the classes that are easy for a model:
// dates at 0.999 and no person.
type Floors struct {
	Class   [MaxClasses]Confidence // C_min for the least certain span of each class
	Outside Confidence             // C_min for notes without spans, and for the text outside spans
}

// NewFloors returns, for each class, the lower of minConfidence and the given quantile of the confidences found: that
// share of the least confident ones is excluded. For text outside of spans, the quantile is that of notes without
// spans. With a quantile of 1, minConfidence applies to all classes.
func NewFloors(records iter.Seq[Record], minConfidence, quantile float64) *Floors {
	var counts [MaxClasses + 1][10_001]int
	for r := range records {
		empty := true
		for c, n := range r.Spans {
			if n > 0 {
				counts[c][min(r.Least[c], 10_000)]++
				empty = false
			}
		}
		if empty {
			counts[MaxClasses][min(r.Confidence, 10_000)]++
		}
	}
	f, most := new(Floors), Round(minConfidence)
	for c := range f.Class {
		f.Class[c] = min(most, quantileOf(&counts[c], quantile))
	}
	f.Outside = min(most, quantileOf(&counts[MaxClasses], quantile))
	return f
}

// quantileOf returns the confidence below which a share of those counted lie;
// the highest one for a share of 1 and for none counted.
func quantileOf(counts *[10_001]int, share float64) Confidence {
	all := 0
	for _, n := range counts {
		all += n
	}
	below := 0
	for c, n := range counts {
		if below += n; float64(below) > share*float64(all) {
			return Confidence(c)
		}
	}
	return 10_000
}

// pass reports whether a note may be chosen. In each class, the least sure span must be at least as sure as the floor
// of its class. The tokens outside of spans must be at least as sure as their floor, or as the least sure of these
// spans if that is lower.
func (f *Floors) pass(r *Record) bool {
	outside := f.Outside
	for c, n := range r.Spans {
		if n > 0 {
			if r.Least[c] < f.Class[c] {
				return false
			}
			outside = min(outside, r.Least[c])
		}
	}
	return r.Confidence >= outside
}
