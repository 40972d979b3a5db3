package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Calico's own custom resources (libcalico-go/lib/apis/crd.projectcalico.org/v1): its blocks, and the pools that they are cut from.
const (
	CalicoGroup       = "crd.projectcalico.org"
	CalicoVersion     = "v1"
	IPAMBlockKind     = "IPAMBlock"
	IPAMBlockResource = "ipamblocks"
	IPPoolKind        = "IPPool"
	IPPoolResource    = "ippools"
	// CalicoConfigResource are IPAMConfigs of this group, of which a cluster has one: strictAffinity and its like.
	CalicoConfigKind     = "IPAMConfig"
	CalicoConfigResource = "ipamconfigs"
	calicoConfigName     = "default"

	calicoPath = "/apis/" + CalicoGroup + "/" + CalicoVersion + "/"
)

// A host is an incarnation of a node, "name/UID", as calico.Block has it. Calico itself writes names alone: the UID stands beside them, in
// the attributes of an address and in this annotation of a block.
const (
	affinityUID = "vppdrill.github.io/affinity-node-uid"
	attrNode    = "node"
	attrNodeUID = "node-uid"
	// Of pods alone.
	attrNamespace = "namespace"
	attrPod       = "pod"
	attrTimestamp = "timestamp"
	affinityHost  = "host:"
)

func hostOf(name, uid string) string { return name + "/" + uid }

func hostUID(host string) string {
	_, uid, _ := strings.Cut(host, "/")
	return uid
}

// blockSpec is an IPAMBlock's spec.
type blockSpec struct {
	CIDR           string           `json:"cidr"`
	Affinity       string           `json:"affinity,omitempty"`
	Allocations    []*int           `json:"allocations"`
	Unallocated    []int            `json:"unallocated"`
	Attributes     []blockAttribute `json:"attributes"`
	Sequence       int64            `json:"sequenceNumber"`
	Sequences      map[string]int64 `json:"sequenceNumberForAllocation,omitempty"`
	StrictAffinity bool             `json:"strictAffinity"`
	Deleted        bool             `json:"deleted"`
	ClaimTime      *string          `json:"affinityClaimTime,omitempty"`
}

// blockAttribute is what a block says of some of its addresses.
type blockAttribute struct {
	Handle    string            `json:"handle_id,omitempty"`
	Secondary map[string]string `json:"secondary,omitempty"`
	// Alternate and ReleasedAt are kept as they are.
	Alternate  map[string]string `json:"alternateOwnerAttrs,omitempty"`
	ReleasedAt *string           `json:"releasedAt,omitempty"`
}

// ReadBlock reads an IPAMBlock as JSON has it. An address or a block of a node without a UID is its incarnation's without one: of no node of
// ours.
func ReadBlock(object map[string]any) (calico.Stored, error) {
	return readBlock(&unstructured.Unstructured{Object: object})
}

func readBlock(u *unstructured.Unstructured) (calico.Stored, error) {
	s := calico.Stored{UID: string(u.GetUID())}
	var err error
	if s.Version, err = revision(u.GetResourceVersion()); err != nil {
		return s, err
	}
	spec, err := specOfBlock(u)
	if err != nil {
		return s, err
	}
	cidr, err := space.ParsePrefix(spec.CIDR)
	if err != nil {
		return s, fmt.Errorf("IPAMBlock %s: %w", u.GetName(), err)
	}
	if n := space.Count(cidr); uint64(len(spec.Allocations)) != n {
		return s, fmt.Errorf("IPAMBlock %s: %d allocations of %d addresses", u.GetName(), len(spec.Allocations), n)
	}
	s.Block = calico.Block{CIDR: cidr, Hosts: make([]string, len(spec.Allocations))}
	if name, ok := strings.CutPrefix(spec.Affinity, affinityHost); ok {
		s.Affinity = hostOf(name, u.GetAnnotations()[affinityUID])
	} else {
		s.Foreign = spec.Affinity != ""
	}
	for i, at := range spec.Allocations {
		if at == nil {
			continue
		}
		if *at < 0 || *at >= len(spec.Attributes) {
			return s, fmt.Errorf("IPAMBlock %s: address %d has attributes %d of %d", u.GetName(), i, *at, len(spec.Attributes))
		}
		a := spec.Attributes[*at].Secondary
		s.Hosts[i] = hostOf(a[attrNode], a[attrNodeUID])
		s.Block = s.WithUse(i, calico.Use{Handle: spec.Attributes[*at].Handle, Namespace: a[attrNamespace], Pod: a[attrPod]})
	}
	// what is free is by the allocations; in which order, by the list
	for _, i := range spec.Unallocated {
		if i >= 0 && i < len(s.Hosts) && s.Hosts[i] == "" && !slices.Contains(s.Free, i) {
			s.Free = append(s.Free, i)
		}
	}
	for i, h := range s.Hosts {
		if h == "" && !slices.Contains(s.Free, i) {
			s.Free = append(s.Free, i)
		}
	}
	return s, nil
}

