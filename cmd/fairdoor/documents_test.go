package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository is where the documents are, as seen from this package.
const repository = "../.."

// documents are the texts of all documents, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == ".cache" || name == "artifacts"):
			return fs.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	}))
	return texts
}

var (
	fenced   = regexp.MustCompile("(?s)\n```.*?\n```")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors are the names by which GitHub links to the headings of a document.
func anchors(document string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(document, ""), -1) {
		names = append(names, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return names
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	texts := documents(t)
	require.Contains(t, texts, filepath.Join(repository, "README.md"))
	for path, text := range texts {
		for _, match := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			link := match[1] + match[2]
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
				_, err := os.Stat(target)
				assert.NoError(t, err, "%s links to %s", path, link)
			}
			if anchor != "" {
				assert.Contains(t, anchors(texts[target]), anchor, "%s links to %s", path, link)
			}
		}
	}
}

func TestTheLeastConfigurationOfREADMEIsValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "README.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "```yaml\n")
	require.True(t, found)
	configuration, _, _ := strings.Cut(after, "```")
	file := filepath.Join(t.TempDir(), "fairdoor.yaml")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))
	_, stderr, code := fairdoor(t, "validate", "--config", file)
	assert.Zero(t, code)
	assert.Empty(t, stderr)
}
