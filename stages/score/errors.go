package score

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// A Kind is a kind of error: those of ErrorCounts, with all border errors as one.
type Kind uint8

// The kinds of error.
const (
	WrongType Kind = iota // right borders, other category
	WrongBorder
	WrongBoth
	Missing  // shares no byte with a system span
	Spurious // shares no byte with a gold span
	numKinds
)

var kindNames = [numKinds]string{"type", "border", "border_and_type", "missing", "spurious"}

// String returns the name used in files.
func (k Kind) String() string { return kindNames[k] }

// Error is an error with the spans of both sides. A missing span has length 0 on the system's side, a spurious one on
// the gold side. Categories are those used for the comparison.
type Error struct {
	Kind         Kind
	Leaks        bool // something of the gold span can still be read
	Gold, System pipeline.Span
}

// tellErrors tells the errors of the note that was added last, by place.
func (s *Scorer) tellErrors(b *pipeline.Batch, i int) {
	var all []Error
	for _, x := range s.system {
		g, ok := partner(s.gold, x)
		same := g.Start == x.Start && g.End == x.End
		e := Error{Kind: Spurious, System: x}
		switch {
		case !ok:
		case same && g.Category == x.Category:
			continue
		case same:
			e = Error{Kind: WrongType, Gold: g, System: x}
		case g.Category == x.Category:
			e = Error{Kind: WrongBorder, Gold: g, System: x}
		default:
			e = Error{Kind: WrongBoth, Gold: g, System: x}
		}
		all = append(all, e)
	}
	for _, g := range s.gold {
		if _, ok := partner(s.system, g); !ok {
			all = append(all, Error{Kind: Missing, Gold: g})
		}
	}
	text := b.Text.At(i)
	for k := range all {
		letters, masked := s.letters(text, all[k].Gold, inSystem)
		all[k].Leaks = masked < letters
	}
	slices.SortStableFunc(all, func(a, b Error) int { return int(a.start() - b.start()) })
	for _, e := range all {
		s.o.Error(b, i, e)
	}
}

// start is where an error begins, on whichever side.
func (e *Error) start() int32 {
	switch e.Kind {
	case Missing:
		return e.Gold.Start
	case Spurious:
		return e.System.Start
	}
	return min(e.Gold.Start, e.System.Start)
}

// ErrorCounts counts the kinds of errors of NGRID §8.2.1. All but Missing
// count system spans, Missing counts gold spans. A system span is compared
// with the gold span with which it shares most bytes.
type ErrorCounts struct {
	Type         int64 `json:"type"`            // right bounds, other category
	Short        int64 `json:"short"`           // inside the gold span
	Long         int64 `json:"long"`            // around the gold span
	ShortAndLong int64 `json:"short_and_long"`  // short at one end, long at the other
	ExtentType   int64 `json:"extent_and_type"` // of the three above, those with another category too
	Spurious     int64 `json:"spurious"`        // shares no byte with a gold span
	Missing      int64 `json:"missing"`         // shares no byte with a system span
}

func (s *Scorer) countErrors() {
	n := len(s.categories)
	for _, x := range s.system {
		g, ok := partner(s.gold, x)
		s.confusion[int(g.Category)*n+int(x.Category)]++
		s.errors.add(g, x, ok)
		s.categories[x.Category].errors.add(g, x, ok)
	}
	for _, g := range s.gold {
		if _, ok := partner(s.system, g); !ok {
			s.confusion[int(g.Category)*n]++
			s.errors.Missing++
			s.categories[g.Category].errors.Missing++
		}
	}
}

// add counts the system span x, whose gold partner is g.
func (e *ErrorCounts) add(g, x pipeline.Span, ok bool) {
	switch {
	case !ok:
		e.Spurious++
	case g.Start == x.Start && g.End == x.End:
		if g.Category != x.Category {
			e.Type++
		}
		return
	case g.Start <= x.Start && x.End <= g.End:
		e.Short++
	case x.Start <= g.Start && g.End <= x.End:
		e.Long++
	default:
		e.ShortAndLong++
	}
	if ok && g.Category != x.Category {
		e.ExtentType++
	}
}

// partner returns the span that shares most bytes with x; of two that share
// as many the one of the same category, then the first.
func partner(spans []pipeline.Span, x pipeline.Span) (best pipeline.Span, ok bool) {
	most := int32(0)
	for _, g := range spans {
		if g.Start >= x.End {
			break
		}
		shared := min(g.End, x.End) - max(g.Start, x.Start)
		if shared > most || shared == most && ok && g.Category == x.Category && best.Category != x.Category {
			best, most, ok = g, shared, true
		}
	}
	return best, ok
}
