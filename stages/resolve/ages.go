package resolve

import "github.com/velum-health/velum/pipeline"

// oldest is the highest age that is believed.
const oldest = 120

// findAges proposes ages whose context says that they are one: "70 años de
// edad", "Edad: 70 años", "varón de 70 años". Numbers with a unit and another
// context are mostly durations: on MEDDOCAN train 0 of 47 behind "hace" are
// ages, 4 of 5 behind "de" are.
func (w *worker) findAges() int {
	n := 0
	if w.labels.age == pipeline.None {
		return 0
	}
	for k := 1; k < len(w.words); k++ {
		if w.words[k].class&unit == 0 {
			continue
		}
		i := w.numberBefore(k)
		if i == k || !w.saysAge(i, k) {
			continue
		}
		w.propose(w.words[i].start, w.words[k].end, w.labels.age, byRule)
		n++
	}
	return n
}

// dropFalseAges drops the model's ages that are none: years of smoking ("40
// años/paquete", "20 años fumando") and numbers with the beginning of a unit
// ("47 m" of "47 mL", "99m" of "99mTc"). Of 3,702 ages in 39,615 lines of
// CANTEMIST and CardioCCC eleven, all wrong.
func (w *worker) dropFalseAges() int {
	if w.labels.age == pipeline.None {
		return 0
	}
	kept := w.cands[:0]
	for _, c := range w.cands {
		if c.Category != w.labels.age || !w.isFalseAge(&c) {
			kept = append(kept, c)
		}
	}
	n := len(w.cands) - len(kept)
	w.cands = kept
	return n
}

func (w *worker) isFalseAge(c *candidate) bool {
	i, j := w.wordsIn(c.Start, c.End)
	if i == j || j == len(w.words) {
		return false
	}
	next := &w.words[j]
	if next.start == c.End {
		return !next.is(digits)
	}
	return next.class&lasting != 0 && next.start-c.End == 1
}

// numberBefore returns the first word of the number directly before word k, k
// if there is none: "70", "setenta", "treinta y dos".
func (w *worker) numberBefore(k int) int {
	if !w.touch(k - 1) {
		return k
	}
	if w.words[k-1].is(digits) {
		if w.smallNumber(k-1) && !w.partOfNumber(k-1) {
			return k - 1
		}
		return k
	}
	if w.words[k-1].class&numeral == 0 {
		return k
	}
	if k >= 3 && w.words[k-3].class&numeral != 0 && w.words[k-2].end-w.words[k-2].start == 1 && w.touches(k-2) && w.touches(k-3) {
		return k - 3 // treinta y dos, trenta-i-dos
	}
	return k - 1
}

// smallNumber tells whether the digits of word k can be an age.
func (w *worker) smallNumber(k int) bool {
	v := 0
	for _, c := range w.text[w.words[k].start:w.words[k].end] {
		if c < '0' || c > '9' || v > oldest {
			return false
		}
		v = 10*v + int(c-'0')
	}
	return v <= oldest
}

// partOfNumber tells whether the digits of word k go on to the left: 2,5 or
// 10-12 or 1/3.
func (w *worker) partOfNumber(k int) bool {
	return k > 0 && w.words[k-1].is(digits) && w.words[k].start-w.words[k-1].end == 1 && w.byteAt(w.words[k-1].end) != ' '
}

// saysAge tells whether the context of the words [i, k] says that they are an
// age. A pregnant woman's weeks and months are not hers; her years are.
func (w *worker) saysAge(i, k int) bool {
	if k+2 < len(w.words) && w.words[k+1].class&of != 0 && w.words[k+2].class&ofAge != 0 && w.touch(k) && w.touch(k+1) {
		return true
	}
	if i >= 1 && w.words[i-1].class&ofAge != 0 && w.linked(i-1, true) {
		return true
	}
	return i >= 2 && w.words[i-1].class&of != 0 && w.words[i-2].class&person != 0 && w.touch(i-1) && w.touch(i-2) &&
		(w.words[i-2].class&expecting == 0 || w.text[w.words[k].start]|0x20 == 'a')
}
