// Package oracle asks velum about its own output: in come an archive and a
// configuration, out how many candidates for a hidden value stay possible for
// somebody who has everything public.
package oracle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/write"
)

// Options say how velum is asked about its own output. The attacker has
// the public tree and the metrics, the same velum, model and configuration,
// and knows all of a note but one value: each of many candidates is filled in,
// velum run, and what is public compared. A candidate stays possible if nothing
// differs.
type Options struct {
	Places     int    // hidden values of each category that are asked about
	Candidates int    // for each
	Separate   int    // runs of the sample by itself with possible candidates, and as many with impossible ones
	AtLeast    int    // candidates that must stay possible at the 5th percentile of the places; 0: an eighth of them
	Names      string // file of candidates for names of persons, one a line; "": names are made
	Notes      int    // of the archive that are looked through for hidden values
	Seed       uint64
	Work       string // folder for what is masked; it is there

	Roots []string        // where the archive lies
	Only  map[string]bool // files of it; nil: all
}

// figures are what the oracle found out.
type figures struct {
	Notes      int           `json:"notes"`
	Candidates int           `json:"candidates"`
	AtLeast    int           `json:"at_least"`
	All        possible      `json:"all"`
	Categories []possible    `json:"categories"`
	Separate   separateCount `json:"separate_runs"`
	Skipped    int           `json:"places_without_candidates"`
}

// possible is how many candidates stay possible in the places of a category. That
// a value was found, and under which category, is public: a candidate that velum
// would not hide there, or hide as something else, is ruled out like any other.
type possible struct {
	Category string `json:"category"`
	Places   int    `json:"places"`
	Hidden   int    `json:"hidden_alike_median"` // of the candidates; the others are ruled out by the category
	Least    int    `json:"least"`
	Fifth    int    `json:"5th_percentile"`
	Half     int    `json:"median"`
}

// separateCount is how many runs of their own said the same as the run of all
// candidates.
type separateCount struct {
	Runs       int      `json:"runs"`
	Candidates int      `json:"candidates"` // that were filled in
	Agree      int      `json:"agree"`
	Differ     []string `json:"differ,omitempty"` // files that told possible candidates apart
}

// The oracle's folders below the working folder.
const (
	candidatesDir = "candidates"
	sampleDir     = "sample"
)

// hidden is a note of the sample and what is masked in it.
type hidden struct {
	text  []byte
	spans []pipeline.Span
}

// place is a hidden value and its candidates.
type place struct {
	note       int // of oracle.notes
	span       int
	category   pipeline.Category
	first      int64 // row of the true note in the archive of candidates; the candidates follow
	candidates []int // their numbers; each gives another note
	left       []int // of candidates, those that stay possible
	alike      int   // of candidates, how many are hidden as the true value is
}

type oracle struct {
	*console.Console
	o      *Options
	config option.Config // of every run
	rng    *rand.Rand
	values *values
	notes  []hidden // that have a place
	places []place
	out    figures
}

// Ask asks in two ways. One run masks the candidates of all places, each in a
// note of its own, and a candidate stays possible if the public rows of its note
// are those of the true one: the public tree is a function of public rows. That
// this is so is not believed: the sample is masked by itself, as it is and with
// candidates, and every byte that is public is compared.
func Ask(ctx context.Context, c *console.Console, config *option.Config, options *Options) (*Finding, error) {
	o := &oracle{Console: c, o: options, config: *config, rng: rand.New(rand.NewPCG(options.Seed, 1))}
	if err := o.begin(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{o.sample, o.ask, o.askSeparately} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return o.finding(), nil
}

// Finding is what the oracle found out.
type Finding struct {
	Passed, Power bool // no more than is allowed; enough places to tell
	Sentence      string
	Remedy        string
	Figures       any
	Table         func(w io.Writer) // for a person; columns end in tabs
}

func (o *oracle) begin() error {
	if o.o.Notes < 1 || o.o.Places < 1 || o.o.Candidates < 1 || o.o.Separate < 0 || o.o.AtLeast < 0 {
		return exit.Errorf(exit.Config, "see `velum attack --help`", "--notes, --places and --candidates want 1 or more")
	}
	names, err := readNames(o.o.Names)
	o.values = newValues(o.o.Seed, names)
	o.out.AtLeast = cmp.Or(o.o.AtLeast, max(1, o.o.Candidates/8))
	o.out.Candidates = o.o.Candidates
	return err
}

// needs is how many places a 5th percentile needs at the least.
const needs = 10

// errEnough ends the reading of the archive.
var errEnough = errors.New("enough notes")

// sample looks through the first notes of the archive and draws the places.
func (o *oracle) sample(ctx context.Context) error {
	o.config.Choose.Use = false
	f, err := flow.New(&o.config)
	if err != nil {
		return err
	}
	ro, err := flow.ReadOptions(&o.config)
	if err != nil {
		return err
	}
	fence := fence.New(fence.Options{Memory: int64(o.config.Run.DecodeMemory), Ended: ctx.Done()})
	defer fence.Close()
	ro.Only = o.o.Only
	archive, err := archive.Scan(ctx, o.o.Roots, ro, fence)
	if err != nil {
		return flow.InputError(err)
	}
	steps, err := f.RunSteps(nil, new(flow.Found))
	if err != nil {
		return err
	}
	all := &hiddenNotes{most: o.o.Notes}
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			return err
		}
		err = pipeline.Run(ctx, src, steps, all, nil)
		if err = errors.Join(err, src.Close()); errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return err
		}
	}
	o.out.Notes = all.seen
	o.draw(all.notes)
	if len(o.places) == 0 {
		return exit.Errorf(exit.Nothing, "give an archive with names in it", "no value is hidden in %d notes", all.seen)
	}
	// The runs read what is written here, whatever the archive was like.
	o.config.Read.Columns, o.config.Read.Keep = option.Columns{ID: []string{"note_id"}, Text: "text"}, nil
	o.config.Read.Format, o.config.Read.SHA256, o.config.Read.Twice = "", "", ""
	o.config.Write.MaxQuarantined = 1
	return nil
}

