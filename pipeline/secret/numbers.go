package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"strconv"
	"strings"
)

// Numbers puts whole numbers in place of whole numbers under a key, one to one: those of 31 bits among themselves, which is what
// a column of `integer` takes, and wider ones of up to 62 bits among themselves. It is a Feistel network (Luby and Rackoff 1988)
// with AES in its ten rounds, as many as FF1 of NIST SP 800-38G has, which walks on until it is back in its range (Black and
// Rogaway 2002). It belongs to one goroutine.
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

// Numbers returns the numbers of one purpose. Different purposes give numbers that tell nothing of each other.
func (k *Key) Numbers(purpose string) *Numbers {
	block, err := aes.NewCipher(k.Derive(purpose))
	if err != nil {
		panic(err) // only for lengths that no key of Derive has
	}
	return &Numbers{block: block}
}

// Of returns the number that stands for v, and false if v has more than 62 bits.
func (n *Numbers) Of(v uint64) (uint64, bool) {
	switch {
	case v < 1<<narrow:
		return n.within(v, (narrow+1)/2, 0, 1<<narrow), true
	case v < 1<<wide:
		return n.within(v, wide/2, 1<<narrow, 1<<wide), true
	}
	return 0, false
}

// Append appends the number that stands for that of a text, and returns false if it is no whole number of up to 62 bits. pandas
// writes whole numbers beside nulls as 9.0.
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
