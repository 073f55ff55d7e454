// Package measure measures what a crowd makes of a room from outside: by when people came
// and were let in, and by the requests that the origin got. It takes no word of the queue
// for it. The crowds of package simulate are measured with it, and those that fairdoor load
// sends.
//
//	Limits      how many are active at a time, and are let in in a minute
//	Kendall     how far the order of admissions is that of arrivals
//	Overtaking  how many somebody gets ahead of
//	Percentile  of waits and the like
//	Seconds, Short, Share and Grouped write such figures
package measure
