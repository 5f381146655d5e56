package page

import (
	_ "embed"
	"regexp"
	"sync"
)

//go:embed said.txt
var saidText string

// Said translates a sentence that another package has made about a file, a column or dates into the language of the
// page. Logs and manifests keep the English sentence. A sentence without a translation is returned unchanged.
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
