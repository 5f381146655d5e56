// Package review serves the curators' page, on which a person corrects the spans of notes in a browser.
//
//	in:  notes with spans of a model, in any format; or the audit sample or the quarantine of an output
//	out: the notes that were decided, for `velum teach learn --answers`, `velum prove evaluate --gold`, `velum teach train`
//
// The questions that a session can ask about its notes are listed in the table questions. The page is served to this
// machine alone and loads nothing from elsewhere. Each decision is on the disk before the next note is shown.
package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/write"
)

// Options holds the arguments of `velum review`.
type Options struct {
	Ask      string // one of Questions
	In, From string // notes with the spans to begin with, or the archive of Of
	Of       string // the output of `velum run` that the question is about
	Out, To  string // the decided notes
	Other    string // another curator's notes: what differs is shown
	Labels   string // label set of the categories that may be marked
	Lang     string // of the page: es, ca, en
	Keys     map[string]string
	Guide    string // file of your own guideline; "": that of the question
	Port     int
	Reader   string // who reads a sample
	Export   bool   // write what is decided and end
}

// maxNotes is the largest number of notes in one session, because a session holds all of them in memory.
const maxNotes = 100_000

// note is one note on the page. Offsets count bytes.
type note struct {
	id    string
	text  string
	about string // why it is shown, if there is a reason
	sampled
	tokens  []pipeline.Token
	spans   []pipeline.Span // to begin with
	other   []pipeline.Span // of the other curator
	differs bool            // the other curator's are not the same
	decided bool
	final   []pipeline.Span // if decided
	answer  string          // if decided: one of the question's
	against string          // the other curator's answer
}

// shown returns the spans that the page begins with.
func (n *note) shown() []pipeline.Span {
	if n.decided {
		return n.final
	}
	return n.spans
}

// doubt returns how unsure the model was of its least sure span. A note without spans comes last.
func (n *note) doubt() float32 {
	least := float32(1)
	for _, s := range n.spans {
		least = min(least, s.Score)
	}
	return 1 - least
}

// Run serves the review page until the session ends, or writes the decided notes.
func Run(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if o.Lang == "" && slices.Contains(Langs, c.Language()) {
		o.Lang = c.Language()
	}
	o.Lang = cmp.Or(o.Lang, "es")
	if err := o.Check(); err != nil {
		return err
	}
	lock, err := durable.OS.Lock(o.Out+".lock", durable.NewHolder("review"))
	if err != nil {
		return err
	}
	return errors.Join(runLocked(ctx, c, cfg, o), lock.Close())
}

// runLocked runs a session under a lock, because two sessions would overwrite each other's journal.
func runLocked(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	s, err := open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer s.journal.Close()
	if o.Other != "" {
		if err := s.compare(ctx, c, cfg, o); err != nil {
			return err
		}
	}
	if !o.Export {
		if err := s.serve(ctx, c, o); err != nil {
			return err
		}
	}
	return s.export(context.WithoutCancel(ctx), c, o)
}

// session holds the notes of a page and the decisions about them.
type session struct {
	asks    *question
	unseen  int // notes that cannot be shown
	notes   []note
	order   []int // as they are shown: the least sure first
	labels  []pipeline.Category
	journal *journal
	drawn   drawn       // of a sample
	key     *secret.Key // the configured key, which signs a reading; nil: none

	guideline string // text of --guideline; "": that of the question
}

func open(ctx context.Context, cfg *option.Config, o *Options) (*session, error) {
	set, err := pipeline.Labels(cmp.Or(o.Labels, cfg.Profile))
	if err != nil {
		return nil, exit.Misconfigured(err, "name a label set with --labels")
	}
	s := &session{labels: set.Categories, asks: questionNamed(o.Ask)}
	if o.Ask == "rare" {
		rare, err := pipeline.Labels("rare")
		if err != nil {
			return nil, err
		}
		s.labels = slices.Concat(rare.Categories, s.labels)
	}
	if s.guideline, err = guideline(o.Guide); err != nil {
		return nil, err
	}
	if s.notes, s.unseen, err = s.asks.load(ctx, cfg, o); err != nil {
		return nil, err
	}
	s.order = make([]int, len(s.notes))
	for i := range s.order {
		s.order[i] = i
	}
	// Notes of a sample are shown in the order in which they were drawn, so that the first ones are a random sample, too,
	// if the reader stops early.
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.notes[a].Rank, s.notes[b].Rank), cmp.Compare(s.notes[b].doubt(), s.notes[a].doubt()))
	})
	if s.asks.drawn {
		if s.drawn, err = drawnFrom(o); err != nil {
			return nil, err
		}
		if s.key, err = HouseKey(cfg); err != nil {
			return nil, err
		}
	}
	s.journal, err = openJournal(o.Out+".journal", s)
	return s, err
}

