// Package cheats has no code of its own. Its test sends a crowd of polite visitors and of cheats to two gates, in virtual time,
// and holds each kind of cheat to the bound that queue/README.md states ("What cheating gains").
package cheats
