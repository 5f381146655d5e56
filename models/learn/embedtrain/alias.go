package embedtrain

import "math"

// alias draws numbers by their weights in constant time and little memory
// (Walker 1977, built as by Vose 1991): every slot is shared by its own number
// and one other. word2vec's table, which repeats numbers by their weights, has
// more than a million places and is waited for.
type alias []aliasSlot

type aliasSlot struct {
	own   uint32 // share of the slot's own number, in 2^32
	other int32
}

func newAlias(weights []float64, total float64) alias {
	n := len(weights)
	a, share := make(alias, n), make([]float64, n)
	var small, large []int32
	for i, x := range weights {
		share[i] = x * float64(n) / total
		a[i] = aliasSlot{math.MaxUint32, int32(i)} // what rounding leaves has its slot alone
		if share[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a[s] = aliasSlot{uint32(share[s] * (1 << 32)), l}
		if share[l] -= 1 - share[s]; share[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return a
}

// at returns the number that belongs to 64 random bits: half of them choose
// the slot, half the number in it.
func (a alias) at(random uint64) int32 {
	i := (random >> 32) * uint64(len(a)) >> 32
	t := int32(i)
	if s := a[i]; uint32(random) >= s.own {
		t = s.other
	}
	return t
}
