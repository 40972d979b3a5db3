package kube_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// server is a small API server: objects of any kind with resourceVersions, preconditions, lists, watches and a history that can
// be forgotten. What it says about preconditions follows k8s.io/apiserver 0.36, registry/generic/registry/store.go: first the
// resourceVersion (409), then validation, UID and pod CIDRs among it (422).
type server struct {
	http *httptest.Server

	// gate keeps lists and watches out while it is locked.
	gate    sync.RWMutex
	mu      sync.Mutex
	version int64
	objects map[string]map[string]any // resource/namespace/name
	history []change
	oldest  int64 // watches from before this one are told 410
	changed chan struct{}
	cut     chan struct{} // closed to end all watches
	streams bool          // sendInitialEvents is understood
	uids    int
	watches int      // that have begun
	broken  []string // overlapping pod CIDRs, as they came
	patches map[string]int
	// missing are resources that are not served.
	missing []string
	// denied are what access reviews forbid: "verb resource".
	denied []string
	// answer may answer in the place of the server, after a request was done; nil and 0 let it pass.
	answer func(r *http.Request) int
}

// generations are resources whose metadata.generation grows with each change of the spec, as that of all custom resources does.
var generations = map[string]bool{"ipamconfigs": true}

type change struct {
	version  int64
	key      string
	kind     string
	now, old map[string]any
}

func newServer(t testing.TB) *server {
	s := &server{version: 1, objects: map[string]map[string]any{}, changed: make(chan struct{}), cut: make(chan struct{}),
		streams: true, patches: map[string]int{}}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() { s.endWatches(); s.http.Close() })
	return s
}

// endWatches ends all watches; later ones go on.
func (s *server) endWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// forget ends all watches; what do does then is seen by lists alone.
func (s *server) forget(do func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.endWatches()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = s.version
}

var kinds = map[string]any{"nodes": v1.Node{}, "events": v1.Event{}, "pods": v1.Pod{}, "configmaps": v1.ConfigMap{}}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, namespace, name, sub := parsePath(r.URL.Path)
	prefix := resource + "/" + namespace
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if resource == "selfsubjectaccessreviews" {
		reply(w, 201, s.review(decode(body)))
		return
	}
	if s.unknown(resource) {
		refuse(w, 404, "the server could not find the requested resource", "")
		return
	}
	if name == "" && r.Method == http.MethodGet {
		match := selector(r.URL.Query().Get("fieldSelector"))
		mine := func(key string, o map[string]any) bool {
			return strings.HasPrefix(key, resource+"/") && (namespace == "" || strings.HasPrefix(key, prefix+"/")) && match(o)
		}
		s.gate.RLock()
		//lint:ignore SA2001 it waits here while a test keeps the gate shut
		s.gate.RUnlock()
		if r.URL.Query().Get("watch") != "" {
			s.watch(w, r, mine)
			return
		}
		s.list(w, resource, mine)
		return
	}
	o, code, why, field := s.one(r, resource, prefix, name, sub, body)
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		if instead := answer(r); instead != 0 {
			w.Header().Set("Retry-After", "0")
			refuse(w, instead, "instead", "")
			return
		}
	}
	if code >= 400 {
		refuse(w, code, why, field)
		return
	}
	reply(w, code, o)
}

// one performs a request about one object.
func (s *server) one(r *http.Request, resource, prefix, name, sub string, body []byte) (o map[string]any, code int, why, field string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code = 200
	key := prefix + "/" + name
	switch r.Method {
	case http.MethodGet:
		if o = s.objects[key]; o == nil {
			code = 404
		}
	case http.MethodPost:
		o = decode(body)
		code, why = s.create(prefix, o)
	case http.MethodPut:
		o = decode(body)
		code, why, field = s.update(key, o)
	case http.MethodPatch:
		s.patches[name]++
		o, code, why, field = s.patch(resource, key, sub, r.Header.Get("Content-Type"), body)
	case http.MethodDelete:
		code = s.remove(key, body)
	}
	return o, code, why, field
}

func (s *server) unknown(resource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.missing, resource)
}

// review answers what a client may do.
func (s *server) review(o map[string]any) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := o["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
	o["status"] = map[string]any{"allowed": !slices.Contains(s.denied, fmt.Sprint(asked["verb"], " ", asked["resource"]))}
	return o
}

func parsePath(path string) (resource, namespace, name, sub string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	parts = parts[map[bool]int{true: 2, false: 3}[parts[0] == "api"]:]
	if parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	return parts[0], namespace, parts[1], parts[2]
}

