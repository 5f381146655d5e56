// Package morphtrain learns the tables of package morph from treebanks: of each form, and of
// each ending of rare forms, the most frequent part of speech and the rule that makes its lemma.
//
//	in:  sentences in CoNLL-U
//	out: a *morph.Model, and how often it is right
package morphtrain

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/morph"
)

// Options of training.
type Options struct {
	Name string
	// Scores go into the header.
	Scores map[string]float64
}

// rare is the highest count of the forms from which endings are learned, because unknown forms resemble rare ones (TnT,
// Brants 2000, §2.3, takes 10). least is the least number of forms with an ending.
const (
	rare  = 10
	least = 2
)

// trainer counts.
type trainer struct {
	tags  numbers[string]
	rules numbers[morph.Rule]
	forms map[string]map[analysed]int
}

type analysed struct {
	tag  int
	rule int
}

// numbers gives every value a number.
type numbers[T comparable] struct {
	of  map[T]int
	all []T
}

func (n *numbers[T]) number(v T) int {
	i, ok := n.of[v]
	if !ok {
		if n.of == nil {
			n.of = map[T]int{}
		}
		i = len(n.all)
		n.of[v], n.all = i, append(n.all, v)
	}
	return i
}

// Train learns a model from the sentences of treebanks.
func Train(sentences [][]Word, o Options) (*morph.Model, error) {
	t := &trainer{forms: map[string]map[analysed]int{}}
	h := morph.Header{Kind: morph.Kind, Name: o.Name, Scores: o.Scores}
	for _, s := range sentences {
		for i, w := range s {
			t.count(w, i == 0)
			h.Tokens++
		}
	}
	if h.Tokens == 0 {
		return nil, errors.New("no words to learn from")
	}
	if len(t.tags.all) > 256 {
		return nil, errors.New("more than 256 parts of speech")
	}
	entries := map[uint64]uint32{}
	h.Forms = t.lexicon(entries)
	t.endings(entries)
	h.Tags, h.Rules = t.tags.all, t.rules.all
	return build(h, entries)
}

// count adds an occurrence. The first word of a sentence has its capital from
// its place, unless it is a name.
func (t *trainer) count(w Word, first bool) {
	if first && w.POS != "PROPN" && morph.ShapeOf([]byte(w.Form)) == morph.ShapeFirst {
		w.Form = lowerOf(w.Form)
	}
	a := analysed{t.tags.number(w.POS), t.rules.number(ruleFor(w.Form, w.Lemma))}
	if t.forms[w.Form] == nil {
		t.forms[w.Form] = map[analysed]int{}
	}
	t.forms[w.Form][a]++
}

func lowerOf(s string) string { return string(morph.AppendLower(nil, []byte(s))) }

// ruleFor is the rule that makes the lemma of the form.
func ruleFor(form, lemma string) morph.Rule {
	r := morph.Rule{Keep: lemma != lowerOf(lemma)}
	if !r.Keep {
		form = lowerOf(form)
	}
	same := 0
	for same < len(form) && same < len(lemma) && form[same] == lemma[same] {
		same++
	}
	for same > 0 && (same < len(form) && !utf8.RuneStart(form[same]) || same < len(lemma) && !utf8.RuneStart(lemma[same])) {
		same--
	}
	r.Cut, r.Add = utf8.RuneCountInString(form[same:]), lemma[same:]
	return r
}

// most returns the key with the greatest count, of equal ones the least key.
func most[K comparable](counts map[K]int, compare func(a, b K) int) K {
	var best K
	n := 0
	for k, c := range counts {
		if c > n || c == n && compare(k, best) < 0 {
			best, n = k, c
		}
	}
	return best
}

// best is the most frequent tag of a form, and the most frequent rule with it.
func best(counts map[analysed]int) analysed {
	tags, rules := map[int]int{}, map[int]int{}
	for a, n := range counts {
		tags[a.tag] += n
	}
	tag := most(tags, cmp.Compare)
	for a, n := range counts {
		if a.tag == tag {
			rules[a.rule] += n
		}
	}
	return analysed{tag, most(rules, cmp.Compare)}
}

// lexicon enters the forms. One whose lower case is entered with the same
// answer is left out.
func (t *trainer) lexicon(entries map[uint64]uint32) (forms int) {
	for form, counts := range t.forms {
		a := best(counts)
		if low := lowerOf(form); low != form && t.forms[low] != nil && best(t.forms[low]) == a {
			continue
		}
		entries[morph.FormKey([]byte(form))] = uint32(a.tag) | uint32(a.rule)<<8
		forms++
	}
	return forms
}

// endings enters, for every shape, the tag of the endings of rare forms, and
// for every tag the rule of the endings of all forms.
func (t *trainer) endings(entries map[uint64]uint32) {
	var tags, rules suffixes
	for form, counts := range t.forms {
		lower, shape := []byte(lowerOf(form)), morph.ShapeOf([]byte(form))
		total := 0
		for _, n := range counts {
			total += n
		}
		for a, n := range counts {
			if total <= rare {
				tags.add(shape, lower, a.tag, n)
			}
			rules.add(byte(a.tag), lower, a.rule, 1)
		}
	}
	tags.enter(entries, morph.SeedTag, func(tag int) uint32 { return uint32(tag) })
	rules.enter(entries, morph.SeedEnding, func(rule int) uint32 { return uint32(rule) << 8 })
}

