package resolve

import "strings"

// familyEndings are endings of surnames by where they come from. The words of
// Spanish and Catalan texts in small letters that have one of them, six letters
// or more, are a handful (Babinski, Folstein). By hand, from public facts;
// written without accents, as they are compared.
var familyEndings = byLastTwo(`
	kov kova gov gova dov dova lov lova mov mova sov sova tov zov zova zhov zhova hov hova nov anova inova onova rov arova erova irova orova urova
	chev cheva shev sheva iev ieva neev eev eeva
	nski nska wski wska dzki dzka ecki ecka icki icka acki wicz czyk czak niak enko chuk shuk siuk niuk escu eanu
	syan nyan ryan kyan dyan lyan tyan zyan adze idze shvili
	etxea xeberria zabal zabala goitia gorri rrieta iturri aurre barri berri koetxea beitia
	mann meier meyer maier mayer bauer berger stein huber hauser schmidt hofer dorf
	ington ingham worth croft shaw wood combe ford field stead thorpe clough brook
	aoui oui ouni oudi ouchi ouch illah`)

// familyBeginnings are beginnings of surnames of the Maghreb, chosen alike.
var familyBeginnings = strings.Fields("boua boub bouch boud bouh bouk bouz benh benk benm bensa benya abdel abder")

const (
	shortestFamily = 6  // letters of a word whose shape tells a surname
	longestFamily  = 24 // and at most
)

// byLastTwo sorts endings by their last two letters.
func byLastTwo(list string) map[[2]byte][]string {
	m := map[[2]byte][]string{}
	for _, e := range strings.Fields(list) {
		last := [2]byte{e[len(e)-2], e[len(e)-1]}
		m[last] = append(m[last], e)
	}
	return m
}

// shapedAsFamily tells whether word k looks like a surname, by how it ends or
// begins: no list has all that end in -enko.
func (w *worker) shapedAsFamily(k int) bool {
	x := &w.words[k]
	n := int(x.end - x.start)
	if n < shortestFamily || n > longestFamily {
		return false
	}
	var room [longestFamily]byte
	form := room[:n]
	for i, c := range w.text[x.start:x.end] {
		form[i] = c // beyond ASCII no letter of an ending
		if c < byte(len(foldedByte)) {
			form[i] = foldedByte[c]
		}
	}
	for _, e := range familyEndings[[2]byte{form[n-2], form[n-1]}] {
		if n >= len(e)+2 && string(form[n-len(e):]) == e {
			return true
		}
	}
	for _, b := range familyBeginnings {
		if string(form[:min(len(b), n)]) == b {
			return true
		}
	}
	return false
}
