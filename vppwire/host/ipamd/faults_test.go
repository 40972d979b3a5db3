package ipamd_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
)

// Goal: whatever EC2 does to one request, every pod keeps its address, none has another one's, and in the end the daemon and EC2 agree and
// nothing is left behind. Method: each request of a node's life, throttled, refused for a failure of EC2's servers, done without an
// answer, or done and answered late, before and behind the time at which it is given up, once and five times.
func TestDaemonOutlivesFaults(t *testing.T) {
	actions := []string{"DescribeNetworkInterfaces", "CreateNetworkInterface", "AttachNetworkInterface", "ModifyNetworkInterfaceAttribute",
		"AssignPrivateIpAddresses", "UnassignPrivateIpAddresses", "DetachNetworkInterface", "DeleteNetworkInterface", endpoint.Metadata}
	faults := map[string]endpoint.Fault{
		"throttled": {Code: ec2.CodeThrottled}, "failed": {Code: ec2.CodeInternal}, "unanswered": {Lost: true},
		"slow": {Late: 20 * time.Second}, "late": {Late: 3 * time.Minute},
	}
	for _, action := range actions {
		for name, f := range faults {
			for _, times := range []int{1, 5} {
				t.Run(fmt.Sprintf("%s/%s/%d", action, name, times), func(t *testing.T) {
					n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{AttachDelay: 3 * time.Second, MetadataLag: 2 * time.Second, ReadLag: time.Second})
					n.sizing.WarmIP = 3
					n.start(0)
					f.Action, f.Times = action, times
					n.double.Play(f)
					n.live()
				})
			}
		}
	}
}

// live lets pods come and go on three interfaces, and checks all along that they have what is theirs.
func (n *node) live() {
	pods := map[string]netip.Addr{}
	add := func(name string) {
		for range 100 { // a kubelet tries again
			if a, err := n.Assign(key(name)); err == nil {
				pods[name] = a.Address
				return
			}
			n.run(20 * time.Second)
		}
		n.Errorf("%s gets no address", name)
	}
	for k := range 22 {
		add(fmt.Sprint("pod-", k))
		n.whole(pods)
	}
	n.run(2 * time.Minute)
	n.whole(pods)
	for k := range 20 {
		name := fmt.Sprint("pod-", k)
		if _, err := n.Release(key(name)); err != nil {
			n.Errorf("%s: %v", name, err)
		}
		delete(pods, name)
	}
	n.run(25 * time.Minute)
	n.whole(pods)
	if got := n.total(); got > 2+3+1 {
		n.Errorf("%d addresses for 2 pods and 3 warm ones", got)
	}
	if left := n.loose(); left > 0 {
		n.Errorf("%d interfaces are attached to nothing", left)
	}
	n.secretless()
}

// A metadata service that hangs holds up nothing but itself: pods get what is there, and the daemon looks again.
func TestDaemonOutlivesHangingMetadata(t *testing.T) {
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{})
	n.start(time.Minute)
	n.double.Play(endpoint.Fault{Action: endpoint.Metadata, Times: 1, Hangs: true})
	ctx, cancel := context.WithCancel(n.Context())
	cancel() // the end of a request's time comes at once
	n.Turn(ctx, &n.clock, n.clock.Now().Add(2*time.Minute))
	pods := map[string]netip.Addr{"web": n.pod("web")}
	n.run(time.Hour)
	n.whole(pods)
	n.total()
	if !strings.Contains(n.log.String(), "read-imds") {
		t.Error("nobody is told")
	}
}
