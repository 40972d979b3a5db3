package cluster

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// mirror is a Handler that keeps what it is told and complains about what cannot be.
type mirror struct {
	objects map[Key]Object
	version int64
	wrong   string
}

func (m *mirror) Listed(objects []Object, version int64) {
	m.objects = make(map[Key]Object)
	for _, o := range objects {
		m.objects[o.Common().Key()] = o
	}
	m.version = version
}

func (m *mirror) Changed(c Change) {
	key := c.Object.Common().Key()
	if known := m.objects[key] != nil; known == (c.Type == Added) || c.ResourceVersion <= m.version {
		m.wrong = fmt.Sprintf("%s, known %t, after %d", c.AppendText(nil), known, m.version)
	}
	m.version = c.ResourceVersion
	m.objects[key] = c.Object
	if c.Type == Deleted {
		delete(m.objects, key)
	}
}

// TestInformersConverge: whatever happens to the links, an informer's view is always exactly one past state of the API,
// versions never go back, and soon after the last fault it is the present one. The twin is a copy of every state.
func TestInformersConverge(t *testing.T) {
	var relists, ignored int
	property := func(t *rapid.T) {
		eng := engine.New(engine.Seeded(rapid.Uint64().Draw(t, "seed")))
		net := NewNetwork(eng, NetworkConfig{})
		apiAt := net.Endpoint("api")
		api := NewAPI(eng, net, apiAt, APIConfig{History: rapid.SampledFrom([]int{2, 8, 4096}).Draw(t, "history")})
		var age time.Duration // of lists; below nought: they are refused
		api.OnList(func(*InformerConfig) (time.Duration, bool) { return age, age < 0 })
		past := map[int64]map[Key]Object{0: {}}
		api.Observe(func(_, _ Object) { past[api.version] = maps.Clone(api.kinds[KindPod].objects) })
		mirrors := map[string]*mirror{}
		informers := map[string]*Informer{}
		for _, node := range []string{"", "node-0", "node-1"} {
			m := &mirror{}
			mirrors[node] = m
			informers[node] = api.NewInformer(InformerConfig{
				Name: "test", At: net.Endpoint("client" + node), Kind: KindPod, Node: node, Handler: m,
			})
			informers[node].Start()
		}
		compare := func() {
			for node, m := range mirrors {
				if m.objects == nil {
					continue
				}
				want := past[m.version]
				n := 0
				for key, o := range want {
					if node == "" || nodeOf(o) == node {
						n++
						if m.objects[key] != o {
							t.Fatalf("informer %q at version %d: %s is another or missing", node, m.version, key)
						}
					}
				}
				if n != len(m.objects) || m.wrong != "" {
					t.Fatalf("informer %q at version %d: %d objects, want %d; %s", node, m.version, len(m.objects), n, m.wrong)
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			disturb(t, api, informers)
			age = rapid.SampledFrom([]time.Duration{0, 0, time.Second, 40 * time.Second, -1}).Draw(t, "age of lists")
			wait := rapid.SampledFrom([]time.Duration{0, 300 * time.Microsecond, time.Millisecond, time.Second, 50 * time.Second}).Draw(t, "wait")
			for end := eng.Now() + wait; ; {
				if at, ok := eng.NextAt(); !ok || at > end {
					break
				}
				eng.Step()
				compare()
			}
			_ = eng.RunUntil(eng.Now() + wait)
		}
		net.MendAll()
		net.SetDefault(Link{DelayMin: time.Millisecond, DelayMax: time.Millisecond})
		api.SetAvailable(true)
		age = 0
		for _, i := range informers {
			i.Faults = StreamFaults{}
		}
		_ = eng.RunUntil(eng.Now() + 3*time.Minute)
		compare()
		for node, i := range informers {
			relists += i.Lists() - 1
			ignored += i.Ignored()
			want := 0
			for _, o := range api.kinds[KindPod].objects {
				if node == "" || nodeOf(o) == node {
					want++
				}
			}
			if !i.Synced() || len(mirrors[node].objects) != want || !net.Busy().Quiet() {
				t.Fatalf("informer %q: synced %t, %d objects of %d, %+v", node, i.Synced(), len(mirrors[node].objects), want, net.Busy())
			}
		}
	}
	const most = 10 // a short run draws few histories: now and then none of them has what this test is about
	for range most {
		rapid.Check(t, property)
		if t.Failed() || relists > 0 && ignored > 0 {
			return
		}
	}
	t.Fatalf("too tame: %d relists, %d changes ignored", relists, ignored)
}

// TestOldLists: a list from the server's cache shows what was so as long ago as the hook says, and not what was before
// the cluster or before what its informer has seen; the watch brings the rest. Who asks the server itself is not asked
// about, and a refused list is asked for again.
func TestOldLists(t *testing.T) {
	eng := engine.New(engine.Seeded(1))
	net := NewNetwork(eng, NetworkConfig{})
	api := NewAPI(eng, net, net.Endpoint("api"), APIConfig{})
	informer := func(name string, fresh bool) (*Informer, *mirror, *[]int) {
		m, sizes := &mirror{}, []int(nil)
		i := api.NewInformer(InformerConfig{Name: name, At: net.Endpoint(name), Kind: KindPod, Fresh: fresh, Handler: listed{m, &sizes}})
		return i, m, &sizes
	}
	age, refused, asked := 10*time.Second, 1, 0
	api.OnList(func(to *InformerConfig) (time.Duration, bool) {
		asked++
		if to.Fresh {
			t.Error("a fresh list may be old")
		}
		refused--
		return age, refused >= 0
	})
	pod := func(name string) {
		if err := api.Create(&Pod{Meta: Meta{Namespace: "default", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	pod("a")
	_ = eng.RunUntil(20 * time.Second)
	pod("b")
	_ = eng.RunUntil(25 * time.Second)
	old, seen, sizes := informer("old", false)
	fresh, whole, freshSizes := informer("fresh", true)
	old.Start()
	fresh.Start()
	_ = eng.RunUntil(eng.Now() + 2*time.Second)
	age = time.Hour
	old.Relist() // it has seen b
	_ = eng.RunUntil(eng.Now() + 2*time.Second)
	if fmt.Sprint(*sizes, *freshSizes) != "[1 2] [2]" || len(seen.objects) != 2 || len(whole.objects) != 2 || asked != 3 || seen.wrong != "" {
		t.Errorf("lists of %v and %v pods, %d and %d known in the end, %d lists asked about; %s", *sizes, *freshSizes, len(seen.objects), len(whole.objects), asked, seen.wrong)
	}
	other, first, _ := informer("other", false)
	other.Start()
	_ = eng.RunUntil(eng.Now() + time.Millisecond) // the list, and not yet what the watch brings
	if len(first.objects) == 0 {
		t.Error("a list is older than the cluster")
	}
}

// listed is a mirror that notes how long each list was.
type listed struct {
	*mirror
	sizes *[]int
}

func (l listed) Listed(objects []Object, version int64) {
	*l.sizes = append(*l.sizes, len(objects))
	l.mirror.Listed(objects, version)
}

// disturb changes one pod or one link.
func disturb(t *rapid.T, api *API, informers map[string]*Informer) {
	node := rapid.SampledFrom([]string{"", "node-0", "node-1"}).Draw(t, "client")
	i, net := informers[node], api.net
	key := Key{"default", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pod")}
	switch rapid.IntRange(0, 15).Draw(t, "action") {
	case 0:
		net.Cut(api.at, i.cfg.At)
	case 1:
		net.Cut(i.cfg.At, api.at)
	case 2:
		net.MendAll()
	case 3:
		net.SetDefault(Link{DelayMin: time.Millisecond, DelayMax: 30 * time.Millisecond, Loss: 0.2, Duplicate: 0.2})
	case 4:
		i.DropNext(1)
	case 5:
		i.DuplicateNext(2)
	case 6:
		i.Stale(rapid.SampledFrom([]time.Duration{0, 2 * time.Second}).Draw(t, "stale"))
	case 7:
		i.Relist()
	case 8:
		api.SetAvailable(!api.Available())
	case 9:
		i.Stop()
		i.Start()
	default:
		if _, ok := api.Pod(key); !ok {
			_ = api.Create(&Pod{Meta: Meta{Namespace: key.Namespace, Name: key.Name}, Node: node})
		} else if rapid.Bool().Draw(t, "delete") {
			_ = api.Delete(KindPod, key, "")
		} else if api.Bind(key, "", "node-1") != nil {
			_ = api.SetPodStatus(key, "", Running, netipAddr(1), netipAddr(2))
		}
	}
}
