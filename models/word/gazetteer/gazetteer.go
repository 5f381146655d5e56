// Package gazetteer looks up the classes of a word form: given name, town, drug, disease named after a doctor, and so
// on.
//
// It takes the forms of tokens as written in a note and returns a set of classes, which does not depend on case and
// accents (BOOT's third normalization). The lists under lists/ are embedded and compiled on first use into one
// open-addressing table of 64-bit hashes, which holds single words and the prefixes of phrases alike: a look-up is one
// fold, one hash and one probe, and a phrase is a chain of look-ups.
//
// Only hashes are kept. Two forms with the same 64 bits would be confused; with forty thousand entries the chance for a
// new form is about one in 10^13 to 10^14.
package gazetteer

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/kernels"
)

//go:embed lists/*.txt names/*.txt
var embedded embed.FS

// Gazetteer is a set of compiled lists. It is safe for concurrent use.
type Gazetteer struct {
	slots []slot
	mask  uint64
	size  int
	print uint64

	waiting []slot // while it is compiled, see together

	// later is a filter with a bit for the key of every prefix of two and more words. What follows the first word of a
	// phrase is mostly not part of it, and the filter is small enough to stay in the processor's cache.
	later [1 << (laterBits - 6)]uint64
}

const laterBits = 19 // 64 KiB; of the shipped lists' prefixes one in forty bits is set

// slot is one word, or one prefix of a phrase.
type slot struct {
	key   uint64 // 0 is empty
	class Class  // 0 for a mere prefix
	freq  uint16 // see Frequency
	next  uint16 // how the words begin that may follow in a longer phrase, see First; 0: none
}

// Entry is one line of a list.
type Entry struct {
	Form      string // as written: case, accents, several words
	List      string // the file it stands in
	Class     Class
	Frequency int // people who bear the name or live there; 0 if not known
}

// Default returns the built-in lists.
var Default = sync.OnceValue(func() *Gazetteer {
	g, err := compile(Shipped())
	if err != nil {
		panic(fmt.Sprintf("gazetteer: embedded lists: %v", err)) // a test compiles them
	}
	return g
})

// Names returns additional given names and surnames from all over the world. Rules use them and taggers do not: a name
// of one person in ten thousand says little about a word, and taggers would have to be trained again for every name
// added.
var Names = sync.OnceValue(func() *Gazetteer {
	g, err := compile(ShippedNames(), added...)
	if err != nil {
		panic(fmt.Sprintf("gazetteer: embedded names: %v", err)) // a test compiles them
	}
	return g
})

// added are entries of Names that stand in no list of their own.
var added []Entry

// AddName adds an entry to Names. It must be called before the first use of Names.
func AddName(e Entry) { added = append(added, e) }

// Shipped returns the files of the built-in lists; ShippedNames returns those of Names.
func Shipped() fs.FS      { return folder("lists") }
func ShippedNames() fs.FS { return folder("names") }

func folder(name string) fs.FS {
	files, err := fs.Sub(embedded, name)
	if err != nil {
		panic(err) // the folder is in the binary
	}
	return files
}

// Entries goes through all lists (files *.txt) of the folder in the order of
// their names. A list begins with header lines "# key: value", among them the
// class of its entries; then comes one entry a line, optionally with a
// frequency after a tab. It stops at the first error.
func Entries(files fs.FS) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		names, err := fs.Glob(files, "*.txt")
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, name := range names {
			if !list(files, name, yield) {
				return
			}
		}
	}
}

// list reads one file and tells whether to go on.
func list(files fs.FS, name string, yield func(Entry, error) bool) bool {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	var class Class
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		e, err := parseLine(strings.TrimRight(line, "\r\n"), &class)
		if err != nil {
			yield(Entry{}, fmt.Errorf("%s:%d: %w", path.Base(name), n, err))
			return false
		}
		e.List = name
		if e.Form != "" && !yield(e, nil) {
			return false
		}
	}
	return true
}

// parseLine reads a header line into class, or returns the entry of a line;
// no form means that there is none.
func parseLine(line string, class *Class) (e Entry, err error) {
	if strings.HasPrefix(line, "#") {
		if value, ok := strings.CutPrefix(line, "# class: "); ok {
			*class, err = ParseClass(value)
		}
		return Entry{}, err
	}
	form, freq, counted := strings.Cut(line, "\t")
	form = strings.TrimSpace(form)
	switch {
	case form == "" || form[0] == '#': // blanks before it
		return Entry{}, nil
	case *class == 0:
		return Entry{}, errors.New("entry before the header that names its class")
	case len(form) > maxForm:
		return Entry{}, fmt.Errorf("entry longer than %d bytes", maxForm)
	}
	e = Entry{Form: form, Class: *class}
	if counted {
		if e.Frequency, err = strconv.Atoi(freq); err != nil || e.Frequency < 0 {
			return Entry{}, errors.New("frequency is not a count")
		}
	}
	return e, nil
}

