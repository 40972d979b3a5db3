package kube_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// Goal: whoever leads and whoever waits is ready and says which, also of the other; who hears nothing of its lease for
// as long as that lasts is not, until it does; and all of them are alive. The log is told of the silence once, and of
// its end. Method: two drivers, one of which is cut off and joined again.
func TestStanding(t *testing.T) {
	s := newServer(t)
	one, wireOne := s.dial(t)
	two, _ := s.dial(t)
	stand := func(lease *kube.Lease) (*kube.Lease, *kube.Standing) {
		lease.Standing = kube.NewStanding()
		return lease, lease.Standing
	}
	says := func(of *kube.Standing, want string) {
		t.Helper()
		var said string
		until(t, func() bool {
			text, err := of.Ready(t.Context())
			if said = text; err != nil {
				said = "not: " + err.Error()
			}
			return strings.HasPrefix(said, want)
		}, func() string { return fmt.Sprintf("it says %q, not %q", said, want) })
		if _, err := of.Alive(t.Context()); err != nil {
			t.Error(err)
		}
	}
	leaseOne, ofOne := stand(shortLease("one"))
	var log lockedBuffer
	says(ofOne, "not: the API server has not answered yet")
	drive(t, kube.Config{Client: one, New: ranges(4, false), Lease: leaseOne, Log: slog.New(slog.NewTextHandler(&log, nil))})
	says(ofOne, "leads by lease kube-system/node-ipam")
	leaseTwo, ofTwo := stand(shortLease("two"))
	drive(t, kube.Config{Client: two, New: ranges(4, false), Lease: leaseTwo})
	says(ofTwo, "waits for lease kube-system/node-ipam, which one holds")
	wireOne.Partition(apiserver.Vanish)
	says(ofTwo, "leads by lease")
	says(ofOne, "not: nothing was heard of lease kube-system/node-ipam for ")
	wireOne.Heal()
	says(ofOne, "waits for lease kube-system/node-ipam, which two holds")
	for line, n := range map[string]int{"the lease cannot be read or renewed; it is tried again": 1, "the lease can be read again": 1, "rror retrieving": 0, "eader lease...": 0} {
		if got := strings.Count(log.String(), line); got != n {
			t.Errorf("%q is told %d times:\n%s", line, got, log.String())
		}
	}
}

// lockedBuffer is a log that many write and one reads.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
