// Package embedtrain learns what words have in common from an archive that nobody has
// labelled: vectors of words (word2vec) and clusters of them.
//
// In: notes as text and tokens, given twice or more. Out: an [embed.File].
//
//	notes ─> Counter ─> Vocabulary ─> Encoder ─> rounds of word numbers ─> Word2Vec ─> KMeans ─> Write
//
// Nothing is kept a note: memory is the vocabulary, the vectors, and the
// rounds that [Encoder] may keep. A form gets into the vocabulary when it
// occurs often enough and in enough notes and patients, so that rare names do
// not live in the file.
//
// Clusters depend on the options and the order of the notes and not on the
// number of workers; several workers of Word2Vec race, one gives the same vectors every time.
package embedtrain
