package cilium

import (
	"errors"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// AddressNode gives out the pod addresses of one node whose CiliumNode has a pool of single addresses: its blocks are
// the addresses of that pool, and all pods have one gateway outside of it, as in ENI mode. It is not safe for
// concurrent use.
type AddressNode struct{ *ipam.BlockLedger }

var _ ipam.NodeAllocator = (*AddressNode)(nil)

// NewAddressNode returns a node without addresses.
func NewAddressNode(pick Picker, gateway netip.Addr) (*AddressNode, error) {
	if pick == nil || !gateway.IsValid() {
		return nil, errors.New("address node: a Picker and a gateway are needed")
	}
	return &AddressNode{ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: gatewaySystem{poolSystem{pick: pick}, space.NormalAddr(gateway)}})}, nil
}

// gatewaySystem is a poolSystem with a gateway outside of the blocks.
type gatewaySystem struct {
	poolSystem
	gateway netip.Addr
}

// Gateway implements ipam.System.
func (s gatewaySystem) Gateway(prefix netip.Prefix) (netip.Addr, error) {
	if prefix.Contains(s.gateway) {
		return netip.Addr{}, errors.New("contains the gateway " + s.gateway.String())
	}
	_, err := s.poolSystem.Gateway(prefix)
	return s.gateway, err
}
