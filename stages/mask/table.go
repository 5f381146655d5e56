package mask

// kinds is the table of operators: to add one, write its file and a line here.
func kinds() []kind { return table }

var table []kind

func init() {
	table = []kind{
		{PlaceholderName, "the name of the category in brackets; untyped [PHI]; numbered [PERSON_1], the same person throughout the note", false,
			newPlaceholder},
		{"suppress", "nothing", false, newSuppress},
		{"keep", "the value itself", false, newKeep},
		{"mask",
			"stars, blanks included, as many as fill groups of size=16: the length does not tell the value; first=1 leaves the first character",
			false, newStars},
		{"hash", "the category and a keyed hash, [PERSON:7f3a]: equal values of the scope have equal hashes", true, newHash},
		{"encrypt", "the category and the value encrypted (AES-SIV): velum mask reveal opens it under the key", true, newEncrypt},
		{"surrogate", "another value of the same kind, gender, language, size and format: consistent, random or changing in stretches (markov)",
			true, newSurrogate},
		{"randomize", "any value of a list, values=A,B,C or file=NAMES.TXT with one a line; nothing of what stood there is left", true,
			newRandomize},
		{"shuffle",
			"a value of the same category, a place of the same kind, from another note of the archive (velum mask --tagged): real ones, so nothing for names that may not be known at all; not of identifiers", true, newShuffle},
		{"aggregate", "a larger place: the autonomous community of a town or province, the first digits of a postal code", false, newAggregate},
		{"shift",
			"dates moved by one keyed offset of their patient or note, in the format that they had; season moves them by years and stays near the time of year; edge=72 holds notes at the begin and end of the archive back, where a patient's notes span it and would leave fewer offsets", true, newShift},
		{"interval", "dates as the time since the note's date or its first one, [DATE +12 d]", false, newInterval},
		{"year", "the year of a date, unless it tells an age over the limit", false, newYear},
		{"age", "ages over the limit as [AGE > 89], others as the class that they lie in; class=1 keeps them", false, newAge},
	}
}
