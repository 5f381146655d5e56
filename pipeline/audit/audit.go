// Package audit keeps the audit log: who did what with velum, one JSON object per line. Every line holds the SHA-256 of
// the line before it, so that no line can be changed, removed, inserted or moved unnoticed. The hash of the last line,
// the head, stands for the whole log and can be noted elsewhere. Every line also ends in a SHA-256 of itself ("sum"),
// which shows whether a line itself or its neighbour was changed.
//
//	{"n":2,"prev":"5e1c…","time":"2026-01-02T03:04:05Z","uid":990,"user":"velum","event":"unit",…,"sum":"9af0…"}
//
// prev is the output of sha256sum for the line before, including its newline:
//
//	tail -n 1 audit.jsonl | sha256sum        # the head
//
// A hash chain without a secret cannot reveal that somebody has rewritten the whole file or cut off its last lines;
// comparing with the noted head does.
//
// Unlike all else in an output tree, the log holds times and users, so it differs between equal runs and no manifest
// lists it. It is in a folder of the private tree whose name begins with "_", which recovery does not touch, and
// [commit.Check] verifies its chain instead of a checksum.
package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Name is the path of the log below the private tree.
const Name = auditDir + "/audit.jsonl"

// LogIn returns the path of the log of a private tree.
func LogIn(private string) string { return filepath.Join(private, Name) }

const (
	auditDir = "_audit"
	fileMode = 0o600 // its owner's alone, as all of a tree is
)

// Entry is one event in the log. It must not hold text or the id of a note, nor a path, which can name a month.
type Entry struct {
	// start, unit, found (a unit that was done, but had no line yet), end, plan, shard (the head of the log of a share), forget (a unit or
	// a patient that was removed), object (a patient who is left out from now on), takeback (a patient who is left out no more), read (a
	// sample, by people), adjudicate (which of several readings stands), stand (what singles somebody out and somebody who read it lets
	// stand), release (an extract, before its commit), evidence (a dossier, or that it was signed), promote, rollback
	Event  string         `json:"event"`
	Run    string         `json:"run,omitempty"`            // name of the plan
	Unit   string         `json:"unit,omitempty"`           // name of the unit
	Config string         `json:"config_sha256,omitempty"`  // hash of everything that shapes the output, as hexadecimal digits
	Model  string         `json:"model_sha256,omitempty"`   // SHA-256 of the model file, the same
	Policy string         `json:"policy,omitempty"`         // name of the masking policy; what the policy says is part of Config
	Key    string         `json:"key_id,omitempty"`         // id of the key
	Counts *commit.Counts `json:"counts,omitempty"`         // how many notes were masked, quarantined and so on
	Units  int            `json:"units,omitempty"`          // of an end: units done
	Reused int            `json:"units_reused,omitempty"`   // of an end: units that were done before
	Exit   *int           `json:"exit,omitempty"`           // of an end: exit code
	Check  bool           `json:"output_checked,omitempty"` // of an end: every byte of what was done before was compared with the manifest
	Read   *Reading       `json:"read,omitempty"`           // of a read: the reading
	Mark   string         `json:"patient_mark,omitempty"`   // of a forget, object or takeback: keyed mark of the patient, see Forgotten.Mark
	Shard  string         `json:"shard,omitempty"`          // of a shard: file of the share's log
	Head   string         `json:"shard_head,omitempty"`     // of a shard: hash of the last line of that log

	Release  *Release   `json:"release,omitempty"`  // of a release: what was released
	Evidence *Evidence  `json:"evidence,omitempty"` // of an evidence: the dossier
	Judged   *Judgement `json:"judged,omitempty"`   // of an adjudicate: the decision
	Stand    []uint64   `json:"stand,omitempty"`    // of a stand: hashes of places, see LetStand
	Gone     bool       `json:"gone,omitempty"`     // they stand no more
}