// HouseKey returns the key that signs readings; nil if the configuration names no key file.
func HouseKey(cfg *option.Config) (*secret.Key, error) {
	if cfg.Key.File == "" {
		return nil, nil
	}
	return secret.Load(cfg.Key.File)
}

// maxGuideline is the largest size of a guideline file in bytes, because the page shows all of it.
const maxGuideline = 64 << 10

// guideline reads the institution's annotation guideline, plain text.
func guideline(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", exit.Misconfigured(err, "name a text file with --guideline")
	}
	if len(text) > maxGuideline || !utf8.Valid(text) || len(bytes.TrimSpace(text)) == 0 {
		return "", exit.Misconfiguredf("write it as plain text", "--guideline: %s: expected UTF-8 of 1 to %d bytes", path, maxGuideline)
	}
	return string(bytes.TrimSpace(text)), nil
}

// next returns the command that uses the decisions of this session, for the user to run next.
func (s *session) next(o *Options) string {
	switch s.asks.name {
	case "audit":
		return fmt.Sprintf("velum prove sample %s --reading %s", o.Of, o.Out)
	case "rare":
		return "the same `velum run` with --spans " + o.Out + ", which masks what is marked and counts no more what was let stand"
	case "quarantine":
		return "velum prove evaluate --gold " + o.Out
	case "usefulness":
		return fmt.Sprintf("velum review --ask usefulness --in %s --out %s --against OTHER --export", o.In, o.Out)
	}
	return "velum teach learn --answers " + o.Out + " | velum prove evaluate --gold " + o.Out
}

// digest identifies the notes, so that a journal is not applied to others.
func (s *session) digest() string {
	h := xxh3.New()
	for i := range s.notes {
		fmt.Fprintf(h, "%d %s\x00%d %s\x00", len(s.notes[i].id), s.notes[i].id, len(s.notes[i].text), s.notes[i].text)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// loadNotes reads the notes of a file or folder.
func loadNotes(ctx context.Context, cfg *option.Config, o *Options) ([]note, int, error) {
	lenient := *cfg
	lenient.Lenient = true // a person shall see such a note, and its name
	return load(ctx, &lenient, o.From, o.In)
}

// load reads notes with their spans, and counts those that cannot be shown.
func load(ctx context.Context, cfg *option.Config, from, path string) (notes []note, unseen int, err error) {
	var l loader
	in := flow.Labelled{Paths: []string{path}, Format: from, Config: cfg}
	if err := in.Run(ctx, []pipeline.Step{flow.Tokenized(cfg)}, &l); err != nil {
		return nil, 0, err
	}
	if len(l.notes) == 0 {
		return nil, 0, exit.Misconfiguredf("name a file of notes, such as the questions of `velum teach learn --ask`",
			"%s: no note that can be shown", path)
	}
	return l.notes, l.unseen, nil
}

var errTooMany = exit.Misconfiguredf("divide them", "more than %d notes in one session", maxNotes)

// loader is a sink that keeps notes.
type loader struct {
	notes  []note
	unseen int
}

// Put implements pipeline.Sink.
func (l *loader) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			l.unseen++
			continue
		}
		if len(l.notes) == maxNotes {
			return errTooMany
		}
		l.notes = append(l.notes, note{
			id: string(b.ID.At(i)), text: string(b.Text.At(i)), tokens: slices.Clone(b.Tokens.At(i)), spans: slices.Clone(b.Gold.At(i)),
		})
	}
	return nil
}

// decide records a person's decision about a note, first in the journal.
func (s *session) decide(i int, spans []pipeline.Span, answer string) error {
	if err := s.journal.add(s, i, spans, answer); err != nil {
		return err
	}
	s.keep(i, spans, answer)
	return nil
}

func (s *session) keep(i int, spans []pipeline.Span, answer string) {
	n := &s.notes[i]
	n.decided, n.final, n.answer = true, spans, answer
}

// errSpans is returned for an answer that does not fit the note.
var errSpans = errors.New("an answer that does not fit the note")

// check checks that the answer is one of the question's, and that spans are inside the note, sorted, disjoint and on
// character borders.
func (s *session) check(i int, spans []pipeline.Span, answer string) error {
	if s.asks.answers == nil && answer != "" || s.asks.answers != nil && !slices.Contains(s.asks.answers, answer) || !s.asks.marks &&
		len(spans) > 0 {
		return errSpans
	}
	last := int32(0)
	text := s.notes[i].text
	onBorder := func(at int32) bool { return int(at) == len(text) || text[at]&0xC0 != 0x80 }
	for _, x := range spans {
		if x.Start < last || x.Start >= x.End || int(x.End) > len(text) || !onBorder(x.Start) || !onBorder(x.End) ||
			!slices.Contains(s.labels, x.Category) {
			return errSpans
		}
		last = x.End
	}
	return nil
}

