package console

import "log/slog"

// Aside counts rows of the input that are set aside, and tells of the first of them.
type Aside struct {
	Log  *slog.Logger
	Rows int64
}

// Row takes what is wrong with a row: where, why, and what to do.
func (a *Aside) Row(err error) {
	if a.Rows++; a.Rows <= 5 {
		a.Log.Warn("a row is set aside", "cause", err.Error())
	}
}
