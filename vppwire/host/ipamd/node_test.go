package ipamd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
)

const accessKey, secretKey = "AKIATESTSOFIPAMD", "secret-of-tests-of-ipamd"

// node is an instance of a double of EC2 with a daemon, whose clock is the test's. The daemon asks the double by AWS' own SDK.
type node struct {
	*testing.T
	clock  ipamd.Clock
	double *endpoint.Server
	host   *ec2.Host
	subnet *ec2.Subnet
	sizing datastore.Sizing
	// discovery has new interfaces in tagged subnets.
	discovery bool
	file      string
	fs        datastore.FS
	log       bytes.Buffer
	*ipamd.Daemon
}

// newNode is an m5.large, 3 interfaces of 9 addresses for pods, in a subnet. Start starts its daemon.
func newNode(t *testing.T, subnet string, cfg ec2.RegionConfig) *node {
	n := &node{T: t, file: filepath.Join(t.TempDir(), "ipam.json"), fs: ipamd.Disk{}}
	n.clock.Set(time.Unix(1700000000, 0).UTC())
	limits := datastore.Limits{ENIs: 3, IPv4PerENI: 10}
	n.sizing = datastore.Sizing{Targets: datastore.DefaultTargets(), ENIsMax: limits.ENIs, UnitsPerENI: limits.IPv4PerENI - 1}
	region := ec2.NewRegion(cfg)
	n.subnet = ec2.NewSubnet(netip.MustParsePrefix(subnet))
	region.AddSubnet(ec2.Place{ID: "subnet-1", Zone: "eu-central-1a", Subnet: n.subnet})
	var err error
	if n.host, err = region.Launch(n.clock.Now(), "m5.large", "subnet-1", ec2.Limits(limits)); err != nil {
		t.Fatal(err)
	}
	n.double = endpoint.New(endpoint.Config{Region: region, Name: "eu-central-1", AccessKey: accessKey, SecretKey: secretKey, Now: n.clock.Now,
		Wait:  func(_ context.Context, d time.Duration) { n.clock.Set(n.clock.Now().Add(d)) },
		Types: func(string) (ec2.Limits, bool) { return ec2.Limits(limits), true }})
	api, metadata := httptest.NewServer(n.double.API()), httptest.NewServer(n.double.Metadata(n.host.ID))
	t.Cleanup(api.Close)
	t.Cleanup(metadata.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_EC2": api.URL, "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL, "AWS_REGION": "eu-central-1",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return n
}

// start starts a daemon, in the place of the one before, and lets it run for so long.
func (n *node) start(for_ time.Duration) {
	n.Helper()
	log := slog.New(slog.NewTextHandler(&n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var figures *ipamd.Metrics
	cloud, err := aws.Connect(n.Context(), aws.Config{Log: log, SubnetDiscovery: n.discovery, Sleep: func(_ context.Context, d time.Duration) { n.clock.Set(n.clock.Now().Add(d)) },
		Requested: func(name string, took time.Duration, err error) { figures.Requested(name, took, err) }})
	if err != nil {
		n.Fatal(err)
	}
	n.Daemon = ipamd.New(ipamd.Config{Cloud: cloud, Sizing: n.sizing, Checkpoint: datastore.NewJSONFile(n.fs, n.file), Log: log, Now: n.clock.Now})
	figures = n.Metrics()
	n.run(for_)
}

func (n *node) run(for_ time.Duration) { n.Turn(n.Context(), &n.clock, n.clock.Now().Add(for_)) }

func key(pod string) datastore.IPAMKey {
	return datastore.IPAMKey{NetworkName: "net", ContainerID: pod, IfName: "eth0"}
}

// pod wires a pod and returns its address.
func (n *node) pod(name string) netip.Addr {
	n.Helper()
	a, err := n.Assign(key(name))
	if err != nil {
		n.Fatalf("%s: %v", name, err)
	}
	return a.Address
}

// whole checks what must hold whatever happened: each pod's address is its own and attached, and the disk has it.
func (n *node) whole(pods map[string]netip.Addr) {
	n.Helper()
	var attached []netip.Prefix
	for _, e := range n.host.Attached() {
		attached = append(attached, e.Units...)
	}
	holders := map[netip.Addr]string{}
	for name, a := range pods {
		if other, twice := holders[a]; twice {
			n.Errorf("%s has %s, and so has %s", name, a, other)
		}
		holders[a] = name
		if !slices.ContainsFunc(attached, func(p netip.Prefix) bool { return p.Contains(a) }) {
			n.Errorf("%s has %s, which is attached to no interface", name, a)
		}
	}
	text, err := os.ReadFile(n.file)
	if err != nil && len(pods) > 0 {
		n.Fatal(err)
	}
	var d datastore.CheckpointData
	if err := json.Unmarshal(text, &d); err != nil && len(pods) > 0 {
		n.Fatal(err)
	}
	written := map[string]netip.Addr{}
	for _, e := range d.Allocations {
		written[e.ContainerID] = e.IPv4
	}
	for name, a := range pods {
		if written[name] != a {
			n.Errorf("%s has %s, and the checkpoint says %s", name, a, written[name])
		}
	}
	if len(written) != len(pods) {
		n.Errorf("%d pods, and the checkpoint has %d", len(pods), len(written))
	}
}

// total is how many addresses the store and EC2 have for pods; they must agree.
func (n *node) total() int {
	n.Helper()
	theirs := 0
	for _, e := range n.host.Attached() {
		for _, u := range e.Units {
			theirs += 1 << (32 - u.Bits())
		}
	}
	var ours struct{ TotalIPs int }
	if err := json.Unmarshal([]byte(n.shown("/v1/enis")), &ours); err != nil {
		n.Fatal(err)
	}
	if ours.TotalIPs != theirs {
		n.Errorf("the daemon believes in %d addresses, and EC2 has %d", ours.TotalIPs, theirs)
	}
	return ours.TotalIPs
}

// shown is what introspection answers.
func (n *node) shown(path string) string {
	n.Helper()
	w := httptest.NewRecorder()
	n.Introspection().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		n.Errorf("%s: %d", path, w.Code)
	}
	return w.Body.String()
}

// loose is how many interfaces are attached to nothing.
func (n *node) loose() (count int) {
	n.double.Ask(func(now time.Time, r *ec2.Region) {
		all, _ := r.Interfaces(now)
		for _, i := range all {
			if i.Loose(now) {
				count++
			}
		}
	})
	return count
}

// secretless checks that nothing that others read names a credential.
func (n *node) secretless() {
	n.Helper()
	file, _ := os.ReadFile(n.file)
	for what, text := range map[string]string{"the log": n.log.String(), "the checkpoint": string(file), "/v1/enis": n.shown("/v1/enis"), "/metrics": n.shown("/metrics")} {
		for _, secret := range []string{accessKey, secretKey, "session-"} {
			if strings.Contains(text, secret) {
				n.Errorf("%s has %s", what, secret)
			}
		}
	}
}
