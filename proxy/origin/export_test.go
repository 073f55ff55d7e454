package origin

// StopProbing ends the probing for good, so that an origin sees the requests of visitors and nothing else.
func (o *Origin) StopProbing() { o.breaker.close() }
