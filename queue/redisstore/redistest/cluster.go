package redistest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slots is how many hash slots a Cluster has.
const slots = 16384

// Cluster is three masters that share the hash slots.
type Cluster struct {
	Nodes []*Server
	t     testing.TB
}

// StartCluster starts a Cluster and waits until all of its nodes say that it is
// whole.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	for range 3 {
		c.Nodes = append(c.Nodes, Start(t, Options{Cluster: true, Args: []string{"--cluster-node-timeout", "2000"}}))
	}
	for i, n := range c.Nodes {
		n.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		n.Do("CLUSTER", "ADDSLOTSRANGE", i*slots/3, (i+1)*slots/3-1)
	}
	for i, n := range c.Nodes { // a node that has been met takes no epoch from a user any more
		other := c.Nodes[(i+1)%3]
		host, port, _ := strings.Cut(other.Addr, ":")
		n.Do("CLUSTER", "MEET", host, port, other.Do("CONFIG", "GET", "cluster-port").(map[any]any)["cluster-port"])
	}
	c.await("the Cluster is whole", func(info string) bool {
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
	})
	return c
}

func (c *Cluster) await(what string, holds func(info string) bool) {
	c.t.Helper()
	for _, n := range c.Nodes {
		Until(c.t, what, func() bool {
			info, err := n.Client().ClusterInfo(context.Background()).Result()
			return err == nil && holds(info)
		})
	}
}

// URL is the Cluster's address as the store's setting has it.
func (c *Cluster) URL() string { return "redis+cluster://" + addrs(c.Nodes) }

// Owner returns the node that has the key's slot, and the slot.
func (c *Cluster) Owner(key string) (*Server, int64) {
	c.t.Helper()
	slot := c.Nodes[0].Do("CLUSTER", "KEYSLOT", key).(int64)
	for _, n := range c.Nodes {
		mine, err := n.Client().ClusterCountKeysInSlot(context.Background(), int(slot)).Result()
		require.NoError(c.t, err)
		if mine > 0 {
			return n, slot
		}
	}
	return c.Nodes[int(slot)*3/slots], slot
}

// Migrate moves a slot, key by key, as resharding does; between is called before
// each key goes.
func (c *Cluster) Migrate(slot int64, from, to *Server, between func()) {
	c.t.Helper()
	ids := map[*Server]any{from: from.Do("CLUSTER", "MYID"), to: to.Do("CLUSTER", "MYID")}
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from])
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
	host, port, _ := strings.Cut(to.Addr, ":")
	for {
		keys := from.Do("CLUSTER", "GETKEYSINSLOT", slot, 1).([]any)
		if len(keys) == 0 {
			break
		}
		between()
		from.Do("MIGRATE", host, port, keys[0], 0, 5000)
	}
	for _, n := range []*Server{to, from} {
		n.Do("CLUSTER", "SETSLOT", slot, "NODE", ids[to])
	}
	for _, n := range c.Nodes {
		if n != to && n != from {
			n.Do("CLUSTER", "SETSLOT", slot, "NODE", ids[to])
		}
	}
}

// Lose kills a node and gives its slots, with nothing in them, to another, which
// is returned.
func (c *Cluster) Lose(dead *Server) *Server {
	c.t.Helper()
	at := slices.Index(c.Nodes, dead)
	c.Nodes = slices.Delete(slices.Clone(c.Nodes), at, at+1)
	heir := c.Nodes[0]
	mine := []any{"CLUSTER", "DELSLOTSRANGE", at * slots / 3, (at+1)*slots/3 - 1}
	dead.Kill()
	for _, n := range c.Nodes {
		n.Do(mine...)
	}
	heir.Do("CLUSTER", "ADDSLOTSRANGE", mine[2], mine[3])
	heir.Do("CLUSTER", "BUMPEPOCH")
	c.await("the Cluster is whole without the dead node", func(info string) bool {
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_ok:16384")
	})
	return heir
}
