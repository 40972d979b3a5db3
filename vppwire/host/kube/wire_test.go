package kube_test

import (
	"net/http"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// everything is more requests than any wire here holds.
const everything = 1 << 30

// dial makes a client with a wire of its own.
func (s *server) dial(t testing.TB) (kubernetes.Interface, *apiserver.Wire) {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	w := apiserver.NewWire(base)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: s.http.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, &http.Client{Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	return client, w
}
