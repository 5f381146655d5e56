// Package velum holds README.md, so that `velum help TOPIC` says what the README of its own version says.
package velum

import _ "embed" // the README

// Readme is README.md.
//
//go:embed README.md
var Readme string
