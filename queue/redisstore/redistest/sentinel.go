package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// MasterName is what Sentinels call the master.
const MasterName = "room"

// Sentinel is a master with replicas, and the three Sentinels that watch them.
type Sentinel struct {
	Master    *Server // the one that was it at the start
	Replicas  []*Server
	Sentinels []*Server
}

// StartSentinel starts a master, its replicas and three Sentinels, and waits
// until they know each other. A Sentinel takes a master for dead that has not answered
// for a second and a half: less could be due to a busy machine.
func StartSentinel(t testing.TB, replicas int) *Sentinel {
	t.Helper()
	s := &Sentinel{Master: Start(t, Options{})}
	host, port, _ := strings.Cut(s.Master.Addr, ":")
	for range replicas {
		r := Start(t, Options{Args: []string{"--replicaof", host, port, "--repl-diskless-sync-delay", "0"}})
		s.Replicas = append(s.Replicas, r)
	}
	for _, r := range s.Replicas {
		Until(t, "the replica follows", func() bool { return r.Info("replication", "master_link_status") == "up" })
	}
	for range 3 {
		s.Sentinels = append(s.Sentinels, startSentinel(t, host, port))
	}
	for _, one := range s.Sentinels {
		Until(t, "the Sentinels know each other and the replicas", func() bool {
			return strings.HasSuffix(one.Info("sentinel", "master0"), fmt.Sprintf("slaves=%d,sentinels=3", replicas))
		})
	}
	return s
}

func startSentinel(t testing.TB, host, port string) *Server {
	t.Helper()
	s := prepare(t, Options{})
	config := fmt.Sprintf(`port %s
bind 127.0.0.1
dir %s
sentinel monitor %s %s %s 2
sentinel down-after-milliseconds %s 1500
sentinel failover-timeout %s 1000
`, s.port(), s.dir, MasterName, host, port, MasterName, MasterName)
	path := filepath.Join(s.dir, "sentinel.conf")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	s.runWith(path, "--sentinel")
	// Servers that allow it are hurried; else the Sentinels need ten seconds to meet.
	_ = s.admin.Do(context.Background(), "SENTINEL", "DEBUG", "INFO-PERIOD", 100, "PUBLISH-PERIOD", 100, "ASK-PERIOD", 100, "PING-PERIOD", 100).Err()
	return s
}

// URL is the trio's address as the store's setting has it.
func (s *Sentinel) URL() string { return "redis+sentinel://" + MasterName + "@" + addrs(s.Sentinels) }

// AwaitFailover waits until the Sentinels have made another server the master,
// and returns it.
func (s *Sentinel) AwaitFailover(t testing.TB) *Server {
	t.Helper()
	var master *Server
	Until(t, "a replica becomes the master", func() bool {
		for _, r := range s.Replicas {
			if r.Info("replication", "role") == "master" {
				master = r
			}
		}
		return master != nil
	})
	for _, one := range s.Sentinels {
		Until(t, "the Sentinels agree on it", func() bool {
			return strings.Contains(one.Info("sentinel", "master0"), "address="+master.Addr)
		})
	}
	return master
}

func addrs(servers []*Server) string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Addr)
	}
	return strings.Join(list, ",")
}
