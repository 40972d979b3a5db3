package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startTime is ample for one member that elects itself.
const startTime = 30 * time.Second

// Server is one etcd of one member.
type Server struct {
	dir    string
	name   string
	server *embed.Etcd
	client *clientv3.Client
	// changed is told of changes below prefix: see Follow.
	prefix  string
	changed func(key, before, after string)
	// told is up to which revision of the present data changed has been told of everything.
	told *atomic.Int64
}

// Start starts an etcd whose files are in dir, which exists and is empty; name tells it from others of the lab.
func Start(dir, name string) (*Server, error) {
	s := &Server{dir: dir, name: name}
	return s, s.start()
}

// Socket is the path of the unix socket that clients dial.
func (s *Server) Socket() string { return filepath.Join(s.dir, s.name+".sock") }

func (s *Server) data() string { return filepath.Join(s.dir, s.name+".data") }

func (s *Server) start() error {
	c := embed.NewConfig()
	c.Name, c.Dir = s.name, s.data()
	client := url.URL{Scheme: "unix", Path: s.Socket()}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(s.dir, s.name+"-peer.sock")}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(s.name)
	// The cluster's ID is made of the token: another token is another cluster, whose revisions start anew.
	c.InitialClusterToken = rand.Text()
	// A lab outlives no power cut, its store need not either; what agents persist is in their own journals.
	c.UnsafeNoFsync = true
	// One member elects itself after one election timeout.
	c.TickMs, c.ElectionMs = 10, 100
	log, err := s.log()
	if err != nil {
		return err
	}
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log)
	if s.server, err = embed.StartEtcd(c); err != nil {
		return fmt.Errorf("start etcd %s: %w", s.name, err)
	}
	select {
	case <-s.server.Server.ReadyNotify():
	case err := <-s.server.Err():
		return errors.Join(fmt.Errorf("start etcd %s: %w", s.name, err), s.Close())
	case <-time.After(startTime):
		return errors.Join(fmt.Errorf("start etcd %s: not ready after %s", s.name, startTime), s.Close())
	}
	s.client, err = clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + s.Socket()}, Logger: zap.NewNop()})
	if err != nil {
		return errors.Join(fmt.Errorf("connect to etcd %s: %w", s.name, err), s.Close())
	}
	s.follow()
	return nil
}

// Follow tells of every change of a key below prefix from now on, in order and as soon as it is committed: the value
// before and after, empty for none. It goes on after Wipe, which is no change by itself. It is called once, and changed
// from a goroutine of the Server's.
func (s *Server) Follow(prefix string, changed func(key, before, after string)) {
	s.prefix, s.changed = prefix, changed
	s.follow()
}

func (s *Server) follow() {
	if s.changed == nil {
		return
	}
	told := new(atomic.Int64)
	s.told = told
	// From the first revision: nothing that was written before the watch is there is missed. It ends with its client.
	changes := s.client.Watch(context.Background(), s.prefix, clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(1))
	go func() {
		for r := range changes {
			for _, e := range r.Events {
				before, after := "", ""
				if e.PrevKv != nil {
					before = string(e.PrevKv.Value)
				}
				if e.Type == clientv3.EventTypePut {
					after = string(e.Kv.Value)
				}
				s.changed(string(e.Kv.Key), before, after)
			}
			told.Store(r.Header.Revision)
		}
	}()
}

// Told returns when Follow's function has been told of every change that was committed before.
func (s *Server) Told(ctx context.Context) error {
	client, told := s.client, s.told
	r, err := client.Get(ctx, s.prefix, clientv3.WithCountOnly(), clientv3.WithSerializable())
	for err == nil && told.Load() < r.Header.Revision {
		if err = client.RequestProgress(ctx); err != nil {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	if err != nil {
		return fmt.Errorf("wait for the changes of %s: %w", s.prefix, err)
	}
	return nil
}

// log is a logger into a file.
func (s *Server) log() (*zap.Logger, error) {
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(zap.WarnLevel)
	c.OutputPaths, c.ErrorOutputPaths = []string{filepath.Join(s.dir, s.name+".log")}, []string{filepath.Join(s.dir, s.name+".log")}
	return c.Build()
}

// Put sets a key and returns the revision at which it was.
func (s *Server) Put(ctx context.Context, key, value string) (int64, error) {
	r, err := s.client.Put(ctx, key, value)
	if err != nil {
		return 0, fmt.Errorf("put %s: %w", key, err)
	}
	return r.Header.Revision, nil
}

// Delete deletes a key and returns the revision after it.
func (s *Server) Delete(ctx context.Context, key string) (int64, error) {
	r, err := s.client.Delete(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("delete %s: %w", key, err)
	}
	return r.Header.Revision, nil
}

// All returns every key with its value, and the revision at which it was so. There is one member, so that its own view
// is the latest, and asking costs no round of agreement.
func (s *Server) All(ctx context.Context) (map[string]string, int64, error) {
	r, err := s.client.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithSerializable())
	if err != nil {
		return nil, 0, fmt.Errorf("list: %w", err)
	}
	out := map[string]string{}
	for _, kv := range r.Kvs {
		out[string(kv.Key)] = string(kv.Value)
	}
	return out, r.Header.Revision, nil
}

// Compact forgets the history up to now: a watch that has to begin earlier is told so.
func (s *Server) Compact(ctx context.Context) error {
	_, revision, err := s.All(ctx)
	if err == nil {
		_, err = s.client.Compact(ctx, revision)
	}
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) { // nothing was written since the last time
		return fmt.Errorf("compact: %w", err)
	}
	return nil
}

// Wipe loses all data and goes on as another cluster.
func (s *Server) Wipe() error {
	if err := s.Close(); err != nil {
		return err
	}
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	return s.start()
}

// Close ends the server; its files stay.
func (s *Server) Close() error {
	var err error
	if s.client != nil {
		err = s.client.Close()
		s.client = nil
	}
	if s.server != nil {
		s.server.Close()
		s.server = nil
	}
	return err
}
