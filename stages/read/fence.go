package read

import (
	"cmp"
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
)

// A Fence decodes Parquet in processes of its own. A damaged file can make the
// library panic in a goroutine that nobody can recover, take all memory, or
// never come back; then a worker ends and not the run. Its work becomes a
// *pipeline.DamageError, and the next one begins in a new worker.
//
// Workers are this same program, started again with WorkerArgument, an empty
// environment and a memory limit. They read inputs, write no file, and see no
// key. There are as many as units that are open at once; they live until
// Close. What they send is checked before it is used.
//
// Tried before: recover alone (0 of the deaths above), and a goroutine with
// debug.SetMemoryLimit (it is a soft limit: the process dies).
type Fence struct {
	o     FenceOptions
	mu    sync.Mutex // guards idle and shut
	idle  []*fenceWorker
	shut  bool
	begun atomic.Int64
	died  atomic.Int64
}

// FenceOptions are the choices of a Fence. The zero value works.
type FenceOptions struct {
	Memory  int64         // bytes that a worker may take; 0 means 1 GiB
	Timeout time.Duration // without an answer after which a worker is ended; 0 means 10 s
}

// NewFence makes a fence. Workers start when they are needed.
func NewFence(o FenceOptions) *Fence {
	o.Memory = cmp.Or(o.Memory, 1<<30)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	return &Fence{o: o}
}

// Workers returns how many workers were started and how many of them died or
// were ended because they did not answer.
func (f *Fence) Workers() (started, died int64) { return f.begun.Load(), f.died.Load() }

// Close ends the workers that are idle, and the others when they are.
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

// inspect is what inspect does, in a worker.
func (f *Fence) inspect(path string, o *ParquetOptions) (*layout, error) {
	var l layout
	w, err := f.ask(path, inspectFrame, newWorkerRequest(path, o), layoutFrame, &l)
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
				err := parseFailure(payload).error(path)
				f.give(w)
				return nil, err
			}
			err = errFrame
		}
		if killed := f.bury(w, &err); killed && try < tries {
			continue
		}
		return nil, &pipeline.DamageError{Path: path, RowGroup: -1, Cause: err.Error()}
	}
}

func parseFailure(payload []byte) *workerFailure {
	var f workerFailure
	if json.Unmarshal(payload, &f) != nil {
		return &workerFailure{Kind: "damage", RowGroup: -1, Cause: "the decode worker failed"}
	}
	return &f
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
// somebody else killed it.
func (f *Fence) bury(w *fenceWorker, err *error) (killed bool) {
	f.died.Add(1)
	late := errors.Is(*err, os.ErrDeadlineExceeded)
	broken := errors.Is(*err, errFrame)
	status, memory := w.end()
	switch {
	case late:
		*err = fmt.Errorf("the decode worker gave no answer in %v and was ended", f.o.Timeout)
	case broken:
		*err = errors.New("the decode worker gave an answer that is not sound")
	case memory:
		*err = fmt.Errorf("the decode worker needed more than its %d MiB of memory", f.o.Memory>>20)
	case status.Signaled():
		*err = fmt.Errorf("the decode worker was ended by signal %d", status.Signal())
		return status.Signal() == syscall.SIGKILL
	default:
		*err = fmt.Errorf("the decode worker crashed with exit code %d", status.ExitStatus())
	}
	return false
}

// fenceWorker is a worker as its owner sees it.
type fenceWorker struct {
	cmd       *exec.Cmd
	in        *os.File // requests
	out, errs *os.File // answers; last words
	timeout   time.Duration
	buf       []byte
	frame     []byte
}

// startWorker starts a worker and waits until it is there.
func startWorker(o *FenceOptions) (*fenceWorker, error) {
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
	w := &fenceWorker{in: inW, out: outR, errs: errR, timeout: o.Timeout}
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
	kind, _, err := w.read(max(o.Timeout, 30*time.Second))
	if err != nil || kind != helloFrame {
		w.end()
		return nil, errors.New("it did not start")
	}
	return w, nil
}

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
	if err := w.in.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, nil, err
	}
	if _, err := w.in.Write(frame); err != nil {
		return 0, nil, err
	}
	return w.read(w.timeout)
}

// read reads an answer, which is valid until the next.
func (w *fenceWorker) read(timeout time.Duration) (frameKind, []byte, error) {
	if err := w.out.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return 0, nil, err
	}
	kind, payload, buf, err := readFrame(w.out, w.buf)
	w.buf = buf
	return kind, payload, err
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

// wantOfMemory tells whether a process that ended with these words had no
// memory left. A thread fails for want of a stack; with and without cgo Go
// says so in other words.
func wantOfMemory(words string) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"} {
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
	unit    *pipeline.Unit
	o       *ParquetOptions
	extra   []pipeline.Column
	naming  naming
	ids     []pipeline.Bytes
	groups  []int64
	done    int64 // notes delivered
	batches int   // delivered
	killed  int   // workers that somebody else killed
}

