package resolve

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/models/tag/overlap"
	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// New checks the options and returns the step.
//
//	in:  Text or View, Tokens, Reason; TagSet, Tags, Conf, SpanProbs; Matches; Known
//	out: Spans
//
// The score of a span is the pattern's for a match, that of the span it
// repeats for a repeat, 1 for a list, ruleScore for a rule, and for a span of
// the model its probability. A model that says none gives the note's confidence:
// P(y*|x) and the min-marginal are both at most that probability, so that the
// figure is never too high. It plays no part in the priority.
//
// Notes that are not sound get an empty list of spans; a note on which the
// stage panics goes to quarantine.
func New(o Options) (pipeline.Step, error) {
	p, err := compile(o)
	if err != nil {
		return pipeline.Step{}, err
	}
	return pipeline.Step{Name: "resolve", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		w := &worker{plan: p, counts: newTally(p)}
		w.resolve = w.note
		for _, pack := range p.Packs {
			w.machines = append(w.machines, pack.NewMachine())
		}
		return w.do
	}}, nil
}

// Counts counts the uses of rules and lists. It may be read when the run has ended.
type Counts struct {
	mu    sync.Mutex
	tally Tally
}

// Tally holds the counts of a unit. Lists are in the order of the options.
type Tally struct {
	Sources    []int64 // spans written, by pipeline.SpanSource
	Always     []int64 // uses of each entry of the always list
	Never      []int64 // model spans dropped for each entry of the never list
	NeverLists []int64 // model spans dropped for each lexicon
	Rules      []int64 // how often each rule did something, in the order of RuleNames
	Low        int64   // matches below the minimum score
}

func newTally(p *plan) *Tally {
	return &Tally{
		Sources:    make([]int64, pipeline.SpanSources()),
		Always:     make([]int64, len(p.Always)),
		Never:      make([]int64, len(p.Never)),
		NeverLists: make([]int64, len(p.Lexicons.Never)),
		Rules:      make([]int64, len(rules)),
	}
}

// Take returns the counts so far and sets them to zero.
func (c *Counts) Take() Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tally
	c.tally = Tally{}
	return t
}

// add takes over a worker's counts.
func (c *Counts) add(t *Tally) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.add(t)
}

func (t *Tally) columns() [5]*[]int64 {
	return [5]*[]int64{&t.Sources, &t.Always, &t.Never, &t.NeverLists, &t.Rules}
}

func (t *Tally) add(other *Tally) {
	to, from := t.columns(), other.columns()
	for k := range to {
		if *to[k] == nil {
			*to[k] = make([]int64, len(*from[k]))
		}
		for i, n := range *from[k] {
			(*to[k])[i] += n
		}
	}
	t.Low += other.Low
}

func (t *Tally) reset() {
	for _, c := range t.columns() {
		clear(*c)
	}
	t.Low = 0
}

// worker is the scratch space of one goroutine and the note that it works on.
type worker struct {
	*plan
	overlap.Merger
	repeater
	counts  *Tally
	resolve func() // w.note, made once since a method value costs an allocation
	batch   *pipeline.Batch
	i       int // the note's number in the batch

	text   []byte  // as it is looked at: the note or its view, which all offsets count
	from   []int32 // nil, or where in the note the bytes of the view come from
	placed view.Placed
	tokens []pipeline.Token
	words  []word
	seen   class // of all words
	cutAll bool  // the words are those of the note
	folded bool  // all words have their hash
	model  []pipeline.Span
	cands  []overlap.Candidate
	spans  []pipeline.Span

	typed  []pipeline.Span // candidates of those who say what a thing is
	cut    []pipeline.Span // what is left of the others
	strict []pipeline.Span // the others, as they were

	machines []*networks.Machine // one a pack
	found    []pipeline.Span

	dateFinder dates.Finder
	dates      []dates.Find // that a span consists of
	costly     bool         // a pack did not come to an end
}

func (w *worker) do(b *pipeline.Batch) error {
	w.batch = b
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			w.i = i
			w.guarded()
		}
		b.Spans.End()
	}
	w.batch, w.text, w.from, w.tokens = nil, nil, nil, nil
	w.Counts.add(w.counts)
	w.counts.reset()
	return nil
}

