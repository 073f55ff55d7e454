//go:build !soak

package browsertest

// soakCheckers are those for which make test has no time: see checkers_soak.go.
func soakCheckers() []checker { return nil }
