package run

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// failureReasons are those of notes on which a stage of ours failed. The other
// reasons say something of the note, these say something of the program or the
// model, and then the notes that passed are in doubt as well.
var failureReasons = []pipeline.Reason{
	pipeline.Panicked, pipeline.TimedOut, pipeline.TooCostly, pipeline.NoModel, pipeline.BadTags, pipeline.ChangedText, pipeline.Unsealed,
}

// mostFailures is how many notes in 10,000 may fail, and how many at least. One bad note is no reason to stop; a hundred say that
// the model or the program is not what it should be.
const mostFailures = 10

// gate stops a run in which stages fail too often. What is done by then is
// never committed: units of an earlier start count again.
type gate struct {
	most         float64 // failures in 10,000 notes
	stop         context.CancelCauseFunc
	notes, fails int64
}

// newGate returns a gate and the context that it ends.
func newGate(ctx context.Context, most float64) (context.Context, *gate) {
	g := &gate{most: most}
	ctx, g.stop = context.WithCancelCause(ctx)
	return ctx, g
}

// unit counts a unit. Below 10,000 notes the rate means little: there, as many
// failures are allowed as in 10,000.
func (g *gate) unit(c *commit.Counts) {
	g.notes += c.Rows
	for _, r := range failureReasons {
		g.fails += c.Reasons[r.String()]
	}
	if float64(g.fails) > g.most*float64(max(g.notes, 10_000))/10_000 {
		g.stop(exit.Errorf(exit.Privacy, "look at the reasons in the audit log; what was done is done again with --fresh",
			"stages failed on %d of %d notes, more than %.4g in 10,000: nothing was committed", g.fails, g.notes, g.most))
	}
}
