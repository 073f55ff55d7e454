package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/cloudflare"
)

func newImportCommand() *cobra.Command {
	dir, origin := "", ""
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Make a configuration of rooms at Cloudflare",
		Long: `Make a configuration of rooms at Cloudflare Waiting Room: of what its API answers for
rooms, events, rules and the settings of the zone. Events and rules belong to the
room in the file before them. It writes ` + cloudflare.Name + `, and each page as a file beside it,
and says what "fairdoor validate" says of them. No file is written over.`,
		Example: `  api=https://api.cloudflare.com/client/v4/zones/$ZONE/waiting_rooms
  curl -H "Authorization: Bearer $TOKEN" $api/$ROOM > shop.json
  curl -H "Authorization: Bearer $TOKEN" $api/$ROOM/events > events.json
  curl -H "Authorization: Bearer $TOKEN" $api/$ROOM/rules > rules.json
  fairdoor import --origin http://127.0.0.1:3000 shop.json events.json rules.json`,
		Args: takes("name what Cloudflare's API has answered: fairdoor import FILE…", func(args []string) bool { return len(args) > 0 }),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := imported(args, origin)
			if err == nil {
				err = writeNew(dir, files)
			}
			if err != nil {
				return err
			}
			return validate(cmd.OutOrStdout(), cmd.ErrOrStderr(), filepath.Join(dir, cloudflare.Name))
		},
	}
	cmd.Flags().StringVar(&dir, "to", ".", "directory to write to")
	cmd.Flags().StringVar(&origin, "origin", "http://127.0.0.1:3000", "where accepted visitors go: your site")
	return cmd
}

// imported are the files that come of answers of Cloudflare's API.
func imported(paths []string, origin string) (map[string]string, error) {
	var i cloudflare.Import
	for _, path := range paths {
		answer, err := os.ReadFile(path)
		if err == nil {
			err = i.Add(answer)
		}
		if err != nil {
			return nil, fmt.Errorf("importing %s: %w", path, err)
		}
	}
	return i.Files(origin)
}

// writeNew writes files that are not there yet.
func writeNew(dir string, files map[string]string) error {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s is there already: nothing was written", filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o644); err != nil {
			return fmt.Errorf("writing the configuration: %w", err)
		}
	}
	return nil
}
