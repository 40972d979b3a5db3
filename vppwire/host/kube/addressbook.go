package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Names of an AddressBook's ConfigMap: it stands beside the Lease of the operators that write it, and is under this key of its data.
const (
	AddressBookName = "vppdrill-addresses"
	AddressBookKey  = "book"
)

// bookResource is what CiliumNodes call the resource that addresses of a book are of.
const bookResource = "book"

// bookTries is how often a change of a book is tried that others have changed meanwhile.
const bookTries = 5

// AddressBookConfig describes an AddressBook. All fields are needed.
type AddressBookConfig struct {
	// Client needs, of the ConfigMap: get, create, update; of Nodes and CiliumNodes: list.
	Client    kubernetes.Interface
	Namespace string
	// Ranges are what addresses are given of; nodes keep what they have of others.
	Ranges []netip.Prefix
}

// AddressBook keeps a cilium.AddressBook in a ConfigMap, so that the next leader goes on with it, and two that write at once never give
// an address twice: each writes over the version that it has read. It is the Addresses of mode crd.
type AddressBook struct {
	cfg   AddressBookConfig
	nodes custom
}

var _ Addresses = (*AddressBook)(nil)

// NewAddressBook returns a book that is made with its first request.
func NewAddressBook(c AddressBookConfig) *AddressBook {
	return &AddressBook{cfg: c, nodes: custom{c.Client, CiliumNodesPath}}
}

// List implements Addresses.
func (b *AddressBook) List(ctx context.Context, node string) (cilium.AllocationMap, error) {
	_, book, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	return mapOf(book.Of(node)), nil
}

// Assign implements Addresses. Where the book is short, what nodes have that are gone is free.
func (b *AddressBook) Assign(ctx context.Context, node string, count int) (cilium.AllocationMap, error) {
	var got []netip.Addr
	err := b.change(ctx, func(book *cilium.AddressBook) error {
		if book.Free() < count {
			if err := b.vacate(ctx, book); err != nil {
				return err
			}
		}
		var err error
		got, err = book.Give(node, count)
		return err
	})
	if err != nil {
		return nil, err
	}
	return mapOf(got), nil
}

// Unassign implements Addresses.
func (b *AddressBook) Unassign(ctx context.Context, node string, ips []netip.Addr) error {
	return b.change(ctx, func(book *cilium.AddressBook) error {
		book.TakeBack(node, ips)
		return nil
	})
}

// vacate frees what nodes have that are neither Nodes nor CiliumNodes any more.
func (b *AddressBook) vacate(ctx context.Context, book *cilium.AddressBook) error {
	nodes, err := b.cfg.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	own, err := b.nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var there []string
	for _, n := range nodes.Items {
		there = append(there, n.Name)
	}
	for _, n := range own.Items {
		there = append(there, n.GetName())
	}
	for _, name := range book.Nodes() {
		if !slices.Contains(there, name) {
			book.TakeBack(name, book.Of(name))
		}
	}
	return nil
}

// change writes a book that was changed, over the version that was read.
func (b *AddressBook) change(ctx context.Context, how func(*cilium.AddressBook) error) error {
	for try := 1; ; try++ {
		m, book, err := b.read(ctx)
		if err != nil {
			return err
		}
		if err := how(book); err != nil {
			if errors.Is(err, cilium.ErrNoAddress) {
				return refusedAddresses(err)
			}
			return err
		}
		err = b.write(ctx, m, book)
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
		if try == bookTries {
			return refusedAddresses(err)
		}
	}
}

// read is the book as it is, with the ranges of this program; of one that is not there the ConfigMap is to be made.
func (b *AddressBook) read(ctx context.Context) (*v1.ConfigMap, *cilium.AddressBook, error) {
	book := new(cilium.AddressBook)
	m, err := b.cfg.Client.CoreV1().ConfigMaps(b.cfg.Namespace).Get(ctx, AddressBookName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		m = &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.cfg.Namespace, Name: AddressBookName}}
	case err != nil:
		return nil, nil, err
	default:
		// a book that cannot be read is no empty one: what it says is given would be given again
		if err := json.Unmarshal([]byte(m.Data[AddressBookKey]), book); err != nil {
			return nil, nil, fmt.Errorf("ConfigMap %s/%s: %w", b.cfg.Namespace, AddressBookName, err)
		}
	}
	_, err = book.SetRanges(b.cfg.Ranges)
	return m, book, err
}

func (b *AddressBook) write(ctx context.Context, m *v1.ConfigMap, book *cilium.AddressBook) error {
	text, err := json.Marshal(book)
	if err != nil {
		return err
	}
	m = m.DeepCopy()
	m.Data = map[string]string{AddressBookKey: string(text)}
	maps := b.cfg.Client.CoreV1().ConfigMaps(b.cfg.Namespace)
	if m.ResourceVersion == "" {
		_, err = maps.Create(ctx, m, metav1.CreateOptions{})
	} else {
		_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
	}
	return err
}

func mapOf(addrs []netip.Addr) cilium.AllocationMap {
	m := make(cilium.AllocationMap, len(addrs))
	for _, a := range addrs {
		m[a] = cilium.AllocationIP{Resource: bookResource}
	}
	return m
}
