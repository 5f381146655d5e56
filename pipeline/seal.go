package pipeline

import "github.com/zeebo/xxh3"

// Seal marks the current masked text of note i as verified, so that it may be written. Only stages/verify calls it, and
// stages/restore after replacing the masked text by a document. The seal is a hash of the masked text and the row; if
// verify is missing, fails silently, or is followed by a change of the text, the note is refused when it is written.
func (b *Batch) Seal(i int) {
	for len(b.Seals) < b.Len() {
		b.Seals = append(b.Seals, 0)
	}
	b.Seals[i] = b.seal(i)
}

// Sealed reports whether the masked text of note i is the one that was verified.
func (b *Batch) Sealed(i int) bool {
	return i < len(b.Seals) && b.Seals[i] != 0 && b.Seals[i] == b.seal(i)
}

// seal is never 0.
func (b *Batch) seal(i int) uint64 {
	return xxh3.HashSeed(b.Masked.At(i), uint64(b.First)+uint64(i)) | 1
}
