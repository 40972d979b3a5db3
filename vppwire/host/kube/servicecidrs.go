package kube

import (
	"context"
	"net/netip"
	"time"

	networking "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// servicesPause is between attempts to list the ranges of services.
const servicesPause = time.Second

// services lists the cluster's ServiceCIDRs, as often as it takes: a controller that does not know them could give a node a part
// of one. Servers before Kubernetes 1.33 have none, which is no error: false.
func (t *term) services() (ranges []netip.Prefix, served bool, err error) {
	for told := ""; ; {
		ctx, cancel := context.WithTimeout(t.ctx, t.d.cfg.RequestTimeout)
		list, err := t.d.cfg.Client.NetworkingV1().ServiceCIDRs().List(ctx, metav1.ListOptions{})
		cancel()
		switch {
		case err == nil:
			for i := range list.Items {
				ranges = append(ranges, serviceRanges(&list.Items[i])...)
			}
			return ranges, true, nil
		case apierrors.IsNotFound(err):
			return nil, false, nil
		case t.ctx.Err() != nil:
			return nil, false, t.ctx.Err()
		case told != err.Error():
			told = err.Error()
			t.d.log.Warn("the ranges of services are not known, and no node gets a pod CIDR before", "error", err)
		}
		select {
		case <-t.ctx.Done():
			return nil, false, t.ctx.Err()
		case <-time.After(servicesPause):
		}
	}
}

// followServices tells the controller of ServiceCIDRs that come or are listed anew. One that is gone stays kept: a service may
// still have an address of it.
func (t *term) followServices() {
	tell := func(list ...*networking.ServiceCIDR) {
		var ranges []netip.Prefix
		for _, s := range list {
			ranges = append(ranges, serviceRanges(s)...)
		}
		t.take(nodeipam.ServiceCIDRs{Ranges: ranges})
	}
	client := t.d.cfg.Client
	follow(t.ctx, client, client.NetworkingV1().ServiceCIDRs(), "", &networking.ServiceCIDR{}, sink[*networking.ServiceCIDR]{
		listed: func(list []*networking.ServiceCIDR) { tell(list...) },
		put:    func(s *networking.ServiceCIDR, _ bool) { tell(s) },
		gone:   func(*networking.ServiceCIDR) {},
	})
}

// serviceRanges are those of one object, which the server has checked.
func serviceRanges(s *networking.ServiceCIDR) (ranges []netip.Prefix) {
	for _, text := range s.Spec.CIDRs {
		if p, err := space.ParsePrefix(text); err == nil {
			ranges = append(ranges, p)
		}
	}
	return ranges
}
