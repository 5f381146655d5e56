package pack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

// CorpusOptions of `velum corpus`: a folder that grows turn by turn.
//
//	OUT/corpus.jsonl          what was corrected until now
//	OUT/validation.json       where the validation notes lie, if there are any
//	OUT/turn-001/asked.json   which notes a person is asked about, and why: ids, no words
//	OUT/turn-001/questions.jsonl   these notes, with what the rules find
//	OUT/turn-001/scores.json  once it is answered: the rules on the corpus, their errors
type CorpusOptions struct {
	Out     string
	Rules   string
	Archive string   // next
	Query   []string // next: words that the first notes hold
	Notes   int      // next: how many notes at most
	Answers string   // take
	Old     string   // try: the rules to compare with

	Validation string // next, take, try: labelled notes that are never asked about; "": those of the turn before
}

// enough is the F1 at which a corpus is done (ATN §2.1).
const enough = 0.8

// corpus is the folder as it is.
type corpus struct {
	dir   string
	turns int
	asked *asked // of the last turn, if it waits for answers
	known map[string]bool
	held  []string // validation notes
	data  []byte   // corpus.jsonl

	validation string // where they lie; "": there are none
}

// asked is asked.json.
type asked struct {
	Schema string      `json:"schema"`
	Rules  string      `json:"rules_sha256"`
	Elbow  float64     `json:"elbow,omitempty"` // score of the last note above it
	Scored int         `json:"scored"`          // notes of the archive with a score
	Curve  *turns.Rank `json:"curve,omitempty"` // of f(d); none where words ask
	Notes  []askedNote `json:"notes"`
}

type askedNote struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"` // f(d), or how many query words it holds
}

// scores is scores.json.
type scores struct {
	Schema string `json:"schema"`
	measured
	Unchanged  int       `json:"answers_unchanged"`
	Validation *measured `json:"validation,omitempty"`
	Errors     []mistake `json:"errors"` // on the corpus
}

// measured is what rules come to on labelled notes, by the overlap criterion.
type measured struct {
	Notes      int                `json:"notes"`
	F1         float64            `json:"f1"`
	Precision  float64            `json:"precision"`
	Recall     float64            `json:"recall"`
	Categories map[string]*right  `json:"categories"`
	ByCategory map[string]float64 `json:"f1_by_category"`
}

func (s *networkScores) measured() measured {
	all := s.all()
	m := measured{s.notes, all.f1(), all.precision(), all.recall(), map[string]*right{}, map[string]float64{}}
	for category, t := range s.total {
		m.Categories[category.String()], m.ByCategory[category.String()] = t, t.f1()
	}
	return m
}

const (
	askedSchema  = "velum.corpus.asked/1"
	scoresSchema = "velum.corpus.scores/2"
	corpusFile   = "corpus.jsonl"
	questionFile = "questions.jsonl"
	askedFile    = "asked.json"
	scoresFile   = "scores.json"
)

func turnName(n int) string { return fmt.Sprintf("turn-%03d", n) }

// openCorpus reads the folder; it need not be there.
func openCorpus(dir string) (*corpus, error) {
	if dir == "" {
		return nil, exit.Errorf(exit.Config, "name the folder of the corpus with --out", "velum corpus: --out is needed")
	}
	c := &corpus{dir: dir, known: map[string]bool{}}
	for {
		var a asked
		data, err := os.ReadFile(filepath.Join(dir, turnName(c.turns+1), askedFile))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err == nil && (json.Unmarshal(data, &a) != nil || a.Schema != askedSchema) {
			err = &durable.IntegrityError{Path: turnName(c.turns+1) + "/" + askedFile, Cause: "is not the record of a turn"}
		}
		if err != nil {
			return nil, exit.With(exit.Integrity, err, "take the folder of the turn away")
		}
		c.turns++
		c.asked = &a
		if _, err := os.Stat(filepath.Join(dir, turnName(c.turns), scoresFile)); err == nil {
			c.asked = nil
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, corpusFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Config, err, "make it readable")
	}
	c.data = data
	return c, c.recall()
}

