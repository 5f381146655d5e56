package features

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
)

// kind is a feature group that this program knows: either form, which gives
// the features of a form, or place, which gives the marks of a sequence.
type kind struct {
	name  string
	about string
	form  func(e *Extractor, g *group)
	place func(e *Extractor, g *group, lo, hi int)
	open  bool // see Group.Open

	slotted bool // looks forms up in a slot of Resources
}

// kinds lists all groups. Slots (cluster/NAME, pos, lemma) are
// empty unless Resources fills them.
var kinds []kind

func init() { // not a literal: the functions refer to the table by way of Extractor
	kinds = []kind{
		{name: "bias", about: "one feature for all tokens", form: flag(func(*word) bool { return true })},
		{name: "word", about: "the form", form: func(e *Extractor, g *group) { e.emit(g, e.w.form) }},
		{name: "lower", about: "the form in lower case", form: func(e *Extractor, g *group) { e.emit(g, e.w.lower) }},
		{name: "folded", about: "in lower case, without accents (BOOT's third normalization)", form: folded},
		{name: "digits", about: "in lower case, every digit 0", form: zeroDigits},
		{name: "shape", about: "every character's kind: Aaaaaa (NGRID table 2)", form: func(e *Extractor, g *group) { e.emit(g, e.w.shape) }},
		{name: "shortshape", about: "runs of a kind merged: Aa0", form: func(e *Extractor, g *group) { e.runs(g, 1) }},
		{name: "charpattern", about: "runs of a kind cut at four, other characters kept: Aaaa/00", form: charPattern},
		{name: "unicode", about: "Unicode general categories, runs merged: LuLlNd (VIGI table 8)", form: generalCategories},
		{name: "capitals", about: "lower, upper, first, mixed, single (BOOT §3.4.2)", form: func(e *Extractor, g *group) { e.emitText(g, e.w.capitals()) }},
		{name: "numeric", about: "ALL_DIGITS, YEAR_DIGIT, ALPHANUMERIC, SOME_DIGITS, ROMAN_NUMERAL (VIGI table 8)", form: func(e *Extractor, g *group) { e.emitText(g, e.w.numeric()) }},
		{name: "prefix2", about: "first characters in lower case, padded", form: prefix(2)},
		{name: "prefix3", form: prefix(3)},
		{name: "prefix4", form: prefix(4)},
		{name: "suffix2", about: "last characters in lower case, padded", form: suffix(2)},
		{name: "suffix3", form: suffix(3)},
		{name: "suffix4", form: suffix(4)},
		{name: "length", about: "number of characters, at most 16", form: length},
		{name: "hasletter", about: "contains a letter", form: flag(func(w *word) bool { return w.has(upper | lower | letter) })},
		{name: "hascapital", about: "contains a capital", form: flag(func(w *word) bool { return w.has(upper) })},
		{name: "hasdigit", about: "contains a digit", form: flag(func(w *word) bool { return w.has(digit) })},
		{name: "haspunct", about: "contains punctuation", form: flag(func(w *word) bool { return w.has(punctuation | symbol) })},
		{name: "allcapital", about: "consists of capitals (NGRID table 2)", form: flag(func(w *word) bool { return w.only(upper) })},
		{name: "alldigit", about: "consists of digits (NGRID table 2)", form: flag(func(w *word) bool { return w.only(digit) })},
		{name: "letterdigit", about: "consists of letters and digits, and has both (NGRID table 2)", form: flag(func(w *word) bool { return w.has(digit) && !w.only(digit) && w.only(digit|upper|lower|letter) })},
		{name: "digitpunct", about: "consists of digits and punctuation, and has both (NGRID table 2)", form: flag(func(w *word) bool { return w.has(digit) && !w.only(digit) && w.only(digit|punctuation|symbol) })},
		{name: "lettercode", about: "NGRID's four flags of letters as one value: a letter, a capital, a capital first, all capitals (§5.2)", form: letterCode},
		{name: "listcode", about: "NGRID's four dictionaries as one value: profession, town, country, province (§5.2)", form: listCode},
		{name: "hyphen", about: "contains a hyphen", form: flag(func(w *word) bool { return hasByte(w.form, '-') })},
		{name: "capitalstart", about: "begins with a capital (INV §4.3.3)", form: flag(func(w *word) bool { return len(w.shape) > 0 && w.shape[0] == 'A' })},
		{name: "single", about: "is a single letter (INV §4.3.3)", form: flag(func(w *word) bool { return w.runes() == 1 && w.only(upper|lower|letter) })},
		{name: "xyz", about: "which of the letters x, y, z it contains (VIGI table 8)", form: xyz},
		{name: "numberword", about: "is a written-out number, es, ca or en (INV §4.3.3)", form: flag(isNumber)},
		{name: "gazetteer", about: "the kinds of word that the lists know of the form; gazetteer/Month asks for one kind", form: lexicon},
		{name: "cluster", about: "a slot: cluster/NAME, cluster of the form", form: slot, slotted: true},
		{name: "pos", about: "a slot: most probable part of speech of the form", form: slot, slotted: true},
		{name: "lemma", about: "a slot: lemma of the form", form: slot, slotted: true},

		{name: "border", about: "begin and end of the sequence (BOOT's BOS and EOS)", place: borders},
		{name: "pattern", about: "place of the token in a match of each kind of pattern", place: patterns},
		{name: "phrase", about: "place of the token in an entry of several words of the lists", place: phrases},
		{name: "chunk", about: "a slot of parts of speech: NP, VP, PP, ADVP or SBAR that the token begins or goes on (NGRID table 2)", place: chunks, slotted: true},
		{name: "term", about: "symptom, diagnosis, drug, anatomy, procedure, dose, value of the laboratory that the token is in (VIGI table 8)", place: medicalTerms},
		{name: "bigram", about: "the form before and the form", place: bigrams, open: true},
		{name: "glued", about: "no white space before the token", place: glued},
		{name: "sentencestart", about: "first token of a sentence (INV §4.3.3)", place: sentenceStarts},
		{name: "key", about: "the word before the nearest colon to the left", place: keys},
		{name: "linestart", about: "the first word of the token's line", place: lineStarts},
		{name: "domain", about: "a top-level domain behind a dot (INV §4.3.3)", place: domainEnds},
		{name: "tokeninsentence", about: "place in the sentence, 0 to 1 (VIGI table 8)", place: tokenInSentence},
		{name: "sentenceinnote", about: "place of the sentence in the note, 0 to 1 (VIGI table 8)", place: sentenceInNote},
		{name: "tokeninnote", about: "place in the note, 0 to 1 (VIGI table 8)", place: tokenInNote},
		{name: "linefromend", about: "number of lines to the end of the note, at most 9", place: lineFromEnd},
		{name: "linefromstart", about: "number of lines before it, at most 15", place: lineFromStart},
		{name: "linelength", about: "number of tokens of the sequence, in steps that grow", place: lineLength},
		{name: "tokennumber", about: "number of the token in the sequence, at most 15", place: tokenNumber},
		{name: "lineabove", about: "the first word of the line above", place: lineAbove},
	}
}

