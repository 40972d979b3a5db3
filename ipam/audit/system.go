package audit

import (
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/ipam/noun"
)

// source is who says which addresses nodes and pods have: Kubernetes, or a CNI.
type source uint8

const (
	nobody source = iota
	podCIDRs
	calico
	cilium
	aws
	ovnk
	kubeOVN
	antrea
	flannel
	kindnet
	kubeRouter
	weave
	azure
	whereabouts
	vppdrill
	// fromReaders are kinds that Objects.Readers add.
	fromReaders
	sources
)

// systems is a set of them.
type systems uint32

func (s *systems) add(o source) {
	if o != nobody {
		*s |= 1 << o
	}
}

func (s systems) has(o source) bool { return s&(1<<o) != 0 }

// system is what shows that a CNI is there, and where it keeps its records.
type system struct {
	name string
	// daemons are DaemonSets; keys begin the annotations of its nodes and pods; groups are of its objects.
	daemons, keys, groups []string
	// get is the command that gets its records; where no object has them, kept says where they are.
	get, kept string
	// shownKept is the same where its objects are there and say nothing of addresses in use.
	shownKept string
	// own: it has ranges of its own, which pod CIDRs are not.
	own bool
}

// known are the systems, by source.
var known = [sources]system{
	podCIDRs: {name: "Kubernetes' pod CIDRs"},
	calico: {name: "Calico", daemons: []string{"calico-node", "canal"}, keys: []string{"projectcalico.org/",
		"cni.projectcalico.org/"}, groups: []string{"crd.projectcalico.org"},
		get: "kubectl get ipamblocks.crd.projectcalico.org,blockaffinities.crd.projectcalico.org,ipamhandles.crd.projectcalico.org,ippools.crd.projectcalico.org,ipreservations.crd.projectcalico.org -o json", own: true},
	cilium: {name: "Cilium", daemons: []string{"cilium"}, keys: []string{"network.cilium.io/", "io.cilium.network."},
		groups:    []string{"cilium.io"},
		get:       "kubectl get ciliumnodes.cilium.io,ciliumpodippools.cilium.io -o json",
		shownKept: "Cilium's agents keep the addresses in use to themselves in this mode: no object shows them",
		own:       true},
	aws: {name: "AWS VPC CNI", daemons: []string{"aws-node"}, keys: []string{"vpc.amazonaws.com/pod-"},
		groups: []string{"crd.k8s.amazonaws.com", "vpcresources.k8s.aws"},
		get:    "curl -s http://localhost:61679/v1/enis on each node", kept: "ipamd keeps its records on the nodes", own: true},
	ovnk: {name: "OVN-Kubernetes", daemons: []string{"ovnkube-node", "ovnkube-db"}, keys: []string{"k8s.ovn.org/"},
		groups: []string{"k8s.ovn.org"},
		kept:   "OVN-Kubernetes keeps its records in OVN's databases", own: true},
	kubeOVN: {name: "kube-ovn", daemons: []string{"kube-ovn-cni", "ovs-ovn"}, keys: []string{"ovn.kubernetes.io/"},
		groups: []string{"kubeovn.io"},
		get:    "kubectl get subnets.kubeovn.io,ips.kubeovn.io,vpcs.kubeovn.io -o json", own: true},
	antrea: {name: "Antrea", daemons: []string{"antrea-agent"}, keys: []string{"node.antrea.io/", "ipam.antrea.io/"},
		groups: []string{"crd.antrea.io"},
		get:    "kubectl get ippools.crd.antrea.io -o json", own: true},
	flannel: {name: "flannel", daemons: []string{"kube-flannel-ds", "kube-flannel"},
		keys: []string{"flannel.alpha.coreos.com/"},
		kept: "flannel's host-local keeps its records in files of the nodes (/var/lib/cni/networks)"},
	kindnet: {name: "kindnet", daemons: []string{"kindnet"},
		kept: "kindnet's host-local keeps its records in files of the nodes (/var/lib/cni/networks)"},
	kubeRouter: {name: "kube-router", daemons: []string{"kube-router"},
		kept: "kube-router's host-local keeps its records in files of the nodes (/var/lib/cni/networks)"},
	weave: {name: "Weave Net", daemons: []string{"weave-net"}, kept: "Weave Net keeps its records on the nodes",
		own: true},
	azure: {name: "Azure CNI", daemons: []string{"azure-cns", "azure-cni-networkmonitor"},
		groups: []string{"acn.azure.com"}, kept: "Azure CNI keeps its records on the nodes", own: true},
	whereabouts: {name: "whereabouts", daemons: []string{"whereabouts"}, groups: []string{"whereabouts.cni.cncf.io"},
		get: "kubectl get ippools.whereabouts.cni.cncf.io,overlappingrangeipreservations.whereabouts.cni.cncf.io -A -o json"},
	vppdrill: {name: "vppdrill", daemons: []string{"vppdrill-agent"}, groups: []string{"vppdrill.github.io"},
		get:       "kubectl get nodeidrecords.vppdrill.github.io,poolnodes.vppdrill.github.io -o json",
		shownKept: "vppdrill's agents keep the addresses in use in their journals: no object shows them"},
	fromReaders: {name: "further records"},
}

