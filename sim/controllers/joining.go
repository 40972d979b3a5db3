package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
)

// joins are what ipamd tries again about an interface that is on its way into its store.
type joins map[join]*joinTries

type join struct {
	op  datastore.CallOp
	eni string
}

// joinTries is when something was tried last, and how often in a row.
type joinTries struct {
	pace
	times int
	// toldAt is when the last try was answered.
	toldAt time.Duration
}

// How often ipamd looks whether the metadata service shows a new interface, and tries to set one up on the host, before it leaves it to the
// next look at EC2 (ipam/datastore, awaitTries and setUpTries).
const (
	awaitsMost = 60
	setUpsMost = 6
)

// joinPauses are how long ipamd leaves between two such tries (ipam/datastore, awaitInterval and setUpInterval).
var joinPauses = map[string]time.Duration{scenarios.PacedAwait: time.Second, scenarios.PacedSetUp: 10 * time.Second}

// of are the tries that a call is one of, how many there are at the most, and the name of their pace, "" where it is about no such interface.
func (l joins) of(c datastore.Call) (tries *joinTries, most int, pace string) {
	switch {
	case c.Op == datastore.ReadIMDS && c.ENI != "":
		most, pace = awaitsMost, scenarios.PacedAwait
	case c.Op == datastore.SetUpENI:
		most, pace = setUpsMost, scenarios.PacedSetUp
	default:
		return nil, 0, ""
	}
	key := join{c.Op, c.ENI}
	if l[key] == nil {
		l[key] = new(joinTries)
	}
	return l[key], most, pace
}

// tries notes a call about an interface on its way.
func (d *ipamd) tries(c datastore.Call) {
	t, most, pace := d.joins.of(c)
	if pace == "" {
		return
	}
	if could := max(t.toldAt+joinPauses[pace], d.heardAt); t.known && t.times > 0 && d.vain == 0 && d.system.env.Paced != nil {
		d.system.env.Paced(d.node, scenarios.PacedJoin, max(d.system.env.Clock.Now()-could, 0))
	}
	t.again(&d.system.env, d.node, pace)
	if t.times++; t.times > most {
		d.system.env.needless(d.node, "ipamd's "+c.String(), fmt.Sprintf("is try %d in a row, of %d at the most", t.times, most))
		t.times = 0
	}
}

// unshown is what ipamd notes when it looks for a new interface no more.
const unshown = "the metadata service does not show it"

// tried notes what became of a call about an interface on its way, and what ipamd said of that.
func (d *ipamd) tried(c datastore.Call, r datastore.Result, said string) {
	t, most, pace := d.joins.of(c)
	if t != nil {
		t.toldAt = d.system.env.Clock.Now()
	}
	switch {
	case pace == "":
	case c.Op == datastore.ReadIMDS && strings.Contains(said, unshown):
		if t.times < most {
			d.system.env.needless(d.node, "ipamd's giving up of "+c.ENI, fmt.Sprintf("comes after %d looks for it, of %d", t.times, most))
		}
		t.times = 0
	case r.Err == nil && (c.Op == datastore.SetUpENI || slices.ContainsFunc(r.ENIs, func(e datastore.AttachedENI) bool { return e.ID == c.ENI })):
		t.times = 0
	}
}