func selector(text string) func(map[string]any) bool {
	path, value, ok := strings.Cut(text, "=")
	return func(o map[string]any) bool {
		if !ok {
			return true
		}
		head, tail, _ := strings.Cut(path, ".")
		part, _ := o[head].(map[string]any)
		return part[tail] == value
	}
}

func reply(w http.ResponseWriter, code int, o any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o) // a client that is gone needs none
}

var reasons = map[int]metav1.StatusReason{404: metav1.StatusReasonNotFound, 409: metav1.StatusReasonConflict, 410: metav1.StatusReasonExpired,
	422: metav1.StatusReasonInvalid, 403: metav1.StatusReasonForbidden, 503: metav1.StatusReasonServiceUnavailable, 504: metav1.StatusReasonTimeout}

func refuse(w http.ResponseWriter, code int, why, field string) {
	if why == "" {
		why = http.StatusText(code)
	}
	st := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: why}
	if field != "" {
		st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: why}}}
	}
	reply(w, code, st)
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

// write stores an object under the next version; nil deletes it. A stored object is never changed.
func (s *server) write(key, kind string, o map[string]any) {
	old := s.objects[key]
	s.version++
	if kind == "DELETED" {
		o = decode(encode(old))
		delete(s.objects, key)
	} else {
		s.objects[key] = o
	}
	metadata(o)["resourceVersion"] = strconv.FormatInt(s.version, 10)
	s.history = append(s.history, change{s.version, key, kind, o, old})
	close(s.changed)
	s.changed = make(chan struct{})
	s.check()
}

func (s *server) create(prefix string, o map[string]any) (int, string) {
	m := metadata(o)
	key := prefix + "/" + m["name"].(string)
	if s.objects[key] != nil {
		return 409, "exists"
	}
	if m["uid"] == nil {
		s.uids++
		m["uid"] = fmt.Sprintf("uid-%d", s.uids)
	}
	if generations[strings.Split(prefix, "/")[0]] {
		m["generation"] = 1.0
	}
	s.write(key, "ADDED", o)
	return 201, ""
}

// remove deletes an object, where body names no other version of it.
func (s *server) remove(key string, body []byte) int {
	var options metav1.DeleteOptions
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return 400
		}
	}
	switch p := options.Preconditions; {
	case s.objects[key] == nil:
		return 404
	case p != nil && p.ResourceVersion != nil && *p.ResourceVersion != metadata(s.objects[key])["resourceVersion"]:
		return 409
	}
	s.write(key, "DELETED", nil)
	return 200
}

func (s *server) update(key string, o map[string]any) (code int, why, field string) {
	old := s.objects[key]
	if old == nil {
		return 404, "", ""
	}
	was, is := metadata(old), metadata(o)
	if is["uid"] == nil { // k8s.io/apimachinery 0.36, pkg/api/validation, ValidateObjectMetaAccessorUpdate
		is["uid"] = was["uid"]
	}
	switch {
	case is["resourceVersion"] != was["resourceVersion"]:
		return 409, "the object has been modified", ""
	case is["uid"] != was["uid"]:
		return 422, "field is immutable", "metadata.uid"
	case !reflect.DeepEqual(cidrs(old), cidrs(o)) && len(cidrs(old)) > 0:
		return 422, `node updates may not change podCIDR except from "" to valid`, "spec.podCIDRs"
	case reflect.DeepEqual(old, o):
		return 200, "", ""
	}
	if generations[strings.Split(key, "/")[0]] {
		was, _ := was["generation"].(float64)
		is["generation"] = was
		if !reflect.DeepEqual(old["spec"], o["spec"]) {
			is["generation"] = was + 1
		}
	}
	s.write(key, "MODIFIED", o)
	return 200, "", ""
}

func (s *server) patch(resource, key, sub, kind string, body []byte) (o map[string]any, code int, why, field string) {
	old := s.objects[key]
	if old == nil {
		return nil, 404, "", ""
	}
	switch types.PatchType(kind) {
	case types.StrategicMergePatchType:
		text, err := strategicpatch.StrategicMergePatch(encode(old), body, kinds[resource])
		if err != nil {
			return nil, 400, err.Error(), ""
		}
		o = decode(text)
	case types.MergePatchType:
		o = decode(encode(old))
		mergePatch(o, decode(body))
	default:
		return nil, 415, kind, ""
	}
	if sub == "status" {
		whole := decode(encode(old))
		whole["status"] = o["status"]
		o = whole
	} else if o["status"] = old["status"]; o["status"] == nil {
		delete(o, "status")
	}
	code, why, field = s.update(key, o)
	return o, code, why, field
}

// mergePatch is RFC 7386.
func mergePatch(o, p map[string]any) {
	for k, v := range p {
		part, isMap := v.(map[string]any)
		if isMap {
			if o[k] == nil {
				o[k] = map[string]any{}
			}
			mergePatch(o[k].(map[string]any), part)
			continue
		}
		o[k] = v
	}
}

