package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"github.com/aws/amazon-vpc-cni-k8s/pkg/ipamd/datastore"
	"github.com/aws/amazon-vpc-cni-k8s/pkg/utils/logger"
	ourstore "github.com/vppdrill/vppdrill/ipam/datastore"
)

const awsModule = "github.com/aws/amazon-vpc-cni-k8s"

// awsDatastore is ipamd's address allocator with a checkpoint that goes nowhere and a log that nobody reads. Its
// cooldown is switched off: a pod that comes and goes every microsecond would find nothing but cooling addresses.
func awsDatastore() contestant {
	return contestant{name: "AWS ipamd datastore", module: awsModule, class: owning, fill: func(fill int) (func(int) error, error) {
		allocator, err := newAWSAllocator(delegated)
		if err == nil {
			err = allocator.restore(func(i int) bool { return scattered(i, fill) })
		}
		return allocator.pairs, err
	}}
}

func awsKey(n int) datastore.IPAMKey {
	o := owner(n)
	return datastore.IPAMKey{NetworkName: o.Network, ContainerID: o.ContainerID, IfName: o.IfName}
}

// awsBook is a store with one ENI.
type awsBook struct {
	ds    *datastore.DataStore
	pods  awsCheckpoint
	addrs []netip.Addr
	has   []bool
	keys  [newcomers]datastore.IPAMKey
	turn  int
}

func newAWSAllocator(prefixes func(func(netip.Prefix) bool)) (*awsBook, error) {
	if err := os.Setenv("IP_COOLDOWN_PERIOD", "0"); err != nil {
		return nil, err
	}
	b := &awsBook{}
	b.ds = datastore.NewDataStore(silence{}, &b.pods, true, 0)
	if err := b.ds.AddENI("eni-0", 0, true, false, false, 0, "subnet-0"); err != nil {
		return nil, err
	}
	for p := range prefixes {
		if err := b.ds.AddIPv4CidrToStore("eni-0", *ipNet(p), true); err != nil {
			return nil, err
		}
		for a := p.Addr(); p.Contains(a); a = a.Next() {
			b.addrs = append(b.addrs, a)
		}
	}
	for i := range b.keys {
		b.keys[i] = awsKey(newcomer(i))
	}
	return b, nil
}

// restore assigns addresses from a checkpoint, because assigning one by one costs it all that is assigned, each time.
func (b *awsBook) restore(taken func(i int) bool) error {
	total := 0
	for i, a := range b.addrs {
		if taken(i) {
			total++
			b.pods.list = append(b.pods.list, datastore.CheckpointEntry{IPAMKey: awsKey(i), IPv4: a.String(), AllocationTimestamp: epoch.UnixNano()})
		}
	}
	err := b.ds.ReadBackingStore(false)
	b.pods.list = nil
	if got := b.ds.GetIPStats("4").AssignedIPs; err == nil && got != total {
		err = fmt.Errorf("%d of %d pods are assigned", got, total)
	}
	return err
}

func (b *awsBook) pairs(n int) error {
	for range n {
		k := b.keys[b.turn&(newcomers-1)]
		if _, _, _, err := b.ds.AssignPodIPv4Address(k, datastore.IPAMMetadata{}); err != nil {
			return err
		}
		if _, _, _, _, _, err := b.ds.UnassignPodIPAddress(k); err != nil {
			return err
		}
		b.turn++
	}
	return nil
}

// awsCheckpoint restores a list of pods once and forgets what is written.
type awsCheckpoint struct{ list []datastore.CheckpointEntry }

func (c *awsCheckpoint) Checkpoint(any) error { return nil }

func (c *awsCheckpoint) Restore(into any) error {
	*into.(*datastore.CheckpointData) = datastore.CheckpointData{Version: datastore.CheckpointFormatVersion, Allocations: c.list}
	return nil
}

// silence is a log that nobody reads.
type silence struct{}

func (silence) Debugf(string, ...any)                    {}
func (silence) Debug(string)                             {}
func (silence) Infof(string, ...any)                     {}
func (silence) Info(string)                              {}
func (silence) Warnf(string, ...any)                     {}
func (silence) Warn(string)                              {}
func (silence) Errorf(string, ...any)                    {}
func (silence) Error(string)                             {}
func (silence) Fatalf(f string, a ...any)                { panic(fmt.Sprintf(f, a...)) }
func (silence) Panicf(f string, a ...any)                { panic(fmt.Sprintf(f, a...)) }
func (s silence) WithFields(logger.Fields) logger.Logger { return s }

// AWS's store: every address of a delegated prefix is for pods, the same pod gets the same address again, an unknown
// pod is unknown, and a full store says so.
func TestAgreeAWSDatastore(t *testing.T) {
	for _, list := range [][]string{{"10.1.0.0/28"}, {"10.1.0.0/28", "10.1.0.48/28", "10.1.1.0/28"}, {"10.1.0.5/32"}} {
		t.Run(fmt.Sprint(list), func(t *testing.T) {
			prefixes := func(yield func(netip.Prefix) bool) {
				for _, text := range list {
					if !yield(netip.MustParsePrefix(text)) {
						return
					}
				}
			}
			peer, err := newAWSAllocator(prefixes)
			if err != nil {
				t.Fatal(err)
			}
			ours := ourstore.NewDataStore(nil, ourstore.NullCheckpoint{}, epochClock)
			ours.Cooling, ours.CheckpointMigrationPhase = 0, 3
			if err := ours.AddENI("eni-0", 0, true, false); err != nil {
				t.Fatal(err)
			}
			for p := range prefixes {
				if err := ours.AddIPv4CidrToStore("eni-0", p); err != nil {
					t.Fatal(err)
				}
			}
			ourKey := func(n int) ourstore.IPAMKey { return ourstore.IPAMKey(awsKey(n)) }
			agree(t, false, podTaker(
				func(n int) (string, error) { a, _, err := ours.AssignPodIPv4Address(ourKey(n)); return textOf(a, err) },
				func(n int) (string, error) {
					a, _, err := ours.UnassignPodIPv4Address(ourKey(n))
					return textOf(a, err)
				},
				func(err error) bool { var e *ourstore.ExhaustedError; return errors.As(err, &e) },
			), podTaker(
				func(n int) (string, error) {
					a, _, _, err := peer.ds.AssignPodIPv4Address(awsKey(n), datastore.IPAMMetadata{})
					return a, err
				},
				func(n int) (string, error) {
					_, a, _, _, _, err := peer.ds.UnassignPodIPAddress(awsKey(n))
					return a, err
				},
				is(datastore.ErrNoAvailableIPInDataStore),
			))
			_, _, ourErr := ours.UnassignPodIPv4Address(ourKey(-7))
			_, _, _, _, _, peerErr := peer.ds.UnassignPodIPAddress(awsKey(-7))
			if !errors.Is(ourErr, ourstore.ErrUnknownPod) || !errors.Is(peerErr, datastore.ErrUnknownPod) {
				t.Errorf("unknown pod: ours %v, the peer %v", ourErr, peerErr)
			}
		})
	}
}
