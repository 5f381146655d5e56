package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/velum-health/velum/pipeline"
)

const (
	keepHeader = 0.15 // of header lines: a card number or a birth date does turn up alone in a note
	lowered    = 0.25 // of notes: the whole note in lower case
	raised     = 0.15 // of notes: the whole note in upper case
	plain      = 0.35 // of notes: without accents
)

// cutter cuts reports into notes.
type cutter struct {
	rng          *rand.Rand
	notes, spans int
}

// report appends the notes of one report to dst. The body begins where the
// header's short "Field: value." lines end.
func (c *cutter) report(dst *pipeline.Batch, id string, text []byte, gold []pipeline.Span) {
	body := bytes.Index(text, []byte("Informe clínico"))
	n := 0
	for at := 0; at < len(text); {
		end := len(text)
		if nl := bytes.IndexByte(text[at:], '\n'); nl >= 0 {
			end = at + nl
		}
		header := body >= 0 && at < body
		if !header || c.rng.Float64() < keepHeader {
			for _, cut := range c.cuts(text[at:end], at, gold) {
				c.note(dst, fmt.Sprintf("%s:%d", id, n), text, gold, cut)
				n++
			}
		}
		at = end + 1
	}
}

type cut struct{ start, end int }

// cuts divides a line into runs of one to three sentences; a cut never falls
// inside a span.
func (c *cutter) cuts(line []byte, at int, gold []pipeline.Span) []cut {
	var out []cut
	start, sentences, want := 0, 0, 1+c.rng.IntN(3)
	for i := 0; i < len(line); i++ {
		last := i == len(line)-1
		stop := line[i] == '.' && i+1 < len(line) && line[i+1] == ' ' && !inSpan(gold, at+i)
		if stop {
			sentences++
		}
		if last || stop && sentences == want {
			if i+1-start > 12 {
				out = append(out, cut{at + start, at + i + 1})
			}
			start, sentences, want = i+2, 0, 1+c.rng.IntN(3)
		}
	}
	return out
}

func inSpan(gold []pipeline.Span, at int) bool {
	for _, g := range gold {
		if int(g.Start) <= at && at < int(g.End) {
			return true
		}
	}
	return false
}

// note appends text[k.start:k.end] with its spans, mangled.
func (c *cutter) note(dst *pipeline.Batch, id string, text []byte, gold []pipeline.Span, k cut) {
	m := mangle(c.rng)
	offset := make([]int32, k.end-k.start+1) // where each byte of the cut begins in the note
	var note []byte
	for i, r := range string(text[k.start:k.end]) {
		for j := i; j < len(offset); j++ {
			offset[j] = int32(len(note))
		}
		note = m.append(note, r)
	}
	offset[len(offset)-1] = int32(len(note))
	for _, g := range gold {
		if int(g.Start) < k.start || int(g.End) > k.end {
			continue
		}
		g.Start, g.End = offset[int(g.Start)-k.start], offset[int(g.End)-k.start]
		dst.Gold.Items = append(dst.Gold.Items, g)
		c.spans++
	}
	dst.Gold.End()
	dst.ID.Append([]byte(id))
	dst.Text.Append(note)
	dst.Reason = append(dst.Reason, pipeline.Sound)
	c.notes++
}
