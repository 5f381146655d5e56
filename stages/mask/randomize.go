package mask

import (
	"fmt"
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// newRandomize returns the operator that writes any value of a list, values=A,B,C
// (randomization, BOOT par. 2.2.2): whatever stood there, so that nothing of it is
// left, not its gender, size or format. A _ stands for a blank. Without a list the
// values are a few that say of themselves that they are none.
func newRandomize(s *settings) func(*Options) Operator {
	scope := s.scope(NoteScope)
	s.likes = true
	var values []string
	for v := range strings.SplitSeq(s.ask("values", "Uno,Dos,Tres,Cuatro,Cinco"), ",") {
		if v = strings.ReplaceAll(v, "_", " "); v != "" {
			values = append(values, v)
		}
	}
	if len(values) < 2 {
		s.fail("values wants two values or more, with commas between")
	}
	folded := make([]string, len(values))
	for i, v := range values {
		folded[i] = string(gazetteer.Fold(nil, []byte(v)))
	}
	return func(*Options) Operator { return &randomize{scope: scope, values: values, folded: folded} }
}

// ReadChain is ParseChain for a chain that may name files of values, as "randomize file=NAMES.TXT". The content of a
// file becomes part of the chain, so that its path does not affect the output. With alone, notes have no patient, and a
// scope of a patient means the note.
func ReadChain(text string, alone bool, read func(path string) ([]byte, error)) (*Chain, error) {
	text, err := withLists(text, read)
	if err != nil {
		return nil, err
	}
	return parseChain(text, alone)
}

// withLists returns a chain in which the names of files are replaced by the values in them, one a line.
func withLists(text string, read func(path string) ([]byte, error)) (string, error) {
	if !strings.Contains(text, "file=") {
		return text, nil
	}
	words := strings.Fields(text)
	for i, w := range words {
		path, names := strings.CutPrefix(w, "file=")
		if !names {
			continue
		}
		list, err := read(path)
		if err != nil {
			return "", &PolicyError{Message: fmt.Sprintf("randomize: cannot read the list: %v", err)}
		}
		var values []string
		for n, line := range strings.Split(string(list), "\n") {
			if strings.ContainsAny(line, ",|_") {
				return "", &PolicyError{Message: fmt.Sprintf("randomize: %s, line %d: a value has a comma, a bar or a _; write one value a line", path,
					n+1)}
			}
			if of := strings.Fields(line); len(of) > 0 {
				values = append(values, strings.Join(of, "_"))
			}
		}
		words[i] = "values=" + strings.Join(values, ",")
	}
	return strings.Join(words, " "), nil
}

type randomize struct {
	scope          Scope
	values, folded []string
	key            []byte
}

// Replace implements Operator. It never draws the original value.
func (o *randomize) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	o.key = gazetteer.Fold(o.key[:0], v.Words)
	draw := n.Draw(o.scope, "randomize", o.key)
	first := draw.IntN(len(o.values))
	for k := range o.values {
		if at := (first + k) % len(o.values); o.folded[at] != string(o.key) {
			return append(dst, o.values[at]...), true
		}
	}
	return dst, false
}
