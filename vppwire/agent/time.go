package agent

import "time"

// ownTime decides on the agent's own time, which rests are measured by and its journal speaks of. It never goes back
// from one life to the next. Within a boot of the machine it is what has passed since the boot began, by a clock that
// nobody sets: a wall clock that was set ahead between two lives would end the rest of a released address too early,
// one that was set back would keep it for hours. In a new boot it is the wall clock's again, unless that has fallen
// behind the journal. It returns what the journal has to say about that.
func (a *Agent) ownTime(e Restored) (fresh []Record) {
	var last time.Time
	var boot string
	for i := range e.Records {
		switch r := &e.Records[i]; r.Kind {
		case RecordBoot:
			boot = r.Boot
		case RecordClock:
			if a.began = (time.Time{}); boot == e.Boot {
				a.began = r.Began
			}
		case RecordIPAM:
			if r.IPAM.At.After(last) {
				last = r.IPAM.At
			}
		}
	}
	wall := a.now
	switch {
	case e.Uptime <= 0:
		a.began = time.Time{}
	case !a.began.IsZero():
		a.now = a.began.Add(e.Uptime)
	}
	if last.After(a.now) {
		a.now = last
	}
	a.ahead = wall.Sub(a.now)
	if began := a.now.Add(-e.Uptime); e.Uptime > 0 && !began.Equal(a.began) {
		a.began = began.Round(0).UTC()
		fresh = append(fresh, Record{Kind: RecordClock, Began: a.began})
	}
	return fresh
}

// Time is the agent's own time at a time of its caller's: what its allocator is told, and its journal says.
func (a *Agent) Time(now time.Time) time.Time { return now.Add(-a.ahead) }
