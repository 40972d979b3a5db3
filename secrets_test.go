package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

// Secrets as a cluster has them: what a command is let in by, and what stands in objects that it may read.
const (
	bearerToken  = "bearer-s3cr3t-of-the-kubeconfig"
	podToken     = "eyJhbGciOiJSUzI1NiJ9.service-account-s3cr3t-in-an-env.sig"
	secretData   = "czNjcjN0LWRhdGEtb2YtYS1TZWNyZXQ="
	configSecret = "s3cr3t-in-an-annotation"
)

// secretCluster is as much of an API server as audit and conformance see, whose objects hold secrets, and whose pods do not reach its service.
type secretCluster struct {
	mu    sync.Mutex
	pods  map[string]map[string]any
	asked []string
}

// withSecrets puts secrets where objects have them.
func withSecrets(o map[string]any) map[string]any {
	m := o["metadata"].(map[string]any)
	m["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": `{"kind":"Secret","data":{"password":"` + configSecret + `"}}`}
	if o["kind"] == "Pod" {
		o["spec"].(map[string]any)["containers"] = []any{map[string]any{"name": "c", "image": "i", "args": []any{"--token=" + podToken},
			"env": []any{map[string]any{"name": "TOKEN", "value": podToken}}}}
	}
	return o
}

func kubeObject(kind, namespace, name string, parts map[string]any) map[string]any {
	o := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace, "uid": kind + name}}
	for k, v := range parts { // each by itself
		o[k] = v
	}
	return withSecrets(o)
}

