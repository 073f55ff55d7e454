// Package redistest starts real Redis servers for tests: single ones, a master
// with replicas and Sentinels, and a Cluster. It needs redis-server in the PATH
// and fails, rather than skips, where there is none. Everything it starts listens
// on the loopback interface only, keeps its files in the test's own directory,
// and has ended when the test has.
//
// A [Proxy] stands between a client and a server and does to them what networks
// do.
package redistest
