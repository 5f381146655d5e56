package text

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// CoNLL reads token columns: the token first, its tag last, tabs between (or
// spaces, as in CoNLL-2003), an empty line behind each sequence. Tags are BIO,
// IOB1, BIOESU, BILOU or BMEWO; they are told apart tag by tag:
//
//	B  opens a span            S U W  is a whole span
//	I M  goes on, or opens     E L    goes on, or opens, and closes
//
// A line "-DOCSTART-" or "# id = x" starts a note; in a file without either,
// every sequence is a note. Notes without id have the number of their row,
// from 1. The text is rebuilt with one space between tokens and a line feed
// between sequences, unless the note gives it:
//
//	# id = 7|1|2
//	# text_json = "la  Ada"
//	la	0	2	O
//	Ada	4	7	B-PERSON
//
// Then tokens have offsets, in Options.Unit, and text and spans are exact.
// Other comments are passed over and counted.
type CoNLL struct {
	intake
	in     *stream
	marked bool // a line that starts a note was seen: sequences end no notes
	byID   bool // it was "# id =": -DOCSTART- is a token

	// the note that is being read
	begun, named, exact bool
	id, text            []byte
	labels              []label
	open                bool // the last label may go on
	tokens              int  // in the note
	gap                 byte // before the next token: a line feed at the begin of a sequence
}

// NewCoNLL opens a file.
func NewCoNLL(path string, o Options) (*CoNLL, error) {
	r := &CoNLL{intake: newIntake(path, o)}
	in, err := r.openFile()
	if err != nil {
		return nil, err
	}
	r.in = in
	return r, nil
}

// Close closes the file.
func (n *CoNLL) Close() error { return n.in.Close() }

// Next implements pipeline.Source.
func (n *CoNLL) Next(b *pipeline.Batch) error {
	n.start(b)
	for !n.full(b) {
		line, err := n.in.next()
		if err == io.EOF {
			if err := n.finish(b); err != nil {
				return err
			}
			break
		}
		if err != nil {
			return err
		}
		if err := n.take(b, bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}

func (n *CoNLL) take(b *pipeline.Batch, line []byte) error {
	switch {
	case len(line) == 0:
		n.open, n.gap = false, '\n'
		if !n.marked {
			return n.finish(b)
		}
		return nil
	case line[0] == '#' && bytes.IndexByte(line, '\t') < 0:
		return n.comment(b, line)
	case !n.byID && bytes.HasPrefix(line, []byte("-DOCSTART-")):
		n.marked = true
		return n.begin(b)
	}
	return n.token(line)
}

// comment reads "# name = value".
func (n *CoNLL) comment(b *pipeline.Batch, line []byte) error {
	name, value, _ := strings.Cut(string(line), " = ")
	switch name {
	case "# id", "# id_json":
		if name == "# id_json" && json.Unmarshal([]byte(value), &value) != nil {
			return n.wrong(place{n.in.line, 13}, "id_json is no JSON string", "write it as one, or use # id =")
		}
		if n.named || n.tokens > 0 || n.exact {
			if err := n.finish(b); err != nil {
				return err
			}
		}
		n.byID = n.byID || !n.marked
		n.marked, n.begun, n.named, n.id = true, true, true, []byte(value)
	case "# text_json":
		var text string
		if json.Unmarshal([]byte(value), &text) != nil {
			return n.wrong(place{n.in.line, 15}, "text_json is no JSON string", "write it as one")
		}
		if n.tokens > 0 || n.exact {
			return n.wrong(place{n.in.line, 1}, "text_json behind tokens or a second one", "write it behind # id =, before the tokens")
		}
		n.begun, n.exact, n.text = true, true, []byte(text)
	default:
		n.warnings.Ignored++
	}
	return nil
}

// begin ends the note before and starts one.
func (n *CoNLL) begin(b *pipeline.Batch) error {
	err := n.finish(b)
	n.begun = true
	return err
}

// finish hands over the note that was read, if there is one.
func (n *CoNLL) finish(b *pipeline.Batch) error {
	if !n.begun {
		return nil
	}
	id := n.id
	if !n.named {
		id = strconv.AppendInt(nil, n.row+1, 10)
	}
	unit := offset.Bytes
	if n.exact {
		unit = n.o.Unit
	}
	reason := n.check(n.text)
	if reason == pipeline.Sound && len(id) == 0 {
		reason = pipeline.NullID
	}
	err := n.addAs(b, reason, id, n.text, n.labels, unit)
	n.begun, n.named, n.exact, n.open = false, false, false, false
	n.text, n.labels, n.tokens = n.text[:0], n.labels[:0], 0
	return err
}

// token reads one token line.
func (n *CoNLL) token(line []byte) error {
	const remedy = "write token, tab, tag"
	sep := "\t"
	if bytes.IndexByte(line, '\t') < 0 {
		sep = " "
	}
	word, rest, ok := bytes.Cut(line, []byte(sep))
	if !ok {
		return n.wrong(place{n.in.line, 1}, "line of one column", remedy)
	}
	cut := bytes.LastIndex(line, []byte(sep)) + 1
	tag := line[cut:]
	at := place{n.in.line, cut + 1}
	start, end, err := n.bounds(word, rest, at)
	if err != nil {
		return err
	}
	n.begun, n.gap = true, ' '
	n.tokens++
	return n.tag(tag, start, end, at)
}

// bounds returns where the token stands, and appends it to a text that is
// being rebuilt.
func (n *CoNLL) bounds(word, rest []byte, at place) (start, end int, err error) {
	if !n.exact {
		if n.tokens > 0 {
			n.text = append(n.text, n.gap)
		}
		start = len(n.text)
		n.text = append(n.text, word...)
		return start, len(n.text), nil
	}
	from, more, _ := bytes.Cut(rest, []byte("\t"))
	to, _, three := bytes.Cut(more, []byte("\t"))
	start, ok1 := number(from)
	end, ok2 := number(to)
	if !three || !ok1 || !ok2 {
		return 0, 0, n.wrong(at, "token without offsets in a note with text_json", "write token, start, end and tag")
	}
	return start, end, nil
}

// tag opens, prolongs or closes a span.
func (n *CoNLL) tag(tag []byte, start, end int, at place) error {
	if string(tag) == "O" {
		n.open = false
		return nil
	}
	role, name, ok := bytes.Cut(tag, []byte("-"))
	if !ok || len(role) != 1 || bytes.IndexByte([]byte("BIMELSUW"), role[0]) < 0 {
		return n.wrong(at, "tag is neither O nor B-, I-, E- or S- with a label", "write tags in BIO or BIOESU")
	}
	c, err := n.category(name, at)
	if err != nil {
		return err
	}
	goesOn := bytes.IndexByte([]byte("IMEL"), role[0]) >= 0 && n.open && n.labels[len(n.labels)-1].category == c
	if goesOn {
		n.labels[len(n.labels)-1].end = end
	} else {
		n.labels = append(n.labels, label{start: start, end: end, category: c, score: 1, source: pipeline.FromGold, at: at})
	}
	n.open = bytes.IndexByte([]byte("ELSUW"), role[0]) < 0
	return nil
}
