package pipeline

// Reason is the reason why a note is in quarantine. The codes are part of the file format: they are written to
// quarantine parts and reports and never change their meaning.
type Reason uint8

const (
	Sound          Reason = iota
	NullText              // the text is null
	BadEncoding           // the text is not valid UTF-8
	TooLong               // more bytes or tokens than the configuration allows
	ControlText           // NUL or other characters that no note holds
	NullID                // the row has no id
	Panicked              // a stage panicked on this note
	TimedOut              // a stage took too long on this note
	NoModel               // the tagger or a dictionary that it needs was missing
	SurvivingValue        // verify: a masked value can still be read
	StrictFinding         // verify: the second look found an identifier
	BadUnit               // the file or row group could not be decoded
	BadTags               // tokens, matches, tags or a confidence that cannot be right
	ChangedText           // verify: what was not found is not in the masked text as it was
	Unsealed              // write: the masked text is not one that verify has passed
	BadRow                // the row of a table or the JSON object breaks its format
	Excluded              // the patient objects: the note is left out
	TooCostly             // user-defined rules took more time than a note may; they would at every start
	NoPatient             // people object, and nobody knows whose the note is
	Unreadable            // the document holds what nobody can look at: an image, a scan
	IdentifyingID         // the id says who somebody is, and would be public
	StandsAlone           // what is left of the note can be true of one person alone
	RangeEdge             // the note lies at the begin or end of the archive, and would tell by how much dates were moved
	numReasons
)

var reasonNames = [numReasons]string{
	"sound", "null_text", "bad_encoding", "too_long", "control_text", "null_id",
	"panicked", "timed_out", "no_model", "surviving_value", "strict_finding", "bad_unit", "bad_tags", "changed_text", "unsealed", "bad_row",
	"excluded", "too_costly", "no_patient", "unreadable", "identifying_id", "stands_alone", "range_edge",
}

// String returns the code used in files and reports.
func (r Reason) String() string { return nameOf(reasonNames[:], int(r)) }

// Reasons returns how many reasons there are, for counting by reason.
func Reasons() int { return int(numReasons) }
