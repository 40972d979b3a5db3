package ec2

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// Limits are what the instance may have.
type Limits struct {
	// ENIs is how many interfaces, the primary one included.
	ENIs int
	// IPv4PerENI is how many addresses an interface may have, its own one included; a delegated prefix takes the place of
	// one.
	IPv4PerENI int
}

// Config describes an Instance.
type Config struct {
	Limits Limits
	// Subnet is where the primary interface is, Pods where the others are; nil is in Subnet.
	Subnet, Pods *Subnet
	// AttachDelay is how long it takes until a created ENI is attached; seconds in reality.
	AttachDelay time.Duration
	// MetadataLag is how long the metadata service takes to show a change.
	MetadataLag time.Duration
	// Account groups the instances whose requests are throttled together; nil is without a limit.
	Account *Account
	// Name names the next interface; nil: by turns, within the instance.
	Name func() string
}

// Instance is one instance with its interfaces.
type Instance struct {
	cfg  Config
	made int
	enis []ENI // by device
	// past has what was attached after each change, for the metadata service.
	past     past[[]ENI]
	requests map[string]int // let through, by name
	refused  map[string]time.Time
}

// New starts an instance with its primary ENI, which has an address of its own and nothing more.
func New(now time.Time, cfg Config) (*Instance, error) {
	if cfg.Pods == nil {
		cfg.Pods = cfg.Subnet
	}
	i := &Instance{cfg: cfg, requests: make(map[string]int), refused: make(map[string]time.Time), past: past[[]ENI]{lag: cfg.MetadataLag}}
	own, ok := cfg.Subnet.address()
	if !ok {
		return nil, &APIError{CodeSubnetFull, cfg.Subnet.prefix.String()}
	}
	i.enis = []ENI{{ID: i.name(), Primary: true, Address: own.Addr(), subnet: cfg.Subnet}}
	i.changed(now)
	return i, nil
}

func (i *Instance) name() string {
	if i.cfg.Name != nil {
		return i.cfg.Name()
	}
	i.made++
	return fmt.Sprintf("eni-%04d", i.made-1)
}

// Requests is how many requests of a name were let through since the start: describe, create, assign, unassign, delete.
func (i *Instance) Requests(name string) int { return i.requests[name] }

// Refuse makes every request of a name fail before that time, as an outage of a part of EC2 does.
func (i *Instance) Refuse(name string, until time.Time) { i.refused[name] = until }

// Describe lists the attached ENIs by device, as EC2 knows them.
func (i *Instance) Describe(now time.Time) ([]ENI, error) {
	if err := i.throttle(now, "describe"); err != nil {
		return nil, err
	}
	return i.copy(), nil
}

// Metadata lists the attached ENIs as the metadata service knows them, without tags.
func (i *Instance) Metadata(now time.Time) []ENI {
	var out []ENI
	for _, e := range i.past.seen(now) {
		if !e.from.After(now.Add(-i.cfg.MetadataLag)) {
			e = e.clone()
			e.Tags = nil
			out = append(out, e)
		}
	}
	return out
}

// Create makes an ENI with that many units and attaches it. The answer comes, and the ENI is attached, at the time that
// is returned; the caller waits until then. All or nothing.
func (i *Instance) Create(now time.Time, units int, prefixes bool) (ENI, time.Time, error) {
	if err := i.throttle(now, "create"); err != nil {
		return ENI{}, now, err
	}
	if len(i.enis) >= i.cfg.Limits.ENIs {
		return ENI{}, now, &APIError{CodeTooManyENIs, fmt.Sprintf("%d interfaces", i.cfg.Limits.ENIs)}
	}
	own, ok := i.cfg.Pods.address()
	if !ok {
		return ENI{}, now, &APIError{CodeSubnetFull, i.cfg.Pods.prefix.String()}
	}
	e := ENI{ID: i.name(), Device: i.device(), Address: own.Addr(), subnet: i.cfg.Pods}
	if err := e.give(i.cfg.Limits.IPv4PerENI, units, prefixes); err != nil {
		i.cfg.Pods.release(own)
		return ENI{}, now, err
	}
	at := now.Add(i.cfg.AttachDelay)
	e.from = at
	i.insert(e)
	i.changed(now)
	return e.clone(), at, nil
}

