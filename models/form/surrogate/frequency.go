package surrogate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// drawn is a pool and how often each of its names is drawn. A name of the pool has
// another of its band in its place, of names about as rare, and only what no list has
// may have another of these: so an extract has as many names of a band as the archive
// has, whoever its people are. Without names of no list one of them would be an
// original: 18 % of people in Spain have one.
type drawn struct {
	head   []string
	weight []int // of the names of head: how many bear them
	tail   []string
	lists  []int // where the names of a list begin in tail

	bands []band
	rank  map[string]rank // of folded names

	rarer        []string // hardly in any list: towns, names of other countries; none: all are put together
	parts        []string // what rare names are put together from; none: the last band
	single       *drawn   // of a pool of pairs: that of the second half
	others, rare int      // weights of names of the last bands and of no list, for one that no list has
}

// band is names that are about as rare as each other, each drawn as often as people
// bear it.
type band struct {
	names []string
	upTo  []int // names[i] is drawn by numbers below upTo[i] and from upTo[i-1] on
}

// rank is how rare a name is: 0 of no list, then the number of its band from 1.
type rank int

const (
	unlisted        rank = 0
	elsewhereListed rank = -1 // in another pool
)

// In a band are names that at most so many times more people bear than the rarest of
// them, and so many names at least.
const (
	bandWidth = 3
	bandLeast = 12
)

// sortBands makes the bands of a pool: of its head by how many bear a name, of its
// tail by the list that it is of, for what is in a later list is rarer.
func (d *drawn) sortBands() {
	order := make([]int, len(d.head))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(d.weight[y], d.weight[x]) })
	d.bands, d.rank = nil, map[string]rank{}
	last := 0 // weight of the first name of the band
	for _, i := range order {
		if n := len(d.bands); n == 0 || d.weight[i]*bandWidth < last && len(d.bands[n-1].names) >= bandLeast {
			d.bands, last = append(d.bands, band{}), d.weight[i]
		}
		d.put(d.head[i], max(d.weight[i], 1))
	}
	for i, name := range d.tail {
		if n := len(d.bands); n == 0 || (i == 0 || slices.Contains(d.lists, i)) && len(d.bands[n-1].names) >= bandLeast {
			d.bands = append(d.bands, band{})
		}
		d.put(name, 1)
	}
}

// put puts a name into the last band.
func (d *drawn) put(name string, weight int) {
	b := &d.bands[len(d.bands)-1]
	if n := len(b.upTo); n > 0 {
		weight += b.upTo[n-1]
	}
	b.names, b.upTo = append(b.names, name), append(b.upTo, weight)
	if f := folded(name); d.rank[f] == unlisted {
		d.rank[f] = rank(len(d.bands))
	}
}

// of appends a name of the band to dst.
func (b *band) of(dst []byte, rng *rand.Rand) []byte {
	at, _ := slices.BinarySearch(b.upTo, rng.IntN(b.upTo[len(b.upTo)-1])+1)
	return append(dst, b.names[at]...)
}

// rankOf returns how rare a folded name is.
func (l *lists) rankOf(at pool, name []byte) rank {
	if r := l.pools[at].rank[string(name)]; r != unlisted {
		return r
	}
	_, given := l.given[string(name)]
	_, surname := l.surnames[string(name)]
	if given && at < surnames || surname && at.isSurname() {
		return elsewhereListed
	}
	return unlisted
}

// tens is the unit of weights: 100 people, in a file that counts thousands.
const tens = 10

// of appends a name of the pool to dst, as rare as another if it has such.
func (d *drawn) of(dst []byte, rng *rand.Rand, as rank) []byte {
	if rest := d.others + d.rare; as == unlisted && rest > 0 && rng.IntN(rest) >= d.others {
		return d.together(dst, rng)
	}
	k := int(as) - 1
	if as == unlisted || as == elsewhereListed {
		if len(d.tail) > 0 {
			return append(dst, d.tail[rng.IntN(len(d.tail))]...)
		}
		k = len(d.bands) - 1
	}
	if rng.IntN(nextBand) == 0 && k > 0 {
		k--
	}
	return d.bands[k].of(dst, rng)
}

// nextBand: one in so many names has one of the more frequent band in its place.
const nextBand = 10

// together appends a name that no list has: two given names that hardly anybody
// has together, one of another kind, or a spliced one.
func (d *drawn) together(dst []byte, rng *rand.Rand) []byte {
	switch {
	case d.single != nil:
		first, _, _ := strings.Cut(d.head[rng.IntN(len(d.head))], " ")
		dst = append(append(dst, first...), ' ')
		for {
			k := rng.IntN(len(d.single.bands))
			if rng.IntN(rareHalf) > 0 {
				k = min(k, 1)
			}
			both := d.single.bands[k].of(dst, rng)
			if string(both[len(dst):]) != first {
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

func (d *drawn) empty() bool { return len(d.bands) == 0 }

// Of the second halves of pairs one in so many is rare, and of surnames of no list one
// is spliced, for of towns half are surnames and of what is spliced a sixth.
const (
	rareHalf = 12
	spliced  = 3
)

// joint is how many letters two names share where one goes over into the other. With
// four the same few come again and again.
const joint = 3

// most is how many names are looked through for the end of another.
const most = 300

// splice appends the beginning of one name and the end of another, which share
// some letters there: a jump of a chain of letters of that order (Shannon 1948), so
// it reads like a name of the list.
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
	"maria de la": mariaDeLa, "maria del": mariaDeLa + 1, "maria de los": mariaDeLa + 2, "maria de las": mariaDeLa + 3, "maria de": mariaDeLa + 4, "maria": mariaDeLa + 5,
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
				d.others = number * tens
			case "rare":
				d.rare = number * tens
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

// known remembers what the head of a pool says of a name. False: another pool has
// it, but for Spanish and Catalan names, which may be both.
func (l *lists) known(at pool, name string) bool {
	f := folded(name)
	if hasAccents([]byte(name)) {
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

// knownSurname remembers where a surname is at home: folded, and with its accents.
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
