package look

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build describes the binary: version, commit, Go version and platform.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// NewBuild describes this binary. If commit is "", the commit is taken from Go's build information.
func NewBuild(version, commit string) Build {
	b := Build{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the line that `velum --version` prints.
func (b Build) String() string {
	from := ""
	if b.Commit != "" {
		from = " (" + b.Commit[:min(12, len(b.Commit))] + ")"
	}
	return fmt.Sprintf("velum %s%s %s %s", b.Version, from, b.Go, b.Platform)
}
