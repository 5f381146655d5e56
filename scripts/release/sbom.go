package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"
)

type buildSetting = debug.BuildSetting

// goModule is a module that is in the binary, the standard library included.
type goModule struct {
	Path, Version string
	Sum           string // as in go.sum, "" for the standard library
	Licence       string // SPDX expression, "" if not told
	dir           string // in the module cache
	texts         []licenceText
}

type licenceText struct {
	name string
	data []byte
}

// listModules lists what a binary says that it was made of, with licences from
// the module cache, from which it was built.
func listModules(ctx context.Context, info *buildinfo.BuildInfo) ([]goModule, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	modules := []goModule{{Path: "std", Version: strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go"), dir: root}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release is built from published modules", d.Path)
		}
		dir := filepath.Join(cache, filepath.FromSlash(escape(d.Path)+"@"+escape(d.Version)))
		modules = append(modules, goModule{Path: d.Path, Version: d.Version, Sum: d.Sum, dir: dir})
	}
	for i := range modules {
		m := &modules[i]
		if m.texts, err = readLicences(m.dir); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		m.Licence = licenceOf(m.texts)
	}
	return modules, nil
}

// escape writes capitals as the module cache does: !a for A, since not every
// file system tells them apart.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// licenceFiles are names, without extension, of files that hold a licence.
var licenceFiles = []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "PATENTS"}

// readLicences reads the licence and notice files of a module; its README if
// that is where the licence stands.
func readLicences(dir string) ([]licenceText, error) {
	texts, err := readNamed(dir, licenceFiles)
	if err != nil || len(texts) > 0 {
		return texts, err
	}
	texts, err = readNamed(dir, []string{"README"})
	if err == nil && licenceOf(texts) == "" {
		err = errors.New("has no licence")
	}
	return texts, err
}

// readNamed reads the files of a folder whose names, without extension, are
// one of stems.
func readNamed(dir string, stems []string) (all []licenceText, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		stem, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if e.IsDir() || !slices.Contains(stems, stem) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, licenceText{e.Name(), data})
	}
	return all, nil
}

// licencePhrases tell licences by words that they have.
var licencePhrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"Apache-2.0", "apache license, version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright notice"},
	{"CC0-1.0", "cc0 1.0 universal"},
}

// licenceOf tells which licences the files of a module hold, as an SPDX
// expression, "" if none is known.
func licenceOf(texts []licenceText) string {
	var all []string
	for _, t := range texts {
		words := strings.Join(strings.Fields(strings.ToLower(string(t.data))), " ")
		for _, l := range licencePhrases {
			if strings.Contains(words, l.phrase) && !slices.Contains(all, l.id) {
				all = append(all, l.id)
			}
		}
	}
	if slices.Contains(all, "BSD-3-Clause") { // which has all words of the other
		all = slices.DeleteFunc(all, func(id string) bool { return id == "BSD-2-Clause" })
	}
	slices.Sort(all)
	return strings.Join(all, " AND ")
}

// licenceTexts puts all texts together, as the licences want of whoever gives
// binaries on.
func licenceTexts(modules []goModule) ([]byte, error) {
	var b bytes.Buffer
	for _, m := range modules {
		for _, t := range m.texts {
			fmt.Fprintf(&b, "%s\n%s %s: %s\n\n%s\n\n", strings.Repeat("=", 80), m.Path, m.Version, t.name, bytes.TrimSpace(t.data))
		}
	}
	return b.Bytes(), nil
}

// CycloneDX 1.6, the part of it that is used.
type (
	cdxBill struct {
		Format       string          `json:"bomFormat"`
		Spec         string          `json:"specVersion"`
		Serial       string          `json:"serialNumber"`
		Version      int             `json:"version"`
		Metadata     cdxMetadata     `json:"metadata"`
		Components   []cdxComponent  `json:"components"`
		Dependencies []cdxDependency `json:"dependencies"`
	}
	cdxMetadata struct {
		Time      time.Time     `json:"timestamp"`
		Component *cdxComponent `json:"component"`
	}
	cdxComponent struct {
		Ref        string        `json:"bom-ref"`
		Type       string        `json:"type"`
		Name       string        `json:"name"`
		Version    string        `json:"version"`
		Scope      string        `json:"scope,omitempty"`
		Hashes     []cdxHash     `json:"hashes,omitempty"`
		Licences   []cdxLicence  `json:"licenses,omitempty"`
		Purl       string        `json:"purl"`
		Properties []cdxProperty `json:"properties,omitempty"`
	}
	cdxHash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	cdxLicence struct { // one of the two
		Licence    *cdxLicenceID `json:"license,omitempty"`
		Expression string        `json:"expression,omitempty"`
	}
	cdxLicenceID struct {
		ID string `json:"id"`
	}
	cdxProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	cdxDependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn,omitempty"`
	}
)

// sbom writes the bill of materials of a binary: what is linked into it, as it
// says itself, not what the module graph could have brought in.
func sbom(version string, at time.Time, binary []byte, info *buildinfo.BuildInfo, modules []goModule) ([]byte, error) {
	sum := sha256.Sum256(binary)
	main := cdxComponent{
		Ref: purl(info.Main.Path, version), Type: "application", Name: info.Main.Path, Version: version, Purl: purl(info.Main.Path, version),
		Hashes: []cdxHash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: licences("Apache-2.0"),
		Properties: []cdxProperty{{"build:go", info.GoVersion}},
	}
	for _, s := range info.Settings {
		if s.Key != "-ldflags" {
			main.Properties = append(main.Properties, cdxProperty{"build:" + s.Key, s.Value})
		}
	}
	bill := cdxBill{
		Format: "CycloneDX", Spec: "1.6", Serial: serial(sum), Version: 1,
		Metadata: cdxMetadata{at.UTC(), &main},
	}
	uses := cdxDependency{Ref: main.Ref}
	for _, m := range modules {
		c, err := m.component()
		if err != nil {
			return nil, err
		}
		bill.Components = append(bill.Components, c)
		bill.Dependencies = append(bill.Dependencies, cdxDependency{Ref: c.Ref})
		uses.On = append(uses.On, c.Ref)
	}
	bill.Dependencies = append([]cdxDependency{uses}, bill.Dependencies...)
	data, err := json.MarshalIndent(bill, "", "  ")
	return append(data, '\n'), err
}

func (m *goModule) component() (cdxComponent, error) {
	c := cdxComponent{
		Ref: purl(m.Path, m.Version), Type: "library", Name: m.Path, Version: m.Version, Scope: "required",
		Licences: licences(m.Licence), Purl: purl(m.Path, m.Version),
	}
	if m.Sum == "" {
		return c, nil
	}
	// go.sum's h1 is the SHA-256 of the module's list of files and hashes.
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(raw) != sha256.Size {
		return c, fmt.Errorf("%s: checksum of another kind", m.Path)
	}
	c.Hashes = []cdxHash{{"SHA-256", hex.EncodeToString(raw)}}
	return c, nil
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

func licences(expression string) []cdxLicence {
	switch {
	case expression == "":
		return nil
	case strings.Contains(expression, " "):
		return []cdxLicence{{Expression: expression}}
	}
	return []cdxLicence{{Licence: &cdxLicenceID{expression}}}
}

// serial is a UUID made from the hash of the binary (RFC 9562, version 8), so
// that the bill is reproducible too.
func serial(sum [32]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
