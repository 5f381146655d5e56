package pipeline

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Source fills the empty batch b with the next notes, or returns io.EOF and
// leaves it empty.
type Source interface{ Next(b *Batch) error }

// A Sink takes a finished batch. It may not keep it.
type Sink interface{ Put(b *Batch) error }

// A Step is one named stage. New is called once per worker and returns a function with scratch space of its own, so
// that no locks are needed.
type Step struct {
	Name    string
	Workers int // 0 means 1; each works on a whole batch, order is kept
	New     func() func(b *Batch) error
}

// Run moves every batch of src through steps, in order, into dst. Each step has one goroutine per worker. After the
// first error no further batch is started, the batches in progress are drained, and the error is returned; a cancelled
// ctx has the same effect, with its cause as error. Batches reach dst in the order of src.
//
// There is a fixed number of batches, which are reused: one for each worker and one between every two steps. So memory
// is bounded, and a slow step slows down the ones before it.
func Run(ctx context.Context, src Source, steps []Step, dst Sink, stats *Stats) error {
	return new(Pump).Run(ctx, src, steps, dst, stats)
}

// A Pump keeps the batches of one run for the next, because new batches for each unit would cost tens of megabytes of
// garbage and page faults. The zero value is ready. Its runs must not overlap.
type Pump struct{ kept []*Batch }

// keptBytes is the text for which a batch has room at most if it is kept. A
// long note makes larger ones, which are given up when its unit is done.
const keptBytes = 1 << 20

// Run is [Run], reusing the batches of the previous run.
func (p *Pump) Run(ctx context.Context, src Source, steps []Step, dst Sink, stats *Stats) error {
	group, ctx := errgroup.WithContext(ctx)
	l := &line{ctx: ctx, group: group, stats: stats}

	n := 2
	for _, s := range steps {
		n += 1 + max(s.Workers, 1)
	}
	free := make(chan *Batch, n)
	for i := range n {
		if i < len(p.kept) {
			free <- p.kept[i]
		} else {
			free <- new(Batch)
		}
	}
	p.kept = nil
	at := l.source(src, free)
	for _, s := range steps {
		at = l.step(s, at)
	}
	done := false
	group.Go(func() (err error) {
		done, err = l.sink(dst, at, free)
		return err
	})
	if err := group.Wait(); err != nil || !done {
		return context.Cause(ctx) // the first of an error and the end of the caller's context
	}
	for range len(free) {
		if b := <-free; cap(b.Text.Data) <= keptBytes {
			p.kept = append(p.kept, b)
		}
	}
	return nil
}

// Each performs n numbered tasks on several workers and passes their results to take in order. work is called once per
// worker and returns its function.
func Each[T any](ctx context.Context, n, workers int, work func() func(k int) (T, error), take func(k int, done T) error) error {
	done := make([]T, n)
	step := Step{Name: "each", Workers: workers, New: func() func(*Batch) error {
		do := work()
		return func(b *Batch) (err error) {
			done[b.Seq], err = do(b.Seq)
			return err
		}
	}}
	var none T
	return Run(ctx, &countdown{n}, []Step{step}, SinkFunc(func(b *Batch) error {
		one := done[b.Seq]
		done[b.Seq] = none
		return take(b.Seq, one)
	}), nil)
}

// countdown is a source of so many empty batches.
type countdown struct{ left int }

// Next implements Source.
func (c *countdown) Next(*Batch) error {
	if c.left == 0 {
		return io.EOF
	}
	c.left--
	return nil
}

// SinkFunc is a sink that is one function.
type SinkFunc func(b *Batch) error

// Put implements Sink.
func (f SinkFunc) Put(b *Batch) error { return f(b) }

// line holds the state that the goroutines of one Run share.
type line struct {
	ctx   context.Context // of the group
	group *errgroup.Group
	stats *Stats
}

// give sends b on, or tells that the line has stopped.
func (l *line) give(to chan<- *Batch, b *Batch) bool {
	select {
	case <-l.ctx.Done():
		return false
	case to <- b:
		return true
	}
}

// take receives the next batch, or nil when there is none or the line has
// stopped.
func (l *line) take(from <-chan *Batch) *Batch {
	select {
	case <-l.ctx.Done():
		return nil
	case b := <-from: // nil when closed
		return b
	}
}

func (l *line) source(src Source, free chan *Batch) <-chan *Batch {
	out := make(chan *Batch, 1)
	l.group.Go(func() error {
		defer close(out)
		for seq := 0; ; seq++ {
			b := l.take(free)
			if b == nil {
				return nil
			}
			b.Reset()
			b.Seq = seq
			begin := time.Now()
			err := Try(func() error { return src.Next(b) })
			if err != nil {
				free <- b // has room for every batch
				if err == io.EOF {
					return nil
				}
				return fmt.Errorf("read: %w", err)
			}
			l.stats.add("read", b.Len(), time.Since(begin))
			if !l.give(out, b) {
				return nil
			}
		}
	})
	return out
}

// step starts the workers of s. Batches are dealt out in turn and collected
// in turn: worker w has batches w, w+n, w+2n and so on, so order is kept
// without sorting, and who does what is fixed.
func (l *line) step(s Step, in <-chan *Batch) <-chan *Batch {
	n := max(s.Workers, 1)
	out := make(chan *Batch, 1)
	if n == 1 {
		l.worker(s, in, out)
		return out
	}
	ins, outs := make([]chan *Batch, n), make([]chan *Batch, n)
	for w := range n {
		ins[w], outs[w] = make(chan *Batch), make(chan *Batch, 1)
		l.worker(s, ins[w], outs[w])
	}
	l.group.Go(func() error { // deal
		defer func() {
			for _, c := range ins {
				close(c)
			}
		}()
		for w := 0; ; w = (w + 1) % n {
			b := l.take(in)
			if b == nil || !l.give(ins[w], b) {
				return nil
			}
		}
	})
	l.group.Go(func() error { // collect
		defer close(out)
		for w := 0; ; w = (w + 1) % n {
			b := l.take(outs[w])
			if b == nil || !l.give(out, b) {
				return nil
			}
		}
	})
	return out
}

func (l *line) worker(s Step, in <-chan *Batch, out chan<- *Batch) {
	var do func(b *Batch) error
	err := Try(func() error { do = s.New(); return nil })
	l.group.Go(func() error {
		defer close(out)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		for do != nil {
			b := l.take(in)
			if b == nil {
				return nil
			}
			begin := time.Now()
			if err := Try(func() error { return do(b) }); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			l.stats.add(s.Name, b.Len(), time.Since(begin))
			if !l.give(out, b) {
				return nil
			}
		}
		return nil
	})
}

// sink tells whether all batches arrived.
func (l *line) sink(dst Sink, in <-chan *Batch, free chan<- *Batch) (all bool, err error) {
	for {
		b := l.take(in)
		if b == nil {
			return l.ctx.Err() == nil, nil
		}
		begin := time.Now()
		if err := Try(func() error { return dst.Put(b) }); err != nil {
			return false, fmt.Errorf("write: %w", err)
		}
		l.stats.add("write", b.Len(), time.Since(begin))
		free <- b // never blocks: free has room for every batch
	}
}
