package simulate

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"
)

// pointColumns are the columns of the points, as cmd/fairdoor/docs/limits.md names them.
func pointColumns() []string {
	return []string{"queueing_method", "arrival_minutes", "arrival_seconds", "wait_minutes", "wait_seconds", "outcome"}
}

// WritePoints writes each visitor's arrival and wait as CSV, the results one after another.
func WritePoints(w io.Writer, results []*Result) error {
	buffer := bufio.NewWriter(w)
	out := csv.NewWriter(buffer)
	row := pointColumns()
	err := out.Write(row)
	for _, r := range results {
		for i := 0; i < len(r.Visits) && err == nil; i++ {
			v := &r.Visits[i]
			row[0], row[5] = r.Method.String(), v.Outcome.String()
			row[1], row[2] = inMinutes(v.Arrived), inSeconds(v.Arrived)
			row[3], row[4] = "", ""
			if v.Outcome == LetIn {
				row[3], row[4] = inMinutes(v.Waited), inSeconds(v.Waited)
			}
			err = out.Write(row)
		}
	}
	out.Flush()
	if err == nil {
		err = buffer.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the points: %w", err)
	}
	return nil
}

func inMinutes(d time.Duration) string { return strconv.FormatFloat(d.Minutes(), 'f', 4, 64) }
func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
