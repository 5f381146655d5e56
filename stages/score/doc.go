// Package score compares the spans that a system found with the gold spans of the same notes, and computes precision,
// recall and their intervals.
//
// [Scorer.Add], or Put of a [pipeline.Sink], takes the text, tokens, gold spans and system spans of one note after the
// other. The result is a [Report]: each measure of the papers and of the MEDDOCAN track, micro- and macro-averaged, by
// category, with bootstrap intervals; the kinds of errors; and the measure that matters most for masking, the share of
// personal information that can still be read.
//
// The scorer adds up whole numbers only, in one small row per note and measure, and computes each ratio once, from the
// sums. So the order of the notes does not matter and no rounding errors add up. The rows stay in memory (about 200 bytes
// a note), because intervals and significance tests resample the notes many times.
//
// The merged measure and the masking recall follow the MEDDOCAN track, the covering and overlapping criteria follow VIGI
// §5.3, and the kinds of errors follow NGRID §8.2.1.
package score
