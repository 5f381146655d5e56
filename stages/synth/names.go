package synth

import (
	"strings"
	"sync"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// pool is a list of names.
type pool uint8

const (
	firstName pool = iota
	manName
	womanName
	lastName
	townName    // of Spain
	quarterName // and towns that people here know well
	abroadName  // towns of other countries
	provinceName
	countryName
	centreName     // stands behind Hospital or Clínica
	fullCentreName // may begin with it
	streetName
	eponymName // not private: diseases, signs, scales
	drugName   // not private
	numPools
)

var poolNames = map[string]pool{
	"first": firstName, "man": manName, "woman": womanName, "last": lastName, "town": townName, "quarter": quarterName, "abroad": abroadName,
	"province": provinceName, "country": countryName, "centre": centreName, "fullcentre": fullCentreName, "street": streetName,
	"eponym": eponymName, "drug": drugName,
}

// lexicon holds the names of one split.
type lexicon struct {
	split Split
	pools [numPools][]string
}

var lexicons [numSplits]func() *lexicon

func init() {
	for s := range numSplits {
		lexicons[s] = sync.OnceValue(func() *lexicon { return newLexicon(s) })
	}
}

// newLexicon sorts the shipped lists into pools. A name belongs to the split
// that its folded form hashes to, so that José and JOSE, the surname León and
// the town León are never on both sides.
func newLexicon(split Split) *lexicon {
	l := &lexicon{split: split}
	for e, err := range gazetteer.Entries(gazetteer.Shipped()) {
		if err != nil {
			panic("synth: " + err.Error()) // the gazetteer's own test reads them
		}
		l.sort(e)
	}
	for _, name := range surrogate.Streets() {
		l.add(streetName, name)
	}
	return l
}

func (l *lexicon) sort(e gazetteer.Entry) {
	times := 1 // an entry's weight
	switch {
	case e.List == "own-origin-given-names.txt":
		times = abroad
	case strings.HasPrefix(e.List, "faker-origin-"):
		times = 0 // five thousand of each: taggers know them as listed, notes are about people from here
	case strings.HasPrefix(e.List, "own-"):
		times = local
	}
	for range times {
		l.enter(e)
	}
}

// local is how much more often names of the hand-written lists occur, which
// are those of Catalonia and Spain, than those of other sources. Given names of
// the people who came from elsewhere are many for the few who bear them; with
// these weights three names in ten of either kind are theirs.
const (
	local  = 4
	abroad = 2
)

func (l *lexicon) enter(e gazetteer.Entry) {
	oneWord := !strings.ContainsAny(e.Form, " .")
	switch {
	case e.Class == gazetteer.GivenName && oneWord:
		l.add(firstName, e.Form)
		if feminine(e.Form) {
			l.add(womanName, e.Form)
		} else {
			l.add(manName, e.Form)
		}
	case e.Class == gazetteer.Surname && len(e.Form) > 2:
		l.add(lastName, e.Form)
	case e.List == "own-municipalities.txt":
		l.add(quarterName, e.Form)
		l.add(townName, e.Form)
	case e.List == "geonames-spain.txt" && (oneWord && e.Frequency > 2000 || e.Frequency > 15_000):
		l.add(townName, e.Form)
	case e.List == "own-abroad.txt", e.List == "geonames-world.txt":
		l.add(abroadName, e.Form)
	case e.Class == gazetteer.Province:
		l.add(provinceName, e.Form)
	case e.Class == gazetteer.Eponym:
		l.add(eponymName, e.Form)
	case e.Class == gazetteer.Drug:
		l.add(drugName, e.Form)
	case e.Class == gazetteer.Country:
		l.add(countryName, e.Form)
	case e.Class == gazetteer.Centre:
		l.add(fullCentreName, e.Form)
		if head, _, _ := strings.Cut(e.Form, " "); !strings.Contains(headsOfCentres, " "+head+" ") {
			l.add(centreName, e.Form)
		}
	}
}

// headsOfCentres are the first words of names of centres before which no "Hospital" is put.
const headsOfCentres = " Hospital Clínica Centro Institut Fundació Fundación Consorci Mútua Mutua H. H Parc Xarxa Pius "

func (l *lexicon) add(p pool, form string) {
	if nameSplit(form) == l.split {
		l.pools[p] = append(l.pools[p], form)
	}
}

func nameSplit(form string) Split {
	return splitOf(string(gazetteer.Fold(nil, []byte(form))))
}

// feminine guesses the gender of a word from its ending. Templates use it only to choose articles.
func feminine(name string) bool {
	if strings.Contains(womenNotInA, " "+name+" ") {
		return true
	}
	return strings.HasSuffix(name, "a") && !strings.Contains(menInA, " "+name+" ")
}

const (
	womenNotInA = " Carmen Montse Montserrat Mercè Mercedes Pilar Dolors Dolores Isabel Roser Raquel Ester Esther Judit Neus Nieves Rocío Belén Carme Àngels Ángeles Remei Consol Empar Amparo Lourdes Loli Pepi Mari Maite Maribel Conchi Charo Merche Inés Agnès Beatriz Beatriu Elisabet Elisenda Rosario Consuelo Soledad Trinidad Encarni Puri Asun Nati Meritxell Miriam Irene Noemí Iris Ruth Rut Ingrid Nieves Milagros Carol Txell Trini Queralt Leonor Elionor Margalida Gisel Itziar Idoia Leire Nerea Ane Miren Karen Jennifer Evelyn Katherine Nelly Gladys Zineb Meryem Imane Mariam "
	menInA      = " Borja Jona Joshua Luca Bautista Mostafa Mustapha Hamza Moussa Mamadou Zakaria Garcia Nadia Koldo Josema Chema Rafa Juanma Nando Andrea Sancha Elia Jeremia Costa Oia Mihaita Mircea Ilia Nikita Boubacar Aba Moha Patxi Iñaki "
)

// invented is how often a name is one that stands in no list, so that a tagger
// trained on these notes does not learn to trust the lists alone.
const invented = 0.08

// draw returns a name of the pool. Of surnames and towns, the share invented is made up.
func (l *lexicon) draw(m *maker, p pool) string {
	switch {
	case p == lastName && m.chance(invented):
		return l.invent(m, m.rules[m.at].madeLast)
	case p == townName && m.chance(invented):
		return l.invent(m, m.rules[m.at].madeTown)
	}
	return l.pools[p][m.below(len(l.pools[p]))]
}

// invent makes a name up that belongs to the split.
func (l *lexicon) invent(m *maker, r *rule) string {
	body, start := r.alternatives[m.below(len(r.alternatives))], len(m.text)
	for {
		m.write(body)
		name := string(m.text[start:])
		m.text = m.text[:start]
		if nameSplit(name) == l.split {
			return name
		}
	}
}

var (
	categoryEmail     = pipeline.MustCategory("EMAIL")
	categoryDNI       = pipeline.MustCategory("DNI")
	categoryTelephone = pipeline.MustCategory("TELEPHONE")
	categoryPerson    = pipeline.MustCategory("PERSON")
	categoryLocation  = pipeline.MustCategory("LOCATION")
)
