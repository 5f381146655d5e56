package report

import (
	"strconv"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/resolve"
)

// TakeFound moves the counts of the stages of a unit into to.
func TakeFound(to *tally.Counts, found *flow.Found) {
	t := found.Resolve.Take()
	names := resolve.RuleNames()
	for i, n := range t.Rules {
		to.Note(tally.Rule, names[i], n)
	}
	for i, n := range t.Always {
		to.Note(tally.Always, strconv.Itoa(i+1), n)
	}
	for i, n := range t.Never {
		to.Note(tally.Never, strconv.Itoa(i+1), n)
	}
	lists := files.LexiconsOf(gazetteer.Default()).Never
	for i, n := range t.NeverLists {
		to.Note(tally.NeverList, lists[i].Name, n)
	}
	to.Note(tally.LowScore, "", t.Low)
	calendar := found.Calendar.Take()
	to.Note(tally.Calendar, tally.CalendarHidden, calendar.Hidden)
	to.Note(tally.Calendar, tally.CalendarNotes, calendar.Notes)
	to.Note(tally.Calendar, tally.CalendarKeeping, calendar.Keeping)
	for use, n := range found.Mask.Take() {
		NoteOperator(to, use, n)
	}
}
