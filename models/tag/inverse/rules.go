package inverse

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/models/word/terms"
	"github.com/velum-health/velum/pipeline"
)

// List is the list that decides a token, or the reason why none does.
type List uint8

// The lists. Unsafe lists take precedence over safe ones (INV §4.3.3).
const (
	Unlisted    List = iota // in no list: not known to be safe
	Punctuation             // neither letter nor digit: what stands around it decides

	Place
	Name
	Weekday
	Month
	Holiday
	Street
	NumberWord // written out
	Digits     // outside a safe context
	Domain     // a top-level domain behind a dot
	Initial    // a single capital
	Capital    // a common word with a capital within a sentence: Paz, Govern

	StopWord
	CommonWord
	Drug
	Medical
	Dose     // digits and units of a dose
	LabValue // digits and units of a value of the laboratory or a sign
	Time     // digits and units of a duration
	Clinical // a word of models/word/terms: symptom, diagnosis, anatomy, procedure, unit
	numLists
)

var listNames = [numLists]string{
	"unlisted", "punctuation", "place", "name", "weekday", "month", "holiday", "street", "number-word", "digits", "domain", "initial", "capital",
	"stop-word", "common-word", "drug", "medical", "dose", "lab-value", "duration", "clinical",
}

// String returns the name used in the configuration and in reports.
func (l List) String() string { return listNames[l] }

// safe reports whether a token of the list is safe by the rules alone.
func (l List) safe() bool { return l >= StopWord }

// never is the set of lists whose tokens are masked at the strict end whatever their probability (INV §4.3.5, the third
// case).
var never = [...]List{Weekday, Month, Holiday, Street, NumberWord}

// NeverNames returns the lists that Params.Never may name.
func NeverNames() (names []string) {
	for _, l := range never {
		names = append(names, l.String())
	}
	return names
}

// Rules is the rule part of the inverse model: it assigns each token to a list (INV §4.3.3). It has scratch space and
// must be used by one goroutine.
//
// Places match as ordered phrases, all other lists word by word. Unsafe lists take precedence with one exception: a
// lower-case word that the lists or the archive have as a common word is no name and no street, because many surnames
// are also words (delgado, calvo) and Spanish names are capitalized.
type Rules struct {
	lists, names *gazetteer.Gazetteer
	words        *Words // may be nil
	finder       terms.Finder
	found        []terms.Term
}

// newRules returns the rules over the lists of words, names from all over the
// world, and the common words of an archive; nil for none.
func newRules(lists, names *gazetteer.Gazetteer, words *Words) *Rules {
	return &Rules{lists: lists, names: names, words: words, finder: terms.Finder{Lists: lists}}
}

// judge appends the list of each token to dst. In steady state it allocates
// nothing.
func (r *Rules) judge(dst []List, text []byte, tokens []pipeline.Token) []List {
	first := len(dst)
	for i, t := range tokens {
		dst = append(dst, r.word(text, tokens, i, text[t.Start:t.End]))
	}
	judged := dst[first:]
	r.found = r.finder.Find(r.found[:0], text, tokens)
	for _, term := range r.found {
		in, ok := contexts[term.Kind]
		for i := term.First; ok && i < term.Last; i++ {
			if judged[i].safe() || judged[i] == Digits || judged[i] == Unlisted || judged[i] == Initial {
				judged[i] = in
			}
		}
	}
	r.places(judged, text, tokens)
	return dst
}

// contexts lists the kinds of terms whose tokens are safe.
var contexts = map[terms.Kind]List{
	terms.Dose: Dose, terms.Lab: LabValue, terms.Duration: Time, terms.Drug: Drug,
	terms.Symptom: Clinical, terms.Diagnosis: Clinical, terms.Anatomy: Clinical, terms.Procedure: Clinical,
}

