package synth

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// maker makes one note at a time; its buffers are used again for every note.
type maker struct {
	o       *Options
	grammar [numLanguages]grammar
	flows   []*flow
	rules   [numLanguages]commonRules
	lexicon *lexicon
	rng     rand.PCG

	// the note at work
	patientID uint64
	center    uint64
	day       int32
	language  pipeline.Language
	at        int // language of the clause at work
	words     int
	clauses   []uint64 // hashes
	planned   [4]private
	style     style
	registers [numRegisters]int32 // names said before in this note, plus one; 0 is none
	date      [3]int32            // day, month, year of the date at work
	text      []byte              // clean text
	spans     []pipeline.Span     // in text

	// the finished note
	id   []byte
	out  []byte          // text with all that people do to it
	gold []pipeline.Span // in out
}

func newMaker(o *Options) *maker {
	m := &maker{o: o, lexicon: lexicons[o.Split]()}
	for l := range numLanguages {
		m.grammar[l] = grammars[l][o.Split]()
		m.rules[l] = findCommon(m.grammar[l])
	}
	flows, err := loadFlows(m.grammar)
	if err != nil {
		panic("synth: " + err.Error()) // an embedded file; a test loads it
	}
	m.flows = flows
	return m
}

// seed starts the random numbers for one subject, such as a note or a patient.
func (m *maker) seed(stream, i uint64) {
	m.rng.Seed(mix(m.o.Seed^stream), mix(i+stream))
}

// mix is a step of SplitMix64: close inputs give unrelated outputs.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// below returns a number in [0, n).
func (m *maker) below(n int) int {
	hi, _ := bits.Mul64(m.rng.Uint64(), uint64(n))
	return int(hi)
}

// pick returns one of the texts between bars.
func (m *maker) pick(texts string) string {
	all := strings.Split(texts, "|")
	return all[m.below(len(all))]
}

// between returns a number in [lo, hi].
func (m *maker) between(lo, hi int) int { return lo + m.below(hi-lo+1) }

// chance is true with probability p.
func (m *maker) chance(p float64) bool {
	return float64(m.rng.Uint64()>>11) < p*(1<<53)
}

// Separate streams of random numbers, so that the name of a patient does not depend on the note.
const (
	noteStream    = 0x6E6F7465
	patientStream = 0x70617469
)

const (
	notesAPatient = 9   // on average
	patients      = 500 // whose notes are mixed; the next patients come after their notes
	centers       = 40
)

// length is percentile k of 64 of the number of words a note, of a log-normal law with
// median 12 and σ 0.97: its mean is 18.9 (BOOT table B.1 has 18.7 to 20.4 a
// month), one note in twelve has more than 45 words.
func length(k int) int {
	return int(math.Round(12 * math.Exp(0.97*math.Sqrt2*math.Erfinv(float64(2*k+1)/64-1))))
}

// overshoot is by how many words the last clause exceeds the wanted length of a note, on average. The wanted length is
// lowered by as much.
const overshoot = 2

// make makes note i of the archive.
func (m *maker) make(i uint64) {
	m.seed(noteStream, i)
	m.text, m.spans = m.text[:0], m.spans[:0]
	m.registers = [numRegisters]int32{}
	m.patientID = i/(patients*notesAPatient)*patients + uint64(m.below(patients))
	m.center = uint64(m.below(centers))
	m.day = firstDay + int32(m.below(days))
	m.identify(i)
	m.chooseLanguage()
	if m.chance(m.o.Reports) {
		m.style = reportStyle(m)
		m.expand(m.rules[m.at].report)
	} else {
		m.style = noteStyle(m)
		m.short()
	}
	m.roughen()
}

// identify writes the three numbers of BOOT appendix B: centre, patient, note.
func (m *maker) identify(i uint64) {
	m.id = fmt.Appendf(m.id[:0], "%d|%d|%d", m.center+1, m.patientID+1, i+1)
}

