package inverse

import (
	"cmp"
	"maps"
	"slices"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Vain counts harmless words that were masked: words outside of gold spans or, without gold, words of a safe list. It
// must be used by one goroutine.
type Vain struct {
	Words      int64 // tokens with a letter or a digit
	Masked     int64 // of these, number masked
	All        int64 // number masked although safe
	ByList     [numLists]int64
	ByCategory map[pipeline.Category]int64

	rules *Rules
	lists []List
	forms map[string]int64
}

// NewVain returns empty counts that use the rules with these lists of words and names.
func NewVain(lists, names *gazetteer.Gazetteer) *Vain {
	return &Vain{rules: newRules(lists, names, nil), ByCategory: map[pipeline.Category]int64{}, forms: map[string]int64{}}
}

// Add counts the words of a note. gold is nil if the note has no gold annotation, and empty if it is annotated and has
// no spans.
func (v *Vain) Add(text []byte, tokens []pipeline.Token, spans, gold []pipeline.Span) {
	v.lists = v.rules.judge(v.lists[:0], text, tokens)
	marked := gold != nil
	s := 0
	for k, t := range tokens {
		if v.lists[k] == Punctuation {
			continue
		}
		v.Words++
		for s < len(spans) && spans[s].End <= t.Start {
			s++
		}
		for len(gold) > 0 && gold[0].End <= t.Start {
			gold = gold[1:]
		}
		if s == len(spans) || spans[s].Start >= t.End {
			continue
		}
		v.Masked++
		personal := len(gold) > 0 && gold[0].Start < t.End
		if personal || !marked && !v.lists[k].safe() {
			continue
		}
		v.All++
		v.ByList[v.lists[k]]++
		v.ByCategory[spans[s].Category]++
		if l := v.lists[k]; l.safe() && l != Dose && l != LabValue && l != Time {
			v.forms[string(gazetteer.Fold(nil, text[t.Start:t.End]))]++
		}
	}
}

// Form is a form of a safe list, and how often it was masked.
type Form struct {
	Form  string
	Words int64
}

// Forms returns the n most frequent forms. Only forms of safe lists are kept, since others may be names.
func (v *Vain) Forms(n int) []Form {
	var all []Form
	for _, form := range slices.Sorted(maps.Keys(v.forms)) {
		all = append(all, Form{form, v.forms[form]})
	}
	slices.SortStableFunc(all, func(a, b Form) int { return cmp.Compare(b.Words, a.Words) })
	return all[:min(n, len(all))]
}
