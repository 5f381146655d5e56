// Package pipeline is the vocabulary and the pump of velum.
//
//	Parquet ─> read ─> tokenize ─> tag ─> resolve ─> mask ─> verify ─> choose ─> write ─> parts
//	            ▲                                                                  │
//	            └──────────────────────── empty batches ───────────────────────────┘
//
// A [Batch] holds some thousand notes as columns in Arrow layout: one buffer
// of bytes and one of offsets for every column of text, one flat array and
// offsets for everything that a note has several of. There is no Go string
// and no allocation a note. The fields of a Batch stand in the order in which
// the stages fill them, so the type is the drawing of the flow.
//
// Ownership: a Batch has one owner at a time. Sending it on a channel gives
// it away. A stage fills its own group of fields and changes none above them.
//
// Back-pressure: [Run] makes a fixed number of batches that go round. Nothing
// can pile up, memory is bounded by construction.
//
// Errors: a stage that cannot vouch for one note sets [Batch.Reason] for that
// note, and the note ends in quarantine; a stage returns an error only when
// the run cannot go on. No error holds text of a note: ids and offsets only.
//
// Words: a note is one row of the archive; a batch is what goes round in
// memory; a unit is one input file's range of row groups, the piece of work
// that is committed whole; a part is a file that a unit writes; the manifest
// lists the parts of a finished run.
package pipeline
