package pipeline

import "github.com/zeebo/xxh3"

// Seal marks note i as verified: what its masked text is now may be written.
// Verify alone calls it, and restore, which puts a document in place of the masked text of
// a note. A seal is a hash of the masked text and the note's
// row, so that a stage that is missing, that failed without a word, or that
// came behind verify and changed the text leaves a note that write refuses.
func (b *Batch) Seal(i int) {
	for len(b.Seals) < b.Len() {
		b.Seals = append(b.Seals, 0)
	}
	b.Seals[i] = b.seal(i)
}

// Sealed tells whether the masked text of note i is the one that was verified.
func (b *Batch) Sealed(i int) bool {
	return i < len(b.Seals) && b.Seals[i] != 0 && b.Seals[i] == b.seal(i)
}

// seal is never 0.
func (b *Batch) seal(i int) uint64 {
	return xxh3.HashSeed(b.Masked.At(i), uint64(b.First)+uint64(i)) | 1
}
