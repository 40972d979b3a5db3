package ipam_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// ciliumCorrections are two kinds of replacements. What the runner cannot judge by its own words is said in facts that
// the executor reports; what upstream gets wrong is replaced by what is right, with the reason.
var ciliumCorrections = mergeCorrections(map[string]correction{
	"allocate-next-with-expiration/0": {`{"ipv4": {"within": "1.1.1.0/24", "saveAs": "a4"}, "ipv6": {"within": "cafe::/96", "saveAs": "a6"}}`,
		map[string]any{"ipv4In": "1.1.1.0/24", "ipv6In": "cafe::/96"}},
	"allocate-next-with-expiration/8": {`{"ipv4": {"saveAs": "b4", "uuidAs": "ub4"}, "ipv6": {"saveAs": "b6"}}`,
		map[string]any{"ipv4": "set", "ipv6": "set", "uuids": 2}},
	"allocated-ip-dump/0": {`{"status": "nonempty", "keysParseAsIP": true}`,
		map[string]any{"status": "IPv4: 0/254 allocated from 1.1.1.0/24, IPv6: 0/65534 allocated from cafe::/96", "keysParseAsIP": true}},
}, map[string]correction{
	// One family's status has no separator behind it.
	"hostscope-usable/0": {`{"status": "IPv4: 0/254 allocated from 10.2.0.0/24, ", "note": "trailing separator appears when only one family is enabled"}`,
		map[string]any{"status": "IPv4: 0/254 allocated from 10.2.0.0/24"}},
	// An error comes without results.
	"dual-partial-failure/1": {`{"error": "range is full", "ipv6InUseAfter": 0, "ipv6ResultPointer": "non-nil (already released)"}`,
		map[string]any{"error": "range is full", "ipv6InUseAfter": 0, "ipv6": nil}},
	// Excluded addresses are passed over, not taken.
	"blacklist-drain/1": {`{"error": "range is full", "allocatedAfter": 6, "ownerSuffix": "o (blacklisted)"}`,
		map[string]any{"error": "range is full", "allocatedAfter": 0}},
	// A route elsewhere, or one that covers the whole range, conflicts with nothing.
	"reserve-local-routes/4": {`{"value": true}`,
		map[string]any{"value": false}},
	"reserve-local-routes issue-10627/1": {`{"value": true}`,
		map[string]any{"value": false}},
	"reserve-local-routes issue-10627/2": {`{"error": "range is full", "defect": "whole pool drained by a covering route"}`,
		map[string]any{"ipv4": "set", "ipv4In": "10.217.0.0/24"}},
	// What a release would take below min-allocate is no excess.
	"excess-then-needed-flap/0": {`{"value": 9}`,
		map[string]any{"value": 1}},
	"excess-then-needed-flap/1": {`{"available": 8}`,
		map[string]any{"available": 16}},
	"excess-then-needed-flap/2": {`{"value": 8, "defect": "release went below minAllocate; pool oscillates 17 -> 8 -> 16"}`,
		map[string]any{"value": 0}},
})

