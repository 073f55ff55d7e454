package main

import (
	"os"
	"runtime/trace"
	"time"
)

func init() {
	if os.Getenv("ZZTRACE") == "" {
		return
	}
	go func() {
		time.Sleep(17 * time.Second)
		f, _ := os.Create("/tmp/zz.trace")
		_ = trace.Start(f)
		time.Sleep(1200 * time.Millisecond)
		trace.Stop()
		_ = f.Close()
	}()
}
