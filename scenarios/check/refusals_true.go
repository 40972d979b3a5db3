package check

import (
	"net/netip"
	"regexp"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const refusalsTrueName = "refusals-true"

// refusalsTrue: what an ADD's refusal for want of an address says of the node is so: the block or how many there are, the first of them, how
// many addresses they have for pods, how many of these cool, the pool that has none. A text that says nothing of the kind breaks it too.
//
// A snapshot has no history.
func refusalsTrue() scenarios.Law {
	return scenarios.Law{
		Name:  refusalsTrueName,
		Why:   "The message in a pod's events is all that its owner has to decide by whether to wait, to delete pods or to buy addresses.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Refusals, scenarios.Holdings},
		Watch: func() scenarios.Watcher { return &sayingWatcher{} },
	}
}

// ofItsNode is what Cilium's agents call all that their node's resource has.
const ofItsNode = "of its CiliumNode"

// refusalText is what refusals for want of an address look like.
var refusalText = regexp.MustCompile(`^(?:(ipv[46]): )?(?:` +
	`(?:(?:pool|block) ([0-9a-f.:]+/\d+)|(\d+) blocks(?: from ([0-9a-f.:]+/\d+) on)?) with (\d+) addresses(?:, (\d+) cooling)?: no address is free` +
	`|pool (of its CiliumNode|[-a-z0-9]+): no address is free` +
	`|(node holds no block)(?:: (.+))?)$`)

// noPodCIDR is what an agent says that waits for the one of its Node object.
const noPodCIDR = "the Node object has no pod CIDR"

type sayingWatcher struct{ checks int64 }

func (w *sayingWatcher) Checks() int64 { return w.checks }

func (w *sayingWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactRefused || f.Holding == nil {
		return nil
	}
	w.checks++
	if is := untrue(f.Text, f.Holding); is != "" {
		return broken(refusalsTrueName, f.At, f.Node, "the ADD of %s was refused with %q, and %s: look at what words it", f.Owner, f.Text, is)
	}
	return nil
}

// untrue is what is so instead of what a refusal says, "" where that is true.
func untrue(text string, h *scenarios.Holding) string {
	said := refusalText.FindStringSubmatch(text)
	if said == nil {
		return "that does not say what is full"
	}
	family, only, count, first, addresses, cooling, pool, none := said[1], said[2], said[3], said[4], said[5], said[6], said[7], said[8] != ""
	var blocks []netip.Prefix
	of := scenarios.Room{}
	for _, r := range h.Blocks {
		if family == "" || family == ipam.PoolOf(r.Block.Addr()) {
			blocks = append(blocks, r.Block)
			of.Addresses += r.Addresses
			of.Leased += r.Leased
		}
	}
	is := func(said string, n int) bool { return said == strconv.Itoa(n) }
	switch {
	case pool == ofItsNode: // of which a node may have taken nothing
	case none && said[9] == noPodCIDR && !h.SawNode:
		return "its agent has not been told of that object"
	case none && said[9] == "":
		return "that does not say what the node waits for"
	case none && len(blocks) > 0:
		return "it gives addresses from " + blocks[0].String()
	case none:
	case len(blocks) == 0:
		return "it gives addresses from no block"
	case pool != "":
		if pool != h.Pool {
			return "pool " + strconv.Quote(h.Pool) + " was asked for"
		}
	case only != "" && (len(blocks) != 1 || only != blocks[0].String()), count != "" && !is(count, len(blocks)), first != "" && first != blocks[0].String():
		return strconv.Itoa(len(blocks)) + " blocks from " + blocks[0].String() + " on is what it gives addresses from"
	case !is(addresses, of.Addresses):
		return "there are " + strconv.Itoa(of.Addresses) + " for pods"
	case cooling != "" && !is(cooling, of.Addresses-of.Leased):
		return strconv.Itoa(of.Leased) + " of " + strconv.Itoa(of.Addresses) + " are leased"
	}
	return ""
}
