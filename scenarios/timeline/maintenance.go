package timeline

import (
	"context"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

func (p *Player) schedulable(m Machine) bool   { return !p.cordoned[m.Name] }
func (p *Player) unschedulable(m Machine) bool { return p.cordoned[m.Name] }

func (p *Player) cordonNode(ctx context.Context, a scenarios.CordonNode) error {
	return p.each(a.Node, a.Verb(), p.schedulable, func(node string) error { return p.cordon(ctx, node, true) })
}

func (p *Player) uncordonNode(ctx context.Context, a scenarios.UncordonNode) error {
	return p.each(a.Node, a.Verb(), p.unschedulable, func(node string) error { return p.cordon(ctx, node, false) })
}

func (p *Player) cordon(ctx context.Context, node string, cordoned bool) error {
	if err := p.world.Cordon(ctx, node, cordoned); err != nil {
		return err
	}
	if cordoned {
		p.cordoned[node] = true
	} else {
		delete(p.cordoned, node)
	}
	return nil
}

// uncordonAll ends all maintenance: whoever waits for a node then has all of them to go to.
func (p *Player) uncordonAll() error {
	for _, m := range p.machines(p.unschedulable) {
		if err := p.cordon(context.Background(), m.Name, false); err != nil {
			return err
		}
	}
	return nil
}

func (p *Player) drainNode(ctx context.Context, a scenarios.DrainNode) error {
	acts := 0
	err := p.each(a.Node, a.Verb(), present, func(node string) error {
		if !p.cordoned[node] {
			acts++
			if err := p.cordon(ctx, node, true); err != nil {
				return err
			}
		}
		for _, pod := range p.world.Pods(node) {
			if !pod.Pinned && !pod.Static && !pod.Deleting {
				acts++
				p.evict(pod)
			}
		}
		return nil
	})
	return did(acts, a, err)
}

// moved is between the name of a pod and the number of its eviction in the name of the one that takes its place.
const moved = "-moved-"

// evict ends a pod, for which its workload makes another at once, as a ReplicaSet does: under a name of its own, and wherever there is room.
func (p *Player) evict(pod Pod) {
	p.world.EvictPod(pod.Name)
	p.evicted++
	heir := pod
	name, _, _ := strings.Cut(pod.Name, moved)
	heir.Name, heir.Node = name+moved+strconv.Itoa(p.evicted), ""
	p.heirs[pod.Name] = heir.Name
	p.world.CreatePod(heir)
}

// scaleDown ends a pod whose time is over, or what took its place.
func (p *Player) scaleDown(name string) {
	for heir, evicted := p.heirs[name]; evicted; heir, evicted = p.heirs[name] {
		delete(p.heirs, name)
		name = heir
	}
	p.world.DeletePod(name, false)
}
