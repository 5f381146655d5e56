package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/anonymize"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/release"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/idset"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/rare"
	"github.com/velum-health/velum/stages/write/rewrite"
	"github.com/velum-health/velum/stages/write/summary"
)

// lastStep is the work of a run after all units are done:
//
//	summaries of units  ─> number of repeated ids; choice of notes
//	candidates parts    ─> selected/, review/: the chosen notes (room selection)
//	rare parts          ─> rare/: the notes that single somebody out, the worst first
//	quasi parts         ─> quasi/, public: k-anonymity (anonymity.go)
//	staged parts        ─> masked/, spans/, quasi/, public: rows of all units in an order computed with the key (rewrite.Mix)
//	counts of all units ─> report.json, report.html (room report)
//
// The result depends only on the manifest and the configuration, so a run that was interrupted and continued writes the
// same bytes.
type lastStep struct {
	*masking
	selection *selection.Selector // nil: none
	attacks   *report.Attacks
	readings  []audit.Recorded // of samples of what the output was
	ledger    *release.Ledger  // nil: nothing is released
	stand     map[uint64]bool  // places that somebody who read them lets stand though they single somebody out

	duplicates *int64 // ids that come again, when finish has counted them
}

func newLastStep(m *masking) (*lastStep, error) {
	l, log := &lastStep{masking: m}, m.record.readings()
	var err error
	if l.ledger, err = release.New(m.Flow, m.tagged, log); err != nil {
		return nil, err
	}
	if l.readings, err = audit.Readings(log); err != nil {
		return nil, err
	}
	if l.stand, err = audit.Places(log); err != nil {
		return nil, err
	}
	if file := l.Gate.Attacks; file != "" {
		if l.attacks, err = report.ReadAttacks(file); err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("gate.attacks: %s: %w", file, err), "give what `velum prove attack --json` printed")
		}
	}
	if !l.Choose.Use {
		return l, nil
	}
	l.selection, err = selection.NewSelector(l.Config, l.Model.TaughtSet(), l.Model.Header().Training, l.Workers())
	return l, err
}

// String returns the options that affect only the last step. If they change, the last step is repeated and the units
// are not.
func (l *lastStep) String() string {
	keys := []string{"write.max_quarantined", "report.lang", "report.expected", "report.proven", "report.read_seconds"}
	if l.selection != nil {
		keys = append(keys, "choose.k", "choose.classes", "choose.review")
	}
	if l.Anonymity.K > 0 {
		keys = append(keys, "anonymity.k", "anonymity.l", "anonymity.t", "anonymity.suppress", "anonymity.releases")
	}
	var all []string
	for _, key := range keys {
		all = append(all, key+"="+l.Text(key))
	}
	for _, r := range l.readings {
		stands := int64(0)
		if r.Judged != nil {
			stands = r.Judged.Line
		}
		all = append(all, fmt.Sprintf("read=%d/%d of %.12s, set aside for %d", r.Leaks, r.Read, r.Output, stands))
	}
	if len(l.stand) > 0 {
		all = append(all, fmt.Sprintf("stand=%d", len(l.stand)))
	}
	if l.attacks != nil {
		found, err := json.Marshal(l.attacks)
		all = append(all, fmt.Sprintf("gate.attacks=%x", sha256.Sum256(found)))
		if err != nil { // never of numbers that were read as JSON
			all = append(all, err.Error())
		}
	}
	if len(l.Gate.Missed) > 0 || l.attacks != nil {
		all = append(all, "gate.missed="+l.Text("gate.missed"), "gate.max_leak="+l.Text("gate.max_leak"))
	}
	if moved, err := l.Dates(); err == nil && moved != "" {
		all = append(all, fmt.Sprintf("dates=%q", moved))
	}
	return strings.Join(all, " ")
}

func (l *lastStep) finish(ctx context.Context, f *commit.Final) error {
	in, err := l.reportInput(f.Manifest)
	if err != nil {
		return err
	}
	var ids []uint64
	again, among, err := l.sums(ctx, f, &ids)
	if err != nil {
		return err
	}
	if l.Read.IDs != "drop" {
		l.duplicates, in.Duplicates = &again, &again
	}
	if l.selection != nil {
		if in.Selection, err = l.selection.Finish(ctx, f, among); err != nil {
			return err
		}
	}
	if l.Anonymity.K > 0 {
		if in.Anonymity, err = anonymize.Finish(ctx, l.Config, f); err != nil {
			return err
		}
	}
	for _, k := range [][2]string{{"masked", "masked"}, {"spans", "spans"}, {"quasi", anonymize.Staged}} {
		groups, err := rewrite.Mix(ctx, f, k[0], k[1], l.Write.RowGroupRows, l.Workers())
		if err != nil {
			return err
		}
		in.Stretches = in.Stretches || groups > 1
	}
	if in.Rows, err = writeRows(f); err != nil {
		return err
	}
	if l.Range != nil {
		part, err := f.Create(rangeKind, "range.json", true)
		if err := errors.Join(err, json.NewEncoder(part).Encode(l.Range)); err != nil {
			return err
		}
	}
	if l.Mask.Rare != rare.Off {
		if in.Rare, err = selection.Rare(ctx, l.Config, f, l.stand); err != nil {
			return err
		}
	}
	r := report.New(f.Manifest, in)
	if why := r.Leak.TooMuch(); why != "" {
		return exit.Errorf(exit.Privacy, "raise tag.recall or correct the policy; gate.max_leak sets the limit", "%s: nothing was committed", why)
	}
	if drifted := strings.Join(r.Trend.Drifted(), ", "); drifted != "" && l.Gate.Drift {
		return exit.Errorf(exit.Privacy, "look at that month; --set gate.drift=false commits it",
			"the newest month is unlike those before (%s): nothing was committed", drifted)
	}
	if err := l.ledger.Note(f.Manifest, audit.NewSketch(ids), in.Anonymity); err != nil {
		return err
	}
	return r.Write(f)
}

