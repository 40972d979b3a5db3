package cmd

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// heeding is an agent's view of NodeConfig resources, with what it tells as events.
func heeding(t *testing.T, copy string) (*nodeConfigs, *[]string) {
	t.Helper()
	file := agent.Config{TCPstackDisabled: true, NodeName: "a", NodeConfig: []agent.NodeConfig{gatewayOf("a", "192.168.16.100")}}
	file.ApplyDefaults()
	told := &[]string{}
	return &nodeConfigs{file: file, copy: copy, log: slog.New(slog.DiscardHandler), tell: func(l agent.Log) { *told = append(*told, l.Reason+": "+l.Message) }}, told
}

func gatewayOf(node, gateway string) agent.NodeConfig {
	return agent.NodeConfig{NodeName: node, NodeConfigSpec: agent.NodeConfigSpec{Gateway: gateway}}
}

func configs(list ...agent.NodeConfig) kube.NodeConfigs { return kube.NodeConfigs{List: list} }

// Goal: what a resource says counts before the file, is there again at a start at which nobody tells it, and outlives a
// change that cannot be; what is wrong is told once. Method: a story of lists, each with the own gateway in the end.
func TestNodeConfigsAreTakenAndKept(t *testing.T) {
	copy := filepath.Join(t.TempDir(), "state", "nodeconfigs.json")
	n, told := heeding(t, copy)
	bad := kube.NodeConfigs{Bad: map[string]error{"a": errors.New("NodeConfig a: unknown field"), "c": errors.New("NodeConfig c: unknown field")}}
	for _, step := range []struct {
		name   string
		all    kube.NodeConfigs
		want   string
		events int
	}{
		{"nothing", configs(), "192.168.16.100", 0},
		{"a resource", configs(gatewayOf("a", "192.168.16.1")), "192.168.16.1", 0},
		{"one that cannot be", configs(gatewayOf("a", "gate")), "192.168.16.1", 1},
		{"the same again", configs(gatewayOf("a", "gate")), "192.168.16.1", 1},
		{"one that cannot be read", bad, "192.168.16.1", 2},
		{"a good one", configs(gatewayOf("a", "192.168.16.2")), "192.168.16.2", 2},
	} {
		cfg := n.take(step.all)
		if got := cfg.GetNodeConfig("a").Gateway; got != step.want || len(*told) != step.events {
			t.Errorf("%s: gateway %s, want %s; events %q", step.name, got, step.want, *told)
		}
	}
	later, _ := heeding(t, copy)
	kept, err := later.kept()
	if err != nil || len(kept) != 1 || kept[0].Gateway != "192.168.16.2" {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if gone := n.take(configs()); gone.GetNodeConfig("a").Gateway != "192.168.16.100" {
		t.Error("a resource that was removed counts on")
	}
	if kept, err := later.kept(); err != nil || len(kept) != 0 {
		t.Errorf("kept behind the removal %+v, %v", kept, err)
	}
	if none, err := (&nodeConfigs{copy: filepath.Join(t.TempDir(), "none")}).kept(); err != nil || none != nil {
		t.Errorf("nothing was kept: %v, %v", none, err)
	}
}

// Goal: an agent is started anew, after the one before it has ended, for what changes what it does; never for what does
// not; and what ends an agent by itself ends all. Method: agents that say when they begin and end, told of resources by
// hand.
func TestAgentStartsAnew(t *testing.T) {
	n, told := heeding(t, filepath.Join(t.TempDir(), "nodeconfigs.json"))
	news, lives := make(chan kube.NodeConfigs), make(chan string, 10)
	fail := make(chan error, 1)
	follow := func(ctx context.Context, tell func(kube.NodeConfigs)) {
		for {
			select {
			case all := <-news:
				tell(all)
			case <-ctx.Done():
				return
			}
		}
	}
	live := func(ctx context.Context, o options) error {
		lives <- "begins with " + o.cfg.GetNodeConfig("a").Gateway
		defer func() { lives <- "ends" }()
		select {
		case <-ctx.Done():
			return nil
		case err := <-fail:
			return err
		}
	}
	o := options{cfg: n.file}
	ended := make(chan error, 1)
	go func() { ended <- n.follow(t.Context(), o, follow, live) }()
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-lives:
				if got != w {
					t.Fatalf("%q, want %q", got, w)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("nothing happens; want %q", w)
			}
		}
	}
	expect("begins with 192.168.16.100")
	news <- configs()
	news <- configs(agent.NodeConfig{NodeName: "b", NodeConfigSpec: agent.NodeConfigSpec{MainVPPInterface: agent.InterfaceConfig{InterfaceName: "x"}}})
	news <- configs(gatewayOf("a", "192.168.16.1"))
	expect("ends", "begins with 192.168.16.1")
	news <- configs(gatewayOf("a", "gate"))
	news <- configs(gatewayOf("a", "192.168.16.2"))
	expect("ends", "begins with 192.168.16.2")
	broken := errors.New("broken")
	fail <- broken
	expect("ends")
	if err := <-ended; !errors.Is(err, broken) {
		t.Error(err)
	}
	if all := strings.Join(*told, "\n"); strings.Count(all, reasonNodeConfigTaken) != 2 || strings.Count(all, reasonNodeConfigRefused) != 1 {
		t.Errorf("told %q", *told)
	}
}
