// Package write turns batches into files: Parquet parts, and the text formats
// that annotation programs and corpora use (brat, JSONL, CSV).
//
// In: finished [pipeline.Batch]es. Out: files, one [pipeline.Sink] a format,
// one file a format. Every file is written beside its place and renamed, so
// that no reader sees half of one.
package write