// suffixes counts answers by ending.
type suffixes map[suffix]map[int]int

type suffix struct {
	under byte
	end   string
}

func (s *suffixes) add(under byte, lower []byte, answer, n int) {
	if *s == nil {
		*s = suffixes{}
	}
	for size := 0; size <= morph.MaxEnding; size++ {
		end := morph.Ending(lower, size)
		if utf8.RuneCount(end) < size {
			return
		}
		k := suffix{under, string(end)}
		if (*s)[k] == nil {
			(*s)[k] = map[int]int{}
		}
		(*s)[k][answer] += n
	}
}

// enter adds the endings whose answer differs from that of the next shorter ending added; so the longest known ending
// is the right one.
func (s suffixes) enter(entries map[uint64]uint32, seed uint64, value func(answer int) uint32) {
	type decided struct {
		suffix
		answer int
	}
	answers := map[suffix]int{}
	keys := slices.SortedFunc(maps.Keys(s), func(a, b suffix) int {
		return cmp.Or(utf8.RuneCountInString(a.end)-utf8.RuneCountInString(b.end), cmp.Compare(a.under, b.under), cmp.Compare(a.end, b.end))
	})
	for _, k := range keys {
		total := 0
		for _, n := range s[k] {
			total += n
		}
		d := decided{k, most(s[k], cmp.Compare)}
		if k.end == "" {
			answers[k] = d.answer
			entries[morph.EndingKey(seed, k.under, nil)] = value(d.answer)
			continue
		}
		_, first := utf8.DecodeRuneInString(k.end)
		shorter := answers[suffix{k.under, k.end[first:]}]
		if total < least || d.answer == shorter {
			answers[k] = shorter
			continue
		}
		answers[k] = d.answer
		entries[morph.EndingKey(seed, k.under, []byte(k.end))] = value(d.answer)
	}
}

// build lays the table out and opens it.
func build(h morph.Header, entries map[uint64]uint32) (*morph.Model, error) {
	bits := uint(1)
	for len(entries)>>2 > 1<<bits {
		bits++
	}
	bucket := make([]uint32, 1<<bits+1)
	low, value := make([]uint32, 0, len(entries)), make([]uint32, 0, len(entries))
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		bucket[key>>(64-bits)+1]++
		low, value = append(low, uint32(key)), append(value, entries[key])
	}
	for i := 1; i < len(bucket); i++ {
		bucket[i] += bucket[i-1]
	}
	var b bytes.Buffer
	err := modelfile.Write(&b, h,
		modelfile.Section{Name: "bucket", Data: modelfile.Bytes(bucket)},
		modelfile.Section{Name: "key", Data: modelfile.Bytes(low)},
		modelfile.Section{Name: "value", Data: modelfile.Bytes(value)},
	)
	if err != nil {
		return nil, err
	}
	return morph.Open(b.Bytes())
}

// Accuracy counts the tokens and those with the right part of speech and lemma.
type Accuracy struct {
	Tokens, POS, Lemma int
}

func (a *Accuracy) add(pos, lemma bool) {
	a.Tokens++
	if pos {
		a.POS++
	}
	if lemma {
		a.Lemma++
	}
}

// score measures the accuracy of the model on a treebank: for known forms, as written or in lower case, and for the
// others.
func score(m *morph.Model, sentences [][]Word) (known, unknown Accuracy) {
	var pos, lemma []byte
	for _, s := range sentences {
		for _, w := range s {
			form := []byte(w.Form)
			pos, lemma = m.AppendPOS(pos[:0], form), m.AppendLemma(lemma[:0], form)
			a := &unknown
			if m.Knows(form) {
				a = &known
			}
			a.add(string(pos) == w.POS, string(lemma) == w.Lemma)
		}
	}
	return known, unknown
}

// foldBlock is how many sentences in a row go into the same fold: some pages,
// so that a document is in one or two.
const foldBlock = 50

// Folds runs a k-fold cross-validation by blocks of sentences, and returns the accuracy on known and on unknown forms.
func Folds(sentences [][]Word, k int, o Options) (known, unknown Accuracy, err error) {
	block := max(1, min(foldBlock, len(sentences)/k))
	for fold := range k {
		var train, test [][]Word
		for i, s := range sentences {
			if i/block%k == fold {
				test = append(test, s)
			} else {
				train = append(train, s)
			}
		}
		if len(train) == 0 || len(test) == 0 {
			continue
		}
		m, err := Train(train, o)
		if err != nil {
			return known, unknown, err
		}
		a, b := score(m, test)
		known.merge(a)
		unknown.merge(b)
	}
	return known, unknown, nil
}

func (a *Accuracy) merge(b Accuracy) {
	a.Tokens, a.POS, a.Lemma = a.Tokens+b.Tokens, a.POS+b.POS, a.Lemma+b.Lemma
}
