package commit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/velum-health/velum/pipeline/durable"
)

// Output names the two trees that a run writes: a public one, which may be released, and a private one, which holds
// words of notes (quarantine, candidates, selection).
type Output struct {
	Dir     string
	Private string     // "" means PrivateDir(Dir)
	FS      durable.FS // nil means durable.OS
	Group   bool       // the group may read the public tree
}

// An OutputError says that a run may not write to a place, because files of others or words of notes would be at risk.
type OutputError struct {
	Cause  string
	Remedy string // what to do, in the imperative
}

func (e *OutputError) Error() string { return e.Cause + "; " + e.Remedy }

func (o Output) withDefaults() Output {
	o.Dir = filepath.Clean(o.Dir)
	o.Private = filepath.Clean(cmp.Or(o.Private, PrivateDir(o.Dir)))
	if o.FS == nil {
		o.FS = durable.OS
	}
	if o.Group {
		o.FS, o.Group = groupFS{o.FS, o.Dir}, false
	}
	return o
}

// groupFS is a file system that makes files and folders below root readable for the group, whatever the umask. Folders
// of running work stay closed.
type groupFS struct {
	durable.FS
	root string
}

func (d groupFS) readable(name string) bool {
	return name == d.root || strings.HasPrefix(name, d.root+"/")
}

