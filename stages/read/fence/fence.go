// Package fence decodes Parquet in worker processes, so that a damaged file can crash a worker but not the run. It
// takes a unit and returns a pipeline.Source equal to that of package parquet, after checking what the worker sends.
package fence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// A Fence manages the worker processes. A damaged file can make the Parquet library panic in a goroutine where nobody
// can recover, allocate all memory, or never return; then only the worker dies. Its work becomes a *commit.DamageError,
// and the next file is decoded by a new worker.
//
// Workers are this same program, started again with WorkerArgument, an empty
// environment and a memory limit. They read inputs, write no file, and see no
// key. There are as many as units that are open at once; they live until
// Close. What they send is checked before it is used.
//
// Ruled out: recover alone (it survived none of these failures), and a goroutine with debug.SetMemoryLimit (a soft
// limit: the process dies).
type Fence struct {
	o     Options
	mu    sync.Mutex // guards idle and shut
	idle  []*fenceWorker
	shut  bool
	begun atomic.Int64
	died  atomic.Int64
}

// Options holds the options of a Fence. The zero value works.
type Options struct {
	Memory int64 // bytes that a worker may take; 0 means 1 GiB
	// Timeout is the processor time that a worker may use without an answer before it is ended; 0 means 10 s. A worker
	// that waits for a slow disk or is stopped uses none; it is given up after Patience, in real time; 0 means 10
	// minutes.
	Timeout, Patience time.Duration
	Ended             <-chan struct{} // closed when nobody waits any more; may be nil
}

// New returns a Fence. Workers are started when they are needed.
func New(o Options) *Fence {
	o.Memory = cmp.Or(o.Memory, 1<<30)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Patience = cmp.Or(o.Patience, 10*time.Minute)
	return &Fence{o: o}
}

// Workers returns how many workers were started, and how many of them died or were killed because they did not answer.
func (f *Fence) Workers() (started, died int64) { return f.begun.Load(), f.died.Load() }

// Close ends the idle workers, and the busy ones when they become idle.
func (f *Fence) Close() error {
	f.mu.Lock()
	idle := f.idle
	f.idle, f.shut = nil, true
	f.mu.Unlock()
	for _, w := range idle {
		w.end()
	}
	return nil
}

// Inspect reads the footer of a file as parquet.Inspect does, in a worker.
func (f *Fence) Inspect(path string, o *input.Options) (*parquet.Layout, error) {
	var l parquet.Layout
	w, err := f.ask(path, inspectFrame, newWorkerRequest(path, *o), layoutFrame, &l)
	if err != nil {
		return nil, err
	}
	f.give(w)
	return &l, nil
}

// ask sends a request to a free worker and reads the answer. If there is no
// error the worker stays with the caller. A worker that was killed from
// outside is not the fault of the file: another one is asked.
func (f *Fence) ask(path string, ask frameKind, request any, want frameKind, answer any) (*fenceWorker, error) {
	for try := 1; ; try++ {
		w, err := f.take()
		if err != nil {
			return nil, fmt.Errorf("decode worker: %w", err)
		}
		kind, payload, err := w.call(ask, request)
		if err == nil {
			switch {
			case kind == want && json.Unmarshal(payload, answer) == nil:
				return w, nil
			case kind == failFrame:
				err := failed(payload, path)
				f.give(w)
				return nil, err
			}
			err = errFrame
		}
		killed, unread := f.bury(w, &err)
		if killed && try < tries {
			continue
		}
		return nil, &commit.DamageError{Path: path, RowGroup: -1, Cause: err.Error(), Unread: unread}
	}
}

// failed is the error that a worker tells of; damage if it is none.
func failed(payload []byte, path string) error {
	f := workerFailure{Damage: input.Damage("", "the decode worker failed")}
	if sent := (workerFailure{}); json.Unmarshal(payload, &sent) == nil {
		f = sent
	}
	return f.error(path)
}

// tries is how many workers may be killed from outside at one request, or one
// unit, before the file is held to be the cause: the kernel kills as well when
// the machine has no memory left.
const tries = 4

// take returns an idle worker or a new one.
func (f *Fence) take() (*fenceWorker, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		w := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return w, nil
	}
	if f.shut {
		return nil, os.ErrClosed
	}
	w, err := startWorker(&f.o)
	if err == nil {
		f.begun.Add(1)
	}
	return w, err
}

