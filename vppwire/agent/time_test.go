package agent_test

import (
	"testing"
	"time"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// Goal: the agent's own time passes as true time does within a boot, whatever its wall clock does between two lives,
// and never goes back. Method: lives of an agent on one journal; each is told its wall clock and how long its boot has
// lasted.
func TestOwnTime(t *testing.T) {
	start := time.Unix(1_000_000, 0).UTC()
	var records []Record
	for _, life := range []struct {
		name         string
		boot         string
		wall, uptime time.Duration // wall since start
		want         time.Duration
		writes       bool
	}{
		{"the first", "b1", 0, time.Minute, 0, true},
		{"set ahead by an hour", "b1", time.Hour + 10*time.Second, time.Minute + 10*time.Second, 10 * time.Second, false},
		{"set back by two", "b1", -time.Hour, time.Minute + 20*time.Second, 20 * time.Second, false},
		{"another boot, by the wall clock", "b2", 5 * time.Minute, time.Second, 5 * time.Minute, true},
		{"the same boot", "b2", 0, 11 * time.Second, 5*time.Minute + 10*time.Second, false},
		{"a boot whose clock has fallen back behind the journal", "b3", -24 * time.Hour, time.Second, 5*time.Minute + 10*time.Second, true},
		{"a caller who knows no uptime", "b3", time.Hour, 0, time.Hour, false},
		{"one who knows it again", "b3", 0, 2 * time.Second, time.Hour, true},
	} {
		a, err := New(story.Config("n1"), freshAllocator(t))
		if err != nil {
			t.Fatal(err)
		}
		wall := start.Add(life.wall)
		wrote := false
		for _, e := range a.Step(wall, Restored{Records: records, Boot: life.boot, Uptime: life.uptime}) {
			if e, ok := e.(Persist); ok {
				for _, r := range e.Records {
					wrote = wrote || r.Kind == RecordClock
				}
				if e.Replace {
					records = nil
				}
				records = append(records, e.Records...)
			}
		}
		if have := a.Time(wall).Sub(start); have != life.want || wrote != life.writes {
			t.Errorf("%s: %v, and wrote the clock %t; want %v, %t", life.name, have, wrote, life.want, life.writes)
		}
		// What the life does last tells the next one how far it came.
		block := Record{Kind: RecordIPAM}
		block.IPAM.At = a.Time(wall)
		records = append(records, block)
	}
}