// Attach attaches an ENI from outside of ipamd, with tags or as a trunk.
func (i *Instance) Attach(now time.Time, tags map[string]string, trunk bool) (string, error) {
	e, _, err := i.Create(now, 0, false)
	if err != nil {
		return "", err
	}
	n := i.find(e.ID)
	i.enis[n].Tags, i.enis[n].Trunk = maps.Clone(tags), trunk
	i.changed(now)
	return e.ID, nil
}

// Assign gives an ENI that many units more and returns them. All or nothing.
func (i *Instance) Assign(now time.Time, eni string, units int, prefixes bool) ([]netip.Prefix, error) {
	if err := i.throttle(now, "assign"); err != nil {
		return nil, err
	}
	n := i.find(eni)
	if n < 0 {
		return nil, &APIError{CodeUnknownENI, eni}
	}
	before := slices.Clone(i.enis[n].Units)
	if err := i.enis[n].give(i.cfg.Limits.IPv4PerENI, units, prefixes); err != nil {
		return nil, err
	}
	i.changed(now)
	return fresh(i.enis[n].Units, before), nil
}

// Unassign takes units back. All or nothing.
func (i *Instance) Unassign(now time.Time, eni string, units []netip.Prefix) error {
	if err := i.throttle(now, "unassign"); err != nil {
		return err
	}
	n := i.find(eni)
	if n < 0 {
		return &APIError{CodeUnknownENI, eni}
	}
	if err := i.enis[n].takeBack(units); err != nil {
		return err
	}
	i.changed(now)
	return nil
}

// Delete detaches and deletes an ENI; its addresses go back to the subnet.
func (i *Instance) Delete(now time.Time, eni string) error {
	if err := i.throttle(now, "delete"); err != nil {
		return err
	}
	n := i.find(eni)
	switch {
	case n < 0:
		return &APIError{CodeUnknownENI, eni}
	case i.enis[n].Primary:
		return &APIError{CodeNotDetachable, eni + " is the primary interface"}
	}
	i.enis[n].releaseAll()
	i.enis = slices.Delete(i.enis, n, n+1)
	i.changed(now)
	return nil
}

// Terminate ends the instance: everything goes back to the subnet.
func (i *Instance) Terminate(now time.Time) {
	for _, e := range i.enis {
		e.releaseAll()
	}
	i.enis = nil
	i.changed(now)
}

// throttle takes a token of the account.
func (i *Instance) throttle(now time.Time, name string) error {
	if now.Before(i.refused[name]) {
		return &APIError{CodeInternal, name}
	}
	if i.cfg.Account != nil && !i.cfg.Account.take(now) {
		return &APIError{CodeThrottled, name}
	}
	i.requests[name]++
	return nil
}

func (i *Instance) find(eni string) int {
	return slices.IndexFunc(i.enis, func(e ENI) bool { return e.ID == eni })
}

// device is the lowest free device number.
func (i *Instance) device() int {
	n := 0
	for n < len(i.enis) && i.enis[n].Device == n {
		n++
	}
	return n
}

func (i *Instance) insert(e ENI) {
	n, _ := slices.BinarySearchFunc(i.enis, e.Device, func(e ENI, device int) int { return e.Device - device })
	i.enis = slices.Insert(i.enis, n, e)
}

func (i *Instance) copy() []ENI {
	out := make([]ENI, len(i.enis))
	for n, e := range i.enis {
		out[n] = e.clone()
	}
	return out
}

// changed keeps what is attached now for the metadata service.
func (i *Instance) changed(at time.Time) { i.past.add(at, i.copy()) }
