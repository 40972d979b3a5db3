package etcd

import (
	"context"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
)

// member runs an etcd for one test.
func member(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(context.Background(), t.TempDir(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t testing.TB, s *embedded.Server, prefix string) *Client {
	t.Helper()
	c, err := Connect(Config{Endpoints: []string{s.Endpoint()}, Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Goal: endpoints that cannot be used are named, but for those with a password in them.
func TestBadEndpoints(t *testing.T) {
	for endpoint, tells := range map[string]bool{"x%zz": true, "u:s3cr3t@x%zz": false} {
		_, err := Connect(Config{Endpoints: []string{endpoint}})
		if err == nil || strings.Contains(err.Error(), endpoint) != tells || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
