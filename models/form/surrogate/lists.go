package surrogate

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

//go:embed lists/*.txt
var embedded embed.FS

// origin is the language that a name belongs to.
type origin uint8

const (
	spanish origin = iota
	catalan
	elsewhere
	numOrigins
)

// pool is a list that surrogates of one kind come from.
type pool uint8

const (
	menNames    pool = iota // by origin
	womenNames       = menNames + pool(numOrigins)
	surnames         = womenNames + pool(numOrigins)
	twoMen           = surnames + pool(numOrigins) // José Luis
	twoWomen         = twoMen + 2                  // Spanish and Catalan ones
	afterDeLa        = twoWomen + 2                // surnames that stand behind these words
	afterDel         = afterDeLa + 1
	afterDeLos       = afterDeLa + 2
	afterDeLas       = afterDeLa + 3
	afterDe          = afterDeLa + 4
	mariaDeLa        = afterDeLa + 5    // given names that stand behind them and María, in the same order; behind María alone
	towns            = mariaDeLa + 6    // of Spain, by size
	cities           = towns + numSizes // of the world
	provinces        = cities + 1
	countries        = cities + 2
	acronyms         = cities + 3 // HUVH
	streetsBy        = cities + 4 // these and those below: Spanish and Catalan ones
	houses           = streetsBy + 2
	care             = houses + 2 // stand behind CAP and centro de salud
	countriesBy      = care + 2
	tradesBy         = countriesBy + 2 // men's and women's
	numPools         = tradesBy + 4
)

func (p pool) isSurname() bool {
	return p >= surnames && p < twoMen || p >= afterDeLa && p < mariaDeLa
}

// numSizes is the number of size classes of towns: up to 2,000 people, 10,000, 50,000, and more. A village in place of
// Barcelona would read as nonsense, and Barcelona in place of a village would be everybody's guess. With a class of its own for
// 200,000 Barcelona was always Palma, since all other such towns of Catalan are of its province.
const numSizes = 4

func sizeOf(people int) pool {
	for i, limit := range [...]int{2_000, 10_000, 50_000} {
		if people <= limit {
			return pool(i)
		}
	}
	return numSizes - 1
}

// given holds the origin and sex of a given name.
type given struct {
	origin origin
	woman  bool
}

// lists are the pools and what is known of the names in them, by folded form.
type lists struct {
	pools    [numPools]drawn
	given    map[string]given
	surnames map[string]origin
	places   map[string]pool   // pool of towns, cities, provinces or countries
	accented map[string]bool   // names that are written with accents
	pairs    map[string]origin // given names that go together

	bothGiven, bothSurnames map[string]bool // folded: they are Spanish and Catalan ones

	towns [numOrigins][]string

	catalan     map[string]bool // folded surnames of Catalonia that no letter gives away
	inCatalonia map[string]bool // folded towns, and those of the Balearic Islands
	rarer       [2][]string     // given names of men and women that are hardly known

	homes       [2]homes // by language
	homesBySize [2][numSizes]homes
	homeOf      map[string]*home     // by folded town
	provinces   map[string]*province // by folded name
	countries   [2][]string          // folded, by language
	trades      map[string]bool      // folded: it is Catalan
	both        map[string]bool      // trades that are Spanish too

	leaning map[string]int  // how many more people bear it as a given name than as a surname, by hundreds
	endings map[string]int  // of given names: how many more women's than men's end so
	women   map[string]bool // folded given names that no other list gives a gender, whether they are women's
}

var shipped = sync.OnceValue(newLists)

// newLists reads the lists that velum ships.
func newLists() *lists {
	l := &lists{given: map[string]given{}, surnames: map[string]origin{}, places: map[string]pool{}, accented: map[string]bool{},
		pairs: map[string]origin{}, endings: map[string]int{}, leaning: map[string]int{}, catalan: map[string]bool{}}
	l.both, l.bothGiven, l.bothSurnames, l.women = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	l.readFrequent()
	l.readHomes()
	l.readSites()
	for line := range lines("lists/catalan.txt") {
		for name := range strings.FieldsSeq(line) {
			l.catalan[name] = true
		}
	}
	for line := range lines("lists/genders.txt") {
		gender, name, _ := strings.Cut(line, " ")
		l.women[folded(name)] = gender == "f"
		l.learnEndings(folded(name), gender == "f")
	}
	for line := range lines("lists/given.txt") {
		gender, rest, _ := strings.Cut(line, " ")
		from, name, _ := strings.Cut(rest, " ")
		l.addGiven(name, given{origin(slices.Index([]string{"es", "ca", "other"}, from)), gender == "f"})
	}
	for _, file := range []string{"lists/surnames.txt", "lists/own-surnames.txt"} {
		for name := range lines(file) {
			if o, added := l.addSurname(name, true); added {
				l.add(surnames+pool(o), name)
			}
		}
	}
	l.readCatalonia()
	l.takeIn(gazetteer.Shipped(), "own-", true) // these lists know better where a name is at home
	l.takeIn(gazetteer.ShippedNames(), "own-", false)
	l.takeIn(gazetteer.Shipped(), "geonames-", false)
	l.takeIn(gazetteer.Shipped(), "faker-", false)
	for o := range pool(elsewhere) {
		l.pools[twoMen+o].single, l.pools[twoWomen+o].single = &l.pools[menNames+o], &l.pools[womenNames+o]
	}
	for o := range numOrigins {
		l.pools[menNames+pool(o)].rarer, l.pools[womenNames+pool(o)].rarer = l.rarer[0], l.rarer[1]
		d := &l.pools[surnames+pool(o)]
		d.parts, d.rarer = append(slices.Clone(d.tail), l.towns[o]...), l.towns[o]
	}
	l.weigh()
	return l
}

