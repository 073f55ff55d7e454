// Package cheats has no code of its own. Its test sends a crowd of polite visitors and of cheats to
// two gates, in virtual time, and holds each kind of cheat to the bound that
// cmd/fairdoor/docs/cheating.md states.
package cheats
