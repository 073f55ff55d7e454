//go:build !race

package world_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/world"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// A thousand visitors before two gates with a Redis live some 300 times as fast as they would, by
// the processor time of one core that nobody else uses. On a machine that is busy, or lends its cores
// to others, it is a quarter of that: the test allows a tenth. With -v it says what it has measured.
func TestAThousandVisitorsAtTwoGatesLiveFast(t *testing.T) {
	p := world.Draw(1)
	kinds := p.People
	p.Gates, p.Redis, p.Sale, p.Faults, p.Waitlist, p.People = 2, true, world.Sale{}, nil, nil, nil
	p.Settings.Method, p.Settings.RefreshInterval = queue.FIFO, queue.Settings{}.WithDefaults().RefreshInterval
	for i := range 1000 {
		someone := kinds[i%len(kinds)]
		someone.Number, someone.Name = i, fmt.Sprint("visitor ", i)
		p.People = append(p.People, someone)
	}
	before := processorTime(t)
	lived := world.Run(t, p).Ends
	took := processorTime(t) - before
	faster := lived.Seconds() / took.Seconds()
	t.Logf("%v in %v of a processor: %.0f times as fast", lived.Round(time.Second), took.Round(time.Millisecond), faster)
	if faster < 30 {
		t.Errorf("%v took %v", lived, took)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