// give takes back a worker that has nothing left to say.
func (f *Fence) give(w *fenceWorker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		w.end()
		return
	}
	f.idle = append(f.idle, w)
}

// bury ends a worker that cannot go on, says in *err why, and tells whether
// somebody else killed it, and whether the file may be sound for all that is
// known: who had no time or was killed has said nothing of it.
func (f *Fence) bury(w *fenceWorker, err *error) (killed, unread bool) {
	f.died.Add(1)
	cause := *err
	if errors.Is(cause, errStalled) || errors.Is(cause, os.ErrClosed) { // it may hang in the system: nobody waits for its end
		w.leave()
		return false, true
	}
	status, memory := w.end()
	switch {
	case errors.Is(cause, errLate):
		*err = fmt.Errorf("the decode worker took %v of processor time for no answer and was ended", f.o.Timeout)
		return false, true
	case errors.Is(cause, errFrame):
		*err = errors.New("the decode worker gave an answer that is not sound")
	case memory:
		*err = fmt.Errorf("the decode worker needed more than its %d MiB of memory", f.o.Memory>>20)
	case status.Signaled():
		*err = fmt.Errorf("the decode worker was ended by signal %d", status.Signal())
		killed = status.Signal() == syscall.SIGKILL
		return killed, killed
	default:
		*err = fmt.Errorf("the decode worker crashed with exit code %d", status.ExitStatus())
	}
	return false, false
}

// fenceWorker is a worker as its owner sees it.
type fenceWorker struct {
	cmd       *exec.Cmd
	in        *os.File // requests
	out, errs *os.File // answers; last words
	o         *Options
	buf       []byte
	frame     []byte
}

// startWorker starts a worker and waits until it is there.
func startWorker(o *Options) (*fenceWorker, error) {
	if os.Getenv(workerVariable) != "" {
		return nil, errors.New("a worker starts no workers")
	}
	program, err := thisProgram()
	if err != nil {
		return nil, errors.New("this program's file cannot be found")
	}
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	if err != nil {
		closeAll(files)
		return nil, err
	}
	widen(outR)
	w := &fenceWorker{in: inW, out: outR, errs: errR, o: o}
	w.cmd = &exec.Cmd{
		Path: program, Args: []string{os.Args[0], WorkerArgument}, Env: []string{workerVariable + "=" + strconv.FormatInt(o.Memory, 10)},
		Stdin: inR, Stdout: outW, Stderr: errW,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, // signals of a terminal are for the owner
	}
	last := errW.Fd()
	if err := w.cmd.Start(); err != nil {
		closeAll(files)
		return nil, err
	}
	// A crash may print any number of goroutines: what the pipe cannot hold is
	// lost, and nobody waits.
	_ = syscall.SetNonblock(int(last), true)
	closeAll([]*os.File{inR, outW, errW})
	kind, _, err := w.read()
	if err != nil || kind != helloFrame {
		return nil, w.unstarted(err)
	}
	return w, nil
}

// unstarted ends a worker that has not said that it is there, and tells why as
// far as it is known. Whoever stops a run often signals all its processes, and one
// that is just starting does not yet ignore it: its owner is given a moment to
// hear it, too.
func (w *fenceWorker) unstarted(err error) error {
	status, memory := w.end()
	if w.wasEnded(status) {
		return fmt.Errorf("it did not start: %w", context.Canceled)
	}
	switch {
	case errors.Is(err, errStalled) || errors.Is(err, errLate):
		return fmt.Errorf("it did not start: %w", err)
	case memory:
		return errors.New("it did not start: the machine had no memory or no thread for it")
	case status.Signaled():
		return fmt.Errorf("it did not start: ended by signal %d", status.Signal())
	default:
		return fmt.Errorf("it did not start: exit code %d", status.ExitStatus())
	}
}

// wasEnded tells whether nobody waits for a worker of this end any more.
func (w *fenceWorker) wasEnded(status syscall.WaitStatus) bool {
	moment := time.Duration(0)
	if status.Signaled() {
		switch status.Signal() {
		case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
			moment = endedWait
		}
	}
	select {
	case <-w.o.Ended:
		return true
	default:
	}
	select {
	case <-w.o.Ended:
		return true
	case <-time.After(moment):
		return false
	}
}

