package surrogate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// drawn is a pool and how often each of its names is drawn: a head of names as
// often as people bear them, a tail of the others, all alike, and names that no
// list has, put together from two of the tail. Without the last a name that no
// list has would be an original: 18 % of people in Spain have one.
type drawn struct {
	head []string
	upTo []int // head[i] is drawn by numbers below upTo[i] and from upTo[i-1] on
	tail []string

	parts        []string // what rare names are put together from; none: the tail
	single       *drawn   // of a pool of pairs: that of the second half
	others, rare int      // weights of the tail and of names that are put together
}

// tens is the unit of weights: 100 people, in a file that counts thousands.
const tens = 10

// of appends a name of the pool to dst.
func (d *drawn) of(dst []byte, rng *rand.Rand) []byte {
	top := 0
	if len(d.upTo) > 0 {
		top = d.upTo[len(d.upTo)-1]
	}
	k := 0
	if top > 0 {
		k = rng.IntN(top + d.others + d.rare)
	}
	switch {
	case k < top:
		at, _ := slices.BinarySearch(d.upTo, k+1)
		return append(dst, d.head[at]...)
	case k >= top+d.others && top > 0:
		return d.together(dst, rng)
	}
	return append(dst, d.tail[rng.IntN(len(d.tail))]...)
}

// together appends a name that is put together: two given names that hardly
// anybody has together, or a spliced one.
func (d *drawn) together(dst []byte, rng *rand.Rand) []byte {
	switch {
	case d.single != nil:
		first, _, _ := strings.Cut(d.head[rng.IntN(len(d.head))], " ")
		return d.single.of(append(append(dst, first...), ' '), rng)
	case d.parts != nil:
		return splice(dst, d.parts, rng)
	}
	return splice(dst, d.tail, rng)
}

func (d *drawn) empty() bool { return len(d.head) == 0 && len(d.tail) == 0 }

// joint is how many letters two names share where one goes over into the other. Of
// surnames made so with four of names and towns a fifth are real.
const joint = 4

// most is how many names are looked through for the end of another.
const most = 300

// splice appends the beginning of one name and the end of another, which share
// some letters there: a jump of a chain of letters of that order (Shannon 1948), so
// it reads like a name of the list.
func splice(dst []byte, names []string, rng *rand.Rand) []byte {
	for range attempts {
		a := names[rng.IntN(len(names))]
		if len(a) < joint+3 {
			continue
		}
		at := joint + rng.IntN(len(a)-joint-1)
		first := rng.IntN(len(names))
		for i := range most {
			b := names[(first+i)%len(names)]
			from := strings.Index(b[min(1, len(b)):], a[at-joint:at]) + 1 + joint
			if from <= joint || a == b || !utf8.RuneStart(a[at]) || !utf8.RuneStart(a[at-joint]) {
				continue
			}
			if n := at + len(b) - from; n >= 5 && n <= 12 && len(b) > from && a[at:] != b[from:] && b[:from] != a[:at] {
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
		top := weight
		if n := len(d.upTo); n > 0 {
			top += d.upTo[n-1]
		}
		d.head, d.upTo = append(d.head, name), append(d.upTo, top)
	}
}

// known remembers what the head of a pool says of a name. False: another pool has it.
func (l *lists) known(at pool, name string) bool {
	f := folded(name)
	if hasAccents([]byte(name)) {
		l.accented[f] = true
	}
	switch {
	case at < surnames:
		g := given{origin(at % pool(numOrigins)), at >= womenNames}
		l.remember(name, g)
		return l.given[strings.ToLower(name)] == g
	case at >= twoMen && at < afterDeLa:
		l.pairs[f] = true
	case at < twoMen:
		o := origin(at - surnames)
		if _, twice := l.surnames[f]; !twice {
			l.surnames[f] = o
		}
		return l.surnames[f] == o
	}
	return true
}
