package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
)

// stateDir chooses the state directory where none is given, as Config.StateDir says.
func (s *section) stateDir(c *Config) {
	if c.StateDir != "" || !s.fine("state_dir", "listen") {
		return
	}
	// systemd lists several directories with colons between them.
	if dir, _, _ := strings.Cut(s.env("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		c.StateDir = filepath.Clean(dir)
		return
	}
	base := s.env("XDG_STATE_HOME")
	if home := s.env("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".local", "state")
	}
	name, err := s.stateName(c)
	switch {
	case !filepath.IsAbs(base):
		s.fault(s.where("state_dir"), "is required: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME says where it could be")
	case err != nil:
		s.fault(s.where("state_dir"), "is required: the working directory is not known: %v", err)
	default:
		c.StateDir = filepath.Join(base, "anteroom", name)
	}
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// stateName tells gates of one machine apart: by the address, and by the file or, without one, the origin.
func (s *section) stateName(c *Config) (string, error) {
	of := "origin " + c.Origin
	if s.File != "" {
		file, _ := s.path(s.File, fromFlag)
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
