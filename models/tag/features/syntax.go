package features

import (
	"bytes"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// phraseOf is the kind of phrase that each part of speech of Universal Dependencies belongs to; parts of speech that
// are not listed belong to none. A contraction belongs to that of its first word: del is a preposition, hacerlo a verb.
var phraseOf = map[string]string{
	"DET": "NP", "NUM": "NP", "ADJ": "NP", "NOUN": "NP", "PROPN": "NP", "PRON": "NP",
	"VERB": "VP", "AUX": "VP", "PART": "VP", "ADP": "PP", "ADV": "ADVP", "SCONJ": "SBAR",
}

// chunks marks every token with the base phrase that it begins (B-) or goes on
// with (I-), O outside of one, as CoNLL-2000 has it: a run of parts of speech
// of one phrase, each the most probable of its form. A determiner or pronoun
// begins a new noun phrase behind what is none.
func chunks(e *Extractor, g *group, lo, hi int) {
	if g.slot == nil {
		return
	}
	before, opener := "", false
	for i := lo; i < hi; i++ {
		e.buf = g.slot.Value(e.buf[:0], e.form(i))
		pos, _, _ := bytes.Cut(e.buf, []byte{'+'})
		phrase := phraseOf[string(pos)]
		opens := string(pos) == "DET" || string(pos) == "PRON"
		begins := phrase != before || opens && !opener
		before, opener = phrase, opens
		switch {
		case phrase == "":
			e.buf = append(e.buf[:0], 'O')
		case begins:
			e.buf = append(append(e.buf[:0], "B-"...), phrase...)
		default:
			e.buf = append(append(e.buf[:0], "I-"...), phrase...)
		}
		e.mark(g, i-lo, e.buf, 1)
	}
}

// medicalTerms marks every token of a clinical term with the term's kind, as
// cTAKES marks them for VIGI.
func medicalTerms(e *Extractor, g *group, lo, hi int) {
	if e.term < 0 {
		e.clinical.Lists, _ = e.r.Lexicon.(*gazetteer.Gazetteer)
		e.terms, e.term = e.clinical.Find(e.terms[:0], e.text, e.tokens), 0
	}
	for ; e.term < len(e.terms) && int(e.terms[e.term].Last) <= lo; e.term++ {
	}
	for _, t := range e.terms[e.term:] {
		if int(t.First) >= hi {
			return
		}
		e.buf = append(e.buf[:0], t.Kind.String()...)
		for i := max(int(t.First), lo); i < min(int(t.Last), hi); i++ {
			e.mark(g, i-lo, e.buf, 1)
		}
	}
}
