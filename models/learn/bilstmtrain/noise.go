package bilstmtrain

import (
	"bytes"
	"math/rand/v2"
	"strings"

	"github.com/velum-health/velum/models/tag/bilstm"
)

// Notes are typed in a hurry: all in capitals, all in small letters, without
// accents. A disturbed sequence has the forms of one of these; what its places
// say stays.

// disturbances are the ways in which a form may be written.
var disturbances = [...]func(form []byte) []byte{bytes.ToUpper, bytes.ToLower, withoutAccents}

// accented and bare are the letters of Catalan and Spanish that are written without an accent; ñ and ç are keys of their own.
const accented, bare = "áéíóúàèòïüÁÉÍÓÚÀÈÒÏÜ", "aeiouaeoiuAEIOUAEOIU"

func withoutAccents(form []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if i := strings.IndexRune(accented, r); i >= 0 {
			return rune(bare[i/2]) // all of accented have two bytes
		}
		return r
	}, form)
}

// addNoise gives every form its disturbed ones, which are forms of the corpus
// that no note has.
func (c *Corpus) addNoise() {
	if c.disturbed != nil {
		return
	}
	for i := range c.forms {
		e := c.forms[i]
		form, behind, separated := bytes.Cut([]byte(e.text), []byte{bilstm.Separator})
		var others [len(disturbances)]int32
		for k, change := range disturbances {
			text := string(change(form))
			if separated {
				text += string(bilstm.Separator) + string(behind)
			}
			n, known := c.formOf[text]
			if !known {
				n = int32(len(c.forms))
				c.formOf[text] = n
				c.forms = append(c.forms, formEntry{text: text, count: e.count})
				f := &c.forms[n]
				f.features = append(f.features, c.extract.Form(f.form())...)
			}
			others[k] = n
		}
		c.disturbed = append(c.disturbed, others)
	}
}

// disturb returns a sequence as it is, or disturbed.
func (t *training) disturb(q sequence, rng *rand.Rand) sequence {
	if t.noise == 0 || rng.Float64() >= t.noise {
		return q
	}
	c, way := t.c, rng.IntN(len(disturbances))
	n := q
	n.lo = int32(len(c.form))
	for i := q.lo; i < q.hi; i++ {
		c.form = append(c.form, c.disturbed[c.form[i]][way])
		c.marks = append(c.marks, c.marks[c.first[i]:c.first[i+1]]...)
		c.first = append(c.first, int32(len(c.marks)))
	}
	n.hi = int32(len(c.form))
	return n
}