// Of returns an entry for an event of the planned run.
func Of(p *commit.Planned, event string) Entry {
	return Entry{Event: event, Run: p.Run, Config: p.Config, Model: p.Model, Key: p.Key}
}

// auditLine is an entry as it is written, without its sum.
type auditLine struct {
	N    int64     `json:"n"`    // number of the line, from 1
	Prev string    `json:"prev"` // SHA-256 of the line before; zeros for the first
	Time time.Time `json:"time"`
	UID  int       `json:"uid"`
	User string    `json:"user,omitempty"`
	Entry
	Torn *tornRecord `json:"torn,omitempty"`
}

// tornRecord describes the bytes of a line that a crash cut off. They stay in the file, and the next line records how
// many there are and their hash.
type tornRecord struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	recovered = "recovered" // event of a line that names a torn one before it

	sumOpens  = `,"sum":"`
	sumLength = len(sumOpens) + 2*sha256.Size + len("\"}\n")

	// maxAuditLine bounds a line, and with it what a crash can tear. A line
	// has some hundred bytes; counts by category make it a few thousand.
	maxAuditLine = 1 << 18
	auditWait    = 10 * time.Second
)

// Append appends entries to a log; see Writer.Append.
func Append(name string, entries ...Entry) (head string, err error) {
	return NewWriter(name).Append(entries...)
}

// A Writer appends to a log. It remembers that the name of the log is durable.
type Writer struct {
	name string
	made bool
}

// NewWriter returns a writer for the log with that path, which is created if it does not exist.
func NewWriter(name string) *Writer { return &Writer{name: name} }

// Append appends entries, syncs them to disk, and returns the hash of the last line. Several processes may append to
// one log; each waits for the others.
//
// An incomplete line left by a crash is not removed: the next line records its length and hash. The error is a
// *LockedError if another process holds the log for too long, and an *IntegrityError if the last line was changed or
// the file is no audit log; then nothing is appended.
func (w *Writer) Append(entries ...Entry) (head string, err error) {
	if !w.made {
		if err := durable.MkdirAll(durable.OS, filepath.Dir(w.name)); err != nil {
			return "", err
		}
	}
	f, err := os.OpenFile(w.name, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, fileMode)
	if err != nil {
		return "", err
	}
	head, err = w.append(f, entries)
	return head, errors.Join(err, f.Close())
}

func (w *Writer) append(f *os.File, entries []Entry) (head string, err error) {
	if err := flockWait(f, syscall.LOCK_EX, auditWait); err != nil {
		return "", err
	}
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	tail, cause, err := auditTailOf(f, info.Size())
	if err != nil {
		return "", err
	}
	if cause != "" {
		return "", &durable.IntegrityError{Path: f.Name(), Cause: cause + "; nothing was added"}
	}
	lines, err := tail.lines(entries)
	if err != nil {
		return "", err
	}
	// One write: whatever a crash leaves of it is a torn tail.
	if _, err := f.Write(lines); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if !w.made { // not only when the log is new: who made it may have been killed before
		if err := durable.OS.SyncDir(filepath.Dir(f.Name())); err != nil {
			return "", err
		}
	}
	w.made = true
	return hex.EncodeToString(tail.hash[:]), nil
}

// flockWait locks an open file and waits at most so long for it. The lock ends with the process, so a stale one never
// has to be removed by hand.
func flockWait(f *os.File, how int, wait time.Duration) error {
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		case time.Since(begin) > wait:
			return &durable.LockedError{Path: f.Name()}
		}
	}
}

const (
	usualTail = 1 << 13          // has a last whole line, unless a crash tore it
	wholeTail = 8 * maxAuditLine // more than what crashes can have torn since the last whole line
)

// auditTailOf finds where a log goes on. cause says why it cannot.
func auditTailOf(f *os.File, size int64) (t *auditTail, cause string, err error) {
	for most := int64(usualTail); most <= wholeTail; most *= 4 {
		data := make([]byte, min(size, most))
		if _, err := f.ReadAt(data, size-int64(len(data))); err != nil && err != io.EOF {
			return nil, "", err
		}
		if t, cause = parseAuditTail(data); cause == "" && t.n > 0 {
			break
		}
	}
	return t, cause, nil
}

