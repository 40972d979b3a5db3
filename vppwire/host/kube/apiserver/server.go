package apiserver

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is an object as JSON has it. One that the server has shown is never changed, by nobody.
type Object = map[string]any

// Server is an API server; New makes one.
type Server struct {
	// Lists: watches that ask for initial events are refused, as by servers before 1.32. It is set before anybody asks.
	Lists bool
	// Observe, where set, is told each write in order, with the object before and after it, nil for none; the server is
	// locked meanwhile. It is set before anybody asks.
	Observe func(key string, old, now Object)

	mu      sync.Mutex
	version int64
	objects map[string]Object
	history []change
	oldest  int64 // watches from before this version are told 410
	changed chan struct{}
	cut     chan struct{} // closed to end all watches
	uids    int
	asked   map[Request]int
}

// Request is a kind of requests: whose, by the program's user agent, with which method, "WATCH" for a watch, and for which resource.
type Request struct{ Program, Method, Resource string }

type change struct {
	version int64
	key     string
	kind    string
	now     Object
}

// New returns a Server without objects.
func New() *Server {
	return &Server{version: 1, objects: map[string]Object{}, changed: make(chan struct{}), cut: make(chan struct{}), asked: map[Request]int{}}
}

// EndWatches ends all watches; later ones go on.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// Forget drops the history: watches that go on from before now are told so and list again.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = s.version
}

// Get is an object, nil for none.
func (s *Server) Get(resource, namespace, name string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[resource+"/"+namespace+"/"+name]
}

// All are the objects of a resource in all namespaces, by namespace and name.
func (s *Server) All(resource string) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.matching(func(key string, _ Object) bool { return strings.HasPrefix(key, resource+"/") })
}

// matching are objects in the order of their keys. s.mu is held.
func (s *Server) matching(mine func(string, Object) bool) []Object {
	list := []Object{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if mine(key, s.objects[key]) {
			list = append(list, s.objects[key])
		}
	}
	return list
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := ParsePath(r.URL.Path)
	s.count(r, p)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // whoever asked is gone
	}
	if p.Name == "" && r.Method == http.MethodGet {
		match, label := selector(r.URL.Query().Get("fieldSelector")), r.URL.Query().Get("labelSelector")
		mine := func(key string, o Object) bool {
			return strings.HasPrefix(key, p.Resource+"/") && (p.Namespace == "" || strings.HasPrefix(key, p.prefix())) && match(o) && labelled(o, label)
		}
		if r.URL.Query().Get("watch") != "" {
			s.watch(w, r, p, mine)
			return
		}
		s.list(w, p, mine)
		return
	}
	o, no := s.one(r, p, body)
	if no.code != 0 {
		Refuse(w, no.code, no.why, no.field)
		return
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	reply(w, code, o)
}

// count counts a request.
func (s *Server) count(r *http.Request, p Path) {
	q := Request{r.UserAgent(), r.Method, p.Resource}
	if r.URL.Query().Get("watch") != "" {
		q.Method = "WATCH"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[q]++
}

// Asked is how often each request was made so far, refused ones among them.
func (s *Server) Asked() map[Request]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// refusal is why a request was not done; code 0: it was.
type refusal struct {
	code       int
	why, field string
}

// one performs a request about one object.
func (s *Server) one(r *http.Request, p Path, body []byte) (o Object, no refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := p.prefix() + p.Name
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.Unmarshal(body, &o); err != nil || o["metadata"] == nil {
			return nil, refusal{code: http.StatusBadRequest, why: "the body is no object"}
		}
	}
	switch r.Method {
	case http.MethodGet:
		if o = s.objects[key]; o == nil {
			no.code = http.StatusNotFound
		}
	case http.MethodPost:
		no = s.create(p, o)
	case http.MethodPut:
		if old := s.objects[key]; old != nil && statuses[p.Resource] {
			o = parted(old, o, p.Sub == "status")
		}
		o, no = s.update(key, o)
	case http.MethodPatch:
		o, no = s.patch(p, r.Header.Get("Content-Type"), body)
	case http.MethodDelete:
		o, no = Object{"kind": "Status", "apiVersion": "v1", "status": metav1.StatusSuccess}, s.remove(key, body)
	default:
		no.code = http.StatusMethodNotAllowed
	}
	return o, no
}

// Path is what a request is about. Name and Sub may be empty.
type Path struct{ Resource, Namespace, Name, Sub string }

// prefix is what keys of the path's resource and namespace begin with.
func (p Path) prefix() string { return p.Resource + "/" + p.Namespace + "/" }

// Resources whose names two groups have: Calico's IPAMConfigs, and the IPPools of whereabouts.
const (
	CalicoConfigs    = "ipamconfigs.crd.projectcalico.org"
	WhereaboutsPools = "ippools.whereabouts.cni.cncf.io"
)

// ParsePath reads /api/VERSION/... and /apis/GROUP/VERSION/...; what is not there is empty.
func ParsePath(path string) Path {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := 3
	if parts[0] == "api" {
		skip = 2
	}
	parts = append(parts[min(skip, len(parts)):], "", "", "")
	p := Path{}
	if parts[0] == "namespaces" && parts[2] != "" {
		p.Namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	p.Resource, p.Name, p.Sub = parts[0], parts[1], parts[2]
	for _, qualified := range [...]string{CalicoConfigs, WhereaboutsPools} {
		if resource, group, _ := strings.Cut(qualified, "."); p.Resource == resource && strings.HasPrefix(path, "/apis/"+group+"/") {
			p.Resource = qualified
		}
	}
	return p
}

// selector matches by one field selector, such as metadata.name=node-1.
func selector(text string) func(Object) bool {
	path, value, ok := strings.Cut(text, "=")
	return func(o Object) bool {
		if !ok {
			return true
		}
		head, tail, _ := strings.Cut(path, ".")
		part, _ := o[head].(Object)
		return part[tail] == value
	}
}

// labelled reports whether an object has a label with a value, as label=value; all of them are chosen by the empty
// selector.
func labelled(o Object, selector string) bool {
	label, value, some := strings.Cut(selector, "=")
	metadata, _ := o["metadata"].(Object)
	labels, _ := metadata["labels"].(Object)
	return !some || labels[label] == value
}

func reply(w http.ResponseWriter, code int, o any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o) // a client that is gone needs none
}

var reasons = map[int]metav1.StatusReason{404: metav1.StatusReasonNotFound, 409: metav1.StatusReasonConflict, 410: metav1.StatusReasonExpired,
	422: metav1.StatusReasonInvalid, 403: metav1.StatusReasonForbidden, 503: metav1.StatusReasonServiceUnavailable, 504: metav1.StatusReasonTimeout}

// Refuse answers with a Status, as an API server does; field is what is wrong of an object, where that is known.
func Refuse(w http.ResponseWriter, code int, why, field string) {
	if why == "" {
		why = http.StatusText(code)
	}
	st := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: why}
	if field != "" {
		st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: why}}}
	}
	reply(w, code, st)
}

// objectOf is a value of Go as an object; it panics where JSON cannot have it.
func objectOf(v any) Object {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("apiserver: %T: %v", v, err))
	}
	o := Object{}
	if err := json.Unmarshal(text, &o); err != nil {
		panic(fmt.Sprintf("apiserver: %T: %v", v, err))
	}
	return o
}

func metadata(o Object) Object {
	m, ok := o["metadata"].(Object)
	if !ok {
		m = Object{}
		o["metadata"] = m
	}
	return m
}

func versionText(v int64) string { return strconv.FormatInt(v, 10) }
