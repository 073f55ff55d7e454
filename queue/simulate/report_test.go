package simulate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
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
		Slots:         simulate.Slots{UsedShare: .99641, LapsedShare: .0004, Pacing: queue.PacingEarly, ByQuarter: [4]float64{.955, .03, .01, .005}, IdleP50: .215, IdleP95: 4.079, IdleMax: 17.372},
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

func TestThePicturesHaveWaitsByArrival(t *testing.T) {
	t.Parallel()
	c, results := report()
	r := results[1]
	for range 10 {
		r.Visits = append(r.Visits, simulate.Visit{Arrived: 30 * time.Second, Waited: 45 * time.Minute, Outcome: simulate.LetIn})
	}
	r.Visits = append(r.Visits, simulate.Visit{Arrived: 29*time.Minute + 59*time.Second, Waited: 90 * time.Minute, Outcome: simulate.LetIn},
		simulate.Visit{Arrived: 31 * time.Minute, Outcome: simulate.GaveUp})

	whole := r.HeatMap(c, 0)
	assert.Equal(t, "Waiting times, random", whole.Title)
	assert.Equal(t, "arrival, in minutes", whole.X.Label)
	assert.InDelta(t, 30, whole.X.To, 1e-9)
	assert.InDelta(t, 90, whole.Y.To, 1e-9)
	assert.Equal(t, 10, whole.Counts.At(0, 15))
	assert.Equal(t, 1, whole.Counts.At(29, 29), "the last cell has its upper edge")
	assert.Equal(t, whole.Frame, r.Scatter(c, 0).Frame)
	dots := 0
	for x, y := range r.Scatter(c, 0).Points {
		assert.Contains(t, [][2]float64{{.5, 45}, {29.983333333333334, 90}}, [2]float64{x, y})
		dots++
	}
	assert.Equal(t, 11, dots, "those who were let in")

	first := r.HeatMap(c, time.Hour)
	assert.Equal(t, "Waiting times, random: the first 1h", first.Title)
	assert.Equal(t, 10, first.Counts.At(0, 22))
	assert.Zero(t, first.Counts.At(29, 29), "longer waits are left out")
}

func TestPointsKeepTheirForm(t *testing.T) {
	t.Parallel()
	r := &simulate.Result{Method: queue.FIFO, Visits: []simulate.Visit{
		{Arrived: 1500 * time.Millisecond, Outcome: simulate.LetIn},
		{Arrived: 90 * time.Second, Waited: 10*time.Minute + 250*time.Millisecond, Outcome: simulate.LetIn},
		{Arrived: 2 * time.Hour, Outcome: simulate.GaveUp},
		{Arrived: 2 * time.Hour, Outcome: simulate.Refused},
		{Arrived: 3 * time.Hour, Outcome: simulate.StillWaiting},
	}}
	var out bytes.Buffer
	require.NoError(t, simulate.WritePoints(&out, []*simulate.Result{r}))
	assert.Equal(t, `queueing_method,arrival_minutes,arrival_seconds,wait_minutes,wait_seconds,outcome
fifo,0.0250,1.500,0.0000,0.000,let_in
fifo,1.5000,90.000,10.0042,600.250,let_in
fifo,120.0000,7200.000,,,gave_up
fifo,120.0000,7200.000,,,refused
fifo,180.0000,10800.000,,,still_waiting
`, out.String())
	closed, w := io.Pipe()
	require.NoError(t, closed.Close())
	require.ErrorContains(t, simulate.WritePoints(w, []*simulate.Result{r}), "writing the points: ")
}
