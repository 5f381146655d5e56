package resolve

import "fmt"

const (
	shortestFamily = 6  // letters of a word whose shape tells a surname
	longestFamily  = 24 // and at most
)

// endings are those of words, by their last two letters.
type endings map[[2]byte][]string

// endingsOf sorts a list. One of a single letter would fit any name.
func endingsOf(list []string) (endings, error) {
	m := endings{}
	for _, e := range list {
		if len(e) < 2 {
			return nil, fmt.Errorf("words: list %s: an ending of a single letter", familyEndings)
		}
		last := [2]byte{e[len(e)-2], e[len(e)-1]}
		m[last] = append(m[last], e)
	}
	return m, nil
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
	for _, e := range w.endings[[2]byte{form[n-2], form[n-1]}] {
		if n >= len(e)+2 && string(form[n-len(e):]) == e {
			return true
		}
	}
	for _, b := range w.Words[familyBeginnings] {
		if string(form[:min(len(b), n)]) == b {
			return true
		}
	}
	return false
}
