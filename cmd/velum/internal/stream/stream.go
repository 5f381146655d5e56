// Package stream masks or tags rows that come through a pipe: it reads rows of notes on standard input, and writes the
// same rows in the same order on standard output, each with a status. It runs the stages of a run. The first bytes of
// the input decide the format: JSON lines (jsonl.go), Arrow (arrow.go), or documents of other systems (documents.go).
package stream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/rare"
	"github.com/velum-health/velum/stages/read/input"
)

// Options holds the arguments of `velum mask - -` and `velum model tag - -` beside the configuration.
type Options struct {
	Tag   bool        // the text as it is and its spans go out, instead of the masked text
	Unit  offset.Unit // what their offsets count
	Audit string      // file of the audit log; "": there is none
}

// maxCache is the size of the cache of forms: a partition of Spark or a notebook has less memory than `velum run`. 64
// MiB would save 5 % of the time, and take 120 MB more with two workers.
const maxCache = 24 << 20

// where stands in errors for the place of a row.
const where = "standard input"

// Names of the columns of every output row.
const (
	idColumn     = "note_id"
	textColumn   = "text"
	spansColumn  = "spans"
	statusColumn = "status"
	doubtColumn  = "doubt" // of JSON alone, where there is one
)

// A door is an input and output format of a stream. Next and Put run concurrently and share only what the door
// protects.
type door interface {
	pipeline.Source
	pipeline.Sink
	times() []pipeline.Column // columns that are kept, as far as they hold dates and times
	broken() error            // what cut the input short; what came before went out
	close() error             // ends the output
}

// shape describes the rows, for all formats.
type shape struct {
	fill input.Filler
	o    *input.Options
	keep []string // columns that pass as they are
	tag  bool
	unit offset.Unit
	log  *console.Aside

	heard pipeline.Languages // by the model
}

// Run masks or tags the rows on standard input until the input ends.
func Run(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) error {
	cfg, err := load()
	if err == nil {
		cfg.Cache = maxCache
	}
	f, err := flow.Open(cfg, err)
	if err != nil {
		return err
	}
	if f.People, err = flow.OpenPeople(cfg, filepath.Join(os.TempDir(), "velum")); err != nil {
		return err
	}
	defer f.People.Close()
	s, err := newShape(f, c, o)
	if err != nil {
		return err
	}
	c.SetMemory(int64(cfg.Run.MemoryLimit))
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone is an error, which is named
	if in, ok := c.In.(*os.File); ok && term.IsTerminal(int(in.Fd())) && !c.Quiet {
		fmt.Fprintln(c.Errs, "velum waits for notes, an object a line: {\"note_id\": \"1\", \"text\": \"...\"}; Ctrl-D ends. "+
			"Through a pipe: velum mask - - < notes.jsonl > masked.jsonl")
	}
	d, err := open(ctx, s, c.In, c.Out)
	if err != nil {
		return err
	}
	_, f.Documents = d.(*documents)
	if f.Profile == configs.OMOPProfile {
		j, ok := d.(*jsonl)
		if !ok {
			return exit.Misconfiguredf("give rows of NOTE as JSON, an object a line, or its file to velum run",
				"profile omop: "+where+" has no rows of NOTE")
		}
		if d, err = newNotes(f, j, c.Version); err != nil {
			return err
		}
	}
	steps, err := f.StreamSteps(d.times(), !o.Tag)
	if err != nil {
		return err
	}
	a := &audited{name: o.Audit, f: f}
	if err := a.append("start"); err != nil {
		return err
	}
	if f.Mask.Rare == rare.Review {
		c.Log.Warn("mask.rare: review does nothing in a pipe, which has no list for people to read: what singles somebody out without a name stays; "+
			"use velum run, or mask.rare: generalize or hold", "doubt", "rare")
	}
	risk := f.Model.Header().Risk
	p := &passing{door: d, steady: c.SteadyMemory, counts: commit.Counts{Reasons: map[string]int64{}}, log: c.Log,
		heard: s.heard, red: func(s *calibrate.Source) bool { return report.Foreign(s, risk) }}
	err = pipeline.Run(ctx, d, steps, p, nil)
	if err == nil {
		err = d.close()
	}
	if errors.Is(err, syscall.EPIPE) {
		err = exit.Errorf(exit.Failed, "start it again and read to the end", "the reader of standard output is gone behind row %d", p.counts.Rows)
	}
	if err = cmp.Or(err, d.broken()); err == nil || p.counts.Rows > 0 {
		p.said(c)
	}
	code := int(exit.CodeOf(err))
	a.of.Exit, a.of.Counts = &code, &p.counts
	return cmp.Or(err, a.append("end")) // what ended the stream goes first
}

