// Package read turns files into batches: Parquet archives, the raw dump form,
// and the text formats that corpora come in (brat, i2b2, CoNLL, JSONL, CSV).
//
// In: a path. Out: [pipeline.Batch] with ID, Text, Extra, Gold and Reason;
// one [pipeline.Source] a format, one file a format.
//
// Texts are kept byte for byte; offsets of other units are turned into bytes
// by [offset.Index]. A note that cannot be read keeps its place and
// gets a [pipeline.Reason]; a file that breaks its format is an [InputError]
// with line, column, cause and remedy. Neither ever quotes the text.
package read
