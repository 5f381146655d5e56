package write

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// CoNLL writes one token a line, tab, tag; an empty line behind each sentence
// and "# id = x" before each note. It needs Batch.Tokens.
//
// A plain file holds tokens and nothing between them; spans take in the whole
// of every token that they touch. With TextOptions.Offsets each note has its
// text as a comment and each token its offsets, tokens are cut where spans
// begin and end, and reading gives back text and spans exactly:
//
//	# id = 7|1|2
//	# text_json = "la  Ada"
//	la	0	2	O
//	Ada	4	7	B-PERSON
//
// Notes that are not UTF-8 or have no text or id are left out and counted.
type CoNLL struct {
	o TextOptions
	*lineFile
	index  offset.Index
	tokens []pipeline.Token
	line   []byte
}

// NewCoNLL opens the file beside its place; Close puts it there.
func NewCoNLL(path string, o TextOptions) (*CoNLL, error) {
	o = o.withDefaults()
	out, err := newLineFile(path, o.Mode)
	if err != nil {
		return nil, err
	}
	return &CoNLL{o: o, lineFile: out}, nil
}

// Put implements pipeline.Sink.
func (w *CoNLL) Put(b *pipeline.Batch) error {
	if b.Len() > 0 && b.Tokens.Len() != b.Len() {
		return &noteError{ID: string(b.ID.At(0)), Cause: "the batch has no tokens", Remedy: "tokenize before writing CoNLL"}
	}
	for i := range b.Len() {
		if unwritable(b, i) {
			w.skipped++
			continue
		}
		if err := w.note(b.ID.At(i), b.Text.At(i), b.Tokens.At(i), w.o.spans(b, i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *CoNLL) note(id, text []byte, tokens []pipeline.Token, spans []pipeline.Span) error {
	w.index.Reset(text, w.o.Unit)
	for _, s := range spans {
		if _, _, err := offsets(&w.index, id, s); err != nil {
			return err
		}
	}
	w.line = w.header(w.line[:0], id, text)
	w.tokens = append(w.tokens[:0], tokens...)
	if w.o.Offsets {
		w.tokens = pieces(w.tokens[:0], tokens, spans)
	}
	at, open := 0, -1 // the span at hand, the last one that was opened
	for k, t := range w.tokens {
		for at < len(spans) && spans[at].End <= t.Start {
			at++
		}
		in := at < len(spans) && spans[at].Start < t.End
		first := in && open != at
		if k > 0 && t.Flags&pipeline.SentenceStart != 0 && (!in || first) {
			w.line = append(w.line, '\n')
		}
		var err error
		if w.line, err = w.token(w.line, id, text, t); err != nil {
			return err
		}
		if !in {
			w.line = append(w.line, "O\n"...)
			continue
		}
		open = at
		last := k+1 == len(w.tokens) || w.tokens[k+1].Start >= spans[at].End
		w.line = append(w.line, role(w.o.Scheme, first, last), '-')
		w.line = append(w.line, spans[at].Category.String()...)
		w.line = append(w.line, '\n')
		if last {
			at++
		}
	}
	w.line = append(w.line, '\n')
	_, err := w.Write(w.line)
	return err
}

// role returns the letter of a tag.
func role(s pipeline.Scheme, first, last bool) byte {
	switch {
	case s == pipeline.BIOESU && first && last:
		return 'S'
	case first:
		return 'B'
	case s == pipeline.BIOESU && last:
		return 'E'
	}
	return 'I'
}

func (w *CoNLL) header(dst, id, text []byte) []byte {
	if bytes.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		dst = append(dst, "# id_json = "...)
		dst = AppendString(dst, id)
	} else {
		dst = append(dst, "# id = "...)
		dst = append(dst, id...)
	}
	dst = append(dst, '\n')
	if w.o.Offsets {
		dst = append(dst, "# text_json = "...)
		dst = append(AppendString(dst, text), '\n')
	}
	return dst
}

// token appends the columns before the tag. White space inside a token would
// break the line; a token of nothing else is written as an underline.
func (w *CoNLL) token(dst, id, text []byte, t pipeline.Token) ([]byte, error) {
	begin := len(dst)
	dst = appendLine(dst, text[t.Start:t.End])
	if len(bytes.TrimSpace(dst[begin:])) == 0 {
		dst = append(dst[:begin], '_')
	}
	dst = append(dst, '\t')
	if !w.o.Offsets {
		return dst, nil
	}
	start, end, err := offsets(&w.index, id, pipeline.Span{Start: t.Start, End: t.End})
	if err != nil {
		return dst, err
	}
	dst = append(strconv.AppendInt(dst, int64(start), 10), '\t')
	return append(strconv.AppendInt(dst, int64(end), 10), '\t'), nil
}

// pieces cuts tokens where spans begin and end, and adds pieces for what a
// span holds before its first and behind its last token, so that each span
// starts and ends with a piece.
func pieces(dst, tokens []pipeline.Token, spans []pipeline.Span) []pipeline.Token {
	var cuts []int32
	for _, s := range spans {
		cuts = append(cuts, s.Start, s.End)
	}
	slices.Sort(cuts)
	k := 0
	for _, t := range tokens {
		for ; k < len(cuts) && cuts[k] <= t.Start; k++ {
		}
		for ; k < len(cuts) && cuts[k] < t.End; k++ {
			if t.Start < cuts[k] {
				dst = append(dst, pipeline.Token{Start: t.Start, End: cuts[k], Flags: t.Flags})
				t.Start, t.Flags = cuts[k], pipeline.Glued
			}
		}
		dst = append(dst, t)
	}
	return fillSpans(dst, spans)
}

// fillSpans stretches the first and the last piece of each span to the span's
// bounds; a span without one becomes one.
func fillSpans(tokens []pipeline.Token, spans []pipeline.Span) []pipeline.Token {
	var bare []pipeline.Token
	k := 0
	for _, s := range spans {
		for k < len(tokens) && tokens[k].End <= s.Start {
			k++
		}
		first := k
		for k < len(tokens) && tokens[k].Start < s.End {
			k++
		}
		if k == first {
			bare = append(bare, pipeline.Token{Start: s.Start, End: s.End})
			continue
		}
		tokens[first].Start, tokens[k-1].End = s.Start, s.End
	}
	tokens = append(tokens, bare...)
	slices.SortFunc(tokens, func(a, b pipeline.Token) int { return int(a.Start - b.Start) })
	return tokens
}
