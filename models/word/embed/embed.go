// Package embed reads word vectors and word clusters that package embedtrain has learned from an archive without
// labels.
//
// [File] is a memory-mapped file of vocabulary, counts, vectors and clusters; [Clusters] holds clusters only and fits
// into a tagger's model file. Both return the cluster of a word form, and File its vector.
package embed

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// Normalization is a transformation of a form before it is looked up (BOOT §3.3 has all three).
type Normalization uint8

const (
	AsIs  Normalization = iota // the form itself
	Lower                      // lower case
	Fold                       // lower case without accents and the punctuation inside words, see gazetteer.Fold
	numNormalizations
)

var normalizationNames = [numNormalizations]string{"form", "lower", "fold"}

// String returns the name used in files and options.
func (n Normalization) String() string {
	if n < numNormalizations {
		return normalizationNames[n]
	}
	return fmt.Sprintf("Normalization(%d)", n)
}

// ParseNormalization returns the normalization of that name.
func ParseNormalization(name string) (Normalization, error) {
	for n, have := range normalizationNames {
		if name == have {
			return Normalization(n), nil
		}
	}
	return 0, fmt.Errorf("unknown normalization; known: %s", strings.Join(normalizationNames[:], ", "))
}

// MarshalText writes the name.
func (n Normalization) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the name.
func (n *Normalization) UnmarshalText(text []byte) (err error) {
	*n, err = ParseNormalization(string(text))
	return err
}

// Append appends the normalized form to dst. A form of punctuation alone,
// which Fold would leave nothing of, stays as it is.
func (n Normalization) Append(dst, form []byte) []byte {
	switch n {
	case Lower:
		return appendLower(dst, form)
	case Fold:
		before := len(dst)
		if dst = gazetteer.Fold(dst, form); len(dst) > before {
			return dst
		}
	}
	return append(dst, form...)
}

func appendLower(dst, form []byte) []byte {
	for i := 0; i < len(form); {
		c := form[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(form[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, c)
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += size
	}
	return dst
}

// MaxForm is the length in bytes of the longest form that is counted.
const MaxForm = 64
