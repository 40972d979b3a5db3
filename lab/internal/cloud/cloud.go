package cloud

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
)

// Config describes a Cloud. All fields are needed.
type Config struct {
	// Dir is where its API's socket is.
	Dir  string
	Plan scenarios.IPAM
	// Now is the scenario's time.
	Now func() time.Time
}

// Names of the one account; only who reads them of the metadata service can ask.
const (
	region, zonePrefix   = "eu-central-1", "eu-central-1"
	accessKey, secretKey = "AKIAVPPDRILLDOUBLE00", "of-no-account"
)

// Cloud is one region.
type Cloud struct {
	cfg    Config
	limits datastore.Limits
	net    *ec2.Network
	server *endpoint.Server
	region *ec2.Region
	api    *http.Server

	mu        sync.Mutex
	instances map[string]*instance // by node
}

// instance is a node's.
type instance struct {
	host     *ec2.Host
	metadata *http.Server
	tell     func(units []netip.Prefix)
}

// New serves a region without instances.
func New(cfg Config) (*Cloud, error) {
	plan, err := cfg.Plan.Plan()
	if err != nil {
		return nil, err
	}
	ranges, err := blockranges.Start(cfg.Plan)
	if err != nil {
		return nil, err
	}
	d := cfg.Plan.Datastore
	c := &Cloud{cfg: cfg, instances: make(map[string]*instance)}
	var known bool
	if c.limits, known = datastore.LimitsOf(d.InstanceType); !known {
		return nil, fmt.Errorf("no instance type %s", d.InstanceType)
	}
	rc := ec2.RegionConfig{AttachDelay: d.AttachDelay, MetadataLag: d.MetadataLag, Changed: c.changed}
	if rate := float64(d.Requests); rate > 0 {
		rc.Account = ec2.NewAccount(cfg.Now(), rate, 2*rate)
	}
	c.region = ec2.NewRegion(rc)
	var zones []ec2.ZoneConfig
	for _, z := range d.Subnets {
		zones = append(zones, ec2.ZoneConfig(z))
	}
	c.net = ec2.NewNetwork(zones, plan.PodSubnet, ranges)
	if cfg.Plan.System == scenarios.Cilium { // the handshake needs a cloud that does not reassign an address while it is being freed
		for _, z := range c.net.Zones {
			z.Pods.Rotate()
		}
	}
	for n, z := range c.net.Zones {
		c.region.AddSubnet(ec2.Place{ID: nodesSubnet(n), Zone: zoneName(n), Subnet: z.Nodes})
		if z.Pods != z.Nodes {
			c.region.AddSubnet(ec2.Place{ID: podsSubnet(n), Zone: zoneName(n), Subnet: z.Pods})
		}
	}
	c.server = endpoint.New(endpoint.Config{Region: c.region, Name: region, AccessKey: accessKey, SecretKey: secretKey, Now: cfg.Now,
		Types: func(name string) (ec2.Limits, bool) { l, ok := datastore.LimitsOf(name); return ec2.Limits(l), ok }})
	c.api, err = serve(c.API(), c.server.API())
	return c, err
}

func zoneName(n int) string    { return zonePrefix + string(rune('a'+n)) }
func nodesSubnet(n int) string { return "subnet-" + strconv.Itoa(n+1) }
func podsSubnet(n int) string  { return "subnet-" + strconv.Itoa(n+1) + "-pods" }

// serve answers on a unix socket.
func serve(socket string, h http.Handler) (*http.Server, error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // until it is closed
	return s, nil
}

// API is the socket of EC2's endpoint.
func (c *Cloud) API() string { return filepath.Join(c.cfg.Dir, "ec2.sock") }

// Operator is how a program asks that is on no instance.
func (c *Cloud) Operator() (where, key, secret string) { return region, accessKey, secretKey }

// Asked is how often each action was asked for, the metadata service among them.
func (c *Cloud) Asked() map[string]int { return c.server.Asked() }

// ProviderID is what a node's Node object calls its instance, "" where it has none.
func (c *Cloud) ProviderID(node string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.instances[node]
	if i == nil {
		return ""
	}
	return "aws:///" + i.host.Zone + "/" + i.host.ID
}

// PodSubnet is where a node's interfaces are but for the first, "" where they are beside that one.
func (c *Cloud) PodSubnet(node string) string {
	n := c.net.ZoneOf(node)
	if z := c.net.Zones[n]; z.Pods == z.Nodes {
		return ""
	}
	return podsSubnet(n)
}

// Limits are what each instance may have.
func (c *Cloud) Limits() datastore.Limits { return c.limits }

// Launch starts a node's instance, whose metadata service answers on a socket. tell is called with what EC2 has assigned to it whenever
// that changes, ascending by interface; it must not ask the Cloud. Error: result.ErrNoMachine when its subnet is full.
func (c *Cloud) Launch(node, metadata string, tell func(units []netip.Prefix)) error {
	i := &instance{tell: tell}
	var err error
	c.server.Ask(func(now time.Time, r *ec2.Region) {
		i.host, err = r.Launch(now, c.cfg.Plan.Datastore.InstanceType, nodesSubnet(c.net.ZoneOf(node)), ec2.Limits(c.limits))
	})
	if full := (*ec2.APIError)(nil); errors.As(err, &full) && full.Code == ec2.CodeSubnetFull {
		return fmt.Errorf("launch %s: %w: %w", node, result.ErrNoMachine, err)
	}
	if err != nil {
		return fmt.Errorf("launch %s: %w", node, err)
	}
	if i.metadata, err = serve(metadata, c.server.Metadata(i.host.ID)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instances[node] = i
	return nil
}

// Terminate ends a node's instance, if it has one.
func (c *Cloud) Terminate(node string) error {
	c.mu.Lock()
	i := c.instances[node]
	c.mu.Unlock()
	if i == nil {
		return nil
	}
	var err error
	c.server.Ask(func(now time.Time, r *ec2.Region) { err = r.Terminate(now, i.host.ID) })
	c.mu.Lock()
	delete(c.instances, node)
	c.mu.Unlock()
	return errors.Join(err, i.metadata.Close())
}

// changed reports what EC2 has assigned to an instance.
func (c *Cloud) changed(h *ec2.Host) {
	c.mu.Lock()
	var tell func([]netip.Prefix)
	for _, i := range c.instances { // in any order: at most one is it
		if i.host == h {
			tell = i.tell
		}
	}
	c.mu.Unlock()
	if tell == nil {
		return
	}
	var units []netip.Prefix
	for _, e := range h.Attached() {
		units = append(units, e.Units...)
	}
	slices.SortFunc(units, netip.Prefix.Compare)
	tell(units)
}

// AddRange gives back a part of the subnet that others had; RemoveRange has others take what is free of one.
func (c *Cloud) AddRange(r netip.Prefix) {
	c.server.Ask(func(time.Time, *ec2.Region) { c.net.Vacate(r) })
}

// RemoveRange has others take what is free of a part of the subnet.
func (c *Cloud) RemoveRange(r netip.Prefix) {
	c.server.Ask(func(time.Time, *ec2.Region) { c.net.Occupy(space.Normal(r)) })
}

// Close ends it.
func (c *Cloud) Close() error {
	if c == nil {
		return nil
	}
	errs := []error{c.api.Close()}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances { // in any order: all are closed
		errs = append(errs, i.metadata.Close())
	}
	return errors.Join(errs...)
}
