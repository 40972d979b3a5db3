package cniworld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

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
	// pingPatience is how long one ping may take, tries of a tenth each.
	pingPatience = 2 * time.Second
	pingBytes    = 56
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
			res, err := n.call(ctx, cmdAdd, "", p.a, nil)
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
		if _, err := p.n.call(ctx, cmdDel, "", p.a, nil); err != nil {
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

// learn finds out who reaches whom.
func (w *World) learn(ctx context.Context, pods []*warmPod) {
	var places []probe.Place
	for _, p := range pods {
		places = append(places, p.Place)
		if p.gateway.IsValid() {
			o := probe.Ping(ctx, p.Place, probe.Place{Addr: p.gateway}, pingBytes, false, pingPatience)
			p.n.mu.Lock()
			p.n.gatewayAnswers = o.Err == nil
			p.n.mu.Unlock()
		}
	}
	within, across := [2]int{}, [2]int{}
	for _, o := range probe.Mesh(ctx, probe.AllPairs(places, 72), pingBytes, false, pingPatience) {
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
