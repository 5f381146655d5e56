package surrogate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// drawn is a pool of names with their weights: each name is drawn with its frequency among people, whatever name it
// replaces. Surrogates of about the same frequency as the original would identify people: of 300 candidates 81 at the
// first guess, 143 with a table of the institution (scripts/bench/surrogates.py). A surrogate may reveal only sex and
// language.
type drawn struct {
	head   []string
	weight []int // of the names of head: how many bear them
	upTo   []int // head[i] is drawn by numbers below upTo[i] and from upTo[i-1] on
	tail   []string

	rarer        []string // hardly in any list: towns, names of other countries; none: all are put together
	parts        []string // what rare names are put together from; none: the tail
	single       *drawn   // of a pool of pairs: that of the second half
	others, rare int      // of a hundred people: those who have a name of the tail, and one of no list
}

// tens converts the thousands of people that the file counts into weights, whose unit is 100 people.
const tens = 10

// of appends a name of the pool to dst.
func (d *drawn) of(dst []byte, rng *rand.Rand) []byte {
	u := rng.IntN(100)
	switch {
	case u < d.rare:
		return d.together(dst, rng)
	case len(d.tail) > 0 && (u < d.rare+d.others || len(d.head) == 0):
		return append(dst, d.tail[rng.IntN(len(d.tail))]...)
	}
	at, _ := slices.BinarySearch(d.upTo, rng.IntN(d.upTo[len(d.upTo)-1])+1)
	return append(dst, d.head[at]...)
}

// weigh adds up the weights of the head.
func (d *drawn) weigh() {
	sum := 0
	d.upTo = d.upTo[:0]
	for _, n := range d.weight {
		sum += max(n, 1)
		d.upTo = append(d.upTo, sum)
	}
}

// together appends a name that no list has: two given names that are rarely combined, a name of another kind, or a
// spliced one.
func (d *drawn) together(dst []byte, rng *rand.Rand) []byte {
	switch {
	case d.single != nil:
		first, _, _ := strings.Cut(d.head[rng.IntN(len(d.head))], " ")
		dst = append(append(dst, first...), ' ')
		for {
			if both := d.single.of(dst, rng); string(both[len(dst):]) != first {
				return both
			}
		}
	case d.rarer != nil && rng.IntN(spliced) > 0:
		return append(dst, d.rarer[rng.IntN(len(d.rarer))]...)
	case d.parts != nil:
		return splice(dst, d.parts, rng)
	}
	return splice(dst, d.tail, rng)
}

func (d *drawn) empty() bool { return len(d.head)+len(d.tail) == 0 }

// spliced is the share of unlisted surnames that are spliced, one in that many; the others are names of towns.
const spliced = 3

// joint is the number of letters that two spliced names share. With four, the same few names would come again and
// again.
const joint = 3

// most is how many names are looked through for the end of another.
const most = 300

// splice appends the beginning of one name and the end of another, which share some letters there. That is one step of
// a Markov chain of letters (Shannon 1948), so the result resembles the names of the list.
func splice(dst []byte, names []string, rng *rand.Rand) []byte {
	for range attempts {
		a := names[rng.IntN(len(names))]
		if len(a) < joint+4 {
			continue
		}
		at := joint + 1 + rng.IntN(len(a)-joint-2)
		first := rng.IntN(len(names))
		for i := range most {
			b := names[(first+i)%len(names)]
			from := strings.Index(b[min(1, len(b)):], a[at-joint:at]) + 1 + joint
			if from <= joint || a == b || !utf8.RuneStart(a[at]) || !utf8.RuneStart(a[at-joint]) {
				continue
			}
			if n := at + len(b) - from; n >= 6 && n <= 12 && len(b) > from && a[at:] != b[from:] && b[:from] != a[:at] {
				return append(append(dst, a[:at]...), b[from:]...)
			}
		}
	}
	return append(dst, names[rng.IntN(len(names))]...)
}

