package gazetteer

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// A Source describes how to read a published list: CSV or TSV with a header (INE, open data portals), words with counts
// (wordfreq), plain lines, or velum's own format. Zero fields are guessed from the file; an error names what cannot be
// guessed.
type Source struct {
	Name      string   // of the file, for errors
	Class     Class    // of all entries; 0: what the header or the tags say
	Form      string   // name or number (from 1) of the column of the words
	Counts    []string // names or numbers of the columns of counts, which are added
	Separator rune     // between columns
	NoHeader  bool     // the first row is an entry
}

// A RowError describes an unusable row by its place. It does not quote the row, because a list of a hospital's staff is
// personal data.
type RowError struct {
	File   string
	Row    int    // line of the file, from 1; 0: the file as a whole
	Column string // "" if it is the row as a whole
	Cause  string
	Remedy string
}

func (e *RowError) Error() string {
	at := e.File
	if e.Row > 0 {
		at += ":" + strconv.Itoa(e.Row)
	}
	if e.Column != "" {
		at += ", column " + e.Column
	}
	return at + ": " + e.Cause
}

// Intake counts the rows of a source that were used and skipped.
type Intake struct {
	Rows int         // with an entry
	Bad  int         // left out
	Why  []*RowError // of the first of them
}

// maxWhy is how many bad rows are named.
const maxWhy = 5

// maxSource is the size of the largest list that is read: INE's have 1 MB.
const maxSource = 1 << 30

// Read calls yield for every entry of the list. Rows that cannot be used are
// left out and counted; an error of type *RowError says that the list as a
// whole cannot be understood. Compressed lists (gzip) are unpacked, Latin-1 is
// read as such.
func (s *Source) Read(r io.Reader, yield func(Entry)) (Intake, error) {
	text, err := sourceText(r)
	if err != nil {
		return Intake{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	p := &sourceParser{Source: *s, text: text, yield: yield}
	err = p.parse()
	return p.intake, err
}

// sourceText returns the whole list as UTF-8.
func sourceText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err == nil && bytes.HasPrefix(data, []byte{0x1F, 0x8B}) {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(io.LimitReader(z, maxSource+1))
		}
	}
	if err != nil {
		return "", err
	}
	if len(data) > maxSource {
		return "", errors.New("list of more than 1 GiB")
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if utf8.Valid(data) {
		return string(data), nil
	}
	runes := make([]rune, len(data)) // Latin-1: a byte is a code point
	for i, c := range data {
		runes[i] = rune(c)
	}
	return string(runes), nil
}

type sourceParser struct {
	Source
	text   string
	yield  func(Entry)
	intake Intake

	form   int   // column
	counts []int // columns
	kind   int   // column that names the class; -1: none
	names  []string
}

func (p *sourceParser) parse() error {
	lines := p.sample()
	switch {
	case strings.HasPrefix(p.text, "# class: "):
		return p.ownList()
	case len(lines) == 0:
		return &RowError{File: p.Name, Cause: "no entries", Remedy: "leave the list out"}
	}
	if p.Separator == 0 {
		p.Separator = separatorOf(lines)
	}
	return p.table()
}

// sample returns the first lines that are not blank.
func (p *sourceParser) sample() (lines []string) {
	for line := range strings.Lines(p.text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, "\r\n")) // an empty last column is a column
		}
		if len(lines) == 50 {
			break
		}
	}
	return lines
}

// share tells whether nearly all lines are so.
func share(lines []string, is func(string) bool) bool {
	n := 0
	for _, line := range lines {
		if is(line) {
			n++
		}
	}
	return n > 0 && n*10 >= len(lines)*9
}

// separatorOf returns what stands between the columns: a tab, semicolon or
// comma that nearly every line has, a blank before a count, or '\n' where
// there is one column.
func separatorOf(lines []string) rune {
	for _, c := range "\t;," {
		if share(lines, func(line string) bool { return strings.ContainsRune(line, c) }) {
			return c
		}
	}
	if share(lines, counted) {
		return ' '
	}
	return '\n'
}

