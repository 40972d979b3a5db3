package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// startWorkload starts what the scenario lets happen by itself: the pods of a trace, and churn. Healing ends both.
func (p *Player) startWorkload() {
	rows := p.s.Workload.Rows
	t := &trace{p: p, rows: rows}
	for i, r := range rows {
		t.births = append(t.births, int32(i))
		if r.Delete != scenarios.AfterEnd {
			t.deaths = append(t.deaths, int32(i))
		}
	}
	slices.SortStableFunc(t.births, func(a, b int32) int { return cmp.Compare(t.created(a), t.created(b)) })
	slices.SortStableFunc(t.deaths, func(a, b int32) int { return cmp.Compare(rows[a].Delete, rows[b].Delete) })
	t.next()
	if c := p.s.Churn; c.On() {
		c.App = cmp.Or(c.App, scenarios.ChurnApp)
		if c.Until == 0 {
			c.Until = p.s.BreakEnd()
		}
		p.churnAfter(c, max(0, c.From-p.world.Now()), 0)
	}
}

// trace plays rows. One plan waits at a time, however long the trace is.
type trace struct {
	p    *Player
	rows scenarios.Rows
	// births are indices of rows by their creation, deaths of those that end by their deletion.
	births, deaths []int32
}

// created is when a row begins; pods of before the start exist from the start.
func (t *trace) created(i int32) time.Duration { return max(0, t.rows[i].Create) }

// next plans the next row. Of one time, creations come before deletions.
func (t *trace) next() {
	dies := len(t.deaths) > 0 && (len(t.births) == 0 || t.rows[t.deaths[0]].Delete < t.created(t.births[0]))
	if !dies && len(t.births) == 0 {
		return
	}
	list, at, what := &t.births, time.Duration(0), "workload create default/"
	if dies {
		list, what = &t.deaths, "workload delete default/"
	}
	i := (*list)[0]
	*list = (*list)[1:]
	r := &t.rows[i]
	if at = t.created(i); dies {
		at = r.Delete
	}
	t.p.world.After(max(0, at-t.p.world.Now()), what+r.Name, func() {
		switch {
		case t.p.healed:
			return
		case dies:
			t.p.scaleDown(r.Name)
		default:
			t.p.world.CreatePod(Pod{Name: r.Name, App: r.App, MaxPerNode: r.MaxPerNode})
		}
		t.next()
	})
}

// churnAfter plans the next batch of pods that come and go by themselves; made is how many there were before.
func (p *Player) churnAfter(c scenarios.Churn, d time.Duration, made int) {
	p.world.After(d, "churn "+strconv.Itoa(made), func() {
		if p.healed || p.world.Now() >= c.Until {
			return
		}
		n := max(1, c.Count)
		for i := made; i < made+n; i++ {
			name := c.App + "-" + strconv.Itoa(i)
			p.world.CreatePod(Pod{Name: name, App: c.App})
			if life := p.life(c); life > 0 {
				p.world.After(life, "churn ends "+name, func() {
					if !p.healed {
						p.scaleDown(name)
					}
				})
			}
		}
		p.churnAfter(c, p.around(c.Every, "gap"), made+n)
	})
}

// life is how long a pod of the churn lives; 0 is to the end.
func (p *Player) life(c scenarios.Churn) time.Duration {
	switch {
	case len(c.Lifetimes) > 0:
		return c.Lifetimes[p.chooser.Pick("timeline churn lives", len(c.Lifetimes))]
	case c.Lifetime > 0:
		return p.around(c.Lifetime, "life")
	}
	return 0
}

// around draws evenly from half to one and a half times d.
func (p *Player) around(d time.Duration, label string) time.Duration {
	return d/2 + time.Duration(p.chooser.Pick("timeline churn "+label, int(d)+1))
}
