package kube

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Mirror keeps what a cluster shows at some paths of its API, by lists and watches alone. Its methods may be called from
// any goroutine.
type Mirror struct {
	c *Connection

	mu    sync.Mutex
	at    map[string]*mirrored // by path
	order []string
	// changed holds a token when something has changed since it was taken.
	changed chan struct{}
}

// mirrored is one path.
type mirrored struct {
	objects map[string][]byte // by "namespace/name"
	listed  bool
	// left says why nothing of it is known, "" where something is or where the server has no such kind.
	left string
}

// Mirror follows paths until ctx ends; a kind that the server does not have, or does not show, is asked for again each
// minute. Pods are kept without their containers and volumes.
func (c *Connection) Mirror(ctx context.Context, paths []string) *Mirror {
	m := &Mirror{c: c, at: map[string]*mirrored{}, order: paths, changed: make(chan struct{}, 1)}
	for _, path := range paths {
		m.at[path] = &mirrored{objects: map[string][]byte{}}
	}
	go m.find(ctx)
	return m
}

// mirrorAgain is until a kind is asked for again that a server does not have or show.
const mirrorAgain = time.Minute

// find follows the paths that the server has, and asks for the others again and again: by one request for all whose API
// group it does not serve.
func (m *Mirror) find(ctx context.Context) {
	waiting := slices.Clone(m.order)
	for {
		groups, err := m.c.groups(ctx)
		if code := statusCode(err); code == http.StatusForbidden || code == http.StatusNotFound {
			err = nil // each is asked for by itself
		}
		waiting = slices.DeleteFunc(waiting, func(path string) bool {
			switch {
			case err != nil:
				m.set(path, m.c.unread(path, err).Error())
			case groups != nil && !served(groups, path):
				m.set(path, "")
			default:
				return m.follow(ctx, path)
			}
			return false
		})
		if len(waiting) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(mirrorAgain):
		}
	}
}

// follow begins to follow a path if the server shows it.
func (m *Mirror) follow(ctx context.Context, path string) bool {
	kind := custom{m.c.client, path}
	_, err := kind.List(ctx, metav1.ListOptions{Limit: 1})
	switch {
	case err == nil:
		go follow(logged(ctx, m.c.log), m.c.client, kind, "", new(unstructured.Unstructured), m.sink(path))
		return true
	case statusCode(err) == http.StatusNotFound:
		m.set(path, "")
	default:
		m.set(path, m.c.unread(path, err).Error())
	}
	return false
}

// groups are the versions of API groups that the server has, as in "apps/v1"; nil where it does not list them.
func (c *Connection) groups(ctx context.Context) (groups map[string]bool, err error) {
	text, err := c.client.Discovery().RESTClient().Get().AbsPath("/apis").DoRaw(ctx)
	var list metav1.APIGroupList
	if err != nil || json.Unmarshal(text, &list) != nil || list.Kind != "APIGroupList" {
		return nil, err
	}
	groups = map[string]bool{}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			groups[v.GroupVersion] = true
		}
	}
	return groups, nil
}

// served reports whether a path's API group is among those that a server has; the core's paths have none.
func served(groups map[string]bool, path string) bool {
	rest, named := strings.CutPrefix(path, "/apis/")
	parts := strings.SplitN(rest, "/", 3)
	return !named || len(parts) == 3 && groups[parts[0]+"/"+parts[1]]
}

// set says that nothing is known of a path, and why.
func (m *Mirror) set(path, left string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at[path].listed, m.at[path].left = true, left
	m.touch()
}

func (m *Mirror) touch() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

func (m *Mirror) sink(path string) sink[*unstructured.Unstructured] {
	keep := func(into map[string][]byte, o *unstructured.Unstructured) {
		o.SetManagedFields(nil)
		trim(o)
		if text, err := o.MarshalJSON(); err == nil { // it was read from JSON
			into[o.GetNamespace()+"/"+o.GetName()] = text
		}
	}
	return sink[*unstructured.Unstructured]{
		listed: func(list []*unstructured.Unstructured) {
			all := make(map[string][]byte, len(list))
			for _, o := range list {
				keep(all, o)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.at[path].objects, m.at[path].listed, m.at[path].left = all, true, ""
			m.touch()
		},
		put: func(o *unstructured.Unstructured, _ bool) {
			m.mu.Lock()
			defer m.mu.Unlock()
			keep(m.at[path].objects, o)
			m.touch()
		},
		gone: func(o *unstructured.Unstructured) {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.at[path].objects, o.GetNamespace()+"/"+o.GetName())
			m.touch()
		},
	}
}

// trim takes from an object what says nothing of addresses, so that a mirror of many keeps little.
func trim(o *unstructured.Unstructured) {
	if o.GetKind() != "Pod" {
		return
	}
	for _, part := range []string{"containers", "initContainers", "ephemeralContainers", "volumes", "tolerations", "affinity"} {
		unstructured.RemoveNestedField(o.Object, "spec", part)
	}
	for _, part := range []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"} {
		unstructured.RemoveNestedField(o.Object, "status", part)
	}
}

// Changed receives when something has changed since it last did.
func (m *Mirror) Changed() <-chan struct{} { return m.changed }

// Each gives every object as JSON, path after path, in order of namespaces and names; left says of which paths nothing is known
// and why. It reports whether each path was read once at least: before that the rest is not worth judging. Texts are
// not changed afterwards and may be kept.
func (m *Mirror) Each(take func(text []byte)) (left []string, whole bool) {
	m.mu.Lock()
	var texts [][]byte
	whole = true
	for _, path := range m.order {
		x := m.at[path]
		whole = whole && x.listed
		if x.left != "" {
			left = append(left, x.left)
		}
		for _, key := range slices.Sorted(maps.Keys(x.objects)) {
			texts = append(texts, x.objects[key])
		}
	}
	m.mu.Unlock()
	for _, text := range texts {
		take(text)
	}
	return left, whole
}