// auditTail is the end of a log, from which the next line continues.
type auditTail struct {
	n    int64
	hash [32]byte // of the last whole line; zeros before the first
	open bool     // of that line, only the newline is missing
	torn []byte   // what stands behind that line
}

// parseAuditTail looks for the last whole line of data from behind. cause says
// why the log cannot go on there.
func parseAuditTail(data []byte) (t *auditTail, cause string) {
	t = &auditTail{torn: data}
	begin := bytes.LastIndexByte(data, '\n') + 1
	last := append(bytes.Clone(data[begin:]), '\n')
	if l, ok := parseAuditLine(last); ok {
		return &auditTail{n: l.N, hash: sha256.Sum256(last), open: true}, ""
	}
	for end := begin; end > 0; end = begin {
		begin = bytes.LastIndexByte(data[:end-1], '\n') + 1
		if l, ok := parseAuditLine(data[begin:end]); ok {
			t = &auditTail{n: l.N, hash: sha256.Sum256(data[begin:end]), torn: data[end:]}
			break
		}
	}
	for line := range bytes.Lines(t.torn) {
		if hasSum(line) {
			return t, "a line near its end was changed: `velum prove log` names it"
		}
	}
	if t.n == 0 && !firstAuditLine(data) {
		return t, "is no audit log: no line of it is one"
	}
	return t, ""
}

// firstAuditLine tells whether data can be what crashes left of the first line
// of a log: a piece of its beginning, perhaps with zeros behind.
func firstAuditLine(data []byte) bool {
	if i := bytes.IndexAny(data, "\x00\n"); i >= 0 {
		data = data[:i]
	}
	begin := []byte(`{"n":1,`)
	return bytes.HasPrefix(data, begin[:min(len(data), len(begin))])
}

// lines returns what is to be written for the entries.
func (t *auditTail) lines(entries []Entry) (lines []byte, err error) {
	if t.open {
		lines = []byte("\n")
	}
	if len(t.torn) > 0 {
		if lines, err = t.recover(); err != nil {
			return nil, err
		}
	}
	for i := range entries {
		if lines, err = t.line(lines, auditLine{Entry: entries[i]}); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// recover begins with the end of the torn line and the line that names it.
func (t *auditTail) recover() ([]byte, error) {
	var lines []byte
	if t.torn[len(t.torn)-1] != '\n' {
		lines = []byte("\n")
	}
	sum := sha256.Sum256(slices.Concat(t.torn, lines))
	torn := &tornRecord{Bytes: int64(len(t.torn) + len(lines)), SHA256: hex.EncodeToString(sum[:])}
	return t.line(lines, auditLine{Entry: Entry{Event: recovered}, Torn: torn})
}

// now is the clock, a variable so that tests can set it. The order of lines follows from their numbers and the hash
// chain, not from their times: times are used only to decide whether files that were verified before are due again
// (Past.Due).
var now = time.Now

// UserName returns the name of the user who runs the process; "" if the machine knows none.
var UserName = sync.OnceValue(func() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return u.Username
})

func (t *auditTail) line(dst []byte, l auditLine) ([]byte, error) {
	l.N, l.Prev = t.n+1, hex.EncodeToString(t.hash[:])
	l.Time = now().UTC().Truncate(time.Second)
	l.UID, l.User = os.Getuid(), UserName()
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	line := fmt.Appendf(nil, "%s%s%x\"}\n", body[:len(body)-1], sumOpens, sha256.Sum256(body))
	if len(line) > maxAuditLine {
		return nil, fmt.Errorf("audit line of %d bytes; at most %d", len(line), maxAuditLine)
	}
	t.n, t.hash = l.N, sha256.Sum256(line)
	return append(dst, line...), nil
}

// hasSum tells whether a line ends as a whole one does.
func hasSum(line []byte) bool {
	at := len(line) - sumLength
	return at > 0 && bytes.HasPrefix(line[at:], []byte(sumOpens)) && bytes.HasSuffix(line, []byte("\"}\n"))
}

// parseAuditLine returns the content of a whole line whose sum is right.
func parseAuditLine(line []byte) (l auditLine, ok bool) {
	if !hasSum(line) {
		return l, false
	}
	at := len(line) - sumLength
	body := append(bytes.Clone(line[:at]), '}')
	want := fmt.Sprintf("%x", sha256.Sum256(body))
	if string(line[at+len(sumOpens):len(line)-3]) != want {
		return l, false
	}
	return l, json.Unmarshal(body, &l) == nil && l.N > 0
}

// Finding is a line at which a log differs from what was written.
type Finding struct {
	Line  int    `json:"line"` // number in the file, from 1
	Kind  string `json:"kind"` // changed, removed, inserted, torn
	Cause string `json:"cause"`
}

func (f Finding) String() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Kind, f.Cause) }

