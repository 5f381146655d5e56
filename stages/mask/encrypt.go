package mask

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/tink-crypto/tink-go/v2/daead/subtle"

	"github.com/velum-health/velum/pipeline/secret"
)

// newEncrypt returns the operator that writes the category and the value
// encrypted, [PERSON:bcdf...]: AES-SIV (RFC 5297), so equal values of a
// category look equal within the scope, nobody reads them without the key, and a
// changed one is not taken for another. What is sealed is filled up, so that its
// length does not tell the value's. `velum mask reveal` undoes it under the key.
func newEncrypt(s *settings) func(*Options) Operator {
	scope := s.scope(PatientScope)
	return func(o *Options) Operator { return &encrypt{sealer: NewSealer(o.Key, o.Purpose), scope: scope} }
}

type encrypt struct {
	sealer *Sealer
	scope  Scope
	plain  []byte
}

// Format of the plaintext: markBytes of a keyed hash of the value and its scope, so that equal values of two patients
// encrypt differently; the value; then fillByte and zeros up to a multiple of bucketBytes. The hashes of two scopes
// coincide once in 1.8e19 pairs, and even then nothing can be decrypted.
const (
	markBytes   = 8
	bucketBytes = 64
	fillByte    = 0x80
)

// filled marks a sealed value that was filled up, beside its category: it tells values that were filled
// up from those of versions before, which velum mask reveal still opens.
const filled = "filled"

// Replace implements Operator.
func (o *encrypt) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	name := placeholderOf(v.Category)
	o.plain = append(o.plain[:0], n.Sum(o.scope, "encrypt", v.Words)[:markBytes]...)
	o.plain = append(append(o.plain, v.Words...), fillByte)
	for len(o.plain)%bucketBytes != 0 {
		o.plain = append(o.plain, 0)
	}
	sealed, err := o.sealer.siv.EncryptDeterministically(o.plain, append(bytes.Clone(name), filled...))
	if err != nil {
		return dst, false
	}
	dst = append(dst, name[:len(name)-1]...)
	dst = append(dst, ':')
	for _, b := range sealed {
		dst = append(dst, sealLetters[b>>4], sealLetters[b&15])
	}
	return append(dst, ']'), true
}

// sealLetters are the hexadecimal digits of a sealed value. Consonants alone:
// they make no name and no number that verify could take for a survivor.
const sealLetters = "bcdfghjklmnpqrst"

// Sealer encrypts and decrypts values with a key.
type Sealer struct{ siv *subtle.AESSIV }

// NewSealer returns the Sealer for a key and a purpose.
func NewSealer(key *secret.Key, purpose string) *Sealer {
	wide, err := hkdf.Expand(sha256.New, key.Derive("encrypt "+purpose), "AES-SIV", subtle.AESSIVKeySize)
	if err != nil {
		panic(err) // only for lengths that are too long
	}
	siv, err := subtle.NewAESSIV(wide)
	if err != nil {
		panic(err) // only for keys of another length
	}
	return &Sealer{siv}
}

// Reveal appends text to dst with every encrypted value decrypted. It returns the number of decrypted values, and the
// number of values that the key does not decrypt, which stay unchanged.
func (s *Sealer) Reveal(dst, text []byte) (out []byte, opened, shut int) {
	for {
		at := bytes.IndexByte(text, '[')
		if at < 0 {
			return append(dst, text...), opened, shut
		}
		dst, text = append(dst, text[:at]...), text[at:]
		name, sealed, length := sealedAt(text)
		if length == 0 {
			dst, text = append(dst, '['), text[1:]
			continue
		}
		value, err := s.open(sealed, append(name, ']'))
		if err != nil {
			shut++
			dst = append(dst, text[:length]...)
		} else {
			opened++
			dst = append(dst, value...)
		}
		text = text[length:]
	}
}

// open returns a sealed value.
func (s *Sealer) open(sealed, name []byte) ([]byte, error) {
	plain, err := s.siv.DecryptDeterministically(sealed, append(bytes.Clone(name), filled...))
	if err != nil {
		return s.siv.DecryptDeterministically(sealed, name)
	}
	end := bytes.LastIndexByte(plain, fillByte)
	return plain[min(markBytes, end):end], nil
}

// sealedAt reads the sealed value that text begins with; length 0: none.
func sealedAt(text []byte) (name, sealed []byte, length int) {
	colon, end := bytes.IndexByte(text, ':'), bytes.IndexByte(text, ']')
	if colon < 2 || end < colon || (end-colon-1)%2 != 0 || end-colon-1 < 2*sivTag {
		return nil, nil, 0
	}
	for i := colon + 1; i < end; i += 2 {
		high, low := bytes.IndexByte([]byte(sealLetters), text[i]), bytes.IndexByte([]byte(sealLetters), text[i+1])
		if high < 0 || low < 0 {
			return nil, nil, 0
		}
		sealed = append(sealed, byte(high<<4|low))
	}
	return bytes.Clone(text[:colon]), sealed, end + 1
}

// sivTag is the length of the synthetic initialization vector before the text.
const sivTag = 16
