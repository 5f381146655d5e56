package propose

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// Limits on how much of an archive is inspected.
const (
	mostRows  = 100_000  // of all files
	mostBytes = 64 << 20 // of their cells
	mostFiles = 16
	mostKept  = 400 // rows that samples are drawn from, if nobody wants more
)

// table holds the findings from the first rows of an archive's files.
type table struct {
	head    read.Head
	columns []*column
	rows    int
	keep    int
	bytes   int64
	whole   bool // all rows of all files were seen
	kept    [][]parquet.Cell
	lacks   []string // files that lack a column of the first one
	differ  []string // columns that are of another type in some file than in the first one
}

// column sums up the values of a column.
type column struct {
	name    string // "" if it may be words of a note
	number  int
	filled  int // rows with a value
	dates   int
	bytes   int
	words   int
	letters int // bytes of them
	longest int
	values  map[uint64]struct{}
	shape   string // of the first value
}

// lookAt reads the beginning of files, as much of each, and keeps so many rows.
func lookAt(files []archive.File, as string, o text.Options, keep int) (*table, error) {
	t := &table{whole: true, keep: keep}
	if len(files) > mostFiles { // evenly, the first and the last among them
		t.whole = false
		some := make([]archive.File, mostFiles)
		for i := range some {
			some[i] = files[i*(len(files)-1)/(mostFiles-1)]
		}
		files = some
	}
	for i := range files {
		head, rows, bytes := read.Head{}, 0, int64(0)
		err := read.Look(files[i].Path, cmp.Or(as, files[i].Format()), o, &head, func(cells []parquet.Cell) error {
			if rows++; rows > mostRows/len(files) || bytes > mostBytes/int64(len(files)) {
				t.whole = false
				return read.ErrEnough
			}
			if i == 0 {
				t.head.Names = head.Names
			}
			bytes += t.row(cells, head.Names)
			return nil
		})
		if err != nil && i == 0 {
			return nil, err
		}
		broken := t.head.Broken + head.Broken
		if i == 0 {
			t.head = head
		} else if err != nil || !t.has(head.Names) {
			t.lacks = append(t.lacks, files[i].Path)
		}
		t.head.Broken = broken
		t.bytes += bytes
	}
	if cmp.Or(as, files[0].Format()) == "parquet" {
		t.types(files)
	}
	for k, name := range t.head.Names { // of a table without rows
		t.column(k, name)
	}
	return t, nil
}

// types compares the types of columns in files of Parquet.
func (t *table) types(files []archive.File) {
	first := map[string]string{}
	for i := range files {
		columns, err := parquet.Types(files[i].Path)
		if err != nil {
			continue // a run says so
		}
		for _, c := range columns {
			if was := cmp.Or(first[c.Name], c.Type); was != c.Type && !slices.Contains(t.differ, c.Name) {
				t.differ = append(t.differ, c.Name)
			}
			first[c.Name] = cmp.Or(first[c.Name], c.Type)
		}
	}
}

// has tells whether a file has the columns of the first one.
func (t *table) has(names []string) bool {
	return !slices.ContainsFunc(t.head.Names, func(name string) bool { return !slices.Contains(names, name) })
}

// row takes a row of a file whose columns have these names.
func (t *table) row(cells []parquet.Cell, names []string) (bytes int64) {
	t.rows++
	kept := make([]parquet.Cell, 0, len(cells))
	for _, cell := range cells {
		c := t.named(names[cell.Column])
		c.add(cell)
		bytes += int64(len(cell.Text))
		if len(cell.Text) <= mostText {
			kept = append(kept, parquet.Cell{Column: c.number, Text: cell.Text})
		}
	}
	if len(t.kept) < t.keep {
		t.kept = append(t.kept, kept)
	} else if every := mostRows / t.keep; t.rows%every == 0 { // later ones as well
		t.kept[t.rows/every%t.keep] = kept
	}
	return bytes
}

// mostText is the longest text that samples are drawn from.
const mostText = 1 << 16

func (t *table) named(name string) *column {
	for _, c := range t.columns {
		if t.head.Names[c.number] == name {
			return c
		}
	}
	if !slices.Contains(t.head.Names, name) {
		t.head.Names = append(t.head.Names, name)
	}
	return t.column(slices.Index(t.head.Names, name), name)
}

// column returns the column of that number.
func (t *table) column(number int, name string) *column {
	for _, c := range t.columns {
		if c.number == number {
			return c
		}
	}
	c := &column{number: number, values: map[uint64]struct{}{}}
	if input.IsHeader(name) {
		c.name = name
	}
	t.columns = append(t.columns, c)
	slices.SortFunc(t.columns, func(a, b *column) int { return cmp.Compare(a.number, b.number) })
	return c
}

func (c *column) add(cell parquet.Cell) {
	c.filled++
	c.bytes += len(cell.Text)
	c.longest = max(c.longest, len(cell.Text))
	c.values[xxh3.HashString(cell.Text)] = struct{}{}
	if c.filled > 2000 && c.filled%16 != 0 { // enough to tell words from codes
		return
	}
	if c.shape == "" {
		c.shape = shapeOf(cell.Text)
	}
	if isDate(cell.Text) {
		c.dates += weightOf(c.filled)
	}
	for word := range strings.FieldsSeq(cell.Text) {
		c.words += weightOf(c.filled)
		for _, r := range word {
			if unicode.IsLetter(r) {
				c.letters += utf8.RuneLen(r) * weightOf(c.filled)
			}
		}
	}
}

// weightOf is how many rows the current row stands for.
func weightOf(filled int) int {
	if filled > 2000 {
		return 16
	}
	return 1
}

// isDate tells whether a value begins as dates of tables do: 2026-01-31, 31/1/2026, 20260131.
func isDate(value string) bool {
	day, _, _ := strings.Cut(value, " ")
	day, _, _ = strings.Cut(day, "T")
	parts := strings.FieldsFunc(day, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	for _, part := range parts {
		if strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	switch len(parts) {
	case 1:
		return len(day) == 8 && (day[:2] == "19" || day[:2] == "20") && day[4:6] <= "12" && day[6:] <= "31"
	case 3:
		first, last := len(parts[0]), len(parts[2])
		return len(parts[1]) <= 2 && (first == 4 && last <= 2 || first <= 2 && (last == 4 || last == 2))
	}
	return false
}

// shapeOf returns the shape of a value without its content: 9 for a digit, a and A for letters.
func shapeOf(value string) string {
	if utf8.RuneCountInString(value) > 40 {
		return "text"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '9'
		case unicode.IsUpper(r):
			return 'A'
		case unicode.IsLetter(r):
			return 'a'
		}
		return r
	}, value)
}
