// Package release keeps the ledger of the extracts that were released, and refuses an extract that reveals something
// when it is compared with an earlier one.
package release

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// Ledger records the releases of an archive, and checks the release that a run would make now: an extract, or a run
// whose policy writes realistic values or makes columns k-anonymous. The ledger is the file that mask.ledger names; by
// default it is the audit log of the tree that the extract is made from, or of the output. In the default case the
// release is also recorded in the ledger of the institution, if there is one beside the key (see HouseName).
//
// In the default case the ledgers of all outputs in the same folder are read, too, because a second extract is mostly
// made beside the first; and so are those of other keys in the folder of the key, because two extracts with different
// keys reveal most. They are not written. A ledger in a per-user state folder was ruled out: it vanishes with a
// container, colleagues would have one each, and it would remember trials that were deleted.
type Ledger struct {
	names   []string      // files of the ledgers that the release is written into, the institution's last, if there is one
	release audit.Release // without what is known at the end
	before  []released
	known   *audit.Release // one of this ledger that reads the same, an allowed one if there is; nil: none
	allowed bool
	alone   bool
}

// released is an earlier release and the file that records it.
type released struct {
	audit.Release
	where string
}

// New returns the ledger for a run; nil if the run releases nothing that a comparison could exploit. Placeholders alone
// show what was masked, so comparing them reveals nothing more.
func New(f *flow.Flow, tagged *files.Tagged, own string) (*Ledger, error) {
	imitated, err := f.Imitated()
	if err != nil || tagged == nil && len(imitated) == 0 && f.Anonymity.K == 0 {
		return nil, err
	}
	l := &Ledger{names: []string{filepath.Clean(cmp.Or(f.Mask.Ledger, own))}, allowed: f.Mask.Again == "allow", alone: f.Mask.Ledger == "" &&
		tagged == nil}
	if tagged != nil && f.Mask.Ledger == "" {
		l.names[0] = audit.LogIn(tagged.Dir())
	}
	chains, err := f.Operators()
	if err != nil {
		return nil, err
	}
	policy := sha256.New()
	for c, chain := range chains {
		fmt.Fprintf(policy, "%v=%v\n", pipeline.Category(c), chain)
	}
	spans := sha256.New()
	if tagged != nil {
		fmt.Fprintf(spans, "tagged %s\n", tagged.Made)
	} else {
		shaping, err := f.Shaping()
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(shaping)) {
			if section, _, _ := strings.Cut(key, "."); key == "mask.calendar" ||
				strings.Contains(" tag inverse patterns people resolve tokenize ", " "+section+" ") {
				fmt.Fprintf(spans, "%s=%s\n", key, shaping[key])
			}
		}
	}
	l.release = audit.Release{
		Purpose: f.Mask.Purpose, Recipients: f.Mask.Recipients, K: f.Anonymity.K, Model: hex.EncodeToString(f.Model.SHA256[:]),
		Policy: hex.EncodeToString(policy.Sum(nil)[:8]), Spans: hex.EncodeToString(spans.Sum(nil)[:8]),
	}
	o, err := f.MaskOptions()
	if err != nil {
		return nil, err
	}
	l.release.Key = o.Key.ID()
	if f.Mask.Ledger != "" {
		return l, l.open("", "")
	}
	keys := ""
	if f.Key.File != "" {
		keys = filepath.Dir(f.Key.File)
		if err := l.ofHouse(keys); err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("the ledger of the house: %w", err), "let it be read, or name one with mask.ledger")
		}
	}
	return l, l.open(filepath.Dir(filepath.Dir(filepath.Dir(own))), keys) // beside the private tree
}