// counted tells whether a line is a word, blanks and a count.
func counted(line string) bool {
	line = strings.TrimSpace(line)
	i := strings.LastIndexByte(line, ' ')
	return i > 0 && i+1 < len(line) && strings.Trim(line[i+1:], "0123456789") == ""
}

// ownList reads a list in the form of those that velum ships.
func (p *sourceParser) ownList() error {
	var class Class
	n := 0
	for line := range strings.Lines(p.text) {
		n++
		e, err := parseLine(strings.TrimRight(line, "\r\n"), &class)
		switch {
		case err != nil && class == 0:
			return &RowError{File: p.Name, Row: n, Cause: err.Error(), Remedy: "known classes: " + strings.Join(classNames[:], ", ")}
		case err != nil:
			p.bad(n, "", err.Error(), "one entry a line, optionally a tab and a count")
		case e.Form != "":
			p.entry(n, e.Form, cmp.Or(p.Class, e.Class), e.Frequency)
		}
	}
	return nil
}

// table reads rows of columns.
func (p *sourceParser) table() error {
	first := true
	for n, row := range p.rows() {
		if first && len(row) == 1 && strings.TrimSpace(row[0]) == "" {
			continue
		}
		if first {
			header, err := p.columns(row, n)
			if err != nil {
				return err
			}
			first = false
			if header {
				continue
			}
		}
		p.row(n, row)
	}
	return nil
}

// rows goes through the rows with the number of their line.
func (p *sourceParser) rows() func(yield func(int, []string) bool) {
	if p.Separator == ' ' || p.Separator == '\n' {
		return p.plainRows
	}
	return func(yield func(int, []string) bool) {
		r := csv.NewReader(strings.NewReader(p.text))
		r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = p.Separator, -1, true, true
		for {
			row, err := r.Read()
			if err != nil { // io.EOF: lazy quotes leave no other
				return
			}
			n, _ := r.FieldPos(0)
			if !yield(n, row) {
				return
			}
		}
	}
}

// plainRows cuts lines at the blank before their count, or not at all.
func (p *sourceParser) plainRows(yield func(int, []string) bool) {
	n := 0
	for line := range strings.Lines(p.text) {
		n++
		line = strings.TrimSpace(line)
		row := []string{line}
		if i := strings.LastIndexByte(line, ' '); p.Separator == ' ' && i > 0 {
			row = []string{strings.TrimSpace(line[:i]), line[i+1:]}
		}
		if line != "" && !yield(n, row) {
			return
		}
	}
}

// A layout is a header that is known: the column of the words, another column that
// tells one list from another, and the class, 0 where a column says it.
type layout struct {
	form, beside string
	class        Class
}

//go:embed layouts.txt
var layoutsText string

// layouts and countColumns, the names of columns of counts, are the rows of layouts.txt.
var (
	layouts      []layout
	countColumns [][]string
)

func init() {
	for line := range strings.Lines(layoutsText) {
		switch row := strings.Split(strings.TrimSpace(line), ";"); {
		case row[0] == "count":
			countColumns = append(countColumns, row[1:])
		case len(row) == 3:
			class, _ := ParseClass(row[0])
			layouts = append(layouts, layout{row[1], row[2], class})
		}
	}
}

// kindColumns are the names of columns that say what kind of word an entry is.
var kindColumns = []string{"class", "clase", "classe", "type", "tipo"}

func foldName(name string) string { return string(Fold(nil, []byte(strings.TrimSpace(name)))) }

// layoutOf returns the index in layouts of a header; nil if it is none.
func (p *sourceParser) layoutOf(row []string) *int {
	names := foldNames(row)
	for i, l := range layouts {
		if slices.Contains(names, l.form) && (l.beside == "" || slices.Contains(names, l.beside)) {
			return &i
		}
	}
	return nil
}

// otherNames returns the column of given names beside one of surnames, "" if there is none.
func (p *sourceParser) otherNames(class Class) string {
	if class != Surname {
		return ""
	}
	for _, l := range layouts {
		if l.class == GivenName && slices.Contains(p.names, l.form) {
			return l.form
		}
	}
	return ""
}