// kindOf is what objects of a path are.
func kindOf(path string) (api, kind string) {
	resource, _, _, _ := parsePath(path)
	if resource == "endpointslices" {
		return "discovery.k8s.io/v1", "EndpointSlice"
	}
	return "v1", map[string]string{"nodes": "Node", "pods": "Pod", "configmaps": "ConfigMap", "events": "Event", "nodeidrecords": "NodeIDRecord", "services": "Service", "poolnodes": "PoolNode",
		"nodeconfigs": "NodeConfig", "ipamconfigs": "IPAMConfig"}[resource]
}

func (s *server) list(w http.ResponseWriter, resource string, mine func(string, map[string]any) bool) {
	s.mu.Lock()
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if mine(key, s.objects[key]) {
			items = append(items, s.objects[key])
		}
	}
	version := s.version
	s.mu.Unlock()
	api, kind := kindOf("/api/v1/" + resource)
	reply(w, 200, map[string]any{"apiVersion": api, "kind": kind + "List", "metadata": map[string]any{"resourceVersion": strconv.FormatInt(version, 10)}, "items": items})
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, mine func(string, map[string]any) bool) {
	from, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	initial := r.URL.Query().Get("sendInitialEvents") == "true"
	s.mu.Lock()
	cut, out := s.cut, []any{}
	event := func(kind string, o any) { out = append(out, map[string]any{"type": kind, "object": o}) }
	switch {
	case initial && !s.streams:
		s.mu.Unlock()
		refuse(w, 422, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled", "sendInitialEvents")
		return
	case !initial && from < s.oldest:
		s.mu.Unlock()
		refuse(w, 410, "too old resource version", "")
		return
	case initial:
		for key, o := range s.objects { // in any order, as the server does
			if mine(key, o) {
				event("ADDED", o)
			}
		}
		from = s.version
		api, kind := kindOf(r.URL.Path)
		bookmark := map[string]any{"apiVersion": api, "kind": kind, "metadata": map[string]any{
			"resourceVersion": strconv.FormatInt(from, 10), "annotations": map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
		event("BOOKMARK", bookmark)
	}
	s.watches++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	for {
		s.mu.Lock()
		changed := s.changed
		at, _ := slices.BinarySearchFunc(s.history, from+1, func(c change, v int64) int { return int(c.version - v) })
		for _, c := range s.history[at:] {
			if mine(c.key, c.now) {
				event(c.kind, c.now)
			}
			from = c.version
		}
		s.mu.Unlock()
		for _, o := range out {
			if json.NewEncoder(w).Encode(o) != nil {
				return
			}
		}
		out = nil
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// cidrs are an object's spec.podCIDRs.
func cidrs(o map[string]any) (list []string) {
	spec, _ := o["spec"].(map[string]any)
	texts, _ := spec["podCIDRs"].([]any)
	for _, t := range texts {
		list = append(list, t.(string))
	}
	return list
}

// check notes nodes with overlapping pod CIDRs.
func (s *server) check() {
	type held struct {
		key  string
		cidr netip.Prefix
	}
	var all []held
	for key, o := range s.objects {
		for _, c := range cidrs(o) {
			p := netip.MustParsePrefix(c)
			for _, h := range all {
				if h.key != key && h.cidr.Overlaps(p) {
					s.broken = append(s.broken, fmt.Sprintf("version %d: %s and %s hold %s and %s", s.version, h.key, key, h.cidr, p))
				}
			}
			all = append(all, held{key, p})
		}
	}
}

// put creates an object directly, or writes over it.
func (s *server) put(resource string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := decode(encode(obj))
	m := metadata(o)
	namespace, _ := m["namespace"].(string)
	prefix := resource + "/" + namespace
	if old := s.objects[prefix+"/"+m["name"].(string)]; old != nil {
		for _, k := range []string{"uid", "resourceVersion"} {
			m[k] = metadata(old)[k]
		}
		if resource == "nodes" && len(cidrs(old)) > 0 {
			o["spec"] = old["spec"]
		}
		s.update(prefix+"/"+m["name"].(string), o)
		return
	}
	s.create(prefix, o)
}

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

func (s *server) deleteNode(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove("nodes//"+name, nil)
}

// nodes returns what the server has.
func (s *server) nodes() map[string]v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]v1.Node{}
	for key, o := range s.objects {
		if name, ok := strings.CutPrefix(key, "nodes//"); ok {
			var n v1.Node
			if err := json.Unmarshal(encode(o), &n); err != nil {
				panic(err)
			}
			all[name] = n
		}
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