func (m *maker) chooseLanguage() {
	total := m.o.Spanish + m.o.Catalan + m.o.Mixed
	x := float64(m.rng.Uint64()>>11) / (1 << 53) * total
	switch {
	case x < m.o.Spanish:
		m.language, m.at = pipeline.Spanish, spanish
	case x < m.o.Spanish+m.o.Catalan:
		m.language, m.at = pipeline.Catalan, catalan
	default:
		m.language, m.at = pipeline.MixedLanguage, m.below(numLanguages)
	}
}

// short writes a note of clauses: those of a flow, with clauses that hold
// personal information and clauses that only seem to in between.
func (m *maker) short() {
	target := length(m.below(64)) - overshoot
	private := m.plan()
	f := m.flows[m.below(len(m.flows))]
	step := 0
	m.words, m.clauses = 0, m.clauses[:0]
	for {
		left := target - m.words
		switch {
		case len(private) > 0 && (left <= 0 || m.below(left/8+2) == 0):
			m.clause(m.rules[m.turn()].private[private[0]])
			private = private[1:]
		case left <= 0 && m.words > 0:
			return
		case m.chance(hardShare):
			m.clause(m.hardRule())
		default:
			if step >= len(f.steps) { // the course is over, another matter comes up
				f, step = m.flows[m.below(len(m.flows))], 0
			}
			m.clause(f.next(m, &step))
		}
	}
}

// turn chooses the language of the next clause.
func (m *maker) turn() int {
	if m.language == pipeline.MixedLanguage && m.below(5) < 2 {
		m.at = 1 - m.at
	}
	return m.at
}

// clause appends one of the rule's alternatives to the note. It tries three times to find one that the note does not
// have yet.
func (m *maker) clause(r *rule) {
	m.separate()
	start, spans := len(m.text), len(m.spans)
	for range 3 {
		m.text, m.spans = m.text[:start], m.spans[:spans]
		m.expand(r)
		if m.fresh(m.text[start:]) {
			break
		}
	}
	m.words++
	for _, c := range m.text[start:] {
		if c == ' ' || c == '\n' {
			m.words++
		}
	}
}

// fresh reports whether the note has no such clause yet, and remembers the clause.
func (m *maker) fresh(clause []byte) bool {
	h := xxh3.Hash(clause)
	if slices.Contains(m.clauses, h) {
		return false
	}
	m.clauses = append(m.clauses, h)
	return true
}

func (m *maker) separate() {
	if len(m.text) == 0 {
		return
	}
	for len(m.text) > 0 && m.text[len(m.text)-1] == ' ' {
		m.text = m.text[:len(m.text)-1]
	}
	separator := m.pick(separators[m.style.separator])
	if last := m.text[len(m.text)-1]; last == '.' || last == '?' || last == ':' || last == '!' {
		separator = " "
	}
	m.text = append(m.text, separator...)
}

// separators between the clauses of a note: a note keeps to one habit.
var separators = []string{
	". ", ". ", ". ", ". |. |, ", ", ", ", |. ", " ", " |. ", "; |. ", "\n", "\n|. ", " - |. ", "/ |, ", ".\n", "..|. ",
}

// private is a kind of clause that holds personal information.
type private uint8

const (
	person private = iota
	institution
	place
	address
	telephone
	email
	identity
	security
	card
	numPrivate
)

var privateRules = [numPrivate]string{
	"phi.person", "phi.institution", "phi.place", "phi.address", "phi.telephone", "phi.email", "phi.dni", "phi.nass", "phi.cip",
}

// Weights of the kinds of private clauses. They give the densities of BOOT
// appendix B at Density 1 (TestDensities): PERSON 0.28 % and LOCATION 1.12 % of the
// tokens, under 0.01 % for each of the others. The others grow with the square
// of Density, since a tagger must see them too.
var privateShare = [numPrivate]int{245, 330, 285, 12, 3, 6, 5, 4, 5}

