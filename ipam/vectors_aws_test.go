package ipam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/plan"
)

// awsCorrections: the empty key is refused; cooling survives a restart; cooling addresses are not available, so that a
// node full of them is short. The other lines say what upstream accepts in the words of the runner, or drop a remark.
var awsCorrections = map[string]correction{
	"zero-key-hazard/0": {`{"ip": "10.0.0.1", "assigned": 0, "note": "an empty key equals the 'free' marker, so a free address is returned as a duplicate without being assigned; the gRPC handler therefore rejects empty fields"}`,
		map[string]any{"error": "invalid IPAM key", "assigned": 0}},
	"cooling-lost-on-restart/3": {`{"ip": "10.0.0.1"}`,
		map[string]any{"error": "no available IP addresses"}},
	"issue-2896 starvation/0": {`{"short": 0, "over": 0, "enabled": true}`,
		map[string]any{"short": 2, "over": 0, "enabled": true}},
}

// awsSetup is every setup's fields together. An ENI at the top level is one with these addresses.
type awsSetup struct {
	ENIs                                    map[string]awsENI
	Phase                                   *int
	File                                    json.RawMessage
	CRISandboxes                            []struct{ ID, IP string }
	MaxENIs, UsableIPsPerENI, MaxIPsPerENI  int
	MaxPrefixesPerENI, PrefixSize           int
	WarmENITarget, WarmIPTarget             int
	WarmPrefixTarget, MinimumIPTarget, Pods int
	Total, Assigned, Cooling                int
	Version, Tag                            string
	Instance, Checkpointer, PrimaryENI      string
	Tagged                                  map[string]string
}

// awsENI is a list of addresses, or an object whose ips are a list or a number.
type awsENI struct {
	Primary, Trunk, Old bool
	AgeS                float64 // how long ago it was added; Old is an hour
	IPs                 json.RawMessage
	Assigned            int
}

func (e *awsENI) UnmarshalJSON(text []byte) error {
	type plain awsENI
	if text[0] == '[' {
		e.IPs = slices.Clone(text)
		return nil
	}
	return strictly(text, (*plain)(e))
}

// addresses are those that are named, or as many of 10.<eni>.0.0 as are wanted.
func (e awsENI) addresses(eni int) (list []netip.Addr, err error) {
	if e.IPs == nil {
		return nil, nil
	}
	var n int
	if err := json.Unmarshal(e.IPs, &n); err == nil && string(e.IPs) != "null" {
		for i := range n {
			list = append(list, netip.AddrFrom4([4]byte{10, byte(eni), byte(i >> 8), byte(i)}))
		}
		return list, nil
	}
	if err := strictly(e.IPs, &list); err != nil || list == nil {
		return nil, fmt.Errorf("addresses %s: want a number or a list", e.IPs)
	}
	return list, nil
}

// awsCase is a store with its surroundings played by the setup.
type awsCase struct {
	setup   awsSetup
	env     map[string]string
	sizing  datastore.Sizing
	now     time.Time
	file    *datastore.TestCheckpoint
	ds      *datastore.DataStore
	manager *datastore.Manager
	imds    []datastore.AttachedENI
	ec2     []datastore.AttachedENI
	asked   bool // EC2 was, in the last Reconcile
}

func (c *awsCase) clock() time.Time { return c.now }

// GetRunningPodSandboxes plays the container runtime.
func (c *awsCase) GetRunningPodSandboxes() (list []datastore.SandboxInfo, err error) {
	for _, s := range c.setup.CRISandboxes {
		list = append(list, datastore.SandboxInfo{ID: s.ID, IP: netip.MustParseAddr(s.IP), Ready: true})
	}
	return append(list, datastore.SandboxInfo{ID: "exited", IP: netip.MustParseAddr("10.0.0.1")},
		datastore.SandboxInfo{ID: "host", IP: netip.MustParseAddr("10.0.0.1"), Ready: true, HostNetwork: true}), nil
}

