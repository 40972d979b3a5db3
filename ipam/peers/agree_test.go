package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// The tests called TestAgree let one of our allocators and the peer whose surface it offers give out everything that
// small ranges have. Both must give the same addresses, each once, then say with their own word for it that nothing is
// left, and after one address came back give exactly that one. Order is compared only where both claim one.

// taker is an allocator of either side. exhausted recognizes its word for "nothing is left".
type taker struct {
	take      func() (string, error)
	giveBack  func(string) error
	exhausted func(error) bool
}

// drain takes until nothing is left, checks the words and that the second life of an address is its own, and returns
// what was given in order.
func drain(t *testing.T, who string, b taker) []string {
	t.Helper()
	var given []string
	seen := map[string]bool{}
	for {
		a, err := b.take()
		if err != nil {
			if !b.exhausted(err) {
				t.Fatalf("%s: after %d: %v", who, len(given), err)
			}
			break
		}
		if seen[a] {
			t.Fatalf("%s gave %s twice", who, a)
		}
		seen[a] = true
		if given = append(given, a); len(given) > 1<<12 {
			t.Fatalf("%s does not end", who)
		}
	}
	if len(given) == 0 {
		return nil
	}
	back := given[len(given)/2]
	if err := b.giveBack(back); err != nil {
		t.Fatalf("%s: give %s back: %v", who, back, err)
	}
	if again, err := b.take(); err != nil || again != back {
		t.Fatalf("%s: %s came back, then %s was given: %v", who, back, again, err)
	}
	if a, err := b.take(); err == nil || !b.exhausted(err) {
		t.Fatalf("%s: full, and gave %q: %v", who, a, err)
	}
	return given
}

// agree drains both and compares what they gave.
func agree(t *testing.T, ordered bool, ours, peer taker) {
	t.Helper()
	a, b := drain(t, "ours", ours), drain(t, "the peer", peer)
	if len(a) != len(b) {
		t.Fatalf("ours has %d addresses, the peer %d", len(a), len(b))
	}
	has := map[string]bool{}
	for i := range a {
		if ordered && a[i] != b[i] {
			t.Fatalf("number %d: ours gave %s, the peer %s", i, a[i], b[i])
		}
		has[a[i]] = true
	}
	for _, x := range b {
		if !has[x] {
			t.Fatalf("only the peer has %s", x)
		}
	}
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

func textOf[T fmt.Stringer](x T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return x.String(), nil
}

func poolTaker(p *space.Pool) taker {
	return taker{
		func() (string, error) {
			a, ok := p.Allocate(epoch)
			if !ok {
				return "", errNone
			}
			return a.String(), nil
		},
		func(a string) error {
			if !p.Release(epoch, netip.MustParseAddr(a)) {
				return fmt.Errorf("%s was not held", a)
			}
			return nil
		},
		is(errNone),
	}
}

// podTaker numbers its pods and asks twice for each address.
func podTaker(assign, unassign func(n int) (string, error), exhausted func(error) bool) taker {
	pods, holder := 0, map[string]int{}
	return taker{
		func() (string, error) {
			a, err := assign(pods)
			if err != nil {
				return "", err
			}
			if again, err := assign(pods); err != nil || again != a {
				return "", fmt.Errorf("pod %d asked twice and got %s and %s: %w", pods, a, again, err)
			}
			holder[a] = pods
			pods++
			return a, nil
		},
		func(a string) error {
			freed, err := unassign(holder[a])
			if err == nil && freed != a {
				err = fmt.Errorf("%s was freed for %s", freed, a)
			}
			return err
		},
		exhausted,
	}
}
