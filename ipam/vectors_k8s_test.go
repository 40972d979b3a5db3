package ipam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// k8sCorrections: releasing a part of a block leaves its other parts occupied; a node with CIDRs that cannot be right
// is quarantined, and the allocator starts.
var k8sCorrections = map[string]correction{
	"mask-change-overlap/2": {`{"allocatedCIDRs": 0}`,
		map[string]any{"allocatedCIDRs": 1}},
	"mask-change-overlap/3": {`{"value": "10.0.0.0/24", "defect": "overlaps the live 10.0.0.32/27"}`,
		map[string]any{"value": "10.0.1.0/24"}},
	"occupy-pre-existing: fail, single stack incorrect node allocation/0": {`{"error": "constructor fails"}`,
		map[string]any{"ok": true, "quarantined": []any{"node0"}}},
	"occupy-pre-existing: fail, dualstack node allocating from non existing cidr/0": {`{"error": "constructor fails"}`,
		map[string]any{"ok": true, "quarantined": []any{"node0"}}},
}

// k8sSetup are the setups of all cases together.
type k8sSetup struct {
	Cluster, ClusterCIDR, ServiceCIDR, AllocatorType string
	NodeMask                                         int
	ClusterCIDRs, PreOccupied                        []string
	NodeMasks                                        []int
	ExistingNodes                                    []struct {
		Name     string
		PodCIDRs []string
	}
	ResyncS, MaxBackoffS, InitialRetryS float64
	BaseMs, CapMs                       float64
	Mode, NodePodCIDR                   string
	Alias                               *string
	Items                               map[string]k8sItem
}

type k8sItem struct {
	CIDR, Selector       string
	MatchCount, HostBits int
}

// k8sArgs are the arguments of all operations together.
type k8sArgs struct {
	CIDR, List, NodePodCIDR string
	N, Count                int
	Index                   uint64
	Node, PodCIDR           *string
	PodCIDRs, NodePodCIDRs  []string
	Wanted, Items           []string
	OK                      bool
	I, J                    k8sItem
}

// k8sCase plays one case: a bare set, a timeout, or a controller with an API server and a cloud that do what they are
// told.
type k8sCase struct {
	setup   k8sSetup
	set     *cidrset.CIDRSet
	lists   map[string][]string // the first list of a case is L
	timeout nodeipam.Timeout
	ranges  *nodeipam.RangeAllocator
	now     time.Time
	patched map[string][]netip.Prefix // by node name
	objects int                       // how many were made, for their UIDs
	uids    map[string]string
	events  []string
	patches int
}

func startK8s(setup json.RawMessage) (executor, error) {
	c := &k8sCase{
		lists: make(map[string][]string), patched: make(map[string][]netip.Prefix), uids: make(map[string]string),
		now: time.Unix(1700000000, 0).UTC(),
	}
	if err := strictly(setup, &c.setup); err != nil {
		return nil, err
	}
	least, most := nodeipam.NodeUpdateRetryTimeout(0, nil), nodeipam.NodeUpdateRetryTimeout(99, nil)
	if c.setup.BaseMs > 0 && (vectorSeconds(c.setup.BaseMs/1000) != least || vectorSeconds(c.setup.CapMs/1000) != most) {
		return nil, fmt.Errorf("pauses are %s to %s here", least, most)
	}
	seconds := vectorSeconds
	c.timeout = nodeipam.Timeout{
		Resync: seconds(c.setup.ResyncS), MaxBackoff: seconds(c.setup.MaxBackoffS), InitialRetry: seconds(c.setup.InitialRetryS),
	}
	return c, nil
}

