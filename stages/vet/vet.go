// Package vet looks at what names a note: its id, the file and the folder that it comes
// from. Those stand in the public tree as they are, and many a hospital names its files
// after its patients. In: ID. Out: the Reason IdentifyingID.
//
// The words of a name have no sentence around them, so that no tagger is asked. The
// patterns say whether it holds an identifier with its check digits, an e-mail address or a
// telephone number, and the lists whether a given name stands beside a surname. Ids that are
// made by machines (counters, hashes, UUIDs) must pass: a form counts only where it stands
// apart from other letters and digits, and a run of digits alone never does by itself, since one
// in a hundred of all counters has the check digits of some number. [Column] asks a whole
// column instead.
package vet

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// What an id may hold.
const (
	Identifier = "an identifier with check digits"
	Email      = "an e-mail address"
	Telephone  = "a telephone number"
	Person     = "a person's name"
)

// Vetter looks at ids, one at a time.
type Vetter struct {
	patterns *patterns.Matcher
	lists    [2]*gazetteer.Gazetteer
	text     []byte
	found    []pipeline.Match
	words    []pipeline.Token // of the part of the path at hand
}

// NewVetter returns a Vetter.
func NewVetter() *Vetter {
	var wanted []pipeline.Category
	for _, label := range []string{"TELEPHONE", "EMAIL", "DNI", "SOCIAL_SECURITY_ID", "SANITARY_CARD_ID", "IBAN"} {
		c, err := pipeline.ParseCategory(label)
		if err != nil {
			panic(err) // the label is a constant
		}
		wanted = append(wanted, c)
	}
	return &Vetter{patterns: patterns.New(patterns.Options{Categories: wanted}), lists: [2]*gazetteer.Gazetteer{gazetteer.Default(), gazetteer.Names()}}
}

// New returns the stage. A note whose id says who somebody is goes to quarantine.
func New(workers int) pipeline.Step {
	return pipeline.Step{Name: "vet", Workers: workers, New: func() func(*pipeline.Batch) error {
		v := NewVetter()
		return func(b *pipeline.Batch) error {
			for i := range b.Len() {
				if b.Reason[i] == pipeline.Sound && v.Holds(b.ID.At(i)) != "" {
					b.Quarantine(i, pipeline.IdentifyingID)
				}
			}
			return nil
		}
	}}
}

// Holds says what an id, or the path of a file, holds; "" is nothing that says who somebody is.
func (v *Vetter) Holds(id []byte) string {
	for part := range bytes.FieldsFuncSeq(id, func(r rune) bool { return r == '/' || r == '|' }) {
		if what := v.part(part); what != "" {
			return what
		}
	}
	return ""
}

// part looks at a part of a path, or of an id of several columns.
func (v *Vetter) part(id []byte) string {
	if plain(id) || isUUID(id) {
		return ""
	}
	v.text = append(v.text[:0], id...)
	digits := 0
	for i, c := range id {
		if c == '_' && !(digitAt(id, i-1) && digitAt(id, i+1)) { // between words
			v.text[i] = ' '
		}
		digits += one(digitAt(id, i))
	}
	if digits >= leastDigits || bytes.IndexByte(id, '@') >= 0 {
		v.found = v.patterns.Find(v.found[:0], v.text)
		for _, m := range v.found {
			if what := v.counts(m); what != "" {
				return what
			}
		}
	}
	if v.cut(); len(v.words) > 1 && v.named() {
		return Person
	}
	return ""
}

// leastDigits is how many digits the shortest identifier has.
const leastDigits = 6

func digitAt(id []byte, i int) bool { return i >= 0 && i < len(id) && id[i] >= '0' && id[i] <= '9' }

// plain tells whether an id is a counter, with a letter before it or none, or no word at all.
func plain(id []byte) bool {
	if len(id) > 0 && isLetter(rune(id[0])) {
		id = id[1:]
	}
	return !slices.ContainsFunc(id, func(c byte) bool { return c < '0' || c > '9' })
}

// isUUID tells whether an id is 8-4-4-4-12 hexadecimal digits.
func isUUID(id []byte) bool {
	if len(id) < 36 || len(id) > 36 && id[36] != '.' { // with the extension of a file, or without
		return false
	}
	for i, c := range id[:36] {
		hex := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// counts says what a match is, if no counter, hash or code is as likely.
func (v *Vetter) counts(m pipeline.Match) string {
	before, _ := utf8.DecodeLastRune(v.text[:m.Start])
	after, _ := utf8.DecodeRune(v.text[m.End:])
	value := v.text[m.Start:m.End]
	letters, digits := 0, 0
	for _, c := range value {
		letters += one(isLetter(rune(c)))
		digits += one(c >= '0' && c <= '9')
	}
	apart := !isLetter(before) && !isLetter(after) && !unicode.IsDigit(before) && !unicode.IsDigit(after)
	switch label := m.Category.String(); {
	case label == "EMAIL":
		if bytes.IndexByte(value, '@') > 0 {
			return Email
		}
	case label == "TELEPHONE":
		groups := bytes.Count(value, []byte(" ")) // 612 345 678, or +34 before it
		if apart && (before == '+' || value[0] == '+' || groups >= 2) && digits >= 9 {
			return Telephone
		}
	case label == "SANITARY_CARD_ID":
		if apart && letters >= 4 && digits >= 6 {
			return Identifier
		}
	case !apart || !m.Checked:
	case label == "DNI":
		first := value[0] // the numbers of companies begin with other letters
		if isLetter(rune(value[len(value)-1])) && digits >= 7 && (letters == 1 && digits == 8 || bytes.IndexByte([]byte("XYZxyz"), first) >= 0) {
			return Identifier
		}
	case label == "IBAN":
		if isLetter(rune(value[0])) {
			return Identifier
		}
	case len(value) == 14 && !digitAt(value, 2) && !digitAt(value, 11):
		return Identifier // of social security, as 28/12345678/40
	}
	return ""
}

// Column says what a whole column of ids holds: that of one id that says who somebody is, and
// of runs of digits, of which a few have the form of a number by chance, what nearly all of
// them are.
func (v *Vetter) Column(ids [][]byte) string {
	var telephones, insured, numbers int
	rising := true
	for i, id := range ids {
		if what := v.Holds(id); what != "" {
			return what
		}
		if rising = rising && (i == 0 || bytes.Compare(ids[i-1], id) < 0); !plain(id) {
			continue
		}
		numbers++
		v.found = v.patterns.Find(v.found[:0], id)
		for _, m := range v.found {
			if int(m.End-m.Start) == len(id) {
				telephones += one(m.Category.String() == "TELEPHONE")
				insured += one(m.Category.String() == "SOCIAL_SECURITY_ID" && m.Checked)
			}
		}
	}
	most := max(5, numbers*9/10)
	switch {
	case insured >= most:
		return Identifier
	case telephones >= most && !rising:
		return Telephone
	}
	return ""
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) // utf8.RuneError is none
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
