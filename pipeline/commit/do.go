package commit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"golang.org/x/sync/errgroup"
)

// Line is the pipeline of one unit: source, steps and sink. If Source is an io.Closer, it is closed at the end.
type Line struct {
	Source pipeline.Source
	Steps  []pipeline.Step
	Sink   UnitSink

	Damaged func() map[int]*DamageError // members of a shared unit that could not be read, when all are through; nil: none could be
}

func (l *Line) close() error {
	if c, ok := l.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// makeLine makes the chain of stages for a unit. slot runs from 0 to UnitOptions.AtOnce-1; what is expensive to make
// can be kept per slot, since calls for one slot never overlap.
type makeLine = func(slot int, u *Unit, parts *Parts) (Line, error)

// doing is one call of Do.
type doing struct {
	*Prepared
	share   string
	line    makeLine
	journal *durable.Journal
	pumps   []pipeline.Pump // a slot's, from one unit to the next
}

// Do processes units of the plan, given by index, and records them in the journal named share. Other shares may run at
// the same time; units that this share has done before remain in its journal.
//
//	line -> temporary parts -> fsync -> re-read -> rename -> fsync folder -> journal
//
// Errors are those of RunUnits.
func (r *Prepared) Do(ctx context.Context, share string, units []int, line makeLine) error {
	if len(units) == 0 {
		return nil
	}
	if err := r.begin(); err != nil {
		return r.lost(err)
	}
	j, _, err := durable.OpenJournal(r.fs, filepath.Join(r.out.journals(), journalName+share), journalFormat)
	if err != nil {
		return r.lost(err)
	}
	d := &doing{Prepared: r, share: share, line: line, journal: j}
	return r.lost(errors.Join(d.work(ctx, units), j.Close()))
}

// begin marks both trees as changing and makes the folders of the run. When this process does a share of a plan, the
// process that planned has done so already.
func (p *Prepared) begin() error {
	if p.turns == nil {
		return nil
	}
	if err := p.touch(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.folders() // as long as it is there the run has not ended
}

// work hands the units out to the slots. While a slot's finished unit is
// synced and re-read, the slot begins the next one.
func (r *doing) work(ctx context.Context, todo []int) error {
	group, inner := errgroup.WithContext(ctx)
	next := make(chan int, len(todo))
	for _, i := range todo {
		next <- i
	}
	close(next)
	r.pumps = make([]pipeline.Pump, min(max(r.o.AtOnce, 1), len(todo)))
	for slot := range r.pumps {
		group.Go(func() error {
			settled := make(chan struct{}, 1) // one unit of the slot settles at a time
			for i := range next {
				done, err := r.unit(inner, slot, &r.plan.Units[i])
				if err != nil {
					return err
				}
				settled <- struct{}{}
				group.Go(func() error {
					defer func() { <-settled }()
					return r.settle(inner, i, done)
				})
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return context.Cause(inner) // the first of an error and the end of ctx
	}
	return context.Cause(ctx)
}

// unitDone is a unit whose notes have passed all stages and whose parts are not yet synced.
type unitDone struct {
	record UnitRecord
	parts  *Parts
}

// unit runs the line of a unit.
func (r *doing) unit(ctx context.Context, slot int, u *Unit) (*unitDone, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	name := r.plan.Name(u)
	parts := &Parts{run: r.Prepared, stem: r.share + name, at: u.set.part}
	record := UnitRecord{Run: r.of.Run, Name: name, Input: u.source(), SHA256: hex.EncodeToString(u.SHA256[:]), Copy: u.Copy, From: u.From,
		To: u.To}
	var err error
	if u.set.Rest != nil {
		err = r.remainder(u.set.Rest, parts, &record)
	} else {
		record.Mark, record.Members = u.set.Mark, r.plan.members(u)
		err = r.pump(ctx, slot, u, parts, &record)
	}
	if damage, ok := errors.AsType[*DamageError](err); ok && ctx.Err() == nil {
		err = parts.discard()
		record.Damage, record.Unread, record.Parts = damage.where(), damage.Unread, []PartRecord{}
		record.Counts = Counts{Rows: u.Rows, Quarantined: u.Rows, Reasons: map[string]int64{pipeline.BadUnit.String(): u.Rows}}
	}
	if err != nil {
		return nil, errors.Join(err, parts.discard())
	}
	return &unitDone{record, parts}, nil
}

func (r *doing) pump(ctx context.Context, slot int, u *Unit, parts *Parts, record *UnitRecord) error {
	var l Line
	err := pipeline.Try(func() (err error) {
		l, err = r.line(slot, u, parts)
		return err
	})
	if err != nil {
		return errors.Join(err, l.close())
	}
	src := &countedSource{Source: l.Source}
	err = r.pumps[slot].Run(ctx, src, l.Steps, l.Sink, r.o.Stats)
	if err := errors.Join(err, l.close()); err != nil {
		return err
	}
	err = pipeline.Try(func() (err error) {
		record.Counts, err = l.Sink.Close()
		return err
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if l.Damaged != nil {
		for k, damage := range l.Damaged() {
			record.Members[k].Damage, record.Members[k].Unread = damage.where(), damage.Unread
		}
	}
	// A note that took too long may not do so on a machine with less to do.
	if record.Reasons[pipeline.TimedOut.String()] > 0 {
		record.Starts = r.starts[record.Name] + 1
		record.Unread = record.Starts < mostStarts
	}
	return record.conserved(src.notes, u.Rows)
}

// countedSource counts the notes that come out of a source, independently of the counts of what is written.
type countedSource struct {
	pipeline.Source
	notes int64
}

func (s *countedSource) Next(b *pipeline.Batch) error {
	err := s.Source.Next(b)
	s.notes += int64(b.Len())
	return err
}

// settle makes a unit's parts durable and journals it.
func (r *doing) settle(ctx context.Context, i int, done *unitDone) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), done.parts.discard())
	}
	var err error
	if done.record.Parts, err = done.parts.commit(); err != nil {
		return errors.Join(err, done.parts.discard())
	}
	if err := r.journal.Add(&done.record); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[i] = &done.record
	r.result.Done++
	if r.o.Done != nil {
		r.o.Done(&done.record, false)
	}
	return nil
}
