package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Shards plans a run or two, one after the other, and does their shards in processes of which
// some die, some run into a full disk, and some stop in the middle and go on much later, when
// their successors are done or the plan is finished: planners, shards and finishers. The power
// goes, no lock is known to another machine, and whoever likes plans again. A finish that ends
// well must leave the one tree, and so it must be when all are dead. skip plants a bug: see Disk.Skip.
func diskShards(seed uint64, skip func(diskOp) bool) (diskTally, error) {
	s := diskNewShards(seed)
	s.w.disk.Skip = skip
	return s.run(seed)
}

func diskNewShards(seed uint64) *diskShardsHistory {
	return &diskShardsHistory{rng: rand.New(rand.NewPCG(seed, 5)), w: &diskWorker{disk: newMemoryDisk(seed, diskVolume)}, parts: map[string]string{}}
}

func (s *diskShardsHistory) run(seed uint64) (diskTally, error) {
	err := s.history()
	if err != nil {
		err = fmt.Errorf("seed %d: %w\n%v", seed, err, strings.Join(s.told, "\n"))
	}
	return s.diskTally, err
}

type diskShardsHistory struct {
	diskTally
	rng     *rand.Rand
	w       *diskWorker
	jobs    []diskJob // that have been begun, one after the other
	n       int       // shards
	want    map[string]string
	parts   map[string]string // all that may ever be there
	frozen  []*diskActor
	told    []string // what happened
	started int      // processes
	calm    bool     // nothing happens to processes any more
	own     bool     // a planted bug: what a process writes depends on which it is
	meek    bool     // another: nobody takes the turn of another away
}

// An actor is a process on a machine of its own. Its operations are counted; at one of them
// it may die, fail, or stop until it is thawed.
type diskActor struct {
	durable.FS
	name string
	mu   sync.Mutex
	left int // operations until it happens; below 0: never
	what string
	dead atomic.Bool
	meek bool

	stopped chan struct{} // closed when it has stopped
	thaw    chan struct{}
	done    chan error
}

var errDiskDead = errors.New("the process has died")

// op counts an operation.
func (a *diskActor) op() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead.Load() {
		return errDiskDead
	}
	a.left--
	if a.left != 0 {
		return nil
	}
	switch a.what {
	case "dies":
		a.dead.Store(true)
		return errDiskDead
	case "disk full":
		return syscall.ENOSPC
	}
	close(a.stopped)
	a.mu.Unlock()
	<-a.thaw
	a.mu.Lock()
	if a.dead.Load() {
		return errDiskDead
	}
	return nil
}

func (a *diskActor) do(op func() error) error {
	if err := a.op(); err != nil {
		return err
	}
	return op()
}

func (a *diskActor) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if err := a.op(); err != nil {
		return nil, err
	}
	f, err := a.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &diskActorFile{f, a}, nil
}

func (a *diskActor) Rename(from, to string) error {
	if a.meek && strings.HasPrefix(filepath.Base(from), "turn-") {
		return nil
	}
	return a.do(func() error { return a.FS.Rename(from, to) })
}

func (a *diskActor) Remove(name string) error {
	return a.do(func() error { return a.FS.Remove(name) })
}

func (a *diskActor) Mkdir(name string, perm fs.FileMode) error {
	return a.do(func() error { return a.FS.Mkdir(name, perm) })
}

func (a *diskActor) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := a.op(); err != nil {
		return nil, err
	}
	return a.FS.ReadDir(name)
}

func (a *diskActor) SyncDir(name string) error {
	return a.do(func() error { return a.FS.SyncDir(name) })
}

// Lock implements durable.FS: what another machine has locked nobody knows.
func (a *diskActor) Lock(string, durable.Holder) (io.Closer, error) { return io.NopCloser(nil), a.op() }

type diskActorFile struct {
	durable.File
	a *diskActor
}

func (f *diskActorFile) Write(data []byte) (int, error) {
	if err := f.a.op(); err != nil {
		return 0, err
	}
	return f.File.Write(data)
}

func (f *diskActorFile) Sync() error {
	return f.a.do(f.File.Sync)
}

// start begins a process and waits until it has ended, or stopped.
func (s *diskShardsHistory) start(name string, do func(out commit.Output, o commit.UnitOptions) error) error {
	a := &diskActor{FS: s.w.disk, name: name, left: -1, meek: s.meek, stopped: make(chan struct{}), thaw: make(chan struct{}), done: make(chan error, 1)}
	if !s.calm && s.rng.IntN(2) == 0 {
		a.left, a.what = 1+s.rng.IntN(160), []string{"dies", "disk full", "stops", "stops"}[s.rng.IntN(4)]
	}
	s.started++
	o := s.w.options(s.job())
	o.Attempt = fmt.Sprintf("attempt%d", s.started)
	go func() { a.done <- do(commit.Output{Dir: diskDir, FS: a}, o) }()
	select {
	case err := <-a.done:
		s.note(a, err)
		return err
	case <-a.stopped:
		s.told = append(s.told, a.name+" stops")
		s.frozen = append(s.frozen, a)
		return errDiskDead
	}
}

func (s *diskShardsHistory) job() diskJob { return s.jobs[len(s.jobs)-1] }

func (s *diskShardsHistory) note(a *diskActor, err error) {
	s.told = append(s.told, fmt.Sprintf("%s (%s): %v", a.name, a.what, err))
	if err != nil {
		s.Deaths++
	}
}