func (c *corpus) path() string { return filepath.Join(c.dir, corpusFile) }

// ids reads which notes the corpus holds.
func (c *corpus) ids(ctx context.Context, cfg *option.Config) error {
	if len(c.data) == 0 {
		return nil
	}
	return eachNote(ctx, nil, c.path(), func(b *pipeline.Batch, i int) error {
		c.known[string(b.ID.At(i))] = true
		return nil
	})
}

// eachNote calls do for every sound note of a file. cfg says how it is read;
// nil for files of velum's own.
func eachNote(ctx context.Context, cfg *option.Config, path string, do func(b *pipeline.Batch, i int) error) error {
	var o text.Options
	tokenized := &option.Config{}
	if cfg != nil {
		var err error
		if o, err = flow.TextOptions(cfg); err != nil {
			return err
		}
		tokenized = cfg
	}
	src, err := flow.OpenNotes("from", "", path, o)
	if err != nil {
		return err
	}
	err = pipeline.Run(ctx, src, []pipeline.Step{flow.Tokenized(tokenized)}, noteFunc(do), nil)
	return errors.Join(flow.InputError(err), src.Close())
}

// noteFunc is a sink that calls a function for every sound note.
type noteFunc func(b *pipeline.Batch, i int) error

// Put implements pipeline.Sink.
func (n noteFunc) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			if err := n(b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Next asks about the notes of the archive that are worth most to a person:
// those with query words at first, then those that rank highest, above the
// elbow of the sorted scores.
func Next(ctx context.Context, c *console.Console, cfg *option.Config, o *CorpusOptions) error {
	at, err := openCorpus(o.Out)
	if err != nil {
		return err
	}
	if at.asked != nil {
		return exit.Errorf(exit.Config, "correct "+filepath.Join(turnName(at.turns), questionFile)+", then `velum corpus take`", "turn %d waits for its answers", at.turns)
	}
	if o.Archive == "" {
		return exit.Errorf(exit.Config, "name the archive with --in", "velum corpus next: --in is needed")
	}
	p, err := open(cfg, o.Rules)
	if err != nil {
		return err
	}
	if err := at.ids(ctx, cfg); err != nil {
		return err
	}
	validation, err := at.validated(ctx, cfg, p, o)
	if err != nil {
		return err
	}
	rank, err := at.ranking(ctx, p, o, validation)
	if err != nil {
		return err
	}
	a := &asked{Schema: askedSchema, Rules: fmt.Sprintf("%x", p.Fingerprint()), Notes: []askedNote{}}
	if err := at.rank(ctx, cfg, o, rank, a); err != nil {
		return err
	}
	if len(a.Notes) == 0 {
		return exit.Errorf(exit.Nothing, "write more rules, or ask with --query", "no note of the archive has what was looked for")
	}
	if err := at.write(ctx, cfg, p, o, a); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{"message_type": "corpus", "turn": at.turns + 1, "asked": len(a.Notes), "scored": a.Scored})
	}
	_, err = c.Printf("turn %d: %d of %d notes asked -> %s\n", at.turns+1, len(a.Notes), a.Scored, filepath.Join(o.Out, turnName(at.turns+1), questionFile))
	return err
}