func foldNames(row []string) []string {
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = foldName(name)
	}
	return names
}

// columns decides from the first row which columns hold what, and tells
// whether the row is a header.
func (p *sourceParser) columns(row []string, n int) (header bool, err error) {
	p.form, p.counts, p.kind, p.names = 0, nil, -1, nil
	layout := p.layoutOf(row)
	if p.NoHeader {
		layout = nil
	}
	byName := p.Form != "" && !isNumber(p.Form) || slices.ContainsFunc(p.Counts, func(c string) bool { return !isNumber(c) })
	header = layout != nil || byName
	if header {
		p.names = foldNames(row)
	}
	if layout != nil {
		if other := p.otherNames(layouts[*layout].class); other != "" && p.Form == "" {
			return false, &RowError{File: p.Name, Row: n, Cause: "given names and surnames stand in columns of their own",
				Remedy: "name both: 'Surname=" + p.Name + "?form=" + layouts[*layout].form + "' and 'GivenName=" + p.Name + "?form=" + other + "'"}
		}
		p.form = slices.Index(p.names, layouts[*layout].form)
		p.Class = cmp.Or(p.Class, layouts[*layout].class)
		p.kind = p.firstOf(kindColumns)
		p.counts = p.countsOf(p.names)
	} else if p.Form == "" && !guessable(row) {
		return false, &RowError{File: p.Name, Row: n, Cause: "cannot tell which of its columns holds the words",
			Remedy: "give the list a header with a name such as nombre, apellido, word, or say form=COLUMN (and count=COLUMN)"}
	} else if len(row) == 2 && isNumber(strings.TrimSpace(row[1])) {
		p.counts = []int{1}
	}
	if err := p.ask(row, n); err != nil {
		return false, err
	}
	if p.Class == 0 && p.kind < 0 {
		return false, &RowError{File: p.Name, Row: n, Cause: "cannot tell what kind of word its entries are",
			Remedy: "say so, as in GivenName=" + p.Name}
	}
	return header, nil
}

// guessable tells whether a row without a header can be understood: one
// column, or a word and its count.
func guessable(row []string) bool {
	return len(row) == 1 || len(row) == 2 && isNumber(strings.TrimSpace(row[1]))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (p *sourceParser) firstOf(names []string) int {
	for _, name := range names {
		if i := slices.Index(p.names, name); i >= 0 {
			return i
		}
	}
	return -1
}

func (p *sourceParser) countsOf(names []string) (columns []int) {
	for _, wanted := range countColumns {
		columns = columns[:0]
		for _, name := range wanted {
			if i := slices.Index(names, name); i >= 0 {
				columns = append(columns, i)
			}
		}
		if len(columns) == len(wanted) {
			return columns
		}
	}
	return nil
}

// ask puts the columns that were asked for in the place of those that were
// told from the header.
func (p *sourceParser) ask(row []string, n int) error {
	find := func(name string) (int, error) {
		i := slices.Index(p.names, foldName(name))
		if isNumber(name) {
			i, _ = strconv.Atoi(name)
			i--
		}
		if i < 0 || i >= len(row) {
			return 0, &RowError{File: p.Name, Row: n, Column: name, Cause: "there is no such column",
				Remedy: "columns: " + strings.Join(row, ", ") + "; or give its number, from 1"}
		}
		return i, nil
	}
	if p.Form != "" {
		i, err := find(p.Form)
		if err != nil {
			return err
		}
		p.form = i
	}
	if len(p.Counts) == 0 {
		return nil
	}
	p.counts = nil
	for _, name := range p.Counts {
		i, err := find(name)
		if err != nil {
			return err
		}
		p.counts = append(p.counts, i)
	}
	return nil
}

// column names a column for errors.
func (p *sourceParser) column(i int) string {
	if i < len(p.names) && p.names[i] != "" {
		return p.names[i]
	}
	return strconv.Itoa(i + 1)
}

func (p *sourceParser) row(n int, row []string) {
	class := p.Class
	if p.form >= len(row) {
		p.bad(n, p.column(p.form), "the row ends before it", "every row needs its columns")
		return
	}
	if p.kind >= 0 && p.kind < len(row) {
		if named, err := ParseClass(strings.TrimSpace(row[p.kind])); err == nil {
			class = cmp.Or(p.Source.Class, named)
		} else if class == 0 {
			p.bad(n, p.column(p.kind), "no class of that name", "known: "+strings.Join(classNames[:], ", "))
			return
		}
	}
	sum := 0
	for _, c := range p.counts {
		if c >= len(row) {
			p.bad(n, p.column(c), "the row ends before it", "every row needs its columns")
			return
		}
		v, ok := parseCount(row[c])
		if !ok {
			p.bad(n, p.column(c), "is not a count", "write whole numbers; leave it empty where the count is not known")
			return
		}
		sum += v
	}
	if class == 0 {
		p.bad(n, "", "its class is not known", "say so, as in GivenName="+p.Name)
		return
	}
	p.entry(n, row[p.form], class, sum)
}

// maxCount is the largest count that is kept: there are not more people.
const maxCount = 1<<32 - 1

// parseCount reads a count as tables write it: plain, in groups of three, with
// a decimal zero. Empty and ".." (INE's mark of a small one) are not known, 0.
func parseCount(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s == ".." || s == "-" {
		return 0, true
	}
	s = strings.TrimSuffix(s, ".0")
	digits := strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == ',' || r == ' ' || r == '\u00A0' })
	for i, d := range digits {
		if i > 0 && len(d) != 3 || len(digits) > 1 && (len(d) > 3 || len(d) == 0) || !isNumber(d) {
			return 0, false
		}
	}
	n, err := strconv.Atoi(strings.Join(digits, ""))
	return min(n, maxCount), err == nil
}

