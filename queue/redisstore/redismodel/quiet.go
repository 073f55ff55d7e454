package redismodel

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Quiet keeps what clients log in this process to itself: of what a test does to their server they
// log each attempt that fails.
func Quiet() { redis.SetLogger(quiet{}) }

type quiet struct{}

// Printf implements the client's logging.
func (quiet) Printf(context.Context, string, ...any) {}
