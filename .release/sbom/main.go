// Command sbom prints the bill of materials of a program that Go has built, as CycloneDX 1.6: the
// modules that are in it, with the checksums that go.sum has, as the program itself tells them, and
// their licences; or the texts of those licences. It stands where the program was built.
//
//	sbom v0.1.0 bin/fairdoor >fairdoor.cdx.json
//	sbom licences bin/fairdoor >THIRD-PARTY-LICENSES
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION|licences PROGRAM")
		os.Exit(2)
	}
	var err error
	if os.Args[1] == "licences" {
		err = writeLicences(os.Stdout, os.Args[2])
	} else {
		err = write(os.Stdout, os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type document struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PackageURL string     `json:"purl"`
	Licenses   []license  `json:"licenses,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type license struct {
	Expression string `json:"expression"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// write prints the bill of materials of a program of a version.
func write(w io.Writer, version, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	from, err := sources(info)
	if err != nil {
		return err
	}
	main := module("application", info.Main.Path, version)
	main.Licenses = []license{{"Apache-2.0"}}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.time", "vcs.modified":
			main.Properties = append(main.Properties, property{"build:" + s.Key, s.Value})
		}
	}
	bom := document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:     metadata{main},
		Components:   []component{module("library", standard, info.GoVersion[len("go"):])},
		Dependencies: []dependency{{Ref: main.Ref}},
	}
	for _, m := range info.Deps {
		c, err := library(m)
		if err != nil {
			return err
		}
		bom.Components = append(bom.Components, c)
	}
	for i, c := range bom.Components {
		of := from[c.Name]
		if of == nil {
			return fmt.Errorf("%s is in the program, and not among the packages that it is built of", c.Name)
		}
		_, expr, err := of.licence()
		if err != nil {
			return err
		}
		bom.Components[i].Licenses = []license{{expr}}
		bom.Dependencies[0].On = append(bom.Dependencies[0].On, c.Ref)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(bom)
}

func module(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: kind, Ref: purl, Name: path, Version: version, PackageURL: purl}
}

// library is a module with its checksum, which is the SHA-256 of the list of its files and theirs.
func library(m *debug.Module) (component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	c := module("library", m.Path, m.Version)
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(sum) == 0 {
		return component{}, fmt.Errorf("the checksum %q of %s cannot be read", m.Sum, m.Path)
	}
	c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	return c, nil
}
