package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/velum-health/velum/pipeline/durable"
)

// PageName is the path of the last run's page below the private tree. It is beside the log, because like the log it
// holds the time and the name of the run.
const PageName = auditDir + "/report.html"

const (
	sealOpens  = "<!-- sha256 "
	sealEnds   = " -->\n"
	sealLength = len(sealOpens) + 2*sha256.Size + len(sealEnds)
)

// SealPage appends a line with the SHA-256 of the page, by which the page can be verified.
func SealPage(page []byte) []byte {
	sum := sha256.Sum256(page)
	return append(bytes.Clone(page), sealOpens+hex.EncodeToString(sum[:])+sealEnds...)
}

// soundPage tells whether a page is as it was written.
func soundPage(name string) (bool, error) {
	data, err := durable.ReadFile(durable.OS, name)
	if err != nil || len(data) < sealLength {
		return false, err
	}
	return bytes.Equal(data, SealPage(data[:len(data)-sealLength])), nil
}
