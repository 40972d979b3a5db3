package agent_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestCrashAnywhere kills the agent before and after every single effect of a node's life, one crash per run, and
// starts it again with what its disk holds; requests that were not answered are repeated, as kubelets do. Goal: nothing
// that was told is lost, no address ever has two owners, and in the end the node is exactly as if nothing had happened.
// Method: exhaustive; the run without crash counts the effects and is what the others are compared with.
func TestCrashAnywhere(t *testing.T) {
	calm := newCrashRun(t)
	calm.play(-1, false)
	want := calm.end()
	n := calm.l.Effects
	if n < 60 {
		t.Fatalf("only %d effects: the life is too short to mean anything", n)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < n; at += step {
		for _, after := range [...]bool{false, true} {
			name := fmt.Sprintf("before effect %d", at)
			if after {
				name = fmt.Sprintf("after effect %d", at)
			}
			r := newCrashRun(t)
			r.play(at, after)
			if got := r.end(); got != want {
				t.Errorf("crash %s:\n%s\nends as\n%s\nnot as\n%s", name, tail(r.l.Out.String(), 25), got, want)
			}
			for _, message := range r.b.Errors {
				t.Errorf("crash %s: logged %s", name, message)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	t.Logf("%d effects, %d runs", n, 2*((n+step-1)/step))
}

// crashRun is one life of one node.
type crashRun struct {
	t    testing.TB
	l    *story.Lab
	b    *story.Machine
	done bool
	// patient runs let time pass before they ask again.
	patient bool
	// told is what the answers to ADDs said last, by container.
	told map[string]netip.Addr
	pods map[string]string // living sandboxes' pods
}

func newCrashRun(t testing.TB) *crashRun {
	r := &crashRun{t: t, l: story.New(t), told: map[string]netip.Addr{}, pods: map[string]string{}}
	r.l.Machine("n2") // a peer that stays, so that there is something to be published to
	r.l.Machines["n2"].Start()
	r.l.Machines["n2"].Tell()
	r.l.Settle()
	r.l.Effects = 0
	r.b = r.l.Machine("n1")
	r.l.Machines["n2"].Step(r.b.Seen())
	r.l.Settle()
	return r
}

// play lives the life with a crash of n1's agent at its effect number at; -1 for none.
func (r *crashRun) play(at int, after bool) {
	n := -1
	r.l.Crash = func(b *story.Machine, e Effect, isAfter bool) bool {
		if b != r.b {
			return false
		}
		if !isAfter {
			n++
		}
		if r.done || n != at || isAfter != after {
			return false
		}
		r.done = true
		return true
	}
	r.up()
	r.add("web-0", "c1")
	r.add("web-1", "c2")
	r.del("c1")
	r.add("web-0", "c3")
	r.l.Pools = story.Pools(2, "10.2.0.0/16", 24)
	r.b.Step(PoolsChanged{Pools: r.l.Pools})
	r.calm()
	if r.patient {
		r.l.Pass(20 * time.Second) // until then, addresses rightly come from the old block
	}
	r.add("web-2", "c4")
	r.gone("c2") // the runtime killed it, and its DEL never came
	r.add("web-1", "c5")
	r.del("c3")
	r.b.KillVPP()
	r.add("web-3", "c6")
	r.b.StartVPP()
	r.calm()
	r.wait("add c6")
	r.note("c6")
	r.l.Effects = n + 1
}

func (r *crashRun) up() {
	r.b.Start()
	r.b.Tell()
	r.calm()
}

// calm performs what is under way and starts the agent again if it died; what is true must hold all along.
func (r *crashRun) calm() {
	for {
		r.l.Pass(0)
		r.check()
		if r.b.Agent != nil {
			return
		}
		r.b.Open = map[uint64]string{}
		r.b.Start()
		r.b.Tell()
	}
}

// ask repeats a request until it is answered.
func (r *crashRun) ask(name string, request func()) {
	delete(r.l.Answers, "n1/"+name)
	request()
	r.wait2(name, request)
}

func (r *crashRun) wait2(name string, request func()) {
	for range 5 {
		r.calm()
		if a, ok := r.l.Answers["n1/"+name]; ok {
			if a.Code != CodeOK {
				r.t.Fatalf("%s: code %d %s", name, a.Code, a.Message)
			}
			return
		}
		if r.b.VPP == nil {
			return // it waits for VPP
		}
		if r.patient {
			r.l.Pass(20 * time.Second)
			if _, ok := r.l.Answers["n1/"+name]; ok {
				continue
			}
		}
		request()
	}
	r.t.Fatalf("%s is never answered:\n%s%s", name, tail(r.l.Out.String(), 30), r.b.State())
}

func (r *crashRun) add(pod, container string) {
	request := func() { r.b.Add(pod, container) }
	r.pods[container] = pod
	r.ask("add "+container, request)
	r.note(container)
}

func (r *crashRun) wait(name string) {
	container := strings.TrimPrefix(name, "add ")
	r.wait2(name, func() { r.b.Add(r.pods[container], container) })
}

// note remembers what was told; once told it must not change.
func (r *crashRun) note(container string) {
	if a, ok := r.l.Answers["n1/add "+container]; ok {
		r.told[container] = a.Result.Addr.Addr()
	}
	r.check()
}

func (r *crashRun) del(container string) {
	r.gone(container)
	r.ask("del "+container, func() { r.b.Del(container) })
}

func (r *crashRun) gone(container string) {
	delete(r.told, container)
	delete(r.pods, container)
	r.b.Host.RemoveNamespace(story.Netns(container))
}

// check compares the allocation state with what was told, and looks for two owners of one address in the journal's
// history.
func (r *crashRun) check() {
	a := r.b.Agent
	if a == nil {
		return
	}
	held := map[netip.Addr]ipam.Owner{}
	byContainer := map[string]netip.Addr{}
	for lease := range a.Leases() {
		if other, ok := held[lease.Addr]; ok {
			r.t.Fatalf("%s is held by %s and %s", lease.Addr, other, lease.Owner)
		}
		held[lease.Addr] = lease.Owner
		byContainer[lease.Owner.ContainerID] = lease.Addr
	}
	for container, addr := range r.told {
		if _, alive := r.pods[container]; alive && byContainer[container] != addr {
			r.t.Fatalf("%s was told %s, the allocation state says %s\n%s", container, addr, byContainer[container], tail(r.l.Out.String(), 30))
		}
	}
}

// end is the final state without what may differ: which addresses were skipped on the way.
func (r *crashRun) end() string {
	r.calm()
	var out strings.Builder
	a := r.b.Agent
	for t := range a.Attachments() {
		fmt.Fprintf(&out, "pod %s %s in %s up=%t\n", t.Sandbox.PodName, t.Sandbox.Owner.ContainerID, t.Lease.Block, t.Up)
	}
	for _, b := range a.Blocks() {
		fmt.Fprintf(&out, "block %s draining=%t\n", b.Prefix, b.Draining)
	}
	fmt.Fprintf(&out, "id %d node %s\n%s", a.ID(), a.Node().Address, r.l.Store.Text())
	fmt.Fprintf(&out, "pending %q\n", a.Pending())
	// What is wired: one AF_PACKET interface for each pod and no other.
	n := 0
	for i := range r.b.VPP.Interfaces() {
		if strings.HasPrefix(i.Name, "host-vd") {
			n++
		}
	}
	fmt.Fprintf(&out, "pod interfaces %d\n", n)
	return out.String()
}

// TestMishapAnywhere lets each dataplane call and each store request of the same life go wrong, one per run: not done,
// done without an answer, refused. Goal and method are those of TestCrashAnywhere; here the agent lives on and looks
// again.
func TestMishapAnywhere(t *testing.T) {
	calm := newCrashRun(t)
	counts := map[string]int{}
	calm.l.Mishap = func(b *story.Machine, what string) story.Mishap {
		if b == calm.b {
			counts[what]++
		}
		return story.Fine
	}
	calm.play(-1, false)
	want := calm.end()
	for _, what := range [...]string{"call", "dump", "store"} {
		step := 1
		if testing.Short() {
			step = 5
		}
		if counts[what] < 5 {
			t.Fatalf("only %d times %q", counts[what], what)
		}
		for at := 0; at < counts[what]; at += step {
			for _, fate := range [...]story.Mishap{story.RequestLost, story.ReplyLost, story.Refused} {
				r := newCrashRun(t)
				r.patient = true
				n := -1
				r.l.Mishap = func(b *story.Machine, kind string) story.Mishap {
					if b != r.b || kind != what {
						return story.Fine
					}
					if n++; n == at {
						return fate
					}
					return story.Fine
				}
				r.play(-1, false)
				r.l.Pass(time.Minute)
				if got := r.end(); got != want {
					t.Fatalf("%s %d, mishap %d:\n%s\nends as\n%s\nnot as\n%s", what, at, fate, tail(r.l.Out.String(), 25), got, want)
				}
			}
		}
		t.Logf("%d times %q", counts[what], what)
	}
}

func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
