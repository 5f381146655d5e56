// Package rules runs augmented transition networks that people write: rules in a
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
// A network has states. It begins in the state of its first arc and ends in the state
// "end". A line is an arc: the state that it starts from, tests that must all hold of one
// token, after a slash what it does, and the state that it leads to. ! before a test
// negates it; of several values, divided by |, one is enough. An arc consumes one token, or:
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
//	words:NAME|NAME   it is one of the file's own words, without case and accents; gaiter* stands for all that begins with gaiter
//	list:CLASS|CLASS  it is in a list of models/word/gazetteer
//	known:CLASS|CLASS the same, with the names of people from all over the world
//	lemma:V|V pos:V|V lemma and part of speech by models/word/morph
//	match:/RE/        a regular expression (RE2) matches the whole form
//	number:/RE/       the same of a form that begins with an ASCII digit: most forms are no number, and cost nothing
//	ends:V|V          it ends with these letters, as written; ???ista: at least three
//	                  characters before them. Much faster than an expression
//	cap lower upper title initial   how it is written: begins with a capital; has no capital;
//	                  two or more letters, all capitals; a capital and then small letters; one capital alone
//	digits alpha punct   made of digits, of letters, of neither
//	first glued       first of its line; no blank before it
//	behind:NAME|NAME  one of the five tokens before it in its line, signs aside, is one
//	                  of the file's own words
//	is:R=N below:R=N  a register holds N; holds less than N
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
// until then counts. Forms
// of more than maxForm bytes are in no list and match no expression. What text:
// may cost a note is bounded, too, and Machine.Costly says when that was not enough.
// So time is linear in the text, whatever the rules.
package rules
