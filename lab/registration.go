package lab

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

var (
	_ timeline.Registrations = stage{}
	_ timeline.Renames       = stage{}
)

// registration is what a machine's Node object is called by.
type registration struct {
	// machine is the UID of the first one, and names the machine; later is that of the last one, nil where it is the first.
	machine string
	later   atomic.Pointer[string]
	// none: the object was deleted, and the machine goes on.
	none atomic.Bool
}

// uid is the UID of the node's object, or of its last one.
func (n *node) uid() string {
	if later := n.registration.later.Load(); later != nil {
		return *later
	}
	return n.registration.machine
}

// collectAfter is how long pods outlive their Node object: the quarantine of Kubernetes' pod garbage collector.
const collectAfter = 40 * time.Second

// Unregister implements timeline.Registrations.
func (st stage) Unregister(ctx context.Context, name string) error {
	n := st.node(name)
	n.registration.none.Store(true)
	st.held.Left(n.uid())
	st.After(collectAfter, "collect pods of "+name, func() {
		if st.node(name) == n && n.registration.none.Load() {
			for _, p := range st.pods.byNameOf(name) {
				st.removePod(p)
			}
		}
	})
	if st.source != nil {
		n.mu.Lock()
		n.podCIDRs = nil
		if controllers.Blocked(st.source.plan) {
			st.assigned(n, nil)
		} else {
			st.assign(n, nil) // what a controller has assigned goes with the object
		}
		n.mu.Unlock()
		st.source.leave(n)
	}
	n.publishing.Lock()
	defer n.publishing.Unlock()
	return st.control.deleteNode(ctx, name)
}

// Register implements timeline.Registrations.
func (st stage) Register(ctx context.Context, name string, podCIDRs []netip.Prefix) error {
	n := st.node(name)
	fresh := uuid.NewString()
	n.registration.later.Store(&fresh)
	n.mu.Lock()
	if st.source != nil || len(podCIDRs) > 0 {
		n.podCIDRs = podCIDRs
	}
	n.mu.Unlock()
	st.mu.Lock()
	n.cordoned = false
	st.mu.Unlock()
	n.registration.none.Store(false)
	if st.source != nil {
		st.source.join(n)
	}
	err := st.publishNode(ctx, n)
	st.schedule()
	return err
}

// JoinAs implements timeline.Renames: the agent finds the journal of the node that its machine was.
func (st stage) JoinAs(ctx context.Context, name, former string, podCIDRs []netip.Prefix) error {
	if err := st.Join(ctx, name, podCIDRs); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(st.node(former).dir, journalFile), filepath.Join(st.node(name).dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its agent never got to writing one
	}
	return err
}

// takesPods reports whether the scheduler may use a node. World.mu is held.
func (n *node) takesPods() bool { return n.isUp() && !n.cordoned && !n.registration.none.Load() }