const (
	privateNotes = 0.094 // notes with personal information at Density 1: ATN says under 9 % and finds 13 %
	moreShare    = 0.34  // private clauses that are followed by another one
	hardShare    = 0.10  // clauses full of words that only look private
)

// plan chooses the private clauses of a note.
func (m *maker) plan() []private {
	planned := m.planned[:0]
	if !m.chance(min(privateNotes*m.o.Density, 0.95)) {
		return planned
	}
	for more := true; more && len(planned) < len(m.planned); more = m.chance(moreShare) {
		planned = append(planned, m.kind())
	}
	return planned
}

func (m *maker) kind() private {
	var total int
	for k, share := range privateShare {
		total += m.boosted(private(k), share)
	}
	x := m.below(total)
	for k, share := range privateShare {
		if x -= m.boosted(private(k), share); x < 0 {
			return private(k)
		}
	}
	return person
}

func (m *maker) boosted(k private, share int) int {
	if k < telephone {
		return share
	}
	return int(float64(share) * max(m.o.Density, 1))
}

// hardRule chooses among sentences with eponyms, drugs, numbers and the like,
// and those that speak of places without naming them.
func (m *maker) hardRule() *rule {
	r := &m.rules[m.turn()]
	switch m.below(8) {
	case 0:
		return r.notInstitution
	case 1:
		return r.notPlace
	}
	return r.hard
}

// commonRules are the rules of a grammar that the maker itself names.
type commonRules struct {
	private [numPrivate]*rule
	hard    *rule
	report  *rule

	notInstitution, notPlace *rule // sentences of the private rules with nobody's places
	madeLast, madeTown       *rule // names that stand in no list
	month, shortMonth        *rule // of which the twelve alternatives are taken by number
	mailHost                 *rule
}

func findCommon(g grammar) (c commonRules) {
	for k, name := range privateRules {
		c.private[k] = g[name]
	}
	c.hard, c.report = g["hard"], g["report"]
	c.notInstitution, c.notPlace = g["not.institution"], g["not.place"]
	c.madeLast, c.madeTown, c.mailHost = g["made.last"], g["made.town"], g["mail.host"]
	c.month, c.shortMonth = g["month.name"], g["month.short"]
	return c
}

// flow is the usual course of a kind of note: a list of rules.
type flow struct{ steps []flowStep }

type flowStep struct {
	rules            [numLanguages]*rule
	optional, repeat bool
}

// loadFlows reads templates/flows.txt: "weight name: rule rule? rule+ ...". A
// rule with ? is left out half of the time, one with + may come several times.
func loadFlows(g [numLanguages]grammar) (flows []*flow, err error) {
	text, err := templates.ReadFile("templates/flows.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		head, steps, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || head[0] == '#' {
			continue
		}
		weight, err := strconv.Atoi(strings.Fields(head)[0])
		if err != nil {
			return nil, fmt.Errorf("flows.txt: %q has no weight", head)
		}
		f := &flow{}
		for name := range strings.FieldsSeq(steps) {
			bare := strings.TrimRight(name, "?+")
			s := flowStep{optional: strings.Contains(name, "?"), repeat: strings.Contains(name, "+")}
			for l := range numLanguages {
				if s.rules[l] = g[l][bare]; s.rules[l] == nil {
					return nil, fmt.Errorf("flows.txt: no rule %q in %s", bare, languageNames[l])
				}
			}
			f.steps = append(f.steps, s)
		}
		for range weight {
			flows = append(flows, f)
		}
	}
	return flows, nil
}

// next returns the rule of the next clause.
func (f *flow) next(m *maker, step *int) *rule {
	for tries := 0; ; tries++ {
		s := &f.steps[*step%len(f.steps)]
		if !s.repeat || m.below(2) == 0 {
			*step++
		}
		if !s.optional || tries >= len(f.steps) || m.below(2) == 0 {
			return s.rules[m.turn()]
		}
	}
}
