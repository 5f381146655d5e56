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

// The file name of a turn's record, and its schema.
const (
	FileName   = "turn.json"
	TurnSchema = "velum.turn/2"
)

// Encode returns a record of learning as indented JSON with a final newline.
func Encode(record any) ([]byte, error) {
	data, err := json.MarshalIndent(record, "", " ")
	return append(data, '\n'), err
}

// Decode reads a record of learning with the given schema from a file into record, and returns the SHA-256 of the file.
// Any other content is a *durable.IntegrityError.
func Decode(path, schema string, record any) (sum string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var head struct{ Schema string }
	if json.Unmarshal(data, &head) != nil || head.Schema != schema || json.Unmarshal(data, record) != nil {
		return "", &durable.IntegrityError{Path: path, Cause: "is not the record " + schema + " of this version of velum"}
	}
	return sumOf(data), nil
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// Read reads the turn in a folder. It returns a *durable.IntegrityError if the turn does not follow the earlier turns
// or if one of its files has changed.
func Read(folder string, before []*Turn) (t *Turn, err error) {
	name := filepath.Join(folder, FileName)
	t = new(Turn)
	if t.Sum, err = Decode(name, TurnSchema, t); err != nil {
		return nil, err
	}
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

// Encoded returns the bytes of turn.json and sets t.Sum to their SHA-256.
func (t *Turn) Encoded() ([]byte, error) {
	data, err := Encode(t)
	t.Sum = sumOf(data)
	return data, err
}

// Folders returns the existing folders KIND-NN below dir, numbered from first without a gap.
func Folders(dir, kind string, first int) (all []string) {
	for {
		folder := numbered(dir, kind, first+len(all))
		if _, err := os.Stat(folder); err != nil {
			return all
		}
		all = append(all, folder)
	}
}

// Next returns the folder KIND-NN below dir that comes behind those that exist, numbered from 1.
func Next(dir, kind string) string { return numbered(dir, kind, len(Folders(dir, kind, 1))+1) }

func numbered(dir, kind string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%02d", kind, n))
}

// FileOf returns name, size and SHA-256 of a file.
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
