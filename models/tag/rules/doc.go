// Package rules is augmented transition networks that people write: rules in a
// text file which find spans in tokens (ATN §2.2).
//
//	in:  a file of networks, lists of words; tokens of a note
//	out: spans with the category and score of the network that found each
//
// A file is read line by line; # begins a comment.
//
//	version 1
//	words title  dr dra sr sra doctor doctora
//
//	network name
//	  first  title                               -> more
//	  more   title list:Surname|GivenName       -> more
//	  more   skip                                -> end
//
//	network titled PERSON 0.90 limit 8
//	  begin  words:title                         -> dot
//	  dot    form:.                              -> name
//	  dot    skip                                -> name
//	  name   call:name / open close              -> end
//
// A network has states; the one of its first arc is where it begins, "end" is
// where it ends. An arc names its state, tests that must all hold of one token,
// behind a slash what it does, and the state that it leads to. ! before a test
// turns it round; values are divided by |. What an arc consumes is one token, or:
//
//	skip        nothing; registers may be tested
//	peek        nothing, but the tests hold of the token that comes next
//	part:V|V    the beginning of a token (lAnna is l and Anna); what is left of
//	            it is a token for the next arc. Other tests are of the whole
//	phrase:C|C  the longest entry of several words of these lists
//	call:NAME   what another network consumes
//	text:/RE/   what a regular expression (RE2) matches of the line from here on, at
//	            most MaxText bytes; with check:NAME only if its check digit is
//	            right (cif, cip, dni, iban, luhn, nass)
//
// Tests of a token:
//
//	any               every token
//	none              there is no token left in the line (with peek)
//	form:V|V          its form, without case and accents
//	exact:V|V         its form, as written
//	words:NAME|NAME   it is one of the file's own words, without case and accents; gaiter* is what begins so
//	list:CLASS|CLASS  it is in a list of models/word/gazetteer
//	known:CLASS|CLASS the same, with the names of people from all over the world
//	lemma:V|V pos:V|V lemma and part of speech by models/word/morph
//	match:/RE/        a regular expression (RE2) matches the whole form
//	cap lower upper title initial   how it is written: begins with a capital; has none;
//	                  all of two and more are; one and then small ones; a single capital
//	digits alpha punct   made of digits, of letters, of neither
//	first glued       first of its line; no blank before it
//	behind:NAME|NAME  one of the five tokens before it in its line, signs aside, is one
//	                  of the file's own words
//	is:R=N below:R=N  a register holds N, or less
//
// Behind the slash: open (the span begins with what this arc consumes), close
// (it ends with it), set:R=N, add:R. Without open and close the span is all that
// was consumed. A path stays in its line; "limit N" says how many tokens it may
// consume (16). Of all paths from a token the one that consumes most wins, of
// those the first by the order of arcs. A network without category and score is
// there to be called only.
//
// Cost: what a test says of a form is kept with the form, as one bit, and so is
// which networks can begin with it; a token of running text costs one look-up.
// From one token all networks together may try MaxSteps arcs; what was found
// until then counts, and Machine.Exhausted says how often it came to that. Forms
// of more than maxForm bytes are in no list and match no expression. What text:
// may cost a note is bounded, too, and Machine.Costly says when that was not enough.
// So time is linear in the text, whatever the rules.
package rules