// ranking returns what a note is worth.
//
//	f(d) = Σ_i N_i(d) (1 - F1(i)) (1 - p_i)       ATN §2.3
//
// N_i counts what the rules find of category i, p_i is the share of i among all
// entities of the corpus, and F1 is that on the validation notes, on the corpus
// where there are none. Before there is a corpus it is
// how many of the query words the note holds.
func (c *corpus) ranking(ctx context.Context, p *rules.Pack, o *CorpusOptions, validation *networkScores) (func(b *pipeline.Batch, i int) float64, error) {
	if len(o.Query) > 0 {
		return queried(o.Query), nil
	}
	if len(c.data) == 0 {
		return nil, exit.Errorf(exit.Config, "name words that notes with names hold, as --query dra,hospital,vive", "velum corpus next: an empty corpus begins with --query")
	}
	s, err := c.scored(ctx, p)
	if err != nil {
		return nil, err
	}
	worth := map[pipeline.Category]float64{}
	all := 0
	for _, t := range s.total {
		all += t.Gold
	}
	for category, t := range s.total {
		f1 := t.f1()
		if validation != nil && validation.total[category] != nil {
			f1 = validation.total[category].f1()
		}
		worth[category] = (1 - f1) * (1 - share(t.Gold, all))
	}
	machine := p.NewMachine()
	var spans []pipeline.Span
	return func(b *pipeline.Batch, i int) (f float64) {
		spans = machine.Spans(spans[:0], b.Text.At(i), b.Tokens.At(i))
		for _, x := range spans {
			f += worth[x.Category]
		}
		return f
	}, nil
}

// queried counts the words of a query in a note.
func queried(words []string) func(b *pipeline.Batch, i int) float64 {
	for k, w := range words {
		words[k] = strings.ToLower(w)
	}
	return func(b *pipeline.Batch, i int) float64 {
		found := map[string]bool{}
		for _, t := range b.Tokens.At(i) {
			if form := string(bytes.ToLower(b.Text.At(i)[t.Start:t.End])); slices.Contains(words, form) {
				found[form] = true
			}
		}
		return float64(len(found))
	}
}

// scored runs the rules over the corpus.
func (c *corpus) scored(ctx context.Context, p *rules.Pack) (*networkScores, error) {
	return scoredOn(ctx, nil, c.path(), p)
}

// scoredOn runs the rules over labelled notes.
func scoredOn(ctx context.Context, cfg *option.Config, path string, p *rules.Pack) (*networkScores, error) {
	s := newScores(ofNetworks(p))
	return s, eachNote(ctx, cfg, path, func(b *pipeline.Batch, i int) error {
		s.add(b, i)
		return nil
	})
}