// ofHouse adds the ledger of the institution, the file beside the key that is named by the key's id; it covers outputs
// in all folders. It is used only if it exists (velum night creates it with the key). A run never creates it, because
// trials that were deleted would then be refused for ever.
func (l *Ledger) ofHouse(keys string) error {
	house := filepath.Join(keys, HouseName(l.release.Key))
	_, err := os.Stat(house)
	if err == nil {
		l.names, l.alone = append(l.names, house), false
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// HouseName returns the file name of the institution's ledger for the key with that id.
func HouseName(id string) string { return "velum-" + id + ".releases" }

// open reads what was released before, by the ledgers of the release and by those in two folders, see readBeside.
func (l *Ledger) open(outputs, keys string) error {
	for _, name := range l.names {
		if err := l.read(name); err != nil {
			return err
		}
	}
	for i := range l.before {
		if r := &l.before[i].Release; len(r.Differs(&l.release)) == 0 && (l.known == nil || r.Allowed) {
			l.known = r
		}
	}
	l.readBeside(outputs, keys)
	return nil
}

func (l *Ledger) read(name string) error {
	all, err := audit.Releases(name)
	for i := range all {
		l.before = append(l.before, released{all[i], fmt.Sprintf("release %d of %s in the ledger %s", i+1, all[i].Time.Format(time.DateOnly),
			name)})
	}
	return err
}

// readBeside reads the ledgers of the outputs in a folder, and those of the keys in another; "" is none. One that cannot be read
// is another's, and the warning of Alone holds.
func (l *Ledger) readBeside(outputs, keys string) {
	for _, in := range []struct{ folder, ext string }{{outputs, ".private"}, {keys, ".releases"}} {
		entries, _ := os.ReadDir(in.folder)
		for _, e := range entries {
			name := filepath.Join(in.folder, e.Name())
			if filepath.Ext(name) != in.ext {
				continue
			}
			if in.ext == ".private" {
				name = audit.LogIn(name)
			}
			if !slices.Contains(l.names, name) {
				_ = l.read(name)
			}
		}
	}
}

// Alone reports whether the ledger covers a single output only. To release the same notes in two folders, the user must
// name one ledger for both.
func (l *Ledger) Alone() bool { return l != nil && l.alone }

// Key returns the id of the key of the release.
func (l *Ledger) Key() string { return l.release.Key }

// may returns an error if the notes were released before with other texts: by comparing both, a reader could see that
// words equal in both were missed.
func (l *Ledger) may(found audit.Sketch, in func(*audit.Release) audit.Sketch) error {
	if l == nil {
		return nil
	}
	for i := range l.before {
		r := &l.before[i]
		what := r.Differs(&l.release)
		if len(what) == 0 || l.known != nil && (r.Allowed || l.known.Allowed) || !in(&r.Release).Meets(found) {
			continue // or both were let out before, knowingly
		}
		l.release.Allowed = true
		if !l.allowed {
			return exit.Errorf(exit.Privacy,
				"take what the other had; remove an output that nobody got; or mask.again: allow, if nobody gets both (velum prove attack DIR --with OTHER says what they tell together)",
				"notes of it were released before with another %s (%s, `velum prove releases`): whoever has both finds what was missed by comparing them",
				strings.Join(what, ", "), r.where)
		}
	}
	return nil
}

// MayFiles returns an error if the input files, compared with earlier releases, must not be released. It is called
// before anything is masked.
func (l *Ledger) MayFiles(units []commit.Unit) error {
	var sums []uint64
	for i := range units {
		sums = append(sums, binary.BigEndian.Uint64(units[i].SHA256[:]))
	}
	return l.may(audit.NewSketch(sums), func(r *audit.Release) audit.Sketch { return r.Files })
}

// Note records the release before it is committed. ids is a sketch of the ids of the masked notes.
func (l *Ledger) Note(m *commit.Manifest, ids audit.Sketch, k *report.Anonymity) error {
	if l == nil {
		return nil
	}
	if err := l.may(ids, func(r *audit.Release) audit.Sketch { return r.IDs }); err != nil {
		return err
	}
	r := l.release
	var sums []uint64
	for _, u := range m.Inputs() {
		if sum, err := hex.DecodeString(u.SHA256); err == nil && len(sum) == sha256.Size && u.Config == "" && u.Model == "" {
			sums = append(sums, binary.BigEndian.Uint64(sum))
		}
	}
	r.Notes, r.Output, r.IDs, r.Files = m.Counts.Masked, audit.OutputDigest(m), ids, audit.NewSketch(sums)
	if k != nil {
		r.Plan = k.Plan()
	}
	for _, name := range l.names {
		if _, err := audit.Append(name, audit.Entry{Event: "release", Config: m.Config, Model: r.Model, Key: r.Key, Release: &r}); err != nil {
			return exit.Misconfigured(fmt.Errorf("the ledger of releases: %w", err), "name a file that can be written with mask.ledger")
		}
	}
	return nil
}
