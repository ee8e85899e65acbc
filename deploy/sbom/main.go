// Command sbom writes what a Go program is made of as CycloneDX 1.6, in JSON: every module
// that is linked into it, with its version and checksum, and the Go release. It reads the
// program itself, so that nothing else can be listed than what runs; and it writes the same
// for the same program, so that lists can be compared.
//
// It imports the standard library only.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
)

// bom is the part of CycloneDX that is used here.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the list of a program.
func write(to io.Writer, path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	program, err := os.Open(path) //nolint:gosec // it is asked about this one
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(list(info, hex.EncodeToString(sum.Sum(nil))))
}

// list is what a program is made of.
func list(info *debug.BuildInfo, digest string) bom {
	self := module("application", &info.Main)
	self.Hashes = []hash{{"SHA-256", digest}}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "vcs") || strings.HasPrefix(s.Key, "GO") || s.Key == "CGO_ENABLED" || s.Key == "-trimpath" {
			self.Properties = append(self.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	all := []component{module("library", &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		all = append(all, module("library", m))
	}
	needs := dependency{Ref: self.Ref, DependsOn: make([]string, len(all))}
	for i := range all {
		needs.DependsOn[i] = all[i].Ref
	}
	return bom{"CycloneDX", "1.6", 1, metadata{self}, all, []dependency{needs}}
}

func module(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + strings.ToLower(m.Path) + "@" + strings.ReplaceAll(url.PathEscape(m.Version), "+", "%2B")
	c := component{Ref: purl, Type: kind, Name: m.Path, Version: m.Version, URL: purl}
	if m.Sum != "" { // of a zip file's entries, which CycloneDX has no name for
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
