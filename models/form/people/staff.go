package people

import (
	"bytes"
	"slices"

	"github.com/velum-health/velum/models/word/locale"
	"github.com/zeebo/xxh3"
)

// staff holds the people whose names may occur in any note. Evidence for a name is two of its words side by side, an
// initial beside a surname, or a surname after a title. A word with a typing error is found by comparing the word and
// the names after deleting one letter from each (SymSpell).
type staff struct {
	people int
	words  []string           // folded, each once
	of     map[uint64][]int32 // by hash of a word, or of a word without one letter: words
	pairs  map[uint64]bool    // of words, or an initial and a word, of one person
	last   []bool             // by word: it is a surname
}

// staffScratch holds the scratch of a finder for staff.
type staffScratch struct {
	here, before []int32 // words that a word of the note may be
	cut          []byte
}

type staffBuilder struct {
	people int
	index  map[string]int32
	s      staff
}

// add adds a member of staff.
func (b *staffBuilder) add(row []Value) error {
	var given, surname []byte
	for _, v := range row {
		switch v.Field {
		case Name:
			g, s := parts(v.Text)
			given, surname = appendFolded(given, []byte(" "+g), false), appendFolded(surname, []byte(" "+s), false)
		case Given:
			given = append(appendFolded(given, []byte(v.Text), false), ' ')
		case Surname:
			surname = append(appendFolded(surname, []byte(v.Text), false), ' ')
		}
	}
	givens, surnames := b.ids(given, false), b.ids(surname, true)
	if len(givens)+len(surnames) < 2 && len(surnames) == 0 {
		return ErrNothing
	}
	b.people++
	all := slices.Concat(givens, surnames)
	for i, x := range all {
		for _, y := range all[i+1:] {
			b.s.pairs[pairOf(x, y)], b.s.pairs[pairOf(y, x)] = true, true
		}
		for _, s := range surnames {
			b.s.pairs[initialOf(b.s.words[x][0], s)] = true
		}
	}
	return nil
}

// ids numbers the words of a name.
func (b *staffBuilder) ids(words []byte, last bool) (ids []int32) {
	if b.index == nil {
		b.index, b.s.pairs, b.s.of = map[string]int32{}, map[uint64]bool{}, map[uint64][]int32{}
	}
	for word := range bytes.FieldsSeq(words) {
		if len(word) < 2 || particles[string(word)] {
			continue
		}
		id, ok := b.index[string(word)]
		if !ok {
			id = int32(len(b.s.words))
			b.index[string(word)] = id
			b.s.words, b.s.last = append(b.s.words, string(word)), append(b.s.last, false)
			b.s.learn(id)
		}
		b.s.last[id] = b.s.last[id] || last
		ids = append(ids, id)
	}
	return ids
}

func (b *staffBuilder) done() *staff {
	if b.people == 0 {
		return nil
	}
	b.s.people = b.people
	return &b.s
}

// learn adds a word and its forms with one letter deleted.
func (s *staff) learn(id int32) {
	word := []byte(s.words[id])
	note := func(form []byte) {
		h := xxh3.Hash(form)
		if !slices.Contains(s.of[h], id) {
			s.of[h] = append(s.of[h], id)
		}
	}
	note(word)
	if len(word) < leastEdited {
		return
	}
	for i := range word {
		note(append(word[:i:i], word[i+1:]...))
	}
}

func pairOf(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

func initialOf(letter byte, surname int32) uint64 {
	return 1<<63 | uint64(letter)<<32 | uint64(uint32(surname))
}

// candidates appends the words of names that are equal to a word of the note or one edit away.
func (s *staff) candidates(dst []int32, form []byte, cut *[]byte) []int32 {
	for _, id := range s.of[xxh3.Hash(form)] {
		if string(form) == s.words[id] {
			return append(dst, id) // exactly: no other is meant
		}
	}
	if len(form) < leastEdited-1 {
		return dst
	}
	try := func(key []byte) {
		for _, id := range s.of[xxh3.Hash(key)] {
			if oneEdit(form, []byte(s.words[id])) && !slices.Contains(dst, id) {
				dst = append(dst, id)
			}
		}
	}
	try(form)
	for i := range form {
		*cut = append(append((*cut)[:0], form[:i]...), form[i+1:]...)
		try(*cut)
	}
	return dst
}

// titles stand in front of the surname of a member of staff.
var titles = locale.Words("people title")

// staffNames finds the names of staff.
func (f *Finder) staffNames(dst []Found) []Found {
	s, x := f.table.staff, &f.staff
	x.before = x.before[:0]
	begin, before := -1, [2]byte{} // of a name that may go on, with initials
	for i := range f.words {
		w := &f.words[i]
		form := f.word(i)
		if w.kind != letters || i > 0 && begin >= 0 && !f.near(i-1) {
			begin, before, x.before = -1, [2]byte{}, x.before[:0]
			if w.kind != letters {
				continue
			}
		}
		if particles[string(form)] && w.width > 1 {
			continue
		}
		if full, ok := shortened[string(form)]; ok && w.width > 1 {
			form = []byte(full)
		}
		if w.width == 1 {
			switch {
			case w.capital && len(x.before) > 0 && f.initialled(form[0], x.before):
				dst = f.found(dst, begin, i) // García, J.
			case len(x.before) > 0 && !w.dotted: // O'Connor, Pi i Margall
			case w.capital && before[0] != 0 && f.words[i-1].dotted:
				before[1], before[0], x.before = before[0], form[0], x.before[:0] // J. M. García
			default:
				begin, before, x.before = i, [2]byte{}, x.before[:0]
				if w.capital {
					before[0] = form[0]
				}
			}
			continue
		}
		x.here = s.candidates(x.here[:0], form, &x.cut)
		for _, rest := range untitled(form) {
			if len(x.here) == 0 && rest != nil {
				x.here = s.candidates(x.here, rest, &x.cut)
			}
		}
		titled := i > 0 && titles[string(f.word(i-1))] && f.near(i-1)
		switch {
		case len(x.here) == 0:
			begin = -1
		case len(x.before) > 0 && f.paired(x.before, x.here), before[0] != 0 &&
			(f.initialled(before[0], x.here) || f.initialled(before[1], x.here)):
			dst = f.found(dst, begin, i)
		case titled && w.capital && slices.ContainsFunc(x.here, func(id int32) bool { return s.last[id] }):
			dst = f.found(dst, i, i)
			begin = i
		default:
			begin = i
		}
		before = [2]byte{}
		x.before, x.here = x.here, x.before
		if len(x.before) == 0 {
			begin = -1
		}
	}
	return dst
}

// found adds a name, or lengthens the last one.
func (f *Finder) found(dst []Found, begin, end int) []Found {
	at := Found{f.words[begin].start, f.words[end].end, PersonName, IsStaff}
	if n := len(dst); n > 0 && dst[n-1].Role == IsStaff && dst[n-1].End > at.Start {
		dst[n-1].End = at.End
		return dst
	}
	return append(dst, at)
}

func (f *Finder) paired(before, here []int32) bool {
	for _, a := range before {
		for _, b := range here {
			if f.table.staff.pairs[pairOf(a, b)] {
				return true
			}
		}
	}
	return false
}

func (f *Finder) initialled(letter byte, here []int32) bool {
	return slices.ContainsFunc(here, func(id int32) bool { return f.table.staff.pairs[initialOf(letter, id)] })
}