// hiddenNotes keeps the notes in which something is masked.
type hiddenNotes struct {
	most, seen int
	notes      []hidden
}

// Put implements pipeline.Sink.
func (h *hiddenNotes) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if h.seen == h.most {
			return errEnough
		}
		h.seen++
		if spans := b.Spans.At(i); b.Reason[i] == pipeline.Sound && len(spans) > 0 {
			h.notes = append(h.notes, hidden{slices.Clone(b.Text.At(i)), slices.Clone(spans)})
		}
	}
	return nil
}

// draw draws the places of each category, and the notes that have one.
func (o *oracle) draw(notes []hidden) {
	byCategory := map[pipeline.Category][]place{}
	for i := range notes {
		for k, s := range notes[i].spans {
			byCategory[s.Category] = append(byCategory[s.Category], place{note: i, span: k, category: s.Category})
		}
	}
	kept := map[int]int{} // note to its number in o.notes
	for c := range pipeline.Categories() {
		all := byCategory[pipeline.Category(c)]
		o.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		drawn := 0
		for _, p := range all {
			if drawn == o.o.Places {
				break
			}
			if !o.findCandidates(&notes[p.note], &p) {
				o.out.Skipped++
				continue
			}
			drawn++
			at, ok := kept[p.note]
			if !ok {
				at = len(o.notes)
				kept[p.note] = at
				o.notes = append(o.notes, notes[p.note])
			}
			p.note = at
			o.places = append(o.places, p)
		}
	}
}

// tries is how many candidates are made for each that is wanted: some come
// again.
const tries = 4

// findCandidates finds the numbers of candidates that give different notes.
func (o *oracle) findCandidates(n *hidden, p *place) bool {
	seen := map[xxh3.Uint128]bool{xxh3.Hash128(n.text): true}
	for number := 0; number < tries*o.o.Candidates && len(p.candidates) < o.o.Candidates; number++ {
		text, _, ok := o.fill(n, p, number)
		if !ok && len(p.candidates) == 0 && number > 8 {
			return false
		}
		if h := xxh3.Hash128(text); ok && !seen[h] {
			seen[h] = true
			p.candidates = append(p.candidates, number)
		}
	}
	return len(p.candidates) == o.o.Candidates
}

// fill returns the note with a candidate in the place, and wherever else in the
// note the same value stands, and where that is.
func (o *oracle) fill(n *hidden, p *place, number int) (text []byte, at []pipeline.Span, ok bool) {
	value := n.spans[p.span]
	words := n.text[value.Start:value.End]
	copied := int32(0)
	for _, s := range n.spans {
		here := n.text[s.Start:s.End]
		if s.Category != value.Category || !o.values.together(words, here, value.Category.Kind()) {
			continue
		}
		text = append(text, n.text[copied:s.Start]...)
		start := len(text)
		if text, ok = o.values.append(text, here, value.Category.Kind(), number); !ok {
			return nil, nil, false
		}
		at = append(at, pipeline.Span{Start: int32(start), End: int32(len(text)), Category: value.Category})
		copied = s.End
	}
	return append(text, n.text[copied:]...), at, true
}

