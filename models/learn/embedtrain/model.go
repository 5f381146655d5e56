// Package embedtrain learns what words have in common from an archive that nobody has
// labelled: vectors of words (word2vec, GloVe) and clusters of them.
//
// In: notes as text and tokens, given twice or more. Out: an [embed.File].
//
//	notes ─> Counter ─> Vocabulary ─> Encoder ─> rounds of word numbers ─> Model ─> KMeans ─> Write
//
// Nothing is kept a note: memory is the vocabulary, the vectors, and the
// rounds that [Encoder] may keep. A form gets into the vocabulary when it
// occurs often enough and in enough notes and patients, so that rare names do
// not live in the file.
//
// Results depend on the options and the order of the notes and not on the
// number of workers, but for those of several workers of skip-gram, who race.
package embedtrain

import "github.com/velum-health/velum/models/word/embed"

// A Model learns vectors from rounds of word numbers.
type Model interface {
	Epochs() int     // how often it wants to see the text
	RoundSize() int  // word numbers a round
	Round(t []int32) // learns from one round
	Done() uint64    // tokens seen so far, all epochs
	Vectors() *Vectors
}

// Methods returns the names that New takes.
func Methods() []string { return []string{"skip-gram", "glove"} }

// New returns an untrained model of a known method for a vocabulary of at
// least one word.
func New(method string, v *Vocabulary, o embed.Options) Model {
	if method == "glove" {
		return newGloVe(v, o)
	}
	return newWord2Vec(v, o)
}