func (p *sourceParser) bad(row int, column, cause, remedy string) {
	p.intake.Bad++
	if len(p.intake.Why) < maxWhy {
		p.intake.Why = append(p.intake.Why, &RowError{File: p.Name, Row: row, Column: column, Cause: cause, Remedy: remedy})
	}
}

// entry hands an entry on, in all its forms.
func (p *sourceParser) entry(row int, form string, class Class, count int) {
	form = strings.Join(strings.Fields(form), " ")
	switch {
	case !hasLetter(form):
		p.bad(row, p.column(p.form), "has no letter", "leave the row out")
		return
	case !findable(form):
		p.bad(row, p.column(p.form), fmt.Sprintf("has more than %d words, or one of more than %d bytes", maxPhrase, maxForm),
			"no such form is ever looked up")
		return
	}
	p.intake.Rows++
	for _, f := range waysToWrite(form, class) {
		p.yield(Entry{Form: f, List: p.Name, Class: class, Frequency: count})
	}
}

// findable tells whether a form can be found in a note.
func findable(form string) bool {
	words := fineWords(form)
	return len(words) <= maxPhrase && !slices.ContainsFunc(words, func(w []byte) bool { return len(w) > maxForm })
}

func hasLetter(form string) bool {
	for _, c := range Fold(nil, []byte(form)) {
		if c >= 'a' && c <= 'z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// waysToWrite returns the names in an official name of a place: INE puts the
// article behind ("Pobla de Massaluca, La") and several languages beside each
// other ("Alicante/Alacant").
func waysToWrite(form string, class Class) (ways []string) {
	if class&^Place != 0 {
		return []string{form}
	}
	for name := range strings.SplitSeq(form, "/") {
		base, article, turned := strings.Cut(name, ", ")
		base, article = strings.TrimSpace(base), strings.TrimSpace(article)
		if !hasLetter(base) {
			continue
		}
		ways = append(ways, base)
		if turned && hasLetter(article) {
			joint := " "
			if strings.HasSuffix(article, "'") {
				joint = ""
			}
			ways = append(ways, article+joint+base)
		}
	}
	return ways
}