func newShape(f *flow.Flow, c *console.Console, o *Options) (*shape, error) {
	r := &f.Read
	if f.Anonymity.K > 0 {
		return nil, exit.Misconfiguredf("use velum run", "anonymity.k needs all notes, and a stream never has them")
	}
	if f.Resolve.Spans != "" {
		return nil,
			exit.Misconfiguredf("write them into the rows: {\"text\": \"...\", \"spans\": [{\"start\": 0, \"end\": 3, \"label\": \"PERSON\"}]}",
				"resolve.spans is for archives")
	}
	for _, name := range r.Keep {
		if slices.Contains([]string{idColumn, textColumn, spansColumn, statusColumn, doubtColumn}, name) {
			return nil, exit.Misconfiguredf("leave it out, or give it another name", "read.keep: %s is a column of every row", name)
		}
	}
	p, err := flow.ReadOptions(f.Config)
	if err != nil {
		return nil, err
	}
	if p.Encoding != input.DetectEncoding && p.Encoding != input.UTF8 {
		return nil, exit.Misconfiguredf("put iconv -t utf-8 before it", "a stream is UTF-8, and read.encoding is not")
	}
	s := &shape{heard: f.Model.Header().Heard(), keep: r.Keep, tag: o.Tag, unit: o.Unit, log: &console.Aside{Log: c.Log}}
	if f.Profile != configs.OMOPProfile {
		p.Pass = nil // the doors keep columns as they are
	}
	p = p.WithDefaults()
	s.fill, s.o = input.NewFiller(&p), &p
	return s, p.Check()
}

// open reads the first bytes and returns the door for their format.
func open(ctx context.Context, s *shape, in io.Reader, out io.Writer) (door, error) {
	p := paced.NewReader(ctx, in)
	head, err := begins(p)
	switch {
	case len(head) == 0 && err == io.EOF:
		return newJSONL(s, p, nil, out), nil // no rows, and no error
	case err != nil && err != io.EOF:
		return nil, err
	case head[0] == 0xFF: // of the mark before Arrow's messages
		return newArrow(s, &intake{Reader: io.MultiReader(bytes.NewReader(head), p)}, out)
	}
	format := document.ParseFormat(s.o.Format)
	if format == document.NoFormat {
		format = document.FormatOf(head)
	}
	switch {
	case format != document.NoFormat:
		return newDocuments(s, format, p, head, out)
	case bytes.IndexByte([]byte("{ \t\r\n\xef"), head[0]) >= 0: // the last one begins a byte order mark
		return newJSONL(s, p, head, out), nil
	case head[0] == '[':
		return nil, exit.Misconfiguredf("write an object a line: jq -c '.[]' does it", where+" is a JSON array")
	}
	return nil, exit.Misconfiguredf("unpack it with zcat or zstdcat; files are for velum run --in",
		where+" is neither JSON, an object a line, nor a stream of Arrow, nor a document of FHIR, HL7 v2 or CDA")
}

// begins reads as much of the input as tells what it is: a byte of Arrow, of others the
// first line, and more of a resource or document whose first line says nothing.
func begins(in io.Reader) (head []byte, err error) {
	const most = 1 << 14
	for buf := make([]byte, most); len(head) < most; {
		n, err := in.Read(buf[:most-len(head)])
		head = append(head, buf[:n]...)
		if err != nil {
			return head, err
		}
		line, _, whole := bytes.Cut(bytes.TrimLeft(head, " \t\r\n\ufeff\x0b"), []byte("\n"))
		plain := len(line) > 0 && line[0] != '<' && string(bytes.TrimSpace(line)) != "{"
		if head[0] == 0xFF || whole && plain || document.FormatOf(head) != document.NoFormat {
			break
		}
	}
	return head, nil
}