// OpenFile implements durable.FS.
func (d groupFS) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_CREATE == 0 || !d.readable(name) {
		return f, err
	}
	if c, ok := f.(interface{ Chmod(fs.FileMode) error }); ok {
		if err := c.Chmod(perm | 0o040); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Mkdir implements durable.FS.
func (d groupFS) Mkdir(name string, perm fs.FileMode) error {
	if err := d.FS.Mkdir(name, perm); err != nil || d.FS != durable.OS || !d.readable(name) ||
		strings.HasPrefix(name, filepath.Join(d.root, "_")) {
		return err
	}
	return os.Chmod(name, perm|0o050)
}

func (o *Output) root(private bool) string {
	if private {
		return o.Private
	}
	return o.Dir
}

// file returns the path of a part.
func (o *Output) file(p PartRecord) string { return filepath.Join(o.root(p.Private), p.Path) }

// Apart checks that the two trees belong to this output alone: neither is inside the other, or inside or around an
// input or another output, and only the owner can read the private one. Otherwise a run could read its own output or
// delete that of another. Symbolic links are followed. Errors are *OutputError, or those of the file system.
func (o Output) Apart(inputs ...string) error {
	o = o.withDefaults()
	for _, root := range []string{o.Dir, o.Private} {
		if scheme.MatchString(root) {
			return &OutputError{fmt.Sprintf("%s: velum writes folders of this machine only", root), "name a folder, and copy it from there"}
		}
	}
	if Within(o.Private, o.Dir) || Within(o.Dir, o.Private) {
		return &OutputError{fmt.Sprintf("output %s and private tree %s must not stand inside each other", o.Dir, o.Private), "name two folders"}
	}
	for _, in := range inputs {
		for _, out := range []string{o.Dir, o.Private} {
			if Within(out, in) || Within(in, out) {
				return &OutputError{fmt.Sprintf("output %s and input %s must not stand inside each other", out, in),
					"name an output outside the archive"}
			}
		}
	}
	for _, root := range []string{o.Dir, o.Private} {
		if err := o.alone(root); err != nil {
			return err
		}
	}
	if err := o.closed(); err != nil {
		return err
	}
	if err := o.kinds(); err != nil {
		return err
	}
	return o.owner()
}

// Writable checks that a file or folder to be written is neither an output of velum nor inside one. own is a folder
// inside an output that may be written; "" if there is none. Symbolic links are followed. Errors are *OutputError, or
// those of the file system.
func Writable(name, own string) error {
	if own != "" && Within(name, own) {
		return nil
	}
	o := Output{}.withDefaults()
	for at := resolve(name); ; at = filepath.Dir(at) {
		is, err := o.isOutput(at)
		if err != nil {
			return err
		}
		if is {
			return &OutputError{fmt.Sprintf("%s stands in the output of a run, %s", name, at), "name a place outside of it"}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// kinds checks that the output is no private tree of another one, and the
// private tree no output.
func (o *Output) kinds() error {
	for _, root := range []string{o.Dir, o.Private} {
		m, err := readManifest(o.FS, root)
		if err != nil {
			continue // there is none, or it is looked at later
		}
		if private := m.Public != ""; private && root == o.Dir {
			return &OutputError{fmt.Sprintf("%s is the private tree of another output", root), "name another folder"}
		} else if !private && root == o.Private {
			return &OutputError{fmt.Sprintf("private tree %s is the output of another run", root), "name another one with --private"}
		}
	}
	return nil
}

// Unfinished reports whether a run of this output is in progress, or died before it had removed obsolete files; the
// next run removes them.
func (o Output) Unfinished() (bool, error) {
	o = o.withDefaults()
	for _, root := range []string{o.Dir, o.Private} {
		_, err := o.FS.Stat(filepath.Join(root, runsName))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// scheme matches the beginning of an address such as s3://, of which filepath.Clean has left one slash. Such an output
// is refused: trees are local folders.
var scheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:/`)

// Within reports whether the path inner is the folder outer or below it, after following symbolic links.
func Within(inner, outer string) bool {
	rel, err := filepath.Rel(resolve(outer), resolve(inner))
	return err == nil && filepath.IsLocal(rel)
}

// resolve follows the links of the part of a path that exists.
func resolve(name string) string {
	name, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	above := filepath.Dir(name)
	if above == name {
		return name
	}
	return filepath.Join(resolve(above), filepath.Base(name))
}

// alone checks that no other output lies above or below a tree. Cleaning up one of them would remove the parts of the
// other as files that no manifest lists.
func (o *Output) alone(root string) error {
	for at := resolve(root); at != filepath.Dir(at); {
		at = filepath.Dir(at)
		other, err := o.isOutput(at)
		if err != nil {
			return err
		}
		if other {
			return &OutputError{fmt.Sprintf("%s stands inside another output, %s", root, at), "name a folder outside of it"}
		}
	}
	inner, err := o.outputBelow(root)
	if err == nil && inner != "" {
		err = &OutputError{fmt.Sprintf("another output, %s, stands inside %s", inner, root), "name a folder that holds none"}
	}
	return err
}

// isOutput tells whether a folder is a tree of velum's, of a run that ended or
// of one that goes on.
func (o *Output) isOutput(dir string) (bool, error) {
	info, err := o.FS.Stat(filepath.Join(dir, runsName))
	if err == nil && info.IsDir() {
		return true, nil
	}
	if err != nil && !notThere(err) {
		return false, err
	}
	name := filepath.Join(dir, manifestName)
	info, err = o.FS.Stat(name)
	if err != nil && notThere(err) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := o.FS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		if notThere(err) {
			err = nil
		}
		return false, err
	}
	head, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
	return strings.Contains(string(head), manifestFamily), errors.Join(err, f.Close())
}

// notThere reports whether an error means that velum has nothing at a path: it does not exist, or may not be looked
// into.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
}

// outputBelow returns a folder below dir that is an output; "" if there is
// none.
func (o *Output) outputBelow(dir string) (string, error) {
	entries, err := o.FS.ReadDir(dir)
	if err != nil && notThere(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !e.IsDir() || notOurs(e.Name()) {
			continue
		}
		at := filepath.Join(dir, e.Name())
		other, err := o.isOutput(at)
		if err == nil && !other {
			at, err = o.outputBelow(at)
		}
		if err != nil || at != "" {
			return at, err
		}
	}
	return "", nil
}

// notOurs reports whether velum leaves a file alone for its name: names of parts begin with neither a dot nor an
// underscore.
func notOurs(name string) bool { return name[0] == '.' || name[0] == '_' }

// closed checks that nobody else can read a private tree that is there.
func (o *Output) closed() error {
	info, err := o.FS.Stat(o.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch s, known := info.Sys().(*syscall.Stat_t); {
	case info.Mode()&fs.ModeSymlink != 0:
		return &OutputError{fmt.Sprintf("private tree %s is a link", o.Private), "name the folder itself"}
	case !info.IsDir():
		return &OutputError{fmt.Sprintf("private tree %s is no folder", o.Private), "name one"}
	case known && int(s.Uid) != os.Geteuid():
		return &OutputError{fmt.Sprintf("private tree %s belongs to user %d, not to %d who runs velum", o.Private, s.Uid, os.Geteuid()),
			"name a folder of your own"}
	case known && lent(info.Mode(), int(s.Gid)):
	case info.Mode().Perm()&0o077 != 0:
		return &OutputError{fmt.Sprintf("others may look into the private tree %s (mode %04o)", o.Private, info.Mode().Perm()), "chmod 0700 it"}
	}
	return nil
}

// lent reports whether a folder is open to a group of this process and to nobody else. Kubernetes makes every folder of
// a volume with fsGroup so, and the group is that of the pod.
func lent(mode fs.FileMode, group int) bool {
	if mode&fs.ModeSetgid == 0 || mode.Perm()&0o007 != 0 {
		return false
	}
	mine, err := os.Getgroups()
	return group == os.Getegid() || err == nil && slices.Contains(mine, group)
}

// owner checks that the private tree does not belong to another output that still exists. When both trees were copied,
// the copy is an output of its own.
func (o *Output) owner() error {
	at, _, err := readPlaces(o.FS, o.Private)
	if err != nil {
		return err
	}
	output := string(at.Output)
	if output == "" || output == resolve(o.Dir) {
		return o.fresh()
	}
	private, err := readManifest(o.FS, o.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return o.fresh()
	}
	if err != nil {
		return err
	}
	mine, err := o.belongs(private, o.Dir)
	if err != nil || mine {
		return err
	}
	if others, err := o.belongs(private, output); err != nil || !others {
		return err
	}
	return &OutputError{fmt.Sprintf("private tree %s belongs to another output, %s", o.Private, output), "name another one with --private"}
}

// belongs tells whether a private manifest is that of a public tree.
func (o *Output) belongs(private *Manifest, dir string) (bool, error) {
	if ours, err := o.isOutput(dir); err != nil || !ours {
		return false, err
	}
	public, err := durable.ReadFile(o.FS, filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && private.Vouches(public), err
}

// fresh checks that a folder which is no output yet has nothing in it.
func (o *Output) fresh() error {
	var found string
	for _, root := range []string{o.Dir, o.Private} {
		entries, err := o.FS.ReadDir(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case name == manifestName || name == runsName || name == successName:
				return nil
			case !notOurs(name) && name != "lost+found":
				found = cmp.Or(found, filepath.Join(root, name))
			}
		}
	}
	if found != "" {
		return &OutputError{fmt.Sprintf("%s is in the way: the folder is not empty, and no output of velum", found), "name another folder"}
	}
	return nil
}

// foreign checks that velum wrote all files of trees whose last run has ended, because anybody who is given the output
// gets all of them.
func (r *Prepared) foreign() error {
	if r.old == nil || r.unended { // what nobody knows may be what a run left
		return nil
	}
	known := pathsOf(r.listed[:]...)
	known[1][planName] = true
	for i, root := range r.roots() {
		err := walk(r.fs, root, "", func(name string, e fs.DirEntry) error {
			switch {
			case notOurs(e.Name()):
				return fs.SkipDir
			case e.IsDir() || known[i][name] || name == manifestName || name == successName:
				return nil
			}
			return &OutputError{fmt.Sprintf("velum did not write %s, which stands in the output", filepath.Join(root, name)), "put it elsewhere"}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// journals returns the folder that holds the journals of a run until it ends. In both trees it marks a run that has not
// ended.
func (o *Output) journals() string { return filepath.Join(o.Private, runsName) }

// PrivateDir returns the default private tree of a public one.
func PrivateDir(dir string) string { return filepath.Clean(dir) + ".private" }
