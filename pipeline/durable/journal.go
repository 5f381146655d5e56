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

// A Journal records finished pieces of work, one synced line for each: the CRC-32C of the JSON in eight hexadecimal
// digits, a space, and the JSON. The first line names the format. A crash can only damage the last line; the next start
// removes it and repeats its work.
type Journal struct {
	mu  sync.Mutex
	f   File
	bad error // first error: nothing may be written behind a line that may be torn
}

type journalHeader struct {
	Format string `json:"format"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenJournal opens or creates a journal, removes an incomplete last line, and is ready to append. It returns the JSON
// of the existing lines. Errors are *IntegrityError, or those of the file system.
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

// ReadJournal returns the JSON of the lines of a journal up to the first invalid one. An *IntegrityError says that the
// journal is of another format.
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
	return &IntegrityError{Path: name,
		Cause: "journal of another version of velum; finish that run with the version that began it, or start over with --fresh"}
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

// Line returns v encoded as a line of a journal.
func Line(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(data, castagnoli), data), err
}

// ParseLine returns the JSON of a complete line, and whether its checksum is right.
func ParseLine(line []byte) ([]byte, bool) {
	if len(line) < 10 || line[8] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	body := line[9 : len(line)-1]
	return body, string(line[:8]) == fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
}
