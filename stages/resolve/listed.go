package resolve

import (
	"bytes"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// findListed proposes names that stand in the lists, with no title before
// them: a given name and a surname, a surname, a comma and a given name, either
// of them with a capitalised word that is none of the language. People come
// from everywhere, and a tagger that learned from few of their names misses
// one in three; the lists have the given names of forty origins.
func (w *worker) findListed() int {
	n := 0
	c := w.labels.person[1]
	if c == pipeline.None || w.Lexicons.Names == nil {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if !w.mayName(k) && !w.mayBeInitial(k) {
			continue
		}
		end := w.listedFrom(k)
		if end == k || w.namesAnother(k, end) {
			continue
		}
		w.propose(w.words[k].start, w.words[end-1].end, c, byRule)
		n++
		k = end - 1
	}
	return n
}

// part is what the lists say of a word that may belong to a name.
type part uint8

const (
	given   part = 1 << iota // a given name and no word of the language
	family                   // a surname and no word of the language
	unknown                  // in no list, with a capital
	shared                   // a name and a word alike
	common                   // a word and no name
)

// recall keeps what the lists said of words: a few thousand make up most of the
// text, and the lists cost a hundred times as much to ask. A slot has the hash
// of a word with its part in the lowest bits; it is exact but for words of one
// hash of 59 bits.
type recall [1 << recallBits]uint64

const (
	recallBits = 16
	partBits   = 1<<5 - 1
)

// listed returns what the lists say of word k: given, family, shared for a
// name that is a word too, common for any other word of the language.
func (w *worker) listed(k int) part {
	x := &w.words[k]
	if x.part == 0 {
		x.fold(w.text)
		x.part = w.recalled(k) | partAsked
		w.keep(x)
	}
	return x.part &^ partAsked
}

// recalled is listed for a word of which the reader knows nothing.
func (w *worker) recalled(k int) part {
	hash := w.words[k].hash
	if w.recall == nil {
		w.recall = new(recall)
	}
	slot := &w.recall[hash*0xD6E8FEB86659FD93>>(64-recallBits)]
	if (*slot^hash)&^partBits == 0 && *slot != 0 {
		return part(*slot & partBits)
	}
	p := w.lookUp(k)
	*slot = hash&^partBits | uint64(p)
	return p
}

// lookUp is listed without a memory.
func (w *worker) lookUp(k int) (p part) {
	isGiven, isSurname, isCommon := w.Lexicons.Names.Name(w.text[w.words[k].start:w.words[k].end])
	switch {
	case isCommon && (isGiven || isSurname):
		return shared
	case isCommon:
		return common
	}
	if isGiven {
		p |= given
	}
	if isSurname {
		p |= family
	}
	if p == 0 && w.shapedAsFamily(k) {
		return family
	}
	return p
}

// partOfName says what word k may be in a name; 0: nothing.
func (w *worker) partOfName(k int) part {
	x := &w.words[k]
	if x.is(digits) || x.end-x.start < 2 || x.class&(title|article|relative|heading|institution|organisation|street|weekday|telephone|fax|person|eponymous) != 0 {
		return 0
	}
	switch p := w.listed(k); {
	case p == common:
		return 0
	case p == 0 && x.is(capital) && x.is(lower):
		return unknown
	default:
		return p
	}
}

// initialOf tells whether word k is an initial with its full stop before a
// surname, or before a particle with a capital and one: Y. El Amrani. One that no
// list has is long and spelled as no Spanish word is, or a unit or a grade would end
// a sentence before it: herpes zoster E. Tto.
func (w *worker) initialOf(k int) bool {
	x, next := &w.words[k], &w.words[k+1]
	if !w.mayBeInitial(k) || utf8.RuneCount(w.text[x.start:x.end]) != 1 || !next.is(capital) || !next.is(lower) || k > 0 && !w.touch(k-1) && !w.behindColon(k) {
		return false
	}
	if gap := w.text[x.end:next.start]; len(gap) > 2 || len(gap) == 2 && gap[1] != ' ' {
		return false
	}
	p := w.partOfName(k + 1)
	return p&family != 0 || w.particleOf(k+1) || p == unknown && k > 0 && w.touch(k-1) && w.words[k-1].shape&(capital|digits) == 0 && next.end-next.start >= shortestUnknown && foreign(w.text[next.start:next.end])
}

// mayBeInitial is a quick no for most words: one letter with a capital, and a full
// stop behind it.
func (w *worker) mayBeInitial(k int) bool {
	x := &w.words[k]
	return x.shape&(capital|digits) == capital && x.end-x.start <= utf8.UTFMax && w.text[x.end] == '.'
}

// foreign tells whether a word is spelled as none of Spanish or Catalan is.
func foreign(word []byte) bool {
	for i, c := range word {
		c |= 0x20
		if c == 'k' || c == 'w' {
			return true
		}
		if i == 0 {
			continue
		}
		switch pair := [2]byte{word[i-1] | 0x20, c}; pair {
		case [2]byte{'g', 'b'}, [2]byte{'g', 'h'}, [2]byte{'d', 'h'}, [2]byte{'m', 'h'}, [2]byte{'b', 'h'}, [2]byte{'z', 'g'}, [2]byte{'z', 'h'}, [2]byte{'s', 'h'},
			[2]byte{'o', 'u'}, [2]byte{'a', 'a'}, [2]byte{'o', 'o'}, [2]byte{'d', 'd'}, [2]byte{'t', 't'}, [2]byte{'b', 'b'}, [2]byte{'z', 'z'}, [2]byte{'f', 'f'}, [2]byte{'p', 'p'}, [2]byte{'m', 'm'}:
			return true
		}
	}
	return false
}

// shortestUnknown is the letters of a name that is in no list.
const shortestUnknown = 5

// behindColon tells whether a colon and a blank stand before word k.
func (w *worker) behindColon(k int) bool {
	return string(w.text[w.words[k-1].end:w.words[k].start]) == ": "
}

// mayName is a quick no for most words: a name has two words of one case, and
// in small letters both of three letters or more, and the second one a surname:
// most words are rare or beside one that is not.
func (w *worker) mayName(k int) bool {
	x, next := &w.words[k], &w.words[k+1]
	if x.is(capital) {
		return x.end-x.start > 1 && (next.is(capital) || next.class&particle != 0)
	}
	return x.class|next.class == 0 && (x.part == 0 || x.part&given != 0) && (next.part == 0 || next.part&family != 0 || next.part == partAsked) &&
		x.end-x.start > 2 && next.end-next.start > 2 && next.start-x.end == 1 && (x.shape|next.shape)&(capital|digits) == 0 && x.end-x.start < 12
}

// listedFrom returns the end of the name that begins at word k, k if none does.
func (w *worker) listedFrom(k int) int {
	if k+1 >= len(w.words) {
		return k
	}
	if w.initialOf(k) {
		if w.partOfName(k+1) == unknown && !w.particleOf(k+1) {
			return k + 2
		}
		return w.nameFrom(k + 1)
	}
	if !w.mayName(k) {
		return k
	}
	if w.particleOf(k) {
		next := w.behindParticle(k)
		if end := w.listedFrom(next); end > next+1 {
			return end // El Amrani, Otman
		}
		return k
	}
	all := w.partOfName(k)
	switch {
	case all == 0, all == unknown && (w.words[k].class&opener != 0 || k == 0 || !w.touch(k-1)) && !w.surnameFirst(k):
		return k // a sentence begins with a capital whatever its first word is
	case !w.words[k].is(capital):
		return w.listedSmall(k, all)
	}
	first, last, end := all, all, k+1
	for j := k + 1; j < min(k+longestName, len(w.words)); j++ {
		x := &w.words[j]
		if x.class&particle != 0 && (!(x.is(capital) && x.is(lower)) || w.particleOf(j)) && w.touches(j-1) {
			if first == shared || x.end-x.start == 1 && last&family == 0 {
				break // y and i join surnames
			}
			continue
		}
		p := w.partOfName(j)
		if !x.is(capital) || p == 0 || !w.touches(j-1) && !(w.commaBehind(j-1) && p&given != 0 && (all&given == 0 || all&family != 0 && j == k+1)) {
			if all&family != 0 && all&(shared|unknown) == 0 && w.endsInGiven(k, j, p) {
				all, end = all|given, j+1
			}
			break
		}
		all |= p
		last, end = p, j+1
	}
	if first == shared && w.words[k].is(lower) && k > 0 && w.touch(k-1) && all&family != 0 {
		all |= given // Rosa Soler amid a sentence
	}
	if all&given == 0 && w.strange(k, end) {
		return end
	}
	if end == k+1 || all&given == 0 || !w.words[k].is(lower) && (all&unknown != 0 || all&family == 0) {
		return k // a note in capitals: an abbreviation may be in any list
	}
	return end
}

// particleOf tells whether word k is a particle with a capital, amid a sentence,
// before a surname: El Amrani, De Santis.
func (w *worker) particleOf(k int) bool {
	x := &w.words[k]
	if x.class&particle == 0 || !x.is(capital) || !x.is(lower) || k+1 >= len(w.words) || !w.touch(k) {
		return false
	}
	next := w.behindParticle(k)
	if !w.words[next].is(capital) {
		return false
	}
	p := w.partOfName(next)
	return p&given == 0 && (p&family != 0 || p == unknown && k > 0 && w.touch(k-1))
}

// behindParticle returns the word behind the particle k: the next one, or, as
// in De los Santos, the one after it.
func (w *worker) behindParticle(k int) int {
	if k+2 < len(w.words) && w.words[k+1].class&particle != 0 && w.touch(k+1) {
		return k + 2
	}
	return k + 1
}

// surnameFirst tells whether word k, of which no list knows anything, stands
// behind a colon or comma and before a comma and a given name: "Firma:
// Zzyzx, Ana".
func (w *worker) surnameFirst(k int) bool {
	if k == 0 || k+1 >= len(w.words) || w.words[k].class&opener != 0 || !w.commaBehind(k) || w.partOfName(k+1)&given == 0 || !w.words[k+1].is(capital) {
		return false
	}
	gap := string(w.text[w.words[k-1].end:w.words[k].start])
	return gap == ": " || gap == ", "
}

// strange tells whether [k, end) are a word of no list and a surname, in either
// order, amid a sentence: "con Zzyzx Puig".
func (w *worker) strange(k, end int) bool {
	if end < k+2 || end > k+3 || k == 0 || !w.touch(k-1) || w.words[k-1].shape&(capital|digits) != 0 {
		return false
	}
	if end == k+2 && w.partOfName(k) == family && w.partOfName(k+1) == shared && w.words[k+1].is(lower) && !w.inLexicon(w.Lexicons.Surnames, k) && !w.inLexicon(w.Lexicons.Towns, k) {
		return true // Zhu Li, Lomidze Nino
	}
	families := 0 // two that any list has, or one of those borne in Spain
	for i := k; i < end; i++ {
		x := &w.words[i]
		if !x.is(lower) || x.end-x.start < shortestUnknown {
			return false
		}
		for _, l := range []Lexicon{w.Lexicons.Towns, w.Lexicons.Provinces, w.Lexicons.Countries} {
			if w.inLexicon(l, i) {
				return false
			}
		}
		switch p := w.partOfName(i); {
		case p == unknown && i == k:
		case p == family && (w.inLexicon(w.Lexicons.Surnames, i) || w.shapedAsFamily(i)):
			families += 2
		case p == family:
			families++
		default:
			return false
		}
	}
	return families > 1
}

// endsInGiven tells whether word j, a given name that is a word too or one of
// which no list knows anything, stands behind a comma and the surnames [k, j),
// amid a sentence and in no list of anything: "avisa Puig, Rosa que", "firma Soler, Zzyzx y".
func (w *worker) endsInGiven(k, j int, p part) bool {
	x := &w.words[j]
	if p != shared && p != unknown || !x.is(capital) || !x.is(lower) || !w.commaBehind(j-1) || k == 0 || !w.touch(k-1) && !w.behindColon(k) || w.words[k-1].is(capital) && w.touch(k-1) && k > 1 || p == unknown && x.end-x.start < shortestUnknown-1 || w.listsThings(k, j) {
		return false
	}
	for i := k; i < j; i++ {
		if w.inLexicon(w.Lexicons.Towns, i) || w.inLexicon(w.Lexicons.Provinces, i) {
			return false
		}
	}
	return !w.inLexicon(w.Lexicons.Towns, j) && !w.inLexicon(w.Lexicons.Provinces, j) && !w.inLexicon(w.Lexicons.Countries, j)
}

// listsThings tells whether the words [k, j] are some of a list: a comma, or a
// word that joins, and another capital stands before or behind them.
func (w *worker) listsThings(k, j int) bool {
	if w.commaBehind(k-1) && w.words[k-1].is(capital) {
		return true
	}
	if j+1 >= len(w.words) {
		return false
	}
	next := j + 1
	if w.joins(next) && next+1 < len(w.words) {
		next++
	}
	return w.words[next].is(capital) && (next > j+1 || w.commaBehind(j))
}

// listedSmall is listedFrom for a name in small letters: a given name and a
// surname, neither of them a word of the language.
func (w *worker) listedSmall(k int, first part) int {
	end := k
	for j := k + 1; first&given != 0 && j < min(k+3, len(w.words)) && w.touch(j-1) && !w.words[j].is(capital); j++ {
		x := &w.words[j]
		if w.partOfName(j)&family == 0 && (j > k+1 || first != given || w.listed(j) != 0 || x.end-x.start < shortestUnknown || !foreign(w.text[x.start:x.end])) {
			break
		}
		end = j + 1
	}
	return end
}

// commaBehind tells whether a comma and a blank stand behind word k.
func (w *worker) commaBehind(k int) bool {
	return string(w.text[w.words[k].end:w.words[k+1].start]) == ", "
}

// namesAnother tells whether the words [i, end) name a place, a disease or a
// drug: what stands before them says so, or a list.
func (w *worker) namesAnother(i, end int) bool {
	for k := i - 1; k >= max(i-3, 0) && w.linked(k, false); k-- {
		if w.words[k].class&(institution|street|organisation|eponymous) != 0 {
			return true
		}
	}
	if w.hyphened(i, end) {
		return true // Swan-Ganz: of two surnames and nothing else many are eponyms
	}
	for k := i; k < end; k++ {
		if w.bears(i, k, end) {
			continue // Helmut Hoffmann is no reflex
		}
		for _, never := range w.Lexicons.Never {
			if w.inLexicon(never.Lexicon, k) {
				return true
			}
		}
		if w.inLexicon(w.Lexicons.Provinces, k) || w.inLexicon(w.Lexicons.Countries, k) {
			return true
		}
	}
	return false
}

// bears tells whether someone bears the name at word k of [i, end), whatever it
// means besides: Helmut Hoffmann, Nelson Puig, "Hoffmann, Helmut".
func (w *worker) bears(i, k, end int) bool {
	switch {
	case k == i+1 && w.initialOf(i):
		return !bytes.Contains([]byte("SEQU"), w.text[w.words[i].start:w.words[i].end]) // K. Hoffmann, but S. Cushing
	case k > i && w.touch(k-1):
		return w.partOfName(k-1)&given != 0 || w.partOfName(i)&given != 0
	case k > i:
		return w.commaBehind(k-1) && w.partOfName(k)&given != 0
	case end == i+1 || i > 0 && w.touch(i-1) && w.words[i-1].class&(of|eponymous) != 0:
		return false
	case w.commaBehind(i):
		return w.partOfName(i)&(given|family) != 0
	}
	first, second := w.partOfName(i), w.partOfName(i+1)
	return first&given != 0 && second&family != 0 || first&family != 0 && second == given // Hoffmann Gudrun
}

// hyphened tells whether all words of [i, end) are joined by hyphens.
func (w *worker) hyphened(i, end int) bool {
	for k := i; k+1 < end; k++ {
		if w.text[w.words[k].end] != '-' {
			return false
		}
	}
	return true
}
