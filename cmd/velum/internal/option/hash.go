package option

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
)

// Hash names what the configuration does to the output: equal hashes, model
// and input give equal bytes. Only options that shape the output count;
// workers, memory and limits do not, so that changing them repeats no work.
// Files that options name count by content. The model's own digest is the
// caller's to add.
func (c *Config) Hash() (string, error) {
	h := sha256.New()
	for _, o := range c.options() {
		if !o.shapes {
			continue
		}
		text := o.text()
		if at, ok := o.at.(*string); ok && o.isPath(*at) {
			content, err := os.ReadFile(*at)
			if err != nil {
				return "", exit.Errorf(exit.Config, "correct "+o.key, "%s: %w", o.key, err)
			}
			text = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		if at, ok := o.at.(*[]string); ok && o.file {
			text = ""
			for _, path := range *at {
				content, err := os.ReadFile(path)
				if err != nil {
					return "", exit.Errorf(exit.Config, "correct "+o.key, "%s: %w", o.key, err)
				}
				text += fmt.Sprintf(" %x", sha256.Sum256(content))
			}
		}
		fmt.Fprintf(h, "%s=%s\n", o.key, text)
	}
	byCategory, err := c.Operators()
	if err != nil {
		return "", err
	}
	for i, operator := range byCategory {
		fmt.Fprintf(h, "%v=%s\n", pipeline.Category(i), operator)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
