package run

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// failureReasons lists the quarantine reasons that indicate a failure of a stage. Other reasons concern the note; these
// concern the program or the model, so that notes without a reason are in doubt, too.
var failureReasons = []pipeline.Reason{
	pipeline.Panicked, pipeline.TimedOut, pipeline.TooCostly, pipeline.NoModel, pipeline.BadTags, pipeline.ChangedText, pipeline.Unsealed,
}

// mostFailures is the allowed number of failed notes per 10,000, and in total for fewer notes. A single bad note is no
// reason to stop; a hundred indicate a broken model or program.
const mostFailures = 10

// gate stops a run in which stages fail too often. Units done by then are not committed and are counted again at the
// next start.
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

// unit counts the failures of a unit. Below 10,000 notes, as many failures are allowed as in 10,000.
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
