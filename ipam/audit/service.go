package audit

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// service is a Service, or a range of them.
type service struct {
	podName
	addrs []netip.Addr
	// shared are addresses of load balancers, which services may have together and nodes may lend.
	shared []netip.Addr
	cidrs  []netip.Prefix
}

func readService(o *Objects, one kubectl.Object) error {
	var spec struct {
		ClusterIP   string
		ClusterIPs  []string
		ExternalIPs []string
	}
	var status struct {
		LoadBalancer struct{ Ingress []struct{ IP string } }
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if err := kubectl.Decode(one.Status, &status); err != nil {
		return err
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	s := service{podName: podName{one.Metadata.Namespace, one.Metadata.Name}, addrs: kubectl.Addrs(spec.ClusterIPs...),
		shared: kubectl.Addrs(spec.ExternalIPs...)}
	for _, in := range status.LoadBalancer.Ingress {
		s.shared = append(s.shared, kubectl.Addrs(in.IP)...)
	}
	o.now.services = append(o.now.services, s)
	return nil
}

func readServiceCIDR(o *Objects, one kubectl.Object) error {
	var spec struct{ CIDRs []string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	cidrs, err := kubectl.Prefixes(spec.CIDRs)
	if len(cidrs) > 0 {
		o.now.services = append(o.now.services, service{podName: podName{name: one.Metadata.Name}, cidrs: cidrs})
	}
	return err
}

// addressClaim is what an IPAddress says: the service that has the address of its name.
type addressClaim struct {
	addr    netip.Addr
	service podName
}

func readIPAddress(o *Objects, one kubectl.Object) error {
	var spec struct {
		ParentRef struct{ Group, Resource, Namespace, Name string }
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	for _, a := range kubectl.Addrs(one.Metadata.Name) {
		if ref := spec.ParentRef; ref.Resource == "services" && ref.Group == "" {
			o.now.claims = &addressClaim{a, podName{ref.Namespace, ref.Name}}
		}
	}
	return nil
}
