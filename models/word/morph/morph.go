// Package morph returns the most probable part of speech and the lemma of a Spanish or Catalan word form (BOOT §3.4.2).
//
//	in:  a form as it stands in a note
//	out: "NOUN" and "hospital"; "ADP+DET" and "de+el" of a contraction
//
// The result does not depend on the words around the form, so it is looked up once per form and cached by the tagger
// (see models/tag/features). A form is looked up as written, then in lower case, among the forms of the treebanks. An
// unknown form is classified by its longest known ending among forms of the same shape, and its lemma is made by the
// most frequent rule for this ending and part of speech.
//
// All tables are one hash table, stored in one file and used in place.
package morph

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
)

// Kind identifies files of this package. As slots of a tagger, its parts of speech and lemmas are KindPOS and
// KindLemma; their data is the same file.
const (
	Kind      = "morph"
	KindPOS   = "morph.pos"
	KindLemma = "morph.lemma"
)

// Header is the header of a file.
type Header struct {
	Kind   string             `json:"kind"`
	Name   string             `json:"name,omitempty"`
	Tokens int                `json:"tokens"` // of the treebanks
	Forms  int                `json:"forms"`
	Tags   []string           `json:"tags"`
	Rules  []Rule             `json:"rules"`
	Scores map[string]float64 `json:"scores,omitempty"`
}

// Rule derives a lemma from a form: remove Cut characters from its end and append Add. The form is lower-cased first
// unless Keep is set, as for names.
type Rule struct {
	Cut  int    `json:"cut,omitempty"`
	Add  string `json:"add,omitempty"`
	Keep bool   `json:"keep,omitempty"`
}

// Model is an open file. It is safe for concurrent use.
type Model struct {
	header Header
	data   []byte
	table
}

// table is a map from hashes to numbers: the high bits of a key choose a
// bucket, the low 32 are compared.
type table struct {
	shift  uint
	bucket []uint32 // [buckets+1] first key
	low    []uint32 // [keys]
	value  []uint32 // [keys]
}

// The three kinds of entry in the table. Seeds far apart: XXH3 of up to three
// bytes differs from seed to seed by little more than the seed itself, so that
// small numbers made short forms and endings meet.
const (
	seedForm   uint64 = 0x243F6A8885A308D3 // form: tag | rule<<8
	SeedTag    uint64 = 0x13198A2E03707344 // shape and ending: tag
	SeedEnding uint64 = 0xA4093822299F31D0 // tag and ending: rule

	spread = 0x9E3779B97F4A7C15 // makes shapes and tags differ in all bits
)

// MaxEnding is the length in characters of the longest ending.
const MaxEnding = 6

