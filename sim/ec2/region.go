package ec2

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// RegionConfig describes a Region.
type RegionConfig struct {
	// Account throttles every request; nil is without a limit.
	Account *Account
	// ReadLag is how long it takes until requests see a change: EC2 is eventually consistent. An interface that was made
	// less than this ago is one that requests do not know.
	ReadLag time.Duration
	// AttachDelay is how long interfaces take to be attached, and to be detached.
	AttachDelay time.Duration
	// MetadataLag is how long the metadata service takes to show a change.
	MetadataLag time.Duration
	// Changed, where set, is told of each change of what an instance has, when it is made.
	Changed func(h *Host)
}

// Region is one account's EC2 in one region by single requests, as its API has them: an interface is made, attached,
// detached and deleted. Instance has the same requests put together.
type Region struct {
	cfg       RegionConfig
	subnets   []Place
	instances []*Host
	// records are what the region keeps of each interface beside what it has, by ID; loose are those of no instance.
	records map[string]*record
	loose   []ENI
	tokens  map[string]string // of client tokens, to interfaces
	made    int
	past    past[[]Interface]
}

// Place is a subnet under its ID, in a zone.
type Place struct {
	ID, Zone string
	Tags     map[string]string
	*Subnet
}

// CIDR is the subnet's range of IPv4; CIDR6 that of IPv6, invalid without one.
func (p Place) CIDR() netip.Prefix { return p.prefix }

// CIDR6 is the subnet's range of IPv6, invalid without one.
func (p Place) CIDR6() netip.Prefix { return p.prefix6 }

// Host is an instance under its ID.
type Host struct {
	ID, Type string
	Subnet   string // of the primary interface
	Zone     string
	Limits   Limits
	Launched time.Time
	*Instance
}

// Attached are the instance's interfaces by device, as they are.
func (h *Host) Attached() []ENI { return h.copy() }

// record is what a region keeps of an interface.
type record struct {
	subnet, zone, description string
	groups                    []string
	made                      time.Time
	instance, attachment      string
	// attached is when it is, or was, attached; free when it is detached.
	attached, free      time.Time
	deleteOnTermination bool
}

// Interface is an interface as requests show it.
type Interface struct {
	ENI
	Subnet, Zone, Description string
	Groups                    []string
	Made                      time.Time
	// Instance and Attachment are empty while the interface is attached to none. Attached is from when on it is.
	Instance, Attachment string
	Attached, Free       time.Time
	DeleteOnTermination  bool
}

// Detaching reports whether the interface is on its way from an instance.
func (i Interface) Detaching(now time.Time) bool { return i.Instance != "" && now.Before(i.Free) }

// Loose reports whether the interface is attached to no instance.
func (i Interface) Loose(now time.Time) bool {
	return i.Instance == "" || !i.Free.IsZero() && !now.Before(i.Free)
}

// NewRegion returns a region without anything.
func NewRegion(cfg RegionConfig) *Region {
	return &Region{cfg: cfg, records: make(map[string]*record), tokens: make(map[string]string), past: past[[]Interface]{lag: cfg.ReadLag}}
}

// AddSubnet adds a subnet under an ID that is new.
func (r *Region) AddSubnet(p Place) { r.subnets = append(r.subnets, p) }

// Launch starts an instance whose primary interface is in a subnet.
func (r *Region) Launch(now time.Time, kind, subnet string, l Limits) (*Host, error) {
	p, err := r.subnet(subnet)
	if err != nil {
		return nil, err
	}
	i, err := New(now, Config{Limits: l, Subnet: p.Subnet, MetadataLag: r.cfg.MetadataLag, Name: func() string { return r.id("eni") }})
	if err != nil {
		return nil, err
	}
	h := &Host{ID: r.id("i"), Type: kind, Subnet: subnet, Zone: p.Zone, Limits: l, Launched: now, Instance: i}
	r.instances = append(r.instances, h)
	// It is older than what anybody could not have seen yet.
	r.records[i.enis[0].ID] = &record{subnet: subnet, zone: p.Zone, made: now.Add(-r.cfg.ReadLag), groups: []string{DefaultGroup}, instance: h.ID,
		attachment: r.id("eni-attach"), attached: now, deleteOnTermination: true, description: "primary"}
	r.changed(now)
	return h, nil
}

