package linux

import (
	"fmt"
	"net/netip"
	"os"
)

// enable6 makes a link take an address of IPv6, which runtimes and machines may have switched off. What routers say is
// not heard: VPP advertises itself to pods, whose routes are the agent's affair.
func (p *place) enable6(link string, a netip.Prefix) error {
	if a.Addr().Is4() {
		return nil
	}
	return p.within(func() error {
		for _, s := range [...]struct{ key, value string }{{"accept_ra", "0"}, {"disable_ipv6", "0"}} {
			if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+link+"/"+s.key, []byte(s.value), 0); err != nil {
				return fmt.Errorf("switch IPv6 of link %s in %s on: %w", link, p, err)
			}
		}
		return nil
	})
}