// endedWait is how long the owner of a worker that was told to end may take to
// hear that it was told, too.
const endedWait = 2 * time.Second

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// call sends a request and reads the first answer.
func (w *fenceWorker) call(kind frameKind, request any) (frameKind, []byte, error) {
	frame, err := jsonFrame(w.frame, kind, request)
	if err != nil {
		return 0, nil, err
	}
	w.frame = frame
	if err := w.in.SetWriteDeadline(time.Now().Add(w.o.Patience)); err != nil {
		return 0, nil, err
	}
	if _, err := w.in.Write(frame); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = errStalled
		}
		return 0, nil, err
	}
	return w.read()
}

// read reads an answer, which is valid until the next.
func (w *fenceWorker) read() (frameKind, []byte, error) {
	kind, payload, buf, err := readFrame(&reply{w: w}, w.buf)
	w.buf = buf
	return kind, payload, err
}

var (
	errLate    = errors.New("the decode worker works and does not answer")
	errStalled = errors.New("the decode worker neither works nor answers: it was stopped, or the disk stands still")
)

// reply reads an answer and waits for it as long as there is hope.
type reply struct {
	w      *fenceWorker
	waited time.Duration // in which nothing came
	worked time.Duration // that the worker had worked when the waiting began
}

// waitStep is how often a wait is thought over. A process that was stopped
// itself counts one step and not the hours.
const waitStep = 200 * time.Millisecond

// Read implements io.Reader.
func (r *reply) Read(p []byte) (int, error) {
	for {
		if err := r.w.out.SetReadDeadline(time.Now().Add(waitStep)); err != nil {
			return 0, err
		}
		n, err := r.w.out.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := r.late(); err != nil {
			return 0, err
		}
	}
}

// late thinks a wait over.
func (r *reply) late() error {
	worked, err := processTime(r.w.cmd.Process.Pid)
	if err != nil {
		worked = r.worked + r.waited // no such clock here: that of the wall
	}
	if r.waited == 0 {
		r.worked = worked
	}
	r.waited += waitStep
	select {
	case <-r.w.o.Ended:
		return os.ErrClosed
	default:
	}
	switch {
	case worked-r.worked > r.w.o.Timeout:
		return errLate
	case r.waited > r.w.o.Patience:
		return errStalled
	}
	return nil
}

// leave kills the process and does not wait until it is gone.
func (w *fenceWorker) leave() {
	_ = w.cmd.Process.Kill()
	closeAll([]*os.File{w.in, w.out, w.errs})
}

// end ends the process, whatever it does, and tells how it ended, and whether
// it ended for want of memory. Its last words go no further: the message of a
// panic may quote what was being decoded.
func (w *fenceWorker) end() (status syscall.WaitStatus, memory bool) {
	_ = w.cmd.Process.Kill() // if it has ended already, its own status counts
	_ = w.cmd.Wait()         // the status tells
	if w.cmd.ProcessState != nil {
		status, _ = w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	}
	var words [512]byte
	_ = w.errs.SetReadDeadline(time.Now().Add(time.Second))
	n, _ := io.ReadFull(w.errs, words[:])
	closeAll([]*os.File{w.in, w.out, w.errs})
	return status, wantOfMemory(string(words[:n]))
}

// wantOfMemory tells whether a process that ended with these words had no memory
// left. A thread fails for want of a stack; Go says so in several ways, and in
// one it says nothing: the collector of Go 1.26 takes the memory of its queue of
// spans for there and falls over it (runtime/mgcmark_greenteagc.go, newSpanSPMC).
func wantOfMemory(words string) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread",
		"cannot remap pages", "cannot map pages", "failed to reserve", "thread exhaustion", "runtime.(*spanQueue)"} {
		if strings.Contains(words, sign) {
			return true
		}
	}
	return false
}

// fenced reads the notes of a unit from a worker. It is a pipeline.Source.
type fenced struct {
	fence   *Fence
	w       *fenceWorker // nil before and after
	unit    *commit.Unit
	o       *input.Options
	extra   []pipeline.Column
	naming  input.Naming
	ids     []pipeline.Bytes
	groups  []int64
	done    int64 // notes delivered
	batches int   // delivered
	killed  int   // workers that somebody else killed

	still func(input.Identity) error // checks that the file is what was hashed
}

