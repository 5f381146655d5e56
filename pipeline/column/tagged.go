package column

// Numbers of the columns of Tagged.
const (
	TaggedID = iota
	TaggedRow
	TaggedConfidence
	TaggedLanguage
	TaggedChoice
	TaggedText
	TaggedWords
)

// Tagged are the columns of a file of tagged notes, in the form that models learn from: candidates, selection sets, and what goes
// to a curator. words has of each token how many bytes lie between it and the one before, its length (both as varints),
// pipeline.TokenFlags and its tag in the set of the file's metadata, a byte each: one value a note, since three
// lists of words took a sixth of a run to write and to read again.
var Tagged = []Column{
	Text("note_id"), Int64("row"), Float("confidence"), Names("language"), Names("choice"), Text("text"), Bytes("words"),
}
