package fence

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// WorkerArgument is the only argument of a process that is a decode worker. A
// program that uses a Fence calls Work at its very start when it finds it:
//
//	if len(os.Args) == 2 && os.Args[1] == read.WorkerArgument {
//		os.Exit(read.Work(os.Stdin, os.Stdout))
//	}
const WorkerArgument = "decode-worker"

// workerVariable marks a worker's environment and holds its memory limit. It
// is the whole environment.
const workerVariable = "VELUM_DECODE_WORKER"

// workerRequest asks for the layout of a file or for the notes of some of its
// row groups.
type workerRequest struct {
	Path     []byte // as the system has it, which may be no UTF-8
	From, To int
	Options  input.Options // without key: the owner makes the ids
}

func newWorkerRequest(path string, o input.Options) *workerRequest {
	o.Key, o.IDs, o.Opaque, o.Only = nil, input.KeepIDs, false, nil
	if len(o.ID) == 0 { // the owner counts rows
		o.IDs = input.DropIDs
	}
	return &workerRequest{Path: []byte(path), Options: o}
}

// opened is the worker's first answer to a request for notes: which row groups follow, and of which file.
type opened struct {
	First  int64
	Groups []int64        // rows of each row group
	File   input.Identity // that is open
}

// workerFailure is an error on its way to the owner.
type workerFailure struct {
	Damage *commit.DamageError `json:",omitempty"`
	Schema *input.SchemaError  `json:",omitempty"`
	Other  string              `json:",omitempty"`
}

func failureOf(err error) (f workerFailure) {
	f.Damage, _ = errors.AsType[*commit.DamageError](err)
	f.Schema, _ = errors.AsType[*input.SchemaError](err)
	f.Other = input.Cause(err)
	if errors.Is(err, fs.ErrNotExist) { // since it was listed: as a file that cannot be read, and tried again
		f.Damage = input.Unread("", f.Other)
	}
	return f
}

// error is the inverse of failureOf.
func (f *workerFailure) error(path string) error {
	if d := f.Damage; d != nil {
		return &commit.DamageError{Path: path, RowGroup: max(d.RowGroup, -1), Column: plainWords(d.Column), Cause: plainWords(d.Cause),
			Unread: d.Unread}
	}
	if s := f.Schema; s != nil {
		return &input.SchemaError{Path: path, Column: plainWords(s.Column), Cause: plainWords(s.Cause), Remedy: plainWords(s.Remedy)}
	}
	return &input.Error{Path: path, Cause: plainWords(f.Other), Remedy: "check the path and its permissions"}
}

// plainWords replaces a message of a broken worker that must not stand in a log line.
func plainWords(s string) string {
	if !input.PlainName(s, 2000) {
		return "unreadable words of the decode worker"
	}
	return s
}

// worker is the state of this process when it is a decode worker.
type decodeWorker struct {
	in, out *os.File
	request []byte // buffers of frames
	answer  []byte
}

// plant is called before each step on a file, so that tests can cause faults there.
var plant = func(step, path string) {}

// Work is the main function of a worker: it answers requests until its input ends, and returns the exit code. It
// changes resource limits of the whole process.
func Work(in, out *os.File) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // its owner decides when it ends
	memory, err := strconv.ParseInt(os.Getenv(workerVariable), 10, 64)
	if err != nil || memory <= 0 {
		return 3
	}
	if confine(memory) != nil {
		return 4
	}
	debug.SetMemoryLimit(memory / 4 * 3)
	debug.SetTraceback("none")
	orphaned(os.Getppid())
	w := decodeWorker{in: in, out: out}
	if w.send(sealFrame(beginFrame(w.answer), helloFrame)) != nil {
		return 5
	}
	for {
		kind, payload, buf, err := readFrame(in, w.request)
		w.request = buf
		if err == io.EOF {
			return 0
		}
		if err == nil {
			err = w.serve(kind, payload)
		}
		if err != nil {
			return 6
		}
	}
}

// orphaned ends the process soon after its owner: one that is caught in a
// loop would not see that its pipes are closed.
func orphaned(owner int) {
	if os.Getppid() != owner {
		os.Exit(7)
	}
	time.AfterFunc(time.Second, func() { orphaned(owner) })
}

// serve answers one request. An error means that the owner is not there.
func (w *decodeWorker) serve(kind frameKind, payload []byte) error {
	var r workerRequest
	if err := json.Unmarshal(payload, &r); err != nil {
		return errFrame
	}
	var err error
	switch kind {
	case inspectFrame:
		err = w.inspect(&r)
	case openFrame:
		err = w.open(&r)
	default:
		return errFrame
	}
	if gone, ok := errors.AsType[*ownerGone](err); ok {
		return gone
	}
	if err != nil {
		return w.sendJSON(failFrame, failureOf(err))
	}
	return nil
}

func (w *decodeWorker) inspect(r *workerRequest) error {
	plant("inspect", string(r.Path))
	l, err := parquet.Inspect(string(r.Path), &r.Options)
	if err != nil {
		return err
	}
	return w.sendJSON(layoutFrame, l)
}

func (w *decodeWorker) open(r *workerRequest) error {
	plant("open", string(r.Path))
	p, err := parquet.New(string(r.Path), r.From, r.To, r.Options)
	if err != nil {
		return err
	}
	defer p.Close() // only read
	info, err := p.Stat()
	if err != nil {
		return err
	}
	if err := w.sendJSON(openedFrame, opened{p.First(), p.GroupRows(), input.Identify(info)}); err != nil {
		return err
	}
	var b pipeline.Batch
	for {
		plant("batch", string(r.Path))
		b.Reset()
		ids, err := p.Decode(&b)
		if err == io.EOF {
			if info, err = p.Stat(); err != nil {
				return err
			}
			return w.sendJSON(endFrame, input.Identify(info))
		}
		if err != nil {
			return err
		}
		w.answer = appendBatch(beginFrame(w.answer), &b, ids)
		if len(w.answer) > maxFrame {
			return &commit.DamageError{Path: string(r.Path), RowGroup: -1, Column: r.Options.Text,
				Cause: "has columns beside the text that are too large to pass through"}
		}
		if err := w.send(sealFrame(w.answer, batchFrame)); err != nil {
			return err
		}
	}
}

// ownerGone is the error that the process which started this worker does not read its answers any more.
type ownerGone struct{ error }

func (w *decodeWorker) send(frame []byte) error {
	w.answer = frame
	if _, err := w.out.Write(frame); err != nil {
		return &ownerGone{err}
	}
	return nil
}

func (w *decodeWorker) sendJSON(kind frameKind, v any) error {
	frame, err := jsonFrame(w.answer, kind, v)
	if err != nil {
		return err
	}
	if len(frame) > maxFrame {
		return input.Damage("", "says more of itself than a worker may send")
	}
	return w.send(frame)
}
