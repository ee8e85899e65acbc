package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kinds of licence, by SPDX's names, and words that no text of another kind has. Where two
// are alike but for a clause, the longer one stands first.
var kinds = []struct {
	name  string
	words []string
}{
	{"Apache-2.0", []string{"apache license version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license version 2.0"}},
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"EPL", []string{"eclipse public license"}},
	{"BSD-3-Clause", []string{"redistributions of source code must retain", "redistributions in binary form", "to endorse or promote products"}},
	{"BSD-2-Clause", []string{"redistributions of source code must retain", "redistributions in binary form"}},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"ISC", []string{"permission to use, copy, modify, and or distribute this software for any purpose"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
	{"CC0-1.0", []string{"cc0 1.0 universal"}},
}

// permissive are the kinds of which anything may be linked into a program under Apache-2.0,
// as long as their texts go with it.
var permissive = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unlicense"}

// excepted are modules under other licences that may be linked all the same, and why. The
// MPL is about the files that it stands in, which nobody here changes.
var excepted = map[string]string{
	"modernc.org/sqlite":                  "BSD-3-Clause; its list of third parties has the MPL for what is compiled into nothing",
	"github.com/go-sql-driver/mysql":      "MPL-2.0; in bench/caddy only, which is given to nobody",
	"github.com/hashicorp/golang-lru/v2":  "MPL-2.0; in e2e/collector only, which is given to nobody",
	"github.com/hashicorp/go-version":     "MPL-2.0; in e2e/collector only, which is given to nobody",
	"github.com/letsencrypt/pebble/v2":    "MPL-2.0; a program that tests run, and that is given to nobody",
	"github.com/letsencrypt/challtestsrv": "MPL-2.0; in pebble only",
}

var (
	blank = regexp.MustCompile(`[\s/*#"“”]+`)

	// licenceFile is where a licence stands, noticeFile what it may want to be passed on.
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|patents)([-_.].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|authors)([-_.].*)?$`)
)

// classify says of which kinds a text is. A text may be of several: a licence of parts
// stands behind that of the whole.
func classify(text string) (found []string) {
	text = strings.ToLower(blank.ReplaceAllString(text, " "))
	text = strings.ReplaceAll(text, "license, version", "license version")
	for _, k := range kinds {
		lacks := func(w string) bool { return !strings.Contains(text, w) }
		shorter := k.name == "BSD-2-Clause" && slices.Contains(found, "BSD-3-Clause")
		if !slices.ContainsFunc(k.words, lacks) && !shorter && !slices.Contains(found, k.name) {
			found = append(found, k.name)
		}
	}
	// The MPL names others that may be chosen in its place, and this is none of them.
	if slices.Contains(found, "MPL-2.0") {
		return []string{"MPL-2.0"}
	}
	return found
}

// terms are the texts under which a module stands.
type terms struct {
	kinds []string
	texts []string // licences and notices
}

// read finds the terms in the directory of a module.
func read(dir string) (t terms, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return t, err
	}
	for _, e := range entries {
		licence := licenceFile.MatchString(e.Name())
		if e.IsDir() || !licence && !noticeFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // in the module cache
		if err != nil {
			return t, err
		}
		t.texts = append(t.texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		if licence {
			t.kinds = append(t.kinds, classify(string(text))...)
		}
	}
	slices.Sort(t.kinds)
	t.kinds = slices.Compact(t.kinds)
	return t, nil
}

// compatible reports whether a module may be linked.
func (t terms) compatible(module string) bool {
	foreign := func(kind string) bool { return !slices.Contains(permissive, kind) }
	return len(t.kinds) > 0 && !slices.ContainsFunc(t.kinds, foreign) || excepted[module] != ""
}
