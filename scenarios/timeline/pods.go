package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

func createPodsNeed(a scenarios.CreatePods) Need {
	switch {
	case len(a.Addresses) > 0:
		return WantedAddresses
	case a.Interface != "":
		return MemifPrograms
	case a.Static:
		return StaticPods
	}
	return Nothing
}

func (p *Player) createPods(_ context.Context, a scenarios.CreatePods) error {
	app := cmp.Or(a.App, scenarios.CreatedApp)
	create := func(node string) error {
		for range a.Count {
			p.podsMade++
			p.world.CreatePod(Pod{Name: app + "-" + strconv.Itoa(p.podsMade), App: app, Node: node, Static: a.Static, Pool: a.Pool, Addresses: a.Addresses, Interface: string(a.Interface)})
		}
		return nil
	}
	if a.Node == "" {
		return create("")
	}
	return p.each(a.Node, a.Verb(), present, create)
}

// did says of an action that went well and acted on nothing that it did nothing.
func did(n int, a scenarios.Action, err error) error {
	if n == 0 && err == nil {
		return fmt.Errorf("%s: %w", a.Verb(), result.ErrNothing)
	}
	return err
}

// candidates are the names of the pods that an action may mean, in order.
func (p *Player) candidates(node, app string) []string {
	var out []string
	for _, pod := range p.world.Pods(node) {
		if !pod.Deleting && (app == "" || pod.App == app) {
			out = append(out, pod.Name)
		}
	}
	return out
}

// choose draws up to count of a list, in the order drawn.
func (p *Player) choose(list []string, count int) []string {
	list = slices.Clone(list)
	var out []string
	for len(out) < count && len(list) > 0 {
		i := p.pick("pod", len(list))
		out = append(out, list[i])
		list = slices.Delete(list, i, i+1)
	}
	return out
}

// named finds a pod by "namespace/name".
func (p *Player) namedPod(verb, key string) (string, error) {
	namespace, name, _ := strings.Cut(key, "/")
	if namespace == "default" && slices.ContainsFunc(p.world.Pods(""), func(pod Pod) bool { return pod.Name == name }) {
		return name, nil
	}
	return "", fmt.Errorf("%s: %w: there is no pod %s", verb, ErrNoTarget, key)
}

func (p *Player) deletePods(_ context.Context, a scenarios.DeletePods) error {
	if a.Pod != "" {
		name, err := p.namedPod(a.Verb(), a.Pod)
		if err == nil {
			p.deletePod(name, a)
		}
		return err
	}
	deleted := 0
	del := func(node string) error {
		list := p.candidates(node, a.App)
		if !a.All {
			list = p.choose(list, a.Count)
		}
		for _, name := range list {
			p.deletePod(name, a)
		}
		deleted += len(list)
		return nil
	}
	var err error
	if a.Node == "" {
		err = del("")
	} else {
		err = p.each(a.Node, a.Verb(), present, del)
	}
	return did(deleted, a, err)
}

// deletePod deletes a pod as an action says.
func (p *Player) deletePod(name string, a scenarios.DeletePods) {
	pods := p.world.Pods("")
	p.world.DeletePod(name, a.Force)
	i := slices.IndexFunc(pods, func(pod Pod) bool { return pod.Name == name })
	if a.Again && i >= 0 {
		again := pods[i]
		again.Deleting = false
		p.world.CreatePod(again)
	}
}

func (p *Player) replaceSandbox(_ context.Context, a scenarios.ReplaceSandbox) error {
	if a.Pod != "" {
		name, err := p.namedPod(a.Verb(), a.Pod)
		if err == nil && !p.world.ReplaceSandbox(name) {
			err = fmt.Errorf("%s: %w: pod %s has no sandbox with an address", a.Verb(), ErrNoTarget, a.Pod)
		}
		return err
	}
	replaced := 0
	err := p.each(a.Node, a.Verb(), living, func(node string) error {
		list := p.candidates(node, "")
		left := a.Count
		for _, name := range p.choose(list, len(list)) {
			if left > 0 && p.world.ReplaceSandbox(name) {
				left--
				replaced++
			}
		}
		return nil
	})
	return did(replaced, a, err)
}
