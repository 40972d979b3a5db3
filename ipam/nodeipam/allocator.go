package nodeipam

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// CIDRAllocatorType says which allocator to use.
type CIDRAllocatorType string

// The types that New knows.
const (
	// RangeAllocatorType keeps ranges of its own and writes blocks of them into nodes.
	RangeAllocatorType CIDRAllocatorType = "RangeAllocator"
	// CloudAllocatorType writes into nodes what the cloud has given them.
	CloudAllocatorType CIDRAllocatorType = "CloudAllocator"
	// IPAMFromClusterAllocatorType keeps ranges of its own and tells them to the cloud as well.
	IPAMFromClusterAllocatorType CIDRAllocatorType = "IPAMFromCluster"
	// IPAMFromCloudAllocatorType is CloudAllocatorType with a loop for each node.
	IPAMFromCloudAllocatorType CIDRAllocatorType = "IPAMFromCloud"
)

// Machine is a controller as its driver sees it: it starts nothing itself. The driver tells it events, performs the
// effects in order, and tells their answers.
type Machine interface {
	// Run does what is due at now and returns what is to be performed, in order.
	Run(now time.Time) []Effect
	// Step takes in one event and runs.
	Step(now time.Time, ev Event) []Effect
}

// CIDRAllocator is upstream's view of RangeAllocator and CloudAllocator, for callers who know a node's fate themselves;
// a driver needs no more than a Machine.
type CIDRAllocator interface {
	Machine
	// AllocateOrOccupyCIDR is Step of a node that was added or changed, without running. An error says what is wrong with
	// the node, or that no block is free; nothing has to be done about it. A nil node is success.
	AllocateOrOccupyCIDR(node *KubeNode) error
	// ReleaseCIDR is Step of a node that was deleted, without running. It must not be called while the object exists,
	// deletion timestamp or not.
	ReleaseCIDR(node *KubeNode) error
}

// CloudProvider names the cloud; the cloud allocators know only GCE.
type CloudProvider string

// CloudProviderGCE is the one that CloudAllocator and Controller support.
const CloudProviderGCE CloudProvider = "gce"

// New returns a controller of a type, which lists the nodes before anything else. Of params the IPAMFrom types use the
// first range and ServiceCIDR, CloudAllocator the Picker alone; cloud does not matter to RangeAllocator, and Routes to it
// alone: alias ranges need no route.
func New(kind CIDRAllocatorType, params CIDRAllocatorParams, cloud CloudProvider) (Machine, error) {
	mode := SyncFromCluster
	switch kind {
	case RangeAllocatorType:
		r, err := newRangeAllocator(params)
		if err != nil {
			return nil, err
		}
		r.start.wanted = true
		if params.Routes != nil {
			routes, err := NewRouteController(*params.Routes)
			if err != nil {
				return nil, err
			}
			return &Manager{Allocator: r, Routes: routes}, nil
		}
		return r, nil
	case CloudAllocatorType:
		c, err := NewCloudCIDRAllocator(cloud, params.Picker)
		if err != nil {
			return nil, err
		}
		return c, nil
	case IPAMFromCloudAllocatorType:
		mode = SyncFromCloud
	case IPAMFromClusterAllocatorType:
	default:
		//lint:ignore ST1005 the text is upstream's
		return nil, fmt.Errorf("Invalid CIDR allocator type: %s", kind)
	}
	if len(params.ClusterCIDRs) == 0 || len(params.NodeCIDRMaskSizes) == 0 {
		return nil, errors.New("no cluster CIDR")
	}
	c, err := NewController(Config{Mode: mode}, cloud, params.ClusterCIDRs[0], params.ServiceCIDR, params.NodeCIDRMaskSizes[0])
	if err != nil {
		return nil, err
	}
	c.start.wanted = true
	return c, nil
}

// NewNodeIpamController returns the controller that the controller manager's flags ask for.
func NewNodeIpamController(f Flags, cloud CloudProvider, p Picker) (Machine, error) {
	params, err := f.Resolve()
	if err != nil {
		return nil, err
	}
	params.Picker = p
	return New(cmp.Or(f.AllocatorType, RangeAllocatorType), params, cloud)
}

