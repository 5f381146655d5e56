package gazetteer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
)

// Kind identifies files of compiled lists.
const Kind = "gazetteer"

// Header is the header of a file of compiled lists.
type Header struct {
	Kind    string         `json:"kind"`
	Name    string         `json:"name,omitempty"`
	Entries int            `json:"entries"`
	Classes map[string]Sum `json:"classes"`           // by name of the class
	Words   *Sum           `json:"words,omitempty"`   // the list of common words that names were held against
	Sources []SourceHeader `json:"sources,omitempty"` // in the order in which they were read
	Print   uint64         `json:"fingerprint"`       // of the entries
}

// Sum is a number of forms and the sum of their counts.
type Sum struct {
	Forms int    `json:"forms"`
	Count uint64 `json:"count"`
}

// SourceHeader describes a list from which a file was compiled.
type SourceHeader struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	Bad    int    `json:"bad,omitempty"`
}

// Table is compiled lists with their counts, used where they lie in a mapped
// file. It is safe for concurrent use.
//
//	slot   [n][2] hash of a phrase so far; class << 32 | more << 31 | entry
//	first  [entries+1] first of the entry's counts, one a class, lowest bit first
//	count  [...]
//	word   [entries] count of the form among common words
//	start  [entries+1] of the form in text
//	text   folded words, one blank between two
//
// The slots are an open hash table without powers of two: slot ⌊2h·n/2⁶⁴⌋ is
// the first to look at. A third of them is empty. The forms are there to be
// printed and merged; look-ups compare 64 bits of hash, see Gazetteer.
type Table struct {
	header Header
	slots  []uint64
	n      uint64 // slots
	first  []uint32
	count  []uint32
	word   []uint32
	start  []uint32
	text   []byte
}

const (
	moreBit   = 1 << 31     // a longer phrase begins so
	entryMask = moreBit - 1 // number of the entry; all ones is a mere prefix
)

// Found is the entry of a form in a table.
type Found struct {
	Form   string // folded
	Class  Class
	counts []uint32
	Word   int // count among common words
}

// Count returns the count of the form in the classes, summed over them.
func (f Found) Count(classes Class) (n int) {
	i := 0
	for rest := f.Class; rest != 0; rest &= rest - 1 {
		if rest&-rest&classes != 0 {
			n += int(f.counts[i])
		}
		i++
	}
	return n
}

// find returns the second half of a phrase's slot, 0 if it has none.
func (t *Table) find(key uint64) uint64 {
	i, _ := bits.Mul64(key<<1, t.n)
	for {
		switch t.slots[2*i] {
		case key:
			return t.slots[2*i+1]
		case 0:
			return 0
		}
		if i++; i == t.n {
			i = 0
		}
	}
}

// Classes returns the kinds of word that a form of one word may be; see
// Gazetteer.Classes.
func (t *Table) Classes(form []byte) Class {
	return Class(t.find(Hash(form)) >> 32)
}

// Find returns the entry of a form of one or more words.
func (t *Table) Find(form string) (Found, bool) {
	info := uint64(0)
	h := uint64(0)
	for _, w := range fineWords(form) {
		h = chain(h, hash(w))
		if info = t.find(h); info == 0 {
			return Found{}, false
		}
	}
	if info>>32 == 0 {
		return Found{}, false
	}
	return t.entry(int(info & entryMask)), true
}

func (t *Table) entry(i int) Found {
	f := Found{Form: string(t.text[t.start[i]:t.start[i+1]]), counts: t.count[t.first[i]:t.first[i+1]], Word: int(t.word[i])}
	f.Class = Class(t.class(i))
	return f
}

// class looks the class of an entry up by its own form.
func (t *Table) class(i int) uint64 {
	h := uint64(0)
	for w := range strings.FieldsSeq(string(t.text[t.start[i]:t.start[i+1]])) {
		h = chain(h, hash([]byte(w)))
	}
	return t.find(h) >> 32
}

// All goes through the entries in the order of their forms.
func (t *Table) All() iter.Seq[Found] {
	return func(yield func(Found) bool) {
		for i := range len(t.word) {
			if !yield(t.entry(i)) {
				return
			}
		}
	}
}

// Header returns the header of the file.
func (t *Table) Header() Header { return t.header }

// Fingerprint identifies the entries of the table.
func (t *Table) Fingerprint() uint64 { return t.header.Print }

// Relative returns the share of a form in all counts of the classes, and in the list of common words; 0 if it is not
// listed.
func (t *Table) Relative(f Found, classes Class) (name, word float64) {
	sum := uint64(0)
	for rest := classes; rest != 0; rest &= rest - 1 {
		sum += t.header.Classes[(rest & -rest).String()].Count
	}
	if sum > 0 {
		name = float64(f.Count(classes)) / float64(sum)
	}
	if w := t.header.Words; w != nil && w.Count > 0 {
		word = float64(f.Word) / float64(w.Count)
	}
	return name, word
}

