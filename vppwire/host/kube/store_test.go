package kube_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/storetest"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

var _ host.Store = (*kube.Store)(nil)

// Goal: records as objects of an API server owe agents what etcd owes them. Method: the contract's own suite; requests
// and answers are lost on the wire, watches are cut.
func TestStoreContract(t *testing.T) {
	storetest.Try(t, func(t *testing.T) storetest.Server {
		return &recordServer{t: t, server: newServer(t), Inbox: storetest.NewInbox()}
	})
}

type recordServer struct {
	*server
	t *testing.T
	storetest.Inbox
}

// Client implements storetest.Server.
func (s *recordServer) Client() storetest.Client {
	client, w := s.dial(s.t)
	c := &recordClient{s: s, w: w, store: kube.NewStore(kube.StoreConfig{Client: client})}
	w.Set(c.judge)
	s.t.Cleanup(c.store.Close)
	return c
}

// Compact implements storetest.Server.
func (s *recordServer) Compact() {
	s.Forget()
}

// Wipe implements storetest.Server.
func (s *recordServer) Wipe() {
	for _, o := range s.All(kube.RecordResource) {
		s.Remove(kube.RecordResource, "", metadata(o)["name"].(string))
	}
}

type recordClient struct {
	s                       *recordServer
	w                       *apiserver.Wire
	store                   *kube.Store
	off, question, response atomic.Bool
}

// Do implements storetest.Client.
func (c *recordClient) Do(r agent.StoreRequest, tell func(agent.Event)) {
	c.store.Do(r, c.s.Later(tell))
}

func (c *recordClient) judge(*http.Request) apiserver.Fate {
	switch {
	case c.off.Load(), c.question.CompareAndSwap(true, false):
		return apiserver.Vanish
	case c.response.CompareAndSwap(true, false):
		return apiserver.Mute
	}
	return apiserver.Pass
}

// Lose implements storetest.Client.
func (c *recordClient) Lose(answer bool) {
	if answer {
		c.response.Store(true)
	} else {
		c.question.Store(true)
	}
}

// Cut implements storetest.Client.
func (c *recordClient) Cut(off bool) {
	c.off.Store(off)
	c.w.Break()
}

// Goal: a server that refuses does not harm; what is not there is told as such, and no request is repeated behind the
// agent's back. Method: each write is answered by 503 with Retry-After once it was done, as a proxy may do.
func TestStoreRepeatsNothing(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	var writes atomic.Int32
	s.answer = func(r *http.Request) int {
		if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "identity") {
			writes.Add(1)
			return http.StatusServiceUnavailable
		}
		return 0
	}
	store := kube.NewStore(kube.StoreConfig{Client: client})
	t.Cleanup(store.Close)
	answer := make(chan agent.Event, 1)
	store.Do(agent.StoreRequest{ID: 1, Op: agent.StoreCreate, Key: "k/a", Value: "x"}, func(ev agent.Event) { answer <- ev })
	if got := (<-answer).(agent.StoreReply); got.Err != agent.StoreUnavailable || writes.Load() != 1 {
		t.Fatalf("answered %+v after %d writes", got, writes.Load())
	}
	store.Do(agent.StoreRequest{ID: 2, Op: agent.StoreCreate, Key: "no name", Value: "x"}, func(ev agent.Event) { answer <- ev })
	if got := (<-answer).(agent.StoreReply); got.Err != agent.StoreUnavailable || writes.Load() != 1 {
		t.Fatalf("answered %+v after %d writes", got, writes.Load())
	}
}
