package pack

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline/durable"
)

// answeredTurn is a turn as its folder has it.
type answeredTurn struct {
	asked  asked
	scores scores
}

// history reads the turns that were answered.
func (c *corpus) history() (all []answeredTurn, err error) {
	for n := 1; n <= c.turns && (n < c.turns || c.asked == nil); n++ {
		var t answeredTurn
		for _, f := range []struct {
			name   string
			into   any
			schema *string
			want   string
		}{{askedFile, &t.asked, &t.asked.Schema, askedSchema}, {scoresFile, &t.scores, &t.scores.Schema, scoresSchema}} {
			data, err := os.ReadFile(filepath.Join(c.dir, turnName(n), f.name))
			if err == nil && (json.Unmarshal(data, f.into) != nil || *f.schema != f.want) {
				err = &durable.IntegrityError{Path: turnName(n) + "/" + f.name, Cause: "is not the record of a turn of this version"}
			}
			if err != nil {
				return nil, exit.With(exit.Integrity, err, "take scores.json of the turn and of those behind it away, and take their answers again")
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// Report writes report.html and report.json of the turns, and compares two of
// them: the last two, if none are named.
func Report(c *console.Console, cfg *option.Config, dir string, two []int) error {
	at, err := openCorpus(dir)
	if err != nil {
		return err
	}
	all, err := at.history()
	if err != nil {
		return err
	}
	n := len(all)
	if n == 0 {
		return exit.Errorf(exit.Config, "ask first: velum corpus next, then take", "no turn is answered")
	}
	if len(two) == 0 && n > 1 {
		two = []int{n - 1, n}
	}
	if len(two) > 0 && (len(two) != 2 || two[0] < 1 || two[0] >= two[1] || two[1] > n) {
		return exit.Errorf(exit.Config, "name two, the earlier one first, as --turns 1,2", "%d turns are answered: --turns names none of them, or not two", n)
	}
	r := &turns.CorpusReport{Schema: turns.CorpusSchema, Enough: enough, Validation: at.validation}
	for i, t := range all {
		s := &t.scores
		turn := turns.CorpusTurn{
			Number: i + 1, Scored: t.asked.Scored, Asked: len(t.asked.Notes), Elbow: t.asked.Elbow, Unchanged: s.Unchanged,
			Corrected: s.Notes, F1: s.F1, Precision: s.Precision, Recall: s.Recall, ByCategory: s.ByCategory, Curve: t.asked.Curve,
		}
		if s.Validation != nil {
			turn.Validation = &s.Validation.F1
		}
		r.Turns = append(r.Turns, turn)
	}
	if len(two) == 2 {
		r.Compared = compared(all, two[0], two[1])
	}
	if err := r.Write(dir, page.LanguageOf(cfg.Report.Lang)); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{"message_type": "corpus", "turns": n, "report": filepath.Join(dir, "report.html")})
	}
	if r.Compared != nil {
		for _, x := range r.Compared.Categories {
			if _, err := c.Printf("turn %d to %d, %s: %d errors went, %d came, %d in notes added since\n", two[0], two[1], x.Category, len(x.Went), len(x.Came), len(x.Added)); err != nil {
				return err
			}
		}
	}
	_, err = c.Printf("%d turns -> %s\n", n, filepath.Join(dir, "report.html"))
	return err
}

// compared tells which errors came and went from turn a to turn b, and which of
// those that came lie in notes that turn a had not.
func compared(all []answeredTurn, a, b int) *turns.Comparison {
	since := map[string]bool{}
	for _, t := range all[a:b] {
		for _, n := range t.asked.Notes {
			since[n.ID] = true
		}
	}
	was, now := &all[a-1].scores, &all[b-1].scores
	by := map[string]*turns.Change{}
	for _, s := range []*scores{was, now} {
		for category := range s.ByCategory {
			by[category] = &turns.Change{Category: category, Went: []string{}, Came: []string{}, Added: []string{}}
		}
	}
	for _, m := range gone(was.Errors, now.Errors) {
		by[m.Category].Went = append(by[m.Category].Went, m.ID)
	}
	for _, m := range gone(now.Errors, was.Errors) {
		if x := by[m.Category]; since[m.ID] {
			x.Added = append(x.Added, m.ID)
		} else {
			x.Came = append(x.Came, m.ID)
		}
	}
	c := &turns.Comparison{From: a, To: b}
	for _, category := range slices.Sorted(maps.Keys(by)) {
		c.Categories = append(c.Categories, *by[category])
	}
	return c
}
