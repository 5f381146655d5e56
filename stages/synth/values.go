package synth

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// numRegisters is the number of names that a note can repeat.
const numRegisters = 8

// newValue returns what {@name args} writes.
func newValue(call []string) (func(m *maker), error) {
	if len(call) == 0 {
		return nil, errors.New("value without a name")
	}
	name := call[0]
	args := make([]int, 0, 3)
	for _, a := range call[1:] {
		n, err := strconv.Atoi(a)
		if err != nil {
			return nil, fmt.Errorf("@%s: %q is not a number", name, a)
		}
		args = append(args, n)
	}
	if make, ok := values[name]; ok && len(args) == make.args {
		return make.of(args), nil
	}
	if pool, ok := poolNames[name]; ok && len(args) == 0 {
		return func(m *maker) { m.name(pool) }, nil
	}
	if pool, ok := poolNames[name]; ok && len(args) == 1 && args[0] > 0 && args[0] < numRegisters {
		return func(m *maker) { m.sameName(pool, args[0]) }, nil
	}
	return nil, fmt.Errorf("no value @%s with %d numbers", name, len(args))
}

type valueMaker struct {
	args int
	of   func(args []int) func(m *maker)
}

// plain is a value without arguments.
func plain(do func(m *maker)) valueMaker {
	return valueMaker{0, func([]int) func(*maker) { return do }}
}

// dated is a part of a date, day, month or year, in so many digits; a new date, or the one at work.
func dated(part, width int, anew bool) valueMaker {
	return plain(func(m *maker) {
		if anew {
			m.newDate()
		}
		m.padded(int(m.date[part]), width)
	})
}

var values = map[string]valueMaker{
	// @int LO HI
	"int": {2, func(a []int) func(*maker) { return func(m *maker) { m.number(m.between(a[0], a[1])) } }},
	// @dec LO HI PLACES: @dec 35 99 1 is 3.5 to 9.9
	"dec": {3, func(a []int) func(*maker) { return func(m *maker) { m.decimal(m.between(a[0], a[1]), a[2]) } }},
	// @digits N
	"digits": {1, func(a []int) func(*maker) { return func(m *maker) { m.digits(a[0]) } }},
	// @caps N: capital letters, like one more abbreviation
	"caps": {1, func(a []int) func(*maker) { return func(m *maker) { m.capitals(a[0]) } }},
	// @two LO HI: with a leading zero
	"two":   {2, func(a []int) func(*maker) { return func(m *maker) { m.padded(m.between(a[0], a[1]), 2) } }},
	"day":   dated(0, 1, true),
	"dd":    dated(0, 2, true),
	"day0":  dated(0, 1, false), // of the date at work
	"dd0":   dated(0, 2, false),
	"m":     dated(1, 1, false),
	"mm":    dated(1, 2, false),
	"yyyy":  dated(2, 4, false),
	"yy":    plain(func(m *maker) { m.padded(int(m.date[2])%100, 2) }),
	"month": plain(func(m *maker) { m.write(m.rules[m.at].month.alternatives[m.date[1]-1]) }),
	"mon":   plain(func(m *maker) { m.write(m.rules[m.at].shortMonth.alternatives[m.date[1]-1]) }),
	"date":  plain(func(m *maker) { m.newDate() }), // writes nothing
	"birth": plain(func(m *maker) { m.newDate(); m.date[2] -= int32(m.between(0, 90)) }),
	"upper": plain(func(m *maker) { m.capitals(1) }),
	"dni":   plain((*maker).dni),
	"nie":   plain((*maker).nie),
	"nass":  plain((*maker).nass),
	"cip":   plain((*maker).cip),
	"email": plain((*maker).email),
	// as HVH for Hospital Vall d'Hebron
	"acronym": plain((*maker).acronym),
}

func (m *maker) put(c ...byte) { m.text = append(m.text, c...) }

func (m *maker) number(n int) { m.text = strconv.AppendInt(m.text, int64(n), 10) }

func (m *maker) padded(n, width int) {
	for limit := 10; width > 1; width-- {
		if n < limit {
			m.put('0')
		}
		limit *= 10
	}
	m.number(n)
}

func (m *maker) decimal(n, places int) {
	scale := 1
	for range places {
		scale *= 10
	}
	m.number(n / scale)
	m.put(m.style.point)
	m.padded(n%scale, places)
}

func (m *maker) digits(n int) {
	for range n {
		m.put('0' + byte(m.below(10)))
	}
}

func (m *maker) capitals(n int) {
	for range n {
		m.put('A' + byte(m.below(26)))
	}
}

// newDate chooses a date near the note's own.
func (m *maker) newDate() {
	year := 1970 + int32(float64(m.day)/365.2425)
	switch x := m.below(10); {
	case x < 6:
	case x < 8:
		year -= 1
	default:
		year -= int32(m.below(15))
	}
	m.date = [3]int32{int32(m.between(1, 28)), int32(m.between(1, 12)), year}
	if m.chance(0.05) && m.date[1] != 2 {
		m.date[0] = 30
	}
}

// wrong is the share of identifiers that get a wrong check digit, because people misread and mistype.
const wrong = 0.15

const checkLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

// dni writes eight digits and a letter, in the ways that people write them.
func (m *maker) dni() {
	n := m.between(1_000_000, 79_999_999)
	letter := m.checkLetter(n)
	way := m.below(6)
	if way == 0 {
		m.number(n / 1_000_000)
		m.put('.')
		m.padded(n/1000%1000, 3)
		m.put('.')
		m.padded(n%1000, 3)
	} else {
		m.padded(n, 8)
	}
	switch way {
	case 0, 1:
		m.put('-')
	case 2:
		m.put(' ')
	case 3:
		letter |= 0x20
	}
	m.put(letter)
}

