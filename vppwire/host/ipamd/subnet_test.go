package ipamd_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
)

// Goal: new interfaces are in the subnet with most free addresses of those that are meant for them, in the next one where it has no room
// for what is asked, and in the primary interface's where nothing can be found out. Method: subnets of a double, one node each.
func TestInterfacesAreInDiscoveredSubnets(t *testing.T) {
	add := func(n *node, id, zone, tag, cidr string, taken ...string) {
		s := ec2.NewSubnet(netip.MustParsePrefix(cidr))
		for _, a := range taken {
			s.Occupy(netip.MustParseAddr(a))
		}
		p := ec2.Place{ID: id, Zone: zone, Subnet: s}
		if tag != "" {
			p.Tags = map[string]string{aws.SubnetTag: tag}
		}
		n.double.Ask(func(_ time.Time, r *ec2.Region) { r.AddSubnet(p) })
	}
	const here, there = "eu-central-1a", "eu-central-1b"
	for what, one := range map[string]struct {
		off  bool
		with func(n *node)
		want string
	}{
		"a tagged one":             {with: func(n *node) { add(n, "subnet-2", here, "1", "10.1.0.0/24") }, want: "subnet-2"},
		"discovery is off":         {off: true, with: func(n *node) { add(n, "subnet-2", here, "1", "10.1.0.0/24") }, want: "subnet-1"},
		"one without a tag":        {with: func(n *node) { add(n, "subnet-2", here, "", "10.1.0.0/24") }, want: "subnet-1"},
		"one of another zone":      {with: func(n *node) { add(n, "subnet-2", there, "1", "10.1.0.0/24") }, want: "subnet-1"},
		"one with fewer addresses": {with: func(n *node) { add(n, "subnet-2", here, "1", "10.1.0.0/28") }, want: "subnet-1"},
		"one that is taken out":    {with: func(n *node) { add(n, "subnet-2", here, "0", "10.1.0.0/24") }, want: "subnet-1"},
		"the best one has no /28": {with: func(n *node) {
			n.sizing.PrefixDelegation = true
			var taken []string // one of each /28
			for i := range 16 {
				taken = append(taken, fmt.Sprintf("10.1.0.%d", 16*i+8))
			}
			add(n, "subnet-2", here, "1", "10.1.0.0/24", taken...)
		}, want: "subnet-1"},
		"subnets are not described": {with: func(n *node) {
			add(n, "subnet-2", here, "1", "10.1.0.0/24")
			n.double.Play(endpoint.Fault{Action: "DescribeSubnets", Times: 1, Code: "UnauthorizedOperation"})
		}, want: "subnet-1"},
	} {
		t.Run(what, func(t *testing.T) {
			n := newNode(t, "10.0.0.0/25", ec2.RegionConfig{})
			n.discovery = !one.off
			one.with(n)
			n.sizing.UnitsPerENI = 2 // two interfaces are enough to see
			n.sizing.ENIsMax = 2
			n.sizing.MinimumIP = 3
			if n.sizing.PrefixDelegation {
				n.sizing.MinimumIP = 33
			}
			n.start(time.Minute)
			n.double.Ask(func(now time.Time, r *ec2.Region) {
				all, err := r.Interfaces(now)
				if err != nil || len(all) != 2 || all[1].Subnet != one.want {
					t.Errorf("%d interfaces, %v; want the second in %s: %+v", len(all), err, one.want, all)
				}
			})
		})
	}
}