// Open opens the content of a file, which must stay valid as long as the model. The content need not be trusted.
func Open(data []byte) (*Model, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	m := &Model{data: data}
	if err := f.Header(&m.header); err != nil {
		return nil, err
	}
	if m.header.Kind != Kind {
		return nil, fmt.Errorf("file is of kind %q, not %q", m.header.Kind, Kind)
	}
	for name, to := range map[string]*[]uint32{"bucket": &m.bucket, "key": &m.low, "value": &m.value} {
		section, err := f.Section(name)
		if err != nil {
			return nil, err
		}
		if *to, err = modelfile.View[uint32](section); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// check makes sure that no look-up leaves the tables.
func (m *Model) check() error {
	buckets := len(m.bucket) - 1
	if buckets < 2 || buckets&(buckets-1) != 0 || len(m.low) != len(m.value) || m.bucket[0] != 0 || int(m.bucket[buckets]) != len(m.low) {
		return fmt.Errorf("%w: its tables do not fit each other", modelfile.ErrDamaged)
	}
	for i, start := range m.bucket[1:] {
		if start < m.bucket[i] {
			return fmt.Errorf("%w: its buckets are not in order", modelfile.ErrDamaged)
		}
	}
	for m.shift = 64; buckets > 1; buckets >>= 1 {
		m.shift--
	}
	tags, rules := uint32(len(m.header.Tags)), uint32(len(m.header.Rules))
	if tags == 0 || tags > 256 || rules == 0 {
		return fmt.Errorf("%w: no tags or rules, or too many", modelfile.ErrDamaged)
	}
	for _, v := range m.value {
		if v&0xFF >= tags || v>>8 >= rules {
			return fmt.Errorf("%w: an entry has no such tag or rule", modelfile.ErrDamaged)
		}
	}
	return nil
}

// Header returns the header of the file.
func (m *Model) Header() Header { return m.header }

// Write writes a file that Open can read.
func (m *Model) Write(w io.Writer) error {
	_, err := w.Write(m.data)
	return err
}

func (t *table) find(key uint64) (value uint32, ok bool) {
	b := key >> t.shift
	for i := t.bucket[b]; i < t.bucket[b+1]; i++ {
		if t.low[i] == uint32(key) {
			return t.value[i], true
		}
	}
	return 0, false
}

// Shapes tell unknown forms apart beside their endings.
const (
	shapeLower byte = iota
	ShapeFirst
	shapeUpper
	shapeDigit
	shapeOther
)

// ShapeOf returns the shape of a form.
func ShapeOf(form []byte) byte {
	first, _ := utf8.DecodeRune(form)
	uppers, lowers := 0, 0
	for _, r := range string(form) {
		switch {
		case unicode.IsDigit(r):
			return shapeDigit
		case unicode.IsUpper(r):
			uppers++
		case unicode.IsLetter(r):
			lowers++
		}
	}
	switch {
	case uppers+lowers == 0:
		return shapeOther
	case lowers == 0:
		return shapeUpper
	case unicode.IsUpper(first):
		return ShapeFirst
	}
	return shapeLower
}

// AppendLower appends form in lower case.
func AppendLower(dst, form []byte) []byte {
	for _, r := range string(form) {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// Ending returns the last n characters, all if there are fewer.
func Ending(form []byte, n int) []byte {
	at := len(form)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(form[:at])
		at -= size
	}
	return form[at:]
}

// FormKey returns the hash of a form.
func FormKey(form []byte) uint64 { return xxh3.HashSeed(form, seedForm) }

// EndingKey returns the hash of an ending in one of the two tables of endings, for a shape or a part of speech.
func EndingKey(seed uint64, under byte, end []byte) uint64 {
	return xxh3.HashSeed(end, seed^uint64(under)*spread)
}

// byEnding returns the value of the longest ending that the table has.
func (t *table) byEnding(seed uint64, under byte, lower []byte) uint32 {
	for n := MaxEnding; n >= 0; n-- {
		if v, ok := t.find(EndingKey(seed, under, Ending(lower, n))); ok {
			return v
		}
	}
	return 0
}

// analysis is tag and rule of a form; lower is the form in lower case.
func (m *Model) analysis(form, lower []byte) (tag byte, rule uint32, known bool) {
	v, ok := m.find(FormKey(form))
	if !ok {
		v, ok = m.find(FormKey(lower))
	}
	if ok {
		return byte(v), v >> 8, true
	}
	tag = byte(m.byEnding(SeedTag, ShapeOf(form), lower))
	return tag, m.byEnding(SeedEnding, tag, lower) >> 8, false
}

// Knows reports whether the treebanks contain the form, as written or in lower case.
func (m *Model) Knows(form []byte) bool {
	_, _, known := m.analysis(form, AppendLower(nil, form))
	return known
}

// stackForm is how long a form may be so that its lower case needs no memory.
const stackForm = 64

// AppendPOS appends the most probable part of speech.
func (m *Model) AppendPOS(dst, form []byte) []byte {
	var buf [stackForm]byte
	tag, _, _ := m.analysis(form, AppendLower(buf[:0], form))
	return append(dst, m.header.Tags[tag]...)
}

// AppendLemma appends the lemma of the form as its most probable part of
// speech.
func (m *Model) AppendLemma(dst, form []byte) []byte {
	var buf [stackForm]byte
	lower := AppendLower(buf[:0], form)
	_, rule, _ := m.analysis(form, lower)
	return m.header.Rules[rule].Apply(dst, form, lower)
}

// Apply appends the lemma. A form that is too short for the rule is its own lemma.
func (r *Rule) Apply(dst, form, lower []byte) []byte {
	from := lower
	if r.Keep {
		from = form
	}
	at := len(from)
	for range r.Cut {
		if at == 0 {
			return append(dst, from...)
		}
		_, size := utf8.DecodeLastRune(from[:at])
		at -= size
	}
	return append(append(dst, from[:at]...), r.Add...)
}

// POS is a model as the slot of the feature group pos.
type POS struct{ *Model }

// Value appends the part of speech of the form.
func (p POS) Value(dst, form []byte) []byte { return p.AppendPOS(dst, form) }

// Kind returns the name by which Resources.Open recognizes the data.
func (p POS) Kind() string { return KindPOS }

// Data returns the file.
func (p POS) Data() []byte { return p.data }

// Lemma is a model as the slot of the feature group lemma.
type Lemma struct{ *Model }

// Value appends the lemma of the form.
func (l Lemma) Value(dst, form []byte) []byte { return l.AppendLemma(dst, form) }

// Kind returns the name by which Resources.Open recognizes the data.
func (l Lemma) Kind() string { return KindLemma }

// Data returns the file.
func (l Lemma) Data() []byte { return l.data }
