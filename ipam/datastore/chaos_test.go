package datastore_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"pgregory.net/rapid"
)

// Goal: whatever happens to a node, world.check holds at every event, and when it stops happening, the store becomes
// what EC2 has and no further request is made. Method: rapid draws targets, pods, lost answers, restarts, failing
// disks, throttling and interference from outside; then everything is lifted.
func TestAnyTroubleEndsInRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		targets := datastore.Targets{
			WarmIP: rapid.IntRange(0, 4).Draw(rt, "warm"), MinimumIP: rapid.IntRange(0, 6).Draw(rt, "min"),
			WarmENI: rapid.IntRange(0, 2).Draw(rt, "enis"), WarmPrefix: rapid.IntRange(0, 2).Draw(rt, "prefixes"),
		}
		prefixes, skip := rapid.Bool().Draw(rt, "delegation"), rapid.Bool().Draw(rt, "skip primary")
		w := newWorld(rt, rapid.SampledFrom([]string{"t3.small", "m5.large"}).Draw(rt, "instance"), targets,
			func(c *ec2.Config, z *datastore.Sizing) {
				z.PrefixDelegation, z.SkipPrimary = prefixes, skip
				z.WholeENI = rapid.Bool().Draw(rt, "whole")
				c.MetadataLag = time.Duration(rapid.IntRange(0, 40).Draw(rt, "lag")) * time.Second
				if rapid.IntRange(0, 3).Draw(rt, "throttled") == 0 {
					c.Account = ec2.NewAccount(epoch, 0.2, 3)
				}
			})
		losing := false
		w.mangle = func(datastore.Call, *datastore.Result) bool {
			return losing && rapid.IntRange(0, 3).Draw(rt, "lose") == 0
		}
		trouble(w, &losing)(rt)
		losing, w.file.Error = false, nil
		w.run(30 * time.Minute)
		w.agree()
		if !w.manager.Ready() || w.ds.Flush() != nil {
			rt.Fatalf("not ready; %q", w.notes[max(len(w.notes)-8, 0):])
		}
		before := w.changes()
		w.run(30 * time.Minute)
		if w.changes() != before {
			rt.Fatalf("%d requests at rest, %s, %+v; %q", w.changes()-before, w.stats(), w.sizing, w.notes[max(len(w.notes)-8, 0):])
		}
		if s := w.ds.GetIPStats(); w.sizing.TooLow(s) && s.TotalIPs == 0 {
			rt.Fatalf("a node without addresses rests: %+v", w.sizing)
		}
	})
}

func trouble(w *world, losing *bool) func(*rapid.T) {
	return func(rt *rapid.T) {
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) { w.add() },
			"remove": func(t *rapid.T) {
				if len(w.pods) > 0 && w.file.Error == nil && w.manager.Ready() {
					w.remove(rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod"))
				}
			},
			"time": func(t *rapid.T) {
				w.run(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 7 * time.Second, 31 * time.Second, 2 * time.Minute}).Draw(t, "time"))
			},
			"kill":    func(*rapid.T) { w.start() },
			"losing":  func(t *rapid.T) { *losing = rapid.Bool().Draw(t, "on") },
			"disk":    func(t *rapid.T) { w.file.Error = rapid.SampledFrom([]error{nil, errors.New("disk")}).Draw(t, "error") },
			"outside": func(t *rapid.T) { interfere(w, t) },
		})
	}
}

// interfere changes EC2 under the agent.
func interfere(w *world, t *rapid.T) {
	enis, err := w.ec2.Describe(w.now)
	if err != nil {
		return
	}
	e := rapid.SampledFrom(enis).Draw(t, "eni")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		_ = w.ec2.Delete(w.now, e.ID) // the primary one refuses
	case 1:
		if len(e.Units) > 0 {
			_ = w.ec2.Unassign(w.now, e.ID, e.Units[:1])
		}
	case 2:
		_, _ = w.ec2.Assign(w.now, e.ID, 1, w.sizing.PrefixDelegation)
	}
}

// The same run twice tells the same story, word for word.
func TestSameStoryTwice(t *testing.T) {
	tell := func() []string {
		w := newWorld(t, "t3.small", warmIP(2, 3))
		var story []string
		w.mangle = func(c datastore.Call, _ *datastore.Result) bool {
			story = append(story, w.now.String()+" "+c.String())
			return len(story)%7 == 3
		}
		for n := range 40 {
			w.run(7 * time.Second)
			if n%3 != 2 {
				w.add()
			} else if len(w.pods) > 0 {
				w.remove(n % len(w.pods))
			}
		}
		return append(story, w.notes...)
	}
	if first, second := tell(), tell(); !slices.Equal(first, second) || len(first) < 10 {
		t.Errorf("%d and %d lines", len(first), len(second))
	}
}