func (m *maker) checkLetter(n int) byte {
	if m.chance(wrong) {
		return checkLetters[m.below(len(checkLetters))]
	}
	return checkLetters[n%23]
}

func (m *maker) nie() {
	first, n := m.below(3), m.below(10_000_000)
	dash := m.pick("||-| ")
	m.put("XYZ"[first])
	m.text = append(m.text, dash...)
	m.padded(n, 7)
	m.text = append(m.text, dash...)
	m.put(m.checkLetter(first*10_000_000 + n))
}

// nass writes province, number and check of a social security number.
func (m *maker) nass() {
	province, n := []int{8, 8, 8, 17, 25, 43, 28, 41, 46}[m.below(9)], m.below(100_000_000)
	check := (province*100_000_000 + n) % 97
	if n < 10_000_000 {
		check = (province*10_000_000 + n) % 97
	}
	if m.chance(wrong) {
		check = m.below(97)
	}
	sep := m.pick("||/| |-")
	m.padded(province, 2)
	m.text = append(m.text, sep...)
	m.padded(n, 8)
	m.text = append(m.text, sep...)
	m.padded(check, 2)
}

// cip writes the number of a Catalan health card: two letters of each surname,
// sex, birth date, three digits.
func (m *maker) cip() {
	var buf [64]byte
	for range 2 {
		name := gazetteer.Fold(buf[:0], []byte(m.lexicon.draw(m, lastName)))
		for i := range 2 {
			m.put(name[i] &^ 0x20)
		}
	}
	blank := m.below(4) == 0
	if blank {
		m.put(' ')
	}
	m.number(m.below(2))
	m.padded(m.between(20, 99), 2)
	m.padded(m.between(1, 12), 2)
	m.padded(m.between(1, 28), 2)
	if blank {
		m.put(' ')
	}
	m.digits(3)
}

func (m *maker) email() {
	var buf [96]byte
	folded := func(name string) []byte { return gazetteer.Fold(buf[:0], []byte(name)) }
	first := m.lexicon.draw(m, firstName)
	last := m.lexicon.draw(m, lastName)
	switch m.below(4) {
	case 0:
		m.put(plainLetters(folded(first))...)
		m.put('.')
		m.put(plainLetters(folded(last))...)
	case 1:
		m.put(folded(first)[0])
		m.put(plainLetters(folded(last))...)
	case 2:
		m.put(plainLetters(folded(first))...)
		m.put("_-."[m.below(3)])
		m.number(m.between(1, 99))
	default:
		m.put(plainLetters(folded(last))...)
		m.number(m.between(1950, 2005))
	}
	m.put('@')
	m.expand(m.rules[m.at].mailHost)
}

// plainLetters removes everything but the letters a to z, for use in an e-mail address.
func plainLetters(b []byte) []byte {
	return slices.DeleteFunc(b, func(c byte) bool { return c < 'a' || c > 'z' })
}

// name writes an entry of the pool; places often in short.
func (m *maker) name(p pool) {
	name := m.lexicon.draw(m, p)
	if p >= townName && p <= streetName && m.below(3) == 0 {
		m.shortened(name)
		return
	}
	m.literal(name)
}

// shortened writes the name of a place with Sant, Santa or San abbreviated.
func (m *maker) shortened(name string) {
	for _, entry := range saints {
		word, short, _ := strings.Cut(entry, "|")
		if rest, ok := strings.CutPrefix(name, word); ok {
			m.literal(m.pick(short))
			m.literal(rest)
			return
		}
	}
	m.literal(name)
}

// saints are words, and behind each what people write for it.
var saints = []string{
	"Sant |St |St. |S. |S |st. ", "Santa |Sta |Sta. |S. |sta ", "San |S. |S |Sn ", "Hospital |H |H. |Hosp. |hosp ",
	"Mare de Déu |M. D. |MD |Mare Déu ", "Virgen |V. |Vg. |Virg. ", "Clínica |Cl. |Clín. |cl ",
}

// acronym writes H and the initials of a centre's name.
func (m *maker) acronym() {
	for {
		name := m.lexicon.draw(m, centreName)
		start := len(m.text)
		m.put('H')
		if m.below(3) == 0 {
			m.put('U')
		}
		for i := range len(name) {
			if isLetter(name[i]) && name[i]&0x20 == 0 && (i == 0 || !isLetter(name[i-1])) {
				m.put(name[i])
			}
		}
		if len(m.text)-start >= 3 && nameSplit(string(m.text[start:])) == m.lexicon.split {
			return
		}
		m.text = m.text[:start]
	}
}

// sameName writes the name that register r holds, or a new one. Register 1 is
// the patient's first name, 2 the first and 3 the second surname: they are the
// same in all notes of the patient.
func (m *maker) sameName(p pool, r int) {
	names := m.lexicon.pools[p]
	if m.registers[r] == 0 {
		note := m.rng
		if r <= 3 {
			m.seed(patientStream+uint64(r), m.patientID)
		}
		m.registers[r] = 1 + int32(m.below(len(names)))
		if r <= 3 {
			m.rng = note
		}
	}
	m.literal(names[(int(m.registers[r])-1)%len(names)])
}

// protected tells the categories whose characters are not misspelt: they are
// numbers and addresses, not words.
func protected(c pipeline.Category) bool {
	return strings.HasSuffix(c.String(), "_ID") || c == categoryEmail || c == categoryDNI || c == categoryTelephone
}
