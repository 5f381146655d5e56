package audit

import (
	"os"
	"path"
	"path/filepath"
)

// Each attempt at a share of a plan has a log of its own: several machines cannot add to
// one. When the plan is finished, the head of each stands in the log of the tree, so that
// none can be changed, shortened or taken away.

// ShardName returns the path of the log of an attempt at a shard, below the private tree.
func ShardName(attempt string) string { return auditDir + "/shard-" + attempt + ".jsonl" }

// Shards returns the heads of the logs of all attempts at a planned run, and the units recorded in them. An attempt
// that still runs may append more lines.
func Shards(private, run string) (units []string, heads []Entry, err error) {
	files, err := os.ReadDir(filepath.Join(private, auditDir))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if is, _ := path.Match(path.Base(ShardName(run+"-*")), f.Name()); !is {
			continue
		}
		name := filepath.Join(private, auditDir, f.Name())
		past, err := ReadPast(name)
		if err != nil {
			return nil, nil, err
		}
		for unit := range past.Units {
			units = append(units, unit)
		}
		head, err := Append(name, Entry{Event: "finish", Run: run}) // names a line that a crash has torn
		if err != nil {
			return nil, nil, err
		}
		heads = append(heads, Entry{Shard: f.Name(), Head: head})
	}
	return units, heads, nil
}