func mergeCorrections(sets ...map[string]correction) map[string]correction {
	all := make(map[string]correction)
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// ciliumSetup is every setup together; keys that stand for several things stay raw.
type ciliumSetup struct {
	IPv4, IPv6, Mode           string
	EnableIPv4, EnableIPv6     *bool
	CIDR                       string
	AllowFirstLastIPs          bool
	AllowFirst, AllowLast      *bool
	Pool                       json.RawMessage
	BlacklistConflictingRoutes bool
	Routes                     []struct{ Dst, Link, Src, Gw string }
	Nodes, PoolSize            int
	ReleaseExcessIPs           bool
	TimeoutMs                  float64 // of a timer that says nothing else
	Enis                       map[string]struct {
		Addresses             []netip.Addr
		VpcID, VpcPrimaryCIDR string
		VpcCIDRs              []netip.Prefix
	}
	ciliumNumbers
}

// ciliumNumbers are what watermarks are calculated from, in a setup or in arguments.
type ciliumNumbers struct {
	Available, Used, PreAllocate, MinAllocate, MaxAllocate, MaxAboveWatermark int
}

func (n ciliumNumbers) count() cilium.NodeCount {
	return cilium.NodeCount{Available: n.Available, Used: n.Used}
}

func (n ciliumNumbers) watermarks() cilium.Watermarks {
	return cilium.Watermarks{MinAllocate: n.MinAllocate, MaxAllocate: n.MaxAllocate, PreAllocate: n.PreAllocate,
		MaxAboveWatermark: n.MaxAboveWatermark}
}

// ciliumArgs are the arguments of all operations together.
type ciliumArgs struct {
	IP, Owner, Net, Arg, UUID, Family, State, Node, A, B, Base, Addr string
	TimeoutMs, Ms                                                    float64
	N, NeededIPs, NumIP, PreAlloc                                    int
	Offset                                                           uint64
	Used                                                             int
	CIDRs                                                            []netip.Prefix
}

// ciliumCase is whatever a setup describes; the parts that it does not describe are nil.
type ciliumCase struct {
	setup ciliumSetup
	now   time.Time
	ipam  *cilium.IPAM
	cidr  *cilium.CIDRRange
	pool  *cilium.CIDRPool
	store *cilium.NodeStore
	node  *cilium.CiliumNode
	fleet *ciliumFleet
	// saved is what arguments with a $ mean. Names in the file follow the order of results: u1, u2 are UUIDs of timers,
	// a4 and a6 the first pair of addresses, ua4 and ua6 their UUIDs, b4 the next pair's.
	saved         map[string]string
	timers, pairs int
}

// upwards is a Picker that answers in a fixed irregular order.
type upwards struct{ state uint64 }

func (u *upwards) Pick(_ string, n int) int {
	u.state = u.state*6364136223846793005 + 1442695040888963407
	return int(u.state>>33) % n
}

func startCilium(setup json.RawMessage) (executor, error) {
	c := &ciliumCase{now: time.Unix(1700000000, 0), saved: make(map[string]string)}
	if err := strictly(setup, &c.setup); err != nil {
		return nil, err
	}
	s, pick := &c.setup, new(upwards)
	var err error
	switch {
	case s.CIDR != "":
		o := cilium.RangeOptions{AllowFirst: s.AllowFirstLastIPs, AllowLast: s.AllowFirstLastIPs}
		c.cidr, err = cilium.NewCIDRRange(netip.MustParsePrefix(s.CIDR), o, pick)
	case s.AllowFirst != nil:
		c.pool = cilium.NewCIDRPool(cilium.RangeOptions{AllowFirst: *s.AllowFirst, AllowLast: *s.AllowLast}, pick)
	case s.Mode == "crd":
		err = c.startStore(pick)
	case s.IPv4 != "":
		err = c.startIPAM(pick)
	default:
		c.fleet, err = newCiliumFleet(s)
	}
	return c, err
}

func (c *ciliumCase) startIPAM(pick cilium.Picker) (err error) {
	s := &c.setup
	var addressing cilium.Addressing
	if addressing.CIDR4, err = netip.ParsePrefix(s.IPv4); err != nil {
		return err
	}
	if s.IPv6 != "" {
		if addressing.CIDR6, err = netip.ParsePrefix(s.IPv6); err != nil {
			return err
		}
	}
	c.ipam, err = cilium.NewIPAM(addressing, cilium.Configuration{
		EnableIPv4: s.EnableIPv4 == nil || *s.EnableIPv4,
		EnableIPv6: s.IPv6 != "" && (s.EnableIPv6 == nil || *s.EnableIPv6),
		IPAM:       s.Mode, BlacklistConflictingRoutes: s.BlacklistConflictingRoutes,
		Pick: pick, Now: func() time.Time { return c.now }, Routes: c.routes,
	}, nil)
	return err
}

func (c *ciliumCase) routes() (list []cilium.Route, err error) {
	for _, r := range c.setup.Routes {
		route := cilium.Route{Link: r.Link}
		if r.Dst != "" {
			route.Dst = netip.MustParsePrefix(r.Dst)
		}
		if r.Src != "" {
			route.Src = netip.MustParseAddr(r.Src)
		}
		if r.Gw != "" {
			route.Gw = netip.MustParseAddr(r.Gw)
		}
		list = append(list, route)
	}
	return list, nil
}

func (c *ciliumCase) startStore(pick cilium.Picker) (err error) {
	var addrs []netip.Addr
	if err := json.Unmarshal(c.setup.Pool, &addrs); err != nil {
		return err
	}
	c.node = &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: "node1"}}
	c.node.Spec.IPAM.Watermarks = c.setup.watermarks()
	c.node.Spec.IPAM.Pool = make(cilium.AllocationMap)
	for _, ip := range addrs {
		c.node.Spec.IPAM.Pool[ip] = cilium.AllocationIP{}
	}
	if c.store, err = cilium.NewNodeStore(cilium.StoreConfig{Name: "node1", Pick: pick}); err != nil {
		return err
	}
	c.store.FinishRestore()
	return c.store.Update(c.node)
}

func (c *ciliumCase) do(op string, raw json.RawMessage) (map[string]any, error) {
	var args ciliumArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	for _, text := range [...]*string{&args.IP, &args.UUID} {
		if name, ok := strings.CutPrefix(*text, "$"); ok {
			*text = c.saved[name]
		}
	}
	var parts []func(string, ciliumArgs) (map[string]any, error)
	switch {
	case c.ipam != nil:
		parts = append(parts, c.doIPAM, c.doRelease, c.doTimer)
	case c.cidr != nil:
		parts = append(parts, c.doRange)
	case c.pool != nil:
		parts = append(parts, c.doPool)
	case c.store != nil:
		parts = append(parts, c.doStore)
	default:
		parts = append(parts, c.fleet.do, c.doENI)
	}
	numbers := c.setup.ciliumNumbers
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return nil, err
	}
	parts = append(parts, doPlain, func(op string, args ciliumArgs) (map[string]any, error) {
		return c.doNumbers(op, args, numbers)
	})
	for _, part := range parts {
		if result, err := part(op, args); !errors.Is(err, errNoOperation) {
			return result, err
		}
	}
	return nil, errNoOperation
}
