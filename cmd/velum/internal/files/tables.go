package files

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// merged keeps lists that were merged before, by the paths of their files:
// every plan of a training asks for them.
var merged struct {
	sync.Mutex
	lists map[string]*gazetteer.Gazetteer
}

// MergedLists returns the built-in lists merged with the entries of the files at paths; key is the option that names
// the files.
func MergedLists(key string, paths []string) (*gazetteer.Gazetteer, error) {
	if len(paths) == 0 {
		return gazetteer.Default(), nil
	}
	merged.Lock()
	defer merged.Unlock()
	name := strings.Join(paths, "\x00")
	if g := merged.lists[name]; g != nil {
		return g, nil
	}
	tables, _, err := OpenTables(paths)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	g, err := gazetteer.With(tables...)
	if err != nil {
		return nil, err
	}
	if merged.lists == nil {
		merged.lists = map[string]*gazetteer.Gazetteer{}
	}
	merged.lists[name] = g
	return g, nil
}

// ClassRemedy returns the remedy for an unknown class of lists: what to write instead.
func ClassRemedy(class string) string {
	if remedy := exit.DidYouMean(class, gazetteer.ClassNames()); remedy != "" {
		return remedy
	}
	return "classes: " + strings.Join(gazetteer.ClassNames(), ", ")
}

// OpenTable opens a file of compiled lists and keeps it memory-mapped.
func OpenTable(path string) (*gazetteer.Table, error) {
	f, err := modelfile.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, modelfile.ErrNotAModel) {
			return nil, exit.Misconfigured(err, "`velum teach gazetteer build` makes one")
		}
		return nil, exit.With(exit.Integrity, err, "build it again: velum teach gazetteer build")
	}
	t, err := gazetteer.LoadTable(f)
	if err != nil {
		return nil, exit.With(exit.Integrity, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close()), "`velum teach gazetteer build` makes one")
	}
	return t, nil
}

// OpenTables opens several files of compiled lists; prints are the fingerprints of their contents.
func OpenTables(paths []string) (tables []*gazetteer.Table, prints []string, err error) {
	for _, path := range paths {
		t, err := OpenTable(path)
		if err != nil {
			return nil, nil, err
		}
		tables, prints = append(tables, t), append(prints, fmt.Sprintf("%x", t.Fingerprint()))
	}
	return tables, prints, nil
}
