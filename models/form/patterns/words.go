package patterns

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// role is a fact that a word states about the number beside it. A word may have
// several.
type role uint64

const (
	filler role = 1 << iota // says nothing, may stand between a label and its number

	// Labels: the number behind them is of a kind.
	forTelephone
	forDNI
	forSocial
	forSocialAbroad // with letters among the digits
	forCard
	forPostal
	forIBAN
	forPlate
	forCollegiate
	forRecord
	forPatient // with forRecord: the label has no other meaning
	everyday   // with a label: it is a common word as well
	forPassport
	forIP
	forDevice // IMEI, serial number, cadastral reference
	forHandle // name of an account: "instagram"
	forDate   // "fecha", "nacido"
	forAge    // "edad"

	// Words of dates, for recognizing the ages beside them. Dates themselves are read by models/form/dates.
	monthOf  // between day, month and year: "de", "del", "of"
	intoDate // before a date: "el", "desde", "on"
	joins    // between two days, months, years: "y", "al", "to"
	lately   // before a day or month: "pasado", "próximo"

	// Ages.
	years
	months
	weeks
	days
	person  // "varón", "paciente"
	numeral // a written-out number, value 0-100
	lasts   // before a duration: "hace", "durante", "evolución"
	lasted  // behind a duration: "evolución", "después"
	ageOf   // between years and "edad", or person and age: "de", "con"
	aged    // behind an age: "edad", "old", "vida"
	oldWord // English "old"
	half    // "medio"
	ofOld   // with years: of the old only, "primaveras"
	century // "siglo"
	turns   // "cumple", "ronda los"
	grows   // what a child does at an age: "camina", "vacunas"

	// Others.
	street
	town
	unit // what a quantity is measured in
	extension

	// Single words that a rule asks for.
	acronym   // of a test or unit
	numbering // número, number
	of        // de, of
	ofThe     // del
	upTo      // between the ends of a range: "a", "hasta"
	fromAge   // before "los" and an age: "desde"
	theAges   // los, els
	atAges    // als, dels
	with      // con, amb
	be        // es, is
	mine      // mi
)

// labels are the roles that make a number an identifier.
const labels = forTelephone | forDNI | forSocial | forSocialAbroad | forCard | forPostal | forIBAN | forPlate |
	forCollegiate | forRecord | forPassport | forIP | forDevice | forHandle | forDate | forAge

// roleNames are the roles as the sections of the topic name them, in their order.
const roleNames = `filler telephone dni social socialAbroad card postal iban plate collegiate record patient everyday passport ip device
	handle date age monthOf intoDate joins lately years months weeks days person numeral lasts lasted ageOf aged
	old half ofOld century turns grows street town unit extension acronym numbering of ofThe upTo fromAge theAges atAges with be mine`

// meaning holds the roles of a word and the number that it names.
type meaning struct {
	roles  role
	number uint8 // of a numeral
}

// has tells whether the word has one of the roles.
func (e *meaning) has(some role) bool { return e.roles&some != 0 }

// unknown is the meaning of a word that is not in the lexicon.
var unknown meaning

var (
	lexicon cut.Lexicon[meaning]
	opens   cut.Prefixes // of the numerals: the scanner stops at these words
)

func init() {
	locale.Read("patterns", func(_ pipeline.Language, section, words []string) error {
		roles := rolesOf(section)
		if roles == 0 {
			return errors.New("there is no such role")
		}
		number, err := strconv.Atoi(words[0])
		if err == nil {
			words = words[1:]
		}
		for _, w := range words {
			m := lexicon.Add(w)
			m.roles |= roles
			if err == nil {
				m.number = uint8(number)
			}
			if roles&numeral != 0 && len(w) > 1 {
				opens.Add(w)
			}
		}
		return nil
	})
}

// rolesOf reads the names of roles; 0 if there is no such role.
func rolesOf(names []string) (roles role) {
	for _, name := range names {
		i := slices.Index(strings.Fields(roleNames), name)
		if i < 0 {
			return 0
		}
		roles |= 1 << i
	}
	return roles
}

// read is a word that was read, from a place on or up to it: around one number
// the same word is asked for by several patterns.
type read struct {
	place int // and one more: 0 is none
	other int // its other border
	*meaning
}

// wordFrom returns the end and the meaning of the word at i.
func (s *scan) wordFrom(i int) (end int, e *meaning) {
	if s.from.place != i+1 {
		end, plain := s.WordEnd(i)
		s.from = read{i + 1, end, s.meaningOf(i, end, plain)}
	}
	return s.from.other, s.from.meaning
}

// wordUpTo returns the start and the meaning of the word that ends at i.
func (s *scan) wordUpTo(i int) (start int, e *meaning) {
	if s.back.place != i+1 {
		start, plain := s.WordStart(i)
		s.back = read{i + 1, start, s.meaningOf(start, i, plain)}
	}
	return s.back.other, s.back.meaning
}

// meaningOf returns what the word Text[i:j] means.
func (s *scan) meaningOf(i, j int, plain bool) *meaning {
	if e := lexicon.Word(s.Text, i, j, plain); e != nil {
		return e
	}
	return &unknown
}

// context returns the label that the number at i stands behind, over fillers
// and punctuation, within its line: at most six words and 64 bytes.
func (s *scan) context(i int) role {
	floor := max(i-64, 0)
	for range 6 {
		p := s.punctuationBefore(i, floor)
		start, e := s.wordUpTo(p)
		if e.has(labels) {
			return e.roles
		}
		if !e.has(filler) || start == p {
			return 0
		}
		i = start
	}
	return 0
}

// beforeValue holds the signs that may stand between a label and its number.
var beforeValue = cut.SetOf(" \t.:-()#=/'\",*_[|+>")

// punctuationBefore skips what may stand between a label and its number.
func (s *scan) punctuationBefore(i, floor int) int {
	for i > floor {
		if !beforeValue[s.Text[i-1]] {
			break
		}
		i--
	}
	return i
}
