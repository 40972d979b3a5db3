package kube_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// server is an API server with what tests do to one.
type server struct {
	*apiserver.Server
	http *httptest.Server

	// gate keeps lists and watches out while it is locked.
	gate    sync.RWMutex
	mu      sync.Mutex
	watches int                 // that have begun
	holders map[string][]string // pod CIDRs by node
	broken  []string            // overlapping pod CIDRs, as they came
	patches map[string]int
	// missing are resources that are not served.
	missing []string
	// noNamespace is one in which nothing can be created.
	noNamespace string
	// denied are what access reviews forbid: "verb resource".
	denied []string
	// answer may answer in the place of the server, after a request was done; nil and 0 let it pass.
	answer func(r *http.Request) int
	// refuse may answer before a request is done; nil and 0 let it pass.
	refuse func(r *http.Request, p apiserver.Path) int
}

func newServer(t testing.TB) *server {
	s := &server{Server: apiserver.New(), patches: map[string]int{}, holders: map[string][]string{}}
	s.Observe = s.check
	s.http = httptest.NewServer(s)
	t.Cleanup(func() { s.EndWatches(); s.http.Close() })
	return s
}

// forget ends all watches; what do does then is seen by lists alone.
func (s *server) forget(do func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.EndWatches()
	do()
	s.Forget()
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := apiserver.ParsePath(r.URL.Path)
	s.mu.Lock()
	missing, answer, nowhere := slices.Contains(s.missing, p.Resource), s.answer, r.Method == http.MethodPost && p.Namespace != "" && p.Namespace == s.noNamespace
	if r.Method == http.MethodPatch {
		s.patches[p.Name]++
	}
	s.mu.Unlock()
	early := 0
	if s.refuse != nil {
		early = s.refuse(r, p)
	}
	switch {
	case p.Resource == "selfsubjectaccessreviews":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(s.review(decode(body))) // a client that is gone needs none
		return
	case nowhere:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: 404,
			// a client that is gone needs none
			Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: "namespaces", Name: p.Namespace}})
		return
	case early != 0:
		apiserver.Refuse(w, early, "instead", "")
		return
	case missing:
		apiserver.Refuse(w, 404, "the server could not find the requested resource", "")
		return
	case p.Name == "" && r.Method == http.MethodGet:
		s.gate.RLock()
		s.gate.RUnlock()
		if r.URL.Query().Get("watch") != "" {
			w = &watching{w, s}
		}
	case answer != nil:
		done := httptest.NewRecorder()
		s.Server.ServeHTTP(done, r)
		if instead := answer(r); instead != 0 {
			w.Header().Set("Retry-After", "0")
			apiserver.Refuse(w, instead, "instead", "")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(done.Code)
		_, _ = w.Write(done.Body.Bytes())
		return
	}
	s.Server.ServeHTTP(w, r)
}

// watching counts a watch when it begins.
type watching struct {
	http.ResponseWriter
	s *server
}

func (w *watching) WriteHeader(code int) {
	if code == http.StatusOK {
		w.s.mu.Lock()
		w.s.watches++
		w.s.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(code)
}

// Flush implements http.Flusher.
func (w *watching) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// review answers what a client may do.
func (s *server) review(o map[string]any) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := o["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
	o["status"] = map[string]any{"allowed": !slices.Contains(s.denied, fmt.Sprint(asked["verb"], " ", asked["resource"]))}
	return o
}

func decode(body []byte) map[string]any {
	o := map[string]any{}
	if err := json.Unmarshal(body, &o); err != nil {
		panic(err)
	}
	return o
}

func encode(o any) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}

func metadata(o map[string]any) map[string]any { return o["metadata"].(map[string]any) }

// check notes nodes with overlapping pod CIDRs.
func (s *server) check(key string, _, now apiserver.Object) {
	if !strings.HasPrefix(key, "nodes/") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holders, key)
	for _, c := range apiserver.CIDRs(now) {
		p := netip.MustParsePrefix(c)
		for other, list := range s.holders { // in any order: each is noted
			for _, held := range list {
				if netip.MustParsePrefix(held).Overlaps(p) {
					s.broken = append(s.broken, fmt.Sprintf("%s and %s hold %s and %s", other, key, held, p))
				}
			}
		}
	}
	if list := apiserver.CIDRs(now); len(list) > 0 {
		s.holders[key] = list
	}
}

// put creates an object directly, or writes over it.
func (s *server) put(resource string, obj any) { s.Put(resource, obj) }

// addNode creates a node; one that exists it writes over, and leaves it its pod CIDRs.
func (s *server) addNode(name string, change ...func(*v1.Node)) {
	n := v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, c := range change {
		c(&n)
	}
	s.put("nodes", n)
}

// watched reports whether somebody watches nodes.
func (s *server) watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches > 0
}

func (s *server) deleteNode(name string) { s.Remove("nodes", "", name) }

// nodes returns what the server has.
func (s *server) nodes() map[string]v1.Node {
	all := map[string]v1.Node{}
	for _, o := range s.All("nodes") {
		var n v1.Node
		if err := json.Unmarshal(encode(o), &n); err != nil {
			panic(err)
		}
		all[n.Name] = n
	}
	return all
}

// without names the nodes without pod CIDRs.
func (s *server) without() []string {
	var names []string
	for name, n := range s.nodes() {
		if len(n.Spec.PodCIDRs) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
