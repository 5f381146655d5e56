package mask

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// newSurrogate returns the operator that writes another value of the same kind
// (models/form/surrogate).
//
//   - consistent: a value has one surrogate in its note, for its patient, or in
//     the whole archive. What is named once among many mentions of another is then
//     an original that was missed;
//   - random: every mention has its own, so an original that comes twice is one;
//   - markov: between both (BRATsynthetic, Osborne et al. 2022, carried over to
//     notes). Some values have one surrogate wherever they stand, the others one
//     of its own in each note, where a mention keeps that of the one before or has
//     another. So neither a name that comes again nor one that does not tells much.
func newSurrogate(s *settings) func(*Options) Operator {
	scope := s.scope(PatientScope)
	strategy := s.word("strategy", strategyNames[consistent], strategyNames[:]...)
	s.likes, s.strategy, s.patients = true, strategyNames[strategy], s.patients || s.scoped && strategy != random
	return func(options *Options) Operator {
		o := &surrogates{scope: scope, strategy: strategy}
		o.writer = surrogate.NewWriter(o)
		if options.Names != nil {
			o.writer.Use(options.Names)
		}
		return o
	}
}

// Strategies for repeating surrogates.
const (
	consistent = iota
	random
	markov
)

var strategyNames = [...]string{"consistent", "random", "markov"}

type surrogates struct {
	scope    Scope
	strategy int
	writer   *surrogate.Writer

	note      *Note
	originals []byte // folded words of the values of the note
	owner     Scope  // of the stream that the current mention draws from
	same      bool   // its surrogate hangs on its value
	standIn   uint64 // otherwise on this
	stretch   []byte // and on this
	key       []byte
	mentions  []mention
	words     []byte // folded, of mentions
	places    []byte // of the note, one a line
}

// mention counts how often a value has occurred in the note so far. For the strategy markov, stretch is the number of
// the run of mentions with one surrogate.
type mention struct {
	start, end int32 // in words
	times      uint32
	stretch    uint32
}

func (s *surrogates) begin(n *Note) {
	s.note = n
	s.originals, s.mentions, s.words, s.places = append(s.originals[:0], n.Avoid...), s.mentions[:0], s.words[:0], s.places[:0]
	for _, span := range n.Spans {
		s.originals = appendTelling(s.originals, n.Text[span.Start:span.End])
		if s.strategy == markov && span.Category.Kind() == pipeline.PlaceKind {
			s.places = append(append(s.places, n.Text[span.Start:span.End]...), '\n')
		}
	}
	s.writer.Catalan = n.Language == pipeline.Catalan
	if len(s.places) > 0 {
		s.writer.Begin(s.places)
	}
	s.writer.Accents = surrogate.HasAccents(n.Text)
	if !s.writer.Accents && len(n.Text) < silent && n.stream != nil {
		s.writer.Accents = n.Draw(NoteScope, "surrogate accents", nil).IntN(2) == 0
	}
}

// appendTelling appends the words of a value that its surrogate must not contain. María and José are left out of longer
// names: half of all pairs of given names have one of them, so if no surrogate repeated them, a pair that does would
// nearly always be an original.
func appendTelling(dst, value []byte) []byte {
	start := len(dst)
	dst = appendWords(dst, value)
	if bytes.Count(dst[start:], []byte{' '}) < 2 {
		return dst
	}
	for _, w := range [...]string{"maria ", "jose "} {
		if at := bytes.Index(dst[start:], []byte(w)); at == 0 || at > 0 && dst[start+at-1] == ' ' {
			dst = append(dst[:start+at], dst[start+at+len(w):]...)
		}
	}
	return dst
}

// silent is how long a note without accents must be before that says something.
const silent = 160

// Replace implements Operator.
func (s *surrogates) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	s.stretch = s.stretch[:0]
	switch {
	case s.strategy == consistent:
		s.owner, s.same = s.scope, true
	case s.strategy == random:
		s.owner, s.same, s.standIn = NoteScope, false, uint64(v.Span)
	case v.Category.Kind() == pipeline.PlaceKind:
		s.owner, s.same = s.ownerOf(v), false
		s.standIn = s.choose([]byte("places")) // those of a note go together
	default:
		s.standIn = 0
		if s.owner, s.same = s.fate(v); !s.same {
			s.stretch = append(s.stretch, s.walk(v)...)
		}
	}
	return s.write(dst, v)
}

