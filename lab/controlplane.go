package lab

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/vppdrill/vppdrill/lab/internal/etcd"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	hostetcd "github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// controlPlane is a lab's control plane: one etcd in which agents agree on node IDs, and one that stands for the API
// server and holds nodes, pods and address ranges. Losing the first must not lose the second.
type controlPlane struct {
	dir        string
	store, api *etcd.Server
	// objects writes the API server's.
	objects *hostetcd.Client
	// mu guards the switches, and what agents have to hear.
	mu         sync.Mutex
	generation int64
	// pools are the address ranges.
	pools              agent.Pools
	heardPools         string
	heardNodes         map[string]string
	storeStop, apiStop bool
}

func startControlPlane(dir string) (*controlPlane, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &controlPlane{dir: dir, heardNodes: map[string]string{}}
	var wg sync.WaitGroup
	var storeErr, apiErr error
	wg.Go(func() { p.store, storeErr = etcd.Start(dir, "store") })
	wg.Go(func() { p.api, apiErr = etcd.Start(dir, "api") })
	wg.Wait()
	if err := errors.Join(storeErr, apiErr); err != nil {
		return nil, errors.Join(err, p.close())
	}
	var err error
	if p.objects, err = hostetcd.Connect(hostetcd.Config{Endpoints: []string{"unix://" + p.api.Socket()}}); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *controlPlane) close() error {
	var errs []error
	if p.objects != nil {
		errs = append(errs, p.objects.Close())
	}
	for _, s := range []*etcd.Server{p.store, p.api} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// storeRevision is where the store is now.
func (p *controlPlane) storeRevision(ctx context.Context) (int64, error) {
	_, revision, err := p.store.All(ctx)
	return revision, err
}
