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

// forgottenName is the file of a private tree that says who was forgotten and who
// objected, so that no later run takes them up again, whatever list it is given. It
// holds keyed marks and no ids, and stands in no manifest: it says what was asked of
// an output, not what is in it.
const forgottenName = "_forgotten"

const forgottenFormat = "velum.forgotten/2"

// Forgotten holds the patients whose notes are left out of an output, because they were forgotten or because they
// object.
type Forgotten struct {
	Set      *patientid.Set // patients removed by `velum run forget --patient`
	Objected *patientid.Set // patients in a list of --exclude of this run or of an earlier one
	secret   []byte
	file     []byte // as it was read or written last
}

type forgottenFile struct {
	Format   string             `json:"format"`
	Secret   string             `json:"secret"`
	Patients []patientid.Member `json:"patients"`
	Objected []patientid.Member `json:"objected"`
	Sum      string             `json:"sum"` // SHA-256 of the rest
}

func newForgotten(secret []byte) *Forgotten {
	hash := func(form []byte) uint64 {
		var buf [128]byte
		sum := sha256.Sum256(append(append(buf[:0], secret...), form...))
		return binary.BigEndian.Uint64(sum[:])
	}
	return &Forgotten{secret: secret, Set: patientid.NewSet(hash), Objected: patientid.NewSet(hash)}
}

// ReadForgotten reads the patients who were forgotten or objected from a private tree; none if the file does not exist.
// An incomplete file is a *durable.IntegrityError, because it could bring a patient back.
func ReadForgotten(d durable.FS, private string) (*Forgotten, error) {
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
		return nil,
			&durable.IntegrityError{Path: name,
				Cause: "says who was forgotten and who objected, and is damaged or of another version: put its copy back, or begin a new output and forget them again there"}
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
		f.Set.Put(m)
	}
	for _, m := range file.Objected {
		f.Objected.Put(m)
	}
	f.file = data
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

// Write writes the file, and fails with a *durable.LockedError if another process has written it since it was read:
// what that one added would be lost. Who writes holds the locks of the output (commit.Output.Alone, commit.UnitOptions.Locked).
func (f *Forgotten) Write(d durable.FS, private string) error {
	file := forgottenFile{Format: forgottenFormat, Secret: hex.EncodeToString(f.secret), Patients: f.Set.Members(),
		Objected: f.Objected.Members()}
	data, err := file.marshal()
	if err != nil {
		return err
	}
	name := filepath.Join(private, forgottenName)
	now, err := durable.ReadFile(d, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, f.file) {
		return &durable.LockedError{Path: name}
	}
	f.file = data
	return durable.WriteFile(d, name, data)
}

// Object adds a patient who objects, and reports whether the patient is new.
func (f *Forgotten) Object(form []byte) bool {
	if len(form) == 0 || f.Objected.Has(form) {
		return false
	}
	f.Objected.Add(form, 0)
	return true
}

// TakeBack removes a patient from both sets, and reports whether the patient was in one.
func (f *Forgotten) TakeBack(form []byte) bool {
	was := f.Set.Has(form) || f.Objected.Has(form)
	f.Set, f.Objected = f.Set.Without(form), f.Objected.Without(form)
	return was
}

// Mark returns a pseudonym of a patient for the audit log, an HMAC: only somebody with the patient's id and the key can
// find it. key is the institution's key; nil uses the secret in the file.
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
	_, ok := parseForgotten(data)
	return ok, err
}
