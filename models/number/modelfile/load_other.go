//go:build !unix

package modelfile

import "os"

func load(path string, _ int64) ([]byte, func() error, error) {
	data, err := os.ReadFile(path)
	return data, func() error { return nil }, err
}
