// Command page writes BENCHMARKS.md from the files of results.
//
//	page --results scripts/bench/results --out BENCHMARKS.md
//
// A file of results is one measurement: lines of "key: value" (title, command,
// machine, date), an empty line, and what was found, as a Markdown table or
// sentences. The commands that measure write these files, the page is only
// their sum, so no figure is copied by hand. Files stand in the page in the
// order of their names; a title that begins with "#" opens a section.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	results := flag.String("results", "scripts/bench/results", "folder of the files of results")
	out := flag.String("out", "BENCHMARKS.md", "page to write")
	flag.Parse()
	page, err := render(*results)
	if err == nil {
		err = os.WriteFile(*out, []byte(page), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// keys are what every measurement says of itself, in the order of the page.
var keys = []string{"title", "command", "machine", "date"}

// render joins all files of a folder. Errors name the file and what it lacks.
func render(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", errors.New("no results in " + folder)
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		text, err := section(string(data))
		if err != nil {
			return "", fmt.Errorf("%s: %w", f, err)
		}
		b.WriteString(text)
	}
	return strings.TrimLeft(b.String(), "\n"), nil
}

// section is one measurement as it stands in the page. A file that begins with
// "# " or "## " is prose and stands as it is.
func section(data string) (string, error) {
	if strings.HasPrefix(data, "#") {
		return "\n" + strings.TrimRight(data, "\n") + "\n", nil
	}
	head, body, _ := strings.Cut(data, "\n\n")
	values := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return "", fmt.Errorf("line without a key: %q", line)
		}
		values[key] = value
	}
	for _, key := range keys {
		if values[key] == "" {
			return "", errors.New("no " + key)
		}
	}
	if strings.TrimSpace(body) == "" {
		return "", errors.New("nothing was found")
	}
	return fmt.Sprintf("\n### %s\n%s (%s; %s)\n\n%s\n", values["title"], values["command"], values["machine"], values["date"], strings.TrimSpace(body)), nil
}
