package page

import (
	_ "embed"
	"regexp"
	"sync"
)

//go:embed said.txt
var saidText string

// Said returns what another package says of a file, a column or the dates, in the
// language of the page: log and manifest have it in English. What the table does not
// know stays as it is there.
func (l Language) Said(text string) string {
	if l == 0 {
		return text
	}
	for _, p := range phrases() {
		text = p.english.ReplaceAllString(text, p.block[l])
	}
	return text
}

type phrase struct {
	english *regexp.Regexp
	block   []string // English, Spanish, Catalan
}

var putIn = regexp.MustCompile(`\{\d\}`)

// phrases are made once, and not by the processes that write no page.
var phrases = sync.OnceValue(func() (all []phrase) {
	for _, block := range blocks(saidText) {
		all = append(all, phrase{regexp.MustCompile(putIn.ReplaceAllString(block[0], "(.+?)")), block})
	}
	return all
})
