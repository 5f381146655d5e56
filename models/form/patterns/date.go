package patterns

import "github.com/velum-health/velum/models/word/cut"

// date adds the dates that models/form/dates found in the note and that begin before
// n ends. It returns the end of a full date, within which no other number
// begins, or 0.
func (s *scan) date(n *num) int {
	end := 0
	for len(s.dates) > 0 && s.dates[0].Start < n.end {
		d := s.dates[0]
		s.dates = s.dates[1:]
		if d.End-d.Start == 8 && d.End == n.end && (s.labelOf(n)&labels&^forDate != 0 && s.labelOf(n)&forDate == 0 ||
			s.letterBehindDigits(n.end)) {
			continue // a number of a record
		}
		s.add(d.Start, d.End, date, d.Score, false)
		s.dateEnd = d.End
		if d.Full && d.End > n.start {
			end = d.End
		}
	}
	return end
}

// lastDates adds the dates that stand behind all numbers.
func (s *scan) lastDates() {
	for _, d := range s.dates {
		s.add(d.Start, d.End, date, d.Score, false)
	}
}

// letterBehindDigits tells whether the digits that end at j go on as a DNI.
func (s *scan) letterBehindDigits(j int) bool {
	end, loose := s.letterBehind(j)
	return end > 0 && !loose
}

var clauseEnds = cut.SetOf("\x00.,;)\n\r:")

// endsClause tells whether nothing or punctuation follows at j.
func (s *scan) endsClause(j int) bool {
	return clauseEnds[s.At(j)]
}