// findKind returns the kind of a group's name; what follows a slash names the
// slot.
func findKind(name string) *kind {
	base, rest, named := strings.Cut(name, "/")
	for i := range kinds {
		if k := &kinds[i]; k.name == base && (!named || k.takes(rest)) {
			return k
		}
	}
	return nil
}

// takes tells whether what follows the slash names something of the kind: a
// slot, or a kind of word.
func (k *kind) takes(name string) bool {
	switch k.name {
	case "cluster":
		return name != ""
	case "gazetteer":
		_, err := gazetteer.ParseClass(name)
		return err == nil
	}
	return false
}

func folded(e *Extractor, g *group) {
	e.buf = gazetteer.Fold(e.buf[:0], e.w.form)
	e.emit(g, e.buf)
}

func zeroDigits(e *Extractor, g *group) {
	e.buf = append(e.buf[:0], e.w.lower...)
	for i, c := range e.buf {
		if c >= '0' && c <= '9' {
			e.buf[i] = '0'
		}
	}
	e.emit(g, e.buf)
}

// runs emits the shape with runs cut at most characters.
func (e *Extractor) runs(g *group, most int) {
	e.buf = e.buf[:0]
	n := 0
	for i, c := range e.w.shape {
		if i > 0 && c == e.w.shape[i-1] {
			n++
		} else {
			n = 0
		}
		if n < most {
			e.buf = append(e.buf, c)
		}
	}
	e.emit(g, e.buf)
}

func charPattern(e *Extractor, g *group) {
	w := &e.w
	e.buf = e.buf[:0]
	n := 0
	for i, c := range w.shape {
		if i > 0 && c == w.shape[i-1] {
			n++
		} else {
			n = 0
		}
		switch {
		case c == '-' || c == 's' || c == '_':
			e.buf = append(e.buf, w.lower[w.at[i]:w.at[i+1]]...)
		case n < 4:
			e.buf = append(e.buf, c)
		}
	}
	e.emit(g, e.buf)
}

func generalCategories(e *Extractor, g *group) {
	e.buf = e.buf[:0]
	last := ""
	for f := e.w.form; len(f) > 0; {
		r, n := utf8.DecodeRune(f)
		f = f[n:]
		if c := category(r); c != last {
			e.buf = append(e.buf, c...)
			last = c
		}
	}
	e.emit(g, e.buf)
}

