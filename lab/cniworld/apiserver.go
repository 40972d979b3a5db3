package cniworld

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

const (
	// kubeconfigFile is below a node's /run, kubeconfigAt where plugins see it.
	kubeconfigFile = "vppdrill/kubeconfig"
	kubeconfigAt   = "/run/" + kubeconfigFile
	// whereaboutsFile is where whereabouts looks for defaults, and fails without; there are none in it.
	whereaboutsFile = "vppdrill/whereabouts.conf"
	whereaboutsAt   = "/run/" + whereaboutsFile
	// serverAt is where each node has the server to itself: a port of its own loopback, as behind a proxy.
	serverAt = "127.0.0.1:6443"
)

// kubeconfig names the server; whereabouts wants a namespace in its context.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: cluster, cluster: {server: "http://` + serverAt + `"}}]
users: [{name: plugin, user: {}}]
contexts: [{name: cluster, context: {cluster: cluster, user: plugin, namespace: kube-system}}]
current-context: cluster
`

// Resources of whereabouts: addresses by their number in a range, and addresses that no other range may give.
const (
	poolResource    = apiserver.WhereaboutsPools
	overlapResource = "overlappingrangeipreservations"
)

// server is the cluster's API server as plugins see it.
type server struct {
	objects *apiserver.Server
	// stopped: it answers nothing, and keeps what it has.
	stopped atomic.Bool
}

func newServer() *server { return &server{objects: apiserver.New()} }

// ServeHTTP implements http.Handler. A server that is stopped ends the connection without a word.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.stopped.Load() {
		panic(http.ErrAbortHandler)
	}
	s.objects.ServeHTTP(w, r)
}

// serve answers the plugins of one node, and writes the files that tell them where; run is the node's /run.
func (s *server) serve(netns, run string) (*http.Server, error) {
	var l net.Listener
	err := spawn.Inside(netns, func() (err error) { l, err = net.Listen("tcp", serverAt); return err })
	if err != nil {
		return nil, fmt.Errorf("API server in %s: %w", netns, err)
	}
	h := &http.Server{Handler: s}  //nolint:gosec // plugins of this machine ask it
	go func() { _ = h.Serve(l) }() // it ends by Close
	file := filepath.Join(run, kubeconfigFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return h, errors.Join(os.WriteFile(file, []byte(kubeconfig), 0o644), os.WriteFile(filepath.Join(run, whereaboutsFile), []byte("{}\n"), 0o644))
}

// reservation is an address that an object of the server keeps from others.
type reservation struct {
	addr netip.Addr
	// owner has a container where the object says it, pod is namespace/name. pool: it is in the book of a range.
	owner ipam.Owner
	pod   string
	pool  bool
	kind  string
	name  string
}

// text is how remains name it.
func (r reservation) text() string {
	return fmt.Sprintf("%s %s: %s of pod %s", r.kind, r.name, r.addr, r.pod)
}

// reservations are those of whereabouts, by the names of their objects; addresses of one range come in any order.
func (s *server) reservations() (list []reservation) {
	for _, o := range s.objects.All(poolResource) {
		spec, _ := o["spec"].(apiserver.Object)
		text, _ := spec["range"].(string)
		within, err := netip.ParsePrefix(text)
		if err != nil {
			continue // of nobody that whereabouts would know
		}
		given, _ := spec["allocations"].(apiserver.Object)
		for number, a := range given { //vppdrill:unordered a book is a map of addresses, and remains are sorted
			n, err := strconv.ParseUint(number, 10, 64)
			addr, outside := space.Nth(within.Masked(), n) // as whereabouts counts: from the network's own address on
			if err != nil || outside != nil {
				continue
			}
			of, _ := a.(apiserver.Object)
			r := reservation{addr: addr, pool: true, kind: "allocation of IPPool", name: apiserver.Name(o), owner: ipam.Owner{Network: timeline.NetworkName}}
			r.owner.ContainerID, _ = of["id"].(string)
			r.owner.IfName, _ = of["ifname"].(string)
			r.pod, _ = of["podref"].(string)
			list = append(list, r)
		}
	}
	for _, o := range s.objects.All(overlapResource) {
		spec, _ := o["spec"].(apiserver.Object)
		r := reservation{kind: "OverlappingRangeIPReservation", name: apiserver.Name(o)}
		r.pod, _ = spec["podref"].(string)
		r.addr, _ = netip.ParseAddr(strings.ReplaceAll(r.name, "-", ":")) // a name of IPv4 has no dashes
		list = append(list, r)
	}
	return list
}