// compile reads all lists of the folder into one table. See Entries for the
// format of a list.
func compile(files fs.FS, more ...Entry) (*Gazetteer, error) {
	g := &Gazetteer{}
	g.resize(1 << 17) // of the shipped lists: to grow is to enter all again
	var print xxh3.Hasher
	line, folded := make([]byte, 0, 1<<12), []byte(nil)
	for e, err := range Entries(files) {
		if err != nil {
			return nil, err
		}
		if len(line) > 1<<11 {
			print.Write(line) // never fails
			line = line[:0]
		}
		line = append(line, e.Form...)
		line = strconv.AppendUint(append(line, '\t'), uint64(e.Class), 10)
		line = strconv.AppendInt(append(line, '\t'), int64(e.Frequency), 10)
		line = append(line, '\n')
		folded = g.enter(e, folded)
	}
	print.Write(line)
	g.print = print.Sum64()
	for _, e := range more {
		folded = g.enter(e, folded)
	}
	g.settle()
	return g, nil
}

var splitter = strings.NewReplacer("-", " ", "'", " ", "’", " ", "/", " / ")

// enter puts the ways to write e into the table: split at white space,
// hyphens, apostrophes and around slashes as a tokenizer may, and split at
// white space alone.
func (g *Gazetteer) enter(e Entry, buf []byte) []byte {
	if !hasSign(e.Form) {
		var room [8]string // of words: more are rare
		return g.path(slices.AppendSeq(room[:0], strings.FieldsSeq(e.Form)), e, buf)
	}
	fine := strings.Fields(splitter.Replace(e.Form))
	coarse := strings.Fields(e.Form)
	buf = g.path(fine, e, buf)
	if len(fine) != len(coarse) {
		buf = g.path(coarse, e, buf)
	}
	return buf
}

// hasSign tells whether splitter may cut the form: strings.ContainsAny takes four times as long, a seventh of compiling.
func hasSign(form string) bool {
	for i := range len(form) {
		if c := form[i]; c == '-' || c == '\'' || c == '/' || c == "’"[0] {
			return true
		}
	}
	return false
}

func (g *Gazetteer) path(words []string, e Entry, buf []byte) []byte {
	h := uint64(0)
	for _, w := range words {
		buf = Fold(buf[:0], []byte(w))
		if len(buf) == 0 {
			continue
		}
		before := h
		h = chain(h, hash(buf))
		if before != 0 {
			g.waiting[len(g.waiting)-1].next |= First(buf)
			g.later[h<<1>>(64-laterBits+6)] |= 1 << (h & 63)
		}
		g.waiting = append(g.waiting, slot{key: h})
	}
	if h != 0 {
		last := &g.waiting[len(g.waiting)-1]
		last.class, last.freq = e.Class, logFrequency(e.Frequency)
	}
	if len(g.waiting) > together {
		g.settle()
	}
	return buf
}

// together is how many words wait to be put into the table. One after the other, with the next line to be read between
// them, the processor waits for memory a hundred nanoseconds for each; in one loop it waits for many at once: ten each.
const together = 1 << 10

func (g *Gazetteer) settle() {
	for _, s := range g.waiting {
		g.put(s)
	}
	g.waiting = g.waiting[:0]
}

// put joins s with what the table says of its key.
func (g *Gazetteer) put(s slot) {
	if g.size*2 >= len(g.slots) {
		old := g.slots
		g.resize(2 * len(old))
		for _, s := range old {
			if s.key != 0 {
				g.put(s)
			}
		}
	}
	at := g.find(s.key)
	if at.key == 0 {
		g.size++
	}
	*at = slot{key: s.key, class: at.class | s.class, freq: max(at.freq, s.freq), next: at.next | s.next}
}

// resize makes the table empty, with room for n/2 words.
func (g *Gazetteer) resize(n int) {
	g.slots, g.mask, g.size = kernels.Pages[slot](g, n), uint64(n-1), 0
}

// goesOn is false for what is no prefix of two and more words.
func (g *Gazetteer) goesOn(key uint64) bool {
	return g.later[key<<1>>(64-laterBits+6)]&(1<<(key&63)) != 0
}

// find returns the slot of a key, an empty one if the table has none.
func (g *Gazetteer) find(key uint64) *slot {
	i := key & g.mask
	for g.slots[i].key != 0 && g.slots[i].key != key {
		i = (i + 1) & g.mask
	}
	return &g.slots[i]
}

// hash never returns 0, which marks an empty slot.
func hash(folded []byte) uint64 { return xxh3.Hash(folded) | 1<<63 }

// chain joins the hash of a phrase so far with that of its next word; h is 0
// before the first word, and the chain of one word is its hash.
func chain(h, word uint64) uint64 {
	if h == 0 {
		return word
	}
	return (bits.RotateLeft64(h, 23)*0x9E3779B97F4A7C15 ^ word) | 1<<63
}

// Classes returns the classes of form, in any case and with or without accents; 0 if it is in no list. Forms longer
// than 64 bytes have none.
func (g *Gazetteer) Classes(form []byte) Class {
	return g.find(Hash(form)).class
}

// Frequency returns how many people bear the name or live in the place, to
// within one part in a hundred; 0 if that is not known. The largest of a
// form's entries counts.
func (g *Gazetteer) Frequency(form []byte) int {
	return fromLog(g.find(Hash(form)).freq)
}

// Len returns the number of words and prefixes of phrases in the table.
func (g *Gazetteer) Len() int { return g.size }

// Fingerprint identifies the content of the lists. A model trained with lists
// as features stores it and refuses to run with others.
func (g *Gazetteer) Fingerprint() uint64 { return g.print }
