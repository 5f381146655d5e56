package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline/commit"

	"github.com/velum-health/velum/stages/read/tagged"
)

// mostLeaks is the share of other identifiers that may stay readable; of those
// with check digits none may.
const mostLeaks = 0.02

// obfuscation masks every kind of identifier in every form, with both
// profiles, and looks for it in what came out. A note that was kept back leaks
// nothing and is counted apart.
func (t *torture) obfuscation() (string, error) {
	values := turns(20, 2)
	var figures []string
	var failed error
	for _, profile := range []string{"primary-care", "meddocan"} {
		table, err := t.obfuscated(profile, values)
		if err != nil {
			return strings.Join(figures, "; "), err
		}
		text, err := table.judge(values)
		figures = append(figures, profile+" "+text)
		failed = errors.Join(failed, err)
	}
	return strings.Join(figures, "; "), failed
}

// cells counts by kind and form.
type cells [][]struct{ leaks, kept int }

func (t *torture) obfuscated(profile string, values int) (cells, error) {
	table := make(cells, len(obfuscateKinds))
	type place struct {
		kind, form int
		value      string
	}
	var places []place
	var rows []canaryNote
	for k := range obfuscateKinds {
		table[k] = make([]struct{ leaks, kept int }, len(obfuscateForms))
		for f := range obfuscateForms {
			for range values {
				v := obfuscateForms[f].Written(obfuscateKinds[k].Value(t.rng))
				places = append(places, place{k, f, v})
				rows = append(rows, canaryNote{ID: fmt.Sprint("n", len(rows)), Text: obfuscateKinds[k].Note(t.rng, &obfuscateForms[f], v)})
			}
		}
	}
	in, out := t.path("obfuscation", profile+".parquet"), t.path("obfuscation.out")
	if err := errors.Join(os.MkdirAll(filepath.Dir(in), 0o700), parquet.WriteFile(in, rows, parquet.MaxRowsPerRowGroup(1000))); err != nil {
		return nil, err
	}
	defer t.clear(out)
	if err := must(0, t.mask(in, out, "--profile", profile)); err != nil {
		return nil, err
	}
	m, err := commit.ReadManifest(out)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		table[p.kind][p.form].kept++
	}
	return table, tagged.Rows(m, out, "masked", func(n tortureRow) error {
		p := places[n.Row]
		table[p.kind][p.form].kept--
		if obfuscateReadable(n.Text, p.value) {
			table[p.kind][p.form].leaks++
		}
		return nil
	})
}

// judge sums the table up and says whether it may stand.
func (c cells) judge(values int) (string, error) {
	checked, others, notes, kept := 0, 0, 0, 0
	var worst []string
	for k, row := range c {
		for f, cell := range row {
			kept += cell.kept
			if obfuscateKinds[k].Checked && !obfuscateForms[f].Breaks() {
				checked += cell.leaks
			} else {
				others += cell.leaks
				notes += values
			}
			if cell.leaks > 0 {
				worst = append(worst, fmt.Sprintf("%02d of %d %s, %s", cell.leaks, values, obfuscateKinds[k].Name, obfuscateForms[f].Name))
			}
		}
	}
	text := fmt.Sprintf("%d kinds x %d forms x %d: checked identifiers %d leaks, others %.2f %%, %d notes kept back",
		len(obfuscateKinds), len(obfuscateForms), values, checked, 100*float64(others)/float64(notes), kept)
	if checked > 0 || float64(others) > mostLeaks*float64(notes) {
		sort.Strings(worst)
		slices.Reverse(worst)
		return text, errors.New("identifiers stayed readable: " + strings.Join(worst[:min(len(worst), 400)], "; "))
	}
	return text, nil
}
