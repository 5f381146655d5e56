package resolve

import (
	"bytes"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// farthestLead is how many words a lead stands before a name at most: "firma
// el consentimiento de Zzyzx", "pendiente de que Zzyzx".
const farthestLead = 4

// findLed proposes names behind words that people stand behind: "contesta E.
// Zzyzx", "acompañado de alina zzyzx", "la curadora, Li Rosa". What is said of people
// lets less be a name than rule listed wants: an initial and any capital, a
// given name in small letters and a word that no list has, a name that is a word
// as well. It looks at each word behind a lead once.
func (w *worker) findLed() int {
	n := 0
	c := w.labels.person[1]
	if c == pipeline.None || w.Lexicons.Names == nil {
		return 0
	}
	for lead, until := 0, 0; lead+1 < len(w.words); lead++ {
		if w.words[lead].class&leads == 0 {
			continue
		}
		for k := max(lead+1, until); k <= lead+farthestLead && k < len(w.words) && w.leadsOn(lead, k); k++ {
			end := w.ledFrom(lead, k)
			if end == k {
				continue
			}
			if !w.namesAnother(k, end) {
				w.propose(w.words[k].start, w.words[end-1].end, c, byRule)
				n++
			}
			until = end
			break
		}
	}
	return n
}

// leadsOn tells whether what a lead says goes on to word k: blanks, a comma
// right behind the lead, or a colon, and no name on the way.
func (w *worker) leadsOn(lead, k int) bool {
	if !w.touch(k-1) && !w.behindColon(k) && (k > lead+1 || !w.commaBehind(k-1)) {
		return false
	}
	return k == lead+1 || !w.words[k-1].is(capital) && !w.words[k-1].is(digits)
}

// ledFrom returns the end of the name that begins at word k behind a lead, k if
// none does.
func (w *worker) ledFrom(lead, k int) int {
	x := &w.words[k]
	switch {
	case k+1 >= len(w.words), x.is(digits):
	case !x.is(capital):
		if w.isNear(lead, k) && (w.words[lead].class&person == 0 || w.behindColon(k)) {
			return w.ledSmall(k)
		}
	case !x.is(lower):
		if w.ledInitial(k) {
			return w.nameFrom(k + 1)
		}
	case w.isNear(lead, k):
		return w.ledCapital(k)
	}
	return k
}

// isNear tells whether a lead stands right before word k, or a colon, or nothing
// but short words are between them: de, con, amb, de que.
func (w *worker) isNear(lead, k int) bool {
	if w.behindColon(k) {
		return true
	}
	for i := lead + 1; i < k; i++ {
		if x := &w.words[i]; i > lead+2 || x.is(capital) || x.end-x.start > longestLink {
			return false
		}
	}
	return true
}

// longestLink is the letters of a word between a lead and the name right behind
// it.
const longestLink = 3

// ledInitial tells whether word k is an initial with its full stop before a
// capital that may be a surname.
func (w *worker) ledInitial(k int) bool {
	x, next := &w.words[k], &w.words[k+1]
	if x.class&house != 0 || utf8.RuneCount(w.text[x.start:x.end]) != 1 || w.text[x.end] != '.' || !next.is(capital) || !next.is(lower) || next.class&(opener|service) != 0 {
		return false
	}
	gap := w.text[x.end:next.start]
	return (len(gap) == 1 || len(gap) == 2 && gap[1] == ' ') && w.partOfName(k+1) != 0 && !w.endsAsAdjective(k+1)
}

// endsAsAdjective tells whether word k ends as adjectives of medicine do: A.
// Patológica is no person.
func (w *worker) endsAsAdjective(k int) bool {
	word := w.text[w.words[k].start:w.words[k].end]
	for _, e := range w.Words[adjectiveEndings] {
		if bytes.HasSuffix(word, []byte(e)) && w.partOfName(k)&(given|family) == 0 {
			return true
		}
	}
	return false
}

// ledCapital returns the end of capitalised words right behind a lead, two or more and
// one of them a name; it is k if they are none.
func (w *worker) ledCapital(k int) int {
	all, end := part(0), k
	for j := k; j < min(k+longestName, len(w.words)) && (j == k || w.touches(j-1) || w.commaBehind(j-1) && j == k+1); j++ {
		x := &w.words[j]
		if j > k && x.class&particle != 0 && !(x.is(capital) && x.is(lower)) && all&(given|family) != 0 {
			continue // not Comité de
		}
		p := w.partOfName(j)
		if !x.is(capital) || !x.is(lower) || p == 0 || x.class&(opener|service|specialty|month|place) != 0 {
			break
		}
		all |= p
		end = j + 1
	}
	if end < k+2 || all&(given|family) == 0 {
		return k
	}
	return end
}

// ledSmall returns the end of a name in small letters that begins at word k: a
// given name and a surname, or a word that no list has; the given name may be a
// word as well before a surname.
func (w *worker) ledSmall(k int) int {
	first := w.smallPart(k)
	if first&given == 0 && first != shared {
		return k
	}
	end, joined := k, false
	for j := k + 1; j < min(k+longestName, len(w.words)) && w.touch(j-1) && !w.words[j].is(capital); j++ {
		x := &w.words[j]
		if end == k && x.class&particle != 0 && j <= k+2 {
			joined = true
			continue
		}
		p := w.smallPart(j)
		strange := p == 0 && !w.endsAsAdjective(j) && w.listed(j) == 0 && x.end-x.start >= shortestUnknown-1 && x.class == 0
		if p&family == 0 && p != given && (end > k || first == shared || joined || !strange) {
			break
		}
		end = j + 1
	}
	return end
}

// smallPart is partOfName for a word in small letters: nothing that is a trigger
// of anything.
func (w *worker) smallPart(k int) part {
	x := &w.words[k]
	if x.is(digits) || x.end-x.start < 2 || x.class != 0 {
		return 0
	}
	p := w.listed(k)
	if p == common {
		return 0
	}
	return p
}
