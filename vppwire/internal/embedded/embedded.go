// Package embedded runs one etcd member inside this process, for labs, tests and single machines.
//
// It decides nothing but where the member keeps its data and listens: on loopback, on ports that the kernel picks.
// Start at Start. Several may run in one process. Everything else about etcd is vppwire/host/etcd's.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// Server is a running member.
type Server struct {
	etcd *embed.Etcd
	once sync.Once
}

// tries is how often Start takes ports that the kernel picks: each is told before etcd listens there, and any
// connection of this machine may be given it meanwhile.
const tries = 10

// Start runs a member on the data in dir, which is created where it is missing, and returns when it answers. listen is
// the address that clients use: 127.0.0.1:0 where the kernel shall pick the port.
func Start(ctx context.Context, dir, listen string) (*Server, error) {
	var e *embed.Etcd
	for try := 1; ; try++ {
		cfg, err := config(dir, listen)
		if err == nil {
			e, err = embed.StartEtcd(cfg)
		}
		if err == nil {
			break
		}
		if try == tries || cfg == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("etcd in %s: %w", dir, err)
		}
	}
	var err error
	select {
	case <-e.Server.ReadyNotify():
		return &Server{etcd: e}, nil
	case err = <-e.Err():
	case <-e.Server.StopNotify():
		err = errors.New("it stopped")
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.Close()
	return nil, fmt.Errorf("etcd in %s: %w", dir, err)
}

// config is a member's configuration, with addresses that are free now. An address in use is the caller's and no bad
// luck: nil.
func config(dir, listen string) (*embed.Config, error) {
	cfg := embed.NewConfig()
	cfg.Dir, cfg.Name = dir, "vppdrill"
	cfg.LogLevel, cfg.LogOutputs = "error", []string{"/dev/null"}
	client, err := address(listen)
	if err != nil {
		return nil, err
	}
	peer, err := address("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	return cfg, nil
}

// address is a URL to listen at.
func address(listen string) (url.URL, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return url.URL{}, err
	}
	u := url.URL{Scheme: "http", Host: l.Addr().String()}
	return u, l.Close()
}

// Endpoint is the URL that clients use.
func (s *Server) Endpoint() string { return s.etcd.Config().ListenClientUrls[0].String() }

// Close stops the member; its data stays. Closing again does nothing.
func (s *Server) Close() { s.once.Do(s.etcd.Close) }