// guarded resolves one note. Its spans are appended only when all is done.
func (w *worker) guarded() {
	b := w.batch
	w.costly = false
	reason := pipeline.Sound
	if guard.Note(w.resolve) {
		reason = pipeline.Panicked
	} else if w.costly {
		reason = pipeline.TooCostly
	}
	if reason != pipeline.Sound {
		b.Quarantine(w.i, reason)
		w.wholes.reset()
		w.parts.reset()
		return
	}
	w.spans = view.BackSpans(w.from, w.spans)
	b.Spans.Items = append(b.Spans.Items, w.spans...)
	for i := range w.spans {
		w.counts.Sources[w.spans[i].Source]++
	}
}

// note fills w.spans.
func (w *worker) note() {
	b, i := w.batch, w.i
	text, from := b.Seen(i)
	w.text, w.from, w.cands, w.spans = text, from, w.cands[:0], w.spans[:0]
	w.tokens = w.placed.Tokens(from, b.Tokens.At(i))
	w.words, w.seen, w.cutAll, w.folded = w.words[:0], 0, false, false
	w.fromModel()
	if len(w.cands) > 0 {
		w.cutWords()
		w.run(onModel)
		w.dropNever()
		w.traced("never", true)
	}
	w.fromPatterns()
	w.run(onText)
	w.fromKnown()
	w.fromPacks()
	if w.always.longest > 0 {
		w.addAlways()
	}
	if len(w.cands) == 0 {
		return
	}
	w.traced("candidates", true)
	w.cutWords()
	w.cutUntyped()
	w.spans = w.Merge(w.spans, w.text, w.cands)
	w.traced("merge", false)
	w.run(onSpans)
	w.coverAgain(w.known())
	w.coverAgain(w.strict)
	w.traced("cover", false)
	w.repeats()
	w.joinUntyped()
	w.traced("repeats", false)
}

// traced calls Options.Trace with the spans of the note so far: candidates, or at the end the disjoint spans.
func (w *worker) traced(step string, candidates bool) {
	if w.Trace == nil {
		return
	}
	spans := slices.Clone(w.spans)
	if candidates {
		for i := range w.cands {
			spans = append(spans, w.cands[i].Span)
		}
	}
	for i := range spans {
		view.BackSpans(w.from, spans[i:i+1]) // one by one, for candidates overlap
	}
	w.Trace(step, spans)
}

// cutWords cuts the note into words. Most notes have nothing in them to resolve
// and need none.
func (w *worker) cutWords() {
	if !w.cutAll {
		w.words, w.seen = w.plan.words.appendWords(w.words, w.text, w.tokens)
		w.cutAll = true
	}
}

// certain reports whether a span is from a table of known people or from the always-mask list. No rule makes such a
// span smaller.
func certain(s *pipeline.Span) bool {
	return s.Source == pipeline.FromKnown || s.Source == pipeline.FromList
}

// coverAgain masks the parts of known people's and of untyped spans that rules have uncovered: every character of these
// except blanks must be masked.
func (w *worker) coverAgain(all []pipeline.Span) {
	found, first := len(w.spans), 0
	for _, k := range all {
		for first < found && w.spans[first].End <= k.Start {
			first++
		}
		at := k.Start
		for _, s := range w.spans[first:found] {
			if s.Start >= k.End {
				break
			}
			w.cover(k, at, s.Start)
			at = max(at, s.End)
		}
		w.cover(k, at, k.End)
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
		w.spans = disjointed(w.spans)
	}
}

// known returns the spans of known people in the current note.
func (w *worker) known() []pipeline.Span {
	if w.batch.Known.Len() != w.batch.Len() {
		return nil
	}
	return w.placed.Spans(w.from, w.batch.Known.At(w.i))
}

// cover adds the part of span k between start and end as a span, without blanks at its borders.
func (w *worker) cover(k pipeline.Span, start, end int32) {
	if start >= end {
		return
	}
	if k.Start, k.End = overlap.WithoutSpaces(w.text, start, end); k.Start < k.End && !overlap.Blank(w.text[k.Start:k.End]) {
		w.spans = append(w.spans, k)
	}
}

