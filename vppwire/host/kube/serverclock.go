package kube

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ReasonClock is the event about a node whose clock is not the API server's.
const ReasonClock = "ClockDiffers"

// clockTolerance is by how much two clocks may differ: time daemons keep within milliseconds, and Kubernetes' own
// leases forgive a few seconds.
const clockTolerance = 5 * time.Second

// mendClock is what sets a clock right, whichever of the two it is.
const mendClock = "`chronyc makestep`, or `timedatectl set-ntp true`, on the machine whose clock is wrong"

// serverClock compares this machine's clock with the API server's by the Date of each answer, and tells once when they
// come to differ and once when they do not any more. Certificates and tokens are what fails then, at some time that
// nobody expects.
type serverClock struct {
	next http.RoundTripper
	now  func() time.Time
	log  *slog.Logger

	mu sync.Mutex
	// ahead is by how much this machine was ahead at least at the last answer, below 0 behind; 0 where the clocks may have
	// been the same.
	ahead time.Duration
	// tell is nil where nobody wants to know. said: it was told.
	tell func(agent.Log)
	said bool
}

// RoundTrip implements http.RoundTripper.
func (c *serverClock) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := c.now()
	resp, err := c.next.RoundTrip(r)
	if err == nil {
		if date, bad := http.ParseTime(resp.Header.Get("Date")); bad == nil {
			c.saw(ahead(asked, c.now(), date))
		}
	}
	return resp, err
}

// ahead is by how much a clock is ahead of a server's at least, which wrote date, in whole seconds, at some moment
// between the two times.
func ahead(asked, answered, date time.Time) time.Duration {
	if d := asked.Round(0).Sub(date.Add(time.Second)); d > 0 {
		return d
	}
	return min(0, answered.Round(0).Sub(date))
}

func (c *serverClock) saw(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = by
	c.judge()
}

// judge tells what is new; the lock is held.
func (c *serverClock) judge() {
	wrong := c.ahead.Abs() > clockTolerance
	if wrong == c.said || c.tell == nil {
		return
	}
	if c.said = wrong; !wrong {
		c.log.Info("this machine's clock and the API server's are the same again")
		return
	}
	line := clockDiffers("this machine's", c.ahead)
	c.log.Warn(line)
	c.tell(agent.Log{Level: int(slog.LevelWarn), Reason: ReasonClock, Message: line})
}

// listen has tell told of a clock that is wrong, now and later.
func (c *serverClock) listen(tell func(agent.Log)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell = tell
	c.judge()
}

// TellClock has the log and tell, which may be nil, told when this machine's clock and the API server's come to differ,
// if they do already now.
func (c *Connection) TellClock(tell func(agent.Log)) {
	if tell == nil {
		tell = func(agent.Log) {}
	}
	c.clock.listen(tell)
}

// ServerTime is what the API server's clock shows, within a second or two as of its last answer, and a line about this
// machine's clock where that is wrong, empty where it is right.
func (c *Connection) ServerTime() (now time.Time, wrong string) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if by := c.clock.ahead; by.Abs() > clockTolerance {
		wrong = clockDiffers("this machine's", by)
	}
	return c.clock.now().Add(-c.clock.ahead), wrong
}

// clockDiffers is the one line about a clock that is ahead of the API server's, or behind where by is below 0.
func clockDiffers(whose string, by time.Duration) string {
	word := "ahead of"
	if by < 0 {
		word = "behind"
	}
	return fmt.Sprintf("%s clock is %s %s the API server's, and certificates and tokens will fail: %s", whose, by.Abs().Round(time.Second), word, mendClock)
}

// leaseLate is how old the lease of a node that counts as ready may be: the controller manager waits for 50 s, by its
// own clock, for another renewal.
const leaseLate = 2 * time.Minute

// NodeClock is a line about the clock of a node that is ready and renewed its lease at this time by it, and empty where
// the clock may be right.
func NodeClock(node string, renewed, server time.Time) string {
	switch by := renewed.Sub(server); {
	case by > clockTolerance:
		return clockDiffers("node "+node+"'s", by)
	case by < -leaseLate:
		return clockDiffers("node "+node+"'s", by)
	}
	return ""
}

// withClock says of a certificate that is not valid at this machine's time what that may come of.
func withClock(err error) error {
	var bad x509.CertificateInvalidError
	if errors.As(err, &bad) && bad.Reason == x509.Expired {
		return fmt.Errorf("%w: where this machine's time %s is wrong, %s; else the certificates are to be renewed", err, time.Now().UTC().Format(time.RFC3339), mendClock)
	}
	return err
}