// Builder compiles entries to a Table.
type Builder struct {
	entries map[string]*building // by folded form
	words   map[string]uint64
	sources []SourceHeader
	group   int
}

type building struct {
	class  Class
	counts map[Class]uint64
	adding map[Class]groupCount
}

// groupCount is the sum of one group of lists.
type groupCount struct {
	group int
	count uint64
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	return &Builder{entries: map[string]*building{}, words: map[string]uint64{}}
}

// Group begins a group of lists. Counts of a form within a group are added (men and women, first and second surname);
// between groups, which may be editions of one census, the larger count is used.
func (b *Builder) Group() { b.group++ }

// Source adds the description of a list to the header.
func (b *Builder) Source(s SourceHeader) { b.sources = append(b.sources, s) }

// Add adds an entry, split into words as Gazetteer does.
func (b *Builder) Add(e Entry) {
	fine := fineWords(e.Form)
	coarse := foldedWords(strings.Fields(e.Form))
	b.add(fine, e)
	if len(fine) != len(coarse) {
		b.add(coarse, e)
	}
}

func (b *Builder) add(words [][]byte, e Entry) {
	form := joined(words)
	if form == "" {
		return
	}
	s := b.entries[form]
	if s == nil {
		s = &building{counts: map[Class]uint64{}, adding: map[Class]groupCount{}}
		b.entries[form] = s
	}
	s.class |= e.Class
	g := s.adding[e.Class]
	if g.group != b.group {
		g = groupCount{group: b.group}
	}
	g.count += uint64(e.Frequency)
	s.adding[e.Class] = g
	s.counts[e.Class] = max(s.counts[e.Class], g.count)
}

// Word adds a common word with its count.
func (b *Builder) Word(form string, count int) {
	if w := joined(fineWords(form)); w != "" {
		b.words[w] += uint64(count)
	}
}

// fineWords splits at blanks, hyphens, apostrophes and around slashes, and
// folds the words.
func fineWords(form string) [][]byte { return foldedWords(strings.Fields(splitter.Replace(form))) }

func foldedWords(words []string) [][]byte {
	var folded [][]byte
	for _, w := range words {
		if f := Fold(nil, []byte(w)); len(f) > 0 {
			folded = append(folded, f)
		}
	}
	return folded
}

func joined(words [][]byte) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.Write(w)
	}
	return b.String()
}

// Table compiles the entries. The result does not depend on the order of entries within their groups.
func (b *Builder) Table(name string) (*Table, error) {
	t := &Table{header: Header{Kind: Kind, Name: name, Entries: len(b.entries), Classes: map[string]Sum{}, Sources: b.sources}}
	if len(b.words) > 0 {
		t.header.Words = &Sum{Forms: len(b.words)}
		for _, n := range b.words {
			t.header.Words.Count += n
		}
	}
	forms := slices.Sorted(maps.Keys(b.entries))
	if len(forms) >= entryMask {
		return nil, fmt.Errorf("gazetteer: more than %d entries", entryMask-1)
	}
	var print xxh3.Hasher
	keys := map[uint64]uint64{} // hash of a phrase so far -> second half of its slot
	for i, form := range forms {
		s := b.entries[form]
		t.start = append(t.start, uint32(len(t.text)))
		t.text = append(t.text, form...)
		t.word = append(t.word, uint32(min(b.words[form], maxCount)))
		t.first = append(t.first, uint32(len(t.count)))
		for rest := s.class; rest != 0; rest &= rest - 1 {
			c := rest & -rest
			n := min(s.counts[c], maxCount)
			t.count = append(t.count, uint32(n))
			sum := t.header.Classes[c.String()]
			t.header.Classes[c.String()] = Sum{sum.Forms + 1, sum.Count + n}
			fmt.Fprintf(&print, "%s\t%d\t%d\n", form, c, n)
		}
		enterPhrase(keys, form, uint64(s.class)<<32|uint64(i))
	}
	t.start = append(t.start, uint32(len(t.text)))
	t.first = append(t.first, uint32(len(t.count)))
	t.header.Print = print.Sum64()
	t.fill(keys)
	return t, nil
}

// enterPhrase adds the slots of a form and of its beginnings.
func enterPhrase(keys map[uint64]uint64, form string, info uint64) {
	h := uint64(0)
	for w := range strings.FieldsSeq(form) {
		if h != 0 {
			if _, known := keys[h]; !known {
				keys[h] = entryMask
			}
			keys[h] |= moreBit
		}
		h = chain(h, hash([]byte(w)))
	}
	keys[h] = info | keys[h]&moreBit
}

