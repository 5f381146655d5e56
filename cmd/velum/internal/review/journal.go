package review

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
)

// journalSchema names the format of a journal in its first line.
const journalSchema = "velum.review/2"

// journal is the file of decisions, one line each, synced before the next note is shown. An incomplete line left by a
// kill is removed at the next start. Each line has a hash of itself and all lines before it, so that any other change
// is detected. If the institution has a key, a reading is signed with a key derived from it for the reader, so that
// nobody without it can write such a journal; no hash can prove that somebody really read. The file holds places and
// categories, and no words.
type journal struct {
	file *os.File
	sum  [sha256.Size]byte // of the last line
	key  []byte            // of the reader; nil: not signed
}

// sealedLine is a line of the file with its hash.
type sealedLine struct {
	Line json.RawMessage `json:"line"`
	Sum  string          `json:"sum"` // SHA-256, or HMAC, of the sum before, zeros for the first line, and of the line
}

// follow returns the hash of a line, given the hash of the line before.
func follow(key []byte, before [sha256.Size]byte, line []byte) (sum [sha256.Size]byte) {
	if key == nil {
		return sha256.Sum256(append(before[:], line...))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(before[:])
	mac.Write(line)
	mac.Sum(sum[:0])
	return sum
}

// readerKey returns the key with which a reader signs, derived from the institution's key; nil without one.
func readerKey(house *secret.Key, reader string) []byte {
	if house == nil {
		return nil
	}
	return house.Derive("journal of reader " + reader)
}

type journalHead struct {
	Schema string `json:"schema"`
	Notes  string `json:"notes"`            // digest
	Ask    string `json:"ask,omitempty"`    // the question, if it has answers
	Key    string `json:"key_id,omitempty"` // id of the configured key; "": the journal is not signed
	drawn
}

// drawn identifies the sample of a journal; it is empty for other questions.
type drawn struct {
	Reader string `json:"reader,omitempty"`
	Sample string `json:"sample,omitempty"` // SHA-256 of the sample's file
	Output string `json:"output,omitempty"` // audit.OutputDigest of what it was drawn from
}

type journalLine struct {
	Note   int           `json:"note"`
	Spans  []journalSpan `json:"spans"`
	Answer string        `json:"answer,omitempty"`
	Time   int64         `json:"time,omitempty"` // of the decision, in seconds since 1970

	// fields of a reading of a sample
	sampled
	Leaks bool     `json:"leaks,omitempty"` // something was left in it
	Left  []string `json:"left,omitempty"`  // of these categories
}

type journalSpan struct {
	Start    int32  `json:"start"` // bytes
	End      int32  `json:"end"`
	Category string `json:"category"`
}

// openJournal begins a journal, or reads the decisions of an existing one.
func openJournal(path string, s *session) (*journal, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Misconfigured(err, "make it readable, or name another --out")
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	sum, err := s.replay(whole, path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, exit.Misconfigured(err, "name another --out")
	}
	j := &journal{f, sum, readerKey(s.key, s.drawn.Reader)}
	if err := j.begin(s, int64(len(whole))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// begin cuts a torn line off and writes the head of a new journal.
func (j *journal) begin(s *session, length int64) error {
	if err := j.file.Truncate(length); err != nil {
		return err
	}
	if _, err := j.file.Seek(length, 0); err != nil {
		return err
	}
	if length > 0 {
		return nil
	}
	return j.write(s.head())
}

// Close closes the file.
func (j *journal) Close() error { return j.file.Close() }

func (j *journal) write(line any) error {
	body, err := json.Marshal(line)
	if err != nil {
		return err
	}
	j.sum = follow(j.key, j.sum, body)
	data, err := json.Marshal(sealedLine{body, hex.EncodeToString(j.sum[:])})
	if err == nil {
		_, err = j.file.Write(append(data, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	return err
}

func (j *journal) add(s *session, i int, spans []pipeline.Span, answer string) error {
	line := journalLine{Note: i, Spans: []journalSpan{}, Answer: answer, Time: time.Now().Unix()}
	if s.asks.drawn {
		line.sampled, line.Left = s.notes[i].sampled, s.notes[i].left(spans)
		line.Leaks = len(line.Left) > 0
	}
	for _, x := range spans {
		line.Spans = append(line.Spans, journalSpan{x.Start, x.End, x.Category.String()})
	}
	return j.write(line)
}

// head is the first line of the session's journal.
func (s *session) head() journalHead {
	h := journalHead{Schema: journalSchema, Notes: s.digest(), Key: s.key.ID(), drawn: s.drawn}
	if s.asks.answers != nil {
		h.Ask = s.asks.name
	}
	return h
}

// unsealed calls head and then decision with the lines of a journal, after verifying each hash, and the signature if
// the journal has one.
func unsealed(data []byte, path string, house *secret.Key, head func(*journalHead) error,
	decision func(row int, sum string, l *journalLine) error) (sum [sha256.Size]byte, err error) {
	row := 0
	var key []byte
	for line := range bytes.Lines(data) {
		row++
		var sealed sealedLine
		readable := json.Unmarshal(line, &sealed) == nil
		if row == 1 && readable && sealed.Line == nil {
			return sum, exit.Misconfiguredf("end it with the velum that began it (--export), or name another --out",
				"%s: no journal of this version", path)
		}
		var h journalHead
		if row == 1 && json.Unmarshal(sealed.Line, &h) == nil && h.Key != "" {
			if h.Key != house.ID() {
				return sum, exit.Errorf(exit.Key, "give the key that it was signed with: --set key.file=FILE",
					"%s: a journal that is signed with key %s", path, h.Key)
			}
			key = readerKey(house, h.Reader)
		}
		if readable {
			sum = follow(key, sum, sealed.Line)
		}
		if hex.EncodeToString(sum[:]) != sealed.Sum {
			return sum,
				&durable.IntegrityError{Path: path,
					Cause: fmt.Sprintf("line %d is not as it was written; put a copy of the file back, or name another --out", row)}
		}
		if row == 1 {
			if err := head(&h); err != nil {
				return sum, err
			}
			continue
		}
		var l journalLine
		if json.Unmarshal(sealed.Line, &l) != nil || l.Note < 0 {
			return sum, exit.Misconfiguredf("name another --out", "%s: line %d is no decision", path, row)
		}
		if err := decision(row, sealed.Sum, &l); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// replay applies the decisions of a journal. The last decision about a note counts.
func (s *session) replay(data []byte, path string) (sum [sha256.Size]byte, err error) {
	return unsealed(data, path, s.key, func(head *journalHead) error {
		if *head != s.head() {
			return exit.Misconfiguredf("name another --out, the notes that it was begun with, or its --reader",
				"%s: a journal of other notes, or of another reader", path)
		}
		return nil
	}, func(row int, _ string, l *journalLine) error {
		if l.Note >= len(s.notes) {
			return exit.Misconfiguredf("name another --out", "%s: line %d is no decision", path, row)
		}
		spans, err := s.spansOf(*l)
		if err != nil {
			return exit.Misconfiguredf("name another --out", "%s: line %d: %w", path, row, err)
		}
		s.keep(l.Note, spans, l.Answer)
		return nil
	})
}

func (s *session) spansOf(l journalLine) (spans []pipeline.Span, err error) {
	for _, x := range l.Spans {
		c, err := pipeline.ParseCategory(x.Category)
		if err != nil {
			return nil, fmt.Errorf("an unknown category")
		}
		spans = append(spans, pipeline.Span{Start: x.Start, End: x.End, Category: c, Score: 1, Source: pipeline.FromGold})
	}
	return spans, s.check(l.Note, spans, l.Answer)
}
