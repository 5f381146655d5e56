package document

import "bytes"

// Format is a document format.
type Format uint8

// The formats. NoFormat stands for notes that are no documents.
const (
	NoFormat Format = iota
	FHIR
	HL7
	CDA
)

var formatNames = [...]string{"", "fhir", "hl7", "cda"}

// String returns the name of the format in the configuration.
func (f Format) String() string { return formatNames[f] }

// ParseFormat returns the format with that name.
func ParseFormat(name string) Format {
	for f, have := range formatNames {
		if have == name {
			return Format(f)
		}
	}
	return NoFormat
}

// Of returns the format of a document that Open has accepted, by its first character.
func Of(doc []byte) Format {
	head := bytes.TrimLeft(bytes.TrimPrefix(doc, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(head) == 0:
	case head[0] == '{':
		return FHIR
	case head[0] == 'M':
		return HL7
	case head[0] == '<':
		return CDA
	}
	return NoFormat
}

// Ext returns the file extension of the format, and the terminator to append to a document that does not end with it.
func (f Format) Ext() (ext, end string) {
	switch f {
	case FHIR:
		return ".ndjson", "\n"
	case HL7:
		return ".hl7", ""
	}
	return ".xml", ""
}

// FormatOf guesses the format of a file or stream from its first bytes.
func FormatOf(head []byte) Format {
	if len(head) == 0 || head[0] != 'M' && head[0] != 'F' && head[0] != 'B' && head[0]|0x20 >= 'a' && head[0]|0x20 <= 'z' {
		return NoFormat // as nearly all notes begin
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n\x0b")
	switch {
	case len(head) > 8 && isHeader(head):
		return HL7
	case bytes.HasPrefix(head, []byte("<")) && (bytes.Contains(head, []byte("ClinicalDocument")) || bytes.Contains(head, []byte("hl7-org")) ||
		bytes.Contains(head, []byte("hl7.org/fhir"))):
		return CDA // or other XML of HL7, which is refused
	case bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head[:min(len(head), 4096)], []byte(`"resourceType"`)):
		return FHIR
	}
	return NoFormat
}

// isHeader tells whether a message or the envelope of messages begins here.
func isHeader(data []byte) bool {
	for _, name := range []string{"MSH", "FHS", "BHS"} {
		if bytes.HasPrefix(data, []byte(name)) && len(data) > 4 && !nameByte(data[3]) && data[3] > ' ' {
			return true
		}
	}
	return false
}

// Next finds the next document in a stream: it is data[from:end], and the one after it begins at end. A result of
// blanks only is no document. end is 0 if more data is needed. A broken document does not affect the next one: a FHIR
// resource ends with its line, an HL7 message where the next one begins. A resource whose first line is a single brace,
// and a CDA document, take all data.
func (f Format) Next(data []byte, ended bool) (from, end int) {
	switch f {
	case FHIR:
		return nextResource(data, ended)
	case HL7:
		return nextMessage(data, ended)
	}
	if !ended {
		return 0, 0
	}
	return 0, len(data)
}

func nextResource(data []byte, ended bool) (from, end int) {
	from = len(data) - len(bytes.TrimLeft(data, " \t\r\n\ufeff"))
	n := bytes.IndexByte(data[from:], '\n')
	switch {
	case n < 0 && ended:
		return from, len(data)
	case n < 0:
		return 0, 0
	case string(bytes.TrimSpace(data[from:from+n])) != "{":
		return from, from + n
	case !ended:
		return 0, 0
	}
	return from, len(data)
}

// nextMessage finds a message: from MSH at the begin of a line to the next one, or to
// what ends it in a stream or a batch. What stands in front of the first is skipped.
func nextMessage(data []byte, ended bool) (from, end int) {
	from = -1
	for at := len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff"))); at < len(data); {
		line := data[at:]
		if len(line) < 5 && !ended {
			return 0, 0
		}
		stop := from >= 0 && (isHeader(line) || bytes.HasPrefix(line, []byte("BTS")) || bytes.HasPrefix(line, []byte("FTS")) ||
			line[0] == '\x1c' || line[0] == '\x0b')
		if stop {
			return from, at
		}
		if from < 0 && isHeader(line) && line[0] == 'M' {
			from = at
		}
		n := bytes.IndexAny(line, "\r\n\x0b\x1c")
		if n < 0 {
			break
		}
		if at += n; line[n] == '\x1c' && from >= 0 {
			return from, at
		}
		at++
		if line[n] == '\x0b' && from >= 0 && n > 0 {
			return from, at - 1
		}
	}
	switch {
	case !ended:
		return 0, 0
	case from < 0:
		return len(data), len(data)
	}
	return from, len(data)
}
