package vppmodel

import (
	"strconv"

	interfaces "go.fd.io/govpp/binapi/interface"
)

// loopbackMax is one more than the largest loopback instance (src/vnet/ethernet/interface.c).
const loopbackMax = 16 * 1024

func (v *VPP) createLoopback(m *interfaces.CreateLoopback, r *interfaces.CreateLoopbackReply) int32 {
	at, retval := v.addLoopback(mac(m.MacAddress), false, 0)
	*r = interfaces.CreateLoopbackReply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

func (v *VPP) createLoopbackInstance(m *interfaces.CreateLoopbackInstance, r *interfaces.CreateLoopbackInstanceReply) int32 {
	at, retval := v.addLoopback(mac(m.MacAddress), m.IsSpecified, m.UserInstance)
	*r = interfaces.CreateLoopbackInstanceReply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

// addLoopback makes loop<instance>, of the smallest free instance unless one is asked for. A zero MAC becomes
// de:ad:00:00:00 and the instance's low byte. An instance that is taken or too large is -31, with index ^0.
func (v *VPP) addLoopback(m mac, specified bool, instance uint32) (at uint32, retval int32) {
	if !specified {
		instance = v.loops.smallestFree()
	}
	if instance >= loopbackMax || v.loops.has(instance) {
		return none, invalidReg
	}
	v.loops.add(instance)
	if m == (mac{}) {
		m = mac{0xde, 0xad, 5: byte(instance)}
	}
	i := v.addInterface(iface{kind: KindLoopback, name: "loop" + strconv.FormatUint(uint64(instance), 10),
		instance: instance, mac: m, ethernet: true})
	v.tellInterface(i, v.flags(i), false)
	return i.index, ok
}

func (v *VPP) deleteLoopback(m *interfaces.DeleteLoopback) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || i.kind != KindLoopback {
		return invalidIndex
	}
	v.loops.remove(i.instance)
	v.deleteInterface(i)
	return ok
}
