package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/rand/v2"
)

// Scope is the range within which a value has the same replacement, such as a note, a patient or the archive.
type Scope uint8

const (
	NoteScope    Scope = iota // every note draws anew
	PatientScope              // all notes of a patient agree; a note without a patient stands alone
	ArchiveScope              // all notes agree
	numScopes    = iota
)

var scopeNames = [numScopes]string{"note", "patient", "archive"}

// Stream draws random numbers that cannot be predicted without the key: HMAC-SHA-256 of the scope's owner, the kind of
// draw and the value seeds ChaCha8. Nothing that is drawn is stored: the same key draws the same on any machine and in
// any order of notes.
type Stream struct {
	mac  hash.Hash
	seed [32]byte
	part []byte
	draw rand.ChaCha8
	rand *rand.Rand
}

func newStream(key []byte) *Stream {
	s := &Stream{mac: hmac.New(sha256.New, key)}
	s.rand = rand.New(&s.draw)
	return s
}

// sum leaves HMAC(length and bytes of each part) in s.seed.
func (s *Stream) sum(owner []byte, scope Scope, what string, value []byte) {
	s.part = append(s.part[:0], byte(scope))
	s.part = append(binary.LittleEndian.AppendUint32(s.part, uint32(len(owner))), owner...)
	s.part = append(binary.LittleEndian.AppendUint32(s.part, uint32(len(what))), what...)
	s.part = append(s.part, value...)
	s.mac.Reset()
	s.mac.Write(s.part)
	s.mac.Sum(s.seed[:0])
}

// Draw returns the random numbers for a value within a scope, valid until the next call. what distinguishes several
// draws for one value. Only operators that declare that they need a key may call it.
func (n *Note) Draw(scope Scope, what string, value []byte) *rand.Rand {
	n.Sum(scope, what, value)
	n.stream.draw.Seed(n.stream.seed)
	return n.stream.rand
}

// Sum returns the keyed hash of a value within a scope, valid until the next
// call.
func (n *Note) Sum(scope Scope, what string, value []byte) []byte {
	owner := n.Patient
	if scope == PatientScope && len(n.Patient) == 0 {
		scope = NoteScope
	}
	switch scope {
	case NoteScope:
		if owner = n.ID; len(owner) == 0 {
			owner = n.Text // ids are dropped: the text is as good a name
		}
	case ArchiveScope:
		owner = nil
	}
	n.stream.sum(owner, scope, what, value)
	return n.stream.seed[:]
}
