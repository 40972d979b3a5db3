package kube

import (
	"context"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/base32"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vppdrill/vppdrill/ipam/calico"
)

// Calico's objects beside a block: whose it is, and which handles have addresses of it.
const (
	BlockAffinityKind     = "BlockAffinity"
	BlockAffinityResource = "blockaffinities"
	IPAMHandleKind        = "IPAMHandle"
	IPAMHandleResource    = "ipamhandles"

	calicoAPIVersion = CalicoGroup + "/" + CalicoVersion
	typeHost         = "host"
)

// longestName is what Calico shortens an affinity's name from.
const longestName = 253

// affinityName is what Calico calls the BlockAffinity of a node and a block (libcalico-go/lib/backend/k8s/resources).
func affinityName(node string, cidr netip.Prefix) string {
	block := blockName(cidr)
	name := node + "-" + block
	if len(name) < longestName {
		return name
	}
	sum := sha256.Sum256([]byte(node + "+" + block))
	return node[:longestName-1-len(block)-13] + "-" + block + "-" + hex.EncodeToString(sum[:])[:11]
}

// affinityLabels are those that Calico looks affinities up by.
func affinityLabels(node string, cidr netip.Prefix) map[string]string {
	family := "4"
	if cidr.Addr().Is6() {
		family = "6"
	}
	sum := sha3.Sum256([]byte(node))
	return map[string]string{"projectcalico.org/hostname-hash": base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]),
		"projectcalico.org/affinity-type": typeHost, "projectcalico.org/ip-version": family}
}

// beside is an object's own name among those that are written beside blocks.
func (b calicoBlocks) beside(resource string) custom { return custom{b.client, calicoPath + resource} }

// current is an object as it is, nil for none. One that another writer has marked as deleted is deleted first, as Calico's readers do.
func current(ctx context.Context, objects custom, name string) (*unstructured.Unstructured, error) {
	u, err := objects.get(ctx, name)
	if statusCode(err) == http.StatusNotFound {
		return nil, nil
	}
	if err != nil || !deleted(u) {
		return u, err
	}
	return nil, objects.remove(ctx, name, string(u.GetUID()), u.GetResourceVersion())
}

// deleted reports whether Calico has marked an object, which it does before it deletes one: of affinities by a text.
func deleted(u *unstructured.Unstructured) bool {
	spec, _ := u.Object["spec"].(map[string]any)
	return spec["deleted"] == true || spec["deleted"] == "true"
}

func putAffinity(ctx context.Context, objects custom, e calico.PutAffinity) error {
	name := affinityName(e.Node, e.CIDR)
	u, err := current(ctx, objects, name)
	if err != nil {
		return err
	}
	gone := e.State == calico.None || e.State == calico.PendingDeletion
	if u == nil {
		if gone {
			return nil
		}
		u = newCalicoObject(BlockAffinityKind, name, map[string]any{"cidr": e.CIDR.String(), "node": e.Node, "type": typeHost, "state": string(e.State), "deleted": "false"})
		u.SetLabels(affinityLabels(e.Node, e.CIDR))
		_, err = objects.write(ctx, http.MethodPost, "", u)
		return err
	}
	if e.State == calico.None {
		return objects.remove(ctx, name, string(u.GetUID()), u.GetResourceVersion())
	}
	spec, _ := u.Object["spec"].(map[string]any)
	if state := spec["state"]; state == string(e.State) || state == string(calico.Confirmed) && e.State == calico.Pending {
		return nil
	}
	spec["state"] = string(e.State)
	_, err = objects.write(ctx, http.MethodPut, name, u)
	return err
}

func putHandle(ctx context.Context, objects custom, e calico.PutHandle) error {
	name := strings.ToLower(e.Handle)
	u, err := current(ctx, objects, name)
	if err != nil {
		return err
	}
	if u == nil {
		if e.Count == 0 {
			return nil
		}
		u = newCalicoObject(IPAMHandleKind, name, map[string]any{"handleID": e.Handle, "block": map[string]any{e.CIDR.String(): int64(e.Count)}, "deleted": false})
		_, err = objects.write(ctx, http.MethodPost, "", u)
		return err
	}
	counts, _, err := unstructured.NestedMap(u.Object, "spec", "block")
	if err != nil {
		return err
	}
	if counts == nil {
		counts = map[string]any{}
	}
	if delete(counts, e.CIDR.String()); e.Count > 0 {
		counts[e.CIDR.String()] = int64(e.Count)
	}
	if len(counts) == 0 {
		return objects.remove(ctx, name, string(u.GetUID()), u.GetResourceVersion())
	}
	if err := unstructured.SetNestedMap(u.Object, counts, "spec", "block"); err != nil {
		return err
	}
	_, err = objects.write(ctx, http.MethodPut, name, u)
	return err
}

func newCalicoObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": calicoAPIVersion, "kind": kind, "spec": spec}}
	u.SetName(name)
	return u
}
