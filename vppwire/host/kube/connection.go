package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Connection is a way to an API server.
type Connection struct {
	client kubernetes.Interface
	log    *slog.Logger
	clock  *serverClock
	// refusals know whether the server takes this program's credentials.
	refusals *refusals
	requests *requests
	// look is the command that shows how the server fares, empty where there is none.
	look string
}

// A program's own limits beside the server's. client-go's default of 5 requests a second holds up nodes that are
// claimed together.
const (
	clientQPS   = 50
	clientBurst = 100
)

// ErrNoCluster: there is nothing that says which API server is meant.
var ErrNoCluster = errors.New("no API server is named: --kubeconfig FILE, or run in a pod with a service account")

// Dial reads which API server to use, from a kubeconfig, or where that is empty from the pod that this process runs in.
// It does not wait for the server. userAgent names this program to it.
func Dial(kubeconfig, userAgent string, log *slog.Logger) (*Connection, error) {
	var cfg *rest.Config
	var err error
	if kubeconfig == "" {
		cfg, err = rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, ErrNoCluster
		}
	} else {
		cfg, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = clientQPS, clientBurst
	c, err := connect(cfg, credentials(cfg, kubeconfig), userAgent, log)
	if err != nil {
		return nil, err
	}
	c.look = "kubectl get --raw /readyz"
	if kubeconfig != "" {
		c.look = "kubectl --kubeconfig " + kubeconfig + " get --raw /readyz"
	}
	return c, nil
}

// Way is how a program reaches an API server, for worlds that carry its requests.
type Way struct {
	// Carrier carries requests to the server at Host, a URL.
	Carrier http.RoundTripper
	Host    string
	// QPS is how many requests a second the program makes in the long run, Burst how many at once; QPS 0 is no limit.
	QPS   float32
	Burst int
}

// Through is a connection by a way. It does not wait for the server.
func Through(w Way, userAgent string, log *slog.Logger) (*Connection, error) {
	cfg := &rest.Config{Host: w.Host, Transport: w.Carrier, QPS: w.QPS, Burst: w.Burst}
	if w.QPS == 0 {
		cfg.QPS = -1
	}
	return connect(cfg, "none", userAgent, log)
}

func connect(cfg *rest.Config, credentials, userAgent string, log *slog.Logger) (*Connection, error) {
	cfg.UserAgent = userAgent
	cfg.ContentType = "application/json" // as records are asked for, so that one wire can be read by people and by tests
	cfg.WarningHandler = rest.NoWarnings{}
	clock := &serverClock{now: time.Now, log: log}
	refusals := &refusals{log: log, credentials: credentials, anonymous: anonymous(cfg), forbidden: make(chan struct{}, 1)}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { clock.next = next; return clock })
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { refusals.next = next; return refusals })
	requests := &requests{}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { requests.next = next; return requests })
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil && strings.Contains(cfg.Host, "@") {
		return nil, errors.New("kubeconfig: the server's address, which is not repeated as it names a user, or a certificate cannot be used")
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &Connection{client: client, log: log, clock: clock, refusals: refusals, requests: requests}, nil
}

// Facts is what an agent is told by; client and log are the connection's.
func (c *Connection) Facts(cfg FactsConfig) *Facts {
	cfg.Client, cfg.Log = c.client, c.log
	return NewFacts(cfg)
}

// Requester asks for a node's blocks on this connection.
func (c *Connection) Requester(cfg RequesterConfig) *Requester {
	cfg.Client, cfg.Log = c.client, c.log
	return NewRequester(cfg)
}

// AddressRequester is NewAddressRequester on this connection.
func (c *Connection) AddressRequester(cfg AddressRequesterConfig) (*AddressRequester, error) {
	cfg.Client, cfg.Log = c.client, c.log
	return NewAddressRequester(cfg)
}

// AddressBook is NewAddressBook on this connection.
func (c *Connection) AddressBook(namespace string, ranges []netip.Prefix) *AddressBook {
	return NewAddressBook(AddressBookConfig{c.client, namespace, ranges})
}

// ENIAddresses is NewENIAddresses on this connection.
func (c *Connection) ENIAddresses(cfg ENIAddressesConfig) *ENIAddresses {
	cfg.Client = c.client
	return NewENIAddresses(cfg)
}

// CalicoHost is NewCalicoHost on this connection.
func (c *Connection) CalicoHost(cfg CalicoConfig) *CalicoHost {
	cfg.Client, cfg.Log = c.client, c.log
	return NewCalicoHost(cfg)
}

// CalicoController is NewCalicoController on this connection.
func (c *Connection) CalicoController(cfg CalicoControllerConfig) (*CalicoController, error) {
	cfg.Client, cfg.Lease = c.client, cfg.Lease.shownBy(c.look)
	return NewCalicoController(cfg)
}

// Operator is NewOperator on this connection.
func (c *Connection) Operator(cfg OperatorConfig) (*Operator, error) {
	cfg.Client, cfg.Lease = c.client, cfg.Lease.shownBy(c.look)
	return NewOperator(cfg)
}

// Store is where records of node IDs are kept.
func (c *Connection) Store() *Store { return NewStore(StoreConfig{Client: c.client, Log: c.log}) }

// Client is the connection itself, for what goes beyond agents and controllers.
func (c *Connection) Client() kubernetes.Interface { return c.client }

// Driver is New on this connection.
func (c *Connection) Driver(cfg Config) (*Driver, error) {
	cfg.Client, cfg.Lease = c.client, cfg.Lease.shownBy(c.look)
	return New(cfg)
}

// Events returns what records an agent's events about its node and its pods until ctx ends. It does not block; what the
// server does not take is lost.
func (c *Connection) Events(ctx context.Context, node string) func(agent.Log) {
	e := newEvents(logged(ctx, c.log), c.client, v1.EventSource{Component: "vppdrill-agent", Host: node}, c.log)
	context.AfterFunc(ctx, e.stop)
	return func(l agent.Log) {
		about := &v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: l.Namespace, Name: l.PodName}
		if l.PodName == "" {
			// A kubelet's own events name its node by its name in place of the UID, and that is what people look for.
			about = &v1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: types.UID(node)}
		}
		kind := v1.EventTypeNormal
		if l.Level >= int(slog.LevelWarn) {
			kind = v1.EventTypeWarning
		}
		e.recorder.Event(about, kind, l.Reason, l.Message)
	}
}

// answerTime is how long an API server may take to say what a program may do.
const answerTime = 10 * time.Second

// silent: an API server that does not answer now has said nothing; whoever was told so goes on and waits for it. One
// that does not know who asks has answered.
func (c *Connection) silent(what string, err error) error {
	if statusCode(err) == http.StatusUnauthorized {
		return c.unauthorized()
	}
	c.log.Warn("the API server does not answer; what this program may do is not known", "asked", what, "error", withClock(err), "look", c.look)
	return nil
}

// served says whether the cluster has a custom resource in this program's version.
func (c *Connection) served(ctx context.Context, n Need, mend string) error {
	_, err := custom{c.client, "/apis/" + n.Group + "/" + n.Version + "/" + n.Resource}.List(ctx, metav1.ListOptions{Limit: 1})
	switch {
	case statusCode(err) == http.StatusNotFound:
		return fmt.Errorf("%w: it serves no %s in version %s of %s: %s", ErrNotReady, n.Resource, n.Version, n.Group, mend)
	case statusCode(err) == http.StatusForbidden, err == nil:
		return nil // what is forbidden is told by name
	}
	return c.silent(n.Resource, err)
}
