package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"
)

// ErrUnauthorized: the server does not know who asks (401), and somebody has to renew what this program is let in by.
var ErrUnauthorized = errors.New("the API server refuses this program's credentials (401 Unauthorized)")

// mendPod is what gives a program in a pod credentials that count.
const mendPod = "the token of its pod's service account: kubectl delete pod, and the next one has another; behind " + mendManifests + " where the account is gone"

// anonymous: there is nothing that a program could be let in by.
func anonymous(cfg *rest.Config) bool {
	return cfg.ExecProvider == nil && cfg.BearerToken == "" && cfg.BearerTokenFile == "" && cfg.CertFile == "" && len(cfg.CertData) == 0 && cfg.Username == ""
}

// credentials say where what a program is let in by comes from, and what renews it. They never say what it is.
func credentials(cfg *rest.Config, kubeconfig string) string {
	const another = "kubectl config set-credentials USER --kubeconfig %s --token=$(kubectl create token ACCOUNT), and start again"
	switch {
	case kubeconfig == "":
		return mendPod
	case cfg.ExecProvider != nil:
		return fmt.Sprintf("what %s gives for %s: log in again by it, and see what kubectl --kubeconfig %s auth whoami says", filepath.Base(cfg.ExecProvider.Command), kubeconfig, kubeconfig)
	case cfg.BearerTokenFile != "":
		return fmt.Sprintf("the token in %s, which is read again every minute: kubectl create token ACCOUNT > %s", cfg.BearerTokenFile, cfg.BearerTokenFile)
	case cfg.BearerToken != "":
		return fmt.Sprintf("the token in %s: "+another, kubeconfig, kubeconfig)
	case cfg.Username != "":
		return fmt.Sprintf("the password in %s, which servers since 1.19 do not take: "+another, kubeconfig, kubeconfig)
	case !anonymous(cfg):
		return fmt.Sprintf("the client certificate of %s: kubeadm certs renew, or who has signed it, makes another; then start again", kubeconfig)
	}
	return fmt.Sprintf("of which %s has none: "+another, kubeconfig, kubeconfig)
}

// unauthorized is the one line about credentials that are refused.
func (c *Connection) unauthorized() error {
	return fmt.Errorf("%w, %s", ErrUnauthorized, c.refusals.credentials)
}

// Explain says of an error that comes of refused credentials whose they are and what mends that, of a certificate that
// does not count at this machine's time what that may come of, and of a server that does not answer which command shows
// how it fares; others it leaves as they are.
func (c *Connection) Explain(err error) error {
	if statusCode(err) == http.StatusUnauthorized && !errors.Is(err, ErrUnauthorized) {
		return fmt.Errorf("%w: %w", err, c.unauthorized())
	}
	if clocked := withClock(err); clocked != err {
		return clocked
	}
	var way net.Error // a request that ran out of time is one, too
	if statusCode(err) == 0 && errors.As(err, &way) && !errors.Is(err, context.Canceled) {
		return withLook(err, c.look)
	}
	return err
}

// withLook says which command shows how a server fares that did not answer; empty: nobody knows one.
func withLook(err error, look string) error {
	if look == "" {
		return err
	}
	return fmt.Errorf("%w: %s shows how the API server fares", err, look)
}

// reviewsForbidden is why a program may not ask what it may do.
func (c *Connection) reviewsForbidden() error {
	if c.refusals.anonymous {
		return fmt.Errorf("%w: the server lets nobody in without credentials (403 Forbidden), %s", ErrNotReady, c.refusals.credentials)
	}
	return fmt.Errorf("%w: this program's account may not create selfsubjectaccessreviews.authorization.k8s.io, as all that have credentials may by default: %s", ErrNotReady, mendReviews)
}

// refusals tell when the server does not know any more who asks, and when it does again. Whoever runs goes on asking:
// tokens are renewed.
type refusals struct {
	next        http.RoundTripper
	log         *slog.Logger
	credentials string
	// anonymous: there are none.
	anonymous bool
	// forbidden has something when the server has refused what this account may not do.
	forbidden chan struct{}

	mu sync.Mutex
	// refused is what the last answer was. tell: somebody wants to know.
	refused, tell bool
}

// RoundTrip implements http.RoundTripper.
func (r *refusals) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(q)
	if err == nil {
		switch code := resp.StatusCode; {
		case code == http.StatusUnauthorized:
			r.saw(true)
		case code == http.StatusForbidden:
			r.saw(false)
			select {
			case r.forbidden <- struct{}{}:
			default: // it is known
			}
		case code != http.StatusTooManyRequests && code < http.StatusInternalServerError:
			// those may come before anybody has looked who asks
			r.saw(false)
		}
	}
	return resp, err
}

func (r *refusals) saw(refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if refused == r.refused {
		return
	}
	r.refused = refused
	r.say()
}

// say logs what is; the lock is held.
func (r *refusals) say() {
	switch {
	case !r.tell:
	case r.refused:
		r.log.Error(ErrUnauthorized.Error()+"; asking goes on, and what stands goes on working", "credentials", r.credentials)
	default:
		r.log.Info("the API server takes this program's credentials again")
	}
}

// TellRefusals has the log told from now on when the server refuses this program's credentials, and when it takes them
// again.
func (c *Connection) TellRefusals() {
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	if c.refusals.tell = true; c.refusals.refused {
		c.refusals.say()
	}
}

// Refused is a line about credentials that the server refused when it answered last, empty where it took them.
func (c *Connection) Refused() string {
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	if c.refusals.refused {
		return c.unauthorized().Error()
	}
	return ""
}
