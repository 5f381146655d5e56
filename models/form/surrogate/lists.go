package surrogate

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/velum-health/velum/models/word/gazetteer"
)

//go:embed lists/*.txt
var embedded embed.FS

// origin of a name: the language that it is at home in.
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
	menNames   pool = iota // by origin
	womenNames      = menNames + pool(numOrigins)
	surnames        = womenNames + pool(numOrigins)
	towns           = surnames + pool(numOrigins) // of Spain, by size
	cities          = towns + numSizes            // of the world
	provinces       = cities + 1
	countries       = cities + 2
	centres         = cities + 3 // stand behind Hospital
	acronyms        = cities + 4 // HUVH
	streets         = cities + 5
	trades          = cities + 6 // professions that end in a
	tradesOf        = cities + 7 // the others
	numPools        = cities + 8
)

// numSizes is how many sizes of towns there are: up to 2,000 people, 10,000,
// 50,000, 200,000, more. A village of 300 people in place of Barcelona would
// read as nonsense, Barcelona in place of a village would be everybody's guess.
const numSizes = 5

func sizeOf(people int) pool {
	for i, limit := range [...]int{2_000, 10_000, 50_000, 200_000} {
		if people <= limit {
			return pool(i)
		}
	}
	return numSizes - 1
}

// given is what is known of a given name.
type given struct {
	origin origin
	woman  bool
}

// lists are the pools and what is known of the names in them, by folded form.
type lists struct {
	pools    [numPools][]string
	given    map[string]given
	surnames map[string]origin
	places   map[string]pool // pool of towns, cities, provinces or countries
}

var shipped = sync.OnceValue(func() *lists {
	l := &lists{given: map[string]given{}, surnames: map[string]origin{}, places: map[string]pool{}}
	for line := range lines("lists/given.txt") {
		gender, rest, _ := strings.Cut(line, " ")
		from, name, _ := strings.Cut(rest, " ")
		l.addGiven(name, given{origin(slices.Index([]string{"es", "ca", "other"}, from)), gender == "f"})
	}
	for name := range lines("lists/streets.txt") {
		l.pools[streets] = append(l.pools[streets], name)
	}
	for _, faker := range []bool{false, true} { // the other lists know better where a name is at home
		for e, err := range gazetteer.Entries(gazetteer.Shipped()) {
			if err != nil {
				panic("surrogate: " + err.Error()) // the gazetteer's own test reads them
			}
			if strings.HasPrefix(e.List, "faker-") == faker {
				l.sort(e)
			}
		}
	}
	return l
})

// Streets returns names of streets, without their kind.
func Streets() []string { return shipped().pools[streets] }

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

func (l *lists) addGiven(name string, g given) {
	f := folded(name)
	if _, twice := l.given[f]; !twice {
		l.given[f] = g
	}
	l.given[strings.ToLower(name)] = g
	at := menNames
	if g.woman {
		at = womenNames
	}
	l.pools[at+pool(g.origin)] = append(l.pools[at+pool(g.origin)], name)
}

func (l *lists) sort(e gazetteer.Entry) {
	oneWord := !strings.ContainsAny(e.Form, " .-'")
	switch {
	case e.Class == gazetteer.GivenName:
		if f := folded(e.Form); oneWord {
			if _, known := l.given[f]; !known {
				l.given[f] = given{guessOrigin(e.Form), guessWoman(f)}
			}
		}
	case e.Class == gazetteer.Surname && oneWord && len(e.Form) > 3:
		l.addSurname(e)
	case e.Class == gazetteer.Municipality:
		l.addTown(e)
	case e.Class == gazetteer.Province:
		l.addPlace(e.Form, provinces)
	case e.Class == gazetteer.Country:
		l.addPlace(e.Form, countries)
	case e.Class == gazetteer.Centre:
		l.addCentre(e.Form)
	case e.Class == gazetteer.Profession && oneWord && len(e.Form) > 4:
		at := tradesOf
		if strings.HasSuffix(e.Form, "a") {
			at = trades
		}
		l.pools[at] = append(l.pools[at], e.Form)
	}
}