func (s *session) done() (n int) {
	for i := range s.notes {
		if s.notes[i].decided {
			n++
		}
	}
	return n
}

// export writes the decided notes.
func (s *session) export(ctx context.Context, c *console.Console, o *Options) error {
	if s.done() == 0 {
		_, err := c.Printf("0 of %d notes decided: nothing to write\n", len(s.notes))
		return err
	}
	if s.asks.answers != nil {
		return s.exportAnswers(c, o)
	}
	if s.asks.name == "rare" {
		if err := s.letStand(o); err != nil {
			return err
		}
	}
	dst, err := flow.CreateNotes("to", o.To, o.Out, write.TextOptions{Gold: true})
	if err != nil {
		return err
	}
	if err := pipeline.Run(ctx, &decided{notes: s.notes}, nil, dst, nil); err != nil {
		dst.Abort()
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	if _, err = c.Printf("%d of %d notes decided -> %s\n", s.done(), len(s.notes), o.Out); err != nil {
		return err
	}
	switch {
	case s.asks.name == "audit":
		_, err = c.Printf("%d of them hold what was not masked: %s\n", s.leaks(), s.next(o))
	case s.done() == len(s.notes):
		_, err = c.Printf("all are decided; next: %s\n", s.next(o))
	default:
		_, err = c.Printf("%d are left: the same command goes on\n", len(s.notes)-s.done())
	}
	return err
}

// letStand records in the audit log the identifying places that a person has unmarked in decided notes, so that they no
// longer count. Places that are still marked, or again, count until they are masked.
func (s *session) letStand(o *Options) error {
	private, _, err := files.Private(o.Of)
	if err != nil {
		return err
	}
	var stand, back []uint64
	for i := range s.notes {
		n := &s.notes[i]
		for k, x := range n.spans {
			switch {
			case !n.decided:
			case slices.ContainsFunc(n.final, func(f pipeline.Span) bool { return f.Start < x.End && x.Start < f.End }):
				back = append(back, n.places[k])
			default:
				stand = append(stand, n.places[k])
			}
		}
	}
	log := audit.LogIn(private)
	return errors.Join(audit.LetStand(log, stand, true), audit.LetStand(log, back, false))
}

// leaks counts the decided notes in which a person found a missed identifier.
func (s *session) leaks() (n int) {
	for i := range s.notes {
		if x := &s.notes[i]; x.decided && len(x.left(x.final)) > 0 {
			n++
		}
	}
	return n
}

// left returns the categories of the tokens that a person marked and that no span had covered.
func (n *note) left(final []pipeline.Span) (names []string) {
	for _, t := range n.tokens {
		if c := categoryAt(final, t); c != pipeline.None && categoryAt(n.spans, t) == pipeline.None && !slices.Contains(names, c.String()) {
			names = append(names, c.String())
		}
	}
	return names
}

// answerLine is a line of the file that a question with fixed answers writes.
type answerLine struct {
	ID     string `json:"id"`
	Answer string `json:"answer"`
}

// exportAnswers writes the answers as JSON lines, in the order of the file.
func (s *session) exportAnswers(c *console.Console, o *Options) error {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	counts := map[string]int{}
	for i := range s.notes {
		if n := &s.notes[i]; n.decided {
			counts[n.answer]++
			if err := lines.Encode(answerLine{n.id, n.answer}); err != nil {
				return err
			}
		}
	}
	if err := durable.WriteFile(nil, o.Out, out.Bytes()); err != nil {
		return err
	}
	var each []string
	for _, a := range s.asks.answers {
		each = append(each, fmt.Sprintf("%s %d", a, counts[a]))
	}
	_, err := c.Printf("%d of %d notes decided (%s) -> %s\n", s.done(), len(s.notes), strings.Join(each, ", "), o.Out)
	return err
}

// decided is a source of the notes that were decided, in the order of the file.
type decided struct{ notes []note }

// exported is the number of notes in a batch of the output.
const exported = 512

// Next implements pipeline.Source.
func (d *decided) Next(b *pipeline.Batch) error {
	for len(d.notes) > 0 && b.Len() < exported {
		n := &d.notes[0]
		d.notes = d.notes[1:]
		if !n.decided {
			continue
		}
		b.ID.Append([]byte(n.id))
		b.Text.Append([]byte(n.text))
		b.Gold.Append(n.final...)
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}

// Check returns the first mistake in the options; it reads no notes.
func (o *Options) Check() error {
	if err := questionNamed(o.Ask).check(o); err != nil {
		return err
	}
	known := Keys()
	for name, key := range o.Keys {
		if _, ok := known[name]; !ok {
			return exit.Misconfiguredf("keys: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "), "--keys: no key %q", name)
		}
		if key == "" {
			return exit.Misconfiguredf("name a key, as F2", "--keys: %s has no key", name)
		}
	}
	return nil
}
