package flood_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/flood"
)

// shedStream sheds a request of HTTP/2 on a connection, and returns after how long its handler
// panics.
func (s *server) shedStream(c *flood.Conn) <-chan time.Duration {
	start, took := time.Now(), make(chan time.Duration, 1)
	go func() {
		defer func() {
			assert.Equal(s.t, http.ErrAbortHandler, recover())
			took <- time.Since(start)
		}()
		c.Shed(&http.Request{ProtoMajor: 2})
	}()
	return took
}

func TestAStreamIsHeldForAWhileAndItsConnectionIsNotShed(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		c := s.conn(func() { assert.Fail(t, "shed") })
		assert.InDelta(t, 5*time.Second, <-s.shedStream(c), float64(20*time.Millisecond))
		var all []<-chan time.Duration
		c.Keep()
		for range 5000 {
			all = append(all, s.shedStream(c))
		}
		sum := time.Duration(0)
		for _, took := range all {
			sum += <-took
		}
		assert.Greater(t, sum/5000, 5*time.Second, "so many end bit by bit")
	})
}

func TestAConnectionOfManyStreamsIsShedUnlessSomebodyWhoIsInHasComeOnIt(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"nobody": false, "somebody": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, func(s *server) {
				shed := 0
				c := s.conn(func() { shed++ })
				if kept {
					c.Keep()
				}
				for range 17 {
					assert.Zero(t, shed)
					s.shedStream(c)
					synctest.Wait()
				}
				assert.Equal(t, !kept, shed == 1)
				<-time.After(20 * time.Second)
			})
		})
	}
}

func TestOfMoreThan8192StreamsTheOldestEnd(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		c := s.conn(func() {})
		c.Keep()
		var all []<-chan time.Duration
		for range 8192 + 100 {
			all = append(all, s.shedStream(c))
			synctest.Wait()
		}
		ended := 0
		for _, took := range all {
			if <-took == 0 {
				ended++
			}
		}
		assert.Equal(t, 100, ended, "at once")
	})
}

func TestNoStreamIsHeldWhoseConnectionIsClosed(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		c := s.conn(func() {})
		before := s.shedStream(c)
		<-time.After(time.Second)
		c.Closed()
		assert.Equal(t, time.Second, <-before)
		assert.Zero(t, <-s.shedStream(c))
		other := s.shedStream(s.conn(func() {}))
		<-time.After(time.Second)
		s.Close()
		assert.Equal(t, time.Second, <-other, "nothing is held any more")
	})
}
