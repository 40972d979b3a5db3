package lab

import (
	"errors"
	"path/filepath"

	"github.com/vppdrill/vppdrill/lab/internal/relay"
)

// relays are one node's connections to the control plane. The API server's is also to its objects of Kubernetes, where a lab has them. What is wrong with a connection, and whether its server
// answers, are kept apart: the end of one does not end the other.
type relays struct{ store, api connection }

// connection is one of them, with the faults of its two directions: there is towards the server.
type connection struct {
	relay       *relay.Relay
	also        *relay.Relay // nil: none
	there, back relay.Link
}

// StoreSocket and APISocket are below a node's folder.
const (
	storeSocket = "store.sock"
	apiSocket   = "api.sock"
	kubeSocket  = "kube.sock"
)

// connect makes the sockets by which one node reaches the control plane; kube is that of Kubernetes' objects, "" for none.
func (p *controlPlane) connect(dir, kube string) (*relays, error) {
	store, err := relay.Listen(filepath.Join(dir, storeSocket), p.store.Socket())
	if err != nil {
		return nil, err
	}
	api, err := relay.Listen(filepath.Join(dir, apiSocket), p.api.Socket())
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	r := &relays{store: connection{relay: store}, api: connection{relay: api}}
	if kube != "" {
		if r.api.also, err = relay.Listen(filepath.Join(dir, kubeSocket), kube); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	p.route(r)
	return r, nil
}

// route makes a node's connections behave as their faults and the servers' switches say.
func (p *controlPlane) route(r *relays) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.store.route(p.storeStop)
	r.api.route(p.apiStop)
}

func (c *connection) route(stopped bool) {
	there, back := c.there, c.back
	there.Cut, back.Cut = there.Cut || stopped, back.Cut || stopped
	c.relay.Set(there, back)
	if c.also != nil {
		c.also.Set(there, back)
	}
}

// reset ends the connections that stand.
func (c *connection) reset() {
	c.relay.Reset()
	if c.also != nil {
		c.also.Reset()
	}
}

func (c *connection) close() error {
	err := c.relay.Close()
	if c.also != nil {
		err = errors.Join(err, c.also.Close())
	}
	return err
}

// hears reports whether what a server tells reaches the node.
func (c *connection) hears() bool {
	there, back := c.relay.Links()
	return !there.Cut && !back.Cut
}

func (r *relays) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.store.close(), r.api.close())
}
