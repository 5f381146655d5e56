package surrogate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a name in a table.
type Kind uint8

// The kinds of names: given names of either sex, and surnames.
const (
	Man Kind = iota
	Woman
	Surname
	numKinds
)

var kindNames = [numKinds]string{"man", "woman", "surname"}

// KindNames returns the names of the kinds.
func KindNames() []string { return kindNames[:] }

// KindOf returns the kind with that name.
func KindOf(name string) (Kind, bool) {
	k := slices.Index(kindNames[:], strings.ToLower(strings.TrimSpace(name)))
	return Kind(max(k, 0)), k >= 0
}

// Name is a row of a table of names, as statistical offices publish them.
type Name struct {
	Kind   Kind
	Text   string // one given name, or two that belong together; names of more words are not drawn
	People int    // number of people who bear it
}

// Names is a table of names with their frequencies, from which surrogates are drawn.
type Names struct{ lists *lists }

// poolsOf are the pools of names of a kind, of one word and of two.
var poolsOf = [numKinds][2]pool{{menNames, twoMen}, {womenNames, twoWomen}, {surnames, surnames}}

// NewNames returns a table that replaces the frequencies of velum's own lists. Origin and spelling of a name known to
// velum are kept; names of velum's lists that are missing in all get the lowest frequency.
func NewNames(all []Name) *Names {
	t := &table{lists: newLists(), people: map[string][numKinds]int{}, forms: map[spelling]string{}}
	for _, n := range all {
		of := t.people[folded(n.Text)]
		of[n.Kind] += max(n.People, 0)
		t.people[folded(n.Text)] = of
	}
	for at := range t.pools[:afterDeLa] {
		d := &t.pools[at]
		rest := slices.Concat(d.head, d.tail)
		for _, name := range rest {
			o := origin(at) % numOrigins
			if pool(at) >= twoMen {
				o = origin(pool(at)-twoMen) % 2
			}
			for _, o := range []origin{o, numOrigins} {
				if f := (spelling{o, folded(name)}); t.forms[f] == "" {
					t.forms[f] = name
				}
			}
		}
		d.tail = slices.DeleteFunc(rest, func(name string) bool { _, known := t.people[folded(name)]; return known })
		d.head, d.weight, d.others, d.rare = nil, nil, 1, 1 // hardly anybody has what the table lacks
	}
	for _, n := range all {
		t.take(n)
	}
	t.weigh()
	return &Names{t.lists}
}

// table is lists that a table of names is put into.
type table struct {
	*lists
	people map[string][numKinds]int // by folded name
	forms  map[spelling]string      // as names are written
}

// spelling is a folded name where it is at home: Nuria, in Catalan Núria. numOrigins: anywhere.
type spelling struct {
	origin
	folded string
}

// hardly is the ratio of people above which a name counts as one of another kind only: García is also a given name, of
// twenty people.
const hardly = 20

// take puts a name of the table into the pools where it is at home.
func (t *table) take(n Name) {
	f, words := folded(n.Text), strings.Fields(n.Text)
	of := t.people[f]
	given := max(of[Man], of[Woman])
	switch {
	case n.People <= 0 || len(words) == 0 || len(words) > 2 || len(f) < 3 || strings.ContainsAny(n.Text, ".,'-"),
		len(words) == 2 && (n.Kind == Surname || particles[strings.ToLower(words[0])]),
		n.Kind == Surname && of[Surname]*hardly < given,
		n.Kind != Surname && (given*hardly < of[Surname] || of[n.Kind] < given):
		return
	}
	t.leaning[f] = (given - of[Surname]) / 100
	o, both := t.home(n.Kind, f, strings.ToLower(n.Text), len(words) == 2)
	homes := []origin{o}
	if both {
		homes = []origin{spanish, catalan}
	}
	for _, o := range homes {
		text := t.written(words[0], o)
		if len(words) == 2 {
			text += " " + t.written(words[1], o)
		}
		d := &t.pools[poolsOf[n.Kind][len(words)-1]+pool(o)]
		d.head, d.weight = append(d.head, text), append(d.weight, n.People)
	}
}

// home returns where a name is at home, and remembers it. both: it is Spanish and Catalan.
func (t *table) home(k Kind, f, lower string, two bool) (o origin, both bool) {
	known := false
	switch {
	case k == Surname:
		if o, known = t.surnames[f]; !known {
			o = guessOrigin(lower)
		}
		t.surnames[f] = o
		return o, t.bothSurnames[f]
	case two:
		if o, known = t.pairs[f]; !known {
			_, second, _ := strings.Cut(f, " ")
			if !t.bothGiven[second] && t.given[second].origin == catalan {
				o = catalan
			}
		}
		t.pairs[f] = o
		return o, t.bothGiven[f]
	}
	g, known := t.given[f]
	if !known {
		g.origin = guessOrigin(lower)
	}
	g.woman = k == Woman
	t.given[f] = g
	return g.origin, t.bothGiven[f]
}

// written returns a word as names are written: as the lists have it, at home or
// elsewhere, or, where the table has capitals alone, with one capital.
func (t *table) written(word string, at origin) string {
	if form := cmp.Or(t.forms[spelling{at, folded(word)}], t.forms[spelling{numOrigins, folded(word)}]); form != "" &&
		!HasAccents([]byte(word)) {
		return form
	}
	if strings.IndexFunc(word, unicode.IsLower) >= 0 {
		return word
	}
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + strings.ToLower(word[size:])
}

// Use makes the writer draw names from the table n.
func (w *Writer) Use(n *Names) { w.lists = n.lists }
