package commit

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

	"github.com/velum-health/velum/pipeline/durable"
)

// A journal is the memory of a run that is going on: one line for every unit
// whose parts have got their names, written and synced after them. A line is
// the CRC-32C of its JSON in eight hexadecimal digits, a space, and the JSON.
// The first line names the format. A crash can tear the last line only, which
// the next start cuts off: its unit is done again.
type journal struct {
	mu  sync.Mutex
	f   durable.File
	bad error // what failed: nothing can stand behind a line that may be torn
}

const (
	journalFormat = "velum.journal/1"
	journalName   = "journal" // of the run; those of shares have their name behind it
)

type journalHeader struct {
	Format string `json:"format"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openJournal opens or makes the journal, cuts a torn tail off, and leaves it
// ready for more lines. It returns what it holds.
func openJournal(d durable.FS, name string) (*journal, []UnitRecord, error) {
	data, err := durable.ReadFile(d, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	records, good, err := parseJournal(data)
	if err != nil {
		return nil, nil, &durable.IntegrityError{Path: name, Cause: err.Error()}
	}
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, durable.FileMode)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{f: f}
	if good < len(data) {
		err = f.Truncate(int64(good))
	}
	if err == nil && good == 0 {
		err = j.write(journalHeader{journalFormat})
	} else if err == nil {
		err = f.Sync() // a start that was killed may have written the last line without
	}
	if err == nil {
		err = d.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, records, nil
}

// add appends a line and makes it durable.
func (j *journal) add(r *UnitRecord) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bad == nil {
		j.bad = j.write(r)
	}
	return j.bad
}

func (j *journal) write(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(data, castagnoli), data)
	if _, err := j.f.Write(line); err != nil {
		return err
	}
	return j.f.Sync()
}

func (j *journal) close() error { return j.f.Close() }

// parseJournal returns the records of all good lines and how many bytes they
// take. What follows the first bad line does not count. An error says that
// the journal is of another version.
func parseJournal(data []byte) (records []UnitRecord, good int, err error) {
	for line := range bytes.Lines(data) {
		body, ok := journalLine(line)
		if !ok {
			break
		}
		if good == 0 {
			var h journalHeader
			if json.Unmarshal(body, &h) != nil || h.Format != journalFormat {
				return nil, 0, fmt.Errorf("journal of another version of velum; finish that run with the version that began it, or start over with --fresh")
			}
		} else {
			var r UnitRecord
			if json.Unmarshal(body, &r) != nil {
				break
			}
			records = append(records, r)
		}
		good += len(line)
	}
	return records, good, nil
}

// journalLine returns the JSON of a whole line with the right checksum.
func journalLine(line []byte) ([]byte, bool) {
	if len(line) < 10 || line[8] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	body := line[9 : len(line)-1]
	return body, string(line[:8]) == fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
}
