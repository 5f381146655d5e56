package vet

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// Sets of word classes. A word with a class in ordinary is no evidence of a person, whatever other class it has. A word
// with a class in heads means that names beside it belong to an institution or a street.
const (
	anyName  = gazetteer.GivenName | gazetteer.Surname
	ordinary = gazetteer.CommonWord | gazetteer.Month | gazetteer.Weekday | gazetteer.Holiday | gazetteer.MedicalTerm | gazetteer.Drug | gazetteer.Eponym
	heads    = gazetteer.HospitalHead | gazetteer.StreetType | gazetteer.InstitutionHead | gazetteer.LegalForm
	place    = gazetteer.Municipality | gazetteer.Province | gazetteer.Country
)

// ordinaryWords are words that names of files, folders and columns are made of in hospitals.
// Beside them a word that is also a name says nothing of a person. Each stands there because
// it is a name in some list too, or could be taken for a surname that no list has.
// particles may stand between the words of a name, saints before those of a hospital.
var (
	ordinaryWords = locale.Words("vet ordinary")
	particles     = locale.Words("vet particle")
	saints        = locale.Words("vet saint")
)

// cut finds the words of the text, those that digits touch left out: of letters and digits
// in any order are codes made.
func (v *Vetter) cut() {
	v.words = v.words[:0]
	camel := !bytes.ContainsAny(v.text, "0123456789") // GarciaLopez are two words
	for at := 0; at < len(v.text); {
		r, size := utf8.DecodeRune(v.text[at:])
		first, lower := at, false
		for at < len(v.text) && isLetter(r) && !(camel && lower && unicode.IsUpper(r)) {
			lower = unicode.IsLower(r)
			at += size
			r, size = utf8.DecodeRune(v.text[at:])
		}
		switch {
		case at == first:
			at += size
		case !digitAt(v.text, first-1) && !digitAt(v.text, at):
			v.words = append(v.words, pipeline.Token{Start: int32(first), End: int32(at)})
		}
	}
}

// word holds what the lists know of one word, and so whose name it may stand in.
type word struct {
	classes gazetteer.Class
	known   bool // classes are of the lists that taggers ask, which have few surprises
	plain   bool // an ordinary word
	short   bool
}

func (v *Vetter) wordOf(t pipeline.Token) (w word) {
	form := v.text[t.Start:t.End]
	w.classes = v.lists[0].Classes(form)
	w.known = w.classes&anyName != 0
	w.short = len(form) < 3
	var folded [64]byte
	w.plain = w.classes&ordinary != 0 || w.short || ordinaryWords[string(gazetteer.Fold(folded[:0], form))]
	w.classes |= v.lists[1].Classes(form)
	return w
}

// named tells whether a given name stands beside a surname, or beside words that nobody knows
// and nothing else: many surnames are in no list.
func (v *Vetter) named() bool {
	var before word
	given, unknown, others := false, 0, 0
	for i := 0; i < len(v.words); i++ {
		t := v.words[i]
		form := v.text[t.Start:t.End]
		folded := gazetteer.Fold(nil, form)
		if particles[string(folded)] {
			continue
		}
		if p := v.lists[0].PhraseAt(v.text, v.words, i); p.Class&gazetteer.Centre != 0 {
			return false // a hospital named after somebody
		}
		w := v.wordOf(t)
		switch {
		case w.classes&heads != 0 || saints[string(folded)]:
			return false
		case before.beside(w) || w.beside(before):
			return true
		case !w.plain && w.known && w.classes&gazetteer.GivenName != 0:
			given = true
		case w.plain && (!w.known || len(form) < 4) || w.classes&^(anyName|place|ordinary) != 0:
			others++
		case !w.plain && w.classes&place == 0 && len(form) >= 5:
			unknown++
		}
		before = w
	}
	return given && unknown > 0 && others == 0
}

// beside reports whether two adjacent words are a given name and a surname, or two surnames, with enough certainty that
// it is no coincidence.
func (a word) beside(b word) bool {
	sure := func(w word) bool { return w.known && !w.plain }
	switch {
	case a.short || b.short || b.classes&gazetteer.Surname == 0:
		return false
	case a.classes&gazetteer.GivenName != 0 && sure(a):
		return b.known || !b.plain
	case a.classes&gazetteer.GivenName != 0 && a.known:
		return sure(b)
	}
	return a.classes&gazetteer.Surname != 0 && sure(a) && sure(b)
}
