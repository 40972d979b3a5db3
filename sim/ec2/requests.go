package ec2

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// looseMax is how many addresses an interface of no instance may have.
const looseMax = 50

// Interfaces lists every interface by ID, as it was ReadLag ago.
func (r *Region) Interfaces(now time.Time) ([]Interface, error) {
	if err := r.throttle(now); err != nil {
		return nil, err
	}
	return slices.Clone(r.past.seen(now)), nil
}

// Places are the subnets, without a request: the metadata service knows them.
func (r *Region) Places() []Place { return r.subnets }

// Subnets lists the subnets, and Instances the instances, in the order in which they were made.
func (r *Region) Subnets(now time.Time) ([]Place, error) { return r.subnets, r.throttle(now) }

// Instances lists the instances in the order in which they were made.
func (r *Region) Instances(now time.Time) ([]*Host, error) { return r.instances, r.throttle(now) }

// NewInterface is what an interface is made of.
type NewInterface struct {
	Subnet, Description string
	Groups              []string
	// Units more than its own address; delegated prefixes with Prefixes.
	Units    int
	Prefixes bool
	Tags     map[string]string
	// Token: a second request with it makes nothing and answers the same; "" is none.
	Token string
}

// CreateInterface makes an interface of no instance. All or nothing.
func (r *Region) CreateInterface(now time.Time, n NewInterface) (Interface, error) {
	if err := r.throttle(now); err != nil {
		return Interface{}, err
	}
	if id := r.tokens[n.Token]; n.Token != "" && id != "" {
		for _, have := range r.present() {
			if have.ID == id {
				return have, nil
			}
		}
	}
	p, err := r.subnet(n.Subnet)
	if err != nil {
		return Interface{}, err
	}
	own, ok := p.address()
	if !ok {
		return Interface{}, &APIError{CodeSubnetFull, fmt.Sprintf("The specified subnet '%s' does not have enough free addresses to satisfy the request.", n.Subnet)}
	}
	e := ENI{ID: r.id("eni"), Device: -1, Address: own.Addr(), Tags: maps.Clone(n.Tags), subnet: p.Subnet}
	if err := e.give(looseMax, n.Units, n.Prefixes); err != nil {
		p.release(own)
		return Interface{}, err
	}
	if len(n.Groups) == 0 {
		n.Groups = []string{DefaultGroup}
	}
	r.records[e.ID] = &record{subnet: n.Subnet, zone: p.Zone, description: n.Description, groups: slices.Clone(n.Groups), made: now}
	r.loose = append(r.loose, e)
	if n.Token != "" {
		r.tokens[n.Token] = e.ID
	}
	r.changed(now)
	return r.records[e.ID].show(e), nil
}

// Attach attaches an interface of no instance, and returns the ID of the attachment. It is attached AttachDelay later.
func (r *Region) Attach(now time.Time, eni, instance string, device int) (string, error) {
	if err := r.throttle(now); err != nil {
		return "", err
	}
	e, at, err := r.find(now, eni)
	if err != nil {
		return "", err
	}
	h, err := r.Host(instance)
	if err != nil {
		return "", err
	}
	rec := r.records[eni]
	switch {
	case at != nil || now.Before(rec.free):
		return "", &APIError{CodeInUse, fmt.Sprintf("Interface: [%s] in use.", eni)}
	case rec.zone != h.Zone:
		return "", &APIError{CodeInvalidQuantity, fmt.Sprintf("%s is in %s, and %s in %s", eni, rec.zone, instance, h.Zone)}
	case len(h.enis) >= h.Limits.ENIs:
		return "", &APIError{CodeTooManyENIs, fmt.Sprintf("Interface count %d exceeds the limit for %s", len(h.enis)+1, h.Type)}
	case 1+len(e.Units) > h.Limits.IPv4PerENI:
		return "", &APIError{CodeTooManyIPs, fmt.Sprintf("Number of private addresses will exceed limit: %d on %s", h.Limits.IPv4PerENI, h.Type)}
	case slices.ContainsFunc(h.enis, func(have ENI) bool { return have.Device == device }):
		return "", &APIError{CodeInvalid, fmt.Sprintf("Instance '%s' already has an interface attached at device index '%d'.", instance, device)}
	}
	moved := *e
	moved.Device = device
	r.loose = slices.DeleteFunc(r.loose, func(x ENI) bool { return x.ID == eni })
	moved.from = now.Add(r.cfg.AttachDelay)
	h.insert(moved)
	rec.instance, rec.attachment, rec.free = instance, r.id("eni-attach"), time.Time{}
	rec.attached, rec.deleteOnTermination = moved.from, false
	r.changed(now, h)
	return rec.attachment, nil
}

