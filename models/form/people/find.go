package people

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// Kind is the kind of personal data that was found.
type Kind uint8

// The kinds of personal data.
const (
	PersonName Kind = iota
	BirthDate
	Place
	PhoneNumber
	IDNumber
)

// Found is a place in a note as a half-open range of bytes.
type Found struct {
	Start, End int32
	Kind       Kind
	Role       Role
}

// Finder finds the people of a table in notes. It has scratch space, so each worker needs its own.
type Finder struct {
	table   *Table
	records []byte
	people  []person

	text    []byte
	words   []word
	folded  []byte
	plain   []byte  // letters and digits of the note, folded
	from    []int32 // where in the text each of them stands
	parser  dates.Parser
	address [][]byte
	shouted bool // the note has hardly any small letters, so that capitals say nothing
	staff   staffScratch
}

// NewFinder returns a finder.
func NewFinder(t *Table) *Finder { return &Finder{table: t} }

// Find appends the places in text where the people of the patient, or staff, are mentioned, in order; places may
// overlap. With an empty patient only staff is searched. The error is from reading the table's file.
func (f *Finder) Find(dst []Found, patient, text []byte, language pipeline.Language) ([]Found, error) {
	f.people, f.records = f.people[:0], f.records[:0]
	if len(patient) > 0 {
		var err error
		if f.records, f.people, err = f.table.of(patient, f.records, f.people); err != nil {
			return dst, err
		}
	}
	if len(f.people) == 0 && f.table.staff == nil {
		return dst, nil
	}
	first := len(dst)
	f.text, f.plain = text, f.plain[:0]
	f.split(text)
	f.shouted = f.isShouted()
	if len(f.people) > 0 {
		dst = f.names(dst)
		dst = f.births(dst, language)
		dst = f.numbers(dst)
		dst = f.addresses(dst)
	}
	if f.table.staff != nil {
		dst = f.staffNames(dst)
	}
	slices.SortFunc(dst[first:], func(a, b Found) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	return dst, nil
}

// Words calls do for each folded word of the names of the patient's people in the last call of Find. Surrogates must
// avoid these words.
func (f *Finder) Words(do func(word []byte)) {
	for i := range f.people {
		for _, n := range f.people[i].names {
			do(n.word)
		}
	}
}

// isShouted tells whether most words of the note have capitals alone.
func (f *Finder) isShouted() bool {
	all, small := 0, 0
	for i := range f.words {
		if w := &f.words[i]; w.kind == letters && w.width > 2 {
			all++
			if !w.allCapitals {
				small++
			}
		}
	}
	return all > 3 && small*4 < all
}

// names finds the names: runs of words of one note's people with a strong word
// or two weak ones among them.
func (f *Finder) names(dst []Found) []Found {
	for i := range f.words {
		f.mark(i)
	}
	for i := 0; i < len(f.words); {
		if f.words[i].mark == unmarked {
			i++
			continue
		}
		last := i
		for k := i + 1; k < len(f.words) && k-last <= maxParticles+1; k++ {
			if !f.near(k - 1) {
				break
			}
			if f.words[k].mark != unmarked {
				last = k
			} else if !particles[string(f.word(k))] {
				break
			}
		}
		if start, end, ok := f.named(i, last); ok {
			if start > 0 && saints[string(f.word(start-1))] && f.near(start-1) {
				start-- // San Román
			}
			dst = append(dst, Found{f.words[start].start, f.words[end].end, PersonName, f.roleIn(start, end)})
		}
		i = last + 1
	}
	return dst
}

// maxParticles may stand between two words of a name: de la.
const maxParticles = 2

// near tells whether nothing but blanks, a comma, a full stop or a hyphen
// stands between word k and the next.
func (f *Finder) near(k int) bool {
	gap := f.text[f.words[k].end:f.words[k+1].start]
	return len(gap) <= 4 && len(bytes.Trim(gap, " \t,.-'_\n\r·")) == 0
}

// mark classifies word i as strong or weak evidence for a name of the note's people.
func (f *Finder) mark(i int) {
	w := &f.words[i]
	w.mark = unmarked
	if w.kind != letters {
		return
	}
	form := f.word(i)
	if full, ok := shortened[string(form)]; ok && (w.width > 1 || w.dotted) {
		if f.markExact(i, []byte(full), true) {
			return
		}
	}
	if w.width == 1 {
		f.markInitial(i, form[0])
		return
	}
	if w.width == 2 && !w.capital || f.markExact(i, form, false) {
		return
	}
	for _, rest := range untitled(form) {
		if rest != nil && f.markExact(i, rest, false) {
			return
		}
	}
	if w.width >= leastEdited-1 && f.markEdited(i, form) {
		return
	}
	if w.allCapitals && !f.shouted && f.areInitials(form) {
		w.mark = strong
	}
}

// markAs marks a word as the first name of the note's people that it fits.
func (f *Finder) markAs(i int, fit func(name *nameWord) mark) bool {
	w := &f.words[i]
	for p := range f.people {
		for n := range f.people[p].names {
			if w.mark = fit(&f.people[p].names[n]); w.mark != unmarked {
				w.person = int16(p)
				return true
			}
		}
	}
	return false
}

// tells says what a word is that fits a name.
func tells(alone bool) mark {
	if alone {
		return strong
	}
	return weak
}

// markExact looks for a name that is the word. A word that the language has as
// well tells alone only with a capital that means something.
func (f *Finder) markExact(i int, form []byte, short bool) bool {
	return f.markAs(i, func(name *nameWord) mark {
		if !bytes.Equal(name.word, form) {
			return unmarked
		}
		return tells(!short && len(form) > 2 && (!name.common || f.words[i].capital && !f.shouted))
	})
}

// leastEdited is the least length of a word in which a typing error is allowed, because too many shorter words differ
// by one edit.
const leastEdited = 5

// markEdited looks for a name one edit from the word, which must be neither short
// nor a word of the language itself, unless it stands beside another name.
func (f *Finder) markEdited(i int, form []byte) bool {
	return f.markAs(i, func(name *nameWord) mark {
		if len(name.word) < leastEdited-1 || !oneEdit(form, name.word) {
			return unmarked
		}
		return tells(min(len(form), len(name.word)) >= leastEdited && !isCommon(form))
	})
}

// markInitial marks a letter that begins a name: a capital, or one that a full
// stop follows.
func (f *Finder) markInitial(i int, letter byte) {
	f.markAs(i, func(name *nameWord) mark {
		if name.word[0] == letter && (f.words[i].capital || f.words[i].dotted) {
			return initial
		}
		return unmarked
	})
}

// areInitials tells whether three letters or more are the initials of all
// names of a person, in order.
func (f *Finder) areInitials(form []byte) bool {
	return len(form) >= 3 && slices.ContainsFunc(f.people, func(p person) bool { return len(p.names) == len(form) && p.begins(form) })
}

// begins tells whether the letters begin the first names of the person, given
// names first.
func (p *person) begins(form []byte) bool {
	if len(p.names) < len(form) {
		return false
	}
	for k, c := range form {
		if p.names[k].word[0] != c {
			return false
		}
	}
	return true
}

// named tells whether the run of words from i to last is a name, and cuts
// initials off its ends that are none.
func (f *Finder) named(i, last int) (start, end int, ok bool) {
	weaks, initials := 0, 0
	for k := i; k <= last; k++ {
		switch f.words[k].mark {
		case strong:
			return i, last, true
		case weak: // two of one edit tell as much as one
			weaks++
		case initial:
			initials++
		}
	}
	if weaks > 1 || weaks == 1 && slices.ContainsFunc(f.words[i:last+1], func(w word) bool { return w.mark == initial && w.dotted && w.capital }) {
		return i, last, true
	}
	return i, last, weaks == 0 && initials > 1 && f.dottedInitials(i, last)
}

// dottedInitials tells whether the run is J.G. or J. G. L., of one person and in
// order, or surname first.
func (f *Finder) dottedInitials(i, last int) bool {
	var form [4]byte
	n := 0
	for k := i; k <= last; k++ {
		if w := &f.words[k]; w.mark != initial || !w.dotted || !w.capital || n == len(form) {
			return false
		}
		form[n] = f.word(k)[0]
		n++
	}
	for p := range f.people {
		person := &f.people[p]
		if person.begins(form[:n]) {
			return true
		}
		givens := 0
		for givens < len(person.names) && person.names[givens].given {
			givens++
		}
		if givens > 1 && n >= 2 && givens < len(person.names) && person.names[0].word[0] == form[0] {
			rest := *person
			rest.names = person.names[givens:] // Ana María García: A.G.
			if rest.begins(form[1:n]) {
				return true
			}
		}
	}
	return false
}

// roleIn returns the role of the first person in a run.
func (f *Finder) roleIn(i, last int) Role {
	for k := i; k <= last; k++ {
		if f.words[k].mark >= weak {
			return f.people[f.words[k].person].role
		}
	}
	return f.people[0].role
}

// datedWords is how many words a date has at most: lunes 3 de mayo del año
// 1950.
const datedWords = 8

// births finds the dates of birth in all forms that models/form/dates reads.
func (f *Finder) births(dst []Found, language pipeline.Language) []Found {
	for p := range f.people {
		for _, born := range f.people[p].births {
			t := time.Unix(int64(born)*24*60*60, 0).UTC()
			for i := 0; i < len(f.words); i++ {
				if !f.mayBegin(i, t) {
					continue
				}
				if end := f.birthAt(i, f.yearBehind(i, t.Year()), born, language); end > i {
					dst = append(dst, Found{f.words[i].start, f.words[end-1].end, BirthDate, f.people[p].role})
					i = end - 1
				}
			}
		}
	}
	return dst
}

// mayBegin tells whether a date of that day may begin at word i.
func (f *Finder) mayBegin(i int, t time.Time) bool {
	w := f.word(i)
	if f.words[i].kind == letters {
		return len(w) > 2 && (w[0] == t.Month().String()[0]|0x20 || w[0] == 'e' && t.Month() == time.January || w[0] == 'g' && t.Month() == time.January)
	}
	if f.words[i].kind != digits || len(w) > 8 {
		return false
	}
	n, err := strconv.Atoi(string(w))
	return err == nil && (n == t.Day() || n == int(t.Month()) || n == t.Year() || len(w) >= 5)
}

// yearBehind returns behind which word the year stands in what may be a date that
// begins at word i, or a number that has all of it; more words than there are if
// there is none. Reading words that no date has is dear.
func (f *Finder) yearBehind(i, year int) int {
	for k := i; k < min(i+datedWords, len(f.words)); k++ {
		if f.words[k].kind != digits {
			continue
		}
		w := f.word(k)
		if n, err := strconv.Atoi(string(w)); err == nil && (n == year || n == year%100 || len(w) >= 5) {
			return k + 1
		}
	}
	return len(f.words) + 1
}

// birthAt returns behind which word a date ends that begins at word i, ends behind
// word first or later, and is the day; i if there is none.
func (f *Finder) birthAt(i, first int, born int32, language pipeline.Language) int {
	for end := first; end <= min(i+datedWords, len(f.words), first+2); end++ {
		if !f.parser.Parse(f.text[f.words[i].start:f.words[end-1].end], language) {
			continue
		}
		for _, order := range []dates.Order{dates.DMY, dates.MDY, dates.YMD} {
			if day, r, full := f.parser.First(dates.Context{Order: order}); full && r == dates.Day && (day == born || day == born+century || day == born-century) {
				return end
			}
		}
	}
	return i
}

// century is a century in days: a two-digit year may have been assigned to the wrong one.
const century = 36525

// numbers finds telephones and other numbers, whatever stands between their
// digits.
func (f *Finder) numbers(dst []Found) []Found {
	for p := range f.people {
		for _, n := range f.people[p].numbers {
			f.flatten()
			dst = f.number(dst, n, f.people[p].role)
			if end := len(n.plain) - 1; end >= 7 && cut.IsLower(n.plain[end]) && !cut.IsLower(n.plain[0]) {
				dst = f.number(dst, number{plain: n.plain[:end]}, f.people[p].role) // a DNI without its letter
			}
		}
	}
	return dst
}

// flatten writes the note without what is neither letter nor digit.
func (f *Finder) flatten() {
	if len(f.plain) > 0 {
		return
	}
	f.from = f.from[:0]
	for i := range f.words {
		w := &f.words[i]
		f.plain = append(f.plain, f.word(i)...)
		for k := range w.width {
			f.from = append(f.from, min(w.start+k, w.end-1))
		}
	}
}

func (f *Finder) number(dst []Found, n number, role Role) []Found {
	kind := IDNumber
	if n.telephone {
		kind = PhoneNumber
	}
	for at := 0; ; {
		k := bytes.Index(f.plain[at:], n.plain)
		if k < 0 {
			return dst
		}
		first, last := at+k, at+k+len(n.plain)-1
		at = first + 1
		if f.gaps(first, last) && !f.goesOn(first-1, first) && !f.goesOn(last, last+1) {
			dst = append(dst, f.whole(Found{f.from[first], f.from[last] + 1, kind, role}))
		}
	}
}

// whole widens a place to whole characters.
func (f *Finder) whole(at Found) Found {
	for !utf8.RuneStart(f.text[at.Start]) {
		at.Start--
	}
	for int(at.End) < len(f.text) && !utf8.RuneStart(f.text[at.End]) {
		at.End++
	}
	return at
}

// gaps tells whether the characters stand near enough to each other to be one
// number.
func (f *Finder) gaps(first, last int) bool {
	for i := first; i < last; i++ {
		if f.from[i+1]-f.from[i] > 4 {
			return false
		}
	}
	return true
}

// goesOn tells whether two characters are digits side by side: a longer number.
func (f *Finder) goesOn(a, b int) bool {
	return a >= 0 && b < len(f.plain) && !cut.IsLower(f.plain[a]) && !cut.IsLower(f.plain[b]) && f.from[b] == f.from[a]+1
}

// streets lists words for kinds of streets, which identify nothing by themselves.
var streets = locale.Words("people street")

// addresses finds streets by the words of their names, with the number behind,
// and postal codes.
func (f *Finder) addresses(dst []Found) []Found {
	for p := range f.people {
		for _, a := range f.people[p].addresses {
			dst = f.addressIn(dst, a, f.people[p].role)
		}
	}
	return dst
}

func (f *Finder) addressIn(dst []Found, address []byte, role Role) []Found {
	f.address = f.address[:0]
	house, numbered := []byte(nil), false
	for word := range bytes.SplitSeq(address, []byte(" ")) {
		switch {
		case !cut.IsDigit(word[0]):
			if !numbered && !streets[string(word)] && !particles[string(word)] {
				f.address = append(f.address, word)
			}
		case len(word) == 5:
			dst = f.code(dst, word, role)
		case house == nil:
			house, numbered = word, true
		}
	}
	if len(f.address) == 0 {
		return dst
	}
	for i := range f.words {
		end := f.street(i)
		if end == i {
			continue
		}
		start := i
		for start > 0 && f.near2(start-1) && (streets[string(f.word(start-1))] || particles[string(f.word(start-1))]) {
			start--
		}
		behind := end < len(f.words) && f.near2(end-1) && bytes.Equal(f.word(end), house)
		if !behind && end < len(f.words)-1 && f.near2(end-1) && f.near2(end) && streets[string(f.word(end))] && bytes.Equal(f.word(end+1), house) {
			end, behind = end+1, true // Mayor nº 12
		}
		if behind {
			end++
		}
		if behind || len(f.address) > 1 || start < i && streets[string(f.word(start))] {
			dst = append(dst, Found{f.words[start].start, f.words[end-1].end, Place, role})
		}
	}
	return dst
}

// near2 is near, and a slash or degree sign may stand there too: c/ Mayor, nº.
func (f *Finder) near2(k int) bool {
	gap := f.text[f.words[k].end:f.words[k+1].start]
	return len(gap) <= 4 && !bytes.ContainsAny(gap, "\n;:()")
}

// street returns behind which word the street's name ends that begins at word
// i; i if it does not.
func (f *Finder) street(i int) int {
	k := i
	for n, name := range f.address {
		for n > 0 && k < len(f.words) && particles[string(f.word(k))] {
			k++
		}
		if k >= len(f.words) || n > 0 && !f.near2(k-1) {
			return i
		}
		form := f.word(k)
		if !bytes.Equal(form, name) && !(len(form) >= leastEdited && oneEdit(form, name)) {
			return i
		}
		k++
	}
	return k
}

// code finds a postal code.
func (f *Finder) code(dst []Found, code []byte, role Role) []Found {
	for i := range f.words {
		if w := &f.words[i]; w.kind == digits && bytes.Equal(f.word(i), code) {
			dst = append(dst, Found{w.start, w.end, Place, role})
		}
	}
	return dst
}
