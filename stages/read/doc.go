// Package read turns files into batches. The package itself opens labelled notes of any format and folders of them; its
// subpackages are independent of each other:
//
//   - input: options, errors, ids, encodings, the state of a file: what all readers share
//   - pages: what pages of Parquet say of themselves
//   - parquet: footers, columns and notes of Parquet
//   - text: CSV, JSONL, brat, i2b2, plain text, Parquet with spans
//   - tagged: parts that velum wrote
//   - fence: Parquet decoded in another process
//   - archive: all files of a run, and the units of work into which they are cut (dumps of databases, folders of small
//     files)
//
// In: a path. Out: [pipeline.Batch] with ID, Text, Extra, Gold and Reason;
// one [pipeline.Source] a format, one file a format.
//
// Texts are kept byte for byte; offsets of other units are turned into bytes
// by [offset.Index]. A note that cannot be read keeps its place and
// gets a [pipeline.Reason]; a file that breaks its format is an [input.Error]
// with line, column, cause and remedy. Neither ever quotes the text.
package read
