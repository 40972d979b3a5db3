package kube_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

func nodeConfig(name string, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": kube.NodeConfigGroup + "/" + kube.NodeConfigVersion, "kind": "NodeConfig",
		"metadata": map[string]any{"name": name}, "spec": spec}
}

func shownConfigs(c kube.NodeConfigs) (lines []string) {
	for _, n := range c.List {
		lines = append(lines, n.NodeName+" "+n.Gateway)
	}
	for name := range c.Bad { // in any order: sorted below
		lines = append(lines, name+" bad")
	}
	slices.Sort(lines)
	return lines
}

// Goal: what the resources say is told as a whole, at the start, after each change and after a gap; one that cannot be
// read is told as that, and takes nothing else with it; a cluster that does not have the kind has none. Method: the
// stand-in of an API server.
func TestNodeConfigs(t *testing.T) {
	s := newServer(t)
	c := connected(t, s.http.URL)
	s.put(kube.NodeConfigResource, nodeConfig("b", map[string]any{"gateway": "192.168.16.9"}))
	s.put(kube.NodeConfigResource, nodeConfig("a", map[string]any{"gatevay": "192.168.16.9"}))
	once, err := c.NodeConfigs(t.Context())
	must(t, err)
	if got := shownConfigs(once); !slices.Equal(got, []string{"a bad", "b 192.168.16.9"}) {
		t.Errorf("listed %q", got)
	}
	told := make(chan []string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.FollowNodeConfigs(ctx, func(n kube.NodeConfigs) { told <- shownConfigs(n) })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	expect := func(want ...string) {
		t.Helper()
		select {
		case got := <-told:
			if !slices.Equal(got, want) {
				t.Fatalf("told %q, want %q", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("not told: %q", want)
		}
	}
	expect("a bad", "b 192.168.16.9")
	until(t, s.watched, func() string { return "nobody watches" })
	s.put(kube.NodeConfigResource, nodeConfig("a", map[string]any{"gateway": "192.168.16.1"}))
	expect("a 192.168.16.1", "b 192.168.16.9")
	s.Remove(kube.NodeConfigResource, "", "b")
	expect("a 192.168.16.1")
	s.forget(func() { s.put(kube.NodeConfigResource, nodeConfig("c", nil)) })
	expect("a 192.168.16.1", "c ")

	s.mu.Lock()
	s.missing = []string{kube.NodeConfigResource}
	s.mu.Unlock()
	if none, err := c.NodeConfigs(t.Context()); err != nil || len(none.List) > 0 {
		t.Errorf("of a cluster without the kind: %v, %v", none, err)
	}
	s.http.CloseClientConnections()
	cancel()
	s.http.Close()
	if _, err := c.NodeConfigs(t.Context()); err == nil {
		t.Error("a server that is gone has answered", fmt.Sprint(err))
	}
}
