package controllers

import (
	"strings"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// blockWatch reports blocks to a machine.
type blockWatch func(calico.Event)

// Listed implements cluster.Handler.
func (w blockWatch) Listed(objects []cluster.Object, _ int64) {
	var list []calico.Stored
	for _, o := range objects {
		if s, ok := storedBlock(o); ok {
			list = append(list, s)
		}
	}
	w(calico.BlocksListed{Blocks: list})
}

// Changed implements cluster.Handler.
func (w blockWatch) Changed(ch cluster.Change) {
	switch s, ok := storedBlock(ch.Object); {
	case !ok:
	case ch.Type == cluster.Deleted:
		w(calico.BlockGone{Block: s})
	default:
		w(calico.BlockSeen{Block: s})
	}
}

// nodeWatch reports incarnations of nodes to a machine: of all, or of the one that has the name.
type nodeWatch struct {
	name string
	tell func(calico.Event)
}

// Listed implements cluster.Handler.
func (w nodeWatch) Listed(objects []cluster.Object, _ int64) {
	var hosts []string
	for _, o := range objects {
		if n := o.(*cluster.Node); w.name == "" || w.name == n.Name {
			w.labels(n)
			hosts = append(hosts, hostName(n))
		}
	}
	w.tell(calico.NodesListed{Hosts: hosts})
}

// Changed implements cluster.Handler.
func (w nodeWatch) Changed(ch cluster.Change) {
	switch n := ch.Object.(*cluster.Node); {
	case w.name != "" && w.name != n.Name:
	case ch.Type == cluster.Deleted:
		w.tell(calico.NodeGone{Host: hostName(n)})
	default:
		w.labels(n)
		w.tell(calico.NodeSeen{Host: hostName(n)})
	}
}

// labels tells those of the one node, before it may be decided about.
func (w nodeWatch) labels(n *cluster.Node) {
	if w.name != "" {
		w.tell(calico.Labelled{Labels: map[string]string{scenarios.HostnameLabel: n.Name}})
	}
}

// hostName names one incarnation of a node, nodeName its node.
func hostName(n *cluster.Node) string { return n.Name + "/" + n.UID }

func nodeName(host string) string {
	name, _, _ := strings.Cut(host, "/")
	return name
}

// blockOf is the block of a resource, storedBlock the same with its version.
func blockOf(o cluster.Object) (calico.Block, bool) {
	s, ok := storedBlock(o)
	return s.Block, ok
}

func storedBlock(o cluster.Object) (s calico.Stored, ok bool) {
	r, is := o.(*cluster.Resource)
	if !is {
		return s, false
	}
	s.Block, ok = r.Value.(calico.Block)
	s.UID, s.Version = r.UID, r.ResourceVersion
	return s, ok
}

// blockRequests are what requests to write blocks are called.
var blockRequests = map[calico.Purpose]string{calico.Assign: blockAssign, calico.Release: blockRelease, calico.Tend: blockTend}

// writeBlock writes a block, unless another writer was faster.
func writeBlock(e calico.WriteBlock) func(*cluster.API) (cluster.Object, error) {
	return func(a *cluster.API) (cluster.Object, error) {
		for _, host := range e.Unless {
			if n, ok := a.Node(nodeName(host)); ok && hostName(n) == host {
				return nil, cluster.ErrConflict
			}
		}
		r := &cluster.Resource{Meta: cluster.Meta{Name: e.Block.CIDR.String(), UID: e.Block.UID, ResourceVersion: e.Block.Version}, Value: e.Block.Block}
		switch e.Op {
		case calico.Create:
			return r, a.Create(r)
		case calico.Update:
			return r, a.Update(r)
		}
		switch have, ok := a.Get(cluster.KindResource, r.Key()); {
		case !ok:
			return nil, cluster.ErrNotFound
		case have.Common().ResourceVersion != r.ResourceVersion:
			return nil, cluster.ErrConflict
		}
		return nil, a.Delete(cluster.KindResource, r.Key(), r.UID)
	}
}

// wroteBlock is what became of that.
func wroteBlock(o cluster.Object, err error) calico.Wrote {
	s, _ := storedBlock(o)
	return calico.Wrote{Outcome: outcome(err), Block: s}
}
