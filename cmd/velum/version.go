package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker, see the Makefile.
var (
	version  = "dev"
	revision = ""
)

type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: version, Commit: revision, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and platform",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuildInfo()
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(b)
			}
			_, err := a.Printf("%s\n", b)
			return err
		},
	}
}

// String is the line of `velum version` and `velum --version`.
func (b buildInfo) String() string {
	from := ""
	if b.Commit != "" {
		from = " (" + b.Commit[:min(12, len(b.Commit))] + ")"
	}
	return fmt.Sprintf("velum %s%s %s %s", b.Version, from, b.Go, b.Platform)
}