// Flags are the controller manager's options, with its defaults for what is empty or 0.
type Flags struct {
	// AllocatorType is --cidr-allocator-type; empty is RangeAllocator.
	AllocatorType CIDRAllocatorType
	// ClusterCIDR is --cluster-cidr: one CIDR, or one of each family with a comma. CloudAllocator needs none.
	ClusterCIDR string
	// ServiceCIDR is --service-cluster-ip-range: like ClusterCIDR, or empty.
	ServiceCIDR string
	// NodeCIDRMaskSize is --node-cidr-mask-size, for one family only. NodeCIDRMaskSizeIPv4 and NodeCIDRMaskSizeIPv6 are
	// for two; 24 and 64 by default.
	NodeCIDRMaskSize, NodeCIDRMaskSizeIPv4, NodeCIDRMaskSizeIPv6 int
	// ConfigureCloudRoutes is --configure-cloud-routes: the cloud's network gets a route for each node's CIDRs. It is for
	// RangeAllocator.
	ConfigureCloudRoutes bool
	// ClusterName is --cluster-name, by which routes of several clusters in one network are told apart; empty is
	// "kubernetes".
	ClusterName string
	// RouteReconciliationPeriod is --route-reconciliation-period; 0 is 10 s.
	RouteReconciliationPeriod time.Duration
}

// Upstream's default lengths of node blocks.
const (
	defaultNodeMaskCIDRIPv4 = 24
	defaultNodeMaskCIDRIPv6 = 64
)

// Resolve checks the flags. What it refuses ends the controller manager upstream: it must be found before anything
// starts.
func (f Flags) Resolve() (CIDRAllocatorParams, error) {
	var params CIDRAllocatorParams
	kind := f.AllocatorType
	switch kind {
	case "":
		kind = RangeAllocatorType
	case RangeAllocatorType, CloudAllocatorType, IPAMFromClusterAllocatorType, IPAMFromCloudAllocatorType:
	default:
		//lint:ignore ST1005 the text is upstream's
		return params, fmt.Errorf("Invalid CIDR allocator type: %s", kind)
	}
	var err error
	if params.ClusterCIDRs, err = parseCIDRList("cluster", f.ClusterCIDR); err != nil {
		return CIDRAllocatorParams{}, err
	}
	services, err := parseCIDRList("service", f.ServiceCIDR)
	if err != nil {
		return CIDRAllocatorParams{}, err
	}
	for i, s := range services {
		*[...]*netip.Prefix{&params.ServiceCIDR, &params.SecondaryServiceCIDR}[i] = s
	}
	if kind == CloudAllocatorType && !f.ConfigureCloudRoutes {
		return params, nil
	}
	if len(params.ClusterCIDRs) == 0 {
		return CIDRAllocatorParams{}, errors.New("Controller: Must specify --cluster-cidr if --allocate-node-cidrs is set")
	}
	for _, c := range params.ClusterCIDRs {
		mask := f.mask(c, len(params.ClusterCIDRs))
		if mask < c.Bits() || mask > c.Addr().BitLen() {
			return CIDRAllocatorParams{}, fmt.Errorf("Controller: Invalid --cluster-cidr, mask size of cluster CIDR %s must be less than or equal to --node-cidr-mask-size %d configured for CIDR family", c, mask)
		}
		params.NodeCIDRMaskSizes = append(params.NodeCIDRMaskSizes, mask)
	}
	if f.ConfigureCloudRoutes {
		if kind != RangeAllocatorType {
			return CIDRAllocatorParams{}, fmt.Errorf("--configure-cloud-routes is for %s: the alias ranges of %s need no routes", RangeAllocatorType, kind)
		}
		params.Routes = &RouteConfig{Cluster: cmp.Or(f.ClusterName, DefaultClusterName), CIDRs: params.ClusterCIDRs, Period: f.RouteReconciliationPeriod}
		if err := params.Routes.Check(); err != nil {
			return CIDRAllocatorParams{}, err
		}
	}
	return params, nil
}

// mask is the length of node blocks in c.
func (f Flags) mask(c netip.Prefix, families int) int {
	own, standard := f.NodeCIDRMaskSizeIPv4, defaultNodeMaskCIDRIPv4
	if c.Addr().Is6() {
		own, standard = f.NodeCIDRMaskSizeIPv6, defaultNodeMaskCIDRIPv6
	}
	switch {
	case own != 0:
		return own
	case families == 1 && f.NodeCIDRMaskSize != 0:
		return f.NodeCIDRMaskSize
	}
	return standard
}

// parseCIDRList reads up to one CIDR of each family, separated by a comma.
func parseCIDRList(what, text string) ([]netip.Prefix, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	var list []netip.Prefix
	for _, part := range strings.Split(text, ",") {
		p, err := space.ParsePrefix(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%s CIDR %q: %w", what, text, err)
		}
		list = append(list, p)
	}
	if len(list) > 2 || len(list) == 2 && sameFamily(list[0], list[1]) {
		return nil, fmt.Errorf("%s CIDR %q: want one, or one of each family", what, text)
	}
	return list, nil
}