// Report holds the findings of Verify.
type Report struct {
	Lines     int       `json:"lines"`
	Head      string    `json:"head"`             // SHA-256 of the last whole line
	Recovered []int     `json:"recovered"`        // lines that record a torn line before them
	Behind    int       `json:"lines_since_head"` // number of lines behind the one whose hash was given
	Findings  []Finding `json:"findings"`
}

// Past summarizes the runs recorded in a log.
type Past struct {
	Units   map[string]bool // names of the units, and of the logs of shares, that have a line
	Checked time.Time       // the last time that every byte of the output was compared with its manifest
	Last    time.Time       // time of the last line
}

// ReadPast reads a log; a missing log gives an empty Past.
func ReadPast(name string) (*Past, error) {
	past := &Past{Units: map[string]bool{}}
	err := Each(name, func(l *Line) {
		if past.Last = l.Time; l.Check {
			past.Checked = l.Time
		}
		if name := cmp.Or(l.Unit, l.Shard); name != "" {
			past.Units[name] = true
		}
	})
	if err != nil {
		return nil, err
	}
	return past, nil
}

// Due reports whether the last check of the output is at least after ago, by the times in the log. It is also due if
// there was no check or if the clock was set back. With a negative after it is never due.
func (p *Past) Due(after time.Duration) bool {
	since := p.Last.Sub(p.Checked)
	return after >= 0 && (p.Checked.IsZero() || since < 0 || since >= after)
}

// Open opens a log for Verify, after waiting for any process that is appending.
func Open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := flockWait(f, syscall.LOCK_SH, auditWait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// InTree lists the files of a tree that are verified by their own hashes instead of a manifest, for [commit.Check].
var InTree = []commit.Log{{Name: Name, Sound: sound}, {Name: ShardName("*"), Sound: sound}, {Name: PageName, Sound: soundPage},
	{Name: EvidenceDir + "/*", Sound: soundEvidence}, {Name: forgottenName, Sound: soundForgotten}}

// sound tells whether the chain of a log has no flaw, and those of the logs of shards that it names have none either.
func sound(name string) (bool, error) {
	whole, err := unbroken(name, "")
	bad := Each(name, func(l *Line) {
		if l.Shard == "" || !whole || err != nil {
			return
		}
		if whole = !strings.ContainsAny(l.Shard, "/\\"); whole {
			whole, err = unbroken(filepath.Join(filepath.Dir(name), l.Shard), l.Head)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	})
	return whole && bad == nil, errors.Join(err, bad)
}

// unbroken tells whether the chain of a log has no flaw, and the line with the hash head.
func unbroken(name, head string) (bool, error) {
	f, err := Open(name)
	if err != nil {
		return false, err
	}
	report, err := Verify(f, head)
	return len(report.Findings) == 0, errors.Join(err, f.Close())
}