func (l *lastStep) reportInput(m *commit.Manifest) (*report.Input, error) {
	unvouched, _ := l.archive.Unvouched()
	in := &report.Input{Stretches: l.Range != nil && l.Range.Stretches, Unvouched: unvouched, Config: l.Config, Attacks: l.attacks,
		Reading: audit.Standing(l.readings, m), Files: l.archive.Files, Drift: l.archive.Drift, Model: l.Model.Header(), Version: l.Version}
	r := &l.Resolve
	for _, list := range []struct {
		entries []string
		file    string
		n       *int
	}{{r.Always, r.AlwaysFile, &in.Always}, {r.Never, r.NeverFile, &in.Never}} {
		all, err := files.WithLines(list.entries, list.file)
		if err != nil {
			return nil, err
		}
		*list.n = len(all)
	}
	if l.Tag.Recall > 0 {
		at, err := l.Model.Bias(l.Tag.Recall)
		if err != nil {
			return nil, err
		}
		in.Dial = &at
	}
	return in, nil
}

// sums reads the summaries of the units, and not the notes: it counts repeated ids and makes the choice among all
// candidates. So old notes cost some bytes each. sample receives the lowest id hashes of each unit.
func (l *lastStep) sums(ctx context.Context, f *commit.Final, sample *[]uint64) (again int64, among *choose.Choice, err error) {
	if l.selection != nil {
		if among, err = l.selection.Choose(); err != nil {
			return 0, nil, err
		}
	}
	ids := idset.NewCounter(f.Manifest.Counts.Rows)
	for pass := range ids.Passes() {
		for i := range f.Manifest.Units {
			if ctx.Err() != nil {
				return 0, nil, context.Cause(ctx)
			}
			u := &f.Manifest.Units[i]
			at := slices.IndexFunc(u.Parts, func(p commit.PartRecord) bool { return p.Kind == "summary" })
			if at < 0 { // nothing of it could be read, or another version of velum did it
				continue
			}
			if pass > 0 {
				err = moreIDs(f, ids, pass, i, u.Parts[at])
			} else {
				err = l.sum(f, i, u.Parts[at], ids, among, sample)
			}
			if err != nil {
				return 0, nil, fmt.Errorf("%s: %w", u.Parts[at].Path, err)
			}
		}
	}
	return ids.Again(), among, nil
}

// sum takes the summary of unit i into account.
func (l *lastStep) sum(f *commit.Final, i int, part commit.PartRecord, ids *idset.Counter, among *choose.Choice, sample *[]uint64) error {
	data, err := f.Read(part)
	if err != nil {
		return err
	}
	s, err := summary.Parse(data)
	if err != nil {
		return err
	}
	if err := ids.Add(0, i, io.NewSectionReader(bytes.NewReader(s.IDs), 0, int64(len(s.IDs)))); err != nil {
		return err
	}
	u := &f.Manifest.Units[i]
	if u.Model == "" && u.Config == "" {
		*sample = idset.AppendLowest(*sample, s.IDs, audit.SketchSize)
	}
	// Another model's confidence cannot be compared, and its tags may be others.
	if among != nil && u.Model == "" && len(s.Candidates) > 0 {
		return among.Add(uint32(i), s.Candidates)
	}
	return nil
}

// moreIDs counts, in pass number pass, the ids of unit i. The first pass has checked the file from which they are read.
func moreIDs(f *commit.Final, ids *idset.Counter, pass, i int, part commit.PartRecord) error {
	file, err := f.Open(part)
	if err != nil {
		return err
	}
	set, err := summary.IDs(file)
	if err == nil {
		err = ids.Add(pass, i, set)
	}
	return errors.Join(err, file.Close())
}

// tallied adds the counts of resolve to those of a unit. They are stored with the unit, because a total of the process
// would lack the units of earlier starts.
type tallied struct {
	commit.UnitSink
	found *flow.Found // of the unit
}

// Close implements commit.UnitSink.
func (c tallied) Close() (commit.Counts, error) {
	counts, err := c.UnitSink.Close()
	if err != nil {
		return counts, err
	}
	report.TakeFound(&counts.Tally, c.found)
	return counts, nil
}
