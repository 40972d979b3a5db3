package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// PutService writes services/NAMESPACE/NAME; DeleteService takes it away. For those who play the cluster's control
// plane.
func (c *Client) PutService(ctx context.Context, s service.Service) error {
	return c.put(ctx, servicesKey+s.Name.String(), s)
}

// DeleteService takes a service away; one that does not exist is no error.
func (c *Client) DeleteService(ctx context.Context, n service.Name) error {
	_, err := c.etcd.Delete(ctx, c.prefix+servicesKey+n.String())
	return err
}

// PutSlice writes slices/NAMESPACE/NAME; DeleteSlice takes it away.
func (c *Client) PutSlice(ctx context.Context, s service.Slice) error {
	return c.put(ctx, slicesKey+s.Name.String(), s)
}

// DeleteSlice takes a slice of endpoints away; one that does not exist is no error.
func (c *Client) DeleteSlice(ctx context.Context, n service.Name) error {
	_, err := c.etcd.Delete(ctx, c.prefix+slicesKey+n.String())
	return err
}

// serviceName reads NAMESPACE/NAME.
func serviceName(rest string) (n service.Name, ok bool) {
	n.Namespace, n.Name, ok = strings.Cut(rest, "/")
	return n, ok && n.Namespace != "" && n.Name != "" && !strings.Contains(n.Name, "/")
}

// serviceFact is one key of services or slices as an event; a value that cannot be read is told as gone.
func (c *Client) serviceFact(kv *mvccpb.KeyValue, deleted bool) (agent.Event, error) {
	kind, rest := c.fact(kv.Key)
	n, ok := serviceName(rest)
	if !ok {
		return nil, fmt.Errorf("key %q: want NAMESPACE/NAME", kv.Key)
	}
	if kind == servicesKey {
		var s service.Service
		if deleted {
			return agent.ServiceGone{Name: n}, nil
		}
		if err := json.Unmarshal(kv.Value, &s); err != nil {
			return agent.ServiceGone{Name: n}, fmt.Errorf("service %s: %w", n, err)
		}
		s.Name = n
		return agent.ServiceSeen{Service: s}, nil
	}
	var s service.Slice
	if deleted {
		return agent.EndpointsGone{Name: n}, nil
	}
	if err := json.Unmarshal(kv.Value, &s); err != nil {
		return agent.EndpointsGone{Name: n}, fmt.Errorf("slice %s: %w", n, err)
	}
	s.Name = n
	return agent.EndpointsSeen{Slice: s}, nil
}

func (f *Cluster) service(tell func(agent.Event), kv *mvccpb.KeyValue, deleted bool) {
	ev, err := f.c.serviceFact(kv, deleted)
	if err != nil {
		f.c.log.Warn("etcd: not served", "error", err)
	}
	if ev != nil {
		tell(ev)
	}
}

// services tells every service or slice of a list, and returns the names of those that could be read.
func (f *Cluster) services(tell func(agent.Event), kvs []*mvccpb.KeyValue) (names []service.Name) {
	for _, kv := range kvs {
		f.service(func(ev agent.Event) {
			switch e := ev.(type) {
			case agent.ServiceSeen:
				names = append(names, e.Service.Name)
			case agent.EndpointsSeen:
				names = append(names, e.Slice.Name)
			}
			tell(ev)
		}, kv, false)
	}
	return names
}