// disjointed joins spans that overlap, as those of known people may.
func disjointed(spans []pipeline.Span) []pipeline.Span {
	kept := spans[:1]
	for _, s := range spans[1:] {
		if last := &kept[len(kept)-1]; s.Start < last.End {
			last.End = max(last.End, s.End)
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}

// fromModel adds the spans that the model's tags encode as candidates.
func (w *worker) fromModel() {
	b := w.batch
	if b.TagSet == nil {
		return
	}
	score := float32(1)
	if w.i < len(b.Conf) {
		score = min(max(b.Conf[w.i], 0), 1)
	}
	w.model = b.TagSet.Decode(w.model[:0], w.tokens, b.TagsOf(w.i))
	var probs []float32
	if b.SpanProbs.Len() == b.Len() {
		probs = b.SpanProbs.At(w.i)
	}
	for i, s := range w.model {
		s.Score = score
		if len(probs) == len(w.model) {
			s.Score = min(probs[i], 1)
		}
		s.Start, s.End = unquoted(w.text, s.Start, s.End)
		w.cands = append(w.cands, overlap.Candidate{Span: s, Rank: uint16(byModel)})
	}
	w.traced("model", true)
}

// quotes are quotation marks. A network takes them for a part of the name that they stand around.
const quotes = "\"'“”‘’«»"

// unquoted returns text[start:end] without the quotation mark at its begin or end of
// which no partner stands within.
func unquoted(text []byte, start, end int32) (int32, int32) {
	if !bytes.ContainsAny(text[start:end], quotes) {
		return start, end
	}
	first, width := utf8.DecodeRune(text[start:end])
	if from := start + int32(width); strings.ContainsRune(quotes, first) && from < end && !bytes.ContainsAny(text[from:end], quotes) {
		return from, end
	}
	last, width := utf8.DecodeLastRune(text[start:end])
	if to := end - int32(width); strings.ContainsRune(quotes, last) && to > start && !bytes.ContainsAny(text[start:to], quotes) {
		return start, to
	}
	return start, end
}

// matches returns the matches of patterns in the note.
func (w *worker) matches() []pipeline.Match { return w.placed.Matches(w.from, w.batch.Matches.At(w.i)) }

// fromPatterns adds those matches as candidates whose score is high enough or whose check digit is right.
func (w *worker) fromPatterns() {
	b := w.batch
	if b.Matches.Len() == 0 {
		return
	}
	for _, m := range w.matches() {
		c := w.category[m.Category]
		if c == pipeline.None || m.Hint() {
			continue
		}
		if m.Score < w.minScore[m.Category] && !m.Checked {
			w.counts.Low++
			continue
		}
		w.cands = append(w.cands, overlap.Candidate{
			Span: pipeline.Span{Start: m.Start, End: m.End, Score: m.Score, Category: c, Source: pipeline.FromPattern},
			Rank: uint16(ofPattern(m.Category, m.Checked)),
		})
	}
}

// fromKnown adds the places of known people. No rule and no list takes them
// away.
func (w *worker) fromKnown() {
	for _, s := range w.known() {
		w.cands = append(w.cands, overlap.Candidate{Span: s, Rank: uint16(byKnown)})
	}
}

// fromPacks adds the finds of the packs' networks. Those with a score of 1 win against the model. A note that takes
// them longer than allowed goes to quarantine.
func (w *worker) fromPacks() {
	for _, m := range w.machines {
		w.found = m.Spans(w.found[:0], w.text, w.tokens)
		w.costly = w.costly || m.Costly()
		for _, s := range w.found {
			rank := byRule
			if s.Score == 1 {
				rank = byCheckedPattern
			}
			s.Category = w.packAs[s.Category]
			w.cands = append(w.cands, overlap.Candidate{Span: s, Rank: uint16(rank)})
		}
	}
}

// ruleScore is the score of what a rule proposes: rules were kept when at
// least nine of ten of their finds were right on held-out notes.
const ruleScore = 0.9

// propose adds a candidate of a list or a rule.
func (w *worker) propose(start, end int32, c pipeline.Category, by origin) {
	score := float32(1)
	if by == byRule {
		score = ruleScore
	}
	w.cands = append(w.cands, overlap.Candidate{
		Span: pipeline.Span{Start: start, End: end, Score: score, Category: c, Source: sourceOf[by]},
		Rank: uint16(by),
	})
}

// foldAll gives all words their hash. Most notes have no span and need none.
func (w *worker) foldAll() {
	if w.folded {
		return
	}
	w.cutWords()
	for i := range w.words {
		w.words[i].fold(w.text)
	}
	w.folded = true
}

// wordsIn returns the words [i, j) that share a byte with a span.
func (w *worker) wordsIn(start, end int32) (i, j int) {
	i, _ = slices.BinarySearchFunc(w.words, start, func(x word, at int32) int { return cmp.Compare(x.end, at+1) })
	for j = i; j < len(w.words) && w.words[j].start < end; j++ {
	}
	return i, j
}

func sortSpans(spans []pipeline.Span) {
	slices.SortFunc(spans, pipeline.ByStart)
}
