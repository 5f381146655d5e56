package proof

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// addRows adds up rows.csv of a private tree: by outcome, by file, and against the rows of the parts. What does not add up is a
// difference. A tree without it is of an older velum, or holds nothing.
func (t *checkedTree) addRows() error {
	const name = "rows.csv"
	file, err := os.Open(filepath.Join(t.Dir, name))
	if errors.Is(err, fs.ErrNotExist) || t.manifest == nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read
	lines, err := csv.NewReader(file).ReadAll()
	by, files := map[string]int64{}, map[string]int64{}
	for _, line := range lines[min(1, len(lines)):] {
		rows, bad := strconv.ParseInt(line[3], 10, 64)
		err = errors.Join(err, bad)
		by[line[1]] += rows
		files[line[0]] += rows
	}
	parts := int64(0)
	for _, u := range t.manifest.Inputs() {
		files[u.Input] -= u.Rows
	}
	for _, p := range tagged.Parts(t.manifest, "masked") {
		parts += p.Rows
	}
	same := err == nil && by["masked"] == t.manifest.Masked && parts == by["masked"] &&
		by["masked"]+by["quarantined"]+by["excluded"] == t.manifest.Rows
	for _, left := range files {
		same = same && left == 0
	}
	if !same {
		t.Differences = append(t.Differences, commit.Difference{Path: name, Kind: "does not add up"})
	}
	t.Rows = fmt.Sprintf("%d rows of %d files: %d masked, %d quarantined, %d excluded", t.manifest.Rows, len(files), by["masked"],
		by["quarantined"], by["excluded"])
	return nil
}
