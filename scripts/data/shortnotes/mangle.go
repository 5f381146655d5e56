package main

import (
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mangler writes the runes of one note the way a hurried hand does.
type mangler struct {
	toCase func(rune) rune
	plain  bool
}

func mangle(rng *rand.Rand) mangler {
	m := mangler{toCase: func(r rune) rune { return r }, plain: rng.Float64() < plain}
	switch p := rng.Float64(); {
	case p < lowered:
		m.toCase = unicode.ToLower
	case p < lowered+raised:
		m.toCase = unicode.ToUpper
	}
	return m
}

const accented, without = "áéíóúüàèòïÁÉÍÓÚÜÀÈÒÏ", "aeiouuaeoiAEIOUUAEOI"

func (m mangler) append(dst []byte, r rune) []byte {
	r = m.toCase(r)
	if m.plain {
		if i := strings.IndexRune(accented, r); i >= 0 {
			r = rune(without[utf8.RuneCountInString(accented[:i])])
		}
	}
	return utf8.AppendRune(dst, r)
}