func startAWS(setup json.RawMessage) (executor, error) {
	c := &awsCase{now: time.Unix(1700000000, 0), file: datastore.NewTestCheckpoint(nil)}
	var loose map[string]json.RawMessage
	if err := json.Unmarshal(setup, &loose); err != nil {
		return nil, err
	}
	c.env = make(map[string]string)
	named := make(map[string]awsENI)
	for name, raw := range loose {
		switch {
		case strings.HasPrefix(name, "eni-"):
			named[name] = awsENI{IPs: raw, Primary: true}
		case strings.HasSuffix(name, "_TARGET"):
			var text string
			if err := strictly(raw, &text); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			c.env[name] = text
		default:
			continue
		}
		delete(loose, name)
	}
	rest, err := json.Marshal(loose)
	if err == nil {
		err = strictly(rest, &c.setup)
	}
	if err != nil {
		return nil, err
	}
	if c.setup.ENIs == nil {
		c.setup.ENIs = make(map[string]awsENI)
	}
	maps.Copy(c.setup.ENIs, named)
	if err := c.checkSetup(); err != nil {
		return nil, err
	}
	s := c.setup
	c.sizing = datastore.Sizing{
		Targets: datastore.Targets{WarmIP: s.WarmIPTarget, MinimumIP: s.MinimumIPTarget, WarmENI: s.WarmENITarget, WarmPrefix: s.WarmPrefixTarget},
		ENIsMax: s.MaxENIs, UnitsPerENI: s.UsableIPsPerENI + s.MaxIPsPerENI, WholeENI: s.Version == "1.7.5",
	}
	if s.PrefixSize > 0 {
		c.sizing.PrefixDelegation, c.sizing.UnitsPerENI = true, s.MaxPrefixesPerENI
	}
	if s.File != nil && string(s.File) != "null" { // null is no file
		c.file.Data = s.File
	}
	c.ds = c.store()
	return c, errors.Join(c.addENIs(), c.fill())
}

// checkSetup refuses what the words of a setup cannot mean here.
func (c *awsCase) checkSetup() error {
	s := c.setup
	limits, known := datastore.LimitsOf(s.Instance)
	switch {
	case s.Checkpointer != "" && s.Checkpointer != "TestCheckpoint":
		return fmt.Errorf("checkpointer %q is not known here", s.Checkpointer)
	case s.PrimaryENI != "" && !strings.HasPrefix(s.PrimaryENI, "3 addresses"):
		return fmt.Errorf("primaryENI %q is not known here", s.PrimaryENI)
	case s.Version != "" && s.Version != "1.7.5":
		return fmt.Errorf("version %q is not known here", s.Version)
	case known && (s.MaxENIs != limits.ENIs || s.UsableIPsPerENI != limits.IPv4PerENI-1):
		return fmt.Errorf("instance %s has %d ENIs of %d addresses", s.Instance, limits.ENIs, limits.IPv4PerENI)
	}
	return nil
}

func (c *awsCase) store() *datastore.DataStore {
	ds := datastore.NewDataStore(nil, c.file, c.clock)
	ds.CRI = c
	if c.setup.Phase != nil {
		ds.CheckpointMigrationPhase = *c.setup.Phase
	}
	return ds
}

