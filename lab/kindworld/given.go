package kindworld

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// listed is what a look finds of what nodes are given: of each node, addresses as blocks of one, and as controllers.Set asks for it.
type listed struct {
	of   map[string][]netip.Prefix
	seen controllers.Given
}

func (l *listed) addresses(node string, addrs []netip.Addr) {
	for _, one := range controllers.Singles(addrs) {
		l.of[node] = append(l.of[node], one.Prefix)
	}
}

func (l *listed) blocks(node string, blocks []netip.Prefix) {
	l.of[node] = append(l.of[node], blocks...)
	l.seen.Taken = append(l.seen.Taken, blocks...)
}

// list asks the API server what each node is given.
func (b *blocks) list(ctx context.Context) (err error) {
	l := &listed{of: map[string][]netip.Prefix{}}
	switch {
	case controllers.Blocked(b.plan):
		err = b.listCalico(ctx, l)
	case controllers.Booked(b.plan):
		err = b.listBook(ctx, l)
	case controllers.Pooled(b.plan):
		err = each(ctx, b.w.conn, kube.PoolNodesPath, func(text []byte, o meta.PartialObjectMetadata) error {
			list, err := controllers.PoolBlocks(text)
			l.blocks(o.Name, list)
			return err
		})
	default:
		err = b.listNodes(ctx, l)
	}
	if err == nil {
		b.listed = *l
	}
	return err
}

// each reads the objects at a path of the API, one after the other.
func each(ctx context.Context, conn *kube.Connection, path string, take func(text []byte, o meta.PartialObjectMetadata) error) error {
	return conn.List(ctx, path, func(page []byte) error {
		var list struct{ Items []json.RawMessage }
		if err := json.Unmarshal(page, &list); err != nil {
			return err
		}
		for _, text := range list.Items {
			var o meta.PartialObjectMetadata
			if err := json.Unmarshal(text, &o); err != nil {
				return err
			}
			if err := take(text, o); err != nil {
				return fmt.Errorf("%s %s: %w", path, o.Name, err)
			}
		}
		return nil
	})
}

func (b *blocks) listNodes(ctx context.Context, l *listed) error {
	list, err := b.w.client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range list.Items {
		n := &list.Items[i]
		for _, text := range n.Spec.PodCIDRs {
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return fmt.Errorf("node %s: %w", n.Name, err)
			}
			l.blocks(n.Name, []netip.Prefix{p})
		}
	}
	return nil
}

// listBook reads the operators' book of mode crd; there is none before an operator has led.
func (b *blocks) listBook(ctx context.Context, l *listed) error {
	object, err := b.w.client.CoreV1().ConfigMaps(controllers.LeaseNamespace).Get(ctx, kube.AddressBookName, meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("book of addresses: %w", err)
	}
	book := new(cilium.AddressBook)
	if err := json.Unmarshal([]byte(object.Data[kube.AddressBookKey]), book); err != nil {
		return fmt.Errorf("book of addresses: %w", err)
	}
	for _, node := range book.Nodes() {
		l.addresses(node, book.Of(node))
	}
	l.seen.Spare = controllers.Spare(book, func(node string) bool { return b.w.node(node) == nil })
	return nil
}

// listCalico reads Calico's blocks.
func (b *blocks) listCalico(ctx context.Context, l *listed) error {
	of := map[string][]netip.Addr{}
	err := each(ctx, b.w.conn, calicoPath+kube.IPAMBlockResource, func(text []byte, _ meta.PartialObjectMetadata) error {
		var o map[string]any
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		s, err := kube.ReadBlock(o)
		if err != nil {
			return err
		}
		l.seen.Blocks = append(l.seen.Blocks, s.Block)
		for i, h := range s.Hosts {
			if node := calico.NodeOf(h); node != "" {
				of[node] = append(of[node], s.Addr(i))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for node, addrs := range of { //vppdrill:unordered each by itself
		l.addresses(node, addrs)
	}
	return nil
}

// lookAtBlocks lists what nodes are given. It is done behind the look at the agents and before what that has found is told:
// a node has its block in its object before its agent uses it.
func (w *World) lookAtBlocks(ctx context.Context) error {
	if w.blocks == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return w.blocks.list(ctx)
}