// places marks the tokens of places of several words.
func (r *Rules) places(judged []List, text []byte, tokens []pipeline.Token) {
	for i := 0; i < len(tokens); i++ {
		form := text[tokens[i].Start:tokens[i].End]
		if r.lists.Begins(form) == 0 {
			continue
		}
		p := r.lists.PhraseAt(text, tokens, i)
		if p.Class&(gazetteer.Place|gazetteer.Centre) == 0 || !capital(form) && r.common(form) {
			continue
		}
		for k := p.First; k < p.Last; k++ {
			if judged[k] != Punctuation {
				judged[k] = Place
			}
		}
		i = int(p.Last) - 1
	}
}

// common tells whether a form is a common word of the shipped lists or of the
// archive.
func (r *Rules) common(form []byte) bool {
	return r.lists.Classes(form)&gazetteer.CommonWord != 0 || r.words.Common(form)
}

const (
	unsafePlaces = gazetteer.Place | gazetteer.Centre
	names        = gazetteer.GivenName | gazetteer.Surname
)

// word returns the list of a token by itself.
func (r *Rules) word(text []byte, tokens []pipeline.Token, i int, form []byte) List {
	letters, digits := madeOf(form)
	if !letters && !digits {
		return Punctuation
	}
	if digits {
		return Digits
	}
	if utf8.RuneCount(form) == 1 && capital(form) {
		return Initial
	}
	if i > 0 && tokens[i].Flags&pipeline.Glued != 0 && text[tokens[i-1].Start] == '.' && domains[string(form)] {
		return Domain
	}
	c := r.lists.Classes(form)
	if l := r.never(form, c); l != Unlisted {
		return l
	}
	small := !capital(form)
	common := c&gazetteer.CommonWord != 0 || r.words.Common(form)
	if !small || !common {
		switch {
		case c&unsafePlaces != 0:
			return Place
		case (c|r.names.Classes(form))&names != 0 && c&(gazetteer.Drug|gazetteer.MedicalTerm) == 0:
			return Name
		}
	}
	switch {
	case common && !small && tokens[i].Flags&pipeline.SentenceStart == 0:
		return Capital
	case c&gazetteer.CommonWord != 0:
		return StopWord
	case c&gazetteer.Drug != 0:
		return Drug
	case c&(gazetteer.MedicalTerm|gazetteer.Title) != 0:
		return Medical
	case r.words.Common(form):
		return CommonWord
	}
	return Unlisted
}

// never returns the list of never that a word is in.
func (r *Rules) never(form []byte, c gazetteer.Class) List {
	switch {
	case c&gazetteer.Month != 0:
		return Month
	case c&gazetteer.Weekday != 0:
		return Weekday
	case c&gazetteer.Holiday != 0:
		return Holiday
	case c&gazetteer.StreetType != 0 && (capital(form) || c&gazetteer.CommonWord == 0 && !r.words.Common(form)):
		return Street
	}
	var room [maxNumber]byte
	if len(form) < maxNumber && numbers[string(gazetteer.Fold(room[:0], form))] {
		return NumberWord
	}
	return Unlisted
}

func capital(form []byte) bool {
	r, _ := utf8.DecodeRune(form)
	return unicode.IsUpper(r)
}

func madeOf(form []byte) (letters, digits bool) {
	for i := 0; i < len(form); {
		r, n := rune(form[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(form[i:])
		}
		letters = letters || unicode.IsLetter(r)
		digits = digits || unicode.IsDigit(r)
		i += n
	}
	return letters, digits
}

const maxNumber = 20 // bytes; more than any written-out number has

// numbers holds written-out numbers, domains top-level domains, and housesNamed words with which the name of an
// institution begins.
var (
	numbers     = locale.Words("number")
	domains     = locale.Words("domain")
	housesNamed = locale.Words("house")
)

const maxHouse = 16 // bytes; more than any of them has

// isHouse reports whether a form is a word for a kind of institution, in any case.
func isHouse(form []byte) bool {
	var room [maxHouse]byte
	return len(form) < maxHouse && housesNamed[string(gazetteer.Fold(room[:0], form))]
}
