package mask

import (
	"bytes"
	"strconv"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// newAge returns the operator of ages: above a limit [AGE > 89] (VIGI §5.8,
// HIPAA), below it the age, or the class of so many years that it lies in: 42
// años becomes 40-44 años (blurring, BOOT §2.2.2).
func newAge(s *settings) func(*Options) Operator {
	o := age{over: s.number("over", 89, 1, 150), class: s.number("class", 5, 1, 50)}
	s.keeps = s.keeps || o.class == 1
	return func(*Options) Operator { w := o; return &w }
}

type age struct {
	over, class int
	folded      []byte
}

// unitsOfAge by the beginning of the word; months, weeks and days are ages of
// small children.
var unitsOfAge = []struct {
	begins string
	years  bool
}{
	{"mes", false}, {"mo", false}, {"sem", false}, {"setm", false}, {"se", false}, {"dia", false}, {"die", false}, {"day", false},
	{"we", false}, {"hora", false}, {"hore", false}, {"h", false},
	{"a", true}, {"y", true}, {"de", true}, {"o", true},
}

// Replace implements Operator. It fails, and leaves the value to the next operator, if an age has no digits, or several
// numbers that disagree.
func (o *age) Replace(dst []byte, _ *Note, v Value) ([]byte, bool) {
	start, end, years, ok := o.read(v.Words)
	if !ok {
		return dst, false
	}
	if years > o.over {
		dst = append(dst, "[AGE > "...)
		return append(strconv.AppendInt(dst, int64(o.over), 10), ']'), true
	}
	if o.class == 1 {
		return append(dst, v.Words...), true
	}
	if years < 0 { // months and days lie in the first class
		dst = append(dst, "0-"...)
		dst = strconv.AppendInt(dst, int64(o.class-1), 10)
		return append(dst, " años"...), true
	}
	low := years / o.class * o.class
	dst = append(dst, v.Words[:start]...)
	dst = strconv.AppendInt(dst, int64(low), 10)
	dst = append(dst, '-')
	dst = strconv.AppendInt(dst, int64(min(low+o.class-1, o.over)), 10)
	return append(dst, v.Words[end:]...), true
}

// read finds the one number of an age; years is -1 for ages in months, weeks
// and days.
func (o *age) read(words []byte) (start, end, years int, ok bool) {
	start = bytes.IndexAny(words, "0123456789")
	if start < 0 {
		return 0, 0, 0, false
	}
	for end = start; end < len(words) && words[end] >= '0' && words[end] <= '9'; end++ {
		years = years*10 + int(words[end]-'0')
	}
	if end-start > 3 || bytes.ContainsAny(words[end:], "0123456789") {
		return 0, 0, 0, false
	}
	o.folded = gazetteer.Fold(o.folded[:0], bytes.TrimLeft(words[end:], " -.,+'"))
	if len(o.folded) == 0 {
		return start, end, years, true
	}
	for _, u := range unitsOfAge {
		if !bytes.HasPrefix(o.folded, []byte(u.begins)) {
			continue
		}
		if u.years {
			return start, end, years, true
		}
		return start, end, -1, years <= 36
	}
	return 0, 0, 0, false
}
