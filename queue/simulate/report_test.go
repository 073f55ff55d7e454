package simulate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/color"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/simulate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// report is made up, so that the golden files tell of the form and not of the
// queue.
func report() (simulate.Config, []*simulate.Result) {
	c := simulate.Article()
	c.Bots, c.Spammers = .05, .1
	fifo := &simulate.Result{
		Method:        queue.FIFO,
		People:        simulate.People{Visitors: 10_000, People: 9500, Admitted: 9400, GaveUp: 100, Requests: 1_234_567, BotRequests: 20_000},
		LastedSeconds: 9018.158,
		Wait:          simulate.Percentiles{P5: 1.5, P25: 59.9, P50: 600, P75: 3600, P95: 3725, P99: 7199.4, Max: 7199.6},
		Limits:        simulate.Limits{MostActive: 200, MostPerMinute: 199},
		Slots:         simulate.Slots{UsedShare: .99641, LapsedShare: .0004, IdleP50: .215, IdleP95: 4.079, IdleMax: 17.372},
		Order:         simulate.Order{Tau: .96678, TauBuckets: .99976},
		ToldAtFirst:   simulate.Accuracy{Shown: 9000, Unknown: 300, MedianErrorMinutes: 3.8, BiasMinutes: -1.2, InTime: .61},
	}
	random := *fifo
	random.Method, random.Order = queue.Random, simulate.Order{Tau: -.0023, TauBuckets: -.0024}
	random.Draw = &simulate.Draw{Winners: 9000, ChiSquare: 26.2, Freedom: 29, P: .6137, WinRates: []float64{1.02, .98}}
	random.Spammers = &simulate.Spam{Admitted: 900, OddsRatio: .987, P: .00002}
	random.ToldLater = simulate.Accuracy{Shown: 9000, MedianErrorMinutes: 12, BiasMinutes: 4, InTime: .55,
		Range: &simulate.Range{By25: .27, By50: .55, By75: .81, Within: .54}}
	return c, []*simulate.Result{fifo, &random}
}

func TestJSONKeepsItsForm(t *testing.T) {
	t.Parallel()
	out, err := json.MarshalIndent(simulate.NewReport(report()), "", "  ")
	require.NoError(t, err)
	golden(t, "report.json", append(out, '\n'))
}

func TestTheSummaryKeepsItsForm(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c, results := report()
	require.NoError(t, simulate.WriteSummary(&out, c, results))
	golden(t, "summary.txt", out.Bytes())
}

func TestThePictureHasWaitsByArrival(t *testing.T) {
	t.Parallel()
	c, results := report()
	r := results[1]
	for range 10 {
		r.Admissions = append(r.Admissions, simulate.Admission{Arrived: 30 * time.Second, Waited: 45 * time.Minute})
	}
	r.Admissions = append(r.Admissions, simulate.Admission{Arrived: 29*time.Minute + 59*time.Second, Waited: 90 * time.Minute})

	whole := r.Picture(c, 0)
	assert.Equal(t, "Waiting times, random", whole.Title)
	assert.Equal(t, "arrival, in minutes", whole.X.Label)
	assert.InDelta(t, 90, whole.Y.To, 1e-9)
	assert.Equal(t, 10, whole.Counts.At(0, 15))
	assert.Equal(t, 1, whole.Counts.At(29, 29), "the last cell has its upper edge")

	first := r.Picture(c, time.Hour)
	assert.Equal(t, "Waiting times, random: the first 1h", first.Title)
	assert.Equal(t, 10, first.Counts.At(0, 22))
	assert.Zero(t, first.Counts.At(29, 29), "longer waits are left out")

	img, err := whole.Draw()
	require.NoError(t, err)
	yellow := color.RGBA{0xfd, 0xe7, 0x25, 0xff}
	assert.Equal(t, yellow, img.RGBAAt(120+13, 120+780-13-15*26), "the hottest cell")
}
