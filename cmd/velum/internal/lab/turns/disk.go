package turns

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline/durable"
)

// What a turn's record is called, and its schema.
const (
	FileName   = "turn.json"
	TurnSchema = "velum.turn/2"
)

// Read reads the turn of a folder, and checks that it follows those before and that its files are what it wrote: a
// durable.IntegrityError says what is not.
func Read(folder string, before []*Turn) (*Turn, error) {
	name := filepath.Join(folder, FileName)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := new(Turn)
	if json.Unmarshal(data, t) != nil || t.Schema != TurnSchema {
		return nil, &durable.IntegrityError{Path: name, Cause: "is not the record of a turn by this version of velum"}
	}
	t.Sum = fmt.Sprintf("%x", sha256.Sum256(data))
	if n := len(before); t.Number != n || n > 0 && t.Parent != before[n-1].Sum {
		return nil, &durable.IntegrityError{Path: name, Cause: "does not follow the turn before"}
	}
	for _, f := range t.Files {
		have, err := FileOf(filepath.Join(folder, f.Name))
		if err != nil {
			return nil, err
		}
		if have != f {
			return nil, &durable.IntegrityError{Path: filepath.Join(folder, f.Name), Cause: "is not what the turn wrote"}
		}
	}
	return t, nil
}

// Encoded returns the bytes of turn.json, and sets their digest.
func (t *Turn) Encoded() ([]byte, error) {
	data, err := json.MarshalIndent(t, "", " ")
	data = append(data, '\n')
	t.Sum = fmt.Sprintf("%x", sha256.Sum256(data))
	return data, err
}

// FileOf describes a file.
func FileOf(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{Name: filepath.Base(path), Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