func kubeNode(name, block string) map[string]any {
	return kubeObject("Node", "", name, map[string]any{"spec": map[string]any{"podCIDR": block}, "status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
}

func kubePod(namespace, name, node, addr string) map[string]any {
	return kubeObject("Pod", namespace, name, map[string]any{"spec": map[string]any{"nodeName": node},
		"status": map[string]any{"phase": "Running", "podIP": addr, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
}

// kubeSecrets are objects that are nothing but secrets.
func kubeSecrets() []any {
	return []any{kubeObject("Secret", "d", "password", map[string]any{"data": map[string]any{"password": secretData}}),
		kubeObject("ConfigMap", "d", "kubeconfig", map[string]any{"data": map[string]any{"config": "token: " + podToken}})}
}

func (c *secretCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body) // of a client that is gone nothing is wanted
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	answer := func(o any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o) // the same
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	switch inRun := strings.TrimPrefix(path, "/namespaces/run-1"); {
	case r.Header.Get("Authorization") != "Bearer "+bearerToken:
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		var review map[string]any
		_ = json.Unmarshal(body, &review) // of this program
		review["status"] = map[string]any{"allowed": true}
		answer(review)
	case path == "/secrets":
		answer(map[string]any{"kind": "SecretList", "apiVersion": "v1", "items": kubeSecrets()})
	case path == "/nodes":
		answer(map[string]any{"kind": "NodeList", "apiVersion": "v1", "items": []any{kubeNode("n1", "10.0.0.0/24")}})
	case path == "/services":
		answer(map[string]any{"kind": "ServiceList", "apiVersion": "v1", "items": []any{kubeObject("Service", "d", "s", map[string]any{"spec": map[string]any{"clusterIP": "10.0.0.77"}})}})
	case path == "/namespaces" && r.Method == http.MethodPost:
		answer(kubeObject("Namespace", "", "run-1", nil))
	case inRun == "" && r.Method == http.MethodDelete:
		answer(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case strings.HasPrefix(inRun, "/services"):
		answer(kubeObject("Service", "run-1", "all", map[string]any{"spec": map[string]any{"clusterIP": "10.96.0.7"}}))
	case strings.HasPrefix(inRun, "/serviceaccounts"):
		answer(kubeObject("ServiceAccount", "run-1", "default", map[string]any{"secrets": []any{map[string]any{"name": podToken}}}))
	case strings.HasSuffix(path, "/proxy/dial"):
		c.dial(r.URL.Query().Get("host"), answer)
	case strings.HasSuffix(path, "/pods") && r.Method == http.MethodPost:
		var p struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(body, &p) // of this program
		c.pods[p.Metadata.Name] = kubePod("run-1", p.Metadata.Name, "n1", fmt.Sprintf("10.0.0.%d", 5+len(c.pods)))
		answer(c.pods[p.Metadata.Name])
	case strings.HasSuffix(path, "/pods") && r.Method == http.MethodDelete:
		c.pods = map[string]map[string]any{}
		answer(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case strings.HasSuffix(path, "/pods"):
		items := []any{}
		for _, p := range c.pods { // in any order, as a server's
			items = append(items, p)
		}
		answer(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": items})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// dial answers for the pod that has an address; the service nobody reaches.
func (c *secretCluster) dial(to string, answer func(any)) {
	for name, p := range c.pods { // one has it
		if p["status"].(map[string]any)["podIP"] == to {
			answer(map[string]any{"responses": []string{name}})
			return
		}
	}
	answer(map[string]any{"errors": []string{"timeout"}})
}

// clientKey is a key and its certificate, each as a kubeconfig has them.
func clientKey(t *testing.T) (key, certificate string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "u"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	must(t, err)
	raw, err := x509.MarshalECPrivateKey(k)
	must(t, err)
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})),
		base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// auditLog has a pod made and gone, and a Secret, with all that was sent.
func auditLog(t *testing.T) string {
	t.Helper()
	lines := ""
	for i, e := range []struct {
		verb, resource string
		object         map[string]any
	}{{"create", "pods", kubePod("d", "c", "n1", "")}, {"create", "secrets", kubeSecrets()[0].(map[string]any)}, {"delete", "pods", kubePod("d", "c", "n1", "")}} {
		name := e.object["metadata"].(map[string]any)["name"]
		text, err := json.Marshal(map[string]any{"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": e.verb, "requestObject": e.object, "responseObject": e.object,
			"objectRef": map[string]any{"resource": e.resource, "namespace": "d", "name": name}, "responseStatus": map[string]any{"code": 200}, "user": map[string]any{"username": "u", "extra": map[string]any{"token": []string{bearerToken}}},
			"requestReceivedTimestamp": fmt.Sprintf("2026-11-23T10:%02d:00.000000Z", 10*i), "stageTimestamp": fmt.Sprintf("2026-11-23T10:%02d:01.000000Z", 10*i)})
		must(t, err)
		lines += string(text) + "\n"
	}
	return lines
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Goal: no secret of a cluster gets into anything that a command writes: what a kubeconfig lets in by, Secrets' data, and tokens in pods' own objects.
// Method: every command that reads a cluster, from a server and from files, good and bad ones, up to reports, capsules and a scenario made of it; each text
// that comes of it is looked through, and the server is not even asked for Secrets.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	cluster := &secretCluster{pods: map[string]map[string]any{}}
	server := httptest.NewTLSServer(cluster)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	t.Chdir(dir)
	key, certificate := clientKey(t)
	decoded, err := base64.StdEncoding.DecodeString(key)
	must(t, err)
	secrets := []string{bearerToken, podToken, secretData, configSecret, key, strings.Split(string(decoded), "\n")[1]}
	put := func(name, text string) { must(t, os.WriteFile(name, []byte(text), 0o600)) }
	const kubeconfig = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {token: %s, client-key-data: %s, client-certificate-data: %s}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"
	put("config", fmt.Sprintf(kubeconfig, server.URL, bearerToken, key, certificate))
	put("refused", fmt.Sprintf(kubeconfig, server.URL, bearerToken+"-of-yesterday", key, certificate))
	put("nobody", fmt.Sprintf(kubeconfig, "https://127.0.0.1:1", bearerToken, key, certificate))
	put("mixed", fmt.Sprintf(kubeconfig, server.URL, bearerToken, certificate, key))
	things := []any{kubeNode("n1", "10.0.0.0/24"), kubeNode("n2", "10.0.0.0/25"), kubePod("d", "a", "n1", "10.0.0.5"), kubePod("d", "b", "n1", "10.0.0.5")}
	list := func(items []any) []byte {
		text, err := json.Marshal(map[string]any{"kind": "List", "items": items})
		must(t, err)
		return text
	}
	whole := list(append(kubeSecrets(), things...))
	put("cluster.json", string(whole))
	put("nodes.json", string(list(things)))
	put("audit.log", auditLog(t))
	put("cut.json", string(whole[:bytes.Index(whole, []byte(podToken))+20]))
	put("broken.json", strings.Replace(string(whole), podToken, podToken+"\n", 1))
	put("wrong.json", strings.Replace(string(whole), `"kind":"Pod","metadata":{`, `"kind":"Pod","metadata":{"labels":"`+podToken+`",`, 1))
	written := map[string]string{}
	for _, c := range []struct {
		line string
		code int
	}{
		{"audit cluster.json", 1}, {"audit cluster.json --format json", 1}, {"audit cut.json", 2}, {"audit broken.json", 2}, {"audit wrong.json", 2},
		{"audit config", 2}, {"audit --kubeconfig config", 1}, {"audit --kubeconfig config --format json", 1}, {"audit --kubeconfig refused", 3}, {"audit --kubeconfig nobody", 3},
		{"audit --kubeconfig mixed", 2}, {"audit --kubeconfig cluster.json", 2}, {"conformance cluster.json --out shown", 1}, {"conformance broken.json --out none", 2}, {"debug report shown", 1},
		{"conformance --kubeconfig config --image i --rounds 1 --patience 0s --out judged", 1}, {"conformance --kubeconfig config --image i --rounds 1 --patience 0s --format json", 1},
		{"conformance --kubeconfig refused --image i --out none", 3}, {"conformance --kubeconfig nobody --image i --out none", 3}, {"debug report judged", 1},
		{"trace import kubernetes cluster.json -o none.yaml", 0}, {"trace import kubernetes nodes.json -o made.yaml --audit-log audit.log", 0}, {"trace import kubernetes broken.json -o none.yaml", 2}, {"run failing.yaml --out run --events all --shrink 0s", 1},
		{"explore failing.yaml --seeds 1 --out explored", 1}, {"run config", 2}, {"ipam plan config", 2}, {"controller --cluster-cidr 10.0.0.0/16 --log-level debug --kubeconfig refused", 3}, {"experiment made.yaml --engine kubernetes --image i --seeds 1 --kubeconfig refused", -1},
	} {
		if strings.HasPrefix(c.line, "run failing") { // what was made of the cluster, with a bound that no cluster keeps
			made, err := os.ReadFile("made.yaml")
			must(t, err)
			put("failing.yaml", regexp.MustCompile(`settle: \w+`).ReplaceAllString(string(made), "settle: 1ms"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var out, errs bytes.Buffer
		code := cmd.Execute(ctx, config(), strings.Fields(c.line), &out, &errs)
		cancel()
		if code != c.code && c.code >= 0 || code == 0 && c.code < 0 {
			t.Errorf("%s: code %d, want %d\n%s%s", c.line, code, c.code, &out, &errs)
		}
		written["what "+c.line+" prints"] = out.String() + errs.String()
	}
	given := []string{"config", "refused", "nobody", "mixed", "cluster.json", "nodes.json", "audit.log", "cut.json", "broken.json", "wrong.json"}
	must(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(given, path) {
			return err
		}
		text, err := os.ReadFile(path)
		written[path] = string(text)
		return err
	}))
	for _, want := range []string{"judged/junit.xml", "judged/report.html", "judged/result.json", "run/report.html", "run/events.jsonl", "made.yaml"} {
		if written[want] == "" {
			t.Errorf("no %s", want)
		}
	}
	capsules := 0
	for where, text := range written { // in any order: each by itself
		if strings.HasSuffix(where, ".capsule") {
			capsules++
		}
		for _, s := range secrets {
			if strings.Contains(text, s) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(s))) {
				t.Errorf("%q is in %s", s, where)
			}
		}
	}
	if capsules == 0 {
		t.Error("no capsule")
	}
	for _, asked := range cluster.asked {
		if strings.Contains(asked, "secrets") || strings.Contains(asked, "/token") || strings.Contains(asked, "/exec") || strings.Contains(asked, "/log") {
			t.Errorf("the server is asked for %s", asked)
		}
	}
}
