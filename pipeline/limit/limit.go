// Package limit holds the upper limits on the size of a note and of a batch.
package limit

// Limits that stages and options use unless the configuration sets others.
const (
	NoteBytes  = 1 << 20   // of the longest note: the longest hospital reports have some 200 kB
	BatchBytes = 256 << 10 // of text in a batch: it stays in the second-level cache, and the hand-over between stages costs nothing beside it
	BatchNotes = 4096      // in a batch: the arrays beside the text stay small when notes are empty
)
