// Package review is the curators' page: notes with spans come in, a person
// corrects them in a browser, corrected notes go out.
//
//	in:  notes with spans of a model, in any format (questions of `velum learn --ask`, samples, quarantine)
//	out: the notes that were decided, for `velum learn --answers`, `velum evaluate --gold`, `velum train`
//
// The page is served to this machine alone, takes nothing from elsewhere, and
// every decision is on the disk before the next note is shown.
package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write"
)

// Options of the verb.
type Options struct {
	In, From string // notes with the spans to begin with
	Out, To  string // the decided notes
	Other    string // another curator's notes: what differs is shown
	Labels   string // label set of the categories that may be marked
	Lang     string // of the page: es, ca, en
	Keys     map[string]string
	Port     int
	Export   bool // write what is decided and end
}

// maxNotes is how many notes one session holds: they lie in memory.
const maxNotes = 100_000

// note is one note on the page. Offsets count bytes.
type note struct {
	id      string
	text    string
	tokens  []pipeline.Token
	spans   []pipeline.Span // to begin with
	other   []pipeline.Span // of the other curator
	differs bool            // the other curator's are not the same
	decided bool
	final   []pipeline.Span // if decided
}

// shown returns the spans that the page begins with.
func (n *note) shown() []pipeline.Span {
	if n.decided {
		return n.final
	}
	return n.spans
}

// doubt is how unsure the model was of the note: of its least sure span. A note
// without spans comes last.
func (n *note) doubt() float32 {
	least := float32(1)
	for _, s := range n.spans {
		least = min(least, s.Score)
	}
	return 1 - least
}

// Run serves the page until it is told to end, or writes what was decided.
func Run(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
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

// session is the notes of a page and what became of them.
type session struct {
	notes   []note
	order   []int // as they are shown: the least sure first
	labels  []pipeline.Category
	journal *journal
}

func open(ctx context.Context, cfg *option.Config, o *Options) (*session, error) {
	if o.In == "" || o.Out == "" {
		return nil, exit.Errorf(exit.Config, "name both", "velum review: --in and --out are needed")
	}
	set, err := pipeline.Labels(cmp.Or(o.Labels, cfg.Profile))
	if err != nil {
		return nil, exit.With(exit.Config, err, "name a label set with --labels")
	}
	s := &session{labels: set.Categories}
	if s.notes, err = load(ctx, cfg, o.From, o.In); err != nil {
		return nil, err
	}
	s.order = make([]int, len(s.notes))
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(s.notes[b].doubt(), s.notes[a].doubt()) })
	s.journal, err = openJournal(o.Out+".journal", s)
	return s, err
}

// digest identifies the notes: a journal belongs to these and no others.
func (s *session) digest() string {
	h := xxh3.New()
	for i := range s.notes {
		fmt.Fprintf(h, "%d %s\x00%d %s\x00", len(s.notes[i].id), s.notes[i].id, len(s.notes[i].text), s.notes[i].text)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// load reads notes with their spans.
func load(ctx context.Context, cfg *option.Config, from, path string) ([]note, error) {
	r, err := flow.TextOptions(cfg)
	if err != nil {
		return nil, err
	}
	src, err := flow.OpenNotes("from", from, path, r)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var l loader
	if err := flow.InputError(pipeline.Run(ctx, src, []pipeline.Step{flow.Tokenized(cfg)}, &l, nil)); err != nil {
		return nil, err
	}
	if len(l.notes) == 0 {
		return nil, exit.Errorf(exit.Config, "name a file of notes, such as the questions of `velum learn --ask`", "%s: no note that can be shown", path)
	}
	return l.notes, nil
}

// loader is a sink that keeps notes.
type loader struct{ notes []note }

// Put implements pipeline.Sink.
func (l *loader) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		if len(l.notes) == maxNotes {
			return exit.Errorf(exit.Config, "divide the file", "more than %d notes in one session", maxNotes)
		}
		l.notes = append(l.notes, note{
			id: string(b.ID.At(i)), text: string(b.Text.At(i)), tokens: slices.Clone(b.Tokens.At(i)), spans: slices.Clone(b.Gold.At(i)),
		})
	}
	return nil
}

// decide keeps what a person says of a note: in the journal first.
func (s *session) decide(i int, spans []pipeline.Span) error {
	if err := s.journal.add(i, spans); err != nil {
		return err
	}
	s.notes[i].decided, s.notes[i].final = true, spans
	return nil
}

// errSpans says that spans do not fit a note.
var errSpans = errors.New("spans that do not fit the note")

// check tells whether spans lie in a note, in order, apart, on the borders of
// characters.
func (s *session) check(i int, spans []pipeline.Span) error {
	last := int32(0)
	text := s.notes[i].text
	onBorder := func(at int32) bool { return int(at) == len(text) || text[at]&0xC0 != 0x80 }
	for _, x := range spans {
		if x.Start < last || x.Start >= x.End || int(x.End) > len(text) || !onBorder(x.Start) || !onBorder(x.End) || !slices.Contains(s.labels, x.Category) {
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
	dst, _, err := flow.CreateNotes("to", o.To, o.Out, write.TextOptions{Gold: true, Offsets: true})
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
	_, err = c.Printf("%d of %d notes decided -> %s\n", s.done(), len(s.notes), o.Out)
	return err
}

// decided is a source of the notes that were decided, in the order of the file.
type decided struct{ notes []note }

// exported is how many notes go into a batch of the output.
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

// Check tells what is wrong with the options before anything is read.
func (o *Options) Check() error {
	if !slices.Contains(Langs, o.Lang) {
		return exit.Errorf(exit.Config, "languages: "+strings.Join(Langs, ", "), "--lang: no language %q", o.Lang)
	}
	known := Keys()
	for name, key := range o.Keys {
		if _, ok := known[name]; !ok {
			return exit.Errorf(exit.Config, "keys: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "), "--keys: no key %q", name)
		}
		if key == "" {
			return exit.Errorf(exit.Config, "name a key, as F2", "--keys: %s has no key", name)
		}
	}
	return nil
}
