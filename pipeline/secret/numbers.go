package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"strconv"
	"strings"
)

// Numbers is a keyed permutation of integers: integers of 31 bits map to such integers, as a column of type integer
// needs, and wider ones of up to 62 bits to such. It is a Feistel network (Luby and Rackoff 1988) with AES as the
// function of its ten rounds, as many as FF1 of NIST SP 800-38G, and cycle walking to stay in range (Black and Rogaway
// 2002). It must be used by one goroutine.
type Numbers struct {
	block cipher.Block
	in    [aes.BlockSize]byte
	out   [aes.BlockSize]byte
}

const (
	narrow = 31 // bits of a number that `integer` takes
	wide   = 62
	rounds = 10
)

// Numbers returns the permutation for one purpose. Those of different purposes reveal nothing about each other.
func (k *Key) Numbers(purpose string) *Numbers {
	block, err := aes.NewCipher(k.Derive(purpose))
	if err != nil {
		panic(err) // only for lengths that no key of Derive has
	}
	return &Numbers{block: block}
}

// Of returns the image of v; false if v has more than 62 bits.
func (n *Numbers) Of(v uint64) (uint64, bool) {
	switch {
	case v < 1<<narrow:
		return n.within(v, (narrow+1)/2, 0, 1<<narrow), true
	case v < 1<<wide:
		return n.within(v, wide/2, 1<<narrow, 1<<wide), true
	}
	return 0, false
}

// Append appends the image of the integer in text; it returns false if text is no integer of up to 62 bits. It accepts
// 9.0, since pandas writes integers beside nulls in that way.
func (n *Numbers) Append(dst, text []byte) ([]byte, bool) {
	v, err := strconv.ParseUint(strings.TrimSuffix(string(text), ".0"), 10, 64)
	v, fits := n.Of(v)
	if err != nil || !fits {
		return dst, false
	}
	return strconv.AppendUint(dst, v, 10), true
}

// within permutes the numbers [from, to), which have at most twice so many bits as a half.
func (n *Numbers) within(v uint64, half uint, from, to uint64) uint64 {
	for {
		if v = n.once(v, half); from <= v && v < to {
			return v
		}
	}
}

// once is the Feistel network.
func (n *Numbers) once(v uint64, half uint) uint64 {
	mask := uint64(1)<<half - 1
	left, right := v>>half, v&mask
	for round := range byte(rounds) {
		n.in[0], n.in[1] = round, byte(half)
		binary.BigEndian.PutUint64(n.in[8:], right)
		n.block.Encrypt(n.out[:], n.in[:])
		left, right = right, left^binary.BigEndian.Uint64(n.out[8:])&mask
	}
	return left<<half | right
}
