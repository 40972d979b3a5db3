package faults

import (
	"context"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Call implements host.Between: a call to VPP or Linux.
func (p *Port) Call(ctx context.Context, c vppwire.Call, do func() vppwire.Result) vppwire.Result {
	op := fault.Call("", c, true)
	silent := func() vppwire.Result {
		wait(ctx, p.cfg.CallTimeout)
		return c.Unanswered()
	}
	switch v := p.judge(op); v.Action {
	case fault.Vanish, fault.CrashBefore:
		return silent()
	case fault.Refuse:
		return c.Refused(api.RetvalToVPPApiError(v.Retval()))
	case fault.Mute:
		do()
		return silent()
	case fault.CrashAfter:
		do()
		p.done(op, v)
		return silent()
	case fault.Delay:
		r := do()
		if v.Delay >= p.cfg.CallTimeout {
			return silent()
		}
		if wait(ctx, v.Delay); ctx.Err() != nil {
			return c.Unanswered()
		}
		return r
	case fault.Duplicate:
		do()
	}
	return do()
}
