package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A Journal is the memory of what is going on: one line for every piece of work, written
// and synced after it. A line is the CRC-32C of its JSON in eight hexadecimal digits, a
// space, and the JSON. The first line names the format. A crash can tear the last line
// only, which the next start cuts off: its work is done again.
type Journal struct {
	mu  sync.Mutex
	f   File
	bad error // what failed: nothing can stand behind a line that may be torn
}

type journalHeader struct {
	Format string `json:"format"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenJournal opens or makes a journal, cuts a torn tail off, and leaves it ready for more
// lines. It returns the JSON of those that it holds. Errors are *IntegrityError, and those
// of the disk.
func OpenJournal(d FS, name, format string) (*Journal, [][]byte, error) {
	data, err := ReadFile(d, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	lines, good, ok := parseJournal(data, format)
	if !ok {
		return nil, nil, otherJournal(name)
	}
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, FileMode)
	if err != nil {
		return nil, nil, err
	}
	j := &Journal{f: f}
	if good < len(data) {
		err = f.Truncate(int64(good))
	}
	if err == nil && good == 0 {
		err = j.write(journalHeader{format})
	} else if err == nil {
		err = f.Sync() // a start that was killed may have written the last line without
	}
	if err == nil {
		err = d.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, lines, nil
}

// ReadJournal returns the JSON of all good lines of a journal. What follows the first bad
// line does not count. An *IntegrityError says that the journal is of another format.
func ReadJournal(d FS, name, format string) (lines [][]byte, err error) {
	data, err := ReadFile(d, name)
	if err != nil {
		return nil, err
	}
	lines, _, ok := parseJournal(data, format)
	if !ok {
		return nil, otherJournal(name)
	}
	return lines, nil
}

func otherJournal(name string) error {
	return &IntegrityError{Path: name, Cause: "journal of another version of velum; finish that run with the version that began it, or start over with --fresh"}
}

// parseJournal returns the JSON of all good lines and how many bytes they take; ok is
// false if they are of another format.
func parseJournal(data []byte, format string) (lines [][]byte, good int, ok bool) {
	for line := range bytes.Lines(data) {
		body, ok := ParseLine(line)
		if !ok {
			break
		}
		if good == 0 {
			var h journalHeader
			if json.Unmarshal(body, &h) != nil || h.Format != format {
				return nil, 0, false
			}
		} else {
			lines = append(lines, body)
		}
		good += len(line)
	}
	return lines, good, true
}

// Add appends a line and makes it durable.
func (j *Journal) Add(v any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bad == nil {
		j.bad = j.write(v)
	}
	return j.bad
}

func (j *Journal) write(v any) error {
	line, err := Line(v)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(line); err != nil {
		return err
	}
	return j.f.Sync()
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }

// Line is a line of a journal.
func Line(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(data, castagnoli), data), err
}

// ParseLine returns the JSON of a whole line with the right checksum.
func ParseLine(line []byte) ([]byte, bool) {
	if len(line) < 10 || line[8] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	body := line[9 : len(line)-1]
	return body, string(line[:8]) == fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
}
