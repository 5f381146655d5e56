package mask

import (
	"strconv"
	"time"
)

// newYear returns the operator that leaves the year of a date, as HIPAA
// 164.514(b)(2)(i)(C) allows: not of one so long before the note that it tells
// an age above the limit.
func newYear(s *settings) func(*Options) Operator {
	o := year{over: s.number("over", 89, 1, 150), reader: newDateReader(s)}
	return func(*Options) Operator { w := o; return &w }
}

type year struct {
	over   int
	reader dateReader
}

func (o *year) begin(*Note) { o.reader.ready = false }

// youngYear: whoever was born since is under 90 for as long as this program is
// likely to be used. Earlier years stay only in notes whose date is known.
const youngYear = 1950

// Replace implements Operator.
func (o *year) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	if !o.reader.parse(n, v) || !o.reader.HasYear() {
		return dst, false
	}
	day, _, _ := o.reader.First(o.reader.context)
	y := yearOf(day)
	if near := o.reader.context.Day; near == 0 && y < youngYear || near != 0 && yearOf(near)-y > o.over {
		return dst, false
	}
	return strconv.AppendInt(dst, int64(y), 10), true
}

func yearOf(day int32) int { return time.Unix(int64(day)*24*60*60, 0).UTC().Year() }
