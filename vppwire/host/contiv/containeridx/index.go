package containeridx

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Reader reads the index. Lists are of container IDs, in their order, and the caller's.
type Reader interface {
	// LookupContainer finds a container.
	LookupContainer(containerID string) (data *Config, found bool)
	// LookupPodName lists the containers of pods of that name in any namespace.
	LookupPodName(podName string) (containerIDs []string)
	// LookupPodNamespace lists the containers of a namespace's pods.
	LookupPodNamespace(podNamespace string) (containerIDs []string)
	// LookupPodIf lists the containers behind a VPP interface: several where pods share one.
	LookupPodIf(ifname string) (containerIDs []string)
	// ListAll lists all of them.
	ListAll() (containerIDs []string)
	// Watch has callback called for each container that is there now, and then for each that comes, changes or goes, in that
	// order, until Unwatch. It runs where the agent does: it must not block, and must not ask the plugin. ErrWatching where the
	// subscriber watches already.
	Watch(subscriber string, callback func(ChangeEvent)) error
	// Unwatch ends a Watch. A callback under way ends first.
	Unwatch(subscriber string)
}

// Config is what is known of one container, which is a pod's sandbox.
type Config struct {
	ID           string `json:"containerID"`
	PodNamespace string `json:"podNamespace"`
	PodName      string `json:"podName"`
	PodUID       string `json:"podUID"`
	// Interfaces are one for each attachment, by network and name; at least one.
	Interfaces []Interface `json:"interfaces"`
}

// Interface is one attachment of a container.
type Interface struct {
	Network string `json:"network"`
	// IfName is the name in the sandbox, whose network namespace is Netns.
	IfName string `json:"ifName"`
	Netns  string `json:"netns"`
	// VppIf is VPP's name; empty where the agent has begun anew and not wired it yet.
	VppIf string `json:"vppIfName"`
	// IP is the pod's address, SecondIP that of the second family.
	IP       netip.Addr `json:"ip"`
	SecondIP netip.Addr `json:"secondIP,omitzero"`
	// Since is when it got its address. Removing: it is on its way out.
	Since    time.Time `json:"since"`
	Removing bool      `json:"removing"`
}

// ChangeEvent is a change of one container.
type ChangeEvent struct {
	// Name is the container's ID. Del: it has gone, and Value is what it was.
	Name  string
	Del   bool
	Value *Config
}

// List are all containers of one moment. The zero List has none.
type List []*Config

// Put adds an interface, and its container where that is new.
func (l *List) Put(id, podNamespace, podName, podUID string, i Interface) {
	at, found := slices.BinarySearchFunc(*l, id, func(c *Config, id string) int { return cmp.Compare(c.ID, id) })
	if !found {
		*l = slices.Insert(*l, at, &Config{ID: id, PodNamespace: podNamespace, PodName: podName, PodUID: podUID})
	}
	(*l)[at].Interfaces = append((*l)[at].Interfaces, i)
}

// Container finds a container, nil for none.
func (l List) Container(id string) *Config {
	at, found := slices.BinarySearchFunc(l, id, func(c *Config, id string) int { return cmp.Compare(c.ID, id) })
	if !found {
		return nil
	}
	return l[at]
}

// PodName, PodNamespace and PodIf are what is left of a list by one of the indices.
func (l List) PodName(name string) List {
	return l.where(func(c *Config) bool { return c.PodName == name })
}

// PodNamespace is of a namespace's pods.
func (l List) PodNamespace(namespace string) List {
	return l.where(func(c *Config) bool { return c.PodNamespace == namespace })
}

// PodIf is of what is behind a VPP interface; nothing is behind the empty name.
func (l List) PodIf(ifname string) List {
	return l.where(func(c *Config) bool {
		return ifname != "" && slices.ContainsFunc(c.Interfaces, func(i Interface) bool { return i.VppIf == ifname })
	})
}

// Keys are keys of the index; an empty one asks for nothing.
type Keys struct{ ContainerID, PodNamespace, PodName, VppIf string }

// Where is what fits all of the keys.
func (l List) Where(k Keys) List {
	return l.where(func(c *Config) bool {
		return (k.ContainerID == "" || c.ID == k.ContainerID) && (k.PodNamespace == "" || c.PodNamespace == k.PodNamespace) &&
			(k.PodName == "" || c.PodName == k.PodName) && (k.VppIf == "" || len(List{c}.PodIf(k.VppIf)) > 0)
	})
}

func (l List) where(fits func(*Config) bool) (out List) {
	for _, c := range l {
		if fits(c) {
			out = append(out, c)
		}
	}
	return out
}

// IDs are the containers' IDs.
func (l List) IDs() []string {
	ids := make([]string, len(l))
	for i, c := range l {
		ids[i] = c.ID
	}
	return ids
}

// Changes are what makes the list now of the list before, in the order of IDs.
func Changes(before, now List) (events []ChangeEvent) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].ID < now[0].ID:
			events = append(events, ChangeEvent{Name: before[0].ID, Del: true, Value: before[0]})
			before = before[1:]
		case len(before) == 0 || now[0].ID < before[0].ID:
			events = append(events, ChangeEvent{Name: now[0].ID, Value: now[0]})
			now = now[1:]
		default:
			if b, n := before[0], now[0]; b.PodUID != n.PodUID || b.PodName != n.PodName || b.PodNamespace != n.PodNamespace || !slices.Equal(b.Interfaces, n.Interfaces) {
				events = append(events, ChangeEvent{Name: n.ID, Value: n})
			}
			before, now = before[1:], now[1:]
		}
	}
	return events
}
