// Package resolve turns tags and matches into the spans that will be masked.
//
// In: the tags of each note, what patterns found, and the text. Out: spans
// that are sorted and disjoint, with category, source and score. The order of
// work in a note is the order of the files:
//
//	words    the words of the note: folded hash, trigger classes
//	rules    candidates are corrected and added, one small function a rule
//	lists    phrases that are always or never masked
//	merge    candidates become disjoint spans, better priority first
//	repeat   what was found is masked at its other places in the note
//
// Masking decides every doubt: where two candidates overlap, every character
// of both stays masked, and only the category is a matter of priority (VIGI's
// ensembles by priority, as VIGI has them). Whatever removes a span (the never list,
// trimming) works on what a model proposed, never on a pattern or a list.
//
// Everything is compared by folded words: runs of letters or digits without
// case and accents, joined without what stands between them, so that
// "Mc Donald", "McDonald" and "MCDONALD", or "93 400 00 00" and "934000000",
// are one value. The cost of a note is linear in its length, since phrases are
// looked up by hash and not compared one by one.
package resolve
