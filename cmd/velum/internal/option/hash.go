package option

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
)

// Hash returns a digest of everything in the configuration that affects the bytes of the output: with equal hashes,
// equal models and equal input the output is equal. Options such as workers, memory and limits do not count. Files that
// options name count by content. The caller adds the digest of the model.
func (c *Config) Hash() (string, error) {
	h := sha256.New()
	err := c.shaping(func(key, text string) { fmt.Fprintf(h, "%s=%s\n", key, text) })
	if err != nil {
		return "", err
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

// Shaping returns a digest of each option that affects the output, so that two configurations can be compared option by
// option.
func (c *Config) Shaping() (map[string]string, error) {
	all := map[string]string{}
	err := c.shaping(func(key, text string) {
		sum := sha256.Sum256([]byte(text))
		all[key] = hex.EncodeToString(sum[:6])
	})
	return all, err
}

// shaping calls do with each option that shapes the output, and its value.
func (c *Config) shaping(do func(key, text string)) error {
	for _, o := range c.options() {
		if !o.shapes {
			continue
		}
		text := o.text()
		if at, ok := o.at.(*string); ok && o.isPath(*at) {
			sum, err := digestOf(o.key, *at)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("%x", sum)
		}
		if at, ok := o.at.(*[]string); ok && (o.file || o.nameOr) {
			text = ""
			for _, path := range *at {
				if !o.isPath(path) {
					text += " " + path
					continue
				}
				sum, err := digestOf(o.key, path)
				if err != nil {
					return err
				}
				text += fmt.Sprintf(" %x", sum)
			}
		}
		do(o.key, text)
	}
	return nil
}

// digestOf returns the SHA-256 of a file that an option names. A table of people
// may be larger than the memory.
func digestOf(key, path string) (sum []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exit.Misconfiguredf("correct "+key, "%s: %w", key, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, exit.Misconfiguredf("correct "+key, "%s: %w", key, err)
	}
	return h.Sum(nil), nil
}
