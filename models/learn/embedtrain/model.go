// Package embedtrain learns vectors of words (word2vec, GloVe) and clusters of words from an archive without labels.
//
// It takes notes as text and tokens, at least twice, and returns an [embed.File].
//
//	notes ─> Counter ─> Vocabulary ─> Encoder ─> rounds of word numbers ─> Model ─> KMeans ─> Write
//
// Nothing is kept per note: memory holds the vocabulary, the vectors, and the rounds that [Encoder] may keep. A form
// enters the vocabulary if it occurs often enough, in enough notes and for enough patients, so that rare names do not
// get into the file.
//
// Results depend on the options and the order of the notes. They do not depend on the number of workers, except for
// skip-gram with several workers, which update the vectors without locks.
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

// Methods returns the names that New accepts.
func Methods() []string { return []string{"skip-gram", "glove"} }

// New returns an untrained model of a known method for a vocabulary of at
// least one word.
func New(method string, v *Vocabulary, o embed.Options) Model {
	if method == "glove" {
		return newGloVe(v, o)
	}
	return newWord2Vec(v, o)
}
