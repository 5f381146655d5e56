package notes

import (
	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write"
)

// Counted is a sink that counts the notes and spans that it passes on, and the unreadable notes by reason.
type Counted struct {
	write.Text
	*console.Progress
	Gold                     bool
	Notes, Spans, Unreadable int64

	Reasons map[string]int64 // unreadable notes by reason
	Rows    []int64          // of the first of them, from 1
}

// namedRows is how many rows a message names.
const namedRows = 5

func (c *Counted) unreadable(row int64, r pipeline.Reason) {
	if c.Unreadable++; c.Reasons == nil {
		c.Reasons = map[string]int64{}
	}
	c.Reasons[r.String()]++
	if len(c.Rows) < namedRows {
		c.Rows = append(c.Rows, row+1)
	}
}

// Put implements pipeline.Sink.
func (c *Counted) Put(b *pipeline.Batch) error {
	c.Progress.Add(int64(b.Len()))
	c.Notes += int64(b.Len())
	for i, r := range b.Reason {
		if r != pipeline.Sound {
			c.unreadable(b.First+int64(i), r)
		}
	}
	if c.Gold {
		c.Spans += int64(len(b.Gold.Items))
	} else {
		c.Spans += int64(len(b.Spans.Items))
	}
	return c.Text.Put(b)
}
