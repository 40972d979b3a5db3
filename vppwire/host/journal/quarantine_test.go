package journal

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/journaltest"
)

// Goal: what a damaged file held is never lost, whenever its next life dies or power goes. Method: every operation of a
// life's start that fails or at which the process dies, then power that goes, with everything that it may leave.
func TestQuarantineIsDurable(t *testing.T) {
	var data []byte
	for n := range 3 {
		var err error
		data, err = appendFrame(data, []agent.Record{lease(n)})
		must(t, err)
	}
	data[len(data)/2] ^= 1
	o := engine.NewOdometer()
	for o.Next() {
		c := &oneTrouble{of: o}
		m := &memoryMachine{disk: newMemoryDisk(c)}
		n := &inode{cache: slices.Clone(data), disk: slices.Clone(data)}
		m.disk.names["folder/journal"], m.disk.safe["folder/journal"] = n, n
		alive := func() (alive bool) {
			defer m.died(&alive)
			return newJournal("folder/journal", m.disk).load(func(*agent.History) {}) == nil
		}()
		c.power = true
		m.PowerCut()
		held := slices.ContainsFunc(slices.Collect(maps.Values(m.disk.names)), func(n *inode) bool { return bytes.Equal(n.disk, data) })
		if !held {
			t.Fatalf("nothing holds the damaged file any more; the life came up: %v; decisions: %v", alive, o.Picks())
		}
	}
	if o.Runs() < 20 {
		t.Errorf("%d runs", o.Runs())
	}
}

// oneTrouble is a Chooser that lets one thing go wrong, and what a loss of power leaves.
type oneTrouble struct {
	of           journaltest.Chooser
	spent, power bool
}

func (c *oneTrouble) Pick(label string, n int) int {
	if c.spent && !c.power {
		return 0
	}
	v := c.of.Pick(label, n)
	c.spent = c.spent || v > 0
	return v
}
