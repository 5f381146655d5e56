package input

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/velum-health/velum/pipeline/commit"
)

// MaxInput is the size of the largest file or line that is read as a whole, since offsets of a batch have 32 bits.
const MaxInput = 1 << 30

// An Error says where a file is wrong, why, and what to do. It quotes no text of the file, since a wrong line may be a
// line of a note.
type Error struct {
	Path   string
	Line   int // from 1; 0 when the whole file is meant
	Column int // in bytes, from 1; 0 when the whole line is meant
	Cause  string
	Remedy string
}

func (e *Error) Error() string {
	var at strings.Builder
	at.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&at, ":%d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&at, ":%d", e.Column)
	}
	return fmt.Sprintf("%s: %s; %s", at.String(), e.Cause, e.Remedy)
}

// Where returns the place and the cause without the path, which may name the month.
func (e *Error) Where() string {
	switch {
	case e.Column > 0:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Cause)
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Cause)
	}
	return e.Cause
}

func Cause(err error) string {
	switch {
	case errors.Is(err, errChanged), errors.Is(err, errSpecial):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read"
	}
	return "cannot be read"
}

// Damage is damage of a file.
func Damage(path, cause string) *commit.DamageError {
	return &commit.DamageError{Path: path, RowGroup: -1, Cause: cause}
}

// Unread is damage that may be of the disk or the network: the next start reads the file again.
func Unread(path, cause string) *commit.DamageError {
	return &commit.DamageError{Path: path, RowGroup: -1, Cause: cause, Unread: true}
}

// A SchemaError says which column of a file does not agree with the configuration, what was found, and what to do.
type SchemaError struct {
	Path   string
	Column string
	Cause  string
	Remedy string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: column %q %s; %s", e.Path, e.Column, e.Cause, e.Remedy)
}
