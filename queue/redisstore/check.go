package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// checkTime is how long the checks at the start may take.
const checkTime = 5 * time.Second

// check asks every master whether it can be relied on. What cannot be found out,
// as on managed servers, is a warning.
func (s *Store) check(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var warnings []string
	one := func(ctx context.Context, c *redis.Client) error {
		w, err := checkServer(ctx, c)
		warnings = append(warnings, w...)
		return err
	}
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		if err := client.ForEachMaster(ctx, one); err != nil {
			return nil, fmt.Errorf("checking the store: %w", err)
		}
	case *redis.Client:
		if err := one(ctx, client); err != nil {
			return nil, fmt.Errorf("checking the store: %w", err)
		}
	}
	return warnings, nil
}

func checkServer(ctx context.Context, c *redis.Client) (warnings []string, err error) {
	info, err := c.Info(ctx, "server", "memory", "cluster").Result()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[key] = value
		}
	}
	version := fields["redis_version"]
	if fields["valkey_version"] == "" && !atLeast(version, 6, 2) {
		return nil, fmt.Errorf("it is Redis %s: want 6.2 or newer, or Valkey", version)
	}
	switch policy := fields["maxmemory_policy"]; {
	case policy == "":
		warnings = append(warnings, "the store does not tell its maxmemory-policy: make sure that it is noeviction")
	case policy != "noeviction" && fields["maxmemory"] != "0":
		return nil, fmt.Errorf("its maxmemory-policy is %s, by which it may drop sessions when memory is short: set it to noeviction", policy)
	case policy != "noeviction":
		warnings = append(warnings, "the store's maxmemory-policy is "+policy+": set it to noeviction before you limit its memory")
	}
	return warnings, nil
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
