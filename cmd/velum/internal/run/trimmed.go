package run

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/mask"
)

// rangeKind is the kind of the part of the private tree that has the range of the archive.
const rangeKind = "range"

// trims determines, if the policy trims the edges of an archive, its date range and the patients whose notes span it.
// The first commit stores the result, because released notes cannot be taken back: later runs use it, and do not trim
// the notes that they add.
func (m *masking) trims(ctx context.Context) error {
	edge := 0
	chains, err := m.Operators()
	for _, c := range chains {
		edge = max(edge, c.Edge())
	}
	if err != nil || edge == 0 {
		return err
	}
	if m.Read.IDs == "keep" {
		m.Log.Warn("ids stay as they are: where they count up, an id tells when its note was written, and by how much dates were moved; read.ids=keyed hides that")
	}
	if m.Read.Columns.Date == "" || m.Read.Columns.Patient == "" {
		m.Log.Warn("no notes are held back at the edges of the archive, since no column says whose they are or of which day (read.columns.patient, read.columns.date): where a patient's notes span it, its range tells by how much dates were moved")
		return nil
	}
	if !m.options.Fresh {
		if err := m.settledRange(); err != nil || m.Range != nil {
			return err
		}
	}
	o, err := m.MaskOptions()
	if err != nil {
		return err
	}
	days, err := mask.NewDays(o)
	if err != nil {
		return err
	}
	// The units that rewrite.Mix mixes count as one piece. Every other unit is a piece of its own, as are all units with
	// tables of OMOP, which are never mixed.
	for _, staged := range []bool{true, false} {
		for i := range m.archive.Units {
			u := &m.archive.Units[i]
			days.Mixed = m.archive.Mixes(u)
			if staged != (days.Mixed && m.Profile != configs.OMOPProfile) {
				continue
			}
			if err := m.archive.Each(ctx, u, days); err != nil {
				return err
			}
			if !staged {
				days.EndPiece()
			}
		}
		days.EndPiece()
	}
	long := false
	if m.Range, long = days.Range(edge); !long {
		m.Log.Warn("no notes are held back at the edges of the archive, since it is too short: its range tells by how much dates were moved; give more months at once", "at_least_days", 3*edge)
	}
	return nil
}

// settledRange takes over the range that the last commit has found.
func (m *masking) settledRange() error {
	old, err := commit.ReadManifest(m.options.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range old.Files {
		if p.Kind == rangeKind {
			data, err := files.Part(m.options.Private, &p)
			if err != nil {
				return err
			}
			m.grows = true
			return json.Unmarshal(data, &m.Range)
		}
	}
	return nil
}