// Detach takes an interface off its instance, by the ID of its attachment. It is free AttachDelay later.
func (r *Region) Detach(now time.Time, attachment string) error {
	if err := r.throttle(now); err != nil {
		return err
	}
	for _, h := range r.instances {
		for n, e := range h.enis {
			rec := r.records[e.ID]
			if rec.attachment != attachment {
				continue
			}
			if e.Primary {
				return &APIError{CodeNotDetachable, "The network interface at device index 0 cannot be detached."}
			}
			h.enis = slices.Delete(h.enis, n, n+1)
			rec.free = now.Add(r.cfg.AttachDelay)
			r.loose = append(r.loose, e)
			r.changed(now, h)
			return nil
		}
	}
	return &APIError{CodeUnknownAttachment, fmt.Sprintf("An attachment with the given ID, '%s', does not exist.", attachment)}
}

// DeleteInterface deletes an interface of no instance.
func (r *Region) DeleteInterface(now time.Time, eni string) error {
	if err := r.throttle(now); err != nil {
		return err
	}
	e, at, err := r.find(now, eni)
	if err != nil {
		return err
	}
	if at != nil || now.Before(r.records[eni].free) {
		return &APIError{CodeInvalid, fmt.Sprintf("Network interface '%s' is currently in use.", eni)}
	}
	e.releaseAll()
	r.loose = slices.DeleteFunc(r.loose, func(x ENI) bool { return x.ID == eni })
	delete(r.records, eni)
	r.changed(now)
	return nil
}

// AssignUnits gives an interface that many units more and returns them. All or nothing.
func (r *Region) AssignUnits(now time.Time, eni string, units int, prefixes bool) (got []netip.Prefix, err error) {
	err = r.change(now, eni, func(e *ENI, limit int) error {
		before := slices.Clone(e.Units)
		err := e.give(limit, units, prefixes)
		got = fresh(e.Units, before)
		return err
	})
	return got, err
}

// UnassignUnits takes units back. All or nothing.
func (r *Region) UnassignUnits(now time.Time, eni string, units []netip.Prefix) error {
	return r.change(now, eni, func(e *ENI, _ int) error { return e.takeBack(units) })
}

// AssignPrefixes6 gives an interface that many /80 prefixes more and returns them. All or nothing.
func (r *Region) AssignPrefixes6(now time.Time, eni string, n int) (got []netip.Prefix, err error) {
	err = r.change(now, eni, func(e *ENI, limit int) error {
		if len(e.Prefixes6)+n > limit-1 {
			return &APIError{CodeTooManyIPs, fmt.Sprintf("%d on %s", limit-1, e.ID)}
		}
		var ok bool
		if got, ok = takeAll(n, e.subnet.block6, e.subnet.release6); !ok {
			return &APIError{CodeNoBlock, "no /80 is left, or the subnet has no IPv6 range"}
		}
		e.Prefixes6 = append(e.Prefixes6, got...)
		slices.SortFunc(e.Prefixes6, netip.Prefix.Compare)
		return nil
	})
	return got, err
}

// UnassignPrefixes6 takes /80 prefixes back. All or nothing.
func (r *Region) UnassignPrefixes6(now time.Time, eni string, list []netip.Prefix) error {
	return r.change(now, eni, func(e *ENI, _ int) error {
		for _, p := range list {
			if !slices.Contains(e.Prefixes6, p) {
				return &APIError{CodeNotAssigned, p.String() + " is not assigned to " + e.ID}
			}
		}
		e.Prefixes6 = slices.DeleteFunc(e.Prefixes6, func(p netip.Prefix) bool { return slices.Contains(list, p) })
		for _, p := range list {
			e.subnet.release6(p)
		}
		return nil
	})
}

// change lets a request change an interface; limit is how many addresses it may have.
func (r *Region) change(now time.Time, eni string, do func(e *ENI, limit int) error) error {
	if err := r.throttle(now); err != nil {
		return err
	}
	e, h, err := r.find(now, eni)
	if err != nil {
		return err
	}
	limit := looseMax
	if h != nil {
		limit = h.Limits.IPv4PerENI
	}
	if err := do(e, limit); err != nil {
		return err
	}
	r.changed(now, h)
	return nil
}

// Tag sets tags of an interface.
func (r *Region) Tag(now time.Time, eni string, tags map[string]string) error {
	return r.change(now, eni, func(e *ENI, _ int) error {
		if e.Tags == nil {
			e.Tags = make(map[string]string)
		}
		maps.Copy(e.Tags, tags)
		return nil
	})
}

// Attribute is what a Modify sets: one of these.
type Attribute struct {
	Description *string
	Groups      []string
	// Attachment is whose DeleteOnTermination is set.
	Attachment          string
	DeleteOnTermination bool
}

// Modify sets an attribute of an interface.
func (r *Region) Modify(now time.Time, eni string, a Attribute) error {
	return r.change(now, eni, func(*ENI, int) error {
		rec := r.records[eni]
		switch {
		case a.Attachment != "" && a.Attachment != rec.attachment:
			return &APIError{CodeUnknownAttachment, fmt.Sprintf("An attachment with the given ID, '%s', does not exist.", a.Attachment)}
		case a.Attachment != "":
			rec.deleteOnTermination = a.DeleteOnTermination
		case a.Groups != nil:
			rec.groups = slices.Clone(a.Groups)
		case a.Description != nil:
			rec.description = *a.Description
		}
		return nil
	})
}