// fill puts the slots in the order of their first places, so that the bytes
// depend on the keys alone.
func (t *Table) fill(keys map[uint64]uint64) {
	t.n = uint64(len(keys))*3/2 + 1
	t.slots = make([]uint64, 2*t.n)
	for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, b uint64) int { return cmp.Compare(a, b) }) {
		i, _ := bits.Mul64(key<<1, t.n)
		for t.slots[2*i] != 0 {
			if i++; i == t.n {
				i = 0
			}
		}
		t.slots[2*i], t.slots[2*i+1] = key, keys[key]
	}
}

// Write writes the file. The same table gives the same bytes.
func (t *Table) Write(w io.Writer) error {
	return modelfile.Write(w, t.header,
		modelfile.Section{Name: "slot", Data: modelfile.Bytes(t.slots)},
		modelfile.Section{Name: "first", Data: modelfile.Bytes(t.first)},
		modelfile.Section{Name: "count", Data: modelfile.Bytes(t.count)},
		modelfile.Section{Name: "word", Data: modelfile.Bytes(t.word)},
		modelfile.Section{Name: "start", Data: modelfile.Bytes(t.start)},
		modelfile.Section{Name: "text", Data: t.text},
	)
}

// LoadTable opens the table in f, which must stay open while the table is used. Look-ups cannot leave the arrays, even
// in a malicious file.
func LoadTable(f *modelfile.File) (*Table, error) {
	t := new(Table)
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(f.RawHeader(), &kind); err != nil || kind.Kind != Kind {
		return nil, fmt.Errorf("is of kind %q, not %q", kind.Kind, Kind)
	}
	if err := f.Header(&t.header); err != nil {
		return nil, err
	}
	var err error
	get := func(name string) []byte {
		data, e := f.Section(name)
		err = cmp.Or(err, e)
		return data
	}
	numbers := func(name string) []uint32 {
		v, e := modelfile.View[uint32](get(name))
		err = cmp.Or(err, e)
		return v
	}
	slots, e := modelfile.View[uint64](get("slot"))
	t.first, t.count, t.word, t.start, t.text = numbers("first"), numbers("count"), numbers("word"), numbers("start"), get("text")
	if err = cmp.Or(err, e); err != nil {
		return nil, err
	}
	t.slots, t.n = slots, uint64(len(slots)/2)
	return t, t.check()
}

func (t *Table) check() error {
	damaged := func(what string) error {
		return fmt.Errorf("%w: section %q does not fit the others", modelfile.ErrDamaged, what)
	}
	n := len(t.word)
	if len(t.first) != n+1 || !offsets(t.first, len(t.count)) {
		return damaged("first")
	}
	if len(t.start) != n+1 || !offsets(t.start, len(t.text)) {
		return damaged("start")
	}
	empty := false
	for i := range t.n {
		key, info := t.slots[2*i], t.slots[2*i+1]
		empty = empty || key == 0
		class, at := Class(info>>32), int(info&entryMask)
		if class != 0 && (at >= n || bits.OnesCount32(uint32(class)) != int(t.first[at+1]-t.first[at])) {
			return damaged("slot")
		}
	}
	if !empty || len(t.slots)%2 != 0 {
		return damaged("slot")
	}
	for i := range n {
		// An entry's class is found by its form: counts and class must agree.
		if bits.OnesCount32(uint32(t.class(i))) != int(t.first[i+1]-t.first[i]) {
			return damaged("text")
		}
	}
	return nil
}

// offsets tells whether x goes from 0 to last and never falls.
func offsets(x []uint32, last int) bool {
	return len(x) > 0 && x[0] == 0 && int(x[len(x)-1]) == last && slices.IsSorted(x)
}

// With returns the built-in lists merged with the tables. The fingerprint covers both; without tables the result is
// Default.
func With(tables ...*Table) (*Gazetteer, error) {
	if len(tables) == 0 {
		return Default(), nil
	}
	g, err := compile(Shipped())
	if err != nil {
		return nil, err
	}
	g.join(tables)
	return g, nil
}

func (g *Gazetteer) join(tables []*Table) {
	var print xxh3.Hasher
	fmt.Fprintf(&print, "%x", g.print)
	var buf []byte
	for _, t := range tables {
		fmt.Fprintf(&print, " %x", t.Fingerprint())
		for f := range t.All() {
			for rest := f.Class; rest != 0; rest &= rest - 1 {
				c := rest & -rest
				buf = g.enter(Entry{Form: f.Form, Class: c, Frequency: f.Count(c)}, buf)
			}
		}
	}
	g.settle()
	g.print = print.Sum64()
}

// Hash returns the hash by which tables find a one-word form, the same for every case and accents; 0 for a form that
// can be in no list.
func Hash(form []byte) uint64 {
	var buf [foldRoom]byte
	if len(form) > maxForm {
		return 0
	}
	folded := Fold(buf[:0], form)
	if len(folded) == 0 {
		return 0
	}
	return hash(folded)
}
