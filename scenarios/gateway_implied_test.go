package scenarios

import (
	"strings"
	"testing"
)

// Goal: natExternalTraffic without a gateway runs with a router at the last address of the nodes' range, and stays refused where it would do
// nothing, or where that address is a node's. Method: a table of settings beside it.
func TestNatExternalTrafficHasARouter(t *testing.T) {
	for _, c := range []struct{ config, gateway, refused string }{
		{"{wiring: {services: vpp}}", "", ""},
		{"{wiring: {services: vpp, natExternalTraffic: true}}", "192.168.16.254", ""},
		{"{wiring: {services: vpp, natExternalTraffic: true}, ipam: {nodeInterconnectCIDR: 192.168.16.0/27}}", "192.168.16.30", ""},
		{"{wiring: {services: vpp, natExternalTraffic: true}, ipam: {defaultGateway: 192.168.16.7}}", "192.168.16.7", ""},
		{"{wiring: {services: vpp, natExternalTraffic: true}, nodes: [{name: node-1, gateway: 192.168.16.7}]}", "", ""},
		{"{wiring: {services: vpp, natExternalTraffic: true}, nodes: [{name: node-1, ip: 192.168.16.254/24}]}", "", "no default gateway is given"},
		{"{wiring: {services: vpp, natExternalTraffic: true, node: l2}}", "", "share a layer 2 segment"},
		{"{wiring: {natExternalTraffic: true}}", "", "is of NAT"},
		{"{wiring: {services: vpp, natExternalTraffic: true}, ipam: {nodeInterconnectDHCP: true}}", "", "a leased one does not count"},
	} {
		s, err := Parse("x.yaml", []byte("# A router.\nname: x\nconfig: "+c.config+"\n"))
		switch {
		case err != nil && (c.refused == "" || !strings.Contains(err.Error(), c.refused)), err == nil && c.refused != "":
			t.Errorf("%s: %v", c.config, err)
		case err == nil && c.gateway == "" && s.Config.IPAM.DefaultGateway.IsValid(), err == nil && c.gateway != "" && s.Config.IPAM.DefaultGateway.String() != c.gateway:
			t.Errorf("%s: gateway %s, want %s", c.config, s.Config.IPAM.DefaultGateway, c.gateway)
		}
	}
}
