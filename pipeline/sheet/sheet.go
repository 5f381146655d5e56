// Package sheet prevents spreadsheets from executing a cell of CSV or TSV as a formula, reversibly.
//
// The rule is OWASP's (CSV Injection): an apostrophe before = + - @, their full-width forms, tab, carriage return and
// line feed. A cell that begins with apostrophes before one of these gets one more, so that the original can be
// restored.
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

// Guarded returns the cell in the form to be written; shift is the number of bytes (and characters) added before its
// text.
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
