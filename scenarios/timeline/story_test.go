package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/choice"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Goal: what each action means is written down: what a world is told, in which order, and when a fault ends; and the language has no
// action that this leaves out. Method: golden stories of a world that writes down what it is told; verbs that no story does fail.
func TestStories(t *testing.T) {
	done := map[string]bool{"settle": true, "heal": true} // result.Run does these
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		var w *script
		var p *timeline.Player
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w1 := w
			switch d.Cmd {
			case "cluster":
				s, err := scenarios.Parse("story.yaml", []byte("# A story.\nname: story\n"+d.Input+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				w = &script{quiet: true, answer: timeline.Response{Known: true}}
				w1 = w
				p = timeline.New(w, s, choice.Seeded(1))
				if err := p.Start(context.Background()); err != nil {
					w.say("error: %v", err)
				}
			case "do":
				for line := range strings.Lines(d.Input) {
					a, err := scenarios.ParseAction(strings.TrimSpace(line))
					if err != nil {
						t.Fatal(err)
					}
					w.say("%s", a)
					if err := p.Do(context.Background(), a); err != nil {
						w.say("  error: %v", err)
					}
					done[a.Verb()] = true
				}
			case "place":
				for i := range w.pods {
					if w.pods[i].Node == "" {
						w.pods[i].Node = d.CmdArgs[0].Key
						w.say("  the scheduler places %s", w.pods[i].Name)
					}
				}
			case "busy":
				w.quiet = false
			case "answer":
				w.answer = timeline.Response{Known: d.CmdArgs[0].Key == "known", Code: 7, Message: "no"}
				w.past = []ipam.Owner{{Network: "vppdrill", ContainerID: "past", IfName: "eth0"}}
			case "advance":
				by, err := time.ParseDuration(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				w.advance(by)
			case "heal":
				if err := p.Heal(); err != nil {
					w.say("error: %v", err)
				}
			case "pending":
				w.say("pending %t, timed %t", p.Pending(), p.Timed())
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			out := strings.Join(w1.lines, "\n") + "\n"
			w1.lines = nil
			return out
		})
	})
	for _, verb := range scenarios.Verbs() {
		if !done[verb] {
			t.Errorf("no story does %s", verb)
		}
	}
}

