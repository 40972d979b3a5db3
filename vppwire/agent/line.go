package agent

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// line builds canonical text: words separated by single spaces, "-" for what is absent, quotes only where free text is.
// It appends to the caller's bytes, as events and effects are printed once for each step of a run.
type line []byte

func (l line) word(s string) line {
	if len(l) > 0 && l[len(l)-1] != ' ' && l[len(l)-1] != '=' {
		l = append(l, ' ')
	}
	if s == "" {
		return append(l, '-')
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '"' || c >= 0x7f {
			return strconv.AppendQuote(l, s)
		}
	}
	return append(l, s...)
}

// key starts a "name=" whose value comes next.
func (l line) key(name string) line {
	if len(l) > 0 && l[len(l)-1] != ' ' {
		l = append(l, ' ')
	}
	l = append(l, name...)
	return append(l, '=')
}

func (l line) text(name, value string) line {
	if value == "" {
		return l
	}
	return l.key(name).word(value)
}

func (l line) uint(name string, n uint64) line { return strconv.AppendUint(l.key(name), n, 10) }

func (l line) int(name string, n int64) line { return strconv.AppendInt(l.key(name), n, 10) }

func (l line) flag(name string, on bool) line {
	if !on {
		return l
	}
	return l.word(name)
}

func (l line) owner(o ipam.Owner) line {
	if len(l) > 0 && l[len(l)-1] != ' ' {
		l = append(l, ' ')
	}
	l = append(l, o.Network...)
	l = append(l, '/')
	l = append(l, o.ContainerID...)
	l = append(l, '/')
	return append(l, o.IfName...)
}

func (l line) addr(name string, a netip.Addr) line {
	if !a.IsValid() {
		return l
	}
	return a.AppendTo(l.key(name))
}

func (l line) prefix(name string, p netip.Prefix) line {
	if !p.IsValid() {
		return l
	}
	return p.AppendTo(l.key(name))
}

func (l line) addrs(name string, list []netip.Addr) line {
	if len(list) == 0 {
		return l
	}
	l = l.key(name)
	for i, a := range list {
		if i > 0 {
			l = append(l, ',')
		}
		l = a.AppendTo(l)
	}
	return l
}

func (l line) names(list []service.Name) line {
	for _, n := range list {
		l = l.word(n.String())
	}
	return l
}

// labels appends labels in the order of their keys.
func (l line) labels(all map[string]string) line {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		l = l.key("label:" + k).word(all[k])
	}
	return l
}

func (l line) prefixes(name string, list []netip.Prefix) line {
	if len(list) == 0 {
		return l
	}
	l = l.key(name)
	for i, p := range list {
		if i > 0 {
			l = append(l, ',')
		}
		l = p.AppendTo(l)
	}
	return l
}

func (l line) time(name string, t time.Time) line {
	if t.IsZero() {
		return l
	}
	return strconv.AppendInt(l.key(name), t.UnixNano(), 10)
}

func (l line) err(err error) line {
	if err == nil {
		return l.word("ok")
	}
	return strconv.AppendQuote(l.key("err"), err.Error())
}

func (l line) sandbox(s Sandbox) line {
	l = l.owner(s.Owner).text("netns", s.Netns).text("ns", s.PodNamespace).text("pod", s.PodName).text("uid", s.PodUID)
	if s.Memif != 0 {
		l = l.word(s.Memif.String())
	}
	return l
}

func (l line) pools(p Pools) line {
	l = l.int("generation", p.Generation).prefix("pods", p.PodSubnet).int("pod-len", int64(p.PodSubnetOneNodePrefixLen))
	l = l.prefix("hosts", p.VPPHostSubnet).int("host-len", int64(p.VPPHostSubnetOneNodeLen))
	l = l.prefix("nodes", p.NodeInterconnect).prefix("vxlan", p.VXLAN).prefix("services", p.Service)
	l = l.addr("gateway", p.DefaultGateway).flag("external", p.External)
	if s := p.Second; p.Dual() {
		l = l.prefix("second-pods", s.PodSubnet).int("second-pod-len", int64(s.PodSubnetOneNodePrefixLen))
		l = l.prefix("second-hosts", s.VPPHostSubnet).int("second-host-len", int64(s.VPPHostSubnetOneNodeLen))
		l = l.prefix("second-nodes", s.NodeInterconnect).prefix("second-vxlan", s.VXLAN).prefix("second-services", s.Service)
		l = l.addr("second-gateway", s.DefaultGateway)
	}
	return l
}