func (c *k8sCase) do(op string, raw json.RawMessage) (map[string]any, error) {
	var args k8sArgs
	if err := strictly(raw, &args); err != nil {
		return nil, err
	}
	switch op {
	case "Next", "Update+Next":
		if op != "Next" {
			c.timeout.Update(args.OK)
		}
		return map[string]any{"seconds": c.timeout.Next().Seconds()}, nil
	case "NodeUpdateRetryTimeout":
		return k8sRetry(args.Count)
	case "NeedPodCIDRsUpdate":
		return k8sNeed(args)
	case "Less":
		return value(args.I.candidate("i").Compare(args.J.candidate("j")) < 0, nil)
	case "PushAllPop":
		var list []nodeipam.Candidate
		for _, name := range args.Items {
			list = append(list, c.setup.Items[name].candidate(name))
		}
		return value(slices.MinFunc(list, nodeipam.Candidate.Compare).ClusterCIDR.Name, nil)
	case "NewNodeIpamController":
		_, err := nodeipam.Flags{
			AllocatorType: nodeipam.CIDRAllocatorType(c.setup.AllocatorType),
			ClusterCIDR:   c.setup.ClusterCIDR, NodeCIDRMaskSize: c.setup.NodeMask,
		}.Resolve()
		return map[string]any{"fatal": err != nil}, nil
	case "Update", "Delete":
		return c.sync(op, args)
	}
	if c.setup.Cluster != "" {
		return c.setOperation(op, args)
	}
	return c.rangeOperation(op, args)
}

// k8sPick makes one choice always.
type k8sPick func(n int) int

func (p k8sPick) Pick(_ string, n int) int { return p(n) }

func k8sRetry(count int) (map[string]any, error) {
	middle := nodeipam.NodeUpdateRetryTimeout(count, nil)
	low := nodeipam.NodeUpdateRetryTimeout(count, k8sPick(func(int) int { return 0 }))
	high := nodeipam.NodeUpdateRetryTimeout(count, k8sPick(func(n int) int { return n - 1 }))
	result := map[string]any{"ms": middle.Milliseconds()}
	if low == middle/2 && high == middle*3/2 {
		result["jitter"] = "uniform in [t/2, 3t/2]"
	}
	return result, nil
}

func k8sNeed(args k8sArgs) (map[string]any, error) {
	node := nodeipam.KubeNode{Name: "node1", PodCIDR: args.NodePodCIDR, PodCIDRs: args.NodePodCIDRs}
	var wanted []netip.Prefix
	for _, w := range args.Wanted {
		wanted = append(wanted, netip.MustParsePrefix(w))
	}
	return value(nodeipam.NeedPodCIDRsUpdate(&node, wanted))
}

func (i k8sItem) candidate(name string) nodeipam.Candidate {
	selector, err := nodeipam.ParseSelector(i.Selector)
	if err != nil {
		panic(err)
	}
	return nodeipam.Candidate{
		ClusterCIDR: nodeipam.ClusterCIDR{
			Name: name, Selector: selector, PerNodeHostBits: i.HostBits, IPv4: netip.MustParsePrefix(i.CIDR),
		},
		MatchCount: i.MatchCount,
	}
}

func (c *k8sCase) newSet() (err error) {
	c.set, err = cidrset.NewCIDRSet(netip.MustParsePrefix(c.setup.Cluster), c.setup.NodeMask)
	return err
}

// refer reads "L", "L[1]", "L[a:b]" or a CIDR.
func (c *k8sCase) refer(text string) []string {
	name, bounds, _ := strings.Cut(text, "[")
	list, ok := c.lists[name]
	switch {
	case !ok:
		return []string{text}
	case bounds != "" && !strings.Contains(bounds, ":"):
		i, err := strconv.Atoi(strings.TrimSuffix(bounds, "]"))
		if err != nil {
			panic(err)
		}
		return list[i : i+1]
	}
	list, ok = slice(text, c.lists)
	if !ok {
		panic("no list " + text)
	}
	return list
}

