package agent

import "time"

// repairAgain is when a look at everything is tried again that has found the wiring busy.
const repairAgain = time.Second

// repairDrift looks at all of VPP and Linux at the intervals that are configured: what another hand has changed is put
// right.
func (a *Agent) repairDrift() {
	if !due(a.repairAt, a.now) {
		return
	}
	if !a.vppUp || a.calling || !a.wire.Idle() {
		a.repairAt = a.now.Add(repairAgain)
		a.setAlarm()
		return
	}
	a.repairLater()
	a.wire.Doubt(nil)
}

// repairLater sets the time of the next look at everything.
func (a *Agent) repairLater() {
	if a.cfg.DriftRepair > 0 {
		a.repairAt = a.now.Add(a.cfg.DriftRepair)
		a.setAlarm()
	}
}
