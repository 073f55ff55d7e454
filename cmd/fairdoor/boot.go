package main

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"time"
)

// sinceBoot returns how long the machine has been up, asleep or awake, and a name of that
// boot. Both are 0 where the system does not tell it as Linux does.
func sinceBoot() (boot uint64, up time.Duration) {
	name, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0, 0
	}
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write(name)
	return hash.Sum64(), time.Duration(seconds * float64(time.Second)).Truncate(time.Millisecond)
}
