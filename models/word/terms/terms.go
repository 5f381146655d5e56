// Package terms finds clinical terms in notes: doses, drugs, values of laboratory tests and vital signs, symptoms,
// diagnoses, anatomy, procedures.
//
//	in:  tokens of a note
//	out: terms: runs of tokens of a kind
//
// It has two users. The inverse model does not mask a number in a dose or value (INV §4.3.3 has no safe numbers at all,
// and doses and values are what its expert missed most, §5.2.4). `velum prove usefulness` counts the terms that survive
// masking.
//
// Kinds of words are lists of folded forms (models/word/locale); doses and values are small grammars over them. A
// one-word drug is also recognized by its ending, since international nonproprietary names have fixed stems.
package terms

import (
	"bytes"
	"errors"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// Kind is the kind of a term.
type Kind uint8

// The kinds of terms.
const (
	None      Kind = iota
	Dose           // 500 mg, 1-0-1, c/8h
	Drug           // paracetamol
	Lab            // Hb 12,3 g/dl; TA 120/80; FC 80 lpm
	Symptom        // disnea
	Diagnosis      // neumonía
	Anatomy        // rodilla
	Procedure      // colonoscopia
	Duration       // 3 días, 2 semanas: no age
	numKinds
)

var kindNames = [numKinds]string{"", "dose", "drug", "lab", "symptom", "diagnosis", "anatomy", "procedure", "duration"}

// String returns the name used in reports.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns how many kinds there are, None included.
func Kinds() int { return int(numKinds) }

// A Term is a run of tokens of one kind.
type Term struct {
	First, Last int32 // tokens, half open
	Kind        Kind
}

// role is a set of the roles that a word may have in a dose or a value; words have several.
type role uint16

const (
	drug role = 1 << iota
	symptom
	diagnosis
	anatomy
	procedure
	doseUnit // mg, comprimido
	labUnit  // mmHg, %
	labWord  // Hb, TA: what a value is of
	timeUnit // horas, días
	every    // cada, c
	filler   // de, es, en: between a lab word and its value
	number
	small // a number of one digit up to 2, or 1/2
)

var roleNames = map[string]role{
	"drug": drug, "symptom": symptom, "diagnosis": diagnosis, "anatomy": anatomy, "procedure": procedure,
	"dose-unit": doseUnit, "lab-unit": labUnit, "lab": labWord, "time-unit": timeUnit, "every": every, "filler": filler,
}

// words maps folded forms to their roles, and stems are endings of international nonproprietary names (WHO's list of
// stems) that no other word in notes has.
var (
	words = map[string]role{}
	stems [][]byte
)

func init() {
	locale.Read("terms", func(_ pipeline.Language, section, forms []string) error {
		as, known := roleNames[section[0]]
		for _, form := range forms {
			switch folded := gazetteer.Fold(nil, []byte(form)); {
			case section[0] == "stem":
				stems = append(stems, folded)
			case !known:
				return errors.New("there is no such role")
			default:
				words[string(folded)] |= as
			}
		}
		return nil
	})
}

// longestStemmed is the shortest form whose stem is believed: abril ends in no
// stem, pril alone is none, and names of four letters end in many.
const leastStemmed = 7

func stemmed(folded []byte) bool {
	if len(folded) < leastStemmed {
		return false
	}
	for _, s := range stems {
		if bytes.HasSuffix(folded, s) {
			return true
		}
	}
	return false
}

// A Finder finds the terms in notes, one note at a time. It has scratch space and must be used by one goroutine. Lists
// may be nil.
type Finder struct {
	Lists *gazetteer.Gazetteer // whose drugs are drugs

	roles []role
	fold  []byte
}

// Find appends the terms of a note to dst, in order and disjoint. In steady
// state it allocates nothing.
func (f *Finder) Find(dst []Term, text []byte, tokens []pipeline.Token) []Term {
	f.roles = f.roles[:0]
	for _, t := range tokens {
		f.roles = append(f.roles, f.role(text[t.Start:t.End]))
	}
	for i := 0; i < len(tokens); {
		k, last := f.at(text, tokens, i)
		if k == None {
			i++
			continue
		}
		dst = append(dst, Term{First: int32(i), Last: int32(last), Kind: k})
		i = last
	}
	return dst
}

func (f *Finder) role(form []byte) role {
	if c := form[0]; c >= '0' && c <= '9' {
		if len(form) == 1 && c <= '2' {
			return number | small
		}
		return number
	}
	if form[0] == '%' {
		return labUnit
	}
	if len(form) > maxForm {
		return 0
	}
	f.fold = gazetteer.Fold(f.fold[:0], form)
	r := words[string(f.fold)]
	if r&drug == 0 && (stemmed(f.fold) || f.Lists != nil && f.Lists.Classes(form)&gazetteer.Drug != 0) {
		r |= drug
	}
	return r
}

// maxForm is more bytes than any word of the lists has.
const maxForm = 64

// at returns the term that begins at token i, and its end.
func (f *Finder) at(text []byte, tokens []pipeline.Token, i int) (Kind, int) {
	s := scan{f.roles, text, tokens}
	if last := s.value(i); last > i {
		return Lab, last
	}
	if k, last := s.amount(i); last > i {
		return k, last
	}
	if last := s.every(i); last > i {
		return Dose, last
	}
	for _, one := range [...]struct {
		role role
		kind Kind
	}{{drug, Drug}, {diagnosis, Diagnosis}, {symptom, Symptom}, {procedure, Procedure}, {anatomy, Anatomy}} {
		if f.roles[i]&one.role != 0 {
			return one.kind, i + 1
		}
	}
	return None, i
}

// scan is a note with the roles of its words.
type scan struct {
	roles  []role
	text   []byte
	tokens []pipeline.Token
}

func (s *scan) is(i int, r role) bool {
	return i < len(s.roles) && s.roles[i]&r != 0
}

// sign tells whether token i is one of the characters, within a line.
func (s *scan) sign(i int, of string) bool {
	if i >= len(s.tokens) || s.tokens[i].Flags&pipeline.LineStart != 0 {
		return false
	}
	t := s.tokens[i]
	return t.End-t.Start == 1 && strings.IndexByte(of, s.text[t.Start]) >= 0
}

func (s *scan) inLine(i int) bool {
	return i < len(s.tokens) && s.tokens[i].Flags&pipeline.LineStart == 0
}

// figures returns the end of numbers that belong together: 120/80, 5-10, 1,5.
func (s *scan) figures(i int) int {
	if !s.is(i, number) {
		return i
	}
	for i++; s.sign(i, "/-,.xX*") && s.is(i+1, number) && s.inLine(i+1); i += 2 {
	}
	return i
}

// units returns the end of units of a kind: mg/kg/día, g/dl.
func (s *scan) units(i int, of role) int {
	if !s.is(i, of) || !s.inLine(i) {
		return i
	}
	for i++; s.sign(i, "/") && s.is(i+1, doseUnit|labUnit|timeUnit) && s.inLine(i+1); i += 2 {
		if s.is(i+2, number) && s.tokens[i+2].Flags&pipeline.Glued != 0 { // kg/m2
			i++
		}
	}
	return i
}

// value returns the end of a value that begins with what it is of: TA 120/80,
// Hb: 12,3 g/dl. A date behind it is none.
func (s *scan) value(i int) int {
	if !s.is(i, labWord) {
		return i
	}
	k := i + 1
	for n := 0; n < 3 && s.inLine(k) && (s.sign(k, ":=<>~(.") || s.is(k, filler)); n++ {
		k++
	}
	last := s.figures(k)
	if last == k || !s.inLine(k) || s.dated(k, last) {
		return i
	}
	return max(last, s.units(last, labUnit|doseUnit))
}

// dated tells whether the figures look like a date or a long number: three of
// them, or more than five digits.
func (s *scan) dated(from, last int) bool {
	figures := 0
	for k := from; k < last; k++ {
		if s.is(k, number) {
			figures++
			if s.tokens[k].End-s.tokens[k].Start > 6 {
				return true
			}
		}
	}
	return figures > 2
}

// amount returns the end of figures with a unit, of small figures that say
// when a drug is taken, and what they are.
func (s *scan) amount(i int) (Kind, int) {
	last := s.figures(i)
	if last == i {
		return None, i
	}
	if s.intake(i, last) {
		return Dose, last
	}
	if s.dated(i, last) {
		return None, i
	}
	if end := s.units(last, doseUnit); end > last {
		return Dose, end
	}
	if end := s.units(last, labUnit); end > last {
		return Lab, end
	}
	if s.is(last, timeUnit) && s.inLine(last) {
		return Duration, last + 1
	}
	return None, i
}

// intake tells whether figures are those of morning, noon and night: 1-0-1.
func (s *scan) intake(i, last int) bool {
	if last-i < 5 {
		return false
	}
	for k := i; k < last; k++ {
		if (k-i)%2 == 0 && !s.is(k, small) || (k-i)%2 == 1 && !s.sign(k, "-") {
			return false
		}
	}
	return true
}

// every returns the end of how often: cada 8 horas, c/8h.
func (s *scan) every(i int) int {
	if !s.is(i, every) {
		return i
	}
	k := i + 1
	if s.sign(k, "/") {
		k++
	}
	if s.is(k, number) && s.is(k+1, timeUnit) && s.inLine(k) && s.inLine(k+1) {
		return k + 2
	}
	return i
}