// addENIs puts the setup's ENIs into the store, primary ones first; old ones were added long ago.
func (c *awsCase) addENIs() error {
	names := slices.SortedFunc(maps.Keys(c.setup.ENIs), func(a, b string) int {
		if p, q := c.setup.ENIs[a].Primary, c.setup.ENIs[b].Primary; p != q {
			if p {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	present := c.now
	for i, name := range names {
		e := c.setup.ENIs[name]
		c.now = present
		if e.Old {
			c.now = present.Add(-time.Hour)
		}
		if e.AgeS > 0 {
			c.now = present.Add(-vectorSeconds(e.AgeS))
		}
		errs := []error{c.ds.AddENI(name, i, e.Primary, e.Trunk)}
		list, err := e.addresses(i)
		errs = append(errs, err)
		for _, a := range list {
			errs = append(errs, c.ds.AddIPv4AddressToStore(name, a))
		}
		for n := range e.Assigned {
			_, _, err := c.ds.AssignPodIPv4Address(awsKey(fmt.Sprintf("setup/%s-%d/eth0", name, n)))
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	c.now = present
	return nil
}

// fill makes a store with total, assigned and cooling as the setup says.
func (c *awsCase) fill() error {
	s := c.setup
	if s.Total == 0 {
		return nil
	}
	errs := []error{c.ds.AddENI("eni-1", 0, true, false)}
	for i := 0; i < s.Total; i += max(s.PrefixSize, 1) {
		bits := 32
		if s.PrefixSize > 0 {
			bits = datastore.DelegatedBits
		}
		errs = append(errs, c.ds.AddIPv4CidrToStore("eni-1", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), bits)))
	}
	for i := range s.Assigned + s.Cooling {
		_, _, err := c.ds.AssignPodIPv4Address(awsKey(fmt.Sprintf("setup/%d/eth0", i)))
		errs = append(errs, err)
	}
	for i := range s.Cooling {
		_, _, err := c.ds.UnassignPodIPv4Address(awsKey(fmt.Sprintf("setup/%d/eth0", i)))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func awsKey(text string) datastore.IPAMKey {
	parts := append(strings.Split(text, "/"), "", "", "")
	return datastore.IPAMKey{NetworkName: parts[0], ContainerID: parts[1], IfName: parts[2]}
}

type awsArgs struct {
	ENI, IP, Key         string
	Dev, MaxIPperENI     int
	Primary, Force       bool
	SkipPrimary          bool
	Warm, Min, Pods      int
	Phase                int
	Trunk                bool
	S, AgeS              float64
	SecondsAfterUnassign float64
	CreateTime, Note     string
	IPs                  map[string]string
	IMDS, EC2            string
	Error                *string
	ENIs, Prefixes       []string
}

func (c *awsCase) do(op string, raw json.RawMessage) (map[string]any, error) {
	var args awsArgs
	if err := strictly(raw, &args); err != nil {
		return nil, err
	}
	result, err := c.mutate(op, args)
	if errors.Is(err, errNoOperation) {
		result, err = c.look(op, args)
	}
	if errors.Is(err, errNoOperation) {
		result, err = c.decide(op, args)
	}
	if result == nil {
		result = make(map[string]any)
	}
	if result["total"] == nil {
		c.account(result)
	}
	return result, err
}

// account adds the state of the store to a result.
func (c *awsCase) account(result map[string]any) {
	s := c.ds.GetIPStats()
	result["total"], result["assigned"], result["cooldown"], result["forceRemovedIPs"] = s.TotalIPs, s.AssignedIPs, s.CooldownIPs, s.ForceRemovedIPs
	if d, ok := c.file.Data.(datastore.CheckpointData); ok {
		result["checkpoint"], result["checkpointAllocations"] = d, len(d.Allocations)
	}
	infos := c.ds.GetENIInfos()
	per := make(map[string]int)
	for id, e := range infos.ENIs {
		per[id] = len(e.IPv4Addresses)
	}
	if result["perENI"] == nil {
		result["perENI"] = per
	}
	result["eniCount"] = len(infos.ENIs)
	if result["enis"] == nil {
		result["enis"] = len(infos.ENIs)
	}
}

func (c *awsCase) mutate(op string, args awsArgs) (map[string]any, error) {
	switch op {
	case "AddENI":
		present := c.now
		c.now = present.Add(-vectorSeconds(args.AgeS))
		defer func() { c.now = present }()
		return nil, c.ds.AddENI(args.ENI, args.Dev, args.Primary, args.Trunk)
	case "AddIPv4AddressToStore":
		return nil, c.ds.AddIPv4AddressToStore(args.ENI, netip.MustParseAddr(args.IP))
	case "DelIPv4AddressFromStore":
		return nil, c.ds.DelIPv4AddressFromStore(args.ENI, netip.MustParseAddr(args.IP), args.Force)
	case "RemoveENIFromDataStore":
		return nil, c.ds.RemoveENIFromDataStore(args.ENI, args.Force)
	case "RemoveUnusedENIFromStore":
		return value(c.ds.RemoveUnusedENIFromStore(args.Warm, args.Min), nil)
	case "AssignPodIPv4Address":
		c.now = c.now.Add(vectorSeconds(args.SecondsAfterUnassign))
		ip, device, err := c.ds.AssignPodIPv4Address(awsKey(args.Key))
		return map[string]any{"ip": ip.String(), "value": ip.String(), "device": device}, err
	case "UnassignPodIPv4Address":
		ip, device, err := c.ds.UnassignPodIPv4Address(awsKey(args.Key))
		return map[string]any{"ip": ip.String(), "device": device}, err
	case "SetCheckpointError":
		c.file.Error = nil
		if args.Error != nil {
			c.file.Error = errors.New(*args.Error)
		}
		return nil, nil
	case "ForceAge":
		age := time.Hour // the zero time is long ago
		if args.AgeS > 0 {
			age = vectorSeconds(args.AgeS)
		} else if args.CreateTime != "zero" {
			return nil, fmt.Errorf("createTime %q: want \"zero\", or ageS", args.CreateTime)
		}
		c.now = c.now.Add(age)
		return nil, nil
	case "AdvanceClock":
		// Upstream's test sleeps, and a sleep ends after its time.
		c.now = c.now.Add(vectorSeconds(args.S) + 1)
		return nil, nil
	case "Restart":
		c.setup.Phase = &args.Phase
		c.ds = c.store()
		return nil, errors.Join(c.addENIs(), c.ds.ReadBackingStore())
	case "ReadBackingStore":
		return nil, c.ds.ReadBackingStore()
	}
	return nil, errNoOperation
}

func (c *awsCase) look(op string, args awsArgs) (map[string]any, error) {
	switch op {
	case "GetENIs":
		return value(c.ds.GetENIs(), nil)
	case "GetENIInfos", "GetIPStats":
		return nil, nil
	case "GetENIIPs":
		list, err := c.ds.GetENIIPs(args.ENI)
		return map[string]any{"count": len(list)}, err
	case "AllocatedIPs":
		return map[string]any{"count": len(c.ds.AllocatedIPs())}, nil
	case "FreeableIPs":
		list := []string{}
		for _, a := range c.ds.FreeableIPs(args.ENI) {
			list = append(list, a.String())
		}
		return map[string]any{"count": len(list), "list": list}, nil
	case "GetTrunkENI":
		return value(c.ds.GetTrunkENI(), nil)
	case "DeletableSet":
		return map[string]any{"set": c.ds.DeletableENIs(args.Warm, args.Min)}, nil
	case "GetENINeedsIP":
		if e := c.ds.GetENINeedsIP(args.MaxIPperENI, args.SkipPrimary); e != nil {
			return value(e.ID, nil)
		}
		return value[any](nil, nil)
	}
	return nil, errNoOperation
}

func (c *awsCase) decide(op string, args awsArgs) (map[string]any, error) {
	s := c.ds.GetIPStats()
	targets := datastore.ParseTargets(func(name string) string { return c.env[name] })
	switch op {
	case "IPTargetState", "DatastoreTargetState":
		for i, p := range args.Prefixes {
			s.TotalPrefixes, s.FreePrefixes, s.TotalIPs = i+1, i+1, s.TotalIPs+int(1<<(32-netip.MustParsePrefix(p).Bits()))
		}
		t := c.sizing.IPTargetState(s)
		return map[string]any{"short": t.Short, "over": t.Over, "enabled": t.Enabled}, nil
	case "NodeIPPoolTooLow":
		return value(c.sizing.TooLow(s), nil)
	case "NodeIPPoolTooHigh":
		return value(c.sizing.TooHigh(s), nil)
	case "ShouldRemoveExtraENIs":
		return value(c.sizing.ShouldRemoveExtraENIs(s), nil)
	case "GetWarmIPTarget":
		return value(targets.WarmIP, nil)
	case "GetMinimumIPTarget":
		return value(targets.MinimumIP, nil)
	case "GetWarmENITarget":
		return value(targets.WarmENI, nil)
	case "FilterUnmanagedENIs":
		return c.filter(args), nil
	case "SteadyState":
		e := (plan.Warm{Sizing: c.sizing}).Explain(c.setup.Pods)[0]
		return map[string]any{"enis": len(e.PerENI), "totalIPs": e.Held, "perENI": e.PerENI}, nil
	case "AfterIncrease":
		return c.increase(args.Pods), nil
	case "Reconcile":
		return c.reconcile(args)
	}
	return nil, errNoOperation
}

func (c *awsCase) filter(args awsArgs) map[string]any {
	var enis []datastore.AttachedENI
	for _, id := range args.ENIs {
		enis = append(enis, datastore.AttachedENI{
			ID: id, Primary: id == "eni-primary", Tags: map[string]string{c.setup.Tag: c.setup.Tagged[id]},
		})
	}
	list := []string{}
	for _, e := range datastore.FilterUnmanagedENIs(enis) {
		list = append(list, e.ID)
	}
	return map[string]any{"list": list}
}

// increase grows an empty node once, lets pods come and grows it once more.
func (c *awsCase) increase(pods int) map[string]any {
	rooms := []datastore.Room{{ENI: "0", Primary: true}}
	for round := range 2 {
		s := datastore.Stats{}
		for _, r := range rooms {
			s.TotalIPs += r.Units
		}
		if round > 0 {
			s.AssignedIPs = min(pods, s.TotalIPs)
		}
		switch g, ok := c.sizing.Grow(s, rooms, 0); {
		case !ok:
		case g.ENI == "":
			rooms = append(rooms, datastore.Room{ENI: "1", Units: g.Units})
		default:
			rooms[0].Units += g.Units
		}
	}
	var per []int
	for _, r := range rooms {
		per = append(per, r.Units)
	}
	return map[string]any{"perENI": per}
}

// reconcile lets a Manager look once. What EC2 says is what the metadata service says unless the case tells otherwise.
func (c *awsCase) reconcile(args awsArgs) (map[string]any, error) {
	primary := func(n int) datastore.AttachedENI {
		e := datastore.AttachedENI{ID: "eni-1", Primary: true}
		for i := range n - 1 {
			e.Units = append(e.Units, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(10 + i)}), 32))
		}
		return e
	}
	second := datastore.AttachedENI{ID: "eni-2", Device: 1, Units: []netip.Prefix{netip.MustParsePrefix("10.0.1.10/32")}}
	known := map[string][]datastore.AttachedENI{
		"primary ENI with 3 addresses":                  {primary(3)},
		"3 addresses":                                   {primary(3)},
		"primary ENI with only its primary address":     {primary(1)},
		"1 address (stale)":                             {primary(1)},
		"plus a secondary ENI with 1 secondary address": {primary(1), second},
		"secondary ENI gone":                            {primary(1)},
	}
	imds, ok := known[args.IMDS]
	if !ok {
		return nil, fmt.Errorf("metadata %q: %w", args.IMDS, errNoOperation)
	}
	c.imds, c.ec2, c.asked = imds, imds, false
	if args.EC2 != "" && args.EC2 != "same" {
		c.ec2 = known[args.EC2]
	}
	if c.manager == nil {
		c.manager = datastore.NewManager(c.ds, datastore.Sizing{Targets: datastore.Targets{MinimumIP: 1}, ENIsMax: 1})
	}
	// Two rounds: the first may only start the manager or find that it is not yet time.
	for range 2 {
		c.now = c.now.Add(61 * time.Second)
		c.turn(c.manager.Step(c.now, datastore.Woke{}))
	}
	result := map[string]any{"ec2Called": c.asked}
	c.account(result)
	return result, nil
}

// turn performs a manager's calls until it waits.
func (c *awsCase) turn(effects []datastore.Effect) {
	for _, e := range effects {
		p, ok := e.(datastore.Perform)
		if !ok {
			continue
		}
		r := datastore.Result{Number: p.Call.Number}
		switch p.Call.Op {
		case datastore.DescribeENIs:
			r.ENIs, c.asked = c.ec2, true
		case datastore.ReadIMDS:
			r.ENIs = c.imds
		}
		c.turn(slices.Clone(c.manager.Step(c.now, datastore.Called{Result: r})))
		return
	}
}
