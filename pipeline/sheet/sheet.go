// Package sheet keeps a spreadsheet from taking a cell for a formula. In comes
// the text of a cell of CSV or TSV; out goes one that is text to every
// spreadsheet, and back.
//
// The rule is that of OWASP (CSV Injection): an apostrophe before = + - @, their
// full-width forms, tab, carriage return and line feed. So that it can be taken
// back, cells that begin with apostrophes before one of these get one more.
package sheet

import (
	"bytes"
	"unicode/utf8"
)

// formula are the characters that a formula begins with.
const formula = "=+-@\t\r\n＝＋－＠"

// risky tells whether a spreadsheet may take cell for a formula, or Guard would
// have made it.
func risky(cell []byte) bool {
	rest := bytes.TrimLeft(cell, "'")
	r, _ := utf8.DecodeRune(rest)
	return len(rest) > 0 && bytes.ContainsRune([]byte(formula), r)
}

// Guarded returns the cell as it is written; shift is the number of bytes, and
// of characters, before its text.
func Guarded(dst, cell []byte) (out []byte, shift int) {
	if !risky(cell) {
		return append(dst, cell...), 0
	}
	return append(append(dst, '\''), cell...), 1
}

// Bare is the inverse of Guarded.
func Bare(cell []byte) (text []byte, shift int) {
	if len(cell) == 0 || cell[0] != '\'' || !risky(cell) {
		return cell, 0
	}
	return cell[1:], 1
}
