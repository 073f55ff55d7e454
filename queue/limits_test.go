package queue_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rule that changes a limit is written once: nobody who decides passes it by.
func TestWhateverDecidesByALimitReadsItByItsMethod(t *testing.T) {
	for _, folder := range []string{".", "room", "estimate", "memstore", "redisstore", "pacing", "pressure"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || path == "rule.go" {
				continue
			}
			positions := token.NewFileSet()
			file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if read, is := n.(*ast.SelectorExpr); is {
					assert.NotContains(t, []string{"TotalActiveUsers", "NewUsersPerMinute"}, read.Sel.Name, positions.Position(read.Pos()))
				}
				return true
			})
		}
	}
}
