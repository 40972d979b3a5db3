package peers

import (
	"context"
	"encoding/json"
	"net/netip"
	"testing"

	goipam "github.com/metal-stack/go-ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

const goIPAMModule = "github.com/metal-stack/go-ipam"

// goIPAM is the library over its memory store. It starts full from a dump, because giving 2^16 addresses one by one
// takes it minutes.
func goIPAM() contestant {
	return contestant{name: "go-ipam", module: goIPAMModule, class: bare, fill: func(fill int) (func(int) error, error) {
		ctx := context.Background()
		g, err := goIPAMFilled(ctx, fill)
		if err != nil {
			return nil, err
		}
		return func(n int) error {
			for range n {
				a, err := g.AcquireIP(ctx, slash16.String())
				if err != nil {
					return err
				}
				if _, err := g.ReleaseIP(ctx, a); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}}
}

func goIPAMFilled(ctx context.Context, fill int) (goipam.Ipamer, error) {
	g := goipam.New(ctx)
	if _, err := g.NewPrefix(ctx, slash16.String()); err != nil {
		return nil, err
	}
	dump, err := g.Dump(ctx)
	if err != nil {
		return nil, err
	}
	var prefixes []map[string]any
	if err := json.Unmarshal([]byte(dump), &prefixes); err != nil {
		return nil, err
	}
	taken := prefixes[0]["IPs"].(map[string]any)
	for i := range 1 << 16 {
		if scattered(i, fill) {
			taken[nth(i).String()] = true
		}
	}
	text, err := json.Marshal(prefixes)
	if err != nil {
		return nil, err
	}
	g = goipam.New(ctx)
	return g, g.Load(ctx, string(text))
}

// go-ipam: network and broadcast address of IPv4 are taken from the start, the network address of IPv6; ascending from
// the lowest free one, where a pool that was never released to gives the same order.
func TestAgreeGoIPAM(t *testing.T) {
	for _, text := range [...]string{"10.1.0.0/24", "10.1.0.0/29", "10.1.0.0/30", "fd00::/122"} {
		t.Run(text, func(t *testing.T) {
			ctx := context.Background()
			peer := goipam.New(ctx)
			if _, err := peer.NewPrefix(ctx, text); err != nil {
				t.Fatal(err)
			}
			p := netip.MustParsePrefix(text)
			reserved := []netip.Addr{p.Addr()}
			if p.Addr().Is4() {
				reserved = append(reserved, space.Last(p))
			}
			ours, err := space.NewPool(space.PoolConfig{Prefix: p, Reserved: reserved})
			if err != nil {
				t.Fatal(err)
			}
			agree(t, true, poolTaker(ours), taker{
				func() (string, error) {
					a, err := peer.AcquireIP(ctx, text)
					if err != nil {
						return "", err
					}
					return a.IP.String(), nil
				},
				func(a string) error { return peer.ReleaseIPFromPrefix(ctx, text, a) },
				is(goipam.ErrNoIPAvailable),
			})
		})
	}
}
