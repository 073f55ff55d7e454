package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
)

// settleStateDir chooses the state directory where none is given, as Config.StateDir says.
func settleStateDir(root *section, c *Config) {
	if c.StateDir != "" || !root.fine("state_dir", "listen") {
		return
	}
	// systemd lists several directories with colons between them.
	if dir, _, _ := strings.Cut(root.env("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		c.StateDir = filepath.Clean(dir)
		return
	}
	base := root.env("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := root.env("HOME")
		if !filepath.IsAbs(home) {
			root.fault(root.where("state_dir"), "is required: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME says where it could be")
			return
		}
		base = filepath.Join(home, ".local", "state")
	}
	name, err := stateName(root, c)
	if err != nil {
		root.fault(root.where("state_dir"), "is required: the working directory is not known: %v", err)
		return
	}
	c.StateDir = filepath.Join(base, "anteroom", name)
}

// env is a variable, "" if it is not set.
func (d *loader) env(name string) string {
	value, _ := d.lookup(name)
	return value
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// stateName tells gates of one machine apart: by the address, and by the file or, without one, the origin.
func stateName(root *section, c *Config) (string, error) {
	of := "origin " + c.Origin
	if root.File != "" {
		file := root.File
		if !filepath.IsAbs(file) && root.WorkDir != "" {
			file = filepath.Join(root.WorkDir, file)
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		of = "file " + abs
	}
	sum := sha256.Sum256([]byte(c.Listen + "\n" + of))
	slug := strings.Trim(notInSlug.ReplaceAllString(c.Listen, "-"), "-.")
	return slug + "-" + hex.EncodeToString(sum[:4]), nil
}
