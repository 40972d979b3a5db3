package datastore

// ENIPool is a collection of ENIs by ID, as upstream's store has one. It is a copy: changing it changes nothing in the
// store.
type ENIPool map[string]*ENI

// ENIPool copies the store's ENIs.
func (ds *DataStore) ENIPool() ENIPool {
	p := make(ENIPool, len(ds.enis))
	owners := ds.owners()
	for _, e := range ds.enis {
		p[e.id] = ds.public(e, owners)
	}
	return p
}

// AssignedIPv4Addresses is how many of the ENI's addresses pods have.
func (e *ENI) AssignedIPv4Addresses() (n int) {
	for _, a := range e.IPv4Addresses { // in any order: it is a sum
		if a.Assigned() {
			n++
		}
	}
	return n
}

// AssignedIPv4Addresses is how many addresses pods have.
func (p *ENIPool) AssignedIPv4Addresses() (n int) {
	for _, e := range *p { // in any order: it is a sum
		n += e.AssignedIPv4Addresses()
	}
	return n
}

// FindAddressForSandbox is where the address of a sandbox is, nil and nil when it has none. A key has one at most.
func (p *ENIPool) FindAddressForSandbox(ipamKey IPAMKey) (*ENI, *AddressInfo) {
	if ipamKey.IsZero() {
		return nil, nil
	}
	for _, e := range *p { // in any order: a key has one address at most
		for _, a := range e.IPv4Addresses { // in any order: the same
			if a.IPAMKey == ipamKey {
				return e, a
			}
		}
	}
	return nil, nil
}
