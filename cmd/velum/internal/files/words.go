package files

import (
	"fmt"
	"os"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/tag/inverse"
)

// CommonWords opens the file of common words that option inverse.words names; it returns nil if the name is "".
func CommonWords(name string) (*inverse.Words, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err == nil {
		var words *inverse.Words
		if words, err = inverse.OpenWords(data); err == nil {
			return words, nil
		}
	}
	return nil,
		exit.Misconfigured(fmt.Errorf("inverse.words: %w", err), "`velum teach train --kind words --archive NOTES --out FILE` makes one")
}
