package recognize

import "github.com/velum-health/velum/pipeline"

// Join appends given and known spans to dst, sorted. Where a given and a known span overlap, they become one span with
// the source Known.
func Join(dst, given, known []pipeline.Span) []pipeline.Span {
	first := len(dst)
	for len(given) > 0 || len(known) > 0 {
		next := &given
		if len(given) == 0 || len(known) > 0 && known[0].Start <= given[0].Start {
			next = &known
		}
		s := (*next)[0]
		*next = (*next)[1:]
		if n := len(dst); n > first && s.Start < dst[n-1].End {
			if s.Source == pipeline.FromKnown && dst[n-1].Source != pipeline.FromKnown {
				dst[n-1].Category, dst[n-1].Source, dst[n-1].Score = s.Category, s.Source, s.Score
			}
			dst[n-1].End = max(dst[n-1].End, s.End)
			continue
		}
		dst = append(dst, s)
	}
	return dst
}