// open opens a unit in a worker.
func (f *Fence) open(u *pipeline.Unit, o *ParquetOptions, extra []pipeline.Column) (*fenced, error) {
	s := &fenced{fence: f, unit: u, o: o, extra: extra, naming: newNaming(o), ids: make([]pipeline.Bytes, len(o.ID))}
	return s, s.begin()
}

func (s *fenced) begin() error {
	request := newWorkerRequest(s.unit.Input, s.o)
	request.From, request.To = int(s.unit.From), int(s.unit.To)
	var have opened
	w, err := s.fence.ask(s.unit.Input, openFrame, request, openedFrame, &have)
	if err != nil {
		return err
	}
	s.w = w
	rows := int64(0)
	for _, n := range have.Groups {
		if n < 0 || n > s.unit.Rows {
			rows = -1
			break
		}
		rows += n
	}
	if rows != s.unit.Rows || have.First != s.unit.First || int64(len(have.Groups)) != s.unit.To-s.unit.From {
		return errors.Join(s.damage("is not what it was when the run was planned"), s.Close())
	}
	s.groups = have.Groups
	return nil
}

// Next implements pipeline.Source. Errors are *pipeline.DamageError.
func (s *fenced) Next(b *pipeline.Batch) error {
	if s.w == nil {
		return io.EOF
	}
	kind, payload, err := s.w.read(s.w.timeout)
	if err == nil {
		switch kind {
		case batchFrame:
			if err = s.batch(payload, b); err == nil {
				return nil
			}
			b.Reset()
		case endFrame:
			return s.end()
		case failFrame:
			err := parseFailure(payload).error(s.unit.Input)
			if damage, ok := errors.AsType[*pipeline.DamageError](err); ok && damage.RowGroup < 0 {
				damage.RowGroup = s.group()
			}
			s.fence.give(s.w)
			s.w = nil
			return err
		default:
			err = errFrame
		}
	}
	killed := s.fence.bury(s.w, &err)
	s.w = nil
	if s.killed++; killed && s.killed < tries {
		return s.again(b)
	}
	return s.damage(err.Error())
}

// again goes on in another worker, where the one that was killed stopped:
// batches are always cut in the same way.
func (s *fenced) again(b *pipeline.Batch) error {
	if err := s.begin(); err != nil {
		return err
	}
	for range s.batches {
		if kind, _, err := s.w.read(s.w.timeout); err != nil || kind != batchFrame {
			err = cmp.Or(err, errFrame)
			s.fence.bury(s.w, &err)
			s.w = nil
			return s.damage(err.Error())
		}
	}
	return s.Next(b)
}

// batch takes a batch apart, which must be one that can come here.
func (s *fenced) batch(payload []byte, b *pipeline.Batch) error {
	s.columns(b)
	limits := batchLimits{notes: s.o.BatchNotes, bytes: s.o.BatchBytes, text: s.o.MaxText}
	if err := parseBatch(payload, b, s.ids, limits); err != nil {
		return err
	}
	if s.done+int64(b.Len()) > s.unit.Rows {
		return errFrame
	}
	b.First = s.unit.First + s.done
	s.naming.name(b, s.ids)
	s.done += int64(b.Len())
	s.batches++
	return nil
}

// columns gives the columns of a batch their names and kinds.
func (s *fenced) columns(b *pipeline.Batch) {
	same := len(b.Extra) == len(s.extra)
	for i := 0; same && i < len(b.Extra); i++ {
		same = b.Extra[i].Name == s.extra[i].Name && b.Extra[i].Kind == s.extra[i].Kind
	}
	if same {
		return
	}
	b.Extra = b.Extra[:0]
	for _, c := range s.extra {
		b.Extra = append(b.Extra, pipeline.Column{Name: c.Name, Kind: c.Kind})
	}
}

func (s *fenced) end() error {
	s.fence.give(s.w)
	s.w = nil
	if s.done != s.unit.Rows {
		return s.damage(fmt.Sprintf("%d rows read, the footer says %d", s.done, s.unit.Rows))
	}
	return io.EOF
}

// group returns the row group that the next note is in, -1 if there is none.
func (s *fenced) group() int {
	at := s.done
	for i, n := range s.groups {
		if at < n {
			return int(s.unit.From) + i
		}
		at -= n
	}
	return -1
}

func (s *fenced) damage(cause string) error {
	return &pipeline.DamageError{Path: s.unit.Input, RowGroup: s.group(), Cause: cause}
}

// Close ends the reading. A worker that has more to say cannot be used again.
func (s *fenced) Close() error {
	if s.w != nil {
		s.w.end()
		s.w = nil
	}
	return nil
}