// Percentages of names that have the same surrogate wherever they stand; each other name gets a new surrogate in every
// note. sameOfPatient is of patients' names. Of the names of staff, sameOfHouse have one surrogate in all notes of the
// institution, and staffOfOne more have one in the notes of a patient. A name that was missed stands in the output either
// in many notes or in one, and nobody knows which is commoner. As about half of the surrogates repeat and half do not, a
// name that repeats, or one that does not, is a missed name at most twice as often as any name.
const (
	sameOfPatient = 50
	sameOfHouse   = 35
	staffOfOne    = 25
)

// fate decides by the last word of a value whether it has one surrogate at all places, and in which scope that
// surrogate is drawn.
func (s *surrogates) fate(v Value) (owner Scope, same bool) {
	start := len(s.words)
	s.words = appendWords(s.words, v.Words)
	last := bytes.TrimRight(s.words[start:], " ")
	last = last[bytes.LastIndexByte(last, ' ')+1:]
	s.words = s.words[:start]
	limit := sameOfPatient
	if owner = s.ownerOf(v); owner != s.scope {
		if s.note.Draw(owner, "surrogate fate", last).IntN(100) < sameOfHouse {
			return owner, true
		}
		limit = staffOfOne * 100 / (100 - sameOfHouse)
	}
	if s.note.Draw(s.scope, "surrogate fate", last).IntN(100) < limit {
		return s.scope, true
	}
	return NoteScope, false
}

// run returns the text of the places that stand side by side with span k, hardly a
// sign between two of them.
func (s *surrogates) run(k int) []byte {
	spans := s.note.Spans
	beside := func(i int) bool { // span i and the one before
		return spans[i].Category.Kind() == pipeline.PlaceKind && spans[i-1].Category.Kind() == pipeline.PlaceKind &&
			len(bytes.Trim(s.note.Text[spans[i-1].End:spans[i].Start], " ,;()-/\n")) == 0
	}
	first, last := k, k
	for first > 0 && beside(first) {
		first--
	}
	for last+1 < len(spans) && beside(last+1) {
		last++
	}
	return s.note.Text[spans[first].Start:spans[last].End]
}

// ownerOf returns the scope in which surrogates of a value are drawn: the patient for patients and relatives, the whole
// archive for staff and places.
func (s *surrogates) ownerOf(v Value) Scope {
	if s.scope == PatientScope && (v.Category.Kind() == pipeline.PlaceKind || s.isStaff(v)) {
		return ArchiveScope
	}
	return s.scope
}

// isStaff tells whether a name is that of somebody who works there: by its
// category, or by the title before it.
func (s *surrogates) isStaff(v Value) bool {
	if v.Category.Kind() != pipeline.NameKind {
		return false
	}
	if name := v.Category.String(); name == "NOMBRE_PERSONAL_SANITARIO" || name == "DOCTOR" {
		return true
	}
	return StaffBefore(s.note.Text[:s.note.Spans[v.Span].Start])
}

// StaffBefore reports whether a text ends with a title of staff, such as Dra.
func StaffBefore(text []byte) bool {
	text = bytes.TrimRight(text, " .:")
	if at := bytes.LastIndexAny(text, " \n\t(,;:/-"); at >= 0 {
		text = text[at+1:]
	}
	if len(text) > longestTitle {
		return false
	}
	var folded [2 * longestTitle]byte
	return staffTitles[string(gazetteer.Fold(folded[:0], text))]
}

const longestTitle = 12

// staffTitles stand before the names of those who work there, folded.
var staffTitles = locale.Words("staff title")

// steep sets how fast the frequency of home towns falls: the first stands in a fifth of the notes, and half of the
// notes have one beyond the tenth. With 0.8 the first stood in two of five notes, and a tagger trained on such notes
// found a ninth fewer of the places in notes of other hospitals.
const steep = 0.3

