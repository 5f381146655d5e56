// Package locale holds the words of languages: months, ages, titles, streets, function words. In: text files, one a language. Out: the
// lines of a topic, to the packages that know what they mean. No Go file knows the words of a language, so one more is one file more: here,
// or one that Add takes up when the program starts (read.languages).
//
// A line of names in brackets opens a section, and the lines under it hold its words, as "january february" under "[dates month full]". The
// first name is the topic, which is the table of one package; README.md lists topics and sections. A # begins a comment, and _ stands for a
// blank inside a word. "en" under "[language]" says which language the words of a file are. common.txt has no such section: its words are
// abbreviations, codes and what several languages write alike.
package locale

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

//go:embed *.txt
var embedded embed.FS

// A Reader receives a line of words with its language, pipeline.UnknownLanguage for those of common.txt, and the names
// of the section after the topic. It returns an error if it does not accept them.
type Reader func(l pipeline.Language, section, words []string) error

// file is the words of a language. It is cut into lines once, because more than thirty tables read it when a program starts.
type file struct {
	language pipeline.Language
	text     string
	lines    []line
}

// line is a line of words and the section that it stands in.
type line struct{ section, words []string }

var (
	files  []file
	topics = map[string][]Reader{"language": {func(pipeline.Language, []string, []string) error { return nil }}}
)

// init takes up the embedded files in the order of their languages: common words, those of models/word/language, others.
func init() {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	for _, e := range entries {
		text, err := embedded.ReadFile(e.Name())
		if err == nil {
			err = take(string(text))
		}
		if err != nil {
			panic(e.Name() + ": " + err.Error()) // the test of this package begins with it
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return int(a.language) - int(b.language) })
	Read("names", func(_ pipeline.Language, section, words []string) error {
		class, err := gazetteer.ParseClass(strings.Join(section, " "))
		for _, w := range words {
			gazetteer.AddName(gazetteer.Entry{Form: strings.ReplaceAll(w, "_", " "), Class: class})
		}
		return err
	})
}

// take adds a file to those that there are.
func take(text string) error {
	f := file{text: text}
	cut.Sections(f.text, func(section, words []string) { f.lines = append(f.lines, line{section, words}) })
	err := f.each("language", func(_ pipeline.Language, section, words []string) (err error) {
		if len(section) == 0 {
			f.language, err = pipeline.AddLanguage(words[0])
		}
		return err
	})
	files = append(files, f)
	return err
}

// Read passes the lines of a topic to a Reader: those of the embedded files now, at program start, and those of each
// file that Add adds later. It panics if the Reader rejects an embedded line.
func Read(topic string, read Reader) {
	topics[topic] = append(topics[topic], read)
	for _, f := range files {
		if err := f.each(topic, read); err != nil {
			panic(topic + ": " + err.Error()) // every test of the table's package begins with it
		}
	}
}

// room is how many words of dates and patterns can still be added: their tables (cut.Lexicon) have 4,096 places, of which
// the embedded files take 752 and 1,407.
var room = 2048

// Add adds a file of words of a new or an existing language and passes its lines to all Readers. It must be called
// before the first note is processed. Adding the same text twice has no effect. An error names the section and no word.
func Add(text string) error {
	if slices.ContainsFunc(files, func(f file) bool { return f.text == text }) {
		return nil
	}
	if err := take(text); err != nil {
		return err
	}
	added := files[len(files)-1]
	if added.language == pipeline.UnknownLanguage {
		return errors.New("a file of words begins with the code of its language, as \"pt\" under \"[language]\"")
	}
	for _, l := range added.lines {
		topic, all := first(l.section), strings.Join(l.section, " ")
		if topic == "dates" || topic == "patterns" {
			room -= len(l.words)
		}
		if room < 0 {
			return fmt.Errorf("[%s]: the words of added files are too many; leave out rare ones", all)
		}
		if topics[topic] == nil && topics[all] == nil {
			return fmt.Errorf("[%s]: there is no such section", all)
		}
	}
	var err error
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		for _, read := range topics[topic] {
			err = cmp.Or(err, added.each(topic, read))
		}
	}
	return err
}

// each calls read for the lines of all sections of a topic, those with exactly this name, or with it as the first word
// of theirs, until it returns an error.
func (f file) each(topic string, read Reader) error {
	for _, l := range f.lines {
		if first(l.section) != topic && strings.Join(l.section, " ") != topic {
			continue
		}
		if err := read(f.language, l.section[1:], l.words); err != nil {
			return fmt.Errorf("[%s]: %w", strings.Join(l.section, " "), err)
		}
	}
	return nil
}

func first(section []string) string {
	if len(section) == 0 {
		return ""
	}
	return section[0]
}

// Words returns the set of words in a section, folded to lower case without accents; Forms returns them as written.
// Files that Add adds later extend the set.
func Words(section string) map[string]bool {
	return set(section, func(w string) string { return string(gazetteer.Fold(nil, []byte(w))) })
}

func Forms(section string) map[string]bool { return set(section, strings.Clone) }

func set(section string, form func(string) string) map[string]bool {
	all := map[string]bool{}
	Read(section, func(_ pipeline.Language, _, words []string) error {
		for _, w := range words {
			all[form(w)] = true
		}
		return nil
	})
	return all
}
