package audit

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// readAntreaPool reads crd.antrea.io/v1beta1 and v1alpha2 alike: which ranges a pool has, and whose its addresses are.
func readAntreaPool(o *Objects, one kubectl.Object) error {
	var spec struct {
		IPRanges []struct{ CIDR, Start, End string }
	}
	var status struct {
		IPAddresses []struct {
			IPAddress, Phase string
			Owner            struct {
				Pod         *struct{ Name, Namespace, IFName string }
				StatefulSet *struct{ Name, Namespace string }
			}
		}
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if err := kubectl.Decode(one.Status, &status); err != nil {
		return err
	}
	by := "Antrea pool " + one.Metadata.Name
	for _, r := range spec.IPRanges {
		s := span{}
		if r.CIDR != "" {
			p, err := kubectl.Prefix(r.CIDR)
			if err != nil {
				return fmt.Errorf("spec.ipRanges: %w", err)
			}
			s = spanOf(p)
		} else {
			ends := kubectl.Addrs(r.Start, r.End)
			if len(ends) != 2 || ends[0].BitLen() != ends[1].BitLen() || ends[1].Less(ends[0]) {
				return fmt.Errorf("spec.ipRanges: %q to %q is no range", r.Start, r.End)
			}
			s = span{ends[0], ends[1]}
		}
		o.now.pools = append(o.now.pools, pool{by: "pool " + one.Metadata.Name, source: antrea, span: s, own: true})
		for _, p := range s.prefixes() {
			o.now.covers = append(o.now.covers, cover{prefix: p, by: by, source: antrea})
		}
	}
	for _, u := range status.IPAddresses {
		w := owner{kind: ofReserved}
		switch {
		case u.Owner.Pod != nil:
			w = owner{kind: ofPod, namespace: o.word(u.Owner.Pod.Namespace), name: u.Owner.Pod.Name,
				kept: u.Owner.StatefulSet != nil}
		case u.Owner.StatefulSet != nil:
			w.what = "StatefulSet " + u.Owner.StatefulSet.Namespace + "/" + u.Owner.StatefulSet.Name
		}
		for _, a := range kubectl.Addrs(u.IPAddress) {
			o.use(record{addr: a, owner: w, by: by, source: antrea})
		}
	}
	return nil
}

// prefixes are the fewest that make up a span.
func (s span) prefixes() (list []netip.Prefix) {
	for a := s.first; a.IsValid() && s.has(a); {
		p := netip.PrefixFrom(a, a.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(a, p.Bits()-1)
			if wider.Masked().Addr() != a || space.Last(wider).Compare(s.last) > 0 {
				break
			}
			p = wider
		}
		list = append(list, p)
		a = space.Last(p).Next()
	}
	return list
}