func (c *k8sCase) setOperation(op string, args k8sArgs) (map[string]any, error) {
	if c.set == nil {
		if err := c.newSet(); err != nil {
			return nil, err
		}
	}
	result := make(map[string]any)
	var err error
	switch op {
	case "NewCIDRSet":
		return map[string]any{"maxCIDRs": c.set.MaxCIDRs()}, nil
	case "IndexToCIDRBlock":
		return value(c.set.CIDRBlock(args.Index))
	case "GetIndexForCIDR":
		return value(c.set.IndexOf(netip.MustParsePrefix(args.CIDR)))
	case "GetBeginningAndEndIndices":
		first, last, err := c.set.Indices(netip.MustParsePrefix(args.CIDR))
		return map[string]any{"begin": first, "end": last}, err
	case "AllocateNext":
		var p netip.Prefix
		if p, err = c.set.AllocateNext(); err == nil {
			result["value"], result["cidr"] = p.String(), p.String()
		}
	case "AllocateN":
		result, err = c.allocateN(args.N)
	case "RestartWithExisting":
		err = c.newSet()
		for _, p := range args.PodCIDRs {
			err = errors.Join(err, c.set.Occupy(netip.MustParsePrefix(p)))
		}
	case "Occupy", "OccupyAll":
		for _, p := range c.refer(args.CIDR + args.List) {
			err = errors.Join(err, c.set.Occupy(netip.MustParsePrefix(p)))
			result["occupiedIndex"] = c.occupiedIndex(p)
		}
	case "Release", "ReleaseAll":
		for _, p := range c.refer(args.CIDR + args.List) {
			err = errors.Join(err, c.set.Release(netip.MustParsePrefix(p)))
		}
	default:
		return nil, errNoOperation
	}
	result["allocatedCIDRs"] = c.set.AllocatedCIDRs()
	result["metrics"] = k8sMetrics(op, c.set.Metrics())
	return result, err
}

func (c *k8sCase) allocateN(n int) (map[string]any, error) {
	var list []string
	for range n {
		p, err := c.set.AllocateNext()
		if err != nil {
			return nil, err
		}
		list = append(list, p.String())
	}
	result := map[string]any{"list": list}
	if first, ok := c.lists["L"]; !ok {
		c.lists["L"] = list
	} else if slices.Equal(list, first) {
		result["sameOrderAs"] = "L"
	} else if i := slices.Index(first, list[0]); i >= 0 && slices.Equal(list, first[i:min(i+n, len(first))]) {
		result["sameOrderAs"] = fmt.Sprintf("L[%d:%d]", i, i+n)
	}
	return result, nil
}

func (c *k8sCase) occupiedIndex(cidr string) any {
	i, err := c.set.IndexOf(netip.MustParsePrefix(cidr))
	if err != nil || !c.set.Has(i) {
		return nil
	}
	return i
}

// k8sMetrics are the figures that the vectors state after an operation: they leave out what it does not touch.
func k8sMetrics(op string, m cidrset.Metrics) map[string]any {
	if op == "AllocateNext" {
		return map[string]any{"usage": m.Usage(), "tries": m.Tries}
	}
	figures := map[string]any{"usage": m.Usage(), "allocations": m.Allocations}
	if m.Releases > 0 || op != "Occupy" {
		figures["releases"] = m.Releases
	}
	return figures
}

// newRanges starts an allocator whose existing and preoccupied CIDRs belong to nodes.
func (c *k8sCase) newRanges() error {
	var params nodeipam.CIDRAllocatorParams
	for i, text := range c.setup.ClusterCIDRs {
		params.ClusterCIDRs = append(params.ClusterCIDRs, netip.MustParsePrefix(text))
		params.NodeCIDRMaskSizes = append(params.NodeCIDRMaskSizes, c.setup.NodeMasks[i])
	}
	if c.setup.ServiceCIDR != "" {
		params.ServiceCIDR = netip.MustParsePrefix(c.setup.ServiceCIDR)
	}
	var nodes []nodeipam.KubeNode
	for _, n := range c.setup.ExistingNodes {
		nodes = append(nodes, nodeipam.KubeNode{Name: n.Name, UID: n.Name, PodCIDRs: n.PodCIDRs})
	}
	for _, text := range c.setup.PreOccupied {
		nodes = append(nodes, nodeipam.KubeNode{Name: "at-" + text, UID: "at-" + text, PodCIDRs: []string{text}})
		c.uids["at-"+text] = "at-" + text
		c.patched["at-"+text] = []netip.Prefix{netip.MustParsePrefix(text)}
	}
	var err error
	if c.ranges, err = nodeipam.NewCIDRRangeAllocator(params, nodes); err != nil {
		return err
	}
	c.perform(c.ranges.Run(c.now))
	return nil
}

