package vppwire

import (
	"strings"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

type interfaceDetails = interfaces.SwInterfaceDetails

// interfaceKey is the key of the object that makes a named VPP interface; false for one that VPP brings along (a NIC).
func interfaceKey(name string) (Key, bool) {
	// Kinds that make interfaces come first in the table.
	for k := KindLoopback; int(k) < len(kinds) && kinds[k].creates.prefix != ""; k++ {
		if strings.HasPrefix(name, kinds[k].creates.prefix) {
			return Key{Kind: k, Name: name}, true
		}
	}
	return Key{}, false
}

// MadeByVPP reports whether an interface's name is of a kind that exists without hardware: one of ours, or another of
// VPP's own.
func MadeByVPP(name string) bool {
	if _, ok := interfaceKey(name); ok {
		return true
	}
	return strings.HasPrefix(name, "local") || strings.HasPrefix(name, "ipip") || strings.HasPrefix(name, "pg")
}

// needInterface appends what an object on a VPP interface needs: the interface itself, where we make it.
func needInterface(keys []Key, name string) []Key {
	if k, ok := interfaceKey(name); ok {
		keys = append(keys, k)
	}
	return keys
}

// ownInterface reports whether a VPP interface is ours by its name: the kinds that we create. A NIC is not.
func ownInterface(name string) bool {
	k, ok := interfaceKey(name)
	if !ok {
		return false
	}
	n, ok := kinds[k.Kind].object.(named)
	return !ok || n.oursByName(name)
}

// interfaceDump shows all interfaces. It goes first: other dumps name interfaces by the indexes that it tells.
var interfaceDump = &dump{whole: true, first: true, reader: interfaceReader{}}

type interfaceReader struct{}

func (interfaceReader) messages() []api.Message {
	return []api.Message{&interfaces.SwInterfaceDump{}, &interfaces.SwInterfaceDetails{}}
}

func (interfaceReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&interfaces.SwInterfaceDump{SwIfIndex: allInterfacesIndex})
}

func (interfaceReader) take(s *Session, _ dumpStep, res Result) {
	var readers []onInterface
	for k := range kinds {
		if r, ok := kinds[k].object.(onInterface); ok {
			readers = append(readers, r)
		}
	}
	seen := map[string]bool{}
	for _, m := range res.shown.details {
		d, ok := m.(*interfaceDetails)
		if !ok || d.InterfaceName == "local0" {
			continue
		}
		name := d.InterfaceName
		fresh := !s.known(name)
		seen[name] = true
		s.bind(name, uint32(d.SwIfIndex))
		if strings.HasPrefix(name, memifPrefix) { // of an earlier life
			s.Expect(KindMemif)
		}
		var by creation
		if k, ok := interfaceKey(name); ok {
			by = kinds[k.Kind].creates
		} else {
			if s.nicMACs == nil {
				s.nicMACs = map[string]MAC{}
			}
			s.nicMACs[name] = MAC(d.L2Address)
		}
		for _, r := range readers {
			if o, ok := r.readInterface(d, by); ok {
				s.observe(o)
			}
		}
		if by.bare {
			continue
		}
		s.dump.macs[name], s.dump.tags[name] = MAC(d.L2Address), d.Tag
		if fresh {
			s.dumpL3(name)
		}
	}
	s.dump.push(dumpStep{dump: unnumberedDump}) // after the tables that it depends on
	s.unbindUnseen(seen)
}

// dumpL3 queues the dumps of one interface's layer 3 settings, which VPP tells only one interface at a time.
func (s *Session) dumpL3(name string) {
	s.dump.push(dumpStep{dump: inTableDump, name: name})
	s.dump.push(dumpStep{dump: addressDump, name: name})
	if s.ip6 {
		s.dump.push(dumpStep{dump: inTableDump, name: name, ip6: true})
		s.dump.push(dumpStep{dump: addressDump, name: name, ip6: true})
	}
}