func specOfBlock(u *unstructured.Unstructured) (spec blockSpec, err error) {
	return spec, specInto(u, &spec)
}

// blockName is what Calico calls a block's object.
func blockName(cidr netip.Prefix) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(cidr.String())
}

// attributesOf are those of an address of a host.
func attributesOf(host string, u calico.Use, at time.Time) blockAttribute {
	a := blockAttribute{Handle: u.Handle, Secondary: map[string]string{attrNode: calico.NodeOf(host), attrNodeUID: hostUID(host)}}
	if u.Handle != "" {
		a.Secondary[attrTimestamp] = at.UTC().String()
	}
	if u.Pod != "" {
		a.Secondary[attrNamespace], a.Secondary[attrPod] = u.Namespace, u.Pod
	}
	return a
}

// blockObject is a block as an IPAMBlock, in the place of an old one, nil for none: what Calico itself has noted about addresses stays with
// them for as long as they are the same node's.
func blockObject(s calico.Stored, at time.Time, old *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": calicoAPIVersion, "kind": IPAMBlockKind}}
	u.SetName(blockName(s.CIDR))
	var was blockSpec
	before := calico.Stored{Block: calico.Block{Hosts: make([]string, len(s.Hosts))}}
	if old != nil {
		var err error
		if was, err = specOfBlock(old); err != nil {
			return nil, err
		}
		if before, err = readBlock(old); err != nil {
			return nil, err
		}
		u = old.DeepCopy()
	}
	spec := blockSpec{CIDR: s.CIDR.String(), Allocations: make([]*int, len(s.Hosts)), Unallocated: slices.Clone(s.Free), Attributes: []blockAttribute{},
		Sequence: was.Sequence + 1, StrictAffinity: was.StrictAffinity, ClaimTime: was.ClaimTime}
	if before.Affinity != s.Affinity {
		spec.ClaimTime = nil
		if claimed := at.UTC().Format(time.RFC3339); s.Affinity != "" {
			spec.ClaimTime = &claimed
		}
	}
	if spec.Unallocated == nil {
		spec.Unallocated = []int{}
	}
	type use struct {
		host string
		calico.Use
	}
	kept, made := map[int]int{}, map[use]int{}
	for i, h := range s.Hosts {
		if h == "" {
			continue
		}
		same := before.Hosts[i] == h && before.Use(i) == s.Use(i)
		n, known := made[use{h, s.Use(i)}]
		if same {
			n, known = kept[*was.Allocations[i]]
		}
		if !known {
			n = len(spec.Attributes)
			if same {
				kept[*was.Allocations[i]] = n
				spec.Attributes = append(spec.Attributes, was.Attributes[*was.Allocations[i]])
			} else {
				made[use{h, s.Use(i)}] = n
				spec.Attributes = append(spec.Attributes, attributesOf(h, s.Use(i), at))
			}
		}
		spec.Allocations[i] = &n
		sequence, noted := was.Sequences[strconv.Itoa(i)]
		if !same {
			sequence, noted = was.Sequence, true // Calico notes what the block had when it gave the address
		}
		if noted {
			if spec.Sequences == nil {
				spec.Sequences = map[string]int64{}
			}
			spec.Sequences[strconv.Itoa(i)] = sequence
		}
	}
	notes := u.GetAnnotations()
	delete(notes, affinityUID)
	if s.Affinity != "" {
		spec.Affinity = affinityHost + calico.NodeOf(s.Affinity)
		if uid := hostUID(s.Affinity); uid != "" {
			if notes == nil {
				notes = map[string]string{}
			}
			notes[affinityUID] = uid
		}
	}
	u.SetAnnotations(notes)
	text, err := kjson.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := kjson.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	u.Object["spec"] = fields
	return u, nil
}

// calicoBlocks are the IPAMBlocks of a server.
type calicoBlocks struct {
	client  kubernetes.Interface
	objects custom
}