// addSurname takes a surname in: names of the hand-written list, which are
// those of Spain, are written; those of other sources from elsewhere.
func (l *lists) addSurname(e gazetteer.Entry) {
	f := folded(e.Form)
	if _, twice := l.surnames[f]; twice {
		return
	}
	o := guessOrigin(e.Form)
	if !strings.HasPrefix(e.List, "own-") && o == spanish && !strings.HasSuffix(f, "ez") {
		o = elsewhere
	}
	if slices.Contains(catalanSurnames, f) {
		o = catalan
	}
	l.surnames[f] = o
	l.pools[surnames+pool(o)] = append(l.pools[surnames+pool(o)], e.Form)
}

func (l *lists) addTown(e gazetteer.Entry) {
	switch {
	case strings.HasPrefix(e.List, "geonames-spain"):
		at := towns + sizeOf(e.Frequency)
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
		l.pools[at] = append(l.pools[at], name)
	}
}

func (l *lists) addCentre(name string) {
	capitals := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
	head, _, _ := strings.Cut(name, " ")
	switch {
	case capitals:
		if len(name) <= 6 {
			l.pools[acronyms] = append(l.pools[acronyms], name)
		}
	case gazetteer.Default().Classes([]byte(head))&(gazetteer.HospitalHead|gazetteer.InstitutionHead|gazetteer.LegalForm) == 0 && !strings.ContainsAny(name, "0123456789"):
		l.pools[centres] = append(l.pools[centres], name)
	}
}

// guessWoman guesses from the ending of a folded given name.
func guessWoman(f string) bool {
	switch f {
	case "luca", "andrea", "jeremia", "elia", "borja", "joshua", "mustafa", "moussa", "garcia":
		return false
	case "carmen", "pilar", "isabel", "mercedes", "dolores", "consuelo", "rosario", "raquel", "ester", "esther", "montse", "maribel", "maite",
		"loli", "pepi", "conchi", "charo", "merche", "ines", "beatriz", "amparo", "lourdes", "soledad", "trinidad", "nieves", "rocio", "belen",
		"angeles", "milagros", "leonor", "itziar", "leire", "karen", "jennifer", "katherine", "ingrid", "ruth", "rut", "miriam", "carol":
		return true
	}
	return strings.HasSuffix(f, "a") || strings.HasSuffix(f, "is") || strings.HasSuffix(f, "ne")
}

// catalanSurnames are frequent surnames of Catalonia that no letter gives away,
// written by hand.
var catalanSurnames = strings.Fields(`puig serra vila soler roca vidal bosch pujol ferrer font mas pla costa riera casals camps sala grau
	marti vives valls torrent prat rovira rius pons roig ribas ros sabate sole mir miro mestre llorens gibert giralt fabregas esteve
	duran domenech comas coll codina closa clos castells casas cases carbonell canals busquets batlle barbera bartra badia
	armengol arnau alsina aguilar amat aymerich bonet boix bover brugues bru cabot calvet camprubi capdevila casanovas colomer
	farre feliu figueras figueres fontanals garriga gasol gomis guardiola guasch jove juve lleonart lloret llobet llopis maragall massip
	mateu miquel molins montaner muntaner nadal noguera oliva oller palau parellada pascual planas porta prats puigdemont quintana rafols
	ramoneda raventos recasens ricart rifa ripoll rosell rossell sagarra salvado sanahuja sanchis segarra sendra serrat sitja sola subirana
	tarrago torras torres tort trias trullas tura vallverdu vendrell ventura verdaguer vilalta vilanova vinyals xirau`)

// guessOrigin tells Catalan names by letters and endings that Spanish lacks.
func guessOrigin(name string) origin {
	lower := strings.ToLower(name)
	if strings.ContainsAny(lower, "àèòïç·") || strings.Contains(lower, "ny") || strings.Contains(lower, "tx") {
		return catalan
	}
	for _, ending := range [...]string{"uig", "aig", "eig", "oig", "osch", "ach", "ells", "alls", "ull", "ell", "eu", "ïs"} {
		if strings.HasSuffix(lower, ending) {
			return catalan
		}
	}
	return spanish
}
