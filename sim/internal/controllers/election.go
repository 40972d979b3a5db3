package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// election is the leadership among the lives of one program: one leader at a time, and for a while none. The zero
// election has had no leader yet.
type election struct {
	lives    int
	leads    *leader
	electing bool
	// late is the leader before, where its requests arrive within the takeover.
	late *leader
}

// won is the leader of the next life.
func (e *election) won(env *Env, program string) *leader {
	e.electing = false
	e.lives++
	e.leads = newLeader(env, program, e.lives, e.late)
	return e.leads
}

// lose cuts the leader off, or pauses it, and lets another life take over, which lead starts; knows is called when the
// old leader knows. False: there is no leader to lose.
func (e *election) lose(how scenarios.LoseLeader, knows, lead func()) bool {
	if e.leads == nil || e.electing {
		return false
	}
	e.late = nil
	if how.Asleep {
		e.leads.sleep(how.Pause, knows)
	} else {
		e.late = e.leads.lose(how.Pause, how.Within, knows)
	}
	e.replace(leaseTime+electionTime, lead)
	return true
}

// restart ends the leader, and lead starts the next life when its lease has run out. While there is no leader, the one that
// comes is a new life anyway.
func (e *election) restart(end, lead func()) {
	if e.leads == nil || e.electing {
		return
	}
	e.late = nil
	end()
	e.replace(leaseTime+electionTime, lead)
}

// again makes lead start the program again after a life of it has died, unless another one leads or is about to.
func (e *election) again(dead *leader, lead func()) {
	if dead == e.leads && !e.electing {
		e.replace(electionTime, lead)
	}
}

func (e *election) replace(after time.Duration, lead func()) {
	e.electing = true
	e.leads.env.Clock.After(after, &step{e.leads.name, "is replaced", lead})
}
