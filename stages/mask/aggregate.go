package mask

import (
	"bytes"

	"github.com/velum-health/velum/models/form/surrogate"
)

// newAggregate returns the operator that writes a larger place: the autonomous
// community of a town or province, or to=province the province, Spain for a
// community, and the next larger one where a place is itself a value of the note; of a postal code so many digits
// that more than 20,000 people share
// them. What the lists do not know goes to the next operator.
func newAggregate(s *settings) func(*Options) Operator {
	province := s.word("to", "region", "region", "province") == 1
	return func(*Options) Operator { return &aggregate{province: province} }
}

type aggregate struct {
	province    bool
	larger      []byte // the current place
	words, name []byte // folded: a value of the note; the larger place
}

// sparse are the three digits of postal codes of the United States that 20,000
// people or fewer share. The seventeen of the census of 2000 that the guidance of
// the Department of Health and Human Services on 45 CFR 164.514(b) prints (036, 059,
// 063, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893), and
// those that tabulations of 2010 add (205, 369, 753, 772): in doubt a digit goes.
var sparse = map[string]bool{
	"036": true, "059": true, "063": true, "102": true, "203": true, "205": true, "369": true, "556": true, "692": true, "753": true,
	"772": true,
	"790": true, "821": true, "823": true, "830": true, "831": true, "878": true, "879": true, "884": true, "890": true, "893": true,
}

// Replace implements Operator.
func (o *aggregate) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	words := bytes.TrimSpace(v.Words)
	if digits := postal(words); digits {
		return appendPostal(dst, words, v.Category.String() == "ZIP"), true
	}
	larger := [...]string{"", "", "España"}
	known, inside := false, false
	if o.province {
		larger[0], inside = surrogate.Province(words)
	}
	larger[1], known = surrogate.Region(words)
	if !known && !inside {
		return dst, false
	}
	for _, name := range larger {
		if name != "" && !o.masked(n, name) {
			return append(dst, name...), true
		}
	}
	return dst, false
}

// masked tells whether a place has the words of a value that is masked in the
// note: Sevilla lies in Sevilla, and verify would see a value that is left.
func (o *aggregate) masked(n *Note, name string) bool {
	o.larger = append(o.larger[:0], name...)
	o.name = appendWords(o.name[:0], o.larger)
	for _, s := range n.Spans {
		o.words = appendWords(o.words[:0], n.Text[s.Start:s.End])
		if len(o.words) > 0 && within(o.words, o.name) {
			return true
		}
	}
	return false
}

func postal(words []byte) bool {
	if len(words) != 5 {
		return false
	}
	for _, b := range words {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}

// appendPostal appends a postal code without its last digits. The first two of
// a Spanish code are the province: the smallest has 88,000 people. A third digit
// of 0 is the province's capital, the smallest of which, Teruel, has 36,000 (INE
// 2021): it may stay; of other third digits there is no count to go by. Codes of the United States keep three, unless
// they are among those that too few people share.
func appendPostal(dst, code []byte, american bool) []byte {
	switch {
	case american && sparse[string(code[:3])]:
		return append(dst, "000**"...)
	case american:
		return append(append(dst, code[:3]...), "**"...)
	}
	if code[2] == '0' && string(code[:2]) <= "50" && string(code[:2]) >= "01" {
		return append(append(dst, code[:3]...), "**"...)
	}
	return append(append(dst, code[:2]...), "***"...)
}