// DefaultGroup is the security group of interfaces for which no other one is named.
const DefaultGroup = "sg-00000000000000001"

// id is a name of EC2's form that nothing else has.
func (r *Region) id(kind string) string {
	r.made++
	return fmt.Sprintf("%s-%017x", kind, r.made)
}

// Host returns the instance of an ID.
func (r *Region) Host(id string) (*Host, error) {
	for _, h := range r.instances {
		if h.ID == id {
			return h, nil
		}
	}
	return nil, &APIError{CodeUnknownInstance, fmt.Sprintf("The instance ID '%s' does not exist", id)}
}

// Of is what the region keeps of an interface of an instance, for the metadata service; false when it is gone.
func (r *Region) Of(e ENI) (Interface, bool) {
	rec := r.records[e.ID]
	if rec == nil {
		return Interface{}, false
	}
	return rec.show(e), true
}

func (r *Region) subnet(id string) (Place, error) {
	for _, p := range r.subnets {
		if p.ID == id {
			return p, nil
		}
	}
	return Place{}, &APIError{CodeUnknownSubnet, fmt.Sprintf("The subnet ID '%s' does not exist", id)}
}

// find is an interface with the instance that it is attached to, nil for none.
func (r *Region) find(now time.Time, id string) (*ENI, *Host, error) {
	if rec := r.records[id]; rec != nil && !now.Before(rec.made.Add(r.cfg.ReadLag)) {
		for n := range r.loose {
			if r.loose[n].ID == id {
				return &r.loose[n], nil, nil
			}
		}
		for _, h := range r.instances {
			if n := h.find(id); n >= 0 {
				return &h.enis[n], h, nil
			}
		}
	}
	return nil, nil, &APIError{CodeUnknownENI, fmt.Sprintf("The networkInterface ID '%s' does not exist", id)}
}

// changed notes the present for those who hear of it later; h is the instance that changed, if one did.
func (r *Region) changed(now time.Time, h ...*Host) {
	for _, one := range h {
		if one != nil {
			one.Instance.changed(now)
		}
	}
	r.past.add(now, r.present())
	for _, one := range h {
		if one != nil && r.cfg.Changed != nil {
			r.cfg.Changed(one)
		}
	}
}

// Terminate ends an instance. Its interfaces go with it but for those that are to stay, which are of no instance then.
func (r *Region) Terminate(now time.Time, instance string) error {
	h, err := r.Host(instance)
	if err != nil {
		return err
	}
	for _, e := range h.enis {
		if rec := r.records[e.ID]; rec.deleteOnTermination {
			e.releaseAll()
			delete(r.records, e.ID)
		} else {
			rec.free = now
			r.loose = append(r.loose, e)
		}
	}
	h.enis = nil
	r.instances = slices.DeleteFunc(r.instances, func(x *Host) bool { return x == h })
	r.changed(now, h)
	return nil
}

// present is everything, by ID.
func (r *Region) present() []Interface {
	var list []Interface
	for _, e := range r.loose {
		list = append(list, r.records[e.ID].show(e))
	}
	for _, h := range r.instances {
		for _, e := range h.enis {
			list = append(list, r.records[e.ID].show(e))
		}
	}
	slices.SortFunc(list, func(a, b Interface) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func (c *record) show(e ENI) Interface {
	return Interface{ENI: e.clone(), Subnet: c.subnet, Zone: c.zone, Description: c.description, Groups: slices.Clone(c.groups), Made: c.made,
		Instance: c.instance, Attachment: c.attachment, Attached: c.attached, Free: c.free, DeleteOnTermination: c.deleteOnTermination}
}

// throttle lets a request through, or refuses it.
func (r *Region) throttle(now time.Time) error {
	if r.cfg.Account != nil && !r.cfg.Account.take(now) {
		return &APIError{CodeThrottled, "Request limit exceeded."}
	}
	return nil
}
