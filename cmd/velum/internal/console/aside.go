package console

import "log/slog"

// Aside counts the input rows that velum skips because they cannot be read, and logs the first five of them.
type Aside struct {
	Log  *slog.Logger
	Rows int64
}

// Row counts one skipped row. err says where it is, what is wrong with it and what to do.
func (a *Aside) Row(err error) {
	if a.Rows++; a.Rows <= 5 {
		a.Log.Warn("a row is set aside", "cause", err.Error())
	}
}
