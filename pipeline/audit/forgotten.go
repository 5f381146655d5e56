package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/patientid"
)

// forgottenName is the file of a private tree that says who was forgotten, so that
// no later run takes them up again. It holds keyed marks and no ids, and stands in
// no manifest: it says what was asked of an output, not what is in it.
const forgottenName = "_forgotten"

const forgottenFormat = "velum.forgotten/1"

// Forgotten are the patients who were taken out of an output.
type Forgotten struct {
	Set    *patientid.Set
	secret []byte
}

type forgottenFile struct {
	Format   string            `json:"format"`
	Secret   string            `json:"secret"`
	Patients []forgottenMember `json:"patients"`
	Sum      string            `json:"sum"` // SHA-256 of the rest
}

type forgottenMember struct {
	Key    uint64 `json:"key"`
	Form   uint64 `json:"form"`
	Number bool   `json:"number,omitempty"`
}

func newForgotten(secret []byte) *Forgotten {
	return &Forgotten{secret: secret, Set: patientid.NewSet(func(form []byte) uint64 {
		var buf [128]byte
		sum := sha256.Sum256(append(append(buf[:0], secret...), form...))
		return binary.BigEndian.Uint64(sum[:])
	})}
}

// ReadForgotten reads who was forgotten in a private tree; nobody, if it has no such
// file. A file that is not whole is an *durable.IntegrityError: nobody must come
// back because of it. A nil d means durable.OS.
func ReadForgotten(d durable.FS, private string) (*Forgotten, error) {
	if d == nil {
		d = durable.OS
	}
	name := filepath.Join(private, forgottenName)
	data, err := durable.ReadFile(d, name)
	if errors.Is(err, fs.ErrNotExist) {
		secret := make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails, see crypto/rand
		return newForgotten(secret), nil
	}
	if err != nil {
		return nil, err
	}
	f, ok := parseForgotten(data)
	if !ok {
		return nil, &durable.IntegrityError{Path: name, Cause: "says who was forgotten and is damaged: put its copy back, or forget them again in a new output"}
	}
	return f, nil
}

func parseForgotten(data []byte) (*Forgotten, bool) {
	var file forgottenFile
	if json.Unmarshal(data, &file) != nil || file.Format != forgottenFormat {
		return nil, false
	}
	secret, err := hex.DecodeString(file.Secret)
	whole, bad := file.marshal()
	if err != nil || bad != nil || len(secret) != sha256.Size || !bytes.Equal(whole, data) {
		return nil, false
	}
	f := newForgotten(secret)
	for _, m := range file.Patients {
		f.Set.Put(patientid.Member{Number: m.Number, Key: m.Key, Form: m.Form})
	}
	return f, true
}

func (f *forgottenFile) marshal() ([]byte, error) {
	f.Sum = ""
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	f.Sum = hex.EncodeToString(sum[:])
	data, err = json.Marshal(f)
	return append(data, '\n'), err
}

// Write writes the file. A nil d means durable.OS.
func (f *Forgotten) Write(d durable.FS, private string) error {
	file := forgottenFile{Format: forgottenFormat, Secret: hex.EncodeToString(f.secret), Patients: []forgottenMember{}}
	for _, m := range f.Set.Members() {
		file.Patients = append(file.Patients, forgottenMember{m.Key, m.Form, m.Number})
	}
	data, err := file.marshal()
	if err != nil {
		return err
	}
	return durable.WriteFile(d, filepath.Join(private, forgottenName), data)
}

// Mark names a patient in the audit log: who has the id and the key finds it there,
// nobody else. key is that of the house, nil for that of the file.
func (f *Forgotten) Mark(key, form []byte) string {
	if key == nil {
		key = f.secret
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(patientid.Key(form))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func soundForgotten(name string) (bool, error) {
	data, err := durable.ReadFile(durable.OS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	_, ok := parseForgotten(data)
	return ok, err
}