func (c *k8sCase) node(name string) *nodeipam.KubeNode {
	if c.uids[name] == "" {
		c.objects++
		c.uids[name] = fmt.Sprintf("uid-%d", c.objects)
	}
	return &nodeipam.KubeNode{Name: name, UID: c.uids[name]}
}

// perform is an API server that does what it is asked for.
func (c *k8sCase) perform(effects []nodeipam.Effect) {
	for len(effects) > 0 {
		e := effects[0]
		effects = effects[1:]
		switch e := e.(type) {
		case nodeipam.PatchNodeCIDRs:
			c.patches++
			c.patched[e.Name] = e.CIDRs
			effects = append(effects, c.ranges.Step(c.now, nodeipam.Answered{ID: e.ID, Outcome: ipam.Done})...)
		case nodeipam.RecordEvent:
			c.events = append(c.events, e.Reason)
		}
	}
}

func (c *k8sCase) rangeOperation(op string, args k8sArgs) (map[string]any, error) {
	if c.ranges == nil {
		if err := c.newRanges(); err != nil {
			return nil, err
		}
	}
	c.events, c.patches = nil, 0
	result := make(map[string]any)
	var err error
	switch op {
	case "NewCIDRRangeAllocator":
		var names []string
		for _, q := range c.ranges.Quarantined() {
			names = append(names, q.Node)
		}
		result["quarantined"] = names
	case "AllocateOrOccupyCIDR":
		err = c.ranges.AllocateOrOccupyCIDR(c.node(*args.Node))
		c.perform(c.ranges.Run(c.now))
		if p := c.patched[*args.Node]; len(p) > 0 {
			result["patchedPodCIDR"] = p[0].String()
		}
	case "ReleaseCIDR":
		for _, name := range slices.Sorted(maps.Keys(c.patched)) {
			if node := c.node(name); c.patched[name][0].String() == *args.PodCIDR {
				node.PodCIDRs = []string{*args.PodCIDR}
				err = c.ranges.ReleaseCIDR(node)
				delete(c.patched, name)
				delete(c.uids, name)
			}
		}
		c.perform(c.ranges.Run(c.now))
	case "AllocateUntilFull":
		count, overlap := 0, c.setup.ServiceCIDR
		for c.ranges.AllocateOrOccupyCIDR(c.node(fmt.Sprintf("node-%d", count))) == nil {
			c.perform(c.ranges.Run(c.now))
			count++
		}
		for _, cidrs := range c.patched {
			if space.Overlap(cidrs[0], netip.MustParsePrefix(c.setup.ServiceCIDR)) {
				overlap = "overlapped by " + cidrs[0].String()
			}
		}
		result["count"], result["noneOverlaps"] = count, overlap
	default:
		return nil, errNoOperation
	}
	result["patches"] = c.patches
	if len(c.events) > 0 {
		result["event"] = c.events[len(c.events)-1]
	}
	return result, err
}

// k8sVerdict tells whether a sync failed where the vectors state that as the error true or false: the runner looks for
// the expectation's text in the error's.
type k8sVerdict struct{ err error }

func (v k8sVerdict) Error() string {
	if v.err == nil {
		return "false"
	}
	return "true: " + v.err.Error()
}

