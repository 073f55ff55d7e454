package origin

// StopProbing ends the probing for good, so that an origin sees the requests of visitors and
// nothing else.
func (o *Origin) StopProbing() { o.breaker.close() }

// Forgive has the origin's connections used again, though it has sent more than its answer.
func (o *Origin) Forgive() {
	o.carrier.overran.Store(false)
	if d := o.carrier.direct; d != nil {
		d.pool.mu.Lock()
		defer d.pool.mu.Unlock()
		d.pool.closed = false
	}
}

// Watching says how many connections have a request, and whether anything watches over them.
func (o *Origin) Watching() (busy int, watched bool) {
	p := o.carrier.direct.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.busy), p.watched
}
