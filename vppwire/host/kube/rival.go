package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrRival: another controller does what this one does, and both would give blocks to nodes.
var ErrRival = errors.New("another controller gives nodes blocks beside this one")

// What controllers write that one of them alone may, as labels of the leases that they hold, whose value is then
// writes: who else does is found by them.
const (
	// WritesPodCIDRs: the pod CIDRs of Node objects.
	WritesPodCIDRs = "vppdrill.github.io/writes-pod-cidrs"
	// WritesLedger: the ledger of blocks that pools give, of which a cluster has one.
	WritesLedger = "vppdrill.github.io/writes-ledger"
	// WritesAddresses: the pools of CiliumNodes, whose addresses one keeper gives.
	WritesAddresses = "vppdrill.github.io/writes-addresses"
	// WritesBlocks: Calico's blocks of nodes that are gone.
	WritesBlocks = "vppdrill.github.io/writes-blocks"
)

// writes and writesNot are the labels' values. One that does not hold is written as well: the lease may have it of a
// holder of another type.
const (
	writes    = "true"
	writesNot = "false"
)

// labels are those of the lease of one who looks for others; nil where nobody is looked for.
func (e electorate) labels() map[string]string {
	if len(e.lease.Writes) == 0 {
		return nil
	}
	labels := map[string]string{WritesPodCIDRs: writesNot, WritesLedger: writesNot, WritesAddresses: writesNot, WritesBlocks: writesNot}
	for _, what := range e.lease.Writes {
		labels[what] = writes
	}
	return labels
}

// rivalPatience is how long a lease of another may take to be renewed at most: one that lasts longer than any
// controller's is nobody's.
const rivalPatience = time.Minute

// others are the leases under which other controllers do the same, by namespace and name, with this one's own among
// them where it holds it.
func (e electorate) others(ctx context.Context) (map[string]coordinationv1.Lease, error) {
	found := map[string]coordinationv1.Lease{}
	for _, what := range e.lease.Writes {
		list, err := e.client.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{LabelSelector: what + "=" + writes})
		if err != nil {
			return nil, err
		}
		for _, l := range list.Items {
			if holder(l) != "" {
				found[l.Namespace+"/"+l.Name] = l
			}
		}
	}
	return found, nil
}

func holder(l coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// renewed reports whether a holder lives: it has written the lease between two looks at it. Clocks are not asked, as no
// two need agree.
func renewed(before, now coordinationv1.Lease) bool {
	return before.UID == now.UID && before.ResourceVersion != now.ResourceVersion
}

// rival is the line about another that lives.
func (e electorate) rival(name string, l coordinationv1.Lease) error {
	return fmt.Errorf("%w: %s holds lease %s and renews it, and this one is for lease %s: end that one, or, being of one type, wait for its lease with --lease %s",
		ErrRival, holder(l), name, e.own(), name)
}

func (e electorate) own() string { return e.lease.Namespace + "/" + e.lease.Name }

// alone looks before anything is done whether somebody holds another lease to do the same, for as long as it takes to
// see it renewed or run out. A server that does not answer has said nothing; who leads goes on looking.
func (e electorate) alone(ctx context.Context) error {
	first, err := e.others(ctx)
	if err != nil {
		return nil
	}
	delete(first, e.own())
	for began := e.clock.now(); len(first) > 0; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(e.lease.RetryPeriod):
		}
		now, err := e.others(ctx)
		if err != nil {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			l, held := now[name]
			if held && renewed(first[name], l) {
				return e.rival(name, l)
			}
			lasts := rivalPatience
			if d := l.Spec.LeaseDurationSeconds; d != nil {
				lasts = min(lasts, time.Duration(*d)*time.Second)
			}
			if !held || e.clock.now().Sub(began) > lasts {
				delete(first, name)
			}
		}
	}
	return nil
}

// watchOthers ends a term when somebody else leads by another lease who began before it: of two that began at once,
// both see the same two leases, and one of them ends.
func (e electorate) watchOthers(ctx context.Context, end func(error)) {
	var before map[string]coordinationv1.Lease
	for {
		now, err := e.others(ctx)
		mine, lead := now[e.own()]
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if l := now[name]; err == nil && lead && name != e.own() && renewed(before[name], l) && older(l, mine) {
				end(e.rival(name, l))
				return
			}
		}
		before = now
		select {
		case <-ctx.Done():
			return
		case <-time.After(e.lease.Duration):
		}
	}
}

// older reports whether a lease was taken before another; which clock wrote when does not matter, as long as all see
// the same.
func older(a, b coordinationv1.Lease) bool {
	var at, bt time.Time
	if a.Spec.AcquireTime != nil {
		at = a.Spec.AcquireTime.Time
	}
	if b.Spec.AcquireTime != nil {
		bt = b.Spec.AcquireTime.Time
	}
	if c := at.Compare(bt); c != 0 {
		return c < 0
	}
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) < 0
}
