package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

// EvidenceDir is the folder of a private tree with the dossiers of its output (`velum evidence`). Dossiers hold times
// and users, so no manifest lists them; the log records each, and each signature, in a line.
const EvidenceDir = "_evidence"

// Evidence names the files of a dossier by their SHA-256. A file name consists of ID and the name of the field below.
type Evidence struct {
	Record    string `json:"record_sha256"`              // hash of the .json file
	Page      string `json:"page_sha256"`                // hash of the .html file
	Statement string `json:"statement_sha256,omitempty"` // hash of the .signed.json file; "": nobody has signed
	Signature string `json:"signature_sha256,omitempty"` // hash of the .sig file
	By        string `json:"by,omitempty"`               // name of the person who signed
}

// ID returns the id of the dossier, a prefix of the digest of its record.
func (e *Evidence) ID() string { return e.Record[:min(16, len(e.Record))] }

// Files returns the SHA-256 of each file, by name.
func (e *Evidence) Files() map[string]string {
	all := map[string]string{e.ID() + ".json": e.Record, e.ID() + ".html": e.Page}
	if e.Statement != "" {
		all[e.ID()+".signed.json"], all[e.ID()+".sig"] = e.Statement, e.Signature
	}
	return all
}

// Line is an entry as read from a log.
type Line struct {
	Entry
	N    int64
	Time time.Time
	User string // the account, as the machine gave it
	Torn bool   // the line records one before it that a crash cut off
}

// Each calls do with every valid line of a log, in order. A missing log has none.
func Each(name string, do func(*Line)) error {
	f, err := Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := newAuditScanner(f)
	for lines.Scan() {
		l, ok := parseAuditLine(lines.Bytes())
		if !ok {
			continue
		}
		do(&Line{N: l.N, Time: l.Time, User: l.User, Torn: l.Torn != nil, Entry: l.Entry})
	}
	return errors.Join(lines.Err(), f.Close())
}

// soundEvidence tells whether a file of a dossier is as the log beside it says.
func soundEvidence(name string) (bool, error) {
	data, err := durable.ReadFile(durable.OS, name)
	if err != nil {
		return false, err
	}
	sum, private := sha256.Sum256(data), filepath.Dir(filepath.Dir(name))
	sound := false
	err = Each(LogIn(private), func(l *Line) {
		if l.Evidence == nil {
			return
		}
		if want, ok := l.Evidence.Files()[filepath.Base(name)]; ok {
			sound = want == hex.EncodeToString(sum[:])
		}
	})
	if err != nil {
		return false, fmt.Errorf("%s: %w", EvidenceDir, err)
	}
	return sound, nil
}