// frequent are the sections of lists/frequent.txt.
var frequent = map[string]pool{
	"surname es": surnames + pool(spanish), "surname ca": surnames + pool(catalan), "surname other": surnames + pool(elsewhere),
	"man es": menNames + pool(spanish), "man ca": menNames + pool(catalan), "man other": menNames + pool(elsewhere),
	"woman es": womenNames + pool(spanish), "woman ca": womenNames + pool(catalan), "woman other": womenNames + pool(elsewhere),
	"two-man es": twoMen + pool(spanish), "two-man ca": twoMen + pool(catalan),
	"two-woman es": twoWomen + pool(spanish), "two-woman ca": twoWomen + pool(catalan),
	"after de la": afterDeLa, "after del": afterDel, "after de los": afterDeLos, "after de las": afterDeLas, "after de": afterDe,
	"maria de la": mariaDeLa, "maria del": mariaDeLa + 1, "maria de los": mariaDeLa + 2, "maria de las": mariaDeLa + 3,
	"maria de": mariaDeLa + 4, "maria": mariaDeLa + 5,
}

// readFrequent fills the heads of the pools.
func (l *lists) readFrequent() {
	at := pool(0)
	for line := range lines("lists/frequent.txt") {
		if section, ok := strings.CutPrefix(line, "= "); ok {
			if at, ok = frequent[section]; !ok {
				panic("surrogate: frequent.txt: " + section) // a test reads it
			}
			continue
		}
		count, rest, _ := strings.Cut(line, " ")
		d := &l.pools[at]
		if number, err := strconv.Atoi(rest); err == nil {
			switch count {
			case "tail":
				d.others = number
			case "rare":
				d.rare = number
			}
			continue
		}
		thousands, err := strconv.ParseFloat(count, 64)
		if err != nil {
			panic(fmt.Sprintf("surrogate: frequent.txt: %v", err)) // a test reads it
		}
		l.addFrequent(at, int(thousands*tens), strings.Fields(rest))
	}
}

// addFrequent adds names of one weight to the head of a pool, each once.
func (l *lists) addFrequent(at pool, weight int, names []string) {
	d := &l.pools[at]
	two := at >= twoMen && at < afterDeLa
	for i, name := range names {
		if two {
			if i%2 == 1 {
				continue
			}
			name += " " + names[i+1]
		}
		if slices.Contains(d.head, name) || !l.known(at, name) {
			continue
		}
		switch {
		case at < surnames:
			l.leaning[folded(name)] += weight
		case at < twoMen:
			l.leaning[folded(name)] -= weight
		}
		d.head, d.weight = append(d.head, name), append(d.weight, weight)
	}
}

// known records what the head of a pool says about a name. It returns false if another pool has the name, except for
// names that are both Spanish and Catalan.
func (l *lists) known(at pool, name string) bool {
	f := folded(name)
	if HasAccents([]byte(name)) {
		l.accented[f] = true
	}
	switch {
	case at < surnames:
		g := given{origin(at % pool(numOrigins)), at >= womenNames}
		l.remember(name, g)
		was := l.given[f]
		if was.woman == g.woman && was.origin != g.origin && was.origin != elsewhere && g.origin != elsewhere {
			l.bothGiven[f] = true
			return true
		}
		return l.given[strings.ToLower(name)] == g
	case at >= twoMen && at < afterDeLa:
		o := origin(at-twoMen) % 2
		if was, twice := l.pairs[f]; twice && was != o {
			l.bothGiven[f] = true
		}
		l.pairs[f] = o
	case at < twoMen:
		return l.knownSurname(f, name, origin(at-surnames))
	}
	return true
}

// knownSurname records the origin of a surname: folded, and with its accents.
func (l *lists) knownSurname(f, name string, o origin) bool {
	if lower := strings.ToLower(name); lower != f {
		l.surnames[lower] = o
	}
	was, twice := l.surnames[f]
	switch {
	case !twice:
		l.surnames[f] = o
	case was != o && was != elsewhere && o != elsewhere:
		l.bothSurnames[f] = true
	default:
		return was == o
	}
	return true
}
