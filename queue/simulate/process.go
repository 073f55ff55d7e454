package simulate

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// process is something that a node does in virtual time and that may have to wait
// on the way: a visitor's request, or a sync. It is a coroutine, which stops while
// it waits.
type process struct {
	visitor int32  // whose request it is; nobody of a sync
	task    func() // nil when it is done
	resume  func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

// nobody is the visitor of a process that is not a request.
const nobody int32 = -1

// stray is the visitor of a request of a client without cookies, who gets no answer from a
// node that dies.
const stray int32 = -2

// processes are the coroutines of a run. The idle ones are kept for the next tasks.
type processes struct {
	idle    []*process
	running *process
}

// begin has a process do a task until it waits or is done.
func (ps *processes) begin(visitor int32, task func()) {
	if len(ps.idle) == 0 {
		ps.idle = append(ps.idle, newProcess())
	}
	last := len(ps.idle) - 1
	p := ps.idle[last]
	ps.idle = ps.idle[:last]
	p.visitor, p.task = visitor, task
	ps.proceed(p)
}

func newProcess() *process {
	p := &process{}
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		for p.do() {
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return p
}

// do does the task, and reports whether the process can have another: not if its
// node has died.
func (p *process) do() (alive bool) {
	defer func() {
		if !alive {
			if cause := recover(); cause != errNodeDead { //nolint:errorlint // it is thrown as it is
				panic(cause)
			}
		}
	}()
	p.task()
	p.task = nil
	return true
}

// proceed lets a process go on until it waits or is done.
func (ps *processes) proceed(p *process) {
	ps.running = p
	p.resume()
	ps.running = nil
	if p.task == nil {
		ps.idle = append(ps.idle, p)
	}
}

// close ends the idle coroutines.
func (ps *processes) close() {
	for _, p := range ps.idle {
		p.stop()
	}
}

// wait is what processes of a node wait for.
type wait struct {
	ready     <-chan struct{} // nil for time alone
	until     queue.Instant   // zero for ever
	processes []*process      // in the order in which they came
}

// over receives from the channel, or says whether the time is over.
func (w *wait) over(now queue.Instant) bool {
	if w.until != 0 && w.until <= now {
		return true
	}
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

// errNodeDead ends the processes of a node that has died.
var errNodeDead = errors.New("the node is dead")

// wait is the room's way to wait: see [room.Config.Wait]. Of a process whose node dies
// meanwhile, it unwinds the stack.
func (n *node) wait(ready <-chan struct{}, atMost time.Duration) {
	if !n.sleep(ready, atMost) {
		panic(errNodeDead)
	}
}

// sleep has the running process wait; false if its node has died.
func (n *node) sleep(ready <-chan struct{}, atMost time.Duration) bool {
	if n.dead {
		return false
	}
	p := n.run.processes.running
	var until queue.Instant
	if atMost > 0 {
		until = n.run.now.Add(atMost)
		n.run.nodes.wake(n, until)
	}
	n.waitOf(ready, until).add(p)
	return p.yield(struct{}{})
}

// waitOf returns what the processes wait for who wait for this.
func (n *node) waitOf(ready <-chan struct{}, until queue.Instant) *wait {
	for i := range n.waits {
		if w := &n.waits[i]; w.ready == ready && w.until == until {
			return w
		}
	}
	n.waits = append(n.waits, wait{ready: ready, until: until})
	return &n.waits[len(n.waits)-1]
}

func (w *wait) add(p *process) { w.processes = append(w.processes, p) }

// settle lets the node's processes go on whose waits are over.
func (n *node) settle() {
	for i := 0; i < len(n.waits); {
		w := &n.waits[i]
		if !w.over(n.run.now) {
			i++
			continue
		}
		p := w.processes[0]
		if w.processes = w.processes[1:]; len(w.processes) == 0 {
			n.waits = slices.Delete(n.waits, i, i+1)
		}
		n.run.processes.proceed(p)
		i = 0 // it may have ended the waits of others
	}
}
