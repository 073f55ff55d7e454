package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// checkTime is how long the checks at the start may take.
const checkTime = 5 * time.Second

// check finds out whether every master can be relied on. It asks again if one is slow to
// answer. What a server does not tell, as managed ones do, makes a warning.
func (s *Store) check(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	for {
		warnings, err := s.checkOnce(ctx)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return warnings, err
		}
	}
}

func (s *Store) checkOnce(ctx context.Context) ([]string, error) {
	var mu sync.Mutex // a Cluster's masters are asked at the same time
	var warnings []string
	check := func(ctx context.Context, c *redis.Client) error {
		warning, err := s.checkServer(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		if warning != "" && !slices.Contains(warnings, warning) {
			warnings = append(warnings, warning)
		}
		return err
	}
	var err error
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, check)
	case *redis.Client:
		err = check(ctx, client)
	}
	if err != nil {
		return nil, fmt.Errorf("checking the store: %w", err)
	}
	return warnings, nil
}

func (s *Store) checkServer(ctx context.Context, c *redis.Client) (warning string, err error) {
	info, err := c.Info(ctx, "server", "memory", "cluster").Result()
	if err != nil && !redis.HasErrorPrefix(err, "NOPERM") {
		return "", err
	}
	if _, clustered := s.client.(*redis.ClusterClient); !clustered && strings.Contains(info, "cluster_enabled:1") {
		return "", errors.New("it is part of a Cluster: want redis+cluster://")
	}
	return checkInfo(info)
}

// checkInfo finds out whether a server can be relied on by its reply to INFO, which is
// empty if the store's user may not ask.
func checkInfo(info string) (warning string, err error) {
	if info == "" {
		return "the store's user may not ask for INFO: make sure that it is Redis 6.2 or newer, or Valkey, and its maxmemory-policy noeviction", nil
	}
	fields := infoFields(info)
	if version := fields["redis_version"]; fields["valkey_version"] == "" && !atLeast(version, 6, 2) {
		return "", fmt.Errorf("it is Redis %s: want 6.2 or newer, or Valkey", version)
	}
	return checkPolicy(fields["maxmemory_policy"], fields["maxmemory"] != "0")
}

// infoFields are the fields of a reply to INFO.
func infoFields(info string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}

// checkPolicy finds out whether the server may drop keys when memory is short.
func checkPolicy(policy string, limited bool) (warning string, err error) {
	switch {
	case policy == "":
		return "the store does not tell its maxmemory-policy: make sure that it is noeviction", nil
	case policy == "noeviction":
		return "", nil
	case limited:
		return "", fmt.Errorf("its maxmemory-policy is %s, by which it may drop sessions when memory is short: set it to noeviction", policy)
	}
	return "the store's maxmemory-policy is " + policy + ": set it to noeviction before you limit its memory", nil
}

// atLeast reports whether a version such as "7.0.15" is not below major.minor.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errors.Join(errA, errB) == nil && (a > major || a == major && b >= minor)
}