// Open opens a unit in a worker.
func (f *Fence) Open(u *commit.Unit, o *input.Options, extra []pipeline.Column, still func(input.Identity) error) (*fenced, error) {
	s := &fenced{fence: f, unit: u, o: o, extra: extra, naming: input.NewNaming(o), ids: make([]pipeline.Bytes, len(o.ID)), still: still}
	return s, s.begin()
}

func (f *fenced) begin() error {
	request := newWorkerRequest(f.unit.Input, *f.o)
	request.From, request.To = int(f.unit.From), int(f.unit.To)
	var have opened
	w, err := f.fence.ask(f.unit.Input, openFrame, request, openedFrame, &have)
	if err != nil {
		return err
	}
	f.w = w
	if err := f.still(have.File); err != nil {
		return errors.Join(err, f.Close())
	}
	rows := int64(0)
	for _, n := range have.Groups {
		if n < 0 || n > f.unit.Rows {
			rows = -1
			break
		}
		rows += n
	}
	if rows != f.unit.Rows || have.First != f.unit.First || int64(len(have.Groups)) != f.unit.To-f.unit.From {
		return errors.Join(f.damage("is not what it was when the run was planned", true), f.Close())
	}
	f.groups = have.Groups
	return nil
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (f *fenced) Next(b *pipeline.Batch) error {
	if f.w == nil {
		return io.EOF
	}
	kind, payload, err := f.w.read()
	if err == nil {
		switch kind {
		case batchFrame:
			if err = f.batch(payload, b); err == nil {
				return nil
			}
			b.Reset()
		case endFrame:
			var file input.Identity
			if err = json.Unmarshal(payload, &file); err == nil {
				return f.end(file)
			}
			err = errFrame
		case failFrame:
			err := failed(payload, f.unit.Input)
			if damage, ok := errors.AsType[*commit.DamageError](err); ok && damage.RowGroup < 0 {
				damage.RowGroup = f.group()
			}
			f.fence.give(f.w)
			f.w = nil
			return err
		default:
			err = errFrame
		}
	}
	killed, unread := f.fence.bury(f.w, &err)
	f.w = nil
	if f.killed++; killed && f.killed < tries {
		return f.again(b)
	}
	return f.damage(err.Error(), unread)
}

// again goes on in another worker, where the one that was killed stopped:
// batches are always cut in the same way.
func (f *fenced) again(b *pipeline.Batch) error {
	if err := f.begin(); err != nil {
		return err
	}
	for range f.batches {
		if kind, _, err := f.w.read(); err != nil || kind != batchFrame {
			err = cmp.Or(err, errFrame)
			_, unread := f.fence.bury(f.w, &err)
			f.w = nil
			return f.damage(err.Error(), unread)
		}
	}
	return f.Next(b)
}

// batch takes a batch apart, which must be one that can come here.
func (f *fenced) batch(payload []byte, b *pipeline.Batch) error {
	input.ReadyColumns(b, f.extra)
	limits := batchLimits{notes: f.o.BatchNotes, bytes: f.o.BatchBytes, text: f.o.MaxText}
	if err := parseBatch(payload, b, f.ids, limits); err != nil {
		return err
	}
	if f.done+int64(b.Len()) > f.unit.Rows {
		return errFrame
	}
	b.First = f.unit.First + f.done
	f.naming.Name(b, f.ids)
	f.done += int64(b.Len())
	f.batches++
	return nil
}

func (f *fenced) end(file input.Identity) error {
	f.fence.give(f.w)
	f.w = nil
	if err := f.still(file); err != nil {
		return err
	}
	if f.done != f.unit.Rows {
		return f.damage(fmt.Sprintf("%d rows read, the footer says %d", f.done, f.unit.Rows), false)
	}
	return io.EOF
}

// group returns the row group that the next note is in, -1 if there is none.
func (f *fenced) group() int {
	at := f.done
	for i, n := range f.groups {
		if at < n {
			return int(f.unit.From) + i
		}
		at -= n
	}
	return -1
}

func (f *fenced) damage(cause string, unread bool) error {
	return &commit.DamageError{Path: f.unit.Input, RowGroup: f.group(), Cause: cause, Unread: unread}
}

// Close ends the reading. A worker with unread output is not used again.
func (f *fenced) Close() error {
	if f.w != nil {
		f.w.end()
		f.w = nil
	}
	return nil
}