// sync lets a controller synchronise or delete one node.
func (c *k8sCase) sync(op string, args k8sArgs) (map[string]any, error) {
	cluster, mask := c.setup.ClusterCIDR, c.setup.NodeMask
	if cluster == "" {
		cluster, mask = "10.1.0.0/16", 24
	}
	ctl, err := nodeipam.NewController(nodeipam.Config{Mode: nodeipam.NodeSyncMode(c.setup.Mode)},
		nodeipam.CloudProviderGCE, netip.MustParsePrefix(cluster), netip.Prefix{}, mask)
	if err != nil {
		return nil, err
	}
	s := &k8sSync{ctl: ctl, now: c.now, alias: c.setup.Alias}
	s.node = nodeipam.KubeNode{Name: "node1", UID: "uid-1", ProviderID: "gce://p/z/node1", PodCIDR: c.setup.NodePodCIDR + args.NodePodCIDR}
	if op == "Delete" {
		return s.delete()
	}
	effects := ctl.Step(s.now, nodeipam.NodeAdded{Node: s.node})
	if args.Node == nil {
		// The first try fails early, so that the next one fetches the node.
		ask := effects[0].(nodeipam.GetAliases)
		ctl.Step(s.now, nodeipam.Aliases{ID: ask.ID})
		s.now = s.now.Add(nodeipam.DefaultInitialRetry)
		effects = ctl.Step(s.now, nodeipam.Woke{})
	}
	s.perform(effects)
	return map[string]any{"event": s.event, "calls": s.calls}, k8sVerdict{ctl.Failure("node1")}
}

// k8sSync is what surrounds a controller: every request succeeds.
type k8sSync struct {
	ctl   *nodeipam.Controller
	node  nodeipam.KubeNode
	alias *string
	now   time.Time
	event any
	calls []string
}

func (s *k8sSync) delete() (map[string]any, error) {
	s.ctl.Step(s.now, nodeipam.NodeAdded{Node: s.node})
	ask := s.ctl.Use().Free
	// The outstanding look at the alias holds the block back, so it is answered after the deletion.
	s.perform(s.ctl.Step(s.now, nodeipam.NodeDeleted{Node: s.node}))
	s.ctl.Step(s.now, nodeipam.Aliases{ID: 1})
	var released any
	if s.ctl.Use().Free == ask+1 {
		released = s.node.PodCIDR
	}
	return map[string]any{"event": s.event, "released": released}, k8sVerdict{}
}

func (s *k8sSync) perform(effects []nodeipam.Effect) {
	s.calls = []string{}
	for len(effects) > 0 {
		e := effects[0]
		effects = effects[1:]
		free := s.ctl.Use().Free
		done := nodeipam.Answered{Outcome: ipam.Done}
		var next []nodeipam.Effect
		switch e := e.(type) {
		case nodeipam.GetNode:
			s.calls = append(s.calls, "GetNode")
			done.ID, done.Node = e.ID, &s.node
			next = s.ctl.Step(s.now, done)
		case nodeipam.GetAliases:
			answer := nodeipam.Aliases{ID: e.ID, Outcome: ipam.Done}
			if s.alias != nil {
				answer.CIDRs = []string{*s.alias}
			}
			next = s.ctl.Step(s.now, answer)
			if s.ctl.Use().Free < free && len(next) > 0 {
				if add, ok := next[0].(nodeipam.AddAlias); ok && s.node.PodCIDR == "" {
					s.calls = append(s.calls, "AllocateNext "+add.CIDR.String())
				}
			}
		case nodeipam.AddAlias:
			s.calls = append(s.calls, "AddAlias "+e.CIDR.String())
			done.ID = e.ID
			next = s.ctl.Step(s.now, done)
		case nodeipam.PatchNodeCIDRs:
			s.calls = append(s.calls, "UpdateNodePodCIDR "+e.CIDRs[0].String())
			done.ID = e.ID
			next = s.ctl.Step(s.now, done)
		case nodeipam.SetNetworkAvailable:
			s.calls = append(s.calls, "NetworkUnavailable=false")
			done.ID = e.ID
			next = s.ctl.Step(s.now, done)
		case nodeipam.RecordEvent:
			s.event = e.Reason
		}
		effects = append(effects, next...)
	}
}
