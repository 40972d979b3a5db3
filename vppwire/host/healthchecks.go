package host

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/service"
)

// healthChecks answer the load balancers that ask this node which services have endpoints on it, as kube-proxy does
// (pkg/proxy/healthcheck of Kubernetes): 200 while there are any, else 503, whatever the path.
type healthChecks struct {
	listen func(network, address string) (net.Listener, error)
	log    *slog.Logger

	mu  sync.Mutex
	now map[uint16]service.Health
	// open are the ports that are listened at.
	open map[uint16]*http.Server
	// retry opens what another program had; nil while nothing is to be.
	retry *time.Timer
}

// healthRetry is how long a port that another program has is left to it; healthTime how long a question may take.
const (
	healthRetry = 10 * time.Second
	healthTime  = 5 * time.Second
)

func (c *healthChecks) init(listen func(network, address string) (net.Listener, error), log *slog.Logger) {
	if c.listen, c.log, c.open = listen, log, map[uint16]*http.Server{}; listen == nil {
		c.listen = net.Listen
	}
}

// set has these ports answer from now on, and no others.
func (c *healthChecks) set(list []service.Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = make(map[uint16]service.Health, len(list))
	for _, h := range list {
		c.now[h.Port] = h
	}
	for port, server := range c.open { // in any order: each by itself
		if _, stays := c.now[port]; !stays {
			delete(c.open, port)
			_ = server.Close() // its listener's error says that it is closed
		}
	}
	c.listenAll()
}

// listenAll opens the ports that are not open. mu is held.
func (c *healthChecks) listenAll() {
	if c.retry != nil {
		c.retry.Stop()
		c.retry = nil
	}
	for _, port := range slices.Sorted(maps.Keys(c.now)) {
		if c.open[port] != nil {
			continue
		}
		l, err := c.listen("tcp", ":"+strconv.Itoa(int(port)))
		if err != nil {
			c.log.Warn("load balancers get no answer about a service: its port cannot be had; another program may have it", "service", c.now[port].Name, "error", err)
			if c.retry == nil {
				c.retry = time.AfterFunc(healthRetry, func() {
					c.mu.Lock()
					defer c.mu.Unlock()
					c.listenAll()
				})
			}
			continue
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w, port) }), ReadHeaderTimeout: healthTime,
			WriteTimeout: healthTime, IdleTimeout: healthTime}
		c.open[port] = server
		go func() { _ = server.Serve(l) }() // ends with Close
	}
}

// answer says how many ready endpoints of a port's service are on this node.
func (c *healthChecks) answer(w http.ResponseWriter, port uint16) {
	c.mu.Lock()
	h := c.now[port]
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Load-Balancing-Endpoint-Weight", strconv.Itoa(h.Local))
	if h.Local == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintf(w, "{\"service\": {\"namespace\": %q, \"name\": %q}, \"localEndpoints\": %d, \"serviceProxyHealthy\": true}\n",
		h.Name.Namespace, h.Name.Name, h.Local) // who asked may be gone
}
