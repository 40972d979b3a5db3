package vppwire

import (
	"strconv"
	"strings"
)

// Object is one thing that VPP or Linux should hold: a comparable value with a key, needs and one canonical line.
// Two Objects with the same Key that are == are the same; otherwise the newer replaces the older.
// The types are in the files named after them.
type Object interface {
	Key() Key
	// AppendNeeds appends the keys that must exist before this object can be created and while it exists.
	AppendNeeds(keys []Key) []Key
	// AppendText appends the canonical line; ParseObject reads it back.
	AppendText(b []byte) []byte
	object
}

// object is what a Session asks of its objects beyond what users see.
type object interface {
	// sweptBy names the object whose deletion takes this one along without a call; false: none does.
	sweptBy() (Key, bool)
	// write fills r with the call that makes the object so; over is what stands there now, nil for nothing.
	write(s *Session, r *request, over Object)
	// erase fills r with the call that deletes the object; false: there is nothing to call.
	erase(s *Session, r *request) bool
	// replaces reports whether write over old is enough; else old is deleted first.
	replaces(old Object) bool
}

// dumped is an object of which a dump cannot show everything.
type dumped interface {
	// like reports whether found, which a dump showed under the same key, is this object as far as a dump can tell.
	like(found Object) bool
}

// interfaceKey is the key of the object that makes a named VPP interface; false for one that VPP brings along (a NIC).
func interfaceKey(name string) (Key, bool) {
	switch {
	case strings.HasPrefix(name, loopbackPrefix):
		return Key{Kind: KindLoopback, Name: name}, true
	case strings.HasPrefix(name, tapPrefix):
		return Key{Kind: KindTap, Name: name}, true
	case strings.HasPrefix(name, afPacketPrefix):
		return Key{Kind: KindAFPacket, Name: name}, true
	case strings.HasPrefix(name, vxlanPrefix):
		return Key{Kind: KindVXLAN, Name: name}, true
	}
	return Key{}, false
}

// VPP's own names for the interfaces that we create; the number or the Linux device follows.
const (
	loopbackPrefix = "loop"
	tapPrefix      = "tap"
	afPacketPrefix = "host-"
	vxlanPrefix    = "vxlan_tunnel"
)

// LoopbackName, TapName, VXLANName and AFPacketName are VPP's names of interfaces created with that instance or device.
func LoopbackName(instance uint32) string {
	return loopbackPrefix + strconv.FormatUint(uint64(instance), 10)
}

// TapName is the VPP name of tap id.
func TapName(id uint32) string { return tapPrefix + strconv.FormatUint(uint64(id), 10) }

// VXLANName is the VPP name of VXLAN tunnel instance.
func VXLANName(instance uint32) string { return vxlanPrefix + strconv.FormatUint(uint64(instance), 10) }

// AFPacketName is the VPP name of the AF_PACKET interface on a Linux device.
func AFPacketName(device string) string { return afPacketPrefix + device }

// instance is the number behind prefix in name.
func instance(name, prefix string) uint32 {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, prefix), 10, 32)
	if err != nil {
		panic("vppwire: interface name without a number: " + name)
	}
	return uint32(n)
}

// needInterface appends what an object on a VPP interface needs: the interface itself, where we make it.
func needInterface(keys []Key, name string) []Key {
	if k, ok := interfaceKey(name); ok {
		keys = append(keys, k)
	}
	return keys
}

func appendWord(b []byte, words ...string) []byte {
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, w...)
	}
	return b
}

func appendNumber(b []byte, word string, n uint64) []byte {
	b = append(b, ' ')
	b = append(b, word...)
	b = append(b, ' ')
	return strconv.AppendUint(b, n, 10)
}
