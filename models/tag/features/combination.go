package features

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// combinations are the named sets of groups that the papers' tables are about
// (BOOT §3.4, NGRID §4.2, VIGI §5.5.2, INV §4.3). "use wc lm pos c" in a
// template stands for their lines. BOOT's own sets add up; each also has what
// all its models see (w).
var combinations = map[string]string{
	// BOOT §3.4.2 and its tables 4.3 and 4.4: window ±3.
	"w":   "word -3..3;border -3..3",
	"wc":  "cluster/wc -3..3",
	"lm":  "lemma -3..3",
	"mph": "hasdigit -3..3;prefix3 -3..3;prefix4 -3..3;suffix3 -3..3;suffix4 -3..3",
	"pos": "pos -3..3",
	"c":   "capitals -3..3",

	// NGRID table 2, window ±2: lexical, nine flags, morphological, dictionary.
	"ngrid": `lower -2..2;lemma -2..2;pos -2..2;chunk -2..2;shape -2..2;length -2..2
		hasletter -2..2;hascapital -2..2;capitalstart -2..2;allcapital -2..2
		hasdigit -2..2;alldigit -2..2;haspunct -2..2;letterdigit -2..2;digitpunct -2..2
		prefix2 -2..2;prefix3 -2..2;prefix4 -2..2;suffix2 -2..2;suffix3 -2..2;suffix4 -2..2
		gazetteer/Profession -2..2;gazetteer/Municipality -2..2;gazetteer/Country -2..2;gazetteer/Province -2..2`,

	// VIGI table 8, window ±3.
	"vigi": `word -3..3;lower -3..3;capitals -3..3;numeric -3..3;hyphen -3..3;suffix2 -3..3;suffix3 -3..3;unicode -3..3;pos -3..3;length -3..3;xyz -3..3
		tokeninsentence 0;tokeninnote 0;sentenceinnote 0
		gazetteer/Country -3..3;gazetteer/Holiday -3..3;gazetteer/CommonWord -3..3;gazetteer/Weekday -3..3;gazetteer/Month -3..3
		gazetteer/Title -3..3;gazetteer/MedicalTerm -3..3;gazetteer/Drug -3..3;term -3..3`,

	// INV §4.3.3, of the token itself.
	"inv": `gazetteer/Municipality 0;gazetteer/GivenName 0;gazetteer/Surname 0;gazetteer/CommonWord 0;gazetteer/MedicalTerm 0
		gazetteer/Weekday 0;gazetteer/Month 0;gazetteer/StreetType 0;gazetteer/Holiday 0
		capitalstart 0;sentencestart 0;numeric 0;hasdigit 0;single 0;numberword 0;domain 0`,
}

// Combinations returns the names that "use" knows, sorted.
func Combinations() []string { return slices.Sorted(maps.Keys(combinations)) }

// use adds the groups of combinations. A group that several of them have, or
// that stood before, sees the window of all together.
func (t *Template) use(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("use what? known: %s", strings.Join(Combinations(), ", "))
	}
	for _, name := range names {
		lines, ok := combinations[name]
		if !ok {
			return fmt.Errorf("combination %q is not known; known: %s", name, strings.Join(Combinations(), ", "))
		}
		for line := range strings.FieldsFuncSeq(lines, func(r rune) bool { return r == ';' || r == '\n' }) {
			words := strings.Fields(line)
			if err := t.widen(words[0], words[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// widen adds a group, or widens the window that it has.
func (t *Template) widen(name, window string) error {
	i := slices.IndexFunc(t.Groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		return t.group(name, window)
	}
	had := t.Groups[i]
	t.Groups = slices.Delete(t.Groups, i, i+1)
	if err := t.group(name, window); err != nil {
		return err
	}
	g := &t.Groups[len(t.Groups)-1]
	g.Lo, g.Hi = min(g.Lo, had.Lo), max(g.Hi, had.Hi)
	return nil
}
