package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// Goal: JSON patches are applied whole or refused as Invalid, and what is created in a namespace says so, as with
// kube-apiserver. Method: a table of patches of one object.
func TestJSONPatch(t *testing.T) {
	const pool = "/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools"
	ask := func(h http.Handler, method, path, kind, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		name, patch string
		code        int
		has         string
	}{
		{"added", `[{"op": "add", "path": "/spec/allocations/1", "value": {"id": "a"}}]`, 200, `"allocations":{"1":{"id":"a"}}`},
		{"the version is that", `[{"op": "test", "path": "/metadata/resourceVersion", "value": "2"}, {"op": "add", "path": "/spec/range", "value": "10.2.0.0/24"}]`, 200, "10.2.0.0/24"},
		{"another version", `[{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}, {"op": "add", "path": "/spec/range", "value": "10.2.0.0/24"}]`, 422, `"reason":"Invalid"`},
		{"nothing is there yet", `[{"op": "test", "path": "/spec/allocations/1", "value": null}, {"op": "add", "path": "/spec/allocations/1", "value": {}}]`, 200, `"1":{}`},
		{"nothing to remove", `[{"op": "remove", "path": "/spec/allocations/1"}]`, 422, `"reason":"Invalid"`},
		{"no patch", `{"spec": {}}`, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := apiserver.New()
			if code, said := ask(s, http.MethodPost, pool, "application/json", `{"metadata": {"name": "p"}, "spec": {"range": "10.1.0.0/24", "allocations": {}}}`); code != 201 || !strings.Contains(said, `"namespace":"kube-system"`) {
				t.Fatalf("create: %d %s", code, said)
			}
			code, said := ask(s, http.MethodPatch, pool+"/p", "application/json-patch+json", c.patch)
			if code != c.code || !strings.Contains(said, c.has) {
				t.Errorf("%d %s, want %d with %s", code, said, c.code, c.has)
			}
			if _, there := ask(s, http.MethodGet, pool+"/p", "", ""); code != 200 && !strings.Contains(there, `"resourceVersion":"2"`) {
				t.Errorf("a refused patch left %s", there)
			}
		})
	}
}