// generalTables are the categories that clinical text has, most frequent
// first; whatever else there is is called Xx.
var generalTables = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Ll", unicode.Ll}, {"Lu", unicode.Lu}, {"Nd", unicode.Nd}, {"Po", unicode.Po}, {"Pd", unicode.Pd},
	{"Ps", unicode.Ps}, {"Pe", unicode.Pe}, {"Lo", unicode.Lo}, {"So", unicode.So}, {"Sm", unicode.Sm},
	{"Sc", unicode.Sc}, {"Sk", unicode.Sk}, {"No", unicode.No}, {"Pi", unicode.Pi}, {"Pf", unicode.Pf},
	{"Pc", unicode.Pc}, {"Lm", unicode.Lm}, {"Mn", unicode.Mn}, {"Lt", unicode.Lt}, {"Nl", unicode.Nl},
}

func category(r rune) string {
	for _, t := range generalTables {
		if unicode.Is(t.table, r) {
			return t.name
		}
	}
	return "Xx"
}

func prefix(n int) func(*Extractor, *group) {
	return func(e *Extractor, g *group) {
		e.buf = e.w.prefix(e.buf[:0], n)
		e.emit(g, e.buf)
	}
}

func suffix(n int) func(*Extractor, *group) {
	return func(e *Extractor, g *group) {
		e.buf = e.w.suffix(e.buf[:0], n)
		e.emit(g, e.buf)
	}
}

func length(e *Extractor, g *group) {
	n := min(e.w.runes(), 16)
	e.buf = append(e.buf[:0], 'a'+byte(n))
	e.emit(g, e.buf)
}

// flag emits a feature without a value where the test holds.
func flag(test func(w *word) bool) func(*Extractor, *group) {
	return func(e *Extractor, g *group) {
		if test(&e.w) {
			e.emitText(g, "1")
		}
	}
}

// code emits some flags as one value, 1110, so that a network has a vector for
// each of their combinations (NGRID §5.2).
func (e *Extractor) code(g *group, flags ...bool) {
	e.buf = e.buf[:0]
	for _, f := range flags {
		if f {
			e.buf = append(e.buf, '1')
		} else {
			e.buf = append(e.buf, '0')
		}
	}
	e.emit(g, e.buf)
}

func letterCode(e *Extractor, g *group) {
	w := &e.w
	e.code(g, w.has(upper|lower|letter), w.has(upper), w.runes() > 0 && w.shape[0] == 'A', w.only(upper))
}

func listCode(e *Extractor, g *group) {
	var c gazetteer.Class
	if e.r.Lexicon != nil {
		c = e.r.Lexicon.Classes(e.w.form)
	}
	e.code(g, c&gazetteer.Profession != 0, c&gazetteer.Municipality != 0, c&gazetteer.Country != 0, c&gazetteer.Province != 0)
}

func xyz(e *Extractor, g *group) {
	e.buf = e.buf[:0]
	for _, c := range []byte("xyz") {
		if hasByte(e.w.lower, c) {
			e.buf = append(e.buf, c)
		}
	}
	if len(e.buf) > 0 {
		e.emit(g, e.buf)
	}
}

func lexicon(e *Extractor, g *group) {
	if e.r.Lexicon == nil {
		return
	}
	for rest := e.r.Lexicon.Classes(e.w.form) & g.classes; rest != 0; rest &= rest - 1 {
		e.emitText(g, className(rest))
	}
}

// classesOf returns the kinds of word that a group of this name asks for: one,
// or all.
func classesOf(group string) gazetteer.Class {
	_, name, _ := strings.Cut(group, "/")
	if c, err := gazetteer.ParseClass(name); err == nil {
		return c
	}
	return ^gazetteer.Class(0)
}

// classNames are the names of the bits of a gazetteer.Class.
var classNames = func() (names [32]string) {
	for i := range gazetteer.NumClasses() {
		names[i] = gazetteer.Class(1 << i).String()
	}
	return names
}()

// className returns the name of the lowest bit of c.
func className(c gazetteer.Class) string { return classNames[bits.TrailingZeros32(uint32(c))] }

func slot(e *Extractor, g *group) {
	if g.slot == nil {
		return
	}
	if e.buf = g.slot.Value(e.buf[:0], e.w.form); len(e.buf) > 0 {
		e.emit(g, e.buf)
	}
}

// numberWords are the written-out numbers of notes, without un, una and one, which
// are articles, and set and once, which are words of other languages.
var numberWords = locale.Words("number")

func isNumber(w *word) bool {
	var room [longestNumber]byte
	return len(w.lower) < longestNumber && numberWords[string(gazetteer.Fold(room[:0], w.lower))]
}

const longestNumber = 24 // bytes; more than any of them has

// domains are the top-level domains that notes have.
var domains = locale.Words("domain")
