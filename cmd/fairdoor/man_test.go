package main

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var man = flag.String("man", "", "the directory to which the manual pages of the commands are written")

// TestEachCommandHasAManualPage writes the pages that the Debian package has, with -man.
func TestEachCommandHasAManualPage(t *testing.T) {
	dir := cmp.Or(*man, t.TempDir())
	require.NoError(t, os.MkdirAll(dir, 0o755))
	root := newRootCommand()
	root.DisableAutoGenTag = true
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Fairdoor", Manual: "Fairdoor"}, dir))
	for _, command := range root.Commands() {
		if !command.IsAvailableCommand() || command.IsAdditionalHelpTopicCommand() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "fairdoor-"+command.Name()+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(text), command.Short)
	}
}
