// Package write turns batches into files of the formats that annotation programs and corpora use: brat, JSONL, CSV, and
// Parquet with spans. Its subpackages write the output of a run:
//
//   - table: one file of Parquet, column by column, with the digest of its rows; the file read again
//   - unit: all parts of a unit, files of tagged notes, public tables of quasi-identifiers
//   - summary: what the last step of a run needs of the notes of a unit
//   - rewrite: parts written again, without the rows of removed files or with the rows of all units in one order
//
// In: finished [pipeline.Batch]es. Out: files, one [pipeline.Sink] a format,
// one file a format. Every file is written beside its place and renamed, so
// that no reader sees half of one.
package write
