package morphtrain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Word is a token of a treebank as written in the text. Part of speech and lemma of a contraction (del, hacerlo) are
// those of its words joined with + (BOOT §3.4.2): ADP+DET, de+el.
type Word struct {
	Form, POS, Lemma string
}

// maxLine bounds a line of a treebank.
const maxLine = 1 << 20

// Sentences reads a treebank in CoNLL-U. It stops at the first error, which
// names the line and quotes nothing of it.
func Sentences(r io.Reader) iter.Seq2[[]Word, error] {
	return func(yield func([]Word, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		var s sentence
		n := 1
		for ; lines.Scan(); n++ {
			line := strings.TrimSuffix(lines.Text(), "\r")
			switch {
			case line == "":
				if !s.end(n, yield) {
					return
				}
			case line[0] != '#':
				if err := s.add(line); err != nil {
					yield(nil, fmt.Errorf("line %d: %w", n, err))
					return
				}
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("line %d: %w", n, err))
			return
		}
		s.end(n, yield)
	}
}

// sentence is one that is being read.
type sentence struct {
	words []Word
	last  int // word that the contraction reaches to, 0 outside of one
}

// end yields the sentence and tells whether to go on.
func (s *sentence) end(line int, yield func([]Word, error) bool) bool {
	words := s.words
	*s = sentence{}
	if slices.ContainsFunc(words, func(w Word) bool { return w.POS == "" }) {
		yield(nil, fmt.Errorf("line %d: contraction without words", line))
		return false
	}
	return len(words) == 0 || yield(words, nil)
}

// errColumns is a line that is no word of CoNLL-U.
var errColumns = errors.New("not the ten columns of CoNLL-U")

// add reads a line: a word, the form of a contraction (13-14), or an empty
// node (1.1), which stands in no text.
func (s *sentence) add(line string) error {
	c := strings.Split(line, "\t")
	if len(c) != 10 || c[1] == "" {
		return errColumns
	}
	if from, to, ok := strings.Cut(c[0], "-"); ok {
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last <= first {
			return errors.New("range of a contraction that is no range")
		}
		s.words, s.last = append(s.words, Word{Form: c[1]}), last
		return nil
	}
	if strings.Contains(c[0], ".") {
		return nil
	}
	id, err := strconv.Atoi(c[0])
	if err != nil || id < 1 {
		return errors.New("first column is no number")
	}
	w := Word{Form: c[1], POS: c[3], Lemma: c[2]}
	if w.POS == "_" || w.POS == "" {
		return errors.New("word without a part of speech")
	}
	if w.Lemma == "_" || w.Lemma == "" {
		w.Lemma = w.Form
	}
	if id > s.last {
		s.words, s.last = append(s.words, w), 0
		return nil
	}
	whole := &s.words[len(s.words)-1]
	if whole.POS != "" {
		w.POS, w.Lemma = whole.POS+"+"+w.POS, whole.Lemma+"+"+w.Lemma
	}
	whole.POS, whole.Lemma = w.POS, w.Lemma
	return nil
}
