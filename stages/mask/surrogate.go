package mask

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/pipeline"
)

// newSurrogate returns the operator that writes another value of the same kind
// (models/form/surrogate).
//
//   - consistent: a value has one surrogate in its note, for its patient, or in
//     the whole archive;
//   - random: every mention has its own;
//   - markov: a value keeps its surrogate for a stretch of mentions within its
//     note, then has another. A value that was missed stands beside surrogates
//     that change, as it would if it were one: with consistent ones, who is named
//     once among ten mentions of another is the original.
func newSurrogate(s *settings) func(*Options) Operator {
	scope := s.scope(PatientScope)
	strategy := s.word("strategy", strategyNames[consistent], strategyNames[:]...)
	stay := s.number("stay", 50, 0, 99)
	s.likes, s.strategy = true, strategyNames[strategy]
	return func(*Options) Operator {
		o := &surrogates{scope: scope, strategy: strategy, stay: stay}
		o.writer = surrogate.NewWriter(o)
		return o
	}
}

// Strategies of surrogates.
const (
	consistent = iota
	random
	markov
)

var strategyNames = [...]string{"consistent", "random", "markov"}

type surrogates struct {
	scope    Scope
	strategy int
	stay     int // percent of mentions that keep the surrogate of the one before
	writer   *surrogate.Writer

	note      *Note
	originals []byte // folded words of the values of the note
	stretch   uint32 // which stretch of its value, or which mention, the one at hand belongs to
	key       []byte
	mentions  []mention
	words     []byte // folded, of mentions
}

// mention is how often a value of the note has come, and in which stretch it
// is.
type mention struct {
	start, end int32 // in words
	times      uint32
	stretch    uint32
}

func (o *surrogates) begin(n *Note) {
	o.note = n
	o.originals, o.mentions, o.words = append(o.originals[:0], n.Avoid...), o.mentions[:0], o.words[:0]
	for _, s := range n.Spans {
		o.originals = appendWords(o.originals, n.Text[s.Start:s.End])
	}
	o.writer.Catalan = n.Language == pipeline.Catalan
}

// Replace implements Operator.
func (o *surrogates) Replace(dst []byte, _ *Note, v Value) ([]byte, bool) {
	o.stretch = 0
	switch o.strategy {
	case random:
		o.stretch = uint32(v.Span)
	case markov:
		o.stretch = o.walk(v)
	}
	return o.write(dst, v)
}

// walk goes one mention further with a value and returns its stretch. Values
// that share a word, Ana García and García, walk together.
func (o *surrogates) walk(v Value) uint32 {
	start := len(o.words)
	o.words = appendWords(o.words, v.Words)
	words := o.words[start:]
	for i := range o.mentions {
		m := &o.mentions[i]
		if have := o.words[m.start:m.end]; !within(words, have) && !within(have, words) {
			continue
		}
		o.words = o.words[:start]
		m.times++
		o.key = binary.LittleEndian.AppendUint32(o.key[:0], m.times)
		o.key = append(o.key, o.words[m.start:m.end]...)
		if o.note.Draw(NoteScope, "surrogate stretch", o.key).IntN(100) >= o.stay {
			m.stretch++
		}
		return m.stretch
	}
	o.mentions = append(o.mentions, mention{int32(start), int32(len(o.words)), 0, 0})
	return 0
}

// Draw implements surrogate.Source.
func (o *surrogates) Draw(what string, part []byte, attempt int) *rand.Rand {
	scope := o.scope
	if o.strategy != consistent {
		scope = NoteScope
	}
	o.key = append(o.key[:0], byte(attempt))
	o.key = binary.LittleEndian.AppendUint32(o.key, o.stretch)
	o.key = append(o.key, what...)
	o.key = append(append(o.key, 0), part...)
	return o.note.Draw(scope, "surrogate", o.key)
}

// Avoid implements surrogate.Source: no word of the note's own values.
func (o *surrogates) Avoid(word []byte) bool {
	for words := o.originals; len(words) > 0; {
		end := bytes.IndexByte(words, ' ')
		if bytes.EqualFold(words[:end], word) {
			return true
		}
		words = words[end+1:]
	}
	return false
}

// write appends a surrogate for a value: one of the kind of its category, but
// for some categories.
func (o *surrogates) write(dst []byte, v Value) ([]byte, bool) {
	unlike := unlikeKind[v.Category.String()]
	switch kind := v.Category.Kind(); {
	case unlike == asNothing:
		return dst, false
	case unlike == asNumber || kind == pipeline.IDKind:
		return o.writer.Number(dst, v.Words)
	case kind == pipeline.NameKind:
		return o.writer.Person(dst, v.Words)
	case kind == pipeline.PlaceKind:
		return o.writer.Place(dst, v.Words)
	case kind == pipeline.ContactKind:
		return o.writer.Contact(dst, v.Words)
	case kind == pipeline.ProfessionKind:
		return o.writer.Profession(dst, v.Words)
	}
	return dst, false
}

// How categories are replaced that have no surrogates like others of their kind.
const (
	asNumber  = 1 + iota // digits among contacts, places and names
	asNothing            // what is no text to replace: a face, a fingerprint
)

var unlikeKind = map[string]int{
	"TELEPHONE": asNumber, "PHONE": asNumber, "FAX": asNumber, "NUMERO_TELEFONO": asNumber, "NUMERO_FAX": asNumber,
	"ZIP": asNumber, "POSTAL_CODE": asNumber, "USERNAME": asNumber,
	"PHOTO": asNothing, "BIOMETRIC": asNothing, "BIOID": asNothing, "IDENTF_BIOMETRICOS": asNothing,
}
