package language

import "math"

// Weight returns how a weight in log-odds is stored.
func Weight(logOdds float64) int8 {
	return int8(math.Round(min(max(logOdds*scale, -127), 127)))
}

// MaxFeatures is the largest number of buckets of a word: its form and the trigrams of its first bytes.
const MaxFeatures = 1 + maxBytes

// Features writes the buckets of which read adds up the weights, for training; it returns their number and the hash of the
// word.
func Features(dst *[MaxFeatures]uint16, word []byte) (n int, form uint32) {
	_, _, form = read(word)
	low := []byte{' '}
	for _, b := range word[:min(len(word), maxBytes)] {
		low = append(low, folded[b])
	}
	if len(word) < maxBytes {
		low = append(low, ' ')
	}
	dst[0] = uint16(bucket(form ^ 0x5bd1e995))
	for n = 1; n < len(low)-1; n++ {
		dst[n] = uint16(bucket(uint32(low[n-1])<<16 | uint32(low[n])<<8 | uint32(low[n+1])))
	}
	return n, form
}