func newCalicoBlocks(client kubernetes.Interface) calicoBlocks {
	return calicoBlocks{client, custom{client, calicoPath + IPAMBlockResource}}
}

// follow tells all blocks, then every change, until ctx ends; refuse is told of each that cannot be read, which is passed over.
func (b calicoBlocks) follow(ctx context.Context, tell func(calico.Event), refuse func(error)) {
	read := func(u *unstructured.Unstructured) (calico.Stored, bool) {
		s, err := readBlock(u)
		if err != nil {
			refuse(err)
		}
		return s, err == nil
	}
	follow(ctx, b.client, b.objects, "", &unstructured.Unstructured{}, sink[*unstructured.Unstructured]{
		listed: func(list []*unstructured.Unstructured) {
			var blocks []calico.Stored
			for _, u := range list {
				if s, ok := read(u); ok && !deleted(u) {
					blocks = append(blocks, s)
				}
			}
			tell(calico.BlocksListed{Blocks: blocks})
		},
		put: func(u *unstructured.Unstructured, _ bool) {
			switch s, ok := read(u); {
			case ok && deleted(u):
				tell(calico.BlockGone{Block: s})
			case ok:
				tell(calico.BlockSeen{Block: s})
			}
		},
		gone: func(u *unstructured.Unstructured) {
			if s, ok := read(u); ok {
				tell(calico.BlockGone{Block: s})
			}
		},
	})
}

// write does what a machine asks for, in Calico's order, unless another writer was faster.
func (b calicoBlocks) write(ctx context.Context, e calico.WriteBlock) calico.Wrote {
	o := calico.NewOrder(e)
	for r, more := o.Next(); more; r, more = o.Next() {
		switch r := r.(type) {
		case calico.PutAffinity:
			o.Answer(calico.Wrote{Outcome: outcome(putAffinity(ctx, b.beside(BlockAffinityResource), r))})
		case calico.PutHandle:
			o.Answer(calico.Wrote{Outcome: outcome(putHandle(ctx, b.beside(IPAMHandleResource), r))})
		case calico.WriteBlock:
			o.Answer(b.writeBlock(ctx, r))
		default:
			panic(fmt.Sprintf("kube: unknown request %T", r))
		}
	}
	return o.Wrote()
}

func (b calicoBlocks) writeBlock(ctx context.Context, e calico.WriteBlock) calico.Wrote {
	now, err := b.apply(ctx, e)
	w := calico.Wrote{Outcome: outcome(err)}
	if err == nil && now != nil {
		if w.Block, err = readBlock(now); err != nil {
			w.Outcome = outcome(err)
		}
	}
	return w
}

func (b calicoBlocks) apply(ctx context.Context, e calico.WriteBlock) (*unstructured.Unstructured, error) {
	for _, host := range e.Unless {
		n, err := b.client.CoreV1().Nodes().Get(ctx, calico.NodeOf(host), metav1.GetOptions{})
		if err == nil && string(n.UID) == hostUID(host) {
			return nil, apierrors.NewConflict(schema.GroupResource{Group: CalicoGroup, Resource: IPAMBlockResource}, blockName(e.Block.CIDR), fmt.Errorf("node %s is there", host))
		}
		if err != nil && statusCode(err) != http.StatusNotFound {
			return nil, err
		}
	}
	name := blockName(e.Block.CIDR)
	if e.Op == calico.Delete {
		return nil, b.objects.remove(ctx, name, e.Block.UID, version(e.Block.Version))
	}
	var old *unstructured.Unstructured
	if e.Op == calico.Update {
		var err error
		if old, err = b.objects.get(ctx, name); err != nil {
			return nil, err
		}
		if string(old.GetUID()) != e.Block.UID || old.GetResourceVersion() != version(e.Block.Version) {
			return nil, apierrors.NewConflict(schema.GroupResource{Group: CalicoGroup, Resource: IPAMBlockResource}, name, errors.New("another writer was faster"))
		}
	}
	u, err := blockObject(e.Block, time.Now(), old)
	if err != nil {
		return nil, err
	}
	if e.Op == calico.Create {
		if _, err := current(ctx, b.objects, name); err != nil { // one that is there has the request refused
			return nil, err
		}
		return b.objects.write(ctx, http.MethodPost, "", u)
	}
	return b.objects.write(ctx, http.MethodPut, name, u)
}
