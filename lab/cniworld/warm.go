package cniworld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	current "github.com/containernetworking/cni/pkg/types/100"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/podloop"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

const (
	// warmPods are how many pods each new node connects and disconnects first.
	warmPods = 2
	// warmPatience is how long a chain may take to connect or disconnect one of them: a third of what a kubelet allows, as nothing disturbs it.
	warmPatience = cniTimeout / 3
	// pingPatience is how long one ping may take, tries of a tenth each.
	pingPatience = 2 * time.Second
	// duplicateMost is how long Linux takes to detect that no neighbor has an IPv6 address, which answers nobody until then: a delay of up to
	// a second, and a second for the one probe (RFC 4862, 5.4). Plugins need not wait for it before they answer; whereabouts' callers don't.
	duplicateMost = 2 * time.Second
	pingBytes     = 56
)

// warmPod is one of them.
type warmPod struct {
	n *node
	a attachment
	probe.Place
	gateway netip.Addr
}

// warmUp connects pods of new nodes and disconnects them, undisturbed: what worked then is owed from now on, and what
// stays belongs to the node. Nothing of it is told to laws.
func (w *World) warmUp(ctx context.Context, nodes []*node) error {
	var pods []*warmPod
	var fresh []*node
	for _, n := range nodes {
		if n.warm {
			continue
		}
		fresh = append(fresh, n)
		for range warmPods {
			id := podloop.ContainerID()
			path, err := n.makeNamespace("pod-" + id[:12])
			if err != nil {
				return err
			}
			of := &pod{Pod: timeline.Pod{Name: fmt.Sprintf("warm-%d", len(pods))}}
			p := &warmPod{n: n, a: attachment{container: id, ifName: timeline.IfName, netns: path, args: of.cniArgs(id), pod: of.key(), number: 9000 + len(pods)}}
			pods = append(pods, p)
			res, err := p.call(ctx, cmdAdd)
			if err == nil && len(res.IPs) == 0 {
				err = errors.New("the answer names no address")
			}
			if err != nil {
				return lab.Cannot("%s does not connect a pod even undisturbed: %s", w.o.Chain.File, oneline.Error(err))
			}
			addrs, gateway := answered(res)
			p.Place, p.gateway = probe.Place{Name: n.name, Netns: path, Addr: addrs[0].Addr()}, gateway
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	w.learn(ctx, pods)
	for _, p := range pods {
		if _, err := p.call(ctx, cmdDel); err != nil {
			return lab.Cannot("%s does not disconnect a pod even undisturbed: %s", w.o.Chain.File, oneline.Error(err))
		}
		if err := fabric.Remove(filepath.Base(p.a.netns)); err != nil {
			return err
		}
	}
	return each(fresh, func(n *node) error {
		n.awaitLinks(ctx)
		traces, err := n.traces(ctx)
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, t := range traces {
			n.own[t.text] = true
		}
		n.warm = true
		return err
	})
}

// call asks the chain for a command, and does not wait longer than warmPatience.
func (p *warmPod) call(ctx context.Context, command string) (*current.Result, error) {
	within, cancel := context.WithTimeout(ctx, warmPatience)
	defer cancel()
	res, err := p.n.call(within, command, "", p.a, nil)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s%s", warmPatience, p.n.w.o.Chain.awaits())
	}
	return res, err
}

// awaitLinks waits until links are gone whose other ends went with their namespaces: Linux takes its time.
func (n *node) awaitLinks(ctx context.Context) {
	for range 50 {
		links, err := n.space.LinkList()
		veths := 0
		for _, l := range links {
			if l.Type() == "veth" && l.Attrs().Name != lab.ManagementDevice {
				veths++
			}
		}
		if err != nil || veths == 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// patience is how long a ping between any of these places may take.
func patience(places ...probe.Place) time.Duration {
	if slices.ContainsFunc(places, func(p probe.Place) bool { return p.Addr.Is6() }) {
		return pingPatience + duplicateMost
	}
	return pingPatience
}

// learn finds out who reaches whom.
func (w *World) learn(ctx context.Context, pods []*warmPod) {
	var places []probe.Place
	for _, p := range pods {
		places = append(places, p.Place)
		if p.gateway.IsValid() {
			o := probe.Ping(ctx, p.Place, probe.Place{Addr: p.gateway}, pingBytes, false, patience(p.Place))
			p.n.mu.Lock()
			p.n.gatewayAnswers = o.Err == nil
			p.n.mu.Unlock()
		}
	}
	within, across := [2]int{}, [2]int{}
	for _, o := range probe.Mesh(ctx, probe.AllPairs(places, 72), pingBytes, false, patience(places...)) {
		count := &within
		if o.From.Name != o.To.Name {
			count = &across
		}
		count[0]++
		if o.Err == nil {
			count[1]++
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if within[0] > 0 && !w.learned {
		w.reaches.within = within[0] == within[1]
	}
	if across[0] > 0 && !w.learned {
		w.reaches.across = across[0] == across[1]
	}
	if !w.learned {
		w.Note(fmt.Sprintf("undisturbed, pods of one node reach each other: %t; of two nodes: %t", w.reaches.within, w.reaches.across))
	}
	w.learned = true
}
