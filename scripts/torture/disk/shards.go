package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"syscall"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Shards plans a run, does its shards in processes of which some die, some run into a full
// disk, and some stop in the middle and go on much later, when their successors are done or
// the plan is finished; two processes finish, and no lock is known to another machine. Whoever
// ends well must leave the one tree, and so it must be when all are dead.
// skip plants a bug: see Disk.Skip.
func Shards(seed uint64, skip func(Op) bool) (Tally, error) {
	s := &shards{rng: rand.New(rand.NewPCG(seed, 5)), w: &worker{disk: New(seed, volume)}}
	s.w.disk.Skip = skip
	return s.run(seed)
}

func (s *shards) run(seed uint64) (Tally, error) {
	err := s.history()
	if err != nil {
		err = fmt.Errorf("seed %d: %w\n%v", seed, err, s.told)
	}
	return s.Tally, err
}

type shards struct {
	Tally
	rng     *rand.Rand
	w       *worker
	job     Job
	n       int // shards
	want    map[string]string
	frozen  []*actor
	told    []string // what happened
	started int      // processes
	all     sync.WaitGroup
	own     bool // a planted bug: what a process writes depends on which it is
}

// An actor is a process on a machine of its own. Its operations are counted; at one of them
// it may die, fail, or stop until it is thawed.
type actor struct {
	durable.FS
	name string
	mu   sync.Mutex
	left int // operations until it happens; below 0: never
	what string
	dead bool

	stopped chan struct{} // closed when it has stopped
	thaw    chan struct{}
	done    chan error
}

var errDead = errors.New("the process has died")

// op counts an operation.
func (a *actor) op() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead {
		return errDead
	}
	a.left--
	if a.left != 0 {
		return nil
	}
	switch a.what {
	case "dies":
		a.dead = true
		return errDead
	case "disk full":
		return syscall.ENOSPC
	}
	close(a.stopped)
	<-a.thaw
	return nil
}

func (a *actor) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if err := a.op(); err != nil {
		return nil, err
	}
	f, err := a.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &actorFile{f, a}, nil
}

func (a *actor) Rename(from, to string) error {
	if err := a.op(); err != nil {
		return err
	}
	return a.FS.Rename(from, to)
}

func (a *actor) Remove(name string) error {
	if err := a.op(); err != nil {
		return err
	}
	return a.FS.Remove(name)
}

func (a *actor) Mkdir(name string, perm fs.FileMode) error {
	if err := a.op(); err != nil {
		return err
	}
	return a.FS.Mkdir(name, perm)
}

func (a *actor) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := a.op(); err != nil {
		return nil, err
	}
	return a.FS.ReadDir(name)
}

// Lock implements durable.FS: what another machine has locked nobody knows.
func (a *actor) Lock(string, durable.Holder) (io.Closer, error) { return io.NopCloser(nil), a.op() }

type actorFile struct {
	durable.File
	a *actor
}

func (f *actorFile) Write(data []byte) (int, error) {
	if err := f.a.op(); err != nil {
		return 0, err
	}
	return f.File.Write(data)
}

// start begins a process and waits until it has ended, or stopped.
func (s *shards) start(name string, do func(out commit.Output, o commit.UnitOptions) error) error {
	a := &actor{FS: s.w.disk, name: name, left: -1, stopped: make(chan struct{}), thaw: make(chan struct{}), done: make(chan error, 1)}
	if s.rng.IntN(2) == 0 {
		a.left, a.what = 1+s.rng.IntN(120), []string{"dies", "disk full", "stops", "stops"}[s.rng.IntN(4)]
	}
	if name == "plan" && a.what == "stops" { // a lock keeps a second one away: it sweeps what it does not know
		a.left = -1
	}
	s.started++
	o := s.w.options(s.job)
	o.Attempt = fmt.Sprintf("attempt%d", s.started)
	s.all.Go(func() { a.done <- do(commit.Output{Dir: dir, FS: a}, o) })
	select {
	case err := <-a.done:
		s.note(a, err)
		return err
	case <-a.stopped:
		s.told = append(s.told, a.name+" stops")
		s.frozen = append(s.frozen, a)
		return errDead
	}
}

func (s *shards) note(a *actor, err error) {
	s.told = append(s.told, fmt.Sprintf("%s (%s): %v", a.name, a.what, err))
	if err != nil {
		s.Deaths++
	}
}

// thawOne lets one of the processes that stopped go on to its end, and tells whether it finished the plan.
func (s *shards) thawOne() (finished bool) {
	k := s.rng.IntN(len(s.frozen))
	a := s.frozen[k]
	s.frozen = append(s.frozen[:k], s.frozen[k+1:]...)
	s.told = append(s.told, a.name+" goes on")
	close(a.thaw)
	err := <-a.done
	s.note(a, err)
	return a.name == "finish" && err == nil
}

func (s *shards) plan() error {
	return s.start("plan", func(out commit.Output, o commit.UnitOptions) error {
		p, err := commit.Prepare(s.job.plan(), out, o)
		if err != nil {
			return err
		}
		return errors.Join(p.Save(), p.Close())
	})
}

func (s *shards) shard(k int) error {
	return s.start(fmt.Sprintf("shard %d/%d", k+1, s.n), func(out commit.Output, o commit.UnitOptions) error {
		p, err := commit.Join(out, o, false)
		if err != nil {
			return err
		}
		job := s.job
		if s.own {
			job.Config += byte(s.started)
		}
		return errors.Join(p.DoShare(context.Background(), k, s.n, s.w.line(job, nil)), p.Close())
	})
}

func (s *shards) finish() error {
	return s.start("finish", func(out commit.Output, o commit.UnitOptions) error {
		p, err := commit.Join(out, o, true)
		if err != nil {
			return err
		}
		_, err = p.Commit(context.Background())
		return errors.Join(err, p.Close())
	})
}

// history draws what happens, until a finisher has ended well and nobody is left.
func (s *shards) history() error {
	before := Job{AtOnce: 1, Months: []Month{{Number: 1}, {Number: 2}, {Number: 3}}}
	s.job = Job{AtOnce: 1 + s.rng.IntN(2), Months: []Month{{Number: 2, Version: s.rng.IntN(2)}, {Number: 4}, {Number: 5}}}
	s.n = 1 + s.rng.IntN(4)
	history := []Job{s.job}
	s.w.disk.Start(Fault{})
	if s.rng.IntN(2) == 0 {
		history = []Job{before, s.job}
		if err := s.w.run(before); err != nil {
			return err
		}
	}
	var err error
	if s.want, _, err = replay(history); err != nil {
		return err
	}
	for s.plan() != nil {
	}
	s.Jobs++
	for turns := 0; ; turns++ {
		if turns > 400 {
			return errors.New("it never ends")
		}
		switch k := s.rng.IntN(10); {
		case k < 6:
			_ = s.shard(s.rng.IntN(s.n))
		case k < 8 && len(s.frozen) > 0:
			if s.thawOne() {
				return s.end()
			}
		default:
			if s.finish() == nil {
				return s.end()
			}
		}
	}
}

// end checks the tree of a finisher that ended well, and again when all who stopped before
// have gone on.
func (s *shards) end() error {
	if bad := differs(outputs(s.w.disk), s.want); bad != "" {
		return fmt.Errorf("finish ended well, and the trees are not those of one run: %s", bad)
	}
	for len(s.frozen) > 0 {
		s.thawOne()
		if bad := differs(outputs(s.w.disk), s.want); bad != "" {
			return fmt.Errorf("a process that went on after the end changed the trees: %s", bad)
		}
	}
	return nil
}
