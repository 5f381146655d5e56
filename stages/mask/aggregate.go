package mask

import (
	"bytes"

	"github.com/velum-health/velum/models/surrogate"
)

// newAggregate returns the operator that writes a larger place: the autonomous
// community of a town or province, Spain for a community, of a postal code so
// many digits that more than 20,000 people share them. What the lists do not
// know goes to the next operator.
func newAggregate(*settings) func(*Options) Operator {
	return func(*Options) Operator { return aggregate{} }
}

type aggregate struct{}

// sparse are the three digits of postal codes of the United States that fewer
// than 20,000 people share (census of 2010, guidance on HIPAA 164.514(b)).
var sparse = map[string]bool{
	"036": true, "059": true, "102": true, "203": true, "205": true, "369": true, "556": true, "692": true, "753": true,
	"772": true, "821": true, "823": true, "878": true, "879": true, "884": true, "893": true,
}

// Replace implements Operator.
func (aggregate) Replace(dst []byte, _ *Note, v Value) ([]byte, bool) {
	words := bytes.TrimSpace(v.Words)
	if digits := postal(words); digits {
		return appendPostal(dst, words, v.Category.String() == "ZIP"), true
	}
	if name, ok := surrogate.Region(words); ok {
		return append(dst, name...), true
	}
	return dst, false
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
// a Spanish code are the province: the smallest has 88,000 people; of three
// there is no count to go by. Codes of the United States keep three, unless
// they are among those that too few people share.
func appendPostal(dst, code []byte, american bool) []byte {
	switch {
	case american && sparse[string(code[:3])]:
		return append(dst, "000**"...)
	case american:
		return append(append(dst, code[:3]...), "**"...)
	}
	return append(append(dst, code[:2]...), "***"...)
}
