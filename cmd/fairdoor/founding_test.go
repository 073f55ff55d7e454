package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testsIn are the names of the tests in a directory of the repository.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declared := range parsed.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}

func TestPromisesOfTheFoundingDocumentsHaveTestsThatThereAre(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`)
	there, checked := map[string][]string{}, 0
	for path, text := range documents(t) {
		if !strings.HasPrefix(filepath.Base(path), "founding-") {
			continue
		}
		for _, match := range row.FindAllStringSubmatch(text, -1) {
			if match[1] == "promise" {
				continue
			}
			tests := quoted(match[2])
			assert.NotEmpty(t, tests, "%s: %s", path, match[1])
			for _, test := range tests {
				dir, name, found := strings.Cut(test, ".Test")
				require.True(t, found, test)
				if there[dir] == nil {
					there[dir] = testsIn(t, dir)
				}
				assert.True(t, slices.Contains(there[dir], "Test"+name), "%s: %s: there is no %s", path, match[1], test)
				checked++
			}
		}
	}
	assert.Greater(t, checked, 100)
}
