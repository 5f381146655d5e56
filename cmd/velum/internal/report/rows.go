package report

import (
	"cmp"
	"slices"
)

// FileRows counts the rows of one input file by their outcome. rows.csv of the private tree lists the single rows.
type FileRows struct {
	File     string           `json:"file"`
	Rows     int64            `json:"rows"`
	Masked   int64            `json:"masked"`
	Excluded int64            `json:"excluded"`
	Aside    map[string]int64 `json:"quarantined"` // by reason
}

// Quarantined returns the number of rows in quarantine.
func (r *FileRows) Quarantined() int64 { return r.Rows - r.Masked - r.Excluded }

// RowSums adds up rows by file.
type RowSums struct {
	Files []FileRows
	at    map[string]int
}

// Add counts rows of a file with one outcome (masked, excluded, quarantined) and one reason.
func (s *RowSums) Add(file, outcome, reason string, rows int64) {
	at, known := s.at[file]
	if !known {
		if at = len(s.Files); at == 0 {
			s.at = map[string]int{}
		}
		s.at[file] = at
		s.Files = append(s.Files, FileRows{File: printable(file), Aside: map[string]int64{}})
	}
	of := &s.Files[at]
	of.Rows += rows
	switch outcome {
	case "masked":
		of.Masked += rows
	case "excluded":
		of.Excluded += rows
	default:
		of.Aside[reason] += rows
	}
}

// mostFiles is the number of files on the page, those with most quarantined rows. rows.csv has all.
const mostFiles = 200

// worst returns the first mostFiles files, those with most quarantined rows first.
func worst(files []FileRows) []FileRows {
	all := slices.Clone(files)
	slices.SortStableFunc(all, func(a, b FileRows) int { return cmp.Compare(b.Rows-b.Masked, a.Rows-a.Masked) })
	return all[:min(len(all), mostFiles)]
}