// choose draws the number of the home town of a note: k or higher with probability (k+1)^-steep. However many notes
// there are, some homes stand in many of them, and about half of all homes in one or two.
func (s *surrogates) choose(what []byte) uint64 {
	u := s.note.Draw(NoteScope, "surrogate choice", what).Float64()
	return uint64(min(math.Pow(u, -1/steep), 1<<40))
}

// walk counts a mention of a value and returns the key of its surrogate: the words of the value and the number of its
// stretch. Values of which one contains all words of the other, Ana García and García, are counted together.
func (s *surrogates) walk(v Value) []byte {
	start := len(s.words)
	s.words = appendWords(s.words, v.Words)
	words := s.words[start:]
	at := -1
	for i := range s.mentions {
		m := &s.mentions[i]
		if have := s.words[m.start:m.end]; within(words, have) || within(have, words) {
			s.words = s.words[:start]
			at = i
			break
		}
	}
	if at < 0 {
		at = len(s.mentions)
		s.mentions = append(s.mentions, mention{int32(start), int32(len(s.words)), 0, 0})
	} else {
		s.step(&s.mentions[at])
	}
	m := &s.mentions[at]
	s.key = binary.LittleEndian.AppendUint32(s.key[:0], m.stretch)
	s.key = append(s.key, s.words[m.start:m.end]...)
	return s.key
}

// step counts a mention and begins a new stretch with probability one half.
func (s *surrogates) step(m *mention) {
	m.times++
	s.key = binary.LittleEndian.AppendUint32(s.key[:0], m.times)
	s.key = append(s.key, s.words[m.start:m.end]...)
	if s.note.Draw(NoteScope, "surrogate stretch", s.key).IntN(2) == 0 {
		m.stretch++
	}
}

// Draw implements surrogate.Source.
func (s *surrogates) Draw(what string, nth int, part []byte, attempt int) *rand.Rand {
	s.key = append(s.key[:0], byte(attempt))
	if !s.same {
		s.key = binary.LittleEndian.AppendUint64(append(s.key, byte(nth)), s.standIn)
		if len(s.stretch) > 0 || slices.Contains(together, what) {
			part = s.stretch
		}
	}
	s.key = append(append(append(s.key, what...), 0), part...)
	return s.note.Draw(s.owner, "surrogate", s.key)
}

// together are draws that are the same for all places of a note, whatever they are called.
var together = strings.Fields("home hospital postal")

// Avoid implements surrogate.Source: no word of the note's own values.
func (s *surrogates) Avoid(word []byte) bool {
	for original := range bytes.SplitSeq(s.originals, []byte{' '}) {
		if bytes.EqualFold(original, word) {
			return true
		}
	}
	return false
}

// write appends a surrogate for a value: one of the kind of its category, but
// for some categories.
func (s *surrogates) write(dst []byte, v Value) ([]byte, bool) {
	name := v.Category.String()
	switch kind := v.Category.Kind(); {
	case slices.Contains(noText, name):
		return dst, false
	case slices.Contains(digitsOnly, name) || kind == pipeline.IDKind:
		return s.writer.Number(dst, v.Words)
	case kind == pipeline.NameKind:
		return s.writer.Person(dst, v.Words)
	case kind == pipeline.PlaceKind:
		return s.writer.PlaceIn(dst, v.Words, s.run(v.Span))
	case kind == pipeline.ContactKind:
		return s.writer.Contact(dst, v.Words)
	case kind == pipeline.ProfessionKind:
		return s.writer.Profession(dst, v.Words)
	}
	return dst, false
}

// Categories without realistic surrogates of their own: contacts that consist of digits, and categories that are no
// text (photo, fingerprint).
var (
	digitsOnly = strings.Fields("TELEPHONE PHONE FAX NUMERO_TELEFONO NUMERO_FAX USERNAME")
	noText     = strings.Fields("PHOTO BIOMETRIC BIOID IDENTF_BIOMETRICOS")
)
