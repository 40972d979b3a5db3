package contiv

import (
	"context"
	"errors"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// ErrWatching: a subscriber of that name watches already.
var ErrWatching = errors.New("a subscriber of that name watches already")

// stepped tells subscribers what a step has changed. It runs on the driver's goroutine.
func (p *Plugin) stepped(a *agent.Agent, effects []agent.Effect) {
	for _, e := range effects {
		if e, is := e.(agent.NodeAddress); is {
			p.tellNodeIP(e.Addr.String())
		}
	}
	if len(p.watchers) == 0 || a.AttachmentsChanged() == p.changed {
		return
	}
	now := ContainersOf(a)
	for _, e := range containeridx.Changes(p.told, now) {
		for _, callback := range p.watchers { // in any order: each has its own
			callback(e)
		}
	}
	p.told, p.changed = now, a.AttachmentsChanged()
}

// tellNodeIP sends without waiting.
func (p *Plugin) tellNodeIP(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.nodeIPs {
		select {
		case c <- address:
		default:
		}
	}
}

// WatchNodeIP implements API.
func (p *Plugin) WatchNodeIP(subscriber chan string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodeIPs = append(p.nodeIPs, subscriber)
}

// UnwatchNodeIP ends what WatchNodeIP began. The channel is not closed.
func (p *Plugin) UnwatchNodeIP(subscriber chan string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodeIPs = slices.DeleteFunc(p.nodeIPs, func(c chan string) bool { return c == subscriber })
}

// index is the Plugin as containeridx.Reader.
type index struct{ p *Plugin }

// LookupContainer implements containeridx.Reader.
func (x index) LookupContainer(containerID string) (data *containeridx.Config, found bool) {
	data = x.p.containers().Container(containerID)
	return data, data != nil
}

// LookupPodName implements containeridx.Reader.
func (x index) LookupPodName(podName string) []string { return x.p.containers().PodName(podName).IDs() }

// LookupPodNamespace implements containeridx.Reader.
func (x index) LookupPodNamespace(podNamespace string) []string {
	return x.p.containers().PodNamespace(podNamespace).IDs()
}

// LookupPodIf implements containeridx.Reader.
func (x index) LookupPodIf(ifname string) []string { return x.p.containers().PodIf(ifname).IDs() }

// ListAll implements containeridx.Reader.
func (x index) ListAll() []string { return x.p.containers().IDs() }

// Watch implements containeridx.Reader. An agent that has stopped, or does not answer, is an error.
func (x index) Watch(subscriber string, callback func(containeridx.ChangeEvent)) error {
	ctx, cancel := context.WithTimeout(context.Background(), AskTime)
	defer cancel()
	p := x.p
	refused, err := Look(ctx, p, func(a *agent.Agent) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // who asked has gone
		case p.watchers[subscriber] != nil:
			return ErrWatching
		}
		if len(p.watchers) == 0 || p.changed != a.AttachmentsChanged() {
			p.told, p.changed = ContainersOf(a), a.AttachmentsChanged() // as of the last step, which has told the others
		}
		p.watchers[subscriber] = callback
		for _, e := range containeridx.Changes(nil, p.told) {
			callback(e)
		}
		return nil
	})
	return errors.Join(err, refused)
}

// Unwatch implements containeridx.Reader.
func (x index) Unwatch(subscriber string) {
	look(x.p, func(*agent.Agent) bool { delete(x.p.watchers, subscriber); return true })
}