// weigh adds up the weights of all pools, and notes which names are written with accents.
func (l *lists) weigh() {
	for at := range l.pools {
		l.pools[at].weigh()
	}
	for _, accents := range [...]bool{false, true} { // rare names that are written both ways are written without
		for at := range l.pools[:towns] {
			for _, name := range slices.Concat(l.pools[at].head, l.pools[at].tail) {
				f := folded(name)
				if _, said := l.accented[f]; !said && HasAccents([]byte(name)) == accents {
					l.accented[f] = accents
				}
			}
		}
	}
}

// takeIn adds the entries of the lists whose names begin with a prefix; spain says that their surnames are Spanish.
func (l *lists) takeIn(files fs.FS, prefix string, spain bool) {
	for e, err := range gazetteer.Entries(files) {
		if err != nil {
			panic("surrogate: " + err.Error()) // the gazetteer's own test reads them
		}
		if strings.HasPrefix(e.List, prefix) {
			l.sort(e, spain)
		}
	}
}

// readCatalonia finds the towns whose names are Catalan surnames too.
func (l *lists) readCatalonia() {
	l.inCatalonia = map[string]bool{}
	in := false
	for line := range lines("lists/regions.txt") {
		if region, ok := strings.CutPrefix(line, "= "); ok {
			in = strings.HasPrefix(region, "Cataluña") || strings.HasPrefix(region, "Illes Balears")
		} else if in {
			l.inCatalonia[folded(line)] = true
		}
	}
}

// Streets returns names of streets, without their kind.
func Streets() []string { return slices.Collect(lines("lists/streets.txt")) }