func systemOf(match func(system) bool) source {
	if i := slices.IndexFunc(known[:], match); i >= 0 {
		return source(i)
	}
	return nobody
}

// byDaemon and byKey find a system by its DaemonSet, and by the domain of an annotation; longer keys are tried one by
// one.
var byDaemon, byKey, longKeys = func() (daemons, keys, long map[string]source) {
	daemons, keys, long = map[string]source{}, map[string]source{}, map[string]source{}
	for i, s := range known {
		for _, d := range s.daemons {
			daemons[d] = source(i)
		}
		for _, k := range s.keys {
			if strings.HasSuffix(k, "/") {
				keys[k] = source(i)
			} else {
				long[k] = source(i)
			}
		}
	}
	return daemons, keys, long
}()

// systemOfKey is whose an annotation is.
func systemOfKey(key string) source {
	if s := byKey[key[:strings.IndexByte(key, '/')+1]]; s != nobody {
		return s
	}
	for k, s := range longKeys { //vppdrill:unordered none of them begins another
		if strings.HasPrefix(key, k) {
			return s
		}
	}
	return nobody
}

// systemOfDaemon is whose a pod is, by its DaemonSet, or by its name where it does not say one.
func systemOfDaemon(m kubectl.Metadata) source {
	switch {
	case len(m.Owners) == 0:
		return byDaemon[m.Name[:max(0, strings.LastIndexByte(m.Name, '-'))]]
	case m.Owners[0].Kind == "DaemonSet":
		return byDaemon[m.Owners[0].Name]
	}
	return nobody
}

// systemOfGroup is whose objects of an API group are.
func systemOfGroup(group string) source {
	if group == "" {
		return nobody
	}
	return systemOf(func(s system) bool { return slices.Contains(s.groups, group) })
}

// evidence counts what shows a system.
type evidence struct{ nodes, pods, objects, daemons int }

func (e evidence) String() string {
	var words []string
	for _, w := range []struct {
		n    int
		what string
	}{{e.objects, "object"}, {e.daemons, "DaemonSet"}, {e.nodes, "node with its annotations"}, {e.pods,
		"pod of it or with its annotations"}} {
		if w.n > 0 {
			words = append(words, count(w.n, w.what))
		}
	}
	return strings.Join(words, ", ")
}

// count is a number of things, whose name may go on behind its first word.
func count(n int, what string) string {
	first, rest, more := strings.Cut(what, " ")
	if more {
		rest = " " + rest
	}
	return noun.Count(n, first) + rest
}

// shown counts, by system, what of the objects shows it.
func (o *Objects) shown() (list [sources]evidence) {
	for _, n := range o.nodes { //vppdrill:unordered a sum
		for s := range sources {
			if n.shows.has(s) {
				list[s].nodes++
			}
		}
	}
	for i := range o.pods {
		if o.pods[i].shows == 0 {
			continue
		}
		for s := range sources {
			if o.pods[i].shows.has(s) {
				list[s].pods++
			}
		}
	}
	for _, p := range o.parts { //vppdrill:unordered a sum
		kind, group, _ := strings.Cut(p.kind, ".")
		s := systemOfGroup(group)
		if group == "" && p.read { // objects that do not say their group
			s = systemOfBare(kind, p)
		}
		if kind == "DaemonSet" {
			s = systemOf(func(y system) bool { return slices.Contains(y.daemons, p.daemon) })
			list[s].daemons++
		} else {
			list[s].objects++
		}
	}
	list[nobody] = evidence{}
	return list
}

// systemOfBare is whose an object is that says no group: whose its ranges and records are.
func systemOfBare(kind string, p *part) source {
	switch {
	case kind == kubectl.IPAMD:
		return aws
	case len(p.ranges) > 0:
		return p.ranges[0].source
	case len(p.records) > 0:
		return p.records[0].source
	case len(p.pools) > 0:
		return p.pools[0].source
	case len(p.covers) > 0:
		return p.covers[0].source
	}
	return nobody
}
