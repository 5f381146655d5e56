package main

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/resolve"
)

// lastStep is what a run does when all units are done:
//
//	ids of all parts    ─> how many come again
//	candidates parts    ─> selected/, review/       (selection.go)
//	counts of all units ─> report.json, report.html (report.go)
//
// It is a function of the manifest and the configuration, so that a run that
// was stopped and went on ends with the same bytes.
type lastStep struct {
	config    *Config
	model     *model
	archive   *read.Archive
	selection *selection // nil: none

	duplicates *int64 // ids that come again, when finish has counted them
}

func newLastStep(p *plan, a *read.Archive) (*lastStep, error) {
	l := &lastStep{config: p.Config, model: p.model, archive: a}
	if !p.Choose.Use {
		return l, nil
	}
	var err error
	l.selection, err = newSelection(p.Config, p.model.tagSet, p.model.header.Training, p.workers)
	return l, err
}

// String names what the step does beyond what shapes units: when it changes,
// the step is done again, and the units are not.
func (l *lastStep) String() string {
	keys := []string{"write.max_quarantined"}
	if l.selection != nil {
		keys = append(keys, "choose.k", "choose.classes", "choose.length", "choose.review")
	}
	options := l.config.options()
	var all []string
	for _, key := range keys {
		all = append(all, key+"="+find(options, key).text())
	}
	return strings.Join(all, " ")
}

func (l *lastStep) finish(ctx context.Context, f *pipeline.Final) error {
	in, err := l.reportInput()
	if err != nil {
		return err
	}
	if l.config.Read.IDs != "drop" {
		n, err := duplicates(ctx, f, workers(l.config))
		if err != nil {
			return err
		}
		l.duplicates, in.duplicates = &n, &n
	}
	if l.selection != nil {
		if in.selection, err = l.selection.finish(ctx, f); err != nil {
			return err
		}
	}
	return newReport(f.Manifest, in).write(f)
}

func (l *lastStep) reportInput() (*reportInput, error) {
	in := &reportInput{config: l.config, files: l.archive.Files, drift: l.archive.Drift, model: l.model.header}
	r := &l.config.Resolve
	for _, list := range []struct {
		entries []string
		file    string
		n       *int
	}{{r.Always, r.AlwaysFile, &in.always}, {r.Never, r.NeverFile, &in.never}} {
		all, err := withLines(list.entries, list.file)
		if err != nil {
			return nil, err
		}
		*list.n = len(all)
	}
	if l.config.Tag.Recall > 0 {
		at, err := l.model.crf.Bias(l.config.Tag.Recall)
		if err != nil {
			return nil, err
		}
		in.dial = &at
	}
	return in, nil
}

// duplicates counts ids that come again, in what was written: what a source
// counts while it reads is lost when the run is stopped.
func duplicates(ctx context.Context, f *pipeline.Final, workers int) (int64, error) {
	var parts []read.IDPart
	for _, u := range f.Manifest.Units {
		for _, p := range u.Parts {
			if p.Kind != "masked" && p.Kind != "quarantine" {
				continue
			}
			parts = append(parts, read.IDPart{Path: p.Path, Bytes: p.Bytes, Open: func() (interface {
				io.ReaderAt
				io.Closer
			}, error) {
				return f.Open(p)
			}})
		}
	}
	return read.DuplicateIDs(ctx, parts, read.IDOptions{Rows: f.Manifest.Counts.Rows, Workers: workers})
}

// tallied adds to the counts of a unit what resolve did in it. They must come
// with the unit: a total of the process would miss the units that an earlier
// start did.
type tallied struct {
	pipeline.UnitSink
	found *resolve.Counts // of the unit
}

// Close implements pipeline.UnitSink.
func (c tallied) Close() (pipeline.Counts, error) {
	counts, err := c.UnitSink.Close()
	if err != nil {
		return counts, err
	}
	t := c.found.Take()
	note := func(name string, n int64) {
		if n > 0 {
			if counts.Tally == nil {
				counts.Tally = map[string]int64{}
			}
			counts.Tally[name] = n
		}
	}
	names := resolve.RuleNames()
	for i, n := range t.Rules {
		note(ruleUses+names[i], n)
	}
	for i, n := range t.Always {
		note(alwaysUses+strconv.Itoa(i+1), n)
	}
	for i, n := range t.Never {
		note(neverUses+strconv.Itoa(i+1), n)
	}
	lists := lexicons(gazetteer.Default()).Never
	for i, n := range t.NeverLists {
		note(neverListUses+lists[i].Name, n)
	}
	note(lowScore, t.Low)
	return counts, nil
}
