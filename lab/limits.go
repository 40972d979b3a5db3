package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// orderLimits are how long the owner of a lab may take to answer each order. What an order does has limits of its own,
// which are shorter; an order waits for the one before it.
var orderLimits = map[string]time.Duration{
	"/status":   30 * time.Second,
	"/plan":     30 * time.Second,
	"/apply":    5 * time.Minute,
	"/settle":   5 * time.Minute,
	"/do":       5 * time.Minute,
	"/heal":     2 * time.Minute,
	"/probe":    ProbeLimit + 30*time.Second,
	"/graph":    2 * time.Minute,
	"/evidence": 3 * time.Minute,
	"/down":     30 * time.Second,
	"/busy":     2 * time.Second,
}

// NoAnswer is what did not answer in time.
type NoAnswer struct {
	// Who did not answer what within Limit; Busy is what it was busy with, where that is known.
	Who, What, Busy string
	Limit           time.Duration
}

func (e *NoAnswer) Error() string {
	text := fmt.Sprintf("%s has not answered %s within %s", e.Who, e.What, e.Limit)
	if e.Busy != "" {
		text += "; it is busy with " + e.Busy
	}
	return text
}

// CallWithin is Call with a limit of its own.
func (c *Client) CallWithin(ctx context.Context, limit time.Duration, method, what string, body io.Reader, into any) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := c.call(bounded, method, what, body, into)
	if err == nil || !errors.Is(bounded.Err(), context.DeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	late := &NoAnswer{Who: fmt.Sprintf("lab %s: its owner (process %s)", c.state.ID, c.state.OwnerPID()), What: method + " " + what, Limit: limit}
	if what != "/busy" {
		_ = c.Call(ctx, "GET", "/busy", nil, &late.Busy) // what cannot be had is not told
	}
	return late
}

// Call asks for one thing; into, where not nil, gets the answer. It takes as long as that order may; see CallWithin.
func (c *Client) Call(ctx context.Context, method, what string, body io.Reader, into any) error {
	return c.CallWithin(ctx, orderLimits[what], method, what, body, into)
}

// OwnerPID is the process ID of the lab's owner, for people.
func (h StateDir) OwnerPID() string {
	id, err := spawn.ParseID(h.Owner)
	if err != nil {
		return "unknown"
	}
	return strconv.Itoa(id.PID)
}

// goneTime is how long the owner of a lab may take to end it: machines are removed at the same time, containers in
// seconds.
const goneTime = 2 * time.Minute

// WaitGone waits until a lab's owner has taken it down.
func (h StateDir) WaitGone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, goneTime)
	defer cancel()
	for h.Alive() {
		if _, err := os.Stat(h.dir); os.IsNotExist(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lab %s: its owner (process %s) has not ended it within %s; kill -9 %s, and the next command of labs removes what is left",
				h.ID, h.OwnerPID(), goneTime, h.OwnerPID())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
