package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// standard is how the standard library is called among the modules.
const standard = "std"

// source has the directories of a module of which a program has packages: those of the packages, and
// of what is above them up to the module's own.
type source struct {
	path, version string
	dirs          map[string]bool
}

// sources are the modules that a program was built of, by path.
func sources(info *buildinfo.BuildInfo) (map[string]*source, error) {
	list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{.Path}}	{{.Version}}	{{.Dir}}{{end}}	{{.Dir}}`, info.Path)
	list.Env, list.Stderr = os.Environ(), os.Stderr
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			list.Env = append(list.Env, s.Key+"="+s.Value)
		}
	}
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of the program: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("asking where Go is: %w", err)
	}
	all := map[string]*source{standard: {standard, info.GoVersion, map[string]bool{strings.TrimSpace(string(root)): true}}}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 || fields[0] == info.Main.Path {
			continue // of the standard library, or the program's own
		}
		of := cmp.Or(all[fields[0]], &source{fields[0], fields[1], map[string]bool{}})
		all[of.path] = of
		for dir := fields[3]; len(dir) >= len(fields[2]); dir = filepath.Dir(dir) {
			of.dirs[dir] = true
		}
	}
	return all, nil
}

// legal are the names of files that a module's licence wants to be handed on.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-][^.]*)?(\.txt|\.md)?$`)

// text is what the module wants to be handed on.
func (s *source) text() ([]byte, error) {
	var all []byte
	for _, dir := range slices.Sorted(maps.Keys(s.dirs)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for the licence of %s: %w", s.path, err)
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !legal.MatchString(entry.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("reading the licence of %s: %w", s.path, err)
			}
			all = append(append(all, bytes.TrimSpace(text)...), "\n\n"...)
		}
	}
	return all, nil
}

// phrases are what licences are known by, and their identifiers at SPDX.
var phrases = []struct{ phrase, id string }{
	{"Apache License Version 2.0", "Apache-2.0"},
	{"Licensed under the Apache License, Version 2.0", "Apache-2.0"},
	{"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"},
	{"Permission to use, copy, modify, and distribute this software for any purpose with or without fee", "ISC"},
	{"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee", "ISC"},
	{"Mozilla Public License Version 2.0", "MPL-2.0"},
	{"CC0 1.0 Universal", "CC0-1.0"},
	{"All of the code and documentation in SQLite has been dedicated to the public domain", "blessing"},
}

const (
	redistribution = "Redistributions of source code must retain the"
	endorsement    = "endorse or promote products derived from this software"
)

// expression names the licences of a text, all of which hold.
func expression(text []byte) string {
	plain := strings.Join(strings.Fields(string(text)), " ")
	ids := map[string]bool{}
	for _, p := range phrases {
		if strings.Contains(plain, p.phrase) {
			ids[p.id] = true
		}
	}
	if strings.Contains(plain, redistribution) {
		id := "BSD-2-Clause"
		if strings.Contains(plain, endorsement) {
			id = "BSD-3-Clause"
		}
		ids[id] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(ids)), " AND ")
}

// licence is the text of a module's licences, and their identifiers. It fails where there is none
// that is known: then a human has to look.
func (s *source) licence() (text []byte, expr string, err error) {
	if text, err = s.text(); err != nil {
		return nil, "", err
	}
	if expr = expression(text); expr == "" {
		return nil, "", fmt.Errorf("the licence of %s is not known: see whether it allows what is done here, and teach licences.go to know it", s.path)
	}
	return text, expr, nil
}

// writeLicences prints the licences of the modules that a program consists of, each text once.
func writeLicences(w io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	all, err := sources(info)
	if err != nil {
		return err
	}
	by := map[string][]string{} // modules, by their text
	for _, path := range slices.Sorted(maps.Keys(all)) {
		text, expr, err := all[path].licence()
		if err != nil {
			return err
		}
		by[string(text)] = append(by[string(text)], fmt.Sprintf("%s %s (%s)", path, all[path].version, expr))
	}
	fmt.Fprintln(w, "Fairdoor is under the Apache License 2.0. It contains what others have made, under these licences:")
	texts := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Compare(by[a][0], by[b][0]) })
	for _, text := range texts {
		rule := strings.Repeat("=", 80)
		if _, err := fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(by[text], "\n"), rule, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}
