package vppwire

import (
	"strconv"

	"go.fd.io/govpp/binapi/interface_types"
)

// swIfIndexes is which sw_if_index each of VPP's interfaces has, by the numbers of their names in Session.names.
type swIfIndexes struct {
	ofName map[uint32]uint32
	nameOf map[uint32]uint32
}

// swIfIndex is the index of a VPP interface; ^0 for an unknown one, which VPP refuses with a clear error.
func (s *Session) swIfIndex(name string) interface_types.InterfaceIndex {
	if i, ok := s.indexes.ofName[s.names.number(name)]; ok {
		return interface_types.InterfaceIndex(i)
	}
	return allInterfacesIndex
}

func (s *Session) known(name string) bool { _, ok := s.indexes.ofName[s.names.number(name)]; return ok }

// nameOf is the name of the interface that has an index; false: none has it.
func (s *Session) nameOf(index uint32) (string, bool) {
	n, ok := s.indexes.nameOf[index]
	if !ok {
		return "", false
	}
	return s.names.list[n-1], true
}

// deadPrefix begins the name of an index that no interface has.
const deadPrefix = "#"

// interfaceName is the name of an index; "#7" for an index that no interface has, as left behind by a deleted one.
func (s *Session) interfaceName(index uint32) string {
	if name, ok := s.nameOf(index); ok {
		return name
	}
	return deadPrefix + strconv.FormatUint(uint64(index), 10)
}

func (s *Session) bind(name string, index uint32) {
	n := s.names.number(name)
	if old, ok := s.indexes.nameOf[index]; ok && old != n {
		delete(s.indexes.ofName, old)
	}
	s.indexes.ofName[n], s.indexes.nameOf[index] = index, n
	again := s.dump.onReuse[index]
	delete(s.dump.onReuse, index)
	for _, d := range again {
		s.dump.push(dumpStep{dump: d})
		if d.family {
			s.dump.push(dumpStep{dump: d, ip6: true})
		}
	}
}

// numbered notes the number that VPP gave a created object: an interface's index, the classifier table of a family's
// sources, or an ACL's.
func (s *Session) numbered(k Key, number uint32) {
	switch k.Kind {
	case KindSourceTable:
		s.sources.set(k.Num != 0, number)
	case KindACL:
		s.acls.set(k.Name, number)
	default:
		s.bind(k.Name, number)
	}
}

func (s *Session) unbind(name string) {
	n := s.names.number(name)
	if i, ok := s.indexes.ofName[n]; ok {
		delete(s.indexes.ofName, n)
		delete(s.indexes.nameOf, i)
	}
}

// unbindUnseen forgets the indexes of all interfaces but those that VPP has just shown.
func (s *Session) unbindUnseen(seen map[string]bool) {
	if len(seen) == len(s.indexes.ofName) {
		return
	}
	var gone []string
	//vppdrill:unordered each name is unbound on its own; the order leaves no trace
	for n := range s.indexes.ofName {
		if name := s.names.list[n-1]; !seen[name] {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		s.unbind(name)
	}
}

// forgetIndexes forgets them all.
func (s *Session) forgetIndexes() {
	clear(s.indexes.ofName)
	clear(s.indexes.nameOf)
}