// lines calls yield for the entries of an embedded list.
func lines(file string) func(yield func(string) bool) {
	text, err := embedded.ReadFile(file)
	if err != nil {
		panic("surrogate: " + err.Error()) // it is in the binary
	}
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

func folded(name string) string { return string(gazetteer.Fold(nil, []byte(name))) }

// add adds a name to the tail of a pool.
func (l *lists) add(at pool, name string) { l.pools[at].tail = append(l.pools[at].tail, name) }

// remember keeps what is known of a given name: as it is written, and folded.
func (l *lists) remember(name string, g given) {
	l.learnEndings(folded(name), g.woman)
	for _, form := range []string{folded(name), strings.ToLower(name)} {
		if _, twice := l.given[form]; !twice {
			l.given[form] = g
		}
	}
}

func (l *lists) addGiven(name string, g given) {
	l.remember(name, g)
	g = l.given[strings.ToLower(name)]
	if at := map[bool]pool{false: menNames, true: womenNames}[g.woman] + pool(g.origin); !slices.Contains(l.pools[at].head, name) {
		l.add(at, name)
	}
}

func (l *lists) sort(e gazetteer.Entry, spain bool) {
	oneWord := !strings.ContainsAny(e.Form, " .-'")
	switch {
	case e.Class == gazetteer.GivenName:
		if f := folded(e.Form); oneWord {
			if _, known := l.given[f]; !known {
				l.given[f] = given{guessOrigin(strings.ToLower(e.Form)), l.guessWoman(f)}
				l.addRarer(f, e.Form, spain && e.List == "own-given-names.txt" || e.List == "faker-given-names.txt")
			}
		}
	case e.Class == gazetteer.Surname && oneWord && len(e.Form) > 3:
		if o, added := l.addSurname(e.Form, spain && e.List == "own-surnames.txt"); added && !strings.HasPrefix(e.List, "faker-origin") {
			l.add(surnames+pool(o), e.Form)
		}
	case e.Class == gazetteer.Municipality:
		l.addTown(e)
	case e.Class == gazetteer.Province:
		l.addPlace(e.Form, provinces)
	case e.Class == gazetteer.Country:
		l.addPlace(e.Form, countries)
	case e.Class == gazetteer.Centre && isAcronym([]byte(e.Form)):
		l.add(acronyms, e.Form)
	}
}

// addSurname keeps where a surname is at home: those of some lists are of Spain,
// those of the others from elsewhere. False: it is known.
func (l *lists) addSurname(name string, spain bool) (o origin, added bool) {
	f := folded(name)
	if o, twice := l.surnames[f]; twice {
		return o, false
	}
	o = guessOrigin(strings.ToLower(name))
	if l.catalan[f] {
		o = catalan
	} else if !spain {
		o = elsewhere
	}
	l.surnames[f] = o
	return o, true
}

func (l *lists) addTown(e gazetteer.Entry) {
	switch {
	case strings.HasPrefix(e.List, "geonames-spain"):
		at := towns + sizeOf(e.Frequency)
		if e.List == "geonames-spain.txt" && !strings.ContainsAny(e.Form, " -'") {
			o := spanish
			if l.inCatalonia[folded(e.Form)] {
				o = catalan
			}
			l.towns[o] = append(l.towns[o], e.Form)
		}
		if e.List == "geonames-spain.txt" && e.Frequency > 0 && strings.Count(e.Form, " ") < 3 {
			l.addPlace(e.Form, at)
		} else if f := folded(e.Form); l.places[f] == 0 {
			l.places[f] = at
		}
	case e.List == "geonames-world.txt":
		l.addPlace(e.Form, cities)
	default: // own lists do not say how large
		if f := folded(e.Form); l.places[f] == 0 {
			l.places[f] = towns + 2
		}
	}
}

func (l *lists) addPlace(name string, at pool) {
	f := folded(name)
	if l.places[f] == 0 {
		l.places[f] = at
		l.add(at, name)
	}
}

// sites are the sections of lists/sites.txt: pool of the Spanish ones.
var sites = map[string]pool{"street": streetsBy, "house": houses, "care": care, "country": countriesBy, "trade m": tradesBy,
	"trade f": tradesBy + 2}

// readSites reads names of streets, houses, countries and trades by language.
func (l *lists) readSites() {
	l.trades = map[string]bool{}
	at, tongue := pool(0), 0
	for line := range lines("lists/sites.txt") {
		if section, ok := strings.CutPrefix(line, "= "); ok {
			cut := len(section) - 3
			tongue = language(section[cut:] == " ca")
			at = sites[section[:cut]] + pool(tongue)
			continue
		}
		for name := range strings.SplitSeq(line, ";") {
			name, weight, counted := strings.Cut(name, "*")
			switch {
			case counted:
				l.addFrequent(at, number([]byte(weight)), []string{name})
				l.countries[tongue] = append(l.countries[tongue], folded(name))
				continue
			case at >= tradesBy:
				l.knowTrade(folded(name), tongue == 1)
			}
			l.add(at, name)
		}
	}
}

// knowTrade keeps of which language a trade is, unless it is of both.
func (l *lists) knowTrade(f string, isCatalan bool) {
	if was, twice := l.trades[f]; twice && was != isCatalan {
		l.both[f] = true
	}
	l.trades[f] = isCatalan
}

// guessWoman tells whether a folded given name is a woman's that is in no list of
// names with gender and origin: as it is known, or as most names end that end so.
func (l *lists) guessWoman(f string) bool {
	if woman, known := l.women[f]; known {
		return woman
	}
	for n := min(longestEnding, len(f)); n > 0; n-- {
		if more := l.endings[f[len(f)-n:]]; more > 1 || more < -1 {
			return more > 0
		}
	}
	return false
}

// addRarer adds a given name of unknown origin as material for unlisted names, if its ending shows the sex.
func (l *lists) addRarer(f, name string, spain bool) {
	for n := min(longestEnding, len(f)); n > 0; n-- {
		more := l.endings[f[len(f)-n:]]
		if more > -telling && more < telling {
			continue
		}
		woman, known := l.women[f]
		k := map[bool]pool{true: 1}[woman || !known && more > 0]
		l.rarer[k] = append(l.rarer[k], name)
		if spain {
			l.add(menNames+k*(womenNames-menNames)+pool(l.given[f].origin), name)
		}
		return
	}
}

const (
	telling       = 8 // how many more names of one gender an ending must have to tell
	longestEnding = 5 // bytes
)

// learnEndings counts women's names, less men's, by their ends.
func (l *lists) learnEndings(f string, woman bool) {
	by := map[bool]int{true: 1, false: -1}[woman]
	for n := 1; n <= min(longestEnding, len(f)); n++ {
		l.endings[f[len(f)-n:]] += by
	}
}

// guessOrigin tells Catalan names in small letters by letters and endings that Spanish lacks.
func guessOrigin(lower string) origin {
	if strings.ContainsAny(lower, "àèòïç·") || strings.Contains(lower, "ny") || strings.Contains(lower, "tx") {
		return catalan
	}
	switch last, size := utf8.DecodeLastRuneInString(lower); {
	case strings.ContainsRune("tcfgmpbíóéàè", last) && len(lower) > 3+size && !strings.HasSuffix(lower, "ng"):
		return catalan
	}
	for _, ending := range [...]string{"uig", "aig", "eig", "oig", "osch", "ach", "ells", "alls", "ull", "ell", "eu", "ïs"} {
		if strings.HasSuffix(lower, ending) {
			return catalan
		}
	}
	return spanish
}
