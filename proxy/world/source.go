package world

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// source is a source of random numbers of its own for whoever is called name.
func source(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// shared lets several goroutines draw from one source.
func shared(r *rand.Rand) func() uint64 {
	var mu sync.Mutex
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Uint64()
	}
}

// mix is a hash of two numbers.
func mix(a, b uint64) uint64 {
	a ^= b * 0x9e3779b97f4a7c15
	a = (a ^ a>>30) * 0xbf58476d1ce4e5b9
	a = (a ^ a>>27) * 0x94d049bb133111eb
	return a ^ a>>31
}