// Goal: an injected fault needs what it can strike, by the kinds of its text, in a timeline as in the fault section. Method: a table.
func TestFaultNeeds(t *testing.T) {
	all := []timeline.Need{timeline.AgentCalls, timeline.WatchDelivery, timeline.ControllerCalls}
	for text, want := range map[string][]timeline.Need{
		"(Nth 1 (Request tap_create_v3 Mute))":                  {timeline.AgentCalls},
		"(Kind effect (Request CallDataplane CrashBefore))":     {timeline.AgentCalls},
		"(Key pod/default/web-0 (Kind persist (Refuse 0)))":     {timeline.AgentCalls},
		"(Kind store-watch (Jitter 1ms 3s))":                    {timeline.WatchDelivery},
		"(Node node-1 (Kind api-watch Vanish))":                 {timeline.WatchDelivery},
		"(Kind control-watch Vanish)":                           {timeline.ControllerCalls},
		"(First 3 (Request node-patch (Delay 55s)))":            {timeline.ControllerCalls},
		"(Nth 2 (Kind control (Request delete-eni Mute)))":      {timeline.ControllerCalls},
		`(Any (Kind cni Vanish) (Request "block-assign" Mute))`: {timeline.AgentCalls, timeline.ControllerCalls},
		"Mute":               all,
		"(Prob 0.1 Vanish)":  all,
		"(Node node-1 Mute)": all,
	} {
		s, err := scenarios.Parse("fault.yaml", []byte("# One fault.\nname: fault\ntopology: {nodes: 1}\nfaults: {inject: ['"+text+"']}\ntimeline: [{at: 1s, do: inject, fault: '"+text+"'}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		var settings, actions []timeline.Need
		for _, need := range all {
			if len(timeline.RefusedSettings(s, []timeline.Need{need})) > 0 {
				settings = append(settings, need)
			}
			if len(timeline.RefusedActions(s, []timeline.Need{need})) > 0 {
				actions = append(actions, need)
			}
		}
		if !slices.Equal(settings, want) || !slices.Equal(actions, want) {
			t.Errorf("%s needs %v and %v, want %v", text, settings, actions, want)
		}
	}
}

// Goal: a need that a world lacks refuses every action and setting that has it, by name and with the one table's reason, before a
// run and in it; a world that lacks nothing refuses nothing. Method: every need in turn against a table.
func TestRefusals(t *testing.T) {
	s, err := scenarios.Parse("all.yaml", []byte(`# Everything.
name: all
topology: {nodes: 2}
config: {wiring: {pod: tap}}
faults: {dropReply: 0.1, loseWatch: 0.1}
timeline:
  - {at: 1s, do: inject, fault: "(Nth 1 (Request a Mute))"}
  - {at: 1s, do: inject, fault: "(Nth 2 (Request a Mute))"}
  - {at: 1s, do: stale-watch, node: node-1}
  - {at: 1s, do: duplicate-watch, node: node-1}
  - {at: 1s, do: crash-disk, node: node-1}
  - {at: 1s, do: partition, between: [node-1, node-2], oneWay: true}
  - {at: 1s, do: partition, between: [node-1, api], oneWay: true}
  - {at: 1s, do: slow-link, between: [node-1, node-2], delay: 1s}
  - {at: 1s, do: slow-link, between: [store, api], delay: 1s}
  - {at: 1s, do: gc, node: all}
  - {when: settled, do: settle}
  - {when: settled, do: heal}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[timeline.Need]string{
		timeline.AgentCalls: "inject faults.dropReply", timeline.WatchDelivery: "stale-watch duplicate-watch faults.loseWatch",
		timeline.UnsyncedWrites: "crash-disk", timeline.OneWayFabric: "partition", timeline.SlowFabric: "slow-link",
		timeline.ServerLink: "slow-link", timeline.VhostNet: "wiring.pod=tap",
	}
	for need := timeline.Nothing; need <= timeline.VhostNet; need++ {
		var lacks []timeline.Need
		if need != timeline.Nothing {
			lacks = append(lacks, need)
			if need.String() == "" {
				t.Errorf("need %d has no reason", need)
			}
		}
		refused := append(timeline.RefusedActions(s, lacks), timeline.RefusedSettings(s, lacks)...)
		if have := strings.Join(timeline.Names(refused), " "); have != want[need] {
			t.Errorf("%s: refused %q, want %q", need, have, want[need])
		}
		w := &script{lacks: lacks, machines: []timeline.Machine{{Name: "node-1", On: true}, {Name: "node-2", On: true}}}
		p := timeline.New(w, s, choice.Seeded(1))
		for _, step := range s.Timeline {
			if step.Action.Verb() == "settle" || step.Action.Verb() == "heal" {
				continue
			}
			err := p.Do(context.Background(), step.Action)
			if timeline.Lacking(step.Action, lacks) == timeline.Nothing {
				if err != nil {
					t.Errorf("lacking %s: %s: %v", need, step.Action, err)
				}
			} else if !errors.Is(err, result.ErrUnsupported) || !strings.HasSuffix(err.Error(), need.String()) {
				t.Errorf("lacking %s: %s: %v", need, step.Action, err)
			}
		}
	}
}

// Goal: choices depend on the seed and on nothing that differs between worlds. Method: the same actions in two worlds, in one of which
// other things are drawn in between.
func TestChoicesAreTheWorldsOwn(t *testing.T) {
	s, err := scenarios.Parse("s.yaml", []byte("# Victims.\nname: victims\ntopology: {nodes: 4, podsPerNode: 6}\n"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(seed uint64, noise bool) []string {
		w, c := &script{quiet: true}, choice.Seeded(seed)
		p := timeline.New(w, s, c)
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			if noise {
				for range i + 1 {
					c.Pick("delay node-1>api", 1000)
				}
			}
			for _, line := range []string{"delete-pods count=2", "restart-vpp node=any", "replace-sandbox node=any count=2"} {
				a, err := scenarios.ParseAction(line)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Do(context.Background(), a); err != nil {
					t.Fatal(err)
				}
			}
		}
		return w.lines
	}
	want := run(3, false)
	if have := run(3, true); !slices.Equal(have, want) {
		t.Errorf("draws of others change choices:\n%s\n%s", fmt.Sprint(have), fmt.Sprint(want))
	}
	if slices.Equal(run(4, false), want) {
		t.Error("another seed chooses the same")
	}
}
