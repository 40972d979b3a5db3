package etcd

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/storetest"
)

// Goal: this package on a real etcd owes what the modelled store owes. Method: the contract's own suite; answers are
// lost, and connections cut, between etcd's client and its connection.
func TestContract(t *testing.T) {
	storetest.Try(t, func(t *testing.T) storetest.Server {
		server := member(t)
		return &realServer{t: t, endpoint: server.Endpoint(), direct: client(t, server, ""), Inbox: storetest.NewInbox()}
	})
}

type realServer struct {
	t        *testing.T
	endpoint string
	direct   *Client
	storetest.Inbox
}

// Client implements storetest.Server.
func (s *realServer) Client() storetest.Client {
	s.t.Helper()
	f := &faultyLink{streams: map[int]func(){}}
	c, err := connect(Config{Endpoints: []string{s.endpoint}}, clientv3.Config{DialOptions: []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(f.unary), grpc.WithChainStreamInterceptor(f.stream),
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return &realClient{faultyLink: f, s: s, store: c.Store()}
}

// Compact implements storetest.Server.
func (s *realServer) Compact() {
	s.t.Helper()
	r, err := s.direct.etcd.Get(s.t.Context(), "revision")
	if err == nil {
		_, err = s.direct.etcd.Compact(s.t.Context(), r.Header.Revision)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// Wipe implements storetest.Server: etcd's own cluster ID may survive, so it does here.
func (s *realServer) Wipe() {
	s.t.Helper()
	if _, err := s.direct.etcd.Delete(s.t.Context(), s.direct.prefix, clientv3.WithPrefix()); err != nil {
		s.t.Fatal(err)
	}
}

type realClient struct {
	*faultyLink
	s     *realServer
	store *Store
}

// Do implements storetest.Client.
func (c *realClient) Do(r agent.StoreRequest, tell func(agent.Event)) {
	c.store.Do(r, c.s.Later(tell))
}

// faultyLink stands between etcd's client and the network.
type faultyLink struct {
	loseRequest, loseAnswer, off atomic.Bool

	mu      sync.Mutex
	next    int
	streams map[int]func() // ends of those that are open
}

var errLink = status.Error(codes.Unavailable, "the test's link is cut")

// Lose implements storetest.Client.
func (l *faultyLink) Lose(answer bool) {
	if answer {
		l.loseAnswer.Store(true)
	} else {
		l.loseRequest.Store(true)
	}
}

// Cut implements storetest.Client.
func (l *faultyLink) Cut(off bool) {
	l.off.Store(off)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range l.streams {
		end()
	}
}

func (l *faultyLink) unary(ctx context.Context, method string, request, reply any, c *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if l.off.Load() || l.loseRequest.CompareAndSwap(true, false) {
		return errLink
	}
	lost := l.loseAnswer.CompareAndSwap(true, false)
	if err := invoke(ctx, method, request, reply, c, opts...); err != nil {
		return err
	}
	if lost {
		return errLink
	}
	return nil
}

func (l *faultyLink) stream(ctx context.Context, d *grpc.StreamDesc, c *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if l.off.Load() {
		return nil, errLink
	}
	ctx, end := context.WithCancel(ctx)
	s, err := open(ctx, d, c, method, opts...)
	if err != nil {
		end()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	l.streams[l.next] = end
	return cutStream{s, ctx}, nil
}

// cutStream ends as a connection that breaks, not as one that somebody here has closed.
type cutStream struct {
	grpc.ClientStream
	ctx context.Context
}

// RecvMsg implements grpc.ClientStream.
func (s cutStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil && s.ctx.Err() != nil {
		return errLink
	}
	return err
}
