package review

import (
	"maps"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline"
)

// Langs lists the languages of the page.
var Langs = []string{"ca", "en", "es"}

// texts returns all texts of the page in a language.
func texts(lang string) map[string]string { return page.LanguageOf(lang).Under("review ") }

// wordsOf returns the words for a question: with its own guideline and rule, if it has them.
func wordsOf(lang string, q *question) map[string]string {
	words := texts(lang)
	for _, name := range []string{"guideline", "rule"} {
		if own := words[name+"-"+q.name]; own != "" {
			words[name] = own
		}
	}
	return words
}

// answersOf returns the answers of a question with their keys and words.
func answersOf(lang string, q *question) (out []map[string]string) {
	for i, a := range q.answers {
		out = append(out, map[string]string{"name": a, "key": keyOf(i), "word": texts(lang)[a]})
	}
	return out
}

// Keys maps each action of the page to its default key, under the name that browsers give the key. Letters are reserved
// for categories.
func Keys() map[string]string {
	return map[string]string{
		"accept": "Enter", "next": "PageDown", "previous": "PageUp", "left_word": "ArrowLeft", "right_word": "ArrowRight", "remove": "Delete",
		"keep_all": "-", "everywhere": "=", "undo": "Backspace", "other": "F8", "original": "F7", "search": "/", "help": "?", "end": "F9",
	}
}

// marking are the keys that change spans.
var marking = []string{"remove", "keep_all", "everywhere", "undo"}

// keysOf returns the keys that are active for the question and its options.
func keysOf(o *Options, q *question) map[string]string {
	keys := Keys()
	maps.Copy(keys, o.Keys)
	if !q.marks || o.Other == "" {
		delete(keys, "other")
	}
	if q.marks {
		delete(keys, "original") // the text is the note's own
	} else {
		for _, name := range marking {
			delete(keys, name)
		}
	}
	if q.answers != nil {
		delete(keys, "accept") // an answer goes on by itself
	}
	return keys
}

// lettered gives every category the first letter of its name that is free.
func lettered(labels []pipeline.Category) (out []map[string]string) {
	used := map[rune]bool{}
	for _, c := range labels {
		key := ""
		for _, r := range strings.ToLower(c.String()) + "1234567890abcdefghijklmnopqrstuvwxyz" {
			if r != '_' && !used[r] {
				used[r], key = true, string(r)
				break
			}
		}
		out = append(out, map[string]string{"name": c.String(), "key": key})
	}
	return out
}
