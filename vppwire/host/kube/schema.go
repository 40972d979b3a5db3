package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Fields that this program writes into custom resources, as paths of names; fixtures/kubernetes/base/crd.yaml has them.
var (
	recordFields = []string{"spec.key", "spec.record"}
	poolFields   = []string{"spec.ipam.pools.requested.pool", "spec.ipam.pools.requested.needed.ipv4-addrs", "spec.ipam.pools.requested.needed.ipv6-addrs",
		"spec.ipam.pools.allocated.pool", "spec.ipam.pools.allocated.cidrs"}
	addressFields = []string{"spec.ipam.pool", "spec.ipam.pre-allocate", "spec.ipam.min-allocate", "spec.ipam.max-allocate", "spec.ipam.max-above-watermark",
		"status.ipam.used", "status.ipam.release-ips", "status.ipam.operator-status"}
	blockFields = []string{"spec.cidr", "spec.affinity", "spec.allocations", "spec.unallocated", "spec.attributes", "spec.sequenceNumber",
		"spec.sequenceNumberForAllocation", "spec.deleted"}
	affinityFields = []string{"spec.cidr", "spec.node", "spec.type", "spec.state", "spec.deleted"}
	handleFields   = []string{"spec.handleID", "spec.block", "spec.deleted"}
)

// mendDefinitions is what has a server keep every field.
const mendDefinitions = "kubectl apply --server-side --force-conflicts -f fixtures/kubernetes/base/crd.yaml"

// errOlder: a custom resource is defined as an earlier release of this program did.
var errOlder = fmt.Errorf("%w: a custom resource's definition is of another release", ErrNotReady)

// fieldSchema is what of OpenAPI says which fields a server keeps; what a definition does not name it drops without a
// word.
type fieldSchema struct {
	Properties map[string]*fieldSchema
	Items      *fieldSchema
	// Keeps: what is not named is kept as well.
	Keeps bool                                    `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// keeps reports whether what is written at a path stays there.
func (s *fieldSchema) keeps(path []string) bool {
	for s != nil && s.Items != nil {
		s = s.Items
	}
	switch {
	case s == nil:
		return false
	case len(path) == 0:
		return true
	}
	below := s.Properties[path[0]]
	return below == nil && s.Keeps || below.keeps(path[1:])
}

// keeps says whether the server keeps every field that this program writes. A server that publishes no schema, or none
// of the kind, has said nothing: it publishes one some time after a definition is new.
func (c *Connection) keeps(ctx context.Context, n Need) error {
	text, err := c.client.CoreV1().RESTClient().Get().AbsPath("/openapi/v3/apis/"+n.Group+"/"+n.Version).SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case statusCode(err) == http.StatusNotFound:
		return nil
	case err != nil && statusCode(err) == http.StatusForbidden:
		c.log.Warn("what the server keeps of custom resources is not known, as this account may not read /openapi/v3", "resource", n.String())
		return nil
	case err != nil:
		return c.silent("the schema of "+n.Resource, err)
	}
	var published struct {
		Components struct{ Schemas map[string]*fieldSchema }
	}
	if err := json.Unmarshal(text, &published); err != nil {
		return c.silent("the schema of "+n.Resource, err)
	}
	for _, s := range published.Components.Schemas { // in any order: one of them is of the kind
		if s == nil || !slices.ContainsFunc(s.Kinds, func(k struct{ Group, Version, Kind string }) bool {
			return k.Group == n.Group && k.Version == n.Version && k.Kind == n.Kind
		}) {
			continue
		}
		for _, field := range n.Fields {
			if !s.keeps(strings.Split(field, ".")) {
				return fmt.Errorf("%w: %s drops %s, which this one writes: %s", errOlder, n, field, cmp.Or(n.Mend, mendDefinitions))
			}
		}
	}
	return nil
}

// mayChange reports whether an error may be gone in a moment: a server whose own store is away for one knows nobody
// whose account or pod it cannot look up, and a schema is published some time after a definition has changed.
func mayChange(err error) bool { return errors.Is(err, ErrUnauthorized) || errors.Is(err, errOlder) }
