package cilium

import (
	"fmt"
	"slices"
)

// listed takes in every resource. The first list ends the restart.
func (t *PoolTerm) listed(objects []Object) {
	there := make(map[string]bool, len(objects))
	for _, x := range objects {
		there[x.Metadata.Name] = true
	}
	for _, name := range sortedKeys(t.views) {
		if !there[name] {
			t.lost(t.views[name])
		}
	}
	for _, x := range objects {
		t.view(x)
	}
	if !t.ready && t.then == nil {
		t.adopt(objects)
	}
}

// view takes in a resource, unless it is older than what is known of it.
func (t *PoolTerm) view(x Object) {
	name := x.Metadata.Name
	old := t.views[name]
	if !x.newer(old) {
		return
	}
	if old.exists() && old.Metadata.UID != x.Metadata.UID {
		t.lost(old)
	}
	t.views[name] = x
	if x.Bad != nil {
		t.say(Note{fmt.Sprintf("%s is left alone: %v", name, x.Bad)})
		return
	}
	t.enqueue(name)
}

// lost takes in that a resource is gone; what its node held goes back in its turn.
func (t *PoolTerm) lost(x Object) {
	name := x.Metadata.Name
	if old := t.views[name]; old.exists() && old.Metadata.UID == x.Metadata.UID {
		delete(t.views, name)
		delete(t.told, name)
	}
	key := name + "/" + x.Metadata.UID
	t.gone[key] = x.Metadata.Incarnation()
	t.enqueue(key)
}

func (t *PoolTerm) enqueue(name string) {
	if !slices.Contains(t.queue, name) {
		t.queue = append(t.queue, name)
	}
}

// later has a node looked at again in a while.
func (t *PoolTerm) later(name string) {
	if !slices.Contains(t.short, name) {
		t.short = append(t.short, name)
	}
}

// requeueShort looks again at every node that found no block.
func (t *PoolTerm) requeueShort() {
	for _, name := range t.short {
		t.enqueue(name)
	}
	t.short = nil
}