// rank scores the notes of the archive and takes those above the elbow.
func (c *corpus) rank(ctx context.Context, cfg *option.Config, o *CorpusOptions, worth func(b *pipeline.Batch, i int) float64, a *asked) error {
	for _, id := range c.held {
		c.known[id] = true
	}
	err := eachNote(ctx, cfg, o.Archive, func(b *pipeline.Batch, i int) error {
		if c.known[string(b.ID.At(i))] {
			return nil
		}
		if f := worth(b, i); f > 0 {
			a.Notes = append(a.Notes, askedNote{string(b.ID.At(i)), f})
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.Scored = len(a.Notes)
	slices.SortStableFunc(a.Notes, func(x, y askedNote) int { return cmp.Compare(y.Score, x.Score) })
	n := len(a.Notes)
	if len(o.Query) == 0 {
		n = elbow(a.Notes)
		a.Curve = curveOf(a.Notes, n)
	}
	a.Notes = a.Notes[:min(n, o.Notes)]
	if len(a.Notes) > 0 {
		a.Elbow = a.Notes[len(a.Notes)-1].Score
	}
	return nil
}

// curvePoints is how many points of a curve are kept, and two or three more.
const curvePoints = 200

// curveOf is the curve of sorted scores, thinned out, and its elbow.
func curveOf(sorted []askedNote, elbow int) *turns.Rank {
	r := &turns.Rank{Elbow: elbow}
	step := max(len(sorted)/curvePoints, 1)
	for i, n := range sorted {
		if i%step == 0 || i == len(sorted)-1 || i == elbow-1 {
			r.Points = append(r.Points, turns.RankPoint{Rank: i + 1, Score: n.Score})
		}
	}
	return r
}

// elbow returns how many of the sorted scores lie above the place where the
// curve is farthest from the line between its ends. A curve without a bend,
// where all scores are the same, has none: all of them count.
func elbow(sorted []askedNote) int {
	n := len(sorted)
	if n < 3 || sorted[0].Score == sorted[n-1].Score {
		return n
	}
	first, last := sorted[0].Score, sorted[n-1].Score
	best, at := 0.0, n
	for i := range sorted {
		x, y := float64(i)/float64(n-1), (sorted[i].Score-last)/(first-last)
		if d := 1 - x - y; d > best+1e-9 { // below the line from (0, 1) to (1, 0)
			best, at = d, i
		}
	}
	return max(at, 1)
}

// write makes the folder of the turn, whole or not at all.
func (c *corpus) write(ctx context.Context, cfg *option.Config, p *rules.Pack, o *CorpusOptions, a *asked) error {
	draft, err := durable.NewDraft(nil, filepath.Join(c.dir, turnName(c.turns+1)))
	if err != nil {
		return err
	}
	defer draft.Discard()
	if err := questions(ctx, cfg, p, o.Archive, a, draft.Path(questionFile)); err != nil {
		return err
	}
	data, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err
	}
	if err := draft.Write(askedFile, append(data, '\n')); err != nil {
		return err
	}
	return draft.Commit()
}

// questions writes the notes that are asked about with what the rules find.
func questions(ctx context.Context, cfg *option.Config, p *rules.Pack, archive string, a *asked, path string) error {
	ids := map[string]bool{}
	for _, n := range a.Notes {
		ids[n.ID] = true
	}
	r, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	src, err := flow.OpenNotes("in", "", archive, r)
	if err != nil {
		return err
	}
	dst, _, err := flow.CreateNotes("to", "jsonl", path, write.TextOptions{})
	if err != nil {
		return errors.Join(err, src.Close())
	}
	steps := []pipeline.Step{flow.Tokenized(cfg), foundBy(p)}
	err = pipeline.Run(ctx, input.NewKeep(src, func(id []byte) bool { return ids[string(id)] }), steps, dst, nil)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		dst.Abort()
		return err
	}
	return dst.Close()
}

// foundBy is a step that gives notes the spans of the rules.
func foundBy(p *rules.Pack) pipeline.Step {
	return pipeline.Step{Name: "rules", New: func() func(*pipeline.Batch) error {
		machine := p.NewMachine()
		return func(b *pipeline.Batch) error {
			for i := range b.Len() {
				if b.Reason[i] == pipeline.Sound {
					b.Spans.Items = machine.Spans(b.Spans.Items, b.Text.At(i), b.Tokens.At(i))
				}
				b.Spans.End()
			}
			return nil
		}
	}}
}

// Take adds the answers of a person to the corpus and scores the rules on it.
func Take(ctx context.Context, c *console.Console, cfg *option.Config, o *CorpusOptions) error {
	at, err := openCorpus(o.Out)
	if err != nil {
		return err
	}
	if at.asked == nil {
		return exit.Errorf(exit.Config, "ask first: velum corpus next", "no turn waits for answers")
	}
	if o.Answers == "" {
		return exit.Errorf(exit.Config, "name the corrected notes with --answers", "velum corpus take: --answers is needed")
	}
	p, err := open(cfg, o.Rules)
	if err != nil {
		return err
	}
	answers, err := at.answered(ctx, cfg, o.Answers)
	if err != nil {
		return err
	}
	unchanged, err := at.unchanged(ctx, cfg, answers)
	if err != nil {
		return err
	}
	validation, err := at.validated(ctx, cfg, p, o)
	if err != nil {
		return err
	}
	if err := at.grow(ctx, answers, cfg, o.Answers); err != nil {
		return err
	}
	return at.close(ctx, c, p, len(answers), unchanged, validation)
}

// answered reads the spans of the answers by id. Notes that were not asked for
// are an error. Those that nobody has answered stay in the archive: the next turn may
// ask about them again.
func (c *corpus) answered(ctx context.Context, cfg *option.Config, path string) (map[string][]pipeline.Span, error) {
	wanted := map[string]bool{}
	for _, n := range c.asked.Notes {
		wanted[n.ID] = true
	}
	answers := map[string][]pipeline.Span{}
	strange := 0
	err := eachNote(ctx, cfg, path, func(b *pipeline.Batch, i int) error {
		if id := string(b.ID.At(i)); wanted[id] {
			answers[id] = slices.Clone(b.Gold.At(i))
		} else {
			strange++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if strange > 0 || len(answers) == 0 {
		return nil, exit.Errorf(exit.Config, "answer notes of "+filepath.Join(turnName(c.turns), questionFile)+", and no others",
			"%s: %d of %d notes answered, %d that were not asked", path, len(answers), len(wanted), strange)
	}
	return answers, nil
}

// unchanged counts the answers that are what the rules had found.
func (c *corpus) unchanged(ctx context.Context, cfg *option.Config, answers map[string][]pipeline.Span) (n int, err error) {
	err = eachNote(ctx, nil, filepath.Join(c.dir, turnName(c.turns), questionFile), func(b *pipeline.Batch, i int) error {
		answer, answered := answers[string(b.ID.At(i))]
		if answered && slices.EqualFunc(b.Gold.At(i), answer, func(x, y pipeline.Span) bool {
			return x.Start == y.Start && x.End == y.End && x.Category == y.Category
		}) {
			n++
		}
		return nil
	})
	return n, err
}

// grow writes the corpus with the answers behind it. Answers that it holds
// already, of a take that was killed, come in once.
func (c *corpus) grow(ctx context.Context, answers map[string][]pipeline.Span, cfg *option.Config, path string) error {
	if err := c.ids(ctx, cfg); err != nil {
		return err
	}
	fresh := filepath.Join(c.dir, ".answers.jsonl")
	r, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	src, err := flow.OpenNotes("answers", "", path, r)
	if err != nil {
		return err
	}
	dst, _, err := flow.CreateNotes("to", "jsonl", fresh, write.TextOptions{Gold: true})
	if err != nil {
		return errors.Join(err, src.Close())
	}
	err = pipeline.Run(ctx, input.NewKeep(src, func(id []byte) bool { return !c.known[string(id)] }), nil, dst, nil)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		dst.Abort()
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	defer os.Remove(fresh)
	added, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	c.data = append(c.data, added...)
	return durable.WriteFile(nil, c.path(), c.data)
}

// close scores the rules on the corpus and ends the turn.
func (c *corpus) close(ctx context.Context, con *console.Console, p *rules.Pack, answers, unchanged int, validation *networkScores) error {
	s, err := c.scored(ctx, p)
	if err != nil {
		return err
	}
	out := scores{Schema: scoresSchema, measured: s.measured(), Unchanged: unchanged, Errors: s.mistakes}
	judged := out.F1
	if validation != nil {
		m := validation.measured()
		out.Validation, judged = &m, m.F1
	}
	data, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(nil, filepath.Join(c.dir, turnName(c.turns), scoresFile), append(data, '\n')); err != nil {
		return err
	}
	if con.JSON {
		return json.NewEncoder(con.Out).Encode(map[string]any{"message_type": "corpus", "turn": c.turns, "scores": out})
	}
	var each []string
	for _, name := range slices.Sorted(maps.Keys(out.ByCategory)) {
		each = append(each, fmt.Sprintf("%s %.3f", name, out.ByCategory[name]))
	}
	done := ""
	if out.Validation != nil {
		done = fmt.Sprintf("; on %d validation notes F1 %.3f", out.Validation.Notes, judged)
	}
	if judged > enough {
		done += fmt.Sprintf("; over %.1f: the corpus is done", enough)
	}
	if open := len(c.asked.Notes) - answers; open > 0 {
		done = fmt.Sprintf("; %d of %d without an answer, to be asked again", open, len(c.asked.Notes)) + done
	}
	_, err = con.Printf("turn %d: %d answers, %d unchanged; corpus %d notes; rules on it F1 %.3f (%s)%s\n",
		c.turns, answers, unchanged, s.notes, out.F1, strings.Join(each, ", "), done)
	return err
}
