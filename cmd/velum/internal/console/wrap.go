package console

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is the width of all help texts in columns: the default width of a terminal.
const Width = 80

// Wrap wraps text whose first line begins at column indent, and indents the following lines to the same column.
func Wrap(indent int, text string) string {
	var b strings.Builder
	column := indent
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == indent:
		case column+1+n > Width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// link matches a Markdown link, of which a terminal shows the text only.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// Markdown formats Markdown for a terminal: it wraps paragraphs and tables, and indents fenced blocks by two columns
// without wrapping them. Lines that begin with a blank outside of a paragraph stay as they are.
func Markdown(markdown string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out, paragraph = append(out, Wrap(0, link.ReplaceAllString(strings.Join(paragraph, " "), "$1"))), nil
		}
	}
	fenced := false
	var rows [][]string
	for line := range strings.SplitSeq(markdown+"\n", "\n") {
		bullet := strings.HasPrefix(line, "* ")
		if !strings.HasPrefix(line, "|") && rows != nil {
			out, rows = append(out, table(rows)...), nil
		}
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			fenced = !fenced
		case fenced:
			out = append(out, strings.TrimRight("  "+line, " "))
		case strings.HasPrefix(line, "|"):
			end()
			if !strings.HasPrefix(line, "|--") { // the line under the names of columns
				rows = append(rows, strings.Split(link.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(line, "| "), "|"), "$1"), " |"))
			}
		case line == "", line[0] == ' ' && paragraph == nil:
			end()
			out = append(out, line)
		case strings.HasPrefix(line, "#"):
			end()
			out = append(out, strings.ToUpper(strings.TrimLeft(line, "# ")))
		default:
			if bullet {
				end()
			}
			paragraph = append(paragraph, line)
		}
	}
	end()
	return strings.TrimSuffix(strings.Join(out, "\n"), "\n")
}

// table formats a table whose last column wraps. If the other columns are too wide for that, the cells of a row are
// printed below its first cell.
func table(rows [][]string) (lines []string) {
	indent := 2
	widths := make([]int, len(rows[0]))
	for k := range len(rows[0]) - 1 {
		for _, row := range rows {
			if k < len(row) {
				row[k] = strings.TrimSpace(row[k])
				widths[k] = max(widths[k], utf8.RuneCountInString(row[k])+2)
			}
		}
		indent += widths[k]
	}
	for _, row := range rows {
		line, last := "  ", len(row)-1
		if indent > Width/2 {
			others := slices.DeleteFunc(row[1:], func(cell string) bool { return strings.TrimSpace(cell) == "" })
			lines = append(lines, line+Wrap(2, row[0])+"\n      "+Wrap(6, strings.Join(others, " · ")))
			continue
		}
		for k, cell := range row[:last] {
			line += cell + strings.Repeat(" ", max(widths[k]-utf8.RuneCountInString(cell), 0))
		}
		lines = append(lines, strings.TrimRight(line+Wrap(indent, row[last]), " "))
	}
	return lines
}
