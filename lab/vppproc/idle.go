package vppproc

import (
	"context"

	"go.fd.io/govpp/binapi/ip"
)

// expireWalkMS is how often VPP looks for fragments that have waited too long, in milliseconds. Its own 50 ms are what
// keeps the main loop of an idle VPP awake: it sleeps at most a millisecond at a time while a timer is near, and with
// two tables one is (25.10: 1,000 rounds a second and 3.2 % of a core with 50 ms, 160 and 2.0 % without, side by side
// on two loaded cores).
const expireWalkMS = 1000

// rest lets an idle VPP sleep longer. Fragments that nothing completes are forgotten up to a second later than
// elsewhere.
func (c Conn) rest(ctx context.Context) error {
	for _, six := range []bool{false, true} {
		now := ip.IPReassemblyGetReply{}
		if err := c.Invoke(ctx, &ip.IPReassemblyGet{IsIP6: six, Type: ip.IP_REASS_TYPE_FULL}, &now); err != nil {
			return err
		}
		set := ip.IPReassemblySet{TimeoutMs: now.TimeoutMs, MaxReassemblies: now.MaxReassemblies, MaxReassemblyLength: now.MaxReassemblyLength,
			ExpireWalkIntervalMs: expireWalkMS, IsIP6: six, Type: ip.IP_REASS_TYPE_FULL}
		if err := c.Invoke(ctx, &set, &ip.IPReassemblySetReply{}); err != nil {
			return err
		}
	}
	return nil
}