// ask masks all candidates in one run and keeps those that stay possible.
func (o *oracle) ask(ctx context.Context) error {
	in := filepath.Join(o.o.Work, candidatesDir, "notes.parquet")
	rows := int64(0)
	err := writeNotes(in, func(add func([]byte) error) error {
		for i := range o.places {
			p := &o.places[i]
			n := &o.notes[p.note]
			p.first = rows
			rows += int64(1 + len(p.candidates))
			if err := add(n.text); err != nil {
				return err
			}
			for _, number := range p.candidates {
				text, _, _ := o.fill(n, p, number)
				if err := add(text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := filepath.Join(o.o.Work, candidatesDir, "out")
	if err := o.run(ctx, in, out, ""); err != nil {
		return err
	}
	seen, err := publicRows(out, rows)
	if err != nil {
		return err
	}
	found, err := hiddenSpans(commit.PrivateDir(out), rows)
	if err != nil {
		return err
	}
	for i := range o.places {
		o.compare(&o.places[i], seen, found)
	}
	return os.RemoveAll(filepath.Join(o.o.Work, candidatesDir))
}

// compare counts what became of the candidates of a place.
func (o *oracle) compare(p *place, seen []xxh3.Uint128, found [][]pipeline.Span) {
	for k, number := range p.candidates {
		row := p.first + 1 + int64(k)
		same := seen[row] == seen[p.first]
		if same {
			p.left = append(p.left, number)
		}
		if text, at, _ := o.fill(&o.notes[p.note], p, number); same || alike(text, at, found[row]) {
			p.alike++
		}
	}
}

// alike tells whether every letter and digit of the places is hidden, under
// their category.
func alike(text []byte, places, found []pipeline.Span) bool {
	for _, p := range places {
		at := p.Start
		for _, s := range found {
			if s.Category != p.Category || s.End <= at || at >= p.End {
				continue
			}
			if s.Start > at && wordIn(text[at:min(s.Start, p.End)]) {
				return false
			}
			at = s.End
		}
		if at < p.End && wordIn(text[at:p.End]) {
			return false
		}
	}
	return true
}

// wordIn tells whether a text has a letter or a digit.
func wordIn(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// askSeparately masks the sample by itself, as it is and with candidates in it,
// and counts whether what is public says the same as the run of all candidates:
//
//   - with a possible candidate in one place of every note at once, nothing
//     may differ;
//   - with an impossible one in one place, something has to.
func (o *oracle) askSeparately(ctx context.Context) error {
	if o.o.Separate == 0 {
		return nil
	}
	truth, err := o.tree(ctx, nil)
	if err != nil {
		return err
	}
	progress := o.NewProgress("oracle", "runs", 2*int64(o.o.Separate))
	defer progress.End()
	differ := map[string]bool{}
	for range o.o.Separate {
		for _, filled := range []map[int]filling{o.possible(), o.impossible()} {
			if len(filled) == 0 {
				continue
			}
			tried, err := o.tree(ctx, filled)
			if err != nil {
				return err
			}
			progress.Add(1)
			o.count(filled, truth.differs(tried), differ)
		}
	}
	o.out.Separate.Differ = slices.Sorted(maps.Keys(differ))
	return nil
}

// filling is a candidate in a place.
type filling struct {
	place    *place
	number   int
	possible bool
}

// count counts a run with some places filled, whose tree differs in files from
// the true one.
func (o *oracle) count(filled map[int]filling, files []string, differ map[string]bool) {
	possible := false
	for _, f := range filled {
		possible = f.possible
	}
	o.out.Separate.Runs++
	o.out.Separate.Candidates += len(filled)
	if possible == (len(files) == 0) {
		o.out.Separate.Agree++
		return
	}
	for _, f := range files {
		differ[f] = true
	}
}

// possible draws a possible candidate for one place of every note.
func (o *oracle) possible() map[int]filling {
	filled := map[int]filling{}
	for _, i := range o.rng.Perm(len(o.places)) {
		p := &o.places[i]
		if _, ok := filled[p.note]; !ok && len(p.left) > 0 {
			filled[p.note] = filling{p, p.left[o.rng.IntN(len(p.left))], true}
		}
	}
	return filled
}

// impossible draws an impossible candidate for one place of all.
func (o *oracle) impossible() map[int]filling {
	for _, i := range o.rng.Perm(len(o.places)) {
		p := &o.places[i]
		for _, k := range o.rng.Perm(len(p.candidates)) {
			if number := p.candidates[k]; !slices.Contains(p.left, number) {
				return map[int]filling{p.note: {p, number, false}}
			}
		}
	}
	return nil
}

// tree masks the notes of the sample, some filled, and returns what is public
// of it.
func (o *oracle) tree(ctx context.Context, filled map[int]filling) (publicTree, error) {
	dir := filepath.Join(o.o.Work, sampleDir)
	in, out := filepath.Join(dir, "in", "notes.parquet"), filepath.Join(dir, "out")
	err := writeNotes(in, func(add func([]byte) error) error {
		for i := range o.notes {
			text := o.notes[i].text
			if f, ok := filled[i]; ok {
				text, _, _ = o.fill(&o.notes[i], f.place, f.number)
			}
			if err := add(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	metrics := filepath.Join(dir, "velum.prom")
	if err := o.run(ctx, in, out, metrics); err != nil {
		return nil, err
	}
	t, err := readPublicTree(out, metrics)
	return t, errors.Join(err, os.RemoveAll(dir))
}

// run masks an archive as `velum run` does, without a word.
func (o *oracle) run(ctx context.Context, in, out, metrics string) error {
	quiet := &console.Console{Out: io.Discard, Errs: io.Discard, Env: o.Env, Version: o.Version, Quiet: true}
	quiet.StartLog()
	load := func() (*option.Config, error) { c := o.config; return &c, nil }
	return run.Mask(ctx, quiet, load, &run.Options{In: []string{in}, Out: out, Record: run.RecordOptions{Metrics: metrics}})
}

// writeNotes writes an archive of one file of the notes that notes adds.
func writeNotes(path string, notes func(add func(text []byte) error) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	w := write.NewArchive(path, 0, write.TextOptions{})
	b := new(pipeline.Batch)
	row := 0
	err := notes(func(text []byte) error {
		b.ID.Append(strconv.AppendInt(nil, int64(row), 10))
		b.Text.Append(text)
		b.Reason = append(b.Reason, pipeline.Sound)
		if row++; b.Len() < 1000 {
			return nil
		}
		err := w.Put(b)
		b.Reset()
		return err
	})
	if err == nil && b.Len() > 0 {
		err = w.Put(b)
	}
	if err != nil {
		w.Abort()
		return err
	}
	return w.Close()
}

func (o *oracle) finding() *Finding {
	out := &o.out
	byCategory := map[string][]*place{}
	var all []*place
	for i := range o.places {
		p := &o.places[i]
		byCategory[p.category.String()] = append(byCategory[p.category.String()], p)
		all = append(all, p)
	}
	out.All = possibleOf("all", all)
	low := out.All
	for name, places := range byCategory {
		sum := possibleOf(name, places)
		out.Categories = append(out.Categories, sum)
		if sum.Fifth < low.Fifth || sum.Fifth == low.Fifth && sum.Category < low.Category {
			low = sum
		}
	}
	slices.SortFunc(out.Categories, func(a, b possible) int { return cmp.Compare(a.Category, b.Category) })
	f := &Finding{Figures: out, Table: out.table, Power: out.All.Places >= needs,
		Passed: out.All.Fifth >= out.AtLeast && out.Separate.Agree == out.Separate.Runs}
	f.Sentence = fmt.Sprintf("%d of %d candidates stay possible at the 5th percentile of %d hidden values, category public (at least %d wanted); least in %s, %d; "+
		"%d of %d separate runs agree, with %d of them",
		out.All.Fifth, out.Candidates, out.All.Places, out.AtLeast, low.Category, low.Fifth, out.Separate.Agree, out.Separate.Runs, out.Separate.Candidates)
	f.Remedy = "what is public depends on hidden words: do not give the extract away"
	if f.Passed && !f.Power {
		f.Remedy = "ask about more values: --places"
	}
	if n := len(out.Separate.Differ); n > 0 {
		f.Remedy += fmt.Sprintf("; %d files differ, %s first", n, out.Separate.Differ[0])
	}
	return f
}

// possibleOf sums up how many candidates stay possible, by place.
func possibleOf(name string, places []*place) possible {
	var left, hidden []int
	for _, p := range places {
		left, hidden = append(left, len(p.left)), append(hidden, p.alike)
	}
	at := func(of []int, share float64) int {
		if slices.Sort(of); len(of) == 0 {
			return 0
		}
		return of[int(share*float64(len(of)))]
	}
	return possible{Category: name, Places: len(places), Hidden: at(hidden, 0.5), Least: at(left, 0), Fifth: at(left, 0.05), Half: at(left, 0.5)}
}

func (f *figures) table(w io.Writer) {
	fmt.Fprintf(w, "category\tplaces\thidden alike, half\tleft, least\t5 %%\thalf\t\n")
	for _, p := range append(slices.Clone(f.Categories), f.All) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", p.Category, p.Places, p.Hidden, p.Least, p.Fifth, p.Half)
	}
}

// partsOf are the parts that stand in a tree.
func partsOf(out string) ([]commit.PartRecord, error) {
	m, err := commit.ReadManifest(out)
	if err != nil {
		return nil, err
	}
	return m.Here(), nil
}