// thawOne lets one of the processes that stopped go on to its end, and tells which it was.
func (s *diskShardsHistory) thawOne() string {
	if len(s.frozen) == 0 {
		return ""
	}
	k := s.rng.IntN(len(s.frozen))
	a := s.frozen[k]
	s.frozen = append(s.frozen[:k], s.frozen[k+1:]...)
	s.told = append(s.told, a.name+" goes on")
	close(a.thaw)
	s.note(a, <-a.done)
	return a.name
}

// lose takes the power away from all machines and checks what is left.
func (s *diskShardsHistory) lose() error {
	s.told = append(s.told, "the power goes")
	for _, a := range s.frozen {
		a.dead.Store(true)
	}
	for len(s.frozen) > 0 {
		s.thawOne()
	}
	s.Losses++
	s.Lost += len(s.w.disk.Lose())
	s.w.disk.Start(diskFault{})
	if bad := diskUnsound(s.w.disk, s.parts, ""); bad != "" {
		return errors.New("after a power loss: " + bad)
	}
	return nil
}

func (s *diskShardsHistory) plan() error {
	plan := s.job().plan()
	plan.With = json.RawMessage(strconv.Itoa(len(s.jobs)))
	return s.start(fmt.Sprintf("plan %d", len(s.jobs)), func(out commit.Output, o commit.UnitOptions) error {
		p, err := commit.Prepare(plan, out, o)
		if err != nil {
			return err
		}
		return errors.Join(p.Save(), p.Close())
	})
}

func (s *diskShardsHistory) shard(k int) error {
	job := s.job()
	return s.start(fmt.Sprintf("shard %d/%d", k+1, s.n), func(out commit.Output, o commit.UnitOptions) error {
		p, _, err := diskJoined(out, o, false)
		if err != nil {
			return err
		}
		if s.own {
			job.Config += byte(s.started)
		}
		return errors.Join(p.DoShare(context.Background(), k, s.n, s.w.line(job, nil)), p.Close())
	})
}

func diskJoined(out commit.Output, o commit.UnitOptions, lock bool) (p *commit.Prepared, job string, err error) {
	plan, err := commit.ReadPlan(&out)
	if err != nil {
		return nil, "", err
	}
	p, err = commit.Join(out, o, plan, lock)
	return p, string(plan.With), err
}

// finish tells whether the plan of the job at hand was finished.
func (s *diskShardsHistory) finish() bool {
	job := ""
	err := s.start("finish", func(out commit.Output, o commit.UnitOptions) error {
		p, of, err := diskJoined(out, o, true)
		if err != nil {
			return err
		}
		job = of
		_, err = p.Commit(context.Background())
		return errors.Join(err, p.Close())
	})
	return err == nil && job == strconv.Itoa(len(s.jobs))
}

// history draws what happens, until a finisher has ended well and nobody is left.
func (s *diskShardsHistory) history() error {
	s.n = 1 + s.rng.IntN(4)
	s.w.disk.Start(diskFault{})
	if s.rng.IntN(2) == 0 {
		s.jobs = []diskJob{{AtOnce: 1, Months: []diskMonth{{Number: 1}, {Number: 2}, {Number: 3}}}}
		if err := s.w.run(s.job()); err != nil {
			return err
		}
		diskAddParts(s.parts, diskOutputs(s.w.disk))
	}
	version := s.rng.IntN(2)
	for k := range 1 + s.rng.IntN(2) {
		s.jobs = append(s.jobs, diskJob{AtOnce: 1 + s.rng.IntN(2), Months: []diskMonth{{Number: 2, Version: version + k}, {Number: 4 + k}, {Number: 6 + k}}})
		if err := s.untilFinished(); err != nil {
			return err
		}
	}
	return s.end()
}

// untilFinished plans a job and does what it can.
func (s *diskShardsHistory) untilFinished() (err error) {
	if s.want, _, err = diskReplay(s.jobs); err != nil {
		return err
	}
	diskAddParts(s.parts, s.want)
	s.Jobs++
	for turns := 0; turns < 1000; turns++ {
		switch k := s.rng.IntN(20); {
		case turns == 0 || k == 0:
			_ = s.plan()
		case k < 10:
			_ = s.shard(s.rng.IntN(s.n))
		case k < 14:
			s.thawOne()
		case k == 14 && s.rng.IntN(2) == 0:
			if err := s.lose(); err != nil {
				return err
			}
		case s.finish():
			return s.same("finish ended well, and the trees are not those of one run")
		}
	}
	return errors.New("it never ends")
}

func (s *diskShardsHistory) same(what string) (err error) {
	if bad := diskDiffers(diskOutputs(s.w.disk), s.want); bad != "" {
		err = fmt.Errorf("%s: %s", what, bad)
	}
	return err
}

// end checks the trees again when all who stopped before have gone on. A planner that had
// not begun plans again, as anybody may; then the plan is done once more.
func (s *diskShardsHistory) end() error {
	if s.rng.IntN(3) == 0 {
		if err := errors.Join(s.lose(), s.same("a finish that had ended well lost something with the power")); err != nil {
			return err
		}
	}
	again := false
	for len(s.frozen) > 0 {
		again = strings.HasPrefix(s.thawOne(), "plan") || again
		if bad := diskUnsound(s.w.disk, s.parts, ""); bad != "" {
			return errors.New("a process that went on after the end did harm: " + bad)
		}
		if again {
			continue
		}
		if err := s.same("a process that went on after the end changed the trees"); err != nil {
			return err
		}
	}
	if s.calm = again; !again {
		return nil
	}
	err := s.plan()
	for k := range s.n {
		err = errors.Join(err, s.shard(k))
	}
	if err != nil || !s.finish() {
		return fmt.Errorf("when all is calm a plan cannot be finished: %w", err)
	}
	return s.same("finish ended well when all was calm, and the trees are not those of one run")
}
