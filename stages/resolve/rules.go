package resolve

import (
	"bytes"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// phase says what a rule works on.
type phase uint8

const (
	onModel phase = iota // corrects the model's spans in w.cands
	onText               // proposes candidates
	onSpans              // corrects the disjoint spans in w.spans
	phases
)

// rule is one small correction that can be switched on and off. It returns how
// often it did something.
type rule struct {
	name  string
	on    string // label sets in which Defaults switches it on
	phase phase
	needs class               // it can do nothing in a note without such a word; 0: any note
	do    func(w *worker) int // nil: a network, see Options.Networks
}

// rules in the order in which they run.
var rules = []rule{
	{"trim", "meddocan primary-care", onModel, 0, (*worker).trimEdges},
	{"no-digit", "primary-care", onModel, 0, (*worker).dropWordIDs},
	{"no-age", "primary-care", onModel, 0, (*worker).dropFalseAges},
	{"common-name", "primary-care", onModel, 0, (*worker).dropCommonNames},
	{"titles", "meddocan primary-care", onModel, title | shortTitle, (*worker).stripTitles},
	{"name-end", "meddocan primary-care", onModel, 0, (*worker).endNames},
	{"place-end", "primary-care", onModel, 0, (*worker).endPlaces},
	{"initials", "meddocan primary-care", onModel, 0, (*worker).addInitials},
	{"email", "meddocan primary-care", onModel, 0, (*worker).completeEmails},
	{"email-end", "primary-care", onModel, 0, (*worker).endEmails},
	{"age", "meddocan primary-care", onText, unit, (*worker).findAges},
	{"sex", "meddocan", onText, sexLabel | sexed, (*worker).findSex},
	{"staff-id", "meddocan", onText, collegiate, (*worker).findStaffIDs},
	{"kin", "", onText, relative, (*worker).findKin},
	{"kin-name", "primary-care", onText, relative, nil},
	{"article", "primary-care", onText, personal, (*worker).findArticled},
	{"titled", "meddocan primary-care", onText, title | shortTitle, (*worker).findTitled},
	{"listed", "primary-care", onText, 0, (*worker).findListed},
	{"led", "meddocan primary-care", onText, leads, (*worker).findLed},
	{"script", "meddocan primary-care", onText, 0, (*worker).findScripts},
	{"bare", "primary-care", onText, 0, (*worker).findBare},
	{"centre", "meddocan primary-care", onText, institution, (*worker).findCentres},
	{"place", "meddocan primary-care", onText, 0, (*worker).findPlaces},
	{"origin", "meddocan primary-care", onText, comesFrom | region, (*worker).findOrigins},
	{"part", "meddocan primary-care", onText, service | organisation, (*worker).findParts},
	{"elliptic", "meddocan primary-care", onText, elliptic | plainHead, (*worker).findElliptic},
	{"town", "meddocan primary-care", onText, place | of, (*worker).findTowns},
	{"postal", "meddocan primary-care", onSpans, 0, (*worker).findPostalCodes},
	{"apart", "primary-care", onSpans, 0, (*worker).partNames},
	{"surname", "primary-care", onSpans, 0, (*worker).findSurnames},
	{"namesake", "primary-care", onSpans, namesake, (*worker).joinNamesakes},
	{"date-borders", "primary-care", onSpans, 0, (*worker).endDates},
	{"trait", "meddocan", onSpans, trait, (*worker).findTraits},
	{"phone-fax", "meddocan", onSpans, telephone | fax, (*worker).tellFax},
	{"field", "meddocan", onSpans, record | insurance | episode | collegiate, (*worker).tellFields},
	{"borders", "meddocan", onSpans, 0, (*worker).completeBorders},
	{"pieces", "primary-care", onSpans, 0, (*worker).joinPieces},
}

// RuleNames returns the names that Options.Rules may switch, in the order of
// Tally.Rules.
func RuleNames() []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

func (w *worker) run(p phase) {
	for _, i := range w.plan.rules[p] {
		if r := &rules[i]; r.needs == 0 || w.seen&r.needs != 0 {
			if r.do == nil {
				w.counts.Rules[i] += int64(w.fromNetwork(w.network[i]))
				continue
			}
			w.counts.Rules[i] += int64(r.do(w))
		}
	}
}

// trimEdges cuts punctuation off the borders of the model's spans and drops
// what is nothing else.
func (w *worker) trimEdges() int {
	n := 0
	kept := w.cands[:0]
	for _, c := range w.cands {
		start, end := trimmed(w.text, c.Start, c.End)
		if start != c.Start || end != c.End {
			n++
		}
		if start < end {
			c.Start, c.End = start, end
			kept = append(kept, c)
		}
	}
	w.cands = kept
	return n
}

// dropWordIDs drops the model's identifiers and telephone numbers that hold no
// digit: "casada".
func (w *worker) dropWordIDs() int {
	kept := w.cands[:0]
	for _, c := range w.cands {
		if !w.labels.numbers[c.Category] || bytes.ContainsAny(w.text[c.Start:c.End], "0123456789") {
			kept = append(kept, c)
		}
	}
	n := len(w.cands) - len(kept)
	w.cands = kept
	return n
}

// dropCommonNames drops the model's names of which every word is a common one
// and none a name, unless a title stands before them: "Sin", "Segunda".
func (w *worker) dropCommonNames() int {
	kept := w.cands[:0]
	for _, c := range w.cands {
		if !w.isPerson(c.Category) || !w.commonOnly(&c) {
			kept = append(kept, c)
		}
	}
	n := len(w.cands) - len(kept)
	w.cands = kept
	return n
}

func (w *worker) commonOnly(c *candidate) bool {
	i, j := w.wordsIn(c.Start, c.End)
	if i == j || w.namedBeside(i, j) || i > 0 && w.words[i-1].class&(title|shortTitle|relative) != 0 {
		return false
	}
	for k := i; k < j; k++ {
		if !w.inLexicon(w.Lexicons.Common, k) || w.inLexicon(w.Lexicons.GivenNames, k) || w.inLexicon(w.Lexicons.Surnames, k) {
			return false
		}
	}
	return true
}

// trimmed returns a span without the punctuation at its borders. Brackets and
// quotation marks that are opened and closed within it stay, and so does the
// full stop of an abbreviation (U.S.A., EE. UU.).
func trimmed(text []byte, start, end int32) (int32, int32) {
	for start < end && isEdge(text[start]) && !(text[start] == '(' && bytes.IndexByte(text[start:end-1], ')') > 0) {
		start++
	}
	for start < end && isEdge(text[end-1]) && !closes(text[start:end]) {
		end--
	}
	return start, end
}

// isEdge tells whether a byte is punctuation that no value starts or ends with.
func isEdge(c byte) bool { return bytes.IndexByte([]byte(" \t\r\n,;:.-_/*\"'()[]{}<>!?|="), c) >= 0 }

// closes tells whether the last byte of a span belongs to it.
func closes(s []byte) bool {
	last := len(s) - 1
	switch s[last] {
	case ')':
		return bytes.Count(s, []byte("(")) == bytes.Count(s, []byte(")"))
	case ']':
		return bytes.Count(s, []byte("[")) == bytes.Count(s, []byte("]"))
	case '"':
		return bytes.Count(s, []byte(`"`))%2 == 0
	case '.':
		return initials(s[:last])
	}
	return false
}

// initials tells whether a text ends in initials whose last full stop is
// missing: U.S.A, D.F, EE. UU.
func initials(s []byte) bool {
	n := len(s)
	for n > 0 && len(s)-n < 3 && 'A' <= s[n-1] && s[n-1] <= 'Z' {
		n--
	}
	if length := len(s) - n; length == 0 || length > 2 {
		return false
	}
	before := bytes.TrimRight(s[:n], " ")
	last := len(before) - 1
	return last > 0 && before[last] == '.' && 'A' <= before[last-1] && before[last-1] <= 'Z'
}

// stripTitles takes Dr., Sra. and the like off the front of the model's names,
// and drops what is only a title.
func (w *worker) stripTitles() int {
	n := 0
	kept := w.cands[:0]
	for _, c := range w.cands {
		if w.isPerson(c.Category) {
			i, j := w.wordsIn(c.Start, c.End)
			first := i
			for i < j && w.titleAt(i) {
				i++
			}
			if i > first {
				n++
				if i == j {
					continue
				}
				c.Start = w.words[i].start
			}
		}
		kept = append(kept, c)
	}
	w.cands = kept
	return n
}

func (w *worker) isPerson(c pipeline.Category) bool {
	return c != pipeline.None && (c == w.labels.person[0] || c == w.labels.person[1] || c == w.labels.person[2])
}

// titleAt tells whether word k is a title that belongs to what follows: a
// full title, or D. and Dña. in short with their mark.
func (w *worker) titleAt(k int) bool {
	x := &w.words[k]
	if x.class&(title|shortTitle) == 0 || k+1 < len(w.words) && !w.linked(k, true) {
		return false
	}
	if x.class&title != 0 {
		return true
	}
	return x.is(capital) && (w.byteAt(x.end) == '.' || bytes.HasSuffix(w.text[x.start:x.end], []byte("ª")))
}

// byteAt returns the byte at an offset, 0 outside the text.
func (w *worker) byteAt(at int32) byte {
	if at < 0 || int(at) >= len(w.text) {
		return 0
	}
	return w.text[at]
}

// linked tells whether word k+1 follows word k on the same line with nothing
// but spaces between, or also a full stop or colon where dots are allowed.
func (w *worker) linked(k int, dots bool) bool {
	if w.words[k+1].is(lineStart) {
		return false
	}
	for _, c := range w.text[w.words[k].end:w.words[k+1].start] {
		if c != ' ' && c != '\t' && !(dots && (c == '.' || c == ':')) {
			return false
		}
	}
	return true
}

// touch tells whether word k+1 follows word k with nothing but spaces.
func (w *worker) touch(k int) bool { return w.linked(k, false) }

// completeEmails lengthens the model's e-mail addresses to all that is
// written without a space around their at sign.
func (w *worker) completeEmails() int {
	n := 0
	for i := range w.cands {
		c := &w.cands[i]
		if c.Category != w.labels.email || c.Category == pipeline.None {
			continue
		}
		start, end := c.Start, c.End
		for start > 0 && c.Start-start < longestPhrase && mailByte(w.text[start-1]) {
			start--
		}
		for int(end) < len(w.text) && end-c.End < longestPhrase && mailByte(w.text[end]) {
			end++
		}
		start, end = trimmed(w.text, start, end)
		whole := w.text[start:end]
		if (start < c.Start || end > c.End) && bytes.Count(whole, []byte("@")) == 1 {
			c.Start, c.End = min(start, c.Start), max(end, c.End)
			n++
		}
	}
	return n
}

// endEmails gives the model's e-mail addresses the borders of the pattern that
// they share bytes with: it sees where a sentence is glued to the end.
func (w *worker) endEmails() int {
	n := 0
	if w.batch.Matches.Len() == 0 || w.labels.email == pipeline.None {
		return 0
	}
	for i := range w.cands {
		c := &w.cands[i]
		if c.Category != w.labels.email {
			continue
		}
		for _, m := range w.matches() {
			if w.category[m.Category] == c.Category && m.Start < c.End && c.Start < m.End && (m.Start != c.Start || m.End != c.End) {
				c.Start, c.End = m.Start, m.End
				n++
				break
			}
		}
	}
	return n
}

// mailByte tells whether a byte can stand in an address.
func mailByte(c byte) bool {
	return c >= utf8.RuneSelf || byteKind[c] == letter || byteKind[c] == digit || bytes.IndexByte([]byte("@._-+"), c) >= 0
}

// findSex proposes what stands behind "Sexo:", and words for the sex where
// they can only mean the patient: "paciente masculino", "de sexo femenino",
// "varón de 70 años".
func (w *worker) findSex() int {
	n := 0
	if w.labels.sex == pipeline.None {
		return 0
	}
	for k := range w.words {
		if w.saysSex(k) {
			w.propose(w.words[k].start, w.words[k].end, w.labels.sex, byRule)
			n++
		}
	}
	return n
}

func (w *worker) saysSex(k int) bool {
	x := &w.words[k]
	if k > 0 && x.class&sexValue != 0 && w.words[k-1].class&sexLabel != 0 && w.byteAt(w.words[k-1].end) == ':' {
		return w.linked(k-1, true)
	}
	if x.class&sexed == 0 {
		return false
	}
	if k > 0 && w.words[k-1].class&patient != 0 && w.touch(k-1) {
		return true
	}
	return k+3 < len(w.words) && w.words[k+1].class&of != 0 && w.words[k+3].class&unit != 0 && w.touch(k) &&
		w.touch(k+1) && w.numberBefore(k+3) == k+2
}

// findTraits gives a word for the people, colour or leaning of the patient the
// category that MEDDOCAN has for what else identifies them, where it stands
// directly behind them, "mujer blanca", or behind its label, "de nacionalidad
// alemana". The tagger takes it for the sex, or for nothing.
func (w *worker) findTraits() int {
	n, found := 0, len(w.spans)
	c := w.labels.patientID
	if c == pipeline.None || w.labels.sex == pipeline.None {
		return 0
	}
	s := 0
	for k := 1; k < len(w.words); k++ {
		x := &w.words[k]
		if x.class&trait == 0 || !w.touch(k-1) || w.words[k-1].class&(sexed|patient|traitLabel) == 0 {
			continue
		}
		for s < found && w.spans[s].End <= x.start {
			s++
		}
		switch {
		case s < found && w.spans[s].Start == x.start && w.spans[s].End == x.end && w.spans[s].Category == w.labels.sex:
			w.spans[s].Category = c
		case s < found && w.spans[s].Start < x.end:
			continue
		default:
			w.spans = append(w.spans, pipeline.Span{Start: x.start, End: x.end, Category: c, Source: pipeline.FromRule, Score: ruleScore})
		}
		n++
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
	}
	return n
}

// findStaffIDs proposes the numbers behind "Nº Col", "colegiado": two or three
// groups of digits.
func (w *worker) findStaffIDs() int {
	n := 0
	if w.labels.staffID == pipeline.None {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if w.words[k].class&collegiate == 0 || !w.words[k+1].is(digits) || !w.linked(k, true) {
			continue
		}
		j, length := k+2, int(w.words[k+1].end-w.words[k+1].start)
		for j < len(w.words) && j < k+4 && w.words[j].is(digits) && w.grouped(j-1) {
			length += int(w.words[j].end - w.words[j].start)
			j++
		}
		if length >= 4 {
			w.propose(w.words[k+1].start, w.words[j-1].end, w.labels.staffID, byRule)
			n++
		}
	}
	return n
}

// grouped tells whether word k+1 may be the next group of digits of word k: one
// space, hyphen, slash or dot stands between.
func (w *worker) grouped(k int) bool {
	from, to := w.words[k].end, w.words[k+1].start
	return to-from == 1 && bytes.IndexByte([]byte(" -/."), w.text[from]) >= 0
}

// findKin proposes words for kin behind su, un and the like.
func (w *worker) findKin() int {
	n := 0
	if w.labels.kin == pipeline.None {
		return 0
	}
	for k := 1; k < len(w.words); k++ {
		if w.words[k].class&relative != 0 && w.words[k-1].class&owner != 0 && w.touch(k-1) {
			w.propose(w.words[k].start, w.words[k].end, w.labels.kin, byRule)
			n++
		}
	}
	return n
}

// tellFields gives a number behind NHC:, NASS:, Episodio: or NºCol: the
// category of that field. What the field says is more certain than the form of
// the number.
func (w *worker) tellFields() int {
	n := 0
	for s := range w.spans {
		span := &w.spans[s]
		i, j := w.wordsIn(span.Start, span.End)
		if i == 0 || !w.numeric(i, j) || !w.linked(i-1, true) && string(w.text[w.words[i-1].end:w.words[i].start]) != "-" {
			continue
		}
		c := w.fieldOf(&w.words[i-1])
		if c != pipeline.None && w.lastGroup(j) && (s+1 == len(w.spans) || w.spans[s+1].Start >= w.words[j].end) {
			span.End = w.words[j].end
			n++
		}
		if c != pipeline.None && c != span.Category {
			span.Category = c
			n++
		}
	}
	return n
}

// lastGroup tells whether word j is a figure or two that end the line behind the
// number of a field: "NHC: 5637110 3.".
func (w *worker) lastGroup(j int) bool {
	if j == 0 || j >= len(w.words) || !w.words[j].is(digits) || w.words[j].end-w.words[j].start > 2 || !w.touch(j-1) {
		return false
	}
	end := w.words[j].end
	if w.byteAt(end) == '.' {
		end++
	}
	return int(end) == len(w.text) || w.byteAt(end) == '\n'
}

func (w *worker) fieldOf(label *word) pipeline.Category {
	switch {
	case label.class&record != 0:
		return w.labels.patientID
	case label.class&insurance != 0:
		return w.labels.insurance
	case label.class&episode != 0:
		return w.labels.episode
	case label.class&collegiate != 0:
		return w.labels.staffID
	}
	return pipeline.None
}

// numeric tells whether the words [i, j) are all digits.
func (w *worker) numeric(i, j int) bool {
	for k := i; k < j; k++ {
		if !w.words[k].is(digits) {
			return false
		}
	}
	return i < j
}

// lineLook is how many words before a number are asked what it is.
const lineLook = 4

// tellFax gives a telephone or fax number the category of the nearest such
// word before it.
func (w *worker) tellFax() int {
	n := 0
	if w.labels.fax == w.labels.telephone {
		return 0
	}
	for s := range w.spans {
		span := &w.spans[s]
		if span.Category != w.labels.telephone && span.Category != w.labels.fax {
			continue
		}
		c := w.numberKind(span.Start)
		if c != pipeline.None && c != span.Category {
			span.Category = c
			n++
		}
	}
	return n
}

func (w *worker) numberKind(start int32) pipeline.Category {
	i, j := w.wordsIn(start, start+1)
	if i == j {
		return pipeline.None // no word begins there
	}
	for k := i - 1; k >= max(i-lineLook, 0) && !w.words[k+1].is(lineStart); k-- {
		switch {
		case w.words[k].class&fax != 0:
			return w.labels.fax
		case w.words[k].class&telephone != 0:
			return w.labels.telephone
		case w.words[k].end-w.words[k].start >= 6 && w.words[k].is(digits):
			return pipeline.None // the number before
		}
	}
	return pipeline.None
}

// findPostalCodes adds five digits that stand beside a place or a street.
func (w *worker) findPostalCodes() int {
	if w.labels.place == pipeline.None {
		return 0
	}
	found := w.spans
	s := 0 // first span that ends behind word k
	for k := range w.words {
		x := &w.words[k]
		for s < len(found) && found[s].End <= x.start {
			s++
		}
		if !x.is(digits) || x.end-x.start != 5 || !postal(w.text[x.start:x.end]) || s < len(found) && found[s].Start < x.end {
			continue
		}
		if s > 0 && w.placeBeside(&found[s-1], found[s-1].End, x.start) || s < len(found) && w.placeBeside(&found[s], x.end, found[s].Start) {
			w.spans = append(w.spans, pipeline.Span{Start: x.start, End: x.end, Score: ruleScore, Category: w.labels.place, Source: pipeline.FromRule})
		}
	}
	if n := len(w.spans) - len(found); n > 0 {
		sortSpans(w.spans)
		return n
	}
	return 0
}

// placeBeside tells whether a place or street is parted from a number by at
// most a comma, hyphen or bracket.
func (w *worker) placeBeside(s *pipeline.Span, from, to int32) bool {
	return (s.Category == w.labels.place || s.Category == w.labels.street && s.Category != pipeline.None) && to-from <= 3 &&
		len(bytes.Trim(w.text[from:to], " ,-(")) == 0
}

// postal tells whether five digits begin with a province, 01 to 52.
func postal(d []byte) bool {
	province := int(d[0]-'0')*10 + int(d[1]-'0')
	return d[0] <= '9' && d[1] <= '9' && 1 <= province && province <= 52
}
