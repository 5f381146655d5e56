// Package score compares the spans that a system found with the gold spans of
// the same notes, and computes precision, recall and their intervals.
//
// In: text, tokens, gold and system spans of one note after the other, by
// [Scorer.Add] or as a [pipeline.Sink]. Out: a [Report] with every measure of
// the papers and of the MEDDOCAN track, micro and macro, by category, with bootstrap intervals, kinds
// of errors, and what matters most for masking: how much PHI is still to be
// read.
//
// Only whole numbers are counted, one small row a note and measure; every
// ratio is taken once, from sums. So the order of notes does not matter and
// nothing drifts. The rows stay in memory (about 200 bytes a note): intervals
// and tests draw notes again and again.
//
// The merged measure and masking recall follow the MEDDOCAN track; covering
// and overlapping criteria VIGI §5.3, kinds of errors NGRID §8.2.1.
package score