// passing counts the output rows, and refuses a masked text that verify has not sealed.
type passing struct {
	door
	steady func() // called when a second batch comes
	counts commit.Counts

	log     *slog.Logger
	told    calibrate.Source
	heard   pipeline.Languages
	red     func(*calibrate.Source) bool // a run over such notes would be
	foreign bool                         // it was, and that was said
}

// Put implements pipeline.Sink.
func (p *passing) Put(b *pipeline.Batch) error {
	n := b.Len()
	if b.Seq == 1 {
		p.steady()
	}
	if len(b.Reason) != n || b.ID.Len() != n || b.Masked.Len() != n || b.Spans.Len() != n {
		return fmt.Errorf("batch %d has %d notes, %d ids, %d reasons, %d lists of spans, %d masked texts; a stage is missing",
			b.Seq, n, b.ID.Len(), len(b.Reason), b.Spans.Len(), b.Masked.Len())
	}
	for i := range n {
		if b.Reason[i] == pipeline.Sound && !b.Sealed(i) {
			b.Quarantine(i, pipeline.Unsealed)
		}
	}
	if err := p.door.Put(b); err != nil {
		return err
	}
	for i, r := range b.Reason {
		p.counts.Rows++
		if r == pipeline.Sound {
			p.counts.Masked++
			p.language(b, i)
			continue
		}
		p.counts.Quarantined++
		p.counts.Reasons[r.String()]++
	}
	return nil
}

// language warns once if so many notes are in an unknown language that the report of a run would be red.
func (p *passing) language(b *pipeline.Batch, i int) {
	p.told.Told++
	if p.heard.Foreign(b.Language[i], b.Words[i]) {
		p.told.Foreign++
	}
	if !p.foreign && p.red(&p.told) {
		p.foreign = true
		p.log.Warn("many notes are in a language that the model does not know, where it finds few names: the light of a run would be red; do not give these away before people have read a sample",
			"doubt", doubtLanguage, "notes", p.told.Foreign, "of", p.told.Told)
	}
}

// doubtLanguage stands in the field doubt of rows in a language that the model does not know.
const doubtLanguage = "language"

// said prints the counts on stderr, since standard output has the rows.
func (p *passing) said(c *console.Console) {
	n := &p.counts
	switch {
	case c.JSON:
		_ = json.NewEncoder(c.Errs).Encode(map[string]any{"message_type": "summary", "rows": n.Rows, "masked": n.Masked,
			"quarantined": n.Quarantined, "reasons": n.Reasons, "foreign": p.told.Foreign})
	case !c.Quiet:
		var reasons string
		for _, r := range slices.Sorted(maps.Keys(n.Reasons)) {
			reasons += fmt.Sprintf(", %s %d", r, n.Reasons[r])
		}
		fmt.Fprintf(c.Errs, "%d rows: %d sound, %d without text%s\n", n.Rows, n.Masked, n.Quarantined, reasons)
	}
}

// status returns the value of the status column for note i.
func (s *shape) status(b *pipeline.Batch, i int) string {
	switch r := b.Reason[i]; {
	case r != pipeline.Sound:
		return r.String()
	case s.tag:
		return "tagged"
	}
	return "masked"
}

// id returns the id of note i that goes out: nothing if it says who somebody is.
func (s *shape) id(b *pipeline.Batch, i int) []byte {
	if b.Reason[i] == pipeline.IdentifyingID {
		return nil
	}
	return b.ID.At(i)
}

// text returns the text of note i that goes out; the note is sound.
func (s *shape) text(b *pipeline.Batch, i int) []byte {
	if s.tag {
		return b.Text.At(i)
	}
	return b.Masked.At(i)
}

// audited adds the lines of a stream to an audit log, if it is to have any.
type audited struct {
	name string
	f    *flow.Flow
	of   audit.Entry
}

func (a *audited) append(event string) error {
	if a.name == "" {
		return nil
	}
	if event == "start" {
		sum, err := a.f.Hash()
		if err != nil {
			return err
		}
		a.of = audit.Entry{Run: "stream " + time.Now().UTC().Format(time.RFC3339Nano), Config: sum,
			Model: hex.EncodeToString(a.f.Model.SHA256[:]), Policy: filepath.Base(a.f.Mask.Policy)}
	}
	a.of.Event = event
	_, err := audit.Append(a.name, a.of)
	return err
}
