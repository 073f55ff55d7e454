//go:build !linux

package postgrestest

import "os/exec"

func (s *Server) live(started chan<- error) { s.wait(started) }

func own(string) error { return nil }

func asOther(*exec.Cmd) error { return nil }
