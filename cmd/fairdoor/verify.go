package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/queue/event"
)

func newVerifyCommand() *cobra.Command {
	var v verification
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check the published order of a shuffled prequeue",
		Long: `Check the published order of a shuffled prequeue: that every place follows from the
seed, and the seed from the hash that was shown before; that no entry was altered,
left out, moved or added since the gate wrote the list. Give the lists of all gates
to have the order of all entries together.

A list vouches for itself only as far as its header does. So compare the seed's hash
with the one that visitors were shown (--seed-hash), and the digest with the one that
the gate tells of the event (--digest). A list grows after the start until the last who
joined shortly before it have come back: compare later, or both from one moment.`,
		Example: `  fairdoor events order shop winter-sale > order.jsonl
  fairdoor verify order.jsonl
  fairdoor verify gate1.jsonl gate2.jsonl --entry 7C2XPM01DGKV4RTE`,
		Args: takes("fairdoor verify takes the files to check", func(args []string) bool { return len(args) > 0 }),
		RunE: func(cmd *cobra.Command, files []string) error {
			told, err := v.check(files)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), told)
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&v.seedHash, "seed-hash", "", "the hash that was shown before the event started")
	cmd.Flags().StringArrayVar(&v.digests, "digest", nil, "the digest that a gate has told of its list; once for each file, in their order")
	cmd.Flags().StringVar(&v.entry, "entry", "", "tell the place of this entry")
	return cmd
}

// verification is what orders are checked against.
type verification struct {
	seedHash string
	digests  []string
	entry    string
}

// check checks files, and says what it has found if all is right.
func (v *verification) check(files []string) (string, error) {
	orders := make([]event.Order, len(files))
	for i, file := range files {
		var err error
		if orders[i], err = readOrder(file); err != nil {
			return "", err
		}
		switch {
		case v.seedHash != "" && orders[i].SeedHash != v.seedHash:
			return "", fmt.Errorf("%s: the seed's hash is %s, and %s was shown before", file, orders[i].SeedHash, v.seedHash)
		case i < len(v.digests) && orders[i].Digest != v.digests[i]:
			return "", fmt.Errorf("%s: the digest is %s, and the gate has told %s: the list was made anew, or has grown since", file, orders[i].Digest, v.digests[i])
		}
	}
	all, err := event.Join(orders)
	if err != nil {
		return "", err
	}
	told := fmt.Sprintf("The order of %d entries of the event %s is right: all places follow from the seed with the hash %s.", all.Entries, all.Event, all.SeedHash)
	if v.entry == "" {
		return told, nil
	}
	for _, l := range all.Lines {
		if l.Entry == v.entry {
			return told + fmt.Sprintf("\nThe entry %s has place %d.", l.Entry, l.Place), nil
		}
	}
	return "", fmt.Errorf("the entry %s is in none of the lists", v.entry)
}

func readOrder(file string) (event.Order, error) {
	in, err := os.Open(file)
	if err != nil {
		return event.Order{}, err
	}
	defer func() { _ = in.Close() }()
	o, err := event.ReadOrder(in)
	if err != nil {
		return o, fmt.Errorf("%s: %w", file, err)
	}
	return o, nil
}
